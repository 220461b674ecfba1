"""``rank``: cards and rules in, a board out that a stranger can recompute."""

from collections.abc import Sequence

import numpy as np

from sandscore.ranking.aggregation import leader_by_site_rule, missing_cells
from sandscore.ranking.cards import Entry
from sandscore.ranking.draws import seed_of
from sandscore.ranking.feedback import as_public
from sandscore.ranking.rows import row_of
from sandscore.ranking.separation import Progress
from sandscore.ranking.standing import Standing, ranked_measure_names, stand
from sandscore.ranking.table import Table, tabulate
from sandscore.records.board import Board, BoardRules, KendallTau, Pair, Stability

FEW_UNITS = 100


def rank(
    entries: Sequence[Entry],
    rules: BoardRules | None = None,
    phase: str | None = None,
    progress: Progress = lambda _: None,
    *,
    everything: bool = False,
) -> Board:
    """The board of these cards.

    Where the phase's feedback is not ``full`` and the phase has not ended, the board holds only what participants
    may see, unless ``everything`` is asked for.
    """
    rules = rules or BoardRules()
    table = tabulate(entries)
    gold = gold_of(table)
    seed = seed_of(rules.challenge or "", phase or "", ",".join(hash_ or "" for hash_ in gold.values()), rules.headline)
    standing = stand(table, rules, seed, progress)
    card = next(iter(table.cards.values())).card
    leaders = leader_by_site_rule(table, table.measures.index(rules.headline), rules.missing)
    board = Board(
        sandscore=card.sandscore,
        task=card.task,
        profile=card.profile,
        phase=phase,
        headline=rules.headline,
        config=rules,
        seed=f"0x{seed:016x}",
        gold=gold,
        units=table.units,
        warnings=warnings_of(table, rules, leaders),
        rows=tuple(row_of(table, rules, standing, s) for s in standing.order),
        pairwise=pairs_of(table, rules, standing),
        stability=stability_of(table, standing),
        site_leaders=leaders if len(table.datasets) > 1 else None,
    )
    if everything or rules.feedback == "full" or rules.ended:
        return board
    return as_public(board, table, rules)


def gold_of(table: Table) -> dict[str, str | None]:
    """The gold hash of every data set."""
    first = {name: entry for (_, name), entry in reversed(list(table.cards.items()))}
    return {name or "default": first[name].signed("gold:") for name in table.datasets}


def pairs_of(table: Table, rules: BoardRules, standing: Standing) -> tuple[Pair, ...]:
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
                    p_holm=standing.tested.adjusted.get(key),
                    p_bh=standing.tested.discoveries.get(key),
                    wins=float(standing.agreement.wins[a, b]),
                )
            )
    return tuple(out)


def stability_of(table: Table, standing: Standing) -> Stability:
    tau = standing.agreement.tau[~np.isnan(standing.agreement.tau)]
    if len(tau):
        low, middle, high = (float(q) for q in np.quantile(tau, (0.025, 0.5, 0.975), method="linear"))
        kendall = KendallTau(mean=float(tau.mean()), q=(low, middle, high))
    else:
        kendall = KendallTau(mean=None, q=(None, None, None))
    tops = standing.agreement.top
    p_top = {table.systems[s]: {str(k): float(tops[k][s]) for k in tops} for s in standing.order}
    return Stability(kendall_tau=kendall, p_top=p_top)


def warnings_of(table: Table, rules: BoardRules, leaders: dict[str, str]) -> tuple[str, ...]:
    """What a reader must know before believing the numbers."""
    said = []
    sample = next(iter(table.cards.values())).card
    unit = "notes" if all(note == unit for note, unit in sample.units.items()) else "patients"
    if table.units < FEW_UNITS:
        said.append(f"only {table.units} {unit}: below {FEW_UNITS} the intervals are too narrow")
    if unit == "notes":
        said.append("no patient ids: notes were resampled; several notes of one patient make intervals too narrow")
    if len(table.datasets) > 1 and len(set(leaders.values())) > 1:
        ways = ", ".join(f"{rule}: {leader}" for rule, leader in leaders.items())
        said.append(f"the ways of joining the data sets disagree on the leader ({ways})")
    flagged = [s for s in range(len(table.systems)) if missing_cells(table, s, ranked_measure_names(rules))]
    if flagged:
        said.append(f"{len(flagged)} of {len(table.systems)} rows lack a score they are ranked by (see 'missing')")
    return tuple(said)
