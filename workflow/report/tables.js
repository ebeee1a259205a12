"use strict";
(() => {
  document.documentElement.classList.add("scripted");

  // ---- Tables: sorting by the buttons in their headers, filtering by selects above them.

  // Pages without a toolbox, such as the list of studies, show every row as it is.
  const shown = { namesIn: () => [], renamed: (name) => name, gone: () => false, isLit: () => false, on: () => {} };
  const tools = window.ragrelay?.tools ?? shown;
  const text = (row, column) => {
    const cell = row.cells[column];
    const shows = row.closest("table").dataset.shows;
    return ((shows && cell.querySelector("." + shows)) || cell).textContent.trim();
  };

  // The leading number of a cell, e.g. of "−0.12 [−0.20, −0.04]" or "1,234"; "<0.001" sorts before 0.001.
  const numberOf = (words) => {
    const value = parseFloat(words.replace(/\u2212/g, "-").replace(/,(?=\d{3})/g, "").replace(/^[<[\s]+/, ""));
    return words.startsWith("<") ? value / 2 : value;
  };

  const order = (one, other, sign) => {
    const missing = (key) => key === "" || key === "–" || Number.isNaN(key);
    if (missing(one) || missing(other)) return missing(one) - missing(other); // what is missing comes last
    if (typeof one === "number") return sign * (one - other);
    return sign * one.localeCompare(other, undefined, { numeric: true });
  };

  const sort = (button) => {
    const header = button.closest("th");
    const table = header.closest("table");
    const body = table.tBodies[table.tBodies.length - 1];
    const column = Number(button.dataset.column);
    const sign = header.getAttribute("aria-sort") === "ascending" ? -1 : 1;
    const key = (row) => ("numeric" in header.dataset ? numberOf(text(row, column)) : text(row, column));
    const rows = Array.from(body.rows, (row) => [key(row), row]);
    rows.sort((one, other) => order(one[0], other[0], sign));
    for (const other of table.querySelectorAll("th[aria-sort]")) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", sign === 1 ? "ascending" : "descending");
    body.append(...rows.map(([, row]) => row));
  };

  // ---- Retrievers: rows of hidden ones are gone, names are those that the reader gave. A cell keeps what was in it.

  const OF_RETRIEVERS = ["retriever", "retrievers", "against", "reference retriever"]; // headings
  const named = (row, column) => row.cells[column].dataset.names ?? text(row, column);
  const steer = (table) => {
    const heads = Array.from(table.querySelectorAll("thead button"));
    const columns = heads.filter((head) => OF_RETRIEVERS.includes(head.textContent)).map((head) => Number(head.dataset.column));
    const rows = Array.from(table.tBodies).flatMap((body) => Array.from(body.rows));
    const cells = rows.flatMap((row) => columns.map((column) => row.cells[column]).filter((cell) => cell && tools.namesIn(cell.textContent).length));
    for (const cell of cells) cell.dataset.names = cell.textContent;
    return () => {
      for (const cell of cells) cell.textContent = tools.renamed(cell.dataset.names);
      for (const row of rows) {
        const names = Array.from(row.cells, (cell) => cell.dataset.names).filter(Boolean);
        row.toggleAttribute("data-gone", names.some(tools.gone));
        row.toggleAttribute("data-lit", names.some(tools.isLit));
      }
    };
  };

  // ---- Tables: ten rows, then all; filters, a search and the shown rows as CSV above those that are longer.

  const FIRST = 10;
  const add = (place, tag, properties, ...inside) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...inside);
    place.append(element);
    return element;
  };

  const addTools = (table) => {
    const place = document.querySelector(`[data-tools="${table.id}"]`);
    const body = table.tBodies[table.tBodies.length - 1];
    const rows = Array.from(body.rows);
    if (!place || rows.length < 8) return () => {};
    const chosen = [];
    const headOf = (column) => table.querySelector(`thead [data-column="${column}"]`).textContent;
    const kept = (row) => chosen.every(([column, select]) => !select.value || named(row, column) === select.value)
      && row.textContent.toLocaleLowerCase().includes(search.value.trim().toLocaleLowerCase());
    const apply = () => {
      let shown = 0;
      for (const row of body.rows) {
        row.hidden = !kept(row);
        shown += !row.hidden && !("gone" in row.dataset);
        row.classList.toggle("beyond", shown > FIRST);
      }
      status.textContent = `${shown} of ${rows.length} rows`;
      all.hidden = shown <= FIRST;
      all.textContent = "all" in table.dataset ? `First ${FIRST} rows` : `All ${shown} rows`;
      for (const [column, select] of chosen) {
        if (OF_RETRIEVERS.includes(headOf(column))) for (const option of select.options) if (option.value) option.text = tools.renamed(option.value);
      }
    };
    for (const header of table.querySelectorAll("th[data-filter]")) {
      const button = header.querySelector("button");
      const column = Number(button.dataset.column);
      const values = [...new Set(rows.map((row) => named(row, column)))];
      if (values.length < 2) continue;
      const select = document.createElement("select");
      select.add(new Option("all", ""));
      for (const value of values) if (value) select.add(new Option(value, value));
      if (values.includes(header.dataset.filter)) select.value = header.dataset.filter;
      select.addEventListener("change", apply);
      add(place, "label", {}, `${button.textContent} `, select);
      chosen.push([column, select]);
    }
    const search = document.createElement("input");
    search.type = "search";
    search.addEventListener("input", apply);
    add(place, "label", {}, "search ", search);
    const status = add(place, "span", {});
    status.setAttribute("role", "status");
    const csv = add(place, "button", { type: "button", className: "all", textContent: "CSV" });
    csv.addEventListener("click", () => {
      const heads = Array.from(table.querySelectorAll("thead button"), (button) => button.textContent);
      const lines = [heads, ...Array.from(body.rows).filter((row) => !row.hidden && !("gone" in row.dataset)).map((row) => heads.map((_, at) => text(row, at)))];
      // A leading = or the like is a formula to a spreadsheet, unless it begins a number.
      const quoted = (value) => `"${(/^[=+@\t\r-]/.test(value) && Number.isNaN(Number(value)) ? `'${value}` : value).replace(/"/g, '""')}"`;
      const file = new Blob([lines.map((line) => line.map(quoted).join(",")).join("\r\n")], { type: "text/csv" });
      Object.assign(document.createElement("a"), { href: URL.createObjectURL(file), download: `${table.id}.csv` }).click();
    });
    const all = add(table.closest(".scroll").parentNode, "button", { type: "button", className: "all" });
    table.closest(".scroll").after(all);
    all.addEventListener("click", () => {
      table.toggleAttribute("data-all");
      apply();
    });
    apply();
    return apply;
  };

  const styles = document.styleSheets[0];
  for (const table of document.querySelectorAll("table.sortable")) {
    const steered = steer(table);
    const apply = addTools(table);
    tools.on(() => {
      steered();
      apply();
    });
    for (const button of table.querySelectorAll("th button")) {
      const numeric = "numeric" in button.closest("th").dataset;
      const place = Number(button.dataset.column) + 1;
      if (numeric) styles.insertRule(`#${CSS.escape(table.id)} > tbody:last-of-type > tr > :nth-child(${place}) { text-align: right; ${table.matches(".most") ? "" : "white-space: nowrap;"} }`);
      button.addEventListener("click", () => {
        sort(button);
        apply();
      });
    }
  }

  for (const choice of document.querySelectorAll("fieldset[data-shows]")) {
    choice.addEventListener("change", (event) => {
      const table = document.getElementById(choice.dataset.shows);
      table.dataset.shows = event.target.value;
      for (const header of table.querySelectorAll("th[data-numeric]")) header.removeAttribute("aria-sort");
    });
  }
})();
