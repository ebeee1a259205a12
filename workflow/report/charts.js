"use strict";
(() => {
  // ---- Charts: as many panels side by side as the page is wide.

  const AXIS = 82; // labels and title of the first axis, and the padding, unless the chart says otherwise
  const SPACING = 20;

  // Rows from columns: the inverse of ragrelay.report.packing.
  const unpack = (columns) => {
    const rows = [];
    for (const [name, { values, words, places }] of Object.entries(columns)) {
      (places || values).forEach((value, row) => { (rows[row] ??= {})[name] = places ? words[value] : value; });
    }
    return rows;
  };

  // ---- The tools: rows of hidden retrievers are left out, names are those that the reader gave, colours of others pale.

  const { tools } = window.ragrelay;
  const NAMED = ["retriever", "panel", "name"]; // columns
  const PALE = "4d"; // the opacity, as hex digits of a colour
  const steer = (spec) => {
    const rows = spec.data.values.filter((row) => !NAMED.some((column) => tools.gone(row[column])));
    for (const row of rows) for (const column of NAMED) if (typeof row[column] === "string") row[column] = tools.renamed(row[column]);
    spec.data.values = rows;
    const names = (list) => Array.isArray(list) && list.some((one) => typeof one === "string");
    const walk = (node) => {
      if (node === null || typeof node !== "object" || node === spec.data) return;
      for (const inside of Object.values(node)) walk(inside);
      const { domain, range, sort, labelExpr } = node;
      if (names(domain)) {
        const kept = domain.map((_, at) => at).filter((at) => !tools.gone(domain[at]));
        const pale = (value, at) => (tools.lit && typeof value === "string" && value.startsWith("#") && !tools.isLit(domain[at]) ? value + PALE : value);
        if (Array.isArray(range)) node.range = kept.map((at) => pale(range[at], at));
        node.domain = kept.map((at) => tools.renamed(domain[at]));
      }
      if (names(sort)) node.sort = sort.filter((one) => !tools.gone(one)).map(tools.renamed);
      const listed = typeof labelExpr === "string" && labelExpr.match(/^(\[[^]*\])(\[datum\.value\])$/);
      if (listed) {
        const labels = JSON.parse(listed[1]).map((one) => (tools.gone(one) ? "" : tools.renamed(one)));
        node.labelExpr = JSON.stringify(labels) + listed[2];
      }
    };
    walk(spec);
    return spec;
  };

  const fit = (spec, width) => {
    const least = Math.min(spec.spec.width, 280) * 0.8;
    const axis = spec.usermeta?.axis ?? AXIS;
    const panel = (columns) => Math.floor((width - axis - SPACING * (columns - 1)) / columns);
    let columns = spec.columns;
    while (columns > 1 && (panel(columns) < least || spec.columns % columns)) columns -= 1;
    spec.columns = columns;
    spec.spec.width = Math.max(panel(columns), 180);
    spec.config.legend.columns = Math.max(1, Math.floor((width - AXIS) / 120));
    return spec;
  };

  const specs = JSON.parse(document.getElementById("charts").textContent);
  const widths = new Map(); // by name: the pixels that a chart was drawn for
  const drawn = new Map(); // by name: the chart, its choices as the reader left them
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  // A closed fold: Chromium lays it out when it is asked, and has the answer the second time; other browsers say 0.
  const widthOf = (place) => {
    place.getBoundingClientRect();
    return Math.floor(place.getBoundingClientRect().width);
  };
  const drawOne = async (place) => {
    const name = place.dataset.chart;
    const spec = structuredClone(specs[name]);
    spec.data = { values: unpack(spec.data.columns) };
    if (tools.steered) steer(spec);
    const before = drawn.get(name);
    for (const param of spec.params ?? []) if (before) param.value = before.view.signal(param.name);
    place.style.minHeight = before ? `${place.offsetHeight}px` : ""; // the page keeps its place meanwhile
    const width = widthOf(place) || document.querySelector("main").clientWidth;
    widths.set(name, width);
    const chart = await vegaEmbed(place, fit(spec, width), {
      renderer: "svg",
      ast: true, // expressions are interpreted: the page allows no eval
      actions: false,
      logLevel: 1, // errors: Vega warns of a choice that has no interval
      tooltip: { theme: dark ? "dark" : "light" },
    });
    before?.finalize();
    drawn.set(name, chart);
    place.style.minHeight = "";
    if (!spec.data.values.length) place.append("All retrievers in this figure are hidden.");
    // A point that represents a query opens it in the explorer.
    chart.view.addEventListener("click", (event, item) => {
      if (item?.datum?.qid === undefined) return;
      const { retriever, ...cell } = item.datum;
      window.ragrelay.explore?.(Number(name.slice(1).split("-")[0]) - 1, { ...cell, retriever: tools.original(retriever) });
    });
  };

  let turn = 0;
  let last = Promise.resolve();
  const drawAll = async (mine) => {
    if (mine !== turn) return; // the tools went on
    const again = drawn.size > 0;
    const places = [...document.querySelectorAll("[data-chart]")];
    for (const place of places.sort((one, other) => Boolean(other.clientWidth) - Boolean(one.clientWidth))) { // those in folds later
      if (!again || !place.clientWidth) await new Promise((go) => (window.requestIdleCallback ?? setTimeout)(go, { timeout: 500 })); // all else goes first
      if (mine !== turn) return;
      await drawOne(place);
    }
    document.documentElement.dataset.charts = "drawn";
  };

  const draw = () => {
    const mine = (turn += 1);
    document.documentElement.dataset.charts = "drawing";
    last = last.then(() => drawAll(mine));
  };

  document.addEventListener("toggle", ({ target }) => {
    const wide = [...target.querySelectorAll("[data-chart]")].filter((place) => drawn.has(place.dataset.chart) && widthOf(place) && widthOf(place) < widths.get(place.dataset.chart));
    if (wide.length) last = last.then(async () => { for (const place of wide) await drawOne(place); });
  }, true);

  addEventListener("load", () => { // the library comes last
    tools.on(draw);
    draw();
  });
})();
