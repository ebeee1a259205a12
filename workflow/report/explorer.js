"use strict";
// The query explorer. Texts enter the page as text nodes alone, so that nothing in an answer or a passage is markup.
(() => {
  const index = JSON.parse(document.getElementById("explorer-index")?.textContent || "{}");
  const waiting = new WeakMap(); // by the script element that was added for a query
  window.ragrelay.query = (value) => waiting.get(document.currentScript)?.(value);
  const { tools } = window.ragrelay;
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

  const contextOf = (value, cell, best, references) => {
    const list = make("ol", { class: "context" });
    const effects = cell.effects?.[references] || [];
    const item = (at, note, ...words) => {
      const [docno, label] = value.passages[at];
      const its = effects.filter(([of]) => of === at).map(([, what, by]) => make("span", { class: "note" }, `${what}: ${by > 0 ? "+" : ""}${number(by)}`));
      return make("li", {}, make("p", { class: "head" }, labelBadge(label), make("code", {}, docno), note, ...its), make("p", { lang: "" }, ...words));
    };
    cell.context.forEach((at, place) => {
      const seeds = best.get(at);
      const note = seeds ? make("span", { class: "best" }, `best reference, seed ${seeds.join(", ")}`) : null;
      const text = value.passages[at][2];
      // Of a processed passage, the whole text, with what is not shown struck out.
      const own = cell.shown ? value.shown[cell.shown[place]] : text;
      list.append(item(at, note, ...(own === text ? [text] : compared(own, text))));
    });
    if (!cell.emptied?.length) return list;
    const emptied = make("ul", { class: "context emptied" });
    for (const at of cell.emptied) emptied.append(item(at, make("span", { class: "note" }, "not shown"), make("del", {}, value.passages[at][2])));
    return make("div", {}, list, emptied);
  };

  // The distinct thoughts before the answers of some seeds, folded.
  const thoughtsOf = (value, cell, members) => {
    const groups = new Map();
    for (const at of members) {
      const thought = cell.answers[at][5];
      if (thought !== undefined) groups.set(thought, [...(groups.get(thought) || []), at]);
    }
    return [...groups].map(([thought, its]) => {
      const [, , , , , , tokens, end] = cell.answers[its[0]];
      const facts = ["thought", `${tokens ?? "unknown"} tokens`];
      if (groups.size > 1) facts.splice(1, 0, `seed ${its.map((at) => cell.answers[at][0]).join(", ")}`);
      if (end === "budget") facts.push("cut at the budget");
      else if (end === "unfinished") facts.push("unfinished");
      return make("details", { class: "thought" }, make("summary", {}, facts.join(" · ")), make("p", { lang: "" }, value.thoughts[thought]));
    });
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
      const scored = cell.means || Object.keys(cell.scores).length;
      const facts = [...(scored ? [`P ${number(score?.[0])}`] : []), `${tokens ?? "unknown"} tokens`];
      if (finish === "length") facts.push("cut at max_tokens");
      else if (finish !== "stop") facts.push(`ended by ${finish}`);
      if (dropped) facts.push(`${dropped} ${dropped > 1 ? "passages" : "passage"} left out of the prompt to fit the window`);
      const item = make("li", {}, make("p", { class: "head" }, make("strong", {}, `seed ${seeds}`), ` · ${facts.join(" · ")}`));
      item.append(...thoughtsOf(value, cell, members));
      const answer = value.answers[text];
      item.append(answer === null ? make("p", { class: "note" }, "(no answer)") : answer.trim() ? make("blockquote", { lang: "" }, answer) : make("p", { class: "note" }, "(blank answer)"));
      if (score && score[1] !== null) {
        const [docno, label, words] = value.passages[score[1]];
        const at = cell.context.indexOf(score[1]);
        const where = at >= 0 ? `in the context, position ${at + 1}` : "not in the context";
        const head = make("summary", {}, "best-matching reference ", make("code", {}, docno), " ", labelBadge(label), ` ${where}`);
        item.append(make("details", {}, head, make("p", { lang: "" }, words)));
      } else if (!score && answer !== null && cell.means) {
        item.append(make("p", { class: "note" }, "This reference set has no reference for the query."));
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
    const title = isZero(cell) ? "zero-shot" : tools.shown(cell.retriever);
    const article = make("article", { "data-retriever": cell.retriever, "data-of": cell.retriever, tabindex: "-1" });
    const head = make("h4", {}, title);
    if (colours[cell.retriever]) article.style.setProperty("--own", colours[cell.retriever]);
    article.append(head, make("p", { class: "figures" }, figures.join(" · ")));
    if (!isZero(cell)) article.append(make("h5", {}, `Context, as prompted (${cell.ordering}, k = ${cell.k})`), contextOf(value, cell, best, references));
    article.append(make("h5", {}, "Answers"), answersOf(value, cell, references));
    return article;
  };

  // A block that an annex adds below the cells: rows of a text, each with lists of passages and the answers to them.
  const blockOf = (value, block, references, colours) => make("section", { class: "block" }, make("h3", {}, block.title),
    ...block.rows.flatMap((row) => [
      make("h4", {}, row.title),
      row.text ? make("blockquote", { lang: "" }, row.text) : null,
      make("div", { class: "cells" }, ...row.lists.map((cell) => {
        const context = cell.context.length ? contextOf(value, cell, new Map(), references) : null;
        const article = make("article", { "data-of": cell.retriever }, make("h5", {}, tools.shown(cell.retriever)),
          make("p", { class: "figures" }, cell.note), context, answersOf(value, cell, references));
        if (colours[cell.retriever]) article.style.setProperty("--own", colours[cell.retriever]);
        return article;
      })),
    ]));

  // All contexts of the query at a glance: a button per cell, tinted by its utility and labelled with it.
  const mapOf = (value, part, references) => {
    const { retrievers, orderings, k: ks } = part;
    const found = new Map(value.cells.map((cell) => [JSON.stringify([cell.retriever, cell.ordering, cell.k]), cell]));
    const head = make("tr", {}, make("th", { scope: "col" }, "retriever"), make("th", { scope: "col" }, "ordering"),
      ...ks.map((k) => make("th", { scope: "col", class: "number" }, `k = ${k}`)));
    const rows = retrievers.flatMap((retriever) => orderings.map((ordering) => {
      const row = make("tr", { "data-of": retriever }, make("th", { scope: "row" }, tools.shown(retriever)), make("td", {}, ordering));
      for (const k of ks) {
        const utility = found.get(JSON.stringify([retriever, ordering, k]))?.means[references]?.[2];
        const button = make("button", { type: "button" }, number(utility));
        button.setAttribute("aria-label", `${tools.shown(retriever)}, ${ordering}, k = ${k}: U ${number(utility)}`);
        button.setAttribute("aria-pressed", fields.k.value === String(k) && fields.ordering.value === ordering);
        if (typeof utility === "number") {
          button.dataset.side = utility < 0 ? "worse" : "better";
          button.style.setProperty("--share", `${Math.min(60, Math.round(60 * Math.abs(utility)))}%`);
        }
        button.addEventListener("click", () => {
          fields.k.value = k;
          fields.ordering.value = ordering;
          fields.retriever.value = retriever;
          list();
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
      make("caption", {}, make("span", {}, `Utility U of this query (${references} references); select a number to open its cell`)),
      make("thead", {}, head), make("tbody", {}, ...rows)));
  };

  // ---- The difference of P between two retrievers' answers to each query, by which queries are sorted and filtered.

  const SAME = 0.0005; // as far as P is shown
  const differences = () => {
    const { means, queries } = index.sections[Number(fields.part.value)];
    const of = (name) => {
      if (name === "zeroshot") return null;
      const cell = means.cells[JSON.stringify([name, fields.ordering.value, Number(fields.k.value), fields.references.value])];
      return cell && { p: cell[1], p0: means.p0[cell[0]] };
    };
    const [one, other] = [of(fields.retriever.value), of(fields.against.value)];
    return queries.map((_, at) => {
      const [value, base] = [one?.p[at], other === null ? one?.p0[at] : other?.p[at]];
      return typeof value === "number" && typeof base === "number" ? value - base : null;
    });
  };
  const side = (difference) => (difference === null ? "" : Math.abs(difference) < SAME ? "same" : difference > 0 ? "better" : "worse");

  // Words that are in one answer alone, by their longest common subsequence.
  const compared = (one, other) => {
    const [a, b] = [one, other].map((text) => text.match(/\s*\S+/g) || []);
    const length = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
    for (let i = a.length - 1; i >= 0; i -= 1) {
      for (let j = b.length - 1; j >= 0; j -= 1) {
        length[i][j] = a[i].trim() === b[j].trim() ? length[i + 1][j + 1] + 1 : Math.max(length[i + 1][j], length[i][j + 1]);
      }
    }
    const found = [];
    const add = (tag, word) => (found.at(-1)?.[0] === tag ? found.at(-1)[1].push(word) : found.push([tag, [word]]));
    let [i, j] = [0, 0];
    while (i < a.length || j < b.length) {
      if (i < a.length && j < b.length && a[i].trim() === b[j].trim()) { add("", a[i]); i += 1; j += 1; }
      else if (j < b.length && (i === a.length || length[i][j + 1] >= length[i + 1][j])) { add("del", b[j]); j += 1; }
      else { add("ins", a[i]); i += 1; }
    }
    return found.map(([tag, words]) => (tag ? make(tag, {}, words.join("")) : words.join("")));
  };

  const differenceOf = (value, cells) => {
    const [one, other] = [fields.retriever.value, fields.against.value].map((name) => cells.find((cell) => cell.retriever === name));
    if (!one || !other || one === other) return null;
    const list = make("ul", { class: "answers" });
    for (const [seed, at] of one.answers) {
      const partner = other.answers.find(([its]) => its === seed);
      const texts = [value.answers[at], partner && value.answers[partner[1]]];
      if (texts.some((text) => typeof text !== "string")) continue;
      const same = texts[0] === texts[1] ? make("p", { class: "note" }, "Identical answers.") : make("blockquote", { lang: "" }, ...compared(...texts));
      list.append(make("li", {}, make("strong", {}, `seed ${seed}`), same));
    }
    const [name, against] = [fields.retriever, fields.against].map((field) => field.selectedOptions[0].text);
    return make("details", { class: "difference", ...(differing ? { open: "" } : {}) },
      make("summary", {}, `Differences between the answers: `, make("ins", {}, `only ${name}’s`), " ", make("del", {}, `only ${against}’s`)), list);
  };

  // ---- Choice and drawing.

  const fill = (select, values, chosen) => {
    select.replaceChildren(...values.map(([value, text]) => new Option(text, value)));
    if (chosen !== undefined && values.some(([value]) => String(value) === String(chosen))) select.value = chosen;
    select.closest("label").hidden = values.length < 2 && select !== fields.query;
  };

  const words = (text) => text.toLocaleLowerCase();
  const inAnswers = new Map(); // part and place of a query: its answers, once they were searched

  // The queries that are listed: those the search and the filter leave, sorted.
  const list = () => {
    const part = Number(fields.part.value);
    const { queries } = index.sections[part];
    const gains = differences();
    const sought = words(fields.search.value.trim());
    const found = ([qid, query], at) => !sought || words(`${qid} ${query}`).includes(sought) || (fields.inside.checked && inAnswers.get(`${part} ${at}`)?.includes(sought));
    const places = queries.map((_, at) => at).filter((at) => found(queries[at], at) && (!fields.show.value || side(gains[at]) === fields.show.value));
    const sign = fields.sort.value === "loss" ? 1 : -1;
    if (fields.sort.value) places.sort((one, other) => (gains[one] === null) - (gains[other] === null) || sign * (gains[one] - gains[other]) || one - other);
    const signed = (gain) => (gain === null ? "" : `${gain > SAME ? "+" : ""}${number(gain)}  `);
    fill(fields.query, listed(places).map((at) => [at, `${signed(gains[at])}${queries[at][0]}  ${queries[at][1]}`]), shown.query);
    if (!places.includes(shown.query)) fields.query.selectedIndex = -1;
    steps();
    return places;
  };

  const LISTED_AT_MOST = 500; // a browser lays out every line of a list
  const listed = (places) => {
    const rest = places.length - LISTED_AT_MOST;
    document.getElementById("explorer-rest").textContent = rest > 0 ? `The list shows the first ${LISTED_AT_MOST} of ${places.length.toLocaleString("en")} queries. Search or filter to find others.` : "";
    return places.slice(0, LISTED_AT_MOST);
  };

  const steps = () => {
    const at = fields.query.selectedIndex;
    fields.previous.disabled = at <= 0;
    fields.next.disabled = at === fields.query.length - 1;
  };

  // Answers are searched a query at a time: where the page has not got them inside, each is a file that is read once.
  let search = 0;
  const searchAnswers = async () => {
    const [mine, part] = [search += 1, Number(fields.part.value)];
    const { queries } = index.sections[part];
    for (let at = 0; at < queries.length && fields.inside.checked && fields.search.value.trim(); at += 1) {
      if (!inAnswers.has(`${part} ${at}`)) {
        try {
          const value = await load(part, at);
          inAnswers.set(`${part} ${at}`, words(value.answers.filter((one) => one !== null).join("\n")));
        } catch (error) {
          status.textContent = `Answers can’t be searched: ${error.message}`;
          return;
        }
        if (mine !== search) return;
        if (at % 10 === 9) status.textContent = `Searched the answers to ${at + 1} of ${queries.length} queries so far.`;
      }
    }
    const places = list();
    status.textContent = `${places.length} of ${queries.length} queries.`;
  };

  const choose = () => { // after another choice: the first of the list, where the query is no longer in it
    const places = list();
    if (places.length === 0) {
      status.textContent = "No query matches.";
      remember();
    } else if (!places.includes(shown.query) || shown.part !== Number(fields.part.value)) show(places[0]);
    else render();
  };

  let differing = false; // whether the difference of two answers is open, from one query to the next
  const render = () => {
    const part = index.sections[shown.part];
    const { value } = shown;
    const references = fields.references.value;
    const wanted = (cell) => isZero(cell) || (String(cell.k) === fields.k.value && cell.ordering === fields.ordering.value);
    const first = [fields.retriever.value, fields.against.value];
    const rank = (cell) => (first.includes(cell.retriever) ? first.indexOf(cell.retriever) : isZero(cell) ? 3 : 2);
    const cells = value.cells.filter(wanted).sort((one, other) => rank(one) - rank(other));
    place.replaceChildren(...[
      make("h3", {}, make("code", {}, value.qid), " ", make("span", { lang: "" }, value.query)),
      mapOf(value, part, references),
      differenceOf(value, cells),
      make("div", { class: "cells" }, ...cells.map((cell) => cellOf(value, cell, references, part.colours))),
      ...(value.blocks || []).map((block) => blockOf(value, block, references, part.colours)),
    ].filter((one) => one !== null));
    place.querySelector(".difference")?.addEventListener("toggle", (event) => { differing = event.target.open; });
    tools.mark(place);
    window.ragrelay.offer(place.querySelector("table"));
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

  // ---- The choice in the page's address, so that every state is a link: #query=…&part=…&k=…&retriever=…&search=….

  let asked = false; // the first query is shown without being asked for, and leaves the address as it is
  let sought = null; // the retriever whose answers a link leads to
  const CELL = ["references", "k", "ordering", "retriever", "against"];
  const LISTED = ["show", "sort", "search"];
  const remember = () => {
    const state = new URLSearchParams({ part: shown.part + 1 });
    const { queries } = index.sections[shown.part];
    if (shown.query !== undefined) state.set("query", queries[shown.query][0]);
    for (const name of [...CELL, ...LISTED]) state.set(name, fields[name].value);
    if (fields.inside.checked) state.set("inside", "1");
    history.replaceState(null, "", `#${state}${tools.address}`);
  };

  const recall = () => {
    const state = new URLSearchParams(location.hash.slice(1));
    const part = Number(state.get("part") || 1) - 1;
    if (!(state.has("query") || state.has("retriever")) || !index.sections[part]) return false;
    asked = true;
    sought = state.has("show") ? null : state.get("retriever");
    for (const name of LISTED) fields[name].value = state.get(name) ?? (name === "sort" ? "gain" : "");
    fields.inside.checked = state.has("inside");
    window.ragrelay.explore(part, { qid: state.get("query"), ...Object.fromEntries(CELL.map((name) => [name, state.get(name)])) });
    if (fields.inside.checked) searchAnswers();
    return true;
  };

  const show = async (query) => {
    const part = Number(fields.part.value);
    fields.query.value = query;
    steps();
    try {
      const value = await load(part, query);
      if (Number(fields.part.value) !== part || (fields.query.selectedIndex >= 0 && Number(fields.query.value) !== query)) return; // another was chosen meanwhile
      Object.assign(shown, { part, query, value });
      render();
    } catch (error) {
      place.replaceChildren();
      status.textContent = `This query can’t be shown: ${error.message}`;
    }
  };

  const choosePart = (part) => {
    const { references, k, orderings, retrievers, pair, means } = index.sections[part];
    const named = retrievers.filter((name) => !tools.gone(name)).map((name) => [name, tools.shown(name)]);
    if (shown.part !== part) shown.query = undefined;
    fields.part.value = part;
    fill(fields.references, references.map((name) => [name, name]), fields.references.value);
    fill(fields.k, k.map((one) => [one, one]), fields.k.value || Math.max(...k));
    fill(fields.ordering, orderings.map((name) => [name, name]), fields.ordering.value);
    fill(fields.retriever, named, fields.retriever.value || pair[0]);
    const baseline = means.p0.some((base) => base.some((one) => one !== null));
    fill(fields.against, [...(baseline ? [["zeroshot", "zero-shot"]] : []), ...named], fields.against.value || pair[1]);
    if (fields.against.value === fields.retriever.value && named.length > 1) fields.against.value = named.find(([name]) => name !== fields.retriever.value)[0];
  };

  window.ragrelay.explore = (part, { qid, ...cell }) => {
    choosePart(part);
    for (const [name, value] of Object.entries(cell)) {
      if (value !== null && [...(fields[name]?.options ?? [])].some((option) => option.value === String(value))) fields[name].value = value;
    }
    const places = list();
    const query = qid ? index.sections[part].queries.findIndex(([one]) => one === qid) : places[0];
    const explorer = document.getElementById("explorer");
    explorer.open = true;
    explorer.scrollIntoView();
    if (query === undefined || query < 0) {
      status.textContent = qid ? `Query ${qid} isn’t in this page’s sample.` : "No query matches.";
      return;
    }
    fields.query.focus({ preventScroll: true });
    show(query);
  };

  tools.on(() => { // names are others, some answers are hidden; the query stays
    const was = asked;
    choosePart(Number(fields.part.value));
    list();
    asked = false;
    if (shown.value) render();
    if (location.hash.includes("part=")) remember(); // a state of the explorer is there: it may be another now
    asked = was;
  });

  fill(fields.part, index.sections.map(({ title }, at) => [at, title]));
  choosePart(0);
  fields.part.addEventListener("change", () => { choosePart(Number(fields.part.value)); choose(); });
  fields.query.addEventListener("change", () => show(Number(fields.query.value)));
  for (const [name, step] of [["previous", -1], ["next", 1]]) {
    fields[name].addEventListener("click", () => show(Number(fields.query.options[fields.query.selectedIndex + step].value)));
  }
  for (const name of [...CELL, "show", "sort"]) fields[name].addEventListener("change", choose);
  for (const name of ["search", "inside"]) {
    fields[name].addEventListener("input", () => (fields.inside.checked ? searchAnswers().then(remember) : choose()));
  }
  form.addEventListener("submit", (event) => event.preventDefault());
  window.addEventListener("hashchange", recall);
  if (!recall()) show(list()[0] ?? 0);
})();
