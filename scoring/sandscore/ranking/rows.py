"""One row of the board."""

from collections.abc import Sequence

from sandscore.ranking.aggregation import missing_cells
from sandscore.ranking.cards import Entry
from sandscore.ranking.intervals import Interval
from sandscore.ranking.stability import bayes_factor
from sandscore.ranking.standing import Standing, ranked_measure_names
from sandscore.ranking.table import Table
from sandscore.records.board import BoardRules, CardReference, RankedMeasure, Row, Site
from sandscore.records.counts import Counts


def row_of(table: Table, rules: BoardRules, standing: Standing, system: int) -> Row:
    """The row of one system, its place among the others already known."""
    leader = standing.order[0]
    entries = table.entries(table.systems[system])
    first = entries[0][1]
    scored = standing.scores[system] is not None
    several = len(table.datasets) > 1
    plain = rules.aggregation == "headline" and rules.sites == "pooled"
    apart = system != leader and scored
    return Row(
        rank=standing.ranks[system],
        rank_set=standing.sets.get(system),
        group=standing.groups[system],
        team=first.card.team,
        submission=table.systems[system],
        image=first.card.image,
        measures=_measures(table, rules, standing, system),
        shown=_shown(table, first) if not several else {},
        score=None if plain or not scored else float(standing.estimates[system]),
        score_ci=None if plain or rules.aggregation == "lexicographic" else standing.score_intervals[system],
        missing=missing_cells(table, system, ranked_measure_names(rules)),
        k=bayes_factor(float(standing.agreement.wins[leader, system]), rules.resamples) if apart else None,
        p_vs_leader=standing.tested.adjusted_of(leader, system) if apart else None,
        p_first=float(standing.agreement.top[1][system]) if scored else None,
        created=first.card.created,
        run=first.card.run,
        signature=None if several else first.card.signature,
        card=None if several else _reference(first),
        sites={name or "default": _site(table, rules, entry) for name, entry in entries} if several else {},
    )


def _measures(table: Table, rules: BoardRules, standing: Standing, system: int) -> dict[str, RankedMeasure]:
    totals = table.counts[system].sum(axis=0)
    out = {}
    for name in shown_measures(table, rules):
        m = table.measures.index(name)
        entries = [entry for _, entry in table.entries(table.systems[system])]
        counts = Counts(*(int(number) for number in totals[m]))
        defined = bool(table.scored[system, :, m].any())
        if any(name in entry.card.measures for entry in entries):
            reason = next((e.card.measures[name].reason for e in entries if name in e.card.measures), None)
            out[name] = _measure(counts, defined, standing.intervals[system, m], reason)
    return out


def shown_measures(table: Table, rules: BoardRules) -> Sequence[str]:
    if rules.secondary is None:
        return table.measures
    wanted = {*rules.secondary, rules.headline, *ranked_measure_names(rules)}
    return [name for name in table.measures if name in wanted]


def _measure(counts: Counts, defined: bool, interval: Interval, reason: str | None) -> RankedMeasure:
    return RankedMeasure(
        tp=counts.tp,
        fp=counts.fp,
        fn=counts.fn,
        precision=counts.precision if defined else None,
        recall=counts.recall if defined else None,
        f1=counts.f1 if defined else None,
        f1_ci=interval,
        reason=reason,
    )


def _shown(table: Table, entry: Entry) -> dict[str, dict[str, object]]:
    """Measures that carry components of their own instead of counts: shown as they are."""
    return {
        name: score.model_dump(mode="json", exclude_none=True)
        for name, score in entry.card.measures.items()
        if name not in table.measures
    }


def _site(table: Table, rules: BoardRules, entry: Entry) -> Site:
    measures = {}
    for name in shown_measures(table, rules):
        score = entry.card.measures.get(name)
        if score is not None and score.counts is not None:
            measures[name] = _measure(score.counts, score.reason is None, None, score.reason)
    return Site(card=_reference(entry), signature=entry.card.signature, measures=measures)


def _reference(entry: Entry) -> CardReference:
    return CardReference(path=entry.listed, sha256=entry.sha256)
