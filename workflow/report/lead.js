"use strict";
(() => {
  // ---- The study's other pages, as the list beside them has them; a page alone has its own entries.

  const header = document.querySelector("[data-results]");
  const entries = (window.ragrelayPages ?? []).map(([title, target]) => {
    const link = document.createElement("a");
    const url = new URL(`${header.dataset.results}/${target}`, location);
    link.href = url.pathname === location.pathname ? url.hash : url.href;
    link.textContent = title;
    if (link.getAttribute("href") === "#main") link.setAttribute("aria-current", "page");
    const entry = document.createElement("li");
    entry.append(link);
    return entry;
  });
  if (entries.length) header.replaceChildren(...entries);

  // ---- Folds: what a link leads to is open, and so is everything on paper.

  const reveal = (element) => {
    for (let one = element; one; one = one.parentElement) if (one.tagName === "DETAILS") one.open = true;
  };
  const anchor = () => location.hash.split("&")[0]; // before what the tools keep there
  const follow = () => {
    const target = document.getElementById(decodeURIComponent(anchor().slice(1)));
    if (!target) return;
    reveal(target);
    target.scrollIntoView();
  };
  window.addEventListener("hashchange", follow);
  follow();
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']");
    if (link && link.getAttribute("href") === anchor()) follow(); // the same once more is no change
  });
  let closed = [];
  window.addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("main details:not([open])")].filter((one) => !one.matches(".menu"));
    for (const one of closed) one.open = true;
  });
  window.addEventListener("afterprint", () => { for (const one of closed) one.open = false; });

  // ---- The first figure: the numbers of a point in the line above it; a first tap shows them, a second follows.

  for (const figure of document.querySelectorAll(".lead-figure")) {
    const tip = figure.querySelector(".tip");
    const plain = tip.textContent;
    let shown = null;
    const show = (event) => {
      shown = event.target.closest("[data-tip]");
      tip.textContent = shown ? shown.dataset.tip : plain;
    };
    for (const kind of ["pointerover", "focusin"]) figure.addEventListener(kind, show);
    for (const kind of ["pointerleave", "focusout"]) figure.addEventListener(kind, () => { tip.textContent = plain; });
    let before = null; // what was shown when the finger came down
    figure.addEventListener("pointerdown", (event) => { before = event.pointerType === "touch" ? shown : undefined; }, true);
    figure.addEventListener("click", (event) => {
      const link = event.target.closest("a[data-tip]");
      if (link && before !== undefined && before !== link && event.detail) event.preventDefault();
    });
  }

  // ---- Terms: their meaning beside them, by pointer, tap or key; Escape and whatever comes next put it away.

  const tip = document.createElement("div");
  tip.className = "meaning";
  tip.id = "meaning";
  tip.setAttribute("role", "tooltip");
  tip.hidden = true;
  document.body.append(tip);
  let term = null;
  const hide = () => {
    term?.removeAttribute("aria-describedby");
    term = null;
    tip.hidden = true;
  };
  const explain = (one) => {
    if (one === term) return;
    hide();
    term = one;
    tip.textContent = one.dataset.meaning;
    tip.hidden = false;
    one.setAttribute("aria-describedby", tip.id);
    const { left, bottom } = one.getBoundingClientRect();
    const room = document.documentElement.clientWidth - tip.offsetWidth - 8;
    tip.style.left = `${Math.max(8, Math.min(left, room)) + scrollX}px`;
    tip.style.top = `${bottom + scrollY + 4}px`;
  };
  const of = (event) => event.target.closest?.(".term");
  for (const kind of ["pointerover", "focusin", "click"]) {
    document.addEventListener(kind, (event) => { if (of(event)) explain(of(event)); else if (kind !== "focusin") hide(); });
  }
  document.addEventListener("focusout", hide);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hide();
    if (of(event) && ["Enter", " "].includes(event.key)) { event.preventDefault(); explain(of(event)); }
  });

  for (const button of document.querySelectorAll(".lead-table .all")) {
    button.addEventListener("click", () => {
      document.getElementById(button.getAttribute("aria-controls")).dataset.all = "";
      button.remove();
    });
  }
})();
