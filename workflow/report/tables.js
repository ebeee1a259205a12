"use strict";
(() => {
  document.documentElement.classList.add("scripted");

  // ---- Tables: sorting by the buttons in their headers, filtering by selects above them.

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

  const addFilters = (table) => {
    const tools = document.querySelector(`[data-tools="${table.id}"]`);
    const rows = Array.from(table.tBodies[table.tBodies.length - 1].rows);
    if (!tools || rows.length < 8) return;
    const selects = [];
    const status = document.createElement("span");
    status.setAttribute("role", "status");
    const apply = () => {
      let shown = 0;
      for (const row of rows) {
        row.hidden = !selects.every(([column, select]) => !select.value || text(row, column) === select.value);
        shown += !row.hidden;
      }
      status.textContent = `${shown} of ${rows.length} rows`;
    };
    for (const header of table.querySelectorAll("th[data-filter]")) {
      const button = header.querySelector("button");
      const column = Number(button.dataset.column);
      const values = [...new Set(rows.map((row) => text(row, column)))];
      if (values.length < 2) continue;
      const label = document.createElement("label");
      const select = document.createElement("select");
      select.add(new Option("all", ""));
      for (const value of values) if (value) select.add(new Option(value, value));
      if (values.includes(header.dataset.filter)) select.value = header.dataset.filter;
      select.addEventListener("change", apply);
      label.append(button.textContent + " ", select);
      tools.append(label);
      selects.push([column, select]);
    }
    if (selects.length) {
      tools.append(status);
      apply();
    }
  };

  const styles = document.styleSheets[0];
  for (const table of document.querySelectorAll("table.sortable")) {
    for (const button of table.querySelectorAll("th button")) {
      const numeric = "numeric" in button.closest("th").dataset;
      const place = Number(button.dataset.column) + 1;
      if (numeric) styles.insertRule(`#${table.id} > tbody:last-of-type > tr > :nth-child(${place}) { text-align: right; }`);
      button.addEventListener("click", () => sort(button));
    }
    addFilters(table);
  }

  for (const choice of document.querySelectorAll("fieldset[data-shows]")) {
    choice.addEventListener("change", (event) => {
      const table = document.getElementById(choice.dataset.shows);
      table.dataset.shows = event.target.value;
      for (const header of table.querySelectorAll("th[data-numeric]")) header.removeAttribute("aria-sort");
    });
  }
})();
