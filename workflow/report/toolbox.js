"use strict";
// The reader's hand: a retriever is highlighted, hidden or renamed in all figures, tables and queries at once.
// What was chosen is in the page's address, beside an anchor or a state of the explorer:
// #…&highlight=dense&hide=nrel&rename=bm25&to=BM25. Names enter the page as text alone.
(() => {
  const colours = new Map(JSON.parse(document.getElementById("retrievers").textContent)); // in the order of the grid
  const names = [...colours.keys()];
  const lit = new Set();
  const hidden = new Set();
  const other = new Map(); // other names that the reader gave, by retriever
  const OWN = ["highlight", "hide", "rename", "to"];
  const LONGEST = 60; // letters of a name

  const make = (tag, attributes = {}, ...inside) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...inside);
    return element;
  };

  // ---- Names in a text, such as that of a cell of a column of retrievers or of a panel: whole words, the longest first.

  const escaped = [...names].sort((one, two) => two.length - one.length).map((name) => name.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&"));
  const pattern = names.length ? new RegExp(`(?<![\\w-])(?:${escaped.join("|")})(?![\\w-])`, "g") : /(?!)/g;
  const namesIn = (text) => (colours.has(text) ? [text] : String(text).match(pattern) ?? []);
  const shown = (name) => other.get(name) ?? name;
  const renamed = (text) => (colours.has(text) ? shown(text) : String(text).replace(pattern, shown));
  const original = (text) => names.find((name) => shown(name) === text) ?? text;
  // What is of one or of two retrievers goes with each of them; what is of more goes with the last.
  const gone = (text) => {
    const found = hidden.size ? namesIn(text ?? "") : [];
    return found.length > 2 ? found.every((name) => hidden.has(name)) : found.some((name) => hidden.has(name));
  };
  const isLit = (text) => {
    const found = lit.size ? namesIn(text ?? "") : [];
    return found.length < 3 && found.some((name) => lit.has(name));
  };

  // ---- The address.

  const own = () => new URLSearchParams([
    ...[...lit].map((name) => ["highlight", name]),
    ...[...hidden].map((name) => ["hide", name]),
    ...[...other].flatMap((pair) => [["rename", pair[0]], ["to", pair[1]]]),
  ]).toString();
  const parts = () => location.hash.slice(1).split("&").filter(Boolean);
  const isOwn = (part) => OWN.includes(part.split("=")[0]);
  const remember = () => {
    const address = [...parts().filter((part) => !isOwn(part)), own()].filter(Boolean).join("&");
    if (address !== location.hash.slice(1)) history.replaceState(null, "", `#${address}`);
  };
  const free = (name, wanted) => names.every((one) => one === name || (one !== wanted && shown(one) !== wanted));
  const rename = (name, text) => {
    const wanted = text.trim().slice(0, LONGEST);
    if (!wanted || wanted === name) other.delete(name);
    else if (!free(name, wanted)) return false; // two lines of one name would be one line
    else other.set(name, wanted);
    return true;
  };
  const recall = () => {
    const state = new URLSearchParams(parts().filter(isOwn).join("&"));
    const known = (key) => state.getAll(key).filter((name) => colours.has(name));
    for (const one of [lit, hidden, other]) one.clear();
    for (const name of known("highlight")) lit.add(name);
    for (const name of known("hide")) hidden.add(name);
    const to = state.getAll("to");
    state.getAll("rename").forEach((name, place) => { if (colours.has(name)) rename(name, to[place] ?? ""); });
  };

  // ---- What stands in the page: data-of, what is of retrievers; data-retriever, their names.

  const before = new WeakMap();
  const kept = (element, read) => {
    if (!before.has(element)) before.set(element, read());
    return before.get(element);
  };
  const mark = (element, text) => {
    element.toggleAttribute("data-gone", gone(text));
    element.toggleAttribute("data-lit", isLit(text));
  };
  const cut = (text, most) => {
    if (text.length <= most) return text;
    const [, name, value] = text.match(/^([^]*) (\S*)$/) ?? [null, text, ""];
    return `${name.slice(0, most - value.length - 2)}… ${value}`;
  };
  const markIn = (place) => {
    for (const element of place.querySelectorAll("[data-of]")) mark(element, element.dataset.of);
  };
  const markAll = () => {
    document.documentElement.toggleAttribute("data-lit", lit.size > 0);
    markIn(document);
    for (const element of document.querySelectorAll("span[data-retriever], tspan[data-retriever]")) {
      const nodes = kept(element, () => [...element.childNodes]);
      const name = element.dataset.retriever;
      if (renamed(name) === name) element.replaceChildren(...nodes);
      else element.textContent = renamed(name);
      element.toggleAttribute("data-lit", isLit(name));
    }
    for (const label of document.querySelectorAll("text[data-most]")) {
      const title = label.querySelector("title");
      const full = kept(label, () => title.textContent);
      title.textContent = full.replace(label.dataset.of, () => shown(label.dataset.of));
      label.firstChild.data = cut(title.textContent, Number(label.dataset.most));
    }
    for (const point of document.querySelectorAll("[data-of] [data-tip]")) {
      const name = point.closest("[data-of]").dataset.of;
      const said = kept(point, () => point.dataset.tip);
      const text = said.startsWith(name) ? shown(name) + said.slice(name.length) : said;
      point.dataset.tip = text;
      point.setAttribute("aria-label", text);
    }
  };

  // ---- One line that says what is not shown, and what has another name, so that nobody takes this page for the whole.

  const line = make("p", { class: "steered", role: "status", hidden: "" });
  const list = (all) => all.map(shown).join(", ");
  const said = () => {
    const sentences = [];
    if (hidden.size) sentences.push(`${hidden.size} ${hidden.size > 1 ? "retrievers" : "retriever"} hidden (${list([...hidden])}); numbers and verdicts still cover all retrievers.`);
    if (other.size) sentences.push(`Renamed here: ${[...other].map(([name, to]) => `${to} is ${name}`).join(", ")}; some sentences keep the study’s names.`);
    return sentences.join(" ");
  };
  const say = () => {
    const text = said();
    line.hidden = !text;
    const reset = make("button", { type: "button", class: "all" }, "Show all");
    reset.addEventListener("click", () => {
      clear();
      document.querySelector("[aria-controls=toolbox]")?.focus();
    });
    line.replaceChildren(...(text ? [text, " ", reset] : []));
  };

  const listeners = [];
  const apply = () => {
    markAll();
    say();
    for (const listener of listeners) listener();
  };
  const change = () => {
    remember();
    sync();
    apply();
  };
  const clear = () => {
    for (const one of [lit, hidden, other]) one.clear();
    change();
  };

  window.ragrelay = {
    tools: {
      make, namesIn, shown, renamed, original, gone, isLit, said, mark: markIn,
      get steered() { return lit.size + hidden.size + other.size > 0; },
      get lit() { return lit.size > 0; },
      get address() { return own() && `&${own()}`; },
      on: (listener) => listeners.push(listener),
    },
  };

  // ---- The panel: a row per retriever. With one retriever there is nothing to highlight and nothing to hide.

  let sync = () => {};
  if (!names.length) return;
  const several = names.length > 1;
  const status = make("p", { class: "note", role: "status" });
  const panel = make("div", { id: "toolbox", class: "toolbox", role: "dialog", "aria-labelledby": "toolbox-title", hidden: "" });
  const sets = { highlight: lit, hide: hidden };
  const rows = names.map((name) => {
    const field = make("input", { type: "text", maxlength: LONGEST, placeholder: name, "aria-label": `Name of ${name}`, autocomplete: "off", spellcheck: "false" });
    field.addEventListener("change", () => {
      const taken = !rename(name, field.value);
      field.setAttribute("aria-invalid", taken);
      status.textContent = taken ? `Another retriever is already named ${field.value.trim()}.` : "";
      if (!taken) change();
    });
    const boxes = Object.entries(several ? sets : {}).map(([what, set]) => {
      const box = make("input", { type: "checkbox", "aria-label": `${what === "hide" ? "Hide" : "Highlight"} ${name}` });
      box.addEventListener("change", () => {
        if (box.checked) set.add(name);
        else set.delete(name);
        change();
      });
      return [box, set];
    });
    const key = make("span", { class: "swatch" });
    key.style.setProperty("--own", colours.get(name));
    const row = make("tr", {}, make("th", { scope: "row" }, key, name), ...boxes.map(([box]) => make("td", {}, box)), make("td", {}, field));
    return { row, name, field, boxes };
  });
  sync = () => {
    for (const { name, field, boxes } of rows) {
      field.value = other.get(name) ?? "";
      field.removeAttribute("aria-invalid");
      for (const [box, set] of boxes) box.checked = set.has(name);
    }
  };
  const heads = ["retriever", ...(several ? Object.keys(sets) : []), "rename"].map((head) => make("th", { scope: "col" }, head));
  const button = (text, work) => {
    const element = make("button", { type: "button" }, text);
    element.addEventListener("click", work);
    return element;
  };
  let opener = null;
  const close = () => {
    panel.hidden = true;
    for (const one of document.querySelectorAll("[aria-controls=toolbox]")) one.setAttribute("aria-expanded", "false");
    opener?.focus({ preventScroll: true });
  };
  panel.append(
    make("div", { class: "head" }, make("h2", { id: "toolbox-title" }, "Tools"), button("Close", close)),
    make("p", { class: "note" }, "These settings apply to all figures, tables and queries on this page. They are stored in the page’s address."),
    make("div", { class: "rows" }, make("table", {}, make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...rows.map(({ row }) => row)))),
    make("div", { class: "head" }, button("Copy the link", async () => {
      status.textContent = (await window.ragrelay.copy(location.href)) ? "The link is copied." : "The browser doesn’t allow this page to copy.";
    }), button("Reset", clear)),
    status,
  );
  const toggle = () => {
    const one = make("button", { type: "button", class: "opener", "aria-controls": "toolbox", "aria-expanded": "false" }, "Tools");
    one.addEventListener("click", () => {
      const open = one.getAttribute("aria-expanded") === "true";
      opener = one;
      if (open) return close();
      panel.hidden = false;
      one.setAttribute("aria-expanded", "true");
      panel.querySelector("tbody input").focus();
    });
    return one;
  };
  panel.addEventListener("keydown", (event) => { if (event.key === "Escape") close(); });
  document.querySelector(".bar").append(toggle(), panel);
  document.querySelector("#explorer-choice .steps")?.append(" ", toggle());
  document.getElementById("main").prepend(line);

  recall();
  sync();
  window.addEventListener("hashchange", () => {
    if (parts().some(isOwn)) recall();
    else if (!window.ragrelay.tools.steered) return;
    remember(); // a link within the page leaves the state as it is
    sync();
    apply();
  });
  queueMicrotask(() => { if (window.ragrelay.tools.steered) apply(); }); // the parts of the page that listen come later
})();
