"""``rank``: cards and rules in, a board out that a stranger can recompute.

One row of the board.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from sandscore.base.removable_rooms import REMOVABLE, needed_part
from sandscore.ranking.analysis import Standing, ranked_measure_names, stand
from sandscore.ranking.card_reading import RankedCard
from sandscore.ranking.chosen_rows import FEW_EFFECTIVE
from sandscore.ranking.confidence_intervals import Interval
from sandscore.ranking.exact_order import is_plain, missing_cells
from sandscore.ranking.pair_tests import Progress, adjustment_of
from sandscore.ranking.rank_agreement import bayes_factor
from sandscore.ranking.resampling import seed_of
from sandscore.ranking.score_table import ScoreTable, tabulate
from sandscore.records.annotator_agreement import HumanCeiling
from sandscore.records.board import (
    AnyMeasure,
    Board,
    CardReference,
    FormulaMeasure,
    KendallTau,
    Pair,
    RankedMeasure,
    RatioMeasure,
    Row,
    Site,
    Stability,
)
from sandscore.records.counts import Counts
from sandscore.records.formula import parse_formula
from sandscore.records.group_scores import PairedScore, WorstSlice
from sandscore.records.ranking_rules import BoardRules
from sandscore.records.scorecard import FormulaScore, RatioScore


def row_of(table: ScoreTable, rules: BoardRules, standing: Standing, system: int) -> Row:
    """The row of one system, its place among the others already known."""
    leader = standing.order[0]
    entries = table.entries(table.systems[system])
    first = entries[0][1]
    scored = standing.scores[system] is not None
    several = len(table.datasets) > 1
    plain = is_plain(rules)
    apart = system != leader and scored
    few = table.has_few(system, table.measures.index(rules.headline))
    return Row(
        rank=standing.ranks[system],
        rank_set=standing.sets.get(system),
        group=standing.groups[system],
        team=first.card.team,
        name=first.card.name,
        submission=table.systems[system],
        image=first.card.image,
        measures=_measures(table, rules, standing, system),
        shown=_shown(table, first) if not several else {},
        score=None if plain or not scored else float(standing.estimates[system]),
        score_ci=None if plain or few or rules.aggregation == "lexicographic" else standing.score_intervals[system],
        chosen_ci=None if few else standing.chosen[system],
        expected=None if few else standing.expected[system],
        missing=missing_cells(table, system, ranked_measure_names(rules)),
        k=bayes_factor(float(standing.agreement.wins[leader, system]), rules.resamples) if apart else None,
        p_vs_leader=standing.tested.adjusted_of(leader, system) if apart else None,
        p_first=float(standing.agreement.top[1][system]) if scored else None,
        created=first.card.created,
        run=first.card.run,
        signature=None if several else first.card.signature,
        card=None if several else _reference(first),
        sites={name or "default": _site(table, rules, entry) for name, entry in entries} if several else {},
        slices={} if several else _worst_slices(first, rules),
        robustness={} if several else _robustness(first, rules),
    )


def _worst_slices(entry: RankedCard, rules: BoardRules) -> dict[str, WorstSlice]:
    """By the headline, as the card says them."""
    found = {}
    for name in rules.slices:
        table = entry.card.slices.get(name)
        group = table.worst.get(rules.headline) if table else None
        if table is not None and group is not None and group in table.slices:
            told = table.slices[group]
            if (score := told.measures.get(rules.headline)) is not None:
                shown = score.model_dump(exclude={"n", "of"})
                recall = rules.headline in table.recalls
                found[name] = WorstSlice(slice=group, patients=told.patients, recall=recall, **shown)
    return found


def _robustness(entry: RankedCard, rules: BoardRules) -> dict[str, PairedScore]:
    copies = {name: entry.card.robustness[name] for name in rules.robustness if name in entry.card.robustness}
    return {name: copy.measures[rules.headline] for name, copy in copies.items() if rules.headline in copy.measures}


def _measures(table: ScoreTable, rules: BoardRules, standing: Standing, system: int) -> dict[str, AnyMeasure]:
    out: dict[str, AnyMeasure] = {}
    for name in shown_measures(table, rules):
        m = table.measures.index(name)
        entries = [entry for _, entry in table.entries(table.systems[system])]
        counts = _added(entries, name)
        defined = bool(table.scored[system, :, m].any())
        scores = [entry.card.measures[name] for entry in entries if name in entry.card.measures]
        formulas = [score for score in scores if isinstance(score, FormulaScore)]
        shares = [score for score in scores if isinstance(score, RatioScore)]
        if shares:
            out[name] = _ratio_measure(shares, name, table.wrong(system, m), standing.intervals[system, m])
        elif formulas:
            out[name] = _formula_measure(formulas, standing.intervals[system, m], table.units)
        elif any(name in entry.card.measures for entry in entries):
            reason = next((e.card.measures[name].reason for e in entries if name in e.card.measures), None)
            out[name] = _measure(counts, defined, standing.intervals[system, m], reason, _formula_in(entries, name))
    return out


def shown_measures(table: ScoreTable, rules: BoardRules) -> Sequence[str]:
    if rules.secondary is None:
        return table.measures
    wanted = {*rules.secondary, rules.headline, *ranked_measure_names(rules)}
    return [name for name in table.measures if name in wanted]


def _added(entries: Sequence[RankedCard], name: str) -> Counts:
    """The counts of all data sets."""
    found = [entry.card.measures[name].counts for entry in entries if name in entry.card.measures]
    return sum((counts for counts in found if counts is not None), Counts())


def _formula_in(entries: Sequence[RankedCard], name: str) -> str | None:
    return next((entry.card.measures[name].formula for entry in entries if name in entry.card.measures), None)


def _measure(
    counts: Counts, defined: bool, interval: Interval, reason: str | None, formula: str | None = None
) -> RankedMeasure:
    value = parse_formula(formula).score({"tp": counts.tp, "fp": counts.fp, "fn": counts.fn}) if formula else None
    return RankedMeasure(
        tp=counts.tp,
        fp=counts.fp,
        fn=counts.fn,
        precision=counts.precision if defined else None,
        recall=counts.recall if defined else None,
        f1=counts.f1 if defined else None,
        f1_ci=None if formula else interval,
        value=value if defined else None,
        ci=interval if formula else None,
        formula=formula,
        direction="higher" if formula else None,
        reason=reason,
    )


def _formula_measure(scores: Sequence[FormulaScore], interval: Interval, units: int) -> FormulaMeasure:
    """The components of all data sets as one; a sum was resampled as its mean over ``units``."""
    formula = parse_formula(scores[0].formula)
    components = {name: sum(score.components[name] for score in scores) for name in formula.components}
    scale = units if formula.kind == "sum" else 1
    reason = next((score.reason for score in scores if score.reason), None)
    return FormulaMeasure(
        score=formula.score(components) if reason is None else None,
        score_ci=(interval[0] * scale, interval[1] * scale) if interval else None,
        components=components,
        formula=scores[0].formula,
        direction=scores[0].direction,
        plugin=scores[0].plugin,
        reason=reason,
    )


def _ratio_measure(
    scores: Sequence[RatioScore], name: str, by_patient: tuple[list[int], list[int]], interval: Interval
) -> RatioMeasure:
    """The shares of all data sets as one, with what each patient has wrong and of how much."""
    with REMOVABLE:
        from sandscore.leaks.leak_bounds import bounds_of
    n, of = sum(score.n for score in scores), sum(score.of for score in scores)
    reason = next((score.reason for score in scores if score.reason), None)
    return RatioMeasure(
        n=n,
        of=of,
        value=n / of if of and reason is None else None,
        direction=scores[0].direction,
        ci=interval,
        **bounds_of(name, *by_patient),
        reason=reason,
    )


def _shown(table: ScoreTable, entry: RankedCard) -> dict[str, dict[str, object]]:
    """Measures that carry components of their own instead of counts: shown as they are."""
    return {
        name: score.model_dump(mode="json", exclude_none=True)
        for name, score in entry.card.measures.items()
        if name not in table.measures
    }


def _site(table: ScoreTable, rules: BoardRules, entry: RankedCard) -> Site:
    measures: dict[str, AnyMeasure] = {}
    for name in shown_measures(table, rules):
        score = entry.card.measures.get(name)
        if isinstance(score, RatioScore):
            patients = table.blocks[table.datasets.index(entry.dataset)]
            m = table.measures.index(name)
            by_patient = table.wrong(table.systems.index(entry.submission), m, patients)
            measures[name] = _ratio_measure([score], name, by_patient, None)
        elif isinstance(score, FormulaScore):
            measures[name] = _formula_measure([score], None, table.units)
        elif score is not None and score.counts is not None:
            measures[name] = _measure(score.counts, score.reason is None, None, score.reason, score.formula)
    return Site(card=_reference(entry), signature=entry.card.signature, measures=measures)


def _reference(entry: RankedCard) -> CardReference:
    return CardReference(path=entry.listed, sha256=entry.sha256)


FEW_UNITS = 100
UNEVEN = "annotations are spread as if there were"


def rank(
    entries: Sequence[RankedCard],
    rules: BoardRules | None = None,
    phase: str | None = None,
    progress: Progress = lambda _: None,
    *,
    log_root: str | None = None,
) -> Board:
    """The exact board of these cards: for the organiser, whatever the phase's feedback shows others.

    With the root of a log, its seed follows from that too.
    """
    rules = rules or BoardRules()
    table = tabulate(entries)
    rules = rules.model_copy(update={"seed_rule": "names+log" if log_root else "names"})
    seed = board_seed(gold_of(table), rules, phase, log_root)
    return board_of(table, rules, phase, seed, stand(table, rules, seed, progress), log_root)


def board_of(
    table: ScoreTable,
    rules: BoardRules,
    phase: str | None,
    seed: int,
    standing: Standing,
    log_root: str | None = None,
) -> Board:
    """What was computed, written down."""
    card = next(iter(table.cards.values())).card
    leaders = site_leaders(table, rules) if len(table.datasets) > 1 else None
    return Board(
        sandscore=card.sandscore,
        task=card.task,
        definition=card.definition,
        profile=card.profile,
        phase=phase,
        headline=rules.headline,
        config=rules,
        seed=f"0x{seed:016x}",
        log_root=log_root,
        gold=gold_of(table),
        agreement=agreement_of(table),
        units=table.units,
        effective_patients=standing.effective,
        adjustment=adjustment_of(rules),
        warnings=warnings_of(table, rules, leaders, standing.effective),
        rows=tuple(row_of(table, rules, standing, s) for s in standing.order),
        pairwise=pairs_of(table, rules, standing),
        stability=stability_of(table, standing),
        site_leaders=leaders,
    )


def site_leaders(table: ScoreTable, rules: BoardRules) -> dict[str, str]:
    """Who leads under each way of joining the data sets."""
    leader_by = needed_part("optional_rules.joined_scores:leader_by_site_rule")
    leaders: dict[str, str] = leader_by(table, table.measures.index(rules.headline), rules.missing)
    return leaders


def board_seed(
    gold: Mapping[str, str | None], rules: BoardRules, phase: str | None = None, log_root: str | None = None
) -> int:
    """The seed of all the board's randomness: what is ranked says it, and a log's root where there is one."""
    hashes = ",".join(hash_ or "" for hash_ in gold.values())
    return seed_of(rules.challenge or "", phase or "", hashes, rules.headline, log_root)


def gold_of(table: ScoreTable) -> dict[str, str | None]:
    """The gold hash of every data set."""
    first = {name: entry for (_, name), entry in reversed(list(table.cards.items()))}
    return {name or "default": first[name].signed("gold:") for name in table.datasets}


def agreement_of(table: ScoreTable) -> dict[str, HumanCeiling]:
    """How well the annotators of every data set agree, which its cards say alike."""
    said = {name: card.card.agreement for (_, name), card in table.cards.items()}
    return {name or "default": found.ceiling for name in table.datasets if (found := said.get(name)) is not None}


def pairs_of(table: ScoreTable, rules: BoardRules, standing: Standing) -> tuple[Pair, ...]:
    """Every two rows, the one further up first."""
    out = []
    for at, a in enumerate(standing.order):
        for b in standing.order[at + 1 :]:
            key = (min(a, b), max(a, b))
            delta = float(standing.estimates[a] - standing.estimates[b])
            out.append(
                Pair(
                    a=table.systems[a],
                    b=table.systems[b],
                    delta=None if np.isnan(delta) else delta,
                    p=standing.tested.p.get(key),
                    p_adjusted=standing.tested.adjusted.get(key),
                    p_holm=standing.tested.adjusted.get(key) if adjustment_of(rules) == "holm" else None,
                    p_bh=standing.tested.discoveries.get(key),
                    wins=float(standing.agreement.wins[a, b]),
                    delta_ci=standing.differences.intervals.get((a, b)),
                    patients=standing.differences.patients.get((a, b)),
                )
            )
    return tuple(out)


def stability_of(table: ScoreTable, standing: Standing) -> Stability:
    tau = standing.agreement.tau[~np.isnan(standing.agreement.tau)]
    if len(tau):
        low, middle, high = (float(q) for q in np.quantile(tau, (0.025, 0.5, 0.975), method="linear"))
        kendall = KendallTau(mean=float(tau.mean()), q=(low, middle, high))
    else:
        kendall = KendallTau(mean=None, q=(None, None, None))
    tops = standing.agreement.top
    p_top = {table.systems[s]: {str(k): float(tops[k][s]) for k in tops} for s in standing.order}
    return Stability(kendall_tau=kendall, p_top=p_top)


def warnings_of(
    table: ScoreTable, rules: BoardRules, leaders: dict[str, str] | None, effective: float | None
) -> tuple[str, ...]:
    """What a reader must know before believing the numbers."""
    said = []
    sample = next(iter(table.cards.values())).card
    unit = "notes" if all(note == unit for note, unit in sample.units.items()) else "patients"
    if effective is not None and effective < FEW_EFFECTIVE:
        said.append(f"{UNEVEN} {effective:.1f} {unit}: with fewer than {FEW_EFFECTIVE}, intervals may be too narrow")
    if rules.interval != "percentile_t" and table.units < FEW_UNITS:
        said.append(f"only {table.units} {unit}: below {FEW_UNITS} the intervals are too narrow")
    if unit == "notes":
        said.append("no patient ids: notes were resampled; several notes of one patient make intervals too narrow")
    if leaders and len({*leaders.values()}) > 1:
        ways = ", ".join(f"{rule}: {leader}" for rule, leader in leaders.items())
        said.append(f"the ways of joining the data sets disagree on the leader ({ways})")
    if rules.tie_rule == "stepdown" and adjustment_of(rules) == "holm":
        said.append(
            "the pairs of this board are adjusted by Holm: the stepdown needs one measure and its randomisation"
        )
    flagged = [s for s in range(len(table.systems)) if missing_cells(table, s, ranked_measure_names(rules))]
    if flagged:
        said.append(f"{len(flagged)} of {len(table.systems)} rows lack a score they are ranked by (see 'missing')")
    return tuple(said)
