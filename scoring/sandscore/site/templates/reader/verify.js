/* Holds what the page says against what follows from what it embeds, row by row. */
const sandscoreCheck = (() => {
  const { sha256 } = sandscoreDraws;
  const { parse, standing, holm, text, quotient, exactScores, breakersOf } = sandscoreStanding;
  const CLOSE = 1e-9, DIGITS = 10000;
  const COLUMNS = ["Card", "Counts", "Ratios", "Rank", "Places", "Interval", "Tests", "As printed"];

  class Contradiction extends Error {}

  const same = (x, y) => {
    if (x === null || y === null || x === undefined || y === undefined) return (x ?? null) === (y ?? null);
    if (Array.isArray(x)) return x.length === y.length && x.every((one, i) => same(one, y[i]));
    if (typeof x !== "number" || typeof y !== "number") return x === y;
    return Math.abs(x - y) <= CLOSE * Math.max(1, Math.abs(x), Math.abs(y));
  };
  const said = (value) => (value === null || value === undefined ? "nothing" : Array.isArray(value) ? value.join(" to ") : String(value));
  const agree = (what, there, here) => {
    if (!same(there, here)) throw new Contradiction(`${what} is ${said(there)} on this page; it follows ${said(here)}`);
  };

  /* The card's bytes make the hash that the board names, and its notes add up to what the row counts. */
  const checkCard = (proof, row, at) => {
    const totals = {};
    proof.cards[at].forEach((content, d) => {
      agree(`the SHA-256 of ${row.cards[d][0]}`, row.cards[d][1], sha256(new TextEncoder().encode(content)));
      const card = parse(content);
      agree("the card's task", proof.task, card.get("task"));
      agree("the card's version", proof.version, card.get("sandscore"));
      const gold = card.get("signature").split("|").find((part) => part.startsWith("gold:"));
      agree("the card's gold", proof.gold[row.sites[d]][1], gold ? gold.slice(5) : null);
      for (const [name, formula] of Object.entries(proof.formulas)) {
        const sums = totals[name] ??= formula.components.map(() => 0);
        for (const counted of [...card.get("per_note").values(), ...card.get("per_unit")?.values() ?? []]) {
          (counted.get(name) ?? []).forEach((count, i) => { sums[i] += count; });
        }
      }
    });
    return () => {
      for (const [name, measure] of Object.entries(row.measures)) {
        if (measure.counts) agree(`${name}: the counts`, measure.counts, totals[name]);
      }
    };
  };

  const checkRatios = (proof, row) => {
    for (const [name, measure] of Object.entries(row.measures)) {
      const formula = proof.formulas[name];
      if (!measure.counts || measure.reason) continue;
      const [over, under] = quotient(formula, measure.counts);
      agree(`${name}: the score`, measure.score, under ? over / under : null);
      if (formula.components.join() !== "tp,fp,fn") continue;
      const [tp, fp, fn] = measure.counts;
      agree(`${name}: precision`, measure.precision, tp + fp ? tp / (tp + fp) : null);
      agree(`${name}: recall`, measure.recall, tp + fn ? tp / (tp + fn) : null);
    }
  };

  const seedOf = (proof) => {
    const told = [proof.challenge ?? "", proof.phase ?? "", proof.gold.map(([, hash]) => hash ?? "").join(","), proof.rules.headline];
    if (proof.log_root) told.push(proof.log_root);
    return `0x${sha256(new TextEncoder().encode(told.join("\n"))).slice(0, 16)}`;
  };

  /* The pairs as they are embedded: whole numbers of four digits, and p as numbers of draws; an interval by its distances
     from the difference, which is that of the scores where it is not told. */
  const pairAt = (proof, a, b) => {
    const at = pairNumber(proof.rows.length, a, b);
    const [x, y] = [a, b].map((i) => proof.rows[i].score ?? proof.rows[i].measures[proof.rules.headline]?.score ?? null);
    const [told, below, above, p, adjusted, wins, won, lost] = proof.pairs.map((column) => column[at]);
    const delta = told === false ? null : told ?? (x === null || y === null ? null : Math.round((x - y) * DIGITS));
    const digits = (value) => (value === null ? null : value / DIGITS);
    const [low, high] = below === null ? [null, null] : [delta - below, delta + above];
    return {
      delta: digits(delta), delta_ci: low === null ? null : [digits(low), digits(high)], p, p_adjusted: adjusted,
      wins: digits(wins), patients: won === null ? null : [won, proof.units - won - lost, lost],
    };
  };
  const pairNumber = (count, a, b) => a * count - a * (a + 1) / 2 + b - a - 1;

  const rounded = (there, here, digits) => {
    if (there === null || here === null) return (there ?? null) === (here ?? null);
    return Math.abs(there - here) <= 0.5 / digits + 1e-9;
  };

  const checkPairs = (proof, found) => {
    const names = proof.rows.map((row) => row.name), at = new Map(names.map((name, i) => [name, i]));
    const faults = new Map();
    for (const one of found) {
      const turned = at.get(one.a) > at.get(one.b);
      const [a, b] = [at.get(one.a), at.get(one.b)].sort((x, y) => x - y);
      const there = pairAt(proof, a, b), flip = (value) => (turned && value !== null ? -value : value);
      const ci = one.delta_ci && turned ? [-one.delta_ci[1], -one.delta_ci[0]] : one.delta_ci;
      const patients = one.patients && turned ? one.patients.slice().reverse() : one.patients;
      const close = rounded(there.delta, flip(one.delta), DIGITS) && rounded(there.wins, turned ? 1 - one.wins : one.wins, DIGITS)
        && (there.delta_ci === null || [0, 1].every((end) => ci && rounded(there.delta_ci[end], ci[end], DIGITS)))
        && (there.patients === null || same(there.patients, patients))
        && same(there.p, one.p) && same(there.p_adjusted, one.p_adjusted);
      if (!close) faults.set(names[b], `${names[a]} and ${names[b]}: what is said of the two does not follow`);
    }
    return faults;
  };

  /* What stands in the table, to the last digit that is printed. */
  const checkPrinted = (row, made) => {
    const line = document.getElementById(`row-${row.page}`);
    if (!line) throw new Contradiction("the table has no such row");
    const cells = Array.from(line.cells, (cell) => cell.textContent.trim());
    const places = made.rank_set ? (made.rank_set[0] === made.rank_set[1] ? `${made.rank_set[0]}` : made.rank_set.join("–")) : "–";
    const ratio = (value) => (value === null ? "–" : value.toFixed(3));
    const near = (printed, value) => (value === null ? printed === "–" : Math.abs(Number.parseFloat(printed) - value) <= 0.0005 + CLOSE);
    const score = line.querySelector("td.score b").textContent.trim();
    if (made.rank !== undefined && cells[0] !== String(made.rank ?? "–")) throw new Contradiction(`the table prints rank ${cells[0]}; it follows ${made.rank}`);
    if (made.rank_set !== undefined && cells[1] !== places) throw new Contradiction(`the table prints places ${cells[1]}; it follows ${places}`);
    if (made.group !== undefined && cells[2] !== String(made.group)) throw new Contradiction(`the table prints group ${cells[2]}; it follows ${made.group}`);
    if (!near(score, made.score)) throw new Contradiction(`the table prints ${score}; it follows ${ratio(made.score)}`);
    const ends = line.querySelector("td.score .ends");
    if (made.chosen_ci && ends) {
      const printed = ends.textContent.trim().split("–");
      if (!made.chosen_ci.every((end, i) => near(printed[i], end))) {
        throw new Contradiction(`the table prints ${ends.textContent.trim()}; it follows ${made.chosen_ci.map(ratio).join("–")}`);
      }
    }
  };

  /* Order, ranks and places from the row's counts, and from the tests that the page prints. */
  const stoodByTotals = (proof) => {
    const { rules, rows } = proof;
    const sorted = rows.map((row, at) => ({ row, at })).sort((x, y) => text(x.row.name, y.row.name));
    const names = sorted.map(({ row }) => row.name), place = new Map(sorted.map(({ at }, s) => [at, s]));
    const cells = Object.fromEntries(Object.entries(proof.formulas).map(([name, formula]) => [name, [sorted.map(({ row }) => {
      const measure = row.measures[name];
      if (!measure?.counts || measure.reason) return null;
      const [over, under] = quotient(formula, measure.counts);
      return [formula.lower ? -over : over, under];
    })]]));
    const keys = exactScores({ ...rules, sites: "pooled" }, cells);
    const tests = new Map(), wins = names.map(() => names.map(() => 0.5));
    for (let a = 0; a < rows.length; a += 1) {
      for (let b = a + 1; b < rows.length; b += 1) {
        const pair = pairAt(proof, a, b), [s, t] = [place.get(a), place.get(b)];
        if (pair.p !== null) tests.set([s, t].sort((x, y) => x - y).join(), [pair.p, pair.p_adjusted]);
        wins[s][t] = pair.wins;
        wins[t][s] = pair.wins === null ? null : 1 - pair.wins;
      }
    }
    if (rules.adjustment === "holm") holm(tests, rules.draws + 1);
    const stood = standing(rules, names, keys, tests, rules.draws + 1, wins, breakersOf(rules, cells, sorted.map(({ row }) => [row.created ?? null])));
    return stood.order.map((s, at) => ({
      name: names[s], rank: stood.ranks[at], rank_set: stood.sets.get(s) ?? null, group: stood.groups.get(s),
      score: sorted[s].row.score ?? sorted[s].row.measures[rules.headline]?.score ?? null,
    }));
  };

  /* ``tick(row, column, fault)`` is told of every check; what comes back is the whole of it. */
  const check = async (proof, tick, tell) => {
    const faults = [];
    let checks = 0;
    const tried = (at, column, run) => {
      checks += 1;
      try {
        const more = run();
        tick(at, column, null);
        return more;
      } catch (fault) {
        const words = fault instanceof Contradiction ? fault.message : "what the page embeds cannot be read";
        faults.push(`${proof.rows[at].name}: ${words}`);
        tick(at, column, words);
        return null;
      }
    };
    const whole = proof.level === "recomputed";
    if (proof.seed_follows) {
      checks += 1;
      try { agree("the seed", proof.seed, seedOf(proof)); } catch (fault) { faults.push(fault.message); }
    }
    proof.rows.forEach((row, at) => {
      if (proof.cards.length) {
        const counts = tried(at, "Card", () => checkCard(proof, row, at));
        if (counts) tried(at, "Counts", counts);
      }
      if (Object.values(row.measures).some((measure) => measure.counts)) tried(at, "Ratios", () => checkRatios(proof, row));
    });
    let made = null, numbers = null;
    if (whole && !faults.length) {
      numbers = await sandscoreNumbers.recompute(proof, proof.cards, tell);
      made = numbers.rows;
      checks += 1;
      if (!same(proof.units, numbers.units)) faults.push(`${proof.units} units are said; the cards have ${numbers.units}`);
      if (!same(proof.effective, numbers.effective)) faults.push("the number of patients they are worth does not follow");
    } else if (proof.level !== "shown" && proof.orders && !faults.length) made = stoodByTotals(proof);
    const wrongPairs = numbers ? checkPairs(proof, numbers.pairs) : new Map();
    made?.forEach((one, at) => {
      const row = proof.rows[at];
      tried(at, "Rank", () => { agree("the row at this place", row.name, one.name); agree("the rank", row.rank, one.rank); agree("the group", row.group, one.group); });
      tried(at, "Places", () => agree("the places", row.rank_set, one.rank_set));
      if (whole) {
        tried(at, "Interval", () => {
          for (const [name, measure] of Object.entries(row.measures)) agree(`${name}: the interval`, measure.ci, one.intervals[name]);
          if ((row.score ?? null) !== null) agree("the score", row.score, one.score);
          agree("the interval of the score", row.score_ci, one.score_ci);
          agree("the interval that allows for the choice", row.chosen_ci, one.chosen_ci);
          agree("the score to expect", row.expected, one.expected);
        });
        tried(at, "Tests", () => {
          for (const field of ["k", "p_vs_leader", "p_first"]) agree(field, row[field], one[field]);
          if (wrongPairs.has(row.name)) throw new Contradiction(wrongPairs.get(row.name));
        });
      }
      tried(at, "As printed", () => checkPrinted(row, one));
    });
    if (proof.level === "shown") {
      const key = (row) => row.measures[proof.rules.headline]?.score ?? null;
      const sign = proof.formulas[proof.rules.headline]?.lower ? -1 : 1;
      proof.rows.forEach((row, at) => {
        if (key(row) === null) return;
        tried(at, "Rank", () => {
          if (at && key(proof.rows[at - 1]) !== null && sign * (key(proof.rows[at - 1]) - key(row)) < 0) throw new Contradiction("this row scores more than the one above it");
        });
        tried(at, "As printed", () => checkPrinted(row, { rank: row.rank, score: key(row) }));
      });
    }
    return { checks, faults, numbers, level: faults.length ? "contradicted" : proof.level };
  };

  return { COLUMNS, check, pairAt };
})();

document.addEventListener("DOMContentLoaded", () => {
  const place = document.getElementById("proof"), button = document.querySelector("[data-verify]");
  if (!place || !button) return;
  const status = document.querySelector("[data-verify-status]"), result = document.querySelector("[data-verify-result]");
  const made = (tag, words, more = {}) => Object.assign(document.createElement(tag), { textContent: words }, more);

  const tableFor = (proof) => {
    const table = made("table", "", { className: "plain ticks" }), head = table.createTHead().insertRow();
    table.createCaption().textContent = "Row by row";
    for (const title of ["Submission", ...sandscoreCheck.COLUMNS]) head.append(made("th", title, { scope: "col" }));
    const body = table.createTBody();
    const cells = proof.rows.map((row) => {
      const line = body.insertRow(), who = made("th", "", { scope: "row" });
      const name = document.querySelector(`#row-${CSS.escape(row.page)} th bdi`);
      who.append(name ? name.cloneNode(true) : row.name);
      line.append(who);
      return Object.fromEntries(sandscoreCheck.COLUMNS.map((column) => [column, line.insertCell()]));
    });
    for (const line of cells) for (const cell of Object.values(line)) cell.append("·", made("span", "not checked", { className: "unseen" }));
    return { table, cells };
  };

  const words = (proof, found, seconds) => {
    if (found.faults.length) return `This page contradicts itself: ${found.faults[0]}.`;
    const head = { recomputed: "Everything agrees: scores, ranks, places, tests and intervals follow from the cards that this page embeds",
      totals: "What could be checked agrees: ratios, order, ranks and places follow from the counts and the tests printed here",
      shown: "What could be checked agrees: the order and the ranks of what is shown" }[proof.level];
    return `${head} (${found.checks} checks, ${seconds.toFixed(1)} s).`;
  };

  button.addEventListener("click", async () => {
    button.disabled = true;
    result.replaceChildren();
    const began = performance.now();
    const tell = (what, share) => { status.textContent = share ? `Checking: ${what}, ${Math.round(100 * share)} %` : `Checking: ${what}`; };
    let proof = null;
    try {
      proof = JSON.parse(place.textContent);
      const { table, cells } = tableFor(proof);
      const frame = made("div", "", { className: "scroll", tabIndex: 0 });
      frame.setAttribute("role", "region");
      frame.setAttribute("aria-label", "What was checked, row by row");
      frame.append(table);
      result.append(frame);
      const tick = (at, column, fault) => {
        const cell = cells[at][column];
        cell.replaceChildren(fault ? "✗" : "✓", made("span", fault ?? "agrees", { className: fault ? "fault" : "unseen" }));
        cell.className = fault ? "wrong" : "right";
      };
      const found = await sandscoreCheck.check(proof, tick, tell);
      const seconds = (performance.now() - began) / 1000;
      status.className = found.faults.length ? "warning" : "agreed";
      status.textContent = words(proof, found, seconds);
      document.dispatchEvent(new CustomEvent("sandscore-checked", { detail: { ...found, seconds } }));
    } catch {
      status.className = "warning";
      status.textContent = "This page contradicts itself: what it embeds cannot be read.";
      document.dispatchEvent(new CustomEvent("sandscore-checked", { detail: { faults: ["unreadable"], level: "contradicted" } }));
    }
    button.disabled = false;
  });
});
