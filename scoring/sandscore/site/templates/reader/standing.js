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

  const bayesFactor = (share, draws) => (share * draws + 0.5) / (draws - share * draws + 0.5);

  /* Order, ranks, places and groups, from exact quotients and tests (as numbers of draws, of so many). */
  const standing = (rules, names, quotients, scored, tests, scale, wins) => {
    const compare = (a, b) => {
      if (!scored[a] || !scored[b]) return scored[b] - scored[a];
      const [p, q] = [quotients[a], quotients[b]].map((pair) => pair.map(BigInt));
      const left = q[0] * p[1], right = p[0] * q[1];
      return left < right ? -1 : left > right ? 1 : 0;
    };
    const order = names.map((_, s) => s).sort((a, b) => compare(a, b) || text(names[a], names[b]));
    const ranks = numbered(order.map((s, i) => i > 0 && compare(order[i - 1], s) === 0), rules.numbering);
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
    return { order, ranks, sets, groups, adjusted };
  };

  return { parse, standing, holm, text, quotient, bayesFactor };
})();
