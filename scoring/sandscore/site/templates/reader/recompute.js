/* A board's numbers again, from the counts of its cards: order, places, tests and intervals, as docs/ranking.md has them. */
const sandscoreNumbers = (() => {
  const { Stream, wordsOf } = sandscoreDraws;
  const { parse, standing, text, quotient, bayesFactor } = sandscoreStanding;
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
    const sizes = [], units = new Map();
    cards[0].forEach((card, d) => {
      const known = new Map();
      const of = Array.from(card.get("per_note").keys(), (note) => {
        const patient = card.get("units").get(note);
        if (!known.has(patient)) known.set(patient, known.size);
        return known.get(patient);
      });
      units.set(d, of);
      sizes.push(known.size);
    });
    const whole = sizes.reduce((a, b) => a + b, 0);
    const measures = {};
    for (const [name, formula] of Object.entries(proof.formulas)) {
      const over = [], under = [], scored = [];
      for (const { at } of systems) {
        const up = new Float64Array(whole), down = new Float64Array(whole);
        let first = 0, there = true;
        cards[at].forEach((card, d) => {
          const score = card.get("measures").get(name);
          if (!score || score.get("reason")) there = false;
          let note = 0;
          for (const counted of card.get("per_note").values()) {
            const unit = first + units.get(d)[note];
            const row = counted.get(name);
            if (row) {
              const [a, b] = quotient(formula, row);
              up[unit] += a;
              down[unit] += b;
            }
            note += 1;
          }
          first += sizes[d];
        });
        if (!formula.below) down.fill(1);
        over.push(up);
        under.push(down);
        scored.push(there);
      }
      const bounded = formula.below !== null && over.every((up, s) => up.every((a, u) => a <= under[s][u]));
      if (formula.lower) over.forEach((up, s) => up.forEach((a, u) => { up[u] = bounded ? under[s][u] - a : -a; }));
      const sum = (numbers) => numbers.map((line) => line.reduce((a, b) => a + b, 0));
      measures[name] = { over, under, scored, bounded, lower: formula.lower, sums: [sum(over), sum(under)] };
    }
    return { systems: systems.map(({ name }) => name), places: systems.map(({ at }) => at), sizes, units: whole, measures };
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
  const resample = async (table, seed, draws, tell) => {
    const measures = Object.values(table.measures), systems = table.systems.length, units = table.units;
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
    const stream = new Stream(wordsOf(seed));
    const often = new Int32Array(units), sums = new Float64Array(width);
    for (let draw = 0; draw < draws; draw += 1) {
      often.fill(0);
      let first = 0;
      for (const size of table.sizes) {
        for (let u = 0; u < size; u += 1) often[first + stream.among(size)] += 1;
        first += size;
      }
      sums.fill(0);
      for (let u = 0; u < units; u += 1) {
        const weight = often[u];
        if (!weight) continue;
        const from = u * width;
        for (let c = 0; c < width; c += 1) sums[c] += weight * counts[from + c];
      }
      for (let c = 0; c < width; c += 2) scores[c >> 1][draw] = sums[c] / sums[c + 1];
      if (draw % 64 === 0) {
        tell(draw / draws);
        await breathe();
      }
    }
    return Object.fromEntries(Object.keys(table.measures).map((name, m) => [name, scores.slice(m * systems, (m + 1) * systems)]));
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

  /* The stepdown over the coins: p and adjusted p, as numbers of draws that reach as far. */
  const stepdown = async (measure, pairs, seed, draws, tell) => {
    const k = measure.over.length, units = measure.over[0].length, words = Math.ceil(units / 64);
    const stream = new Stream([...wordsOf(seed), 1]);
    const columns = new Float64Array(units * 2 * k);
    for (let s = 0; s < k; s += 1) {
      for (let u = 0; u < units; u += 1) {
        columns[u * 2 * k + 2 * s] = 2 * measure.over[s][u];
        columns[u * 2 * k + 2 * s + 1] = 2 * measure.under[s][u];
      }
    }
    const signed = Array.from({ length: 2 * k }, () => new Float64Array(draws));
    const sums = new Float64Array(2 * k), totals = new Float64Array(2 * k);
    columns.forEach((value, i) => { totals[i % (2 * k)] += value; });
    for (let draw = 0; draw < draws; draw += 1) {
      sums.fill(0);
      for (let word = 0; word < words; word += 1) {
        stream.next();
        for (let bit = 0; bit < 64 && word * 64 + bit < units; bit += 1) {
          const up = (bit < 32 ? stream.low >>> bit : stream.top >>> (bit - 32)) & 1, from = (word * 64 + bit) * 2 * k;
          if (up) for (let c = 0; c < 2 * k; c += 1) sums[c] += columns[from + c];
        }
      }
      for (let c = 0; c < 2 * k; c += 1) signed[c][draw] = 2 * sums[c] - totals[c];
      if (draw % 64 === 0) { tell(draw / draws); await breathe(); }
    }
    const [up, down] = measure.sums.map((line) => line.map((value) => 2 * value));
    const able = pairs.filter(([a, b]) => down[a] && down[b]);
    const statistic = ([a, b]) => {
      const share = (up[a] + up[b]) / (down[a] + down[b]), found = new Float64Array(draws);
      const ua = signed[2 * a], ub = signed[2 * b], da = signed[2 * a + 1], db = signed[2 * b + 1];
      for (let i = 0; i < draws; i += 1) found[i] = Math.abs(ua[i] - ub[i] - (da[i] - db[i]) * share);
      return [Math.abs(up[a] - up[b] - share * (down[a] - down[b])), found];
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

  /* Every number of the board that follows from these cards (one a row and data set, as JSON), by row and by pair. */
  const recompute = async (proof, texts, tell = () => {}) => {
    since = performance.now();
    const cards = texts.map((several) => several.map(parse)), { rules } = proof;
    const table = tabulate(proof, cards), { systems } = table, k = systems.length;
    const headline = table.measures[rules.headline], effective = effectivePatients(headline);
    const estimates = (measure) => systems.map((_, s) => (measure.scored[s] && measure.sums[1][s] ? measure.sums[0][s] / measure.sums[1][s] : NaN));
    const reps = await resample(table, proof.seed, rules.resamples, (share) => tell("resampling", share));
    for (const measure of Object.values(table.measures)) measure.scored.forEach((there, s) => {
      if (!there && measure === headline) reps[rules.headline][s].fill(NaN);
    });
    const scores = estimates(headline), drawn = reps[rules.headline];
    const scored = scores.map((score) => !Number.isNaN(score));
    const pairs = [];
    for (let a = 0; a < k; a += 1) for (let b = a + 1; b < k; b += 1) if (scored[a] && scored[b]) pairs.push([a, b]);
    const tests = await stepdown(headline, pairs, proof.seed, rules.draws, (share) => tell("testing", share));
    const { wins, first } = await agreement(drawn);
    const quotients = systems.map((_, s) => [headline.sums[0][s], headline.sums[1][s]]);
    const stood = standing(rules, systems, quotients, scored, tests, rules.draws + 1, wins);
    tell("intervals", 0);
    const studentised = rules.interval === "percentile_t";
    const intervals = {};
    for (const [name, measure] of Object.entries(table.measures)) {
      const worth = effectivePatients(measure), factor = studentised && worth !== null ? widening(worth) : null;
      const own = systems.map((_, s) => (measure.sums[1][s] ? measure.sums[0][s] / measure.sums[1][s] : NaN));
      intervals[name] = [];
      for (let s = 0; s < k; s += 1) {
        const found = measure.scored[s] ? ownInterval(own[s], reps[name][s], factor, measure.bounded) : null;
        const times = proof.formulas[name].below ? 1 : table.units;
        intervals[name].push(shownInterval(measure, found)?.map((end) => end * times) ?? null);
        await breathe();
      }
    }
    const chosen = effective === null ? systems.map(() => null) : await chosenIntervals(scores, drawn, effective, headline.bounded);
    tell("expectations", 0);
    const expected = effective === null ? systems.map(() => null) : await expectedScores(scores, drawn);
    const leader = stood.order[0];
    const rows = stood.order.map((s, at) => ({
      name: systems[s],
      rank: stood.ranks[at],
      rank_set: stood.sets.get(s) ?? null,
      group: stood.groups.get(s),
      score: scored[s] ? shown(headline, scores[s]) : null,
      intervals: Object.fromEntries(Object.keys(table.measures).map((name) => [name, intervals[name][s]])),
      chosen_ci: shownInterval(headline, chosen[s]),
      expected: shown(headline, expected[s]),
      k: s !== leader && scored[s] ? bayesFactor(wins[leader][s], rules.resamples) : null,
      p_vs_leader: s !== leader && scored[s] ? stood.adjusted(leader, s) / (rules.draws + 1) : null,
      p_first: scored[s] ? first[s] : null,
    }));
    const found = [];
    for (let at = 0; at < k; at += 1) {
      for (let to = at + 1; to < k; to += 1) {
        const [a, b] = [stood.order[at], stood.order[to]], test = tests.get(`${Math.min(a, b)},${Math.max(a, b)}`) ?? [null, null];
        const both = scored[a] && scored[b], sign = headline.lower ? -1 : 1;
        const kept = both ? defined(drawn[a].map((value, i) => sign * (value - drawn[b][i]))) : null;
        found.push({
          a: systems[a], b: systems[b],
          delta: both ? shown(headline, scores[a]) - shown(headline, scores[b]) : null,
          delta_ci: kept ? ends(kept) : null,
          p: test[0], p_adjusted: test[1], wins: wins[a][b],
          patients: both ? patients(headline, a, b) : null,
        });
      }
      await breathe();
    }
    return { units: table.units, effective, rows, pairs: found };
  };

  return { recompute };
})();
