"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("js");

  const themes = ["auto", "light", "dark"];
  const remembered = () => { try { return localStorage.getItem("sandscore-theme"); } catch { return null; } };
  const remember = (theme) => { try { localStorage.setItem("sandscore-theme", theme); } catch { /* a frame may forbid it */ } };
  const showTheme = (theme) => {
    if (theme === "auto") delete root.dataset.theme; else root.dataset.theme = theme;
    for (const button of document.querySelectorAll("[data-theme-switch]")) button.textContent = `Theme: ${theme}`;
  };
  let theme = themes.includes(remembered()) ? remembered() : "auto";
  showTheme(theme);

  const say = (table, words) => {
    const status = document.querySelector(`[data-status="${table.id}"]`);
    if (status) status.textContent = words;
  };

  const keyOf = (cell, words) => {
    const text = cell.dataset.key ?? cell.textContent.trim();
    if (text === "" || text === "–") return null;
    return words ? text.toLocaleLowerCase() : Number.parseFloat(text.replace(/[<>≤]/, ""));
  };

  const sort = (table, heading) => {
    const index = heading.cellIndex;
    const words = "words" in heading.dataset;
    const first = heading.dataset.first === "desc" ? "descending" : "ascending";
    const turned = first === "descending" ? "ascending" : "descending";
    const order = heading.getAttribute("aria-sort") === first ? turned : first;
    const sign = order === "ascending" ? 1 : -1;
    const body = table.tBodies[0];
    const rows = Array.from(body.rows, (row) => ({ row, key: keyOf(row.cells[index], words), at: Number(row.dataset.at) }));
    rows.sort((a, b) => {
      if (a.key === null || b.key === null) return (a.key === null) - (b.key === null) || a.at - b.at;
      return (words ? a.key.localeCompare(b.key) : a.key - b.key) * sign || a.at - b.at;
    });
    body.append(...rows.map(({ row }) => row));
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", order);
    table.classList.toggle("resorted", rows.some(({ at }, place) => at !== place));
    say(table, `Sorted by ${heading.textContent.trim()}, ${order}.`);
  };

  const makeSortable = (table) => {
    Array.from(table.tBodies[0].rows).forEach((row, at) => { row.dataset.at = at; });
    for (const heading of table.tHead.rows[0].cells) {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...heading.childNodes);
      heading.append(button);
      button.addEventListener("click", () => sort(table, heading));
    }
  };

  /* Without accents, small and capital letters alike. */
  const folded = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLocaleLowerCase();

  const makeFilter = (field) => {
    const table = document.getElementById(field.dataset.filter);
    if (!table) return;
    const rows = Array.from(table.tBodies[0].rows, (row) => ({ row, text: folded(row.querySelector("th").textContent) }));
    field.addEventListener("input", () => {
      const wanted = folded(field.value.trim());
      let left = 0;
      for (const { row, text } of rows) {
        row.hidden = !text.includes(wanted);
        left += row.hidden ? 0 : 1;
      }
      say(table, wanted ? `${left} of ${rows.length} rows shown.` : "");
    });
  };

  const makeChooser = (box, table) => {
    const index = Number(box.dataset.column);
    const show = () => {
      for (const row of table.rows) {
        row.cells[index].hidden = !box.checked;
        row.cells[index].classList.toggle("asked", box.checked);
      }
    };
    if (getComputedStyle(table.rows[0].cells[index]).display === "none") box.checked = false;
    box.addEventListener("change", show);
    if (!box.checked) show();
  };

  /* What a wide table has no room for waits in the chooser, from the right. */
  const fit = (table) => {
    const boxes = Array.from(document.querySelectorAll("[data-column]")).reverse();
    for (const box of boxes) {
      if (table.offsetWidth <= table.parentElement.clientWidth) return;
      if (!box.checked) continue;
      box.checked = false;
      box.dispatchEvent(new Event("change"));
    }
  };

  const makeKindFilter = (field) => {
    const sheets = Array.from(document.querySelectorAll("details[data-kinds]"));
    field.addEventListener("change", () => {
      let left = 0;
      for (const sheet of sheets) {
        sheet.hidden = field.value !== "" && !sheet.dataset.kinds.split(" ").includes(field.value);
        left += sheet.hidden ? 0 : 1;
      }
      document.querySelector('[data-status="notes"]').textContent = `${left} of ${sheets.length} notes shown.`;
    });
  };

  const openNamed = () => {
    const named = document.getElementById(location.hash.slice(1));
    if (named instanceof HTMLDetailsElement) { named.hidden = false; named.open = true; }
  };

  document.addEventListener("DOMContentLoaded", () => {
    showTheme(theme);
    for (const button of document.querySelectorAll("[data-theme-switch]")) {
      button.addEventListener("click", () => {
        theme = themes[(themes.indexOf(theme) + 1) % themes.length];
        remember(theme);
        showTheme(theme);
      });
    }
    document.querySelectorAll("table[data-sortable]").forEach(makeSortable);
    document.querySelectorAll("[data-filter]").forEach(makeFilter);
    const board = document.getElementById("board");
    if (board) document.querySelectorAll("[data-column]").forEach((box) => makeChooser(box, board));
    if (board) fit(board);
    document.querySelectorAll("[data-kind-filter]").forEach(makeKindFilter);
    openNamed();
    addEventListener("hashchange", openNamed);
    for (const chooser of document.querySelectorAll(".chooser")) {
      chooser.addEventListener("keydown", (event) => {
        if (event.key !== "Escape") return;
        chooser.open = false;
        chooser.querySelector("summary").focus();
      });
    }
  });
})();
