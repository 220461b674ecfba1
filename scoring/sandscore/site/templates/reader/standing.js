/* What follows from counts and printed tests: order, ranks, places, groups. */
const sandscoreStanding = (() => {
  const ALPHA = 0.05, THRESHOLDS = { dream_k3: 3, dream_k19: 19 };

  const text = (a, b) => {
    const x = Array.from(a, (c) => c.codePointAt()), y = Array.from(b, (c) => c.codePointAt());
    const at = x.findIndex((code, i) => code !== y[i]);
    return at < 0 ? x.length - y.length : (x[at] ?? -1) - (y[at] ?? -1);
  };

  /* JSON whose objects keep the order in which they are written, whatever their keys look like. */
  const parse = (json) => {
    const token = /\s*("(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+)/gy;
    const next = () => token.exec(json)[1];
    const value = (first) => {
      if (first === "{") {
        const found = new Map();
        for (let key = next(); key !== "}"; key = next()) {
          if (key === ",") continue;
          next();
          found.set(JSON.parse(key), value(next()));
        }
        return found;
      }
      if (first === "[") {
        const found = [];
        for (let one = next(); one !== "]"; one = next()) if (one !== ",") found.push(value(one));
        return found;
      }
      return JSON.parse(first);
    };
    return value(next());
  };

  const quotient = (formula, counts) => {
    let over = 0, under = formula.below ? 0 : 1;
    counts.forEach((count, i) => {
      over += formula.above[i] * count;
      if (formula.below) under += formula.below[i] * count;
    });
    return [over, under];
  };

  const holm = (tests, scale) => {
    const ordered = [...tests.values()].sort((a, b) => a[0] - b[0]);
    let most = 0;
    ordered.forEach((one, step) => { most = Math.max(most, Math.min(scale, (ordered.length - step) * one[0])); one[1] = most; });
  };

  /* Ranks of these rows in their order, equal ones sharing one. */
  const numbered = (same, numbering) => {
    const starts = same.map((_, i) => i).filter((i) => i === 0 || !same[i]);
    return same.map((_, i) => {
      const at = starts.findLastIndex((start) => start <= i), start = starts[at], stop = starts[at + 1] ?? same.length;
      return { competition: start + 1, dense: at + 1, average: (start + 1 + stop) / 2 }[numbering];
    });
  };

  /* Exact scores: fractions of whole numbers of any size, null where there is none. */
  const plus = ([a, b], [c, d]) => [a * d + c * b, b * d];
  const compared = (x, y) => {
    if (x === null || y === null) return (x === null) - (y === null);
    const left = y[0] * x[1], right = x[0] * y[1];
    return left < right ? -1 : left > right ? 1 : 0;
  };
  const fraction = (number) => {
    let under = 1n;
    for (; !Number.isInteger(number); number *= 2) under *= 2n;
    return [BigInt(number), under];
  };
  const divided = ([over, under]) => {
    const sign = over < 0n ? -1 : 1, up = over < 0n ? -over : over, shift = BigInt(Math.max(0, under.toString(2).length - up.toString(2).length + 70));
    return sign * Number((up << shift) / under) / 2 ** Number(shift);
  };
  const meanRanks = (column) => column.map((own) => {
    if (own === null) return null;
    const defined = column.filter((other) => other !== null).map((other) => compared(other, own));
    return [BigInt(2 * defined.filter((way) => way < 0).length + defined.filter((way) => way === 0).length + 1), 2n];
  });
  const meanRank = (columns, weights, missing) => {
    const ranks = columns.map(meanRanks);
    return columns[0].map((_, s) => {
      if (columns.every((column) => column[s] === null)) return null;
      let whole = [0n, 1n], places = [0n, 1n];
      columns.forEach((column, c) => {
        const place = ranks[c][s] ?? (missing === "strict" ? [BigInt(column.length), 1n] : null);
        if (!place) return;
        whole = plus(whole, weights[c]);
        places = plus(places, [place[0] * weights[c][0], place[1] * weights[c][1]]);
      });
      return [-places[0] * whole[1], places[1] * whole[0]];
    });
  };
  /* One measure of every system, its data sets (by data set and system, over and under, null without a card) joined. */
  const joined = ({ sites, missing }, cells) => {
    const exact = (cell) => (cell && cell[1] ? cell.map(BigInt) : null);
    if (sites === "mean_rank") return meanRank(cells.map((of) => of.map(exact)), cells.map(() => [1n, 1n]), missing);
    return cells[0].map((_, s) => {
      const own = cells.map((of) => of[s]), there = own.map(exact).filter((cell) => cell !== null);
      if (sites === "pooled") {
        if (missing === "strict" ? own.includes(null) : own.every((cell) => cell === null)) return null;
        return exact(own.filter((cell) => cell).reduce((sum, cell) => [sum[0] + cell[0], sum[1] + cell[1]], [0, 0]));
      }
      if (!there.length || (missing === "strict" && there.length < own.length)) return null;
      const [over, under] = there.reduce(plus);
      return [over, under * BigInt(there.length)];
    });
  };
  const rankedBy = (rules) => (rules.aggregation === "headline" ? [rules.headline] : Object.keys(rules.measures));
  /* By system what it is ranked by, several numbers where the first may tie; null without a score. */
  const exactScores = (rules, cells) => {
    const columns = rankedBy(rules).map((name) => joined(rules, cells[name]));
    if (rules.aggregation === "lexicographic") return columns[0].map((first, s) => (first === null ? null : columns.map((column) => column[s])));
    if (rules.aggregation === "headline") return columns[0].map((score) => score && [score]);
    const weights = Object.values(rules.measures).map(fraction), whole = weights.reduce(plus), ranks = meanRank(columns, weights, rules.missing);
    if (rules.aggregation === "mean_rank") return ranks.map((rank) => rank && [rank]);
    return ranks.map((rank) => {
      if (!rank) return null;
      const [over, under] = plus([BigInt(columns[0].length), 1n], rank);
      return [[whole[0] * over, whole[1] * under]];
    });
  };
  const compareKeys = (x, y) => {
    if (x === null || y === null) return (x === null) - (y === null);
    for (let i = 0; i < x.length; i += 1) { const way = compared(x[i], y[i]); if (way) return way; }
    return 0;
  };

  const bayesFactor = (share, draws) => (share * draws + 0.5) / (draws - share * draws + 0.5);

  /* Order, ranks, places and groups, from exact scores and tests (as numbers of draws, of so many). ``breakers`` compare
     two systems of one tie group, one after the other. */
  const standing = (rules, names, keys, tests, scale, wins, breakers = []) => {
    const scored = keys.map((key) => key !== null);
    const exactly = (a, b) => compareKeys(keys[a], keys[b]);
    const order = names.map((_, s) => s).sort((a, b) => exactly(a, b) || text(names[a], names[b]));
    const adjusted = (a, b) => (tests.get(`${Math.min(a, b)},${Math.max(a, b)}`) ?? [])[1];
    const apart = (a, b) => adjusted(a, b) !== undefined && adjusted(a, b) / scale <= ALPHA;
    const ranked = order.filter((s) => scored[s]);
    const sets = new Map(ranked.map((s, at) => {
      const better = ranked.filter((other, place) => place < at && apart(s, other)).length;
      const worse = ranked.filter((other, place) => place > at && apart(s, other)).length;
      return [s, [1 + better, ranked.length - worse]];
    }));
    let head = order[0], group = 1;
    const groups = new Map();
    for (const s of order) {
      const limit = THRESHOLDS[rules.tie_rule];
      const separated = s !== head && (limit ? bayesFactor(wins[head][s], rules.resamples) > limit : apart(head, s));
      if (scored[s] !== scored[head] || separated) { head = s; group += 1; }
      groups.set(s, group);
    }
    const inGroups = (a, b) => {
      let way = groups.get(a) - groups.get(b);
      for (let i = 0; !way && i < breakers.length; i += 1) way = breakers[i](a, b);
      return way || exactly(a, b);
    };
    const compare = breakers.length ? inGroups : exactly;
    order.sort((a, b) => compare(a, b) || text(names[a], names[b]));
    const ranks = numbered(order.map((s, i) => i > 0 && compare(order[i - 1], s) === 0), rules.numbering);
    return { order, ranks, sets, groups, adjusted };
  };

  /* What reorders the rows of a tie group: other measures, or when their last card was created. */
  const breakersOf = (rules, cells, times) => rules.tie_break.map((name) => {
    if (name === "created") {
      const last = times.map((of) => of.reduce((a, b) => (text(a, b ?? "") < 0 ? b : a), ""));
      return (a, b) => times[a].includes(null) - times[b].includes(null) || text(last[a], last[b]);
    }
    const scores = joined(rules, cells[name]);
    return (a, b) => compared(scores[a], scores[b]);
  });

  return { parse, standing, holm, text, quotient, bayesFactor, exactScores, breakersOf, rankedBy, divided };
})();
