"use strict";
// Out of the page: a figure as SVG or PNG, as it is shown but dark on white; a table, the rows that are shown, as text.
(() => {
  const { make, said } = window.ragrelay.tools;

  // ---- A menu on every figure and table.

  const spoken = make("p", { class: "hidden", role: "status" });
  document.body.append(spoken);
  const menu = (word, what, works) => {
    const shown = document.createTextNode(word);
    const summary = make("summary", {}, shown, make("span", { class: "hidden" }, `: ${what}`));
    const holder = make("details", { class: "menu" }, summary);
    const choices = make("div", { role: "group", "aria-label": `${word} as` });
    for (const [name, work] of Object.entries(works)) {
      const button = make("button", { type: "button" }, name);
      button.addEventListener("click", async () => {
        holder.open = false;
        summary.focus({ preventScroll: true });
        const done = await work();
        spoken.textContent = done ? `${done}: ${what}, ${name}.` : "The browser doesn’t allow this page to copy.";
        shown.data = done || "Not copied";
        setTimeout(() => { shown.data = word; }, 2000);
      });
      choices.append(button);
    }
    holder.append(choices);
    return holder;
  };
  const shut = (except) => {
    for (const one of document.querySelectorAll("details.menu[open]")) if (!one.contains(except)) one.open = false;
  };
  document.addEventListener("click", (event) => shut(event.target));
  document.addEventListener("focusin", (event) => shut(event.target));
  document.addEventListener("keydown", (event) => {
    const open = event.key === "Escape" && document.querySelector("details.menu[open]");
    if (!open) return;
    open.open = false;
    open.querySelector("summary").focus({ preventScroll: true });
  });

  const save = (blob, name) => {
    const url = URL.createObjectURL(blob);
    make("a", { href: url, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
  };
  const copy = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch { // not allowed, or no clipboard for a page from disk: the older way
      const area = make("textarea", { class: "hidden", "aria-hidden": "true", tabindex: "-1" });
      const focused = document.activeElement;
      area.value = text;
      document.body.append(area);
      area.select();
      const done = document.execCommand("copy");
      area.remove();
      focused?.focus({ preventScroll: true });
      return done;
    }
  };
  window.ragrelay.copy = copy;

  // ---- Figures. A copy has all of its style in attributes, so that every viewer draws it alike.

  const LIGHT = { "--ground": "#ffffff", "--raised": "#f5f6f7", "--ink": "#1b1f24", "--soft": "#59636e", "--line": "#d5d9de", "--accent": "#0a5f94" };
  const DRAWN = { fill: "#000000", stroke: "none", "stroke-width": "1px", "stroke-dasharray": "none", opacity: "1", "fill-opacity": "1", "stroke-opacity": "1" };
  const WRITTEN = ["font-family", "font-size", "font-weight", "text-anchor", "text-decoration-line"];
  const pixel = make("canvas", { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true });
  const seen = new Map();
  const solid = (colour) => { // [#rrggbb, opacity] of any colour of CSS
    if (!seen.has(colour)) {
      pixel.clearRect(0, 0, 1, 1);
      pixel.fillStyle = colour;
      pixel.fillRect(0, 0, 1, 1);
      const [red, green, blue, alpha] = pixel.getImageData(0, 0, 1, 1).data;
      seen.set(colour, [`#${[red, green, blue].map((one) => one.toString(16).padStart(2, "0")).join("")}`, Math.round((alpha / 255) * 1000) / 1000]);
    }
    return seen.get(colour);
  };
  const dressed = (element, style) => {
    const copied = document.createElementNS("http://www.w3.org/2000/svg", element.tagName === "a" ? "g" : element.tagName);
    for (const { name, value } of element.attributes) {
      if (!/^(class|style|href|xlink:href|xmlns|xmlns:.*|tabindex|role|aria-.*|data-.*|cursor|pointer-events)$/.test(name) && !(name in DRAWN)) copied.setAttribute(name, value);
    }
    if (copied.tagName === "g" || copied.tagName === "svg") { // inherited by what is inside, which has its own
      if (style.opacity !== "1") copied.setAttribute("opacity", style.opacity);
      return copied;
    }
    const values = Object.fromEntries(Object.keys(DRAWN).map((name) => [name, style.getPropertyValue(name)]));
    for (const name of ["fill", "stroke"]) {
      if (values[name] === "none" || values[name].startsWith("url")) continue;
      const [colour, opacity] = solid(values[name]);
      values[name] = opacity ? colour : "none";
      values[`${name}-opacity`] = String(Number(values[`${name}-opacity`]) * opacity);
    }
    if (values.stroke === "none") for (const name of Object.keys(values)) if (name.startsWith("stroke")) values[name] = DRAWN[name];
    for (const [name, value] of Object.entries(values)) if (value !== DRAWN[name]) copied.setAttribute(name, value);
    if (copied.tagName === "text" || copied.tagName === "tspan") {
      for (const name of WRITTEN) copied.setAttribute(name === "text-decoration-line" ? "text-decoration" : name, style.getPropertyValue(name));
    }
    return copied;
  };
  const copied = (element) => {
    const style = getComputedStyle(element);
    if (style.display === "none" || element.matches(".reach, title, desc")) return null;
    const own = dressed(element, style);
    for (const child of element.childNodes) {
      if (child.nodeType === Node.TEXT_NODE) own.append(child.data);
      else if (child.nodeType === Node.ELEMENT_NODE) own.append(...[copied(child)].filter(Boolean));
    }
    return own;
  };
  const drawing = (figure) => {
    const svg = [...figure.querySelectorAll("svg")].find((one) => one.getBoundingClientRect().width);
    if (!svg) return null;
    const root = document.documentElement;
    for (const [name, value] of Object.entries(LIGHT)) root.style.setProperty(name, value);
    const found = copied(svg);
    for (const name of Object.keys(LIGHT)) root.style.removeProperty(name);
    const [x, y, least, height] = (svg.getAttribute("viewBox") ?? `0 0 ${svg.getAttribute("width")} ${svg.getAttribute("height")}`).split(/[\s,]+/).map(Number);
    const box = svg.getBBox();
    const width = Math.ceil(Math.max(least, box.x + box.width - x)); // names may reach beyond the drawing
    found.setAttribute("viewBox", `${x} ${y} ${width} ${height}`);
    found.setAttribute("width", width);
    found.setAttribute("height", height);
    const of = (tag, text) => {
      const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
      element.textContent = text;
      return element;
    };
    const ground = of("rect", "");
    for (const [name, value] of Object.entries({ x, y, width, height, fill: LIGHT["--ground"] })) ground.setAttribute(name, value);
    found.prepend(of("title", titleOf(figure)), ...(said() ? [of("desc", said())] : []), ground);
    return { text: new XMLSerializer().serializeToString(found), width, height };
  };
  const titleOf = (figure) => figure.querySelector("h2, figcaption strong")?.textContent.trim() ?? "";
  const asSvg = (figure, name) => {
    const { text } = drawing(figure);
    save(new Blob([text], { type: "image/svg+xml" }), `${name}.svg`);
    return "Saved";
  };
  const SCALE = 2; // pixels of a PNG per pixel of the page
  const asPng = async (figure, name) => {
    const { text, width, height } = drawing(figure);
    const image = new Image();
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
    await image.decode();
    const canvas = make("canvas", { width: Math.ceil(width * SCALE), height: Math.ceil(height * SCALE) });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    save(await new Promise((done) => canvas.toBlob(done, "image/png")), `${name}.png`);
    return "Saved";
  };
  for (const figure of document.querySelectorAll("main figure")) {
    const name = figure.id.replace(/-figure$/, "") || `${figure.closest("[id]").id}-figure`;
    figure.append(menu("Save", titleOf(figure), { SVG: () => asSvg(figure, name), PNG: () => asPng(figure, name) }));
  }

  // ---- Tables. A cell is its runs of text, as they are shown, each with whether it is raised.

  const runs = (node, raised = false) => {
    if (node.nodeType === Node.TEXT_NODE) return [[node.data, raised]];
    if (node.nodeType !== Node.ELEMENT_NODE || node.matches("svg, summary, details.menu")) return [];
    const inside = [...node.childNodes].flatMap((child) => runs(child, raised || node.tagName === "SUP"));
    const cell = node.matches("th, td, caption");
    return cell || getComputedStyle(node).display !== "none" ? inside : [];
  };
  const written = (cell, text, up) => {
    const found = runs(cell).map(([run, raised]) => [run.replace(/\s+/g, " "), raised]).filter(([run]) => run.trim());
    return found.map(([run, raised]) => (raised ? up(run.trim()) : text(run))).join("").trim();
  };
  const number = (text) => /^[-+−]?[\d.,]+%?( \[[-+−\d., ]+\])?\*?$/.test(text);
  const SIGNS = { "−": "$-$", "–": "--", "—": "---", "·": "$\\cdot$", "×": "$\\times$", "≤": "$\\le$", "≥": "$\\ge$", "<": "$<$", ">": "$>$", "↑": "$\\uparrow$", "↓": "$\\downarrow$", "→": "$\\to$", "…": "\\ldots{}", "†": "\\dag{}", "‡": "\\ddag{}", "Σ": "$\\Sigma$", "ρ": "$\\rho$", "τ": "$\\tau$", "²": "$^2$", "’": "'", "“": "``", "”": "''", "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "|": "\\textbar{}" };
  const latex = (text) => text.replace(/[&%$#_{}]|[−–—·×≤≥<>↑↓→…†‡Σρτ²’“”\\~^|]|[₀-₉]/g, (sign) => SIGNS[sign] ?? (/[₀-₉]/.test(sign) ? `$_${sign.charCodeAt(0) - 0x2080}$` : `\\${sign}`));
  const markdown = (text) => text.replace(/[\\`*_{}<>|~&]/g, "\\$&");
  const plain = (text) => text.replace(/−/g, "-");
  // A leading = or the like is a formula to a spreadsheet, unless all of it is a number.
  const quoted = (text) => `"${(/^[=+@\t\r-]/.test(text) && !number(text) ? `'${text}` : text).replace(/"/g, '""')}"`;

  // The rows that are shown or one press away: those that the search, the filters and the tools leave.
  const rowsOf = (section) => [...section.rows].filter((row) => !row.hidden && !("gone" in row.dataset));
  const widthOf = (row) => [...row.cells].reduce((sum, cell) => sum + cell.colSpan, 0);
  const spread = (row, write) => [...row.cells].flatMap((cell) => [write(cell), ...Array(cell.colSpan - 1).fill("")]);
  const shape = (table) => {
    const bodies = [...table.tBodies].map(rowsOf).filter((rows) => rows.length);
    const heads = [...(table.tHead?.rows ?? [])];
    const whole = bodies.flat().find((row) => [...row.cells].every((cell) => cell.colSpan === 1)) ?? heads.at(-1);
    const right = [...whole.cells].flatMap((cell) => Array(cell.colSpan).fill(["right", "end"].includes(getComputedStyle(cell).textAlign)));
    return { bodies, heads, right };
  };
  const captionOf = (table) => (table.caption ? written(table.caption, (text) => text, () => "") : "");
  const FORMS = {
    CSV: (table) => {
      const { bodies, heads } = shape(table);
      const line = (row) => spread(row, (cell) => written(cell, plain, (marks) => ` ${marks}`)).map(quoted).join(",");
      return [...heads.slice(-1), ...bodies.flat()].map(line).join("\n");
    },
    Markdown: (table) => {
      const { bodies, heads, right } = shape(table);
      const line = (row) => `| ${spread(row, (cell) => written(cell, markdown, (marks) => `<sup>${markdown(marks)}</sup>`)).join(" | ")} |`;
      const rule = `| ${right.map((one) => (one ? "---:" : "---")).join(" | ")} |`;
      return [line(heads.at(-1)), rule, ...bodies.flat().map(line)].join("\n");
    },
    LaTeX: (table) => {
      const { bodies, heads, right } = shape(table);
      const cellOf = (cell) => {
        const texts = cell.querySelector(".hidden") && heads.length > 1 ? [...cell.querySelectorAll(".hidden")].map((one) => one.textContent) : [];
        const text = texts.reduce((left, one) => left.replace(latex(one).trim(), ""), written(cell, latex, (marks) => `$^{\\mathrm{${latex(marks).replace(/\$/g, "")}}}$`)).trim();
        return cell.colSpan > 1 ? `\\multicolumn{${cell.colSpan}}{${cell.colSpan === widthOf(cell.parentNode) ? "l" : "c"}}{${text}}` : text;
      };
      const line = (row) => `${[...row.cells].map(cellOf).join(" & ")} \\\\`;
      const comment = (text) => (text ? [`% ${text}`] : []);
      return [
        ...comment(captionOf(table)), ...comment(said()),
        `\\begin{tabular}{${right.map((one) => (one ? "r" : "l")).join("")}}`, "\\toprule", ...heads.map(line),
        ...bodies.flatMap((rows) => ["\\midrule", ...rows.map(line)]), "\\bottomrule", "\\end{tabular}",
      ].join("\n");
    },
  };
  const offer = (table) => {
    const works = Object.fromEntries(Object.entries(FORMS).map(([name, form]) => [name, async () => ((await copy(`${form(table)}\n`)) ? "Copied" : "")]));
    const holder = menu("Copy", captionOf(table) || "table", works);
    const box = table.closest(".scroll") ?? table;
    const tools = document.querySelector(`[data-tools="${CSS.escape(table.id)}"], [data-shows="${CSS.escape(table.id)}"]:not(table)`);
    if (table.closest(".lead-table")) table.parentNode.append(holder);
    else if (tools) tools.append(holder);
    else box.before(make("div", { class: "tools" }, holder));
  };
  for (const table of document.querySelectorAll("main table")) offer(table);
  window.ragrelay.offer = offer;
})();
