/* A board's numbers again, from the counts of its cards: order, places, tests and intervals, as docs/ranking.md has them. */
const sandscoreNumbers = (() => {
  const { Stream, wordsOf } = sandscoreDraws;
  const { parse, standing, holm, text, quotient, bayesFactor, exactScores, breakersOf, rankedBy, divided } = sandscoreStanding;
  const NOTHING = 1e-12, NORMAL = 1.95996, UNDEFINED_ALLOWED = 0.01;

  /* Work is done in slices, so that the page goes on answering. */
  let since = 0;
  const breathe = async () => {
    if (performance.now() - since < 40) return;
    await new Promise((go) => setTimeout(go));
    since = performance.now();
  };

  /* Per measure and system, patient by patient, what is divided and by what; more is better here. */
  const tabulate = (proof, cards) => {
    const systems = proof.rows.map((row) => row.name).map((name, at) => ({ name, at })).sort((x, y) => text(x.name, y.name));
    const sizes = [], units = [], patients = [], sites = proof.gold.map((_, d) => cards.map((of, at) => of[(proof.rows[at].sites ?? []).indexOf(d)] ?? null));
    sites.forEach((of) => {
      const card = of.find((one) => one !== null), known = new Map();
      const numbers = Array.from(card.get("per_note").keys(), (note) => {
        const patient = card.get("units").get(note);
        if (!known.has(patient)) known.set(patient, known.size);
        return known.get(patient);
      });
      units.push(numbers);
      patients.push(known);
      sizes.push(known.size);
    });
    const whole = sizes.reduce((a, b) => a + b, 0);
    const measures = {};
    for (const [name, formula] of Object.entries(proof.formulas)) {
      const over = [], under = [], there = [];
      for (const { at } of systems) {
        const up = new Float64Array(whole), down = new Float64Array(whole);
        let first = 0;
        there.push(sites.map((of, d) => {
          const card = of[at], score = card?.get("measures").get(name);
          const count = (unit, row) => {
            if (!row) return;
            const [a, b] = quotient(formula, row);
            up[first + unit] += a;
            down[first + unit] += b;
          };
          let note = 0;
          for (const counted of card?.get("per_note").values() ?? []) {
            count(units[d][note], counted.get(name));
            note += 1;
          }
          for (const [patient, counted] of card?.get("per_unit") ?? []) count(patients[d].get(patient), counted.get(name));
          first += sizes[d];
          return Boolean(score && !score.get("reason"));
        }));
        if (!formula.below) down.fill(1);
        over.push(up);
        under.push(down);
      }
      const bounded = formula.below !== null && over.every((up, s) => up.every((a, u) => a <= under[s][u]));
      if (formula.lower) over.forEach((up, s) => up.forEach((a, u) => { up[u] = bounded ? under[s][u] - a : -a; }));
      const sum = (numbers) => numbers.map((line) => line.reduce((a, b) => a + b, 0));
      const wrong = over.map((up, s) => up.reduce((n, a, u) => n + (formula.lower ? a < under[s][u] : a > 0), 0));
      measures[name] = {
        over, under, there, scored: there.map((of) => of.some(Boolean)), bounded, lower: formula.lower,
        few: wrong.map((n) => Boolean(formula.least) && n < formula.least), sums: [sum(over), sum(under)],
      };
    }
    const times = systems.map(({ at }) => cards[at].map((card) => card.get("created") ?? null));
    return { systems: systems.map(({ name }) => name), sizes, units: whole, measures, times };
  };

  /* By data set and system what is divided and by what; null where there is no card or no score. */
  const cellsOf = (table, measure) => {
    let first = 0;
    return table.sizes.map((size, d) => {
      const [from, to] = [first, first += size], add = (line) => line.subarray(from, to).reduce((a, b) => a + b, 0);
      return table.systems.map((_, s) => (measure.there[s][d] ? [add(measure.over[s]), add(measure.under[s])] : null));
    });
  };

  const shown = (measure, score) => (!measure.lower || score === null ? score : measure.bounded ? 1 - score : -score);
  const shownInterval = (measure, ends) => (!measure.lower || !ends ? ends : [shown(measure, ends[1]), shown(measure, ends[0])]);

  /* The value at a place from below; what is smaller then lies before it, what is larger behind it. */
  const select = (values, place) => {
    let from = 0, to = values.length - 1;
    while (from < to) {
      const pivot = values[(from + to) >> 1];
      let i = from, j = to;
      while (i <= j) {
        while (values[i] < pivot) i += 1;
        while (values[j] > pivot) j -= 1;
        if (i <= j) {
          const other = values[i];
          values[i] = values[j];
          values[j] = other;
          i += 1;
          j -= 1;
        }
      }
      if (place <= j) to = j; else if (place >= i) from = i; else break;
    }
    return values[place];
  };
  /* The values at a place and at the next one. */
  const neighbours = (values, place) => {
    const low = select(values, place);
    let high = Infinity;
    for (let i = place + 1; i < values.length; i += 1) if (values[i] < high) high = values[i];
    return [low, place + 1 < values.length ? high : low];
  };
  /* Linear between neighbours; the values change their order. */
  const quantile = (values, share) => {
    const place = (values.length - 1) * share, below = Math.floor(place), between = place - below;
    const [low, high] = neighbours(values, below);
    return between < 0.5 ? low + (high - low) * between : high - (high - low) * (1 - between);
  };
  const ends = (values) => { const some = values.slice(); return [quantile(some, 0.025), quantile(some, 0.975)]; };
  const mean = (values) => { let sum = 0; for (const value of values) sum += value; return sum / values.length; };
  const spread = (values) => {
    const middle = mean(values);
    let squares = 0;
    for (const value of values) squares += (value - middle) ** 2;
    const found = Math.sqrt(squares / Math.max(1, values.length - 1));
    return found <= NOTHING ? 0 : found;
  };

  /* Student's t through the incomplete beta function. */
  const logGamma = (x) => {
    const [first, ...rest] = [0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313,
      -176.61502916214059, 12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7];
    if (x < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * x)) - logGamma(1 - x);
    const sum = rest.reduce((a, c, i) => a + c / (x + i), first);
    return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(x + 6.5) - (x + 6.5) + Math.log(sum);
  };
  const betaShare = (x, a, b) => {
    if (!(x > 0 && x < 1)) return x >= 1 ? 1 : 0;
    if (x > (a + 1) / (a + b + 2)) return 1 - betaShare(1 - x, b, a);
    const part = (value) => 1 / (Math.abs(value) > 1e-300 ? value : 1e-300);
    let c = 1, d = part(1 - (a + b) * x / (a + 1)), found = d;
    for (let m = 1; m < 20000; m += 1) {
      for (const step of [m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)), -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))]) {
        d = part(1 + step * d);
        c = 1 + step / c;
        found *= c * d;
      }
      if (Math.abs(c * d - 1) < 1e-15) break;
    }
    return Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x)) * found / a;
  };
  const studentQuantile = (share, freedom) => {
    let low = 0, high = 1;
    for (let i = 0; i < 200; i += 1) {
      const middle = low > 0 && high < 0.5 ? Math.sqrt(low * high) : (low + high) / 2;
      if (middle === low || middle === high) break;
      if (betaShare(middle, 0.5, freedom / 2) < 2 * share - 1) low = middle; else high = middle;
    }
    return Math.sqrt(freedom * high / (1 - high));
  };
  const widening = (effective) => studentQuantile(0.975, effective) / NORMAL;

  const effectivePatients = (measure) => {
    const units = measure.under[0].length;
    let whole = 0, squares = 0;
    for (let u = 0; u < units; u += 1) {
      let d = 0;
      measure.under.forEach((down, s) => { if (measure.scored[s]) d += 2 * down[u]; });
      whole += d;
      squares += d * d;
    }
    return squares ? Math.max(2, whole * whole / squares - 1) : null;
  };

  /* Scores of every measure and system on every resample; NaN where there is nothing to divide by. */
  const resample = async (table, rules, seed, tell) => {
    const measures = Object.values(table.measures), systems = table.systems.length, units = table.units, draws = rules.resamples;
    const width = 2 * systems * measures.length;
    const counts = new Float64Array(units * width);
    measures.forEach((measure, m) => {
      for (let s = 0; s < systems; s += 1) {
        for (let u = 0; u < units; u += 1) {
          counts[u * width + 2 * (m * systems + s)] = measure.over[s][u];
          counts[u * width + 2 * (m * systems + s) + 1] = measure.under[s][u];
        }
      }
    });
    const scores = Array.from({ length: width / 2 }, () => new Float64Array(draws));
    const bySite = rules.sites === "pooled" ? [] : table.sizes.map(() => scores.map(() => new Float64Array(draws)));
    const stream = new Stream(wordsOf(seed));
    const often = new Int32Array(units), sums = new Float64Array(width), before = new Float64Array(width);
    for (let draw = 0; draw < draws; draw += 1) {
      often.fill(0);
      let first = 0;
      for (const size of table.sizes) {
        for (let u = 0; u < size; u += 1) often[first + stream.among(size)] += 1;
        first += size;
      }
      sums.fill(0);
      let site = 0, end = table.sizes[0];
      for (let u = 0; u < units; u += 1) {
        if (u === end) { before.set(sums); site += 1; end += table.sizes[site]; }
        const weight = often[u];
        if (weight) {
          const from = u * width;
          for (let c = 0; c < width; c += 1) sums[c] += weight * counts[from + c];
        }
        if (bySite.length && u === end - 1) {
          for (let c = 0; c < width; c += 2) {
            const [up, down] = site ? [sums[c] - before[c], sums[c + 1] - before[c + 1]] : [sums[c], sums[c + 1]];
            bySite[site][c >> 1][draw] = up / down;
          }
        }
      }
      for (let c = 0; c < width; c += 2) scores[c >> 1][draw] = sums[c] / sums[c + 1];
      if (draw % 64 === 0) {
        tell(draw / draws);
        await breathe();
      }
    }
    const named = (all) => Object.fromEntries(Object.keys(table.measures).map((name, m) => [name, all.slice(m * systems, (m + 1) * systems)]));
    return [named(scores), bySite.map(named)];
  };

  /* Average ranks of these values, the largest first, what is not defined last; a value's own rank where it stands. */
  const averageRanks = (values) => {
    const order = values.map((_, i) => i).sort((a, b) => values[b] - values[a]), ranks = values.slice();
    for (let from = 0, to = 0; from < order.length; from = to) {
      while (to < order.length && values[order[to]] === values[order[from]]) to += 1;
      for (let i = from; i < to; i += 1) ranks[order[i]] = (from + 1 + to) / 2;
    }
    return ranks;
  };
  /* Minus the weighted mean rank of every system, over some columns of one draw. */
  const drawnMeanRank = (columns, weights, missing) => {
    const ranks = columns.map((column) => averageRanks(column.map((value) => (Number.isNaN(value) ? -Infinity : value))));
    return columns[0].map((_, s) => {
      const nowhere = columns.every((column) => Number.isNaN(column[s]));
      let sum = 0, whole = 0;
      columns.forEach((column, c) => {
        const lacking = Number.isNaN(column[s]);
        if (missing === "strict" ? nowhere : lacking) return;
        sum += (lacking ? column.length : ranks[c][s]) * weights[c];
        whole += weights[c];
      });
      return -(sum / whole);
    });
  };
  const digits = (value) => {
    const scaled = value * 1e12, whole = Math.round(scaled);
    return (Math.abs(scaled % 1) === 0.5 && whole % 2 ? whole - 1 : whole) / 1e12;
  };
  /* Minus the place among the systems, later columns deciding where earlier ones tie. */
  const drawnPlaces = (columns) => {
    const lines = columns.map((column) => column.map((value) => (Number.isNaN(value) ? -Infinity : value)));
    const ahead = (a, b) => { for (const line of lines) if (line[a] !== line[b]) return line[b] - line[a]; return 0; };
    const order = lines[0].map((_, s) => s).sort(ahead), places = lines[0].slice();
    for (let from = 0, to = 0; from < order.length; from = to) {
      while (to < order.length && ahead(order[from], order[to]) === 0) to += 1;
      for (let i = from; i < to; i += 1) places[order[i]] = -(from + (to - from - 1) / 2) - 1;
    }
    return places.map((place, s) => (Number.isNaN(columns[0][s]) ? NaN : place));
  };
  /* What the board ranks by, again on every resample: by system and draw. */
  const aggregate = async (table, rules, [reps, bySite]) => {
    const names = rankedBy(rules), strict = rules.missing === "strict", draws = rules.resamples;
    const enough = (of) => (strict ? of.every(Boolean) : of.some(Boolean));
    const column = {
      pooled: (name, i) => table.systems.map((_, s) => (enough(table.measures[name].there[s]) ? reps[name][s][i] : NaN)),
      macro: (name, i) => table.systems.map((_, s) => {
        const cells = bySite.map((of, d) => (table.measures[name].there[s][d] ? of[name][s][i] : NaN)), there = cells.filter((cell) => !Number.isNaN(cell));
        return there.length === cells.length || (!strict && there.length) ? there.reduce((a, b) => a + b) / there.length : NaN;
      }),
      mean_rank: (name, i) => drawnMeanRank(bySite.map((of, d) => table.systems.map((_, s) => (table.measures[name].there[s][d] ? of[name][s][i] : NaN))), bySite.map(() => 1), rules.missing),
    }[rules.sites];
    const weights = Object.values(rules.measures), whole = weights.reduce((a, b) => a + b, 0);
    const found = table.systems.map(() => new Float64Array(draws));
    for (let i = 0; i < draws; i += 1) {
      let columns = names.map((name) => column(name, i)), made = columns[0];
      if (rules.aggregation !== "headline") {
        columns = columns.map((line) => line.map(digits));
        made = rules.aggregation === "lexicographic" ? drawnPlaces(columns) : drawnMeanRank(columns, weights, rules.missing);
        if (rules.aggregation === "borda") made = made.map((rank) => whole * (table.systems.length + rank));
      }
      made.forEach((value, s) => { found[s][i] = value; });
      if (i % 64 === 0) await breathe();
    }
    return found;
  };

  /* The normal distribution: its share below a value, by a series whose terms are all positive, and the other way round. */
  const normalShare = (x) => {
    const z = Math.abs(x) / Math.SQRT2;
    if (z > 6) return x > 0 ? 1 : 0;
    let term = z, sum = z;
    for (let n = 1; term > sum * 1e-17; n += 1) { term *= (2 * z * z) / (2 * n + 1); sum += term; }
    return 0.5 + Math.sign(x) * sum * Math.exp(-z * z) / Math.sqrt(Math.PI);
  };
  const normalQuantile = (share) => {
    let low = -9, high = 9;
    for (let i = 0; i < 80; i += 1) { const middle = (low + high) / 2; if (normalShare(middle) < share) low = middle; else high = middle; }
    return (low + high) / 2;
  };
  /* Bias-corrected and accelerated, the acceleration from scores with one patient left out. */
  const corrected = (drawn, estimate, leftOut) => {
    const kept = drawn.filter((value) => !Number.isNaN(value)), whole = defined(drawn);
    if (!kept.length || Number.isNaN(estimate)) return null;
    let below = 0;
    for (const value of kept) below += value < estimate ? 1 : value === estimate ? 0.5 : 0;
    below /= kept.length;
    if (!whole) return null;
    if (!(below > 0 && below < 1)) return ends(whole);
    const known = leftOut.filter((value) => !Number.isNaN(value)), middle = known.length ? mean(known) : 0;
    let squares = 0, cubes = 0;
    for (const value of known) { const pull = middle - value; squares += pull * pull; cubes += pull ** 3; }
    const acceleration = squares ? cubes / (6 * squares ** 1.5) : 0, bias = normalQuantile(below), some = whole.slice();
    return [0.025, 0.975].map((tail) => {
      const shifted = bias + normalQuantile(tail);
      return quantile(some, normalShare(bias + shifted / (1 - acceleration * shifted)));
    });
  };

  const scale = (bounded, value) => (bounded ? Math.asin(Math.sqrt(value)) : value);
  const twelve = (value) => Math.round(value * 1e12) / 1e12;
  const interval = (x, y, down, up, factor, widths, bounded) => {
    if (widths === null) return [y, y];
    return [x - factor * down * widths[0], x + factor * up * widths[1]].map((end) =>
      twelve(bounded ? Math.sin(Math.min(Math.max(end, 0), Math.PI / 2)) ** 2 : end));
  };
  const defined = (drawn) => {
    if (!drawn.some(Number.isNaN)) return drawn;
    const kept = drawn.filter((value) => !Number.isNaN(value));
    return drawn.length - kept.length > UNDEFINED_ALLOWED * drawn.length ? null : kept;
  };

  /* A row's own interval, as if nobody had chosen. */
  const ownInterval = (score, drawn, factor, bounded) => {
    const kept = Number.isNaN(score) ? null : defined(drawn);
    if (!kept) return null;
    if (factor === null) return ends(kept);
    const x = scale(bounded, score), e = kept.map((value) => x - scale(bounded, value)), sd = spread(e);
    const z = ends(sd ? e.map((value) => value / sd) : e.fill(0));
    return interval(x, score, z[1], -z[0], factor, sd ? [sd, sd] : null, bounded);
  };

  /* Rows that take part, the worst first, on draws that are defined for all of them. */
  const usable = (scores, drawn) => {
    const draws = drawn[0].length, most = UNDEFINED_ALLOWED * draws;
    const lacking = drawn.map((line) => line.reduce((a, value) => a + (Number.isNaN(value) ? 1 : 0), 0));
    let kept = scores.map((_, s) => s).filter((s) => !Number.isNaN(scores[s]) && lacking[s] <= most);
    const whole = [];
    for (let b = 0; b < draws; b += 1) if (kept.every((s) => !Number.isNaN(drawn[s][b]))) whole.push(b);
    if (draws - whole.length > most) kept = [];
    kept.sort((a, b) => scores[a] - scores[b] || a - b);
    return [kept, kept.map((s) => (whole.length === draws ? drawn[s] : Float64Array.from(whole, (b) => drawn[s][b])))];
  };

  /* How far each two lie apart beyond what chance does. */
  const apartOf = async (x, errors, level) => {
    const k = x.length, draws = errors[0].length;
    const per = Array.from({ length: k }, () => new Float64Array(k)), reach = Array.from({ length: k }, () => new Float64Array(draws));
    const lead = new Float64Array(draws);
    for (let a = 0; a < k; a += 1) {
      for (let b = a + 1; b < k; b += 1) {
        const e = errors[a], f = errors[b], one = reach[a], two = reach[b];
        for (let i = 0; i < draws; i += 1) lead[i] = f[i] - e[i];
        per[a][b] = per[b][a] = spread(lead);
        if (!per[a][b]) continue;
        const unit = 1 / per[a][b];
        for (let i = 0; i < draws; i += 1) {
          const far = Math.abs(lead[i]) * unit;
          if (far > one[i]) one[i] = far;
          if (far > two[i]) two[i] = far;
        }
      }
      await breathe();
    }
    return x.map((own, a) => {
      const furthest = quantile(reach[a], level);
      return x.map((other, b) => Math.max(Math.abs(own - other) - furthest * per[a][b], 0));
    });
  };

  const chosenIntervals = async (scores, drawn, effective, bounded) => {
    const out = scores.map(() => null), [kept, reps] = usable(scores, drawn);
    if (!kept.length) return out;
    const factor = widening(effective), draws = reps[0].length;
    const y = kept.map((s) => scores[s]), x = y.map((score) => scale(bounded, score));
    const e = reps.map((line, j) => line.map((value) => x[j] - scale(bounded, value)));
    const sd = e.map(spread), z = e.map((line, j) => line.map((value) => (sd[j] ? value / sd[j] : 0)));
    const apart = await apartOf(x, e, 0.95);
    for (let r = 0; r < y.length; r += 1) {
      const near = sd.filter((_, j) => apart[r][j] === 0);
      const pooled = Math.sqrt(near.reduce((a, value) => a + value * value, 0) / near.length);
      const below = y.map((_, j) => j).filter((j) => y[j] <= y[r]), above = y.map((_, j) => j).filter((j) => y[j] >= y[r]);
      const furthest = (others, sign) => {
        const found = new Float64Array(draws).fill(-Infinity);
        for (const j of others) {
          const other = e[j], own = e[r], unit = z[j], least = apart[r][j] - NOTHING;
          for (let i = 0; i < draws; i += 1) {
            if (sign * (other[i] - own[i]) >= least && sign * unit[i] > found[i]) found[i] = sign * unit[i];
          }
        }
        return quantile(found, 0.975);
      };
      const widths = [below.length > 1 ? pooled : sd[r], above.length > 1 ? pooled : sd[r]];
      out[kept[r]] = interval(x[r], y[r], furthest(below, 1), furthest(above, -1), factor, sd[r] ? widths : null, bounded);
      await breathe();
    }
    return out;
  };

  const expectedScores = async (scores, drawn) => {
    const out = scores.map(() => null), [kept, reps] = usable(scores, drawn);
    if (!kept.length) return out;
    const y = kept.map((s) => scores[s]), k = y.length, draws = reps[0].length;
    if (k === 1) {
      out[kept[0]] = y[0];
      return out;
    }
    const e = reps.map((line) => { const middle = mean(line); return line.map((value) => middle - value); });
    const covariance = Array.from({ length: k }, () => new Float64Array(k));
    const centred = e.map((line) => { const middle = mean(line); return line.map((value) => value - middle); });
    for (let a = 0; a < k; a += 1) {
      for (let b = a; b < k; b += 1) {
        let sum = 0;
        for (let i = 0; i < draws; i += 1) sum += centred[a][i] * centred[b][i];
        covariance[a][b] = covariance[b][a] = sum / Math.max(1, draws - 1);
      }
      await breathe();
    }
    const near = (await apartOf(y, e, 0.995)).map((line) => line.map((far) => far === 0));
    const alike = new Map();
    near.forEach((line, r) => { const key = line.join(); alike.set(key, [...alike.get(key) ?? [], r]); });
    for (const rows of alike.values()) {
      const close = y.map((_, j) => j).filter((j) => near[rows[0]][j]);
      const world = y.slice(), n = close.length;
      if (n > 1) {
        let trace = 0, all = 0;
        for (const a of close) for (const b of close) { all += covariance[a][b]; if (a === b) trace += covariance[a][b]; }
        const noise = (trace - all / n) / (n - 1), some = close.map((j) => y[j]), middle = mean(some);
        const seen = some.reduce((a, value) => a + (value - middle) ** 2, 0) / (n - 1);
        const keep = seen ? Math.sqrt(Math.max(0, 1 - noise / seen)) : 0;
        for (const j of close) world[j] = middle + keep * (y[j] - middle);
      }
      const places = rows.map((r) => [y.filter((v) => v > y[r]).length, y.filter((v) => v >= y[r]).length]);
      const luck = places.map(([first, last]) => new Float64Array(draws * (last - first)));
      const drawnWorld = new Float64Array(k), some = new Float64Array(k);
      for (let i = 0; i < draws; i += 1) {
        for (let j = 0; j < k; j += 1) drawnWorld[j] = world[j] + e[j][i];
        some.set(drawnWorld);
        for (let at = 0; at < places.length; at += 1) {
          const [first, last] = places[at];
          for (let place = first; place < last; place += 1) {
            luck[at][i * (last - first) + place - first] = errorAt(drawnWorld, select(some, k - 1 - place), e, i, k - 1 - place);
          }
        }
        if (i % 256 === 0) await breathe();
      }
      rows.forEach((r, at) => {
        const values = luck[at], half = (values.length - 1) >> 1, [low, high] = neighbours(values, half);
        out[kept[r]] = twelve(y[r] - (values.length % 2 ? low : (low + high) / 2));
      });
    }
    return out;
  };

  /* The error of whoever stands at a place from below, having this score; among equals the luckier stands higher. */
  const errorAt = (drawn, value, e, draw, place) => {
    let found = -1, equal = 0, below = 0;
    for (let j = 0; j < drawn.length; j += 1) {
      if (drawn[j] < value) below += 1;
      else if (drawn[j] === value) { found = j; equal += 1; }
    }
    if (equal === 1) return e[found][draw];
    return Array.from(drawn.keys()).filter((j) => drawn[j] === value).map((j) => e[j][draw]).sort((a, b) => a - b)[place - below];
  };

  /* Coins, one for each patient and draw: ``each`` is told the sums of those whose coin shows heads, block by block. */
  const throwCoins = async (measure, sizes, seed, draws, tell, each) => {
    const k = measure.over.length, units = measure.over[0].length, words = Math.ceil(units / 64), width = 2 * k;
    const stream = new Stream([...wordsOf(seed), 1]), columns = new Float64Array(units * width), block = new Int32Array(units);
    sizes.reduce((first, size, d) => { block.fill(d * width, first, first + size); return first + size; }, 0);
    const sums = new Float64Array(width * sizes.length), totals = new Float64Array(width * sizes.length);
    for (let u = 0; u < units; u += 1) {
      for (let s = 0; s < k; s += 1) {
        totals[block[u] + 2 * s] += columns[u * width + 2 * s] = 2 * measure.over[s][u];
        totals[block[u] + 2 * s + 1] += columns[u * width + 2 * s + 1] = 2 * measure.under[s][u];
      }
    }
    for (let draw = 0; draw < draws; draw += 1) {
      sums.fill(0);
      for (let word = 0; word < words; word += 1) {
        stream.next();
        for (let bit = 0; bit < 64 && word * 64 + bit < units; bit += 1) {
          const up = (bit < 32 ? stream.low >>> bit : stream.top >>> (bit - 32)) & 1, unit = word * 64 + bit;
          if (up) for (let c = 0, from = unit * width, to = block[unit]; c < width; c += 1) sums[to + c] += columns[from + c];
        }
      }
      each(draw, sums, totals);
      if (draw % 64 === 0) { tell(draw / draws); await breathe(); }
    }
    return totals;
  };

  /* The difference of two scores with their answers swapped by coins, as often as it is as large: Holm's p. */
  const randomised = async (measure, sizes, pairs, seed, draws, tell) => {
    const width = 2 * measure.over.length, starts = sizes.map((_, d) => d * width);
    let tried = null;
    await throwCoins(measure, sizes, seed, draws, tell, (draw, sums, totals) => {
      tried ??= pairs.map(([a, b]) => {
        const score = (s) => starts.reduce((sum, d) => sum + totals[d + 2 * s] / totals[d + 2 * s + 1] / starts.length, 0);
        return { a: 2 * a, b: 2 * b, seen: (Math.abs(score(a) - score(b)) || 0) - NOTHING, reached: 1 };
      });
      for (const one of tried) {
        let whole = 0;
        for (const d of starts) {
          const i = d + one.a, j = d + one.b, up = (totals[i] + totals[j]) / 2, down = (totals[i + 1] + totals[j + 1]) / 2;
          const x = sums[j] - totals[j] / 2 - sums[i] + totals[i] / 2, y = sums[j + 1] - totals[j + 1] / 2 - sums[i + 1] + totals[i + 1] / 2;
          whole += 2 * (x * down - y * up) / (down * down - y * y) / starts.length;
        }
        if (!(Math.abs(whole) < one.seen)) one.reached += 1;
      }
    });
    return new Map((tried ?? []).map(({ a, b, reached }) => [`${a / 2},${b / 2}`, [reached, null]]));
  };

  /* The resamples' differences, moved to where two equals would have them. */
  const bootstrapped = (drawn, scores, pairs) => new Map(pairs.map(([a, b]) => {
    const seen = scores[a] - scores[b];
    let reached = 1;
    for (let i = 0; i < drawn[a].length; i += 1) if (!(Math.abs(drawn[a][i] - drawn[b][i] - seen) < Math.abs(seen) - NOTHING)) reached += 1;
    return [`${a},${b}`, [reached, null]];
  }));

  /* The stepdown over the coins: p and adjusted p, as numbers of draws that reach as far. */
  const stepdown = async (measure, sizes, pairs, seed, draws, tell) => {
    const width = 2 * measure.over.length, starts = sizes.map((_, d) => d * width);
    const signed = Array.from({ length: width * sizes.length }, () => new Float64Array(draws));
    const totals = await throwCoins(measure, sizes, seed, draws, tell, (draw, sums, whole) => {
      for (let c = 0; c < signed.length; c += 1) signed[c][draw] = 2 * sums[c] - whole[c];
    });
    const able = pairs.filter((pair) => pair.every((s) => starts.every((d) => totals[d + 2 * s + 1])));
    const statistic = ([a, b]) => {
      const found = new Float64Array(draws);
      let seen = 0;
      for (const d of starts) {
        const i = d + 2 * a, j = d + 2 * b, share = (totals[i] + totals[j]) / (totals[i + 1] + totals[j + 1]);
        const weight = starts.length > 1 ? (totals[i + 1] + totals[j + 1]) / (2 * totals[i + 1] * totals[j + 1]) : 1;
        const ua = signed[i], ub = signed[j], da = signed[i + 1], db = signed[j + 1];
        for (let n = 0; n < draws; n += 1) found[n] += weight * (ua[n] - ub[n] - (da[n] - db[n]) * share);
        seen += weight * (totals[i] - totals[j] - share * (totals[i + 1] - totals[j + 1]));
      }
      for (let n = 0; n < draws; n += 1) found[n] = Math.abs(found[n]);
      return [Math.abs(seen), found];
    };
    const count = (values, least) => { let found = 0; for (const value of values) if (value >= least) found += 1; return found; };
    const alone = [];
    for (const pair of able) {
      const [distance, flipped] = statistic(pair);
      const place = 0.99 * (draws - 1), [low, high] = neighbours(flipped.slice(), Math.trunc(place));
      const unit = low + (high - low) * (place - Math.trunc(place));
      alone.push({ pair, distance, unit, p: 1 + count(flipped, distance - NOTHING * unit), adjusted: draws + 1 });
      await breathe();
    }
    const known = alone.filter(({ unit }) => unit > 0);
    for (const one of known) one.scaled = one.distance / one.unit;
    known.sort((a, b) => a.scaled - b.scaled);
    const largest = new Float64Array(draws);
    for (const one of known) {
      const flipped = statistic(one.pair)[1];
      for (let i = 0; i < draws; i += 1) { const value = flipped[i] / one.unit; if (value > largest[i]) largest[i] = value; }
      one.reached = count(largest, one.scaled - NOTHING);
      await breathe();
    }
    let most = 0;
    for (const one of known.reverse()) {
      most = Math.max(most, one.reached);
      one.adjusted = 1 + most;
    }
    return new Map(alone.map(({ pair, p, adjusted }) => [pair.join(), [p, adjusted]]));
  };

  const agreement = async (reps) => {
    const k = reps.length, draws = reps[0].length;
    const lines = reps.map((line) => line.map((value) => (Number.isNaN(value) ? -Infinity : value)));
    const wins = lines.map(() => new Float64Array(k).fill(0.5));
    const ahead = lines.map(() => new Int32Array(draws)), equal = lines.map(() => new Int32Array(draws).fill(1));
    for (let a = 0; a < k; a += 1) {
      for (let b = a + 1; b < k; b += 1) {
        let won = 0;
        for (let i = 0; i < draws; i += 1) {
          const x = lines[a][i], y = lines[b][i];
          if (x > y) { won += 1; ahead[b][i] += 1; } else if (x < y) ahead[a][i] += 1; else { won += 0.5; equal[a][i] += 1; equal[b][i] += 1; }
        }
        wins[a][b] = won / draws;
        wins[b][a] = 1 - won / draws;
      }
      await breathe();
    }
    const first = lines.map((_, s) => {
      let sum = 0;
      for (let i = 0; i < draws; i += 1) sum += Math.min(Math.max(1 - ahead[s][i], 0), equal[s][i]) / equal[s][i];
      return sum / draws;
    });
    return { wins, first };
  };

  const patients = (measure, a, b) => {
    const found = [0, 0, 0];
    measure.over[a].forEach((up, u) => {
      const side = (s) => (measure.under[s][u] ? [measure.over[s][u], measure.under[s][u]] : [1, 1]);
      const [x, y] = [side(a), side(b)], left = x[0] * y[1], right = y[0] * x[1];
      found[left > right ? 0 : left < right ? 2 : 1] += 1;
    });
    return found;
  };

  /* Tests of all pairs by the board's rules, as numbers of draws. */
  const tested = async (table, rules, proof, drawn, scores, tell) => {
    const headline = table.measures[rules.headline], pairs = [];
    const able = scores.map((score, s) => !Number.isNaN(score) && (rules.test === "paired_bootstrap" || headline.there[s].every(Boolean)));
    able.forEach((one, a) => { for (let b = a + 1; b < able.length; b += 1) if (one && able[b]) pairs.push([a, b]); });
    const measure = table.measures[rankedBy(rules)[0]], sizes = rules.sites === "macro" ? table.sizes : [table.units];
    if (rules.adjustment === "stepdown") return stepdown(measure, sizes, pairs, proof.seed, rules.draws, tell);
    const tests = rules.test === "paired_bootstrap" ? bootstrapped(drawn, scores, pairs) : await randomised(measure, sizes, pairs, proof.seed, rules.draws, tell);
    holm(tests, rules.draws + 1);
    return tests;
  };

  /* The interval of every system's every measure. */
  const ownIntervals = async (table, rules, proof, reps) => {
    const intervals = {};
    for (const [name, measure] of Object.entries(table.measures)) {
      const worth = effectivePatients(measure), factor = rules.interval === "percentile_t" && worth !== null ? widening(worth) : null;
      intervals[name] = [];
      for (let s = 0; s < table.systems.length; s += 1) {
        const [up, down] = measure.sums.map((line) => line[s]), own = down ? up / down : NaN;
        const out = () => measure.over[s].map((a, u) => (up - a) / (down - measure.under[s][u]));
        const made = rules.interval === "bca" ? corrected(reps[name][s], own, out()) : ownInterval(own, reps[name][s], factor, measure.bounded);
        const times = proof.formulas[name].below ? 1 : table.units;
        const told = measure.scored[s] && !measure.few[s] ? made : null;
        intervals[name].push(shownInterval(measure, told)?.map((end) => end * times) ?? null);
        await breathe();
      }
    }
    return intervals;
  };

  /* Every number of the board that follows from these cards (one a row and data set, as JSON), by row and by pair. */
  const recompute = async (proof, texts, tell = () => {}) => {
    since = performance.now();
    const cards = texts.map((several) => several.map(parse)), { rules } = proof;
    const table = tabulate(proof, cards), { systems } = table, k = systems.length;
    const headline = table.measures[rules.headline], effective = effectivePatients(headline);
    const plain = rules.aggregation === "headline" && rules.sites === "pooled", oneMeasure = rules.aggregation === "headline" && rules.sites !== "mean_rank";
    const ranks = rules.sites === "mean_rank" || ["borda", "mean_rank"].includes(rules.aggregation);
    const scale = ranks ? { bounded: false, lower: false } : table.measures[rankedBy(rules)[0]];
    const cells = Object.fromEntries(Object.entries(table.measures).map(([name, measure]) => [name, cellsOf(table, measure)]));
    const keys = exactScores(rules, cells), scores = keys.map((key) => (key && key[0] ? divided(key[0]) : NaN)), scored = keys.map((key) => key !== null);
    const all = await resample(table, rules, proof.seed, (share) => tell("resampling", share)), reps = all[0];
    const drawn = await aggregate(table, rules, all);
    const tests = await tested(table, rules, proof, drawn, scores, (share) => tell("testing", share));
    const { wins, first } = await agreement(drawn);
    const stood = standing(rules, systems, keys, tests, rules.draws + 1, wins, breakersOf(rules, cells, table.times));
    tell("intervals", 0);
    const intervals = await ownIntervals(table, rules, proof, reps);
    const allowed = oneMeasure && effective !== null, none = systems.map(() => null);
    const chosen = allowed ? await chosenIntervals(scores, drawn, effective, scale.bounded) : none;
    tell("expectations", 0);
    const expected = allowed ? await expectedScores(scores, drawn) : none;
    const factor = rules.interval === "percentile_t" && allowed ? widening(effective) : null;
    const scoreInterval = (s) => (factor === null ? drawn[s] && defined(drawn[s]) && ends(defined(drawn[s])) : ownInterval(scores[s], drawn[s], factor, scale.bounded));
    const leader = stood.order[0];
    const rows = stood.order.map((s, at) => ({
      name: systems[s],
      rank: stood.ranks[at],
      rank_set: stood.sets.get(s) ?? null,
      group: stood.groups.get(s),
      score: scored[s] ? shown(scale, scores[s]) : null,
      score_ci: plain || headline.few[s] || rules.aggregation === "lexicographic" ? null : shownInterval(scale, scoreInterval(s)),
      intervals: Object.fromEntries(Object.keys(table.measures).map((name) => [name, intervals[name][s]])),
      chosen_ci: headline.few[s] ? null : shownInterval(scale, chosen[s]),
      expected: headline.few[s] ? null : shown(scale, expected[s]),
      k: s !== leader && scored[s] ? bayesFactor(wins[leader][s], rules.resamples) : null,
      p_vs_leader: s !== leader && scored[s] && stood.adjusted(leader, s) !== undefined ? stood.adjusted(leader, s) / (rules.draws + 1) : null,
      p_first: scored[s] ? first[s] : null,
    }));
    const found = [];
    for (let at = 0; at < k; at += 1) {
      for (let to = at + 1; to < k; to += 1) {
        const [a, b] = [stood.order[at], stood.order[to]], test = tests.get(`${Math.min(a, b)},${Math.max(a, b)}`) ?? [null, null];
        const both = scored[a] && scored[b], sign = scale.lower ? -1 : 1;
        const kept = rules.aggregation === "lexicographic" ? null : defined(drawn[a].map((value, i) => sign * (value - drawn[b][i])));
        const whole = [a, b].every((s) => headline.there[s].every(Boolean) && headline.under[s].some(Boolean));
        found.push({
          a: systems[a], b: systems[b],
          delta: both && !Number.isNaN(scores[a] - scores[b]) ? shown(scale, scores[a]) - shown(scale, scores[b]) : null,
          delta_ci: kept ? ends(kept) : null,
          p: test[0], p_adjusted: test[1], wins: wins[a][b],
          patients: oneMeasure && whole ? patients(headline, a, b) : null,
        });
      }
      await breathe();
    }
    return { units: table.units, effective, rows, pairs: found };
  };

  return { recompute };
})();
