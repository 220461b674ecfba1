/* Any two rows beside each other, and a table that is found again by its address. */
const sandscoreAddress = (() => {
  const read = () => new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "");
  const key = `sandscore:${location.pathname}`;
  const write = (changes) => {
    const now = read();
    for (const [name, value] of Object.entries(changes)) if (value) now.set(name, value); else now.delete(name);
    const text = now.toString();
    history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
    try { localStorage.setItem(key, text); } catch { /* a frame may forbid it */ }
  };
  const remembered = () => {
    if (location.hash) return read();
    try { return new URLSearchParams(localStorage.getItem(key) ?? ""); } catch { return read(); }
  };
  return { read, write, remembered };
})();

document.addEventListener("DOMContentLoaded", () => {
  const place = document.getElementById("proof"), section = document.querySelector("[data-pick]");
  if (!place || !section) return;
  let proof = null;
  try { proof = JSON.parse(place.textContent); } catch { return; }
  const { rows, pairs, rules } = proof;
  if (!pairs.length || rows.length < 2) return;
  section.hidden = false;
  const [first, second] = ["a", "b"].map((side) => section.querySelector(`[data-pick-${side}]`));
  const result = section.querySelector("[data-pick-result]");
  const lower = proof.formulas[rules.headline]?.lower ?? false;
  const at = new Map(rows.map((row, place_) => [row.page, place_]));
  const cell = (row) => document.querySelector(`#row-${CSS.escape(row.page)} th.who`);
  const nameOf = (row) => {
    const lead = cell(row)?.querySelector("bdi")?.textContent ?? row.name;
    const id = cell(row)?.querySelector(".id bdi")?.textContent;
    return id ? `${lead} (${id})` : lead;
  };
  const names = rows.map(nameOf);
  for (const select of [first, second]) rows.forEach((row, i) => select.append(new Option(names[i], row.page)));

  const made = (tag, ...inner) => { const element = document.createElement(tag); element.append(...inner); return element; };
  const who = (i) => made("bdi", names[i]);
  const digits = (value) => value.toFixed(4).replace("-", "−");
  const scale = rules.draws + 1;
  const p = (count) => (count === 1 ? `p ≤ ${(1 / scale).toPrecision(1)}, the smallest possible with this many draws` : `p ${(count / scale).toFixed(4)}`);

  const labelsOf = (page) => Array.from(document.querySelectorAll(`#by-label tr[data-row="${CSS.escape(page)}"] td`), (td) => {
    if (!td.dataset.c) return null;
    const [tp, fp, fn] = td.dataset.c.split(" ").map(Number);
    return 2 * tp + fp + fn ? 2 * tp / (2 * tp + fp + fn) : null;
  });

  const labelTable = (a, b) => {
    const heads = Array.from(document.querySelectorAll("#by-label thead th")).slice(1);
    const [ours, theirs] = [a, b].map((i) => labelsOf(rows[i].page));
    if (!heads.length || !ours.length || !theirs.length) return null;
    const table = made("table", made("caption", "Label by label, F1; bold is better"));
    table.className = "plain";
    const head = made("tr", ...["Label", null, null].map((title, i) => made("th", title ?? who(i === 1 ? a : b))));
    head.querySelectorAll("th").forEach((th, i) => { th.scope = "col"; if (i) th.className = "n"; });
    table.append(made("thead", head));
    const body = made("tbody");
    heads.forEach((title, i) => {
      const show = (value, other) => {
        const text = value === null ? "–" : value.toFixed(3);
        const td = made("td", value !== null && other !== null && value > other ? made("b", text) : text);
        td.className = "n";
        return td;
      };
      const th = made("th", ...Array.from(title.childNodes, (node) => node.cloneNode(true)));
      th.scope = "row";
      body.append(made("tr", th, show(ours[i], theirs[i]), show(theirs[i], ours[i])));
    });
    table.append(body);
    const frame = made("div", table);
    frame.className = "scroll";
    frame.tabIndex = 0;
    frame.setAttribute("role", "region");
    frame.setAttribute("aria-label", "The two, label by label");
    return frame;
  };

  const show = () => {
    const [a, b] = [first, second].map((select) => at.get(select.value));
    result.replaceChildren();
    if (a === b) {
      result.append(made("p", "Choose two different rows."));
      return;
    }
    const turned = a > b, pair = sandscoreCheck.pairAt(proof, Math.min(a, b), Math.max(a, b));
    const sign = turned ? -1 : 1;
    if (pair.delta === null) {
      result.append(made("p", "One of the two has no score."));
      return;
    }
    const delta = sign * pair.delta, ci = pair.delta_ci?.map((end) => sign * end).sort((x, y) => x - y);
    const way = delta === 0 ? " scores as much as " : delta > 0 ? ` scores ${digits(delta)} more than ` : ` scores ${digits(-delta)} less than `;
    const range = ci ? ` Between ${digits(ci[0])} and ${digits(ci[1])} lie 95 % of the differences when the ${proof.unit} are drawn again.` : "";
    result.append(made("p", who(a), way, who(b), lower ? "; less is better." : ".", range));
    if (pair.p_adjusted !== null) {
      const apart = pair.p_adjusted / scale <= 0.05 && delta !== 0;
      result.append(made("p", made("strong", apart ? "The test tells the two apart" : "The test does not tell the two apart"),
        `: ${p(pair.p_adjusted)}, adjusted for all pairs of this board; ${pair.p === null ? "" : `${p(pair.p)} for these two alone`}.`));
    } else result.append(made("p", "The two were not tested against each other."));
    if (pair.wins !== null) {
      const wins = turned ? 1 - pair.wins : pair.wins;
      result.append(made("p", who(a), ` is ahead in ${(100 * wins).toFixed(0)} of 100 redraws.`));
    }
    if (pair.patients) {
      const [won, tied, lost] = turned ? pair.patients.slice().reverse() : pair.patients;
      result.append(made("p", who(a), ` is better on ${won} of the ${proof.units} ${proof.unit}, `, who(b), ` on ${lost}; on ${tied} they are equal.`));
    } else result.append(made("p", `On how many ${proof.unit} either is better is not told here.`));
    const table = labelTable(a, b);
    if (table) result.append(table);
  };

  const choose = (params) => {
    const [a, b] = ["a", "b"].map((side) => params.get(side));
    first.value = at.has(a) ? a : rows[0].page;
    second.value = at.has(b) ? b : rows[first.value === rows[1].page ? 0 : 1].page;
    show();
  };
  for (const select of [first, second]) {
    select.addEventListener("change", () => {
      sandscoreAddress.write({ a: first.value, b: second.value });
      show();
    });
  }
  choose(sandscoreAddress.remembered());
  addEventListener("hashchange", () => { if (location.hash.includes("=")) choose(sandscoreAddress.read()); });
});

document.addEventListener("DOMContentLoaded", () => {
  const table = document.getElementById("board");
  if (!table) return;
  const filter = document.getElementById("filter"), facet = document.querySelector("[data-show]");
  const boxes = Array.from(document.querySelectorAll("[data-column]")), status = document.querySelector("[data-status=board]");
  const titleOf = (box) => box.parentElement.textContent.trim();
  const headings = Array.from(table.tHead.rows[0].cells);

  const putAway = () => {
    for (const row of table.tBodies[0].rows) row.classList.toggle("put-away", facet.value !== "" && !(facet.value in row.dataset));
    const rows = Array.from(table.tBodies[0].rows), left = rows.filter((row) => !row.hidden && !row.classList.contains("put-away")).length;
    if (facet.value) status.textContent = `${left} of ${rows.length} rows shown.`;
  };
  const say = (event) => {
    const changed = event.target.matches("[data-column]");
    if (changed && !event.isTrusted) return; /* a narrow window put it away, no reader */
    const sorted = headings.find((heading) => heading.hasAttribute("aria-sort"));
    const unsorted = sorted === headings[0] && sorted.getAttribute("aria-sort") === "ascending";
    sandscoreAddress.write({
      q: filter.value.trim(),
      show: facet.value,
      sort: unsorted ? "" : `${sorted.getAttribute("aria-sort") === "ascending" ? "" : "-"}${sorted.textContent.trim()}`,
      ...(changed ? { cols: boxes.filter((box) => box.checked).map(titleOf).join("|") || "none" } : {}),
    });
  };
  const restore = (params) => {
    if (params.has("cols")) {
      const wanted = params.get("cols").split("|");
      for (const box of boxes) {
        if (box.checked === wanted.includes(titleOf(box))) continue;
        box.checked = !box.checked;
        box.dispatchEvent(new Event("change"));
      }
    }
    const sort = params.get("sort") ?? "", heading = headings.find((one) => one.textContent.trim() === sort.replace(/^-/, ""));
    const order = sort.startsWith("-") ? "descending" : "ascending";
    for (let tries = 0; heading && heading.getAttribute("aria-sort") !== order && tries < 2; tries += 1) heading.querySelector("button").click();
    if (params.get("q")) {
      filter.value = params.get("q");
      filter.dispatchEvent(new Event("input"));
    }
    const show = params.get("show");
    if (show && facet.querySelector(`option[value="${CSS.escape(show)}"]`)) facet.value = show;
    putAway();
  };
  restore(sandscoreAddress.remembered());
  filter.addEventListener("input", (event) => { putAway(); say(event); });
  facet.addEventListener("change", (event) => { putAway(); say(event); });
  table.tHead.addEventListener("click", say);
  for (const box of boxes) box.addEventListener("change", say);
});
