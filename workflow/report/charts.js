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

  const fit = (spec, width) => {
    spec.data = { values: unpack(spec.data.columns) };
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

  const draw = async () => {
    const specs = JSON.parse(document.getElementById("charts").textContent);
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    for (const place of document.querySelectorAll("[data-chart]")) {
      await new Promise((go) => (window.requestIdleCallback ?? setTimeout)(go, { timeout: 500 })); // charts are in folds: all else goes first
      const name = place.dataset.chart;
      const { view } = await vegaEmbed(place, fit(specs[name], place.clientWidth || document.querySelector("main").clientWidth), {
        renderer: "svg",
        ast: true, // expressions are interpreted: the page allows no eval
        actions: { export: true, source: false, compiled: false, editor: false },
        downloadFileName: name,
        tooltip: { theme: dark ? "dark" : "light" },
      });
      place.querySelector("summary")?.setAttribute("aria-label", "Save the chart");
      // A point that represents a query opens it in the explorer.
      view.addEventListener("click", (event, item) => {
        if (item?.datum?.qid !== undefined) window.ragrelay?.explore?.(Number(name.slice(1).split("-")[0]) - 1, item.datum);
      });
    }
    document.documentElement.dataset.charts = "drawn";
  };

  addEventListener("load", draw); // the library comes last
})();
