"use strict";
// The query explorer. Texts enter the page as text nodes alone, so that nothing in an answer or a passage is markup.
(() => {
  const index = JSON.parse(document.getElementById("explorer-index")?.textContent || "{}");
  const waiting = new WeakMap(); // by the script element that was added for a query
  window.ragrelay = { query: (value) => waiting.get(document.currentScript)?.(value) };
  const form = document.getElementById("explorer-choice");
  if (!index.sections || !form) return;
  const fields = form.elements;
  const place = document.getElementById("explored");
  const status = document.getElementById("explorer-status");
  const shown = {}; // part, query: what is on the page; value: that query's data

  const make = (tag, attributes = {}, ...inside) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...inside.filter((one) => one !== null && one !== undefined));
    return element;
  };
  const number = (value, digits = 3) => (value === null || value === undefined ? "–" : value.toFixed(digits).replace("-", "−"));

  // ---- Data: inside the page, or a script next to it that calls ragrelay.query.

  const load = (part, query) => {
    const inside = document.getElementById(`q${part + 1}-${query}`);
    if (inside) return Promise.resolve(JSON.parse(inside.textContent));
    const { folder, queries } = index.sections[part];
    const [, , file] = queries[query];
    return new Promise((done, failed) => {
      const script = make("script", { src: `${folder}/${file}` });
      waiting.set(script, done);
      script.addEventListener("error", () => failed(new Error(`${folder}/${file} is missing next to this page.`)));
      script.addEventListener("load", () => script.remove());
      document.head.append(script);
    });
  };

  // ---- Parts of the view.

  const isZero = (cell) => cell.retriever === "zeroshot";

  const labelBadge = (label) => {
    const words = label === null ? "unjudged" : `label ${label}`;
    return make("span", { class: "badge", "data-label": label === null ? "none" : Math.max(0, Math.min(label, 3)) }, words);
  };

  const contextOf = (value, cell, best) => {
    const list = make("ol", { class: "context" });
    for (const at of cell.context) {
      const [docno, label, text] = value.passages[at];
      const seeds = best.get(at);
      const note = seeds ? make("span", { class: "best" }, `best reference, seed ${seeds.join(", ")}`) : null;
      list.append(make("li", {}, make("p", { class: "head" }, labelBadge(label), make("code", {}, docno), note), make("p", { lang: "" }, text)));
    }
    return list;
  };

  const answersOf = (value, cell, references) => {
    const scores = cell.scores[references] || [];
    const groups = new Map();
    cell.answers.forEach((answer, at) => groups.set(answer[1], [...(groups.get(answer[1]) || []), at]));
    const list = make("ul", { class: "answers" });
    for (const [text, members] of groups) {
      const [, , finish, tokens, dropped] = cell.answers[members[0]];
      const score = scores[members[0]];
      const seeds = members.map((at) => cell.answers[at][0]).join(", ");
      const facts = [`P ${number(score?.[0])}`, `${tokens} tokens`];
      if (finish === "length") facts.push("cut at max_tokens");
      else if (finish !== "stop") facts.push(`ended by ${finish}`);
      if (dropped) facts.push(`${dropped} passages left out of the prompt to fit the window`);
      const item = make("li", {}, make("p", { class: "head" }, make("strong", {}, `seed ${seeds}`), ` · ${facts.join(" · ")}`));
      const answer = value.answers[text];
      item.append(answer === null ? make("p", { class: "note" }, "(no answer)") : answer.trim() ? make("blockquote", { lang: "" }, answer) : make("p", { class: "note" }, "(blank answer)"));
      if (score && score[1] !== null) {
        const [docno, label, words] = value.passages[score[1]];
        const at = cell.context.indexOf(score[1]);
        const where = at >= 0 ? `in the context, position ${at + 1}` : "not in the context";
        const head = make("summary", {}, "best-matching reference ", make("code", {}, docno), " ", labelBadge(label), ` ${where}`);
        item.append(make("details", {}, head, make("p", { lang: "" }, words)));
      } else if (!score && answer !== null) {
        item.append(make("p", { class: "note" }, "No reference in this set for the query."));
      }
      list.append(item);
    }
    return list;
  };

  const cellOf = (value, cell, references, colours) => {
    const means = cell.means[references];
    const measures = Object.entries(cell.measures).map(([name, at]) => `${name}@${cell.k} ${number(at)}`);
    const figures = isZero(cell)
      ? [`P₀ ${number(means?.[0])}`]
      : [...measures, `P ${number(means?.[0])}`, `P₀ ${number(means?.[1])}`, `U ${number(means?.[2])}`,
        ...(cell.use ? [`context use ${number(cell.use[0])}`, `text change ${number(cell.use[1])}`] : [])];
    const best = new Map();
    (cell.scores[references] || []).forEach((score, at) => {
      if (score && cell.context.includes(score[1])) best.set(score[1], [...(best.get(score[1]) || []), cell.answers[at][0]]);
    });
    const title = isZero(cell) ? "zero-shot" : cell.retriever;
    const article = make("article", { "data-retriever": cell.retriever, tabindex: "-1" });
    const head = make("h4", {}, title);
    if (colours[cell.retriever]) article.style.setProperty("--own", colours[cell.retriever]);
    article.append(head, make("p", { class: "figures" }, figures.join(" · ")));
    if (!isZero(cell)) article.append(make("h5", {}, `Context, as prompted (${cell.ordering}, k = ${cell.k})`), contextOf(value, cell, best));
    article.append(make("h5", {}, "Answers"), answersOf(value, cell, references));
    return article;
  };

  // All contexts of the query at a glance: a button per cell, tinted by its utility and labelled with it.
  const mapOf = (value, part, references) => {
    const { retrievers, orderings, k: ks } = part;
    const found = new Map(value.cells.map((cell) => [JSON.stringify([cell.retriever, cell.ordering, cell.k]), cell]));
    const head = make("tr", {}, make("th", { scope: "col" }, "retriever"), make("th", { scope: "col" }, "ordering"),
      ...ks.map((k) => make("th", { scope: "col", class: "number" }, `k = ${k}`)));
    const rows = retrievers.flatMap((retriever) => orderings.map((ordering) => {
      const row = make("tr", {}, make("th", { scope: "row" }, retriever), make("td", {}, ordering));
      for (const k of ks) {
        const utility = found.get(JSON.stringify([retriever, ordering, k]))?.means[references]?.[2];
        const button = make("button", { type: "button" }, number(utility));
        button.setAttribute("aria-label", `${retriever}, ${ordering}, k = ${k}: U ${number(utility)}`);
        button.setAttribute("aria-pressed", fields.k.value === String(k) && fields.ordering.value === ordering);
        if (typeof utility === "number") {
          button.dataset.side = utility < 0 ? "worse" : "better";
          button.style.setProperty("--share", `${Math.min(60, Math.round(60 * Math.abs(utility)))}%`);
        }
        button.addEventListener("click", () => {
          fields.k.value = k;
          fields.ordering.value = ordering;
          render();
          const article = [...place.querySelectorAll("article")].find((one) => one.dataset.retriever === retriever);
          article?.focus({ preventScroll: true });
          article?.scrollIntoView({ block: "start" });
        });
        row.append(make("td", {}, button));
      }
      return row;
    }));
    return make("div", { class: "scroll" }, make("table", { class: "map" },
      make("caption", {}, make("span", {}, `Utility U of this query (${references} references); choose a number to read its cell`)),
      make("thead", {}, head), make("tbody", {}, ...rows)));
  };

  // ---- Choice and drawing.

  const fill = (select, values, chosen) => {
    select.replaceChildren(...values.map(([value, text]) => new Option(text, value)));
    if (chosen !== undefined && values.some(([value]) => String(value) === String(chosen))) select.value = chosen;
    const label = select.closest("label");
    label.hidden = values.length < 2 && !label.classList.contains("query");
  };

  const render = () => {
    const part = index.sections[shown.part];
    const { value } = shown;
    const references = fields.references.value;
    const wanted = (cell) => isZero(cell) || (String(cell.k) === fields.k.value && cell.ordering === fields.ordering.value);
    const cells = value.cells.filter(wanted).sort((one, other) => isZero(one) - isZero(other));
    place.replaceChildren(
      make("h3", {}, make("code", {}, value.qid), " ", make("span", { lang: "" }, value.query)),
      mapOf(value, part, references),
      make("div", { class: "cells" }, ...cells.map((cell) => cellOf(value, cell, references, part.colours))),
    );
    place.dataset.qid = value.qid;
    if (sought) {
      const article = [...place.querySelectorAll("article")].find((one) => one.dataset.retriever === sought);
      sought = null;
      article?.focus({ preventScroll: true });
      article?.scrollIntoView({ block: "start" });
    }
    if (asked) remember();
    asked = true;
    status.textContent = `Query ${value.qid}: ${references} references, k = ${fields.k.value}, ${fields.ordering.value} order.`;
  };

  // ---- The choice in the page's address, so that it can be sent as a link: #query=…&part=…&k=…&ordering=…&references=….

  let asked = false; // the first query is shown without being asked for, and leaves the address as it is
  let sought = null; // the retriever whose answers a link leads to
  const NAMES = ["references", "k", "ordering"];
  const remember = () => {
    const state = new URLSearchParams({ query: index.sections[shown.part].queries[shown.query][0], part: shown.part + 1 });
    for (const name of NAMES) state.set(name, fields[name].value);
    history.replaceState(null, "", `#${state}`);
  };

  const recall = () => {
    const state = new URLSearchParams(location.hash.slice(1));
    const part = Number(state.get("part") || 1) - 1;
    if (!(state.has("query") || state.has("retriever")) || !index.sections[part]) return false;
    asked = true;
    sought = state.get("retriever");
    window.ragrelay.explore(part, { qid: state.get("query") ?? index.sections[part].queries[0]?.[0], ...Object.fromEntries(NAMES.map((name) => [name, state.get(name)])) });
    return true;
  };

  const show = async (query) => {
    const part = Number(fields.part.value);
    fields.query.value = query;
    fields.previous.disabled = query === 0;
    fields.next.disabled = query === index.sections[part].queries.length - 1;
    try {
      const value = await load(part, query);
      if (Number(fields.part.value) !== part || Number(fields.query.value) !== query) return; // another was chosen meanwhile
      Object.assign(shown, { part, query, value });
      render();
    } catch (error) {
      place.replaceChildren();
      status.textContent = `This query can’t be shown: ${error.message}`;
    }
  };

  const choosePart = (part) => {
    const { queries, references, k, orderings } = index.sections[part];
    fields.part.value = part;
    fill(fields.query, queries.map(([qid, query], at) => [at, `${qid}  ${query.length > 70 ? `${query.slice(0, 69)}…` : query}`]));
    fill(fields.references, references.map((name) => [name, name]), fields.references.value);
    fill(fields.k, k.map((one) => [one, one]), fields.k.value || Math.max(...k));
    fill(fields.ordering, orderings.map((name) => [name, name]), fields.ordering.value);
  };

  window.ragrelay.explore = (part, { qid, k, ordering, references }) => {
    choosePart(part);
    const query = index.sections[part].queries.findIndex(([one]) => one === qid);
    const explorer = document.getElementById("explorer");
    explorer.open = true;
    explorer.scrollIntoView();
    if (query < 0) {
      status.textContent = `Query ${qid} isn’t in the sample that is kept here.`;
      return;
    }
    for (const [name, value] of Object.entries({ k, ordering, references })) {
      if ([...fields[name].options].some((option) => option.value === String(value))) fields[name].value = value;
    }
    fields.query.focus({ preventScroll: true });
    show(query);
  };

  fill(fields.part, index.sections.map(({ title }, at) => [at, title]));
  choosePart(0);
  fields.part.addEventListener("change", () => { choosePart(Number(fields.part.value)); show(0); });
  fields.query.addEventListener("change", () => show(Number(fields.query.value)));
  fields.previous.addEventListener("click", () => show(shown.query - 1));
  fields.next.addEventListener("click", () => show(shown.query + 1));
  for (const name of ["references", "k", "ordering"]) fields[name].addEventListener("change", render);
  form.addEventListener("submit", (event) => event.preventDefault());
  window.addEventListener("hashchange", recall);
  if (!recall()) show(0);
})();
