"""The power planner: its test is the board's, its simulations are what they say."""

import numpy as np
import pytest
from struct_values import changeable

from sandscore.base.errors import OrganiserFault, UsageFault
from sandscore.cli.power import LEAKS as OFFERED
from sandscore.ranking.stepdown import stepdown
from sandscore.separation.power_planning import (
    DRAWS,
    LEAKS,
    PowerPlan,
    patients_needed,
    power_at,
    randomisation_p_of,
    simulated,
)

SIZES = np.array([3, 5, 0, 8, 2, 6, 4])


def test_its_p_is_the_boards_p() -> None:
    """The same coins: equal to the last bit."""
    better, worse = simulated(np.full((3, 60), 6), PowerPlan(0.05), np.random.default_rng(1))
    made = randomisation_p_of(better, worse, seed=12)
    for i, p in enumerate(made):
        both = [np.stack([s[0, i], s[1, i] - 2 * s[0, i], np.zeros(60, int)], axis=1) for s in (better, worse)]
        assert stepdown(np.array(both), [slice(0, 60)], [(0, 1)], 12, DRAWS).adjusted[0, 1] == p


@pytest.mark.parametrize("overlap", [0.0, 0.5, 1.0])
def test_simulated_systems_are_the_gap_apart(overlap: float) -> None:
    plan = PowerPlan(gap=0.04, f1=0.85, overlap=overlap)
    better, worse = simulated(np.full((1, 200_000), 5), plan, np.random.default_rng(2))
    f1 = [2 * s[0].sum() / s[1].sum() for s in (better, worse)]
    assert f1 == pytest.approx([0.85, 0.81], abs=0.002)


def test_power_grows_with_patients_and_with_the_gap() -> None:
    few, many = (power_at(SIZES, PowerPlan(0.03, simulations=200), n, 5) for n in (20, 200))
    wide = power_at(SIZES, PowerPlan(0.10, simulations=200), 20, 5)
    assert few < 0.5 < many
    assert wide > few


def test_the_answer_has_the_power_it_promises_and_a_tenth_fewer_has_not_much_more() -> None:
    plan = PowerPlan(gap=0.03, simulations=300)
    answer = patients_needed(SIZES.tolist(), plan, seed=5)
    assert answer.patients is not None
    assert dict(answer.tried)[answer.patients] >= 0.8
    assert power_at(SIZES, plan, answer.patients * 2 // 3, 5) < 0.8
    again = patients_needed(SIZES.tolist(), plan, seed=5)
    assert again == answer


@pytest.mark.parametrize("plan", [{"gap": 0}, {"gap": 0.95}, {"gap": 0.1, "overlap": 2}, {"gap": 0.1, "power": 1}])
def test_impossible_plans(plan: dict[str, float]) -> None:
    with pytest.raises(UsageFault):
        PowerPlan(**plan)  # type: ignore[arg-type]


def test_gold_without_annotations() -> None:
    with pytest.raises(OrganiserFault, match="no annotations"):
        patients_needed([0, 0], PowerPlan(0.1), 1)


@pytest.mark.parametrize("beta", [0.5, 2.0])
def test_f_beta_of_simulated_systems(beta: float) -> None:
    """Precision and recall are equal, so F-beta is what F1 is; counts are those of the formula, doubled."""
    plan = PowerPlan(gap=0.04, f1=0.85, beta=beta)
    better, worse = simulated(np.full((1, 200_000), 5), plan, np.random.default_rng(2))
    scores = [2 * side[0].sum() / side[1].sum() for side in (better, worse)]
    assert scores == pytest.approx([0.85, 0.81], abs=0.003)
    misses, invented = plan.weights
    assert misses / invented == beta**2
    assert not (better[0] % (misses + invented)).any()
    with pytest.raises(UsageFault, match="beta"):
        PowerPlan(0.1, beta=0.123456)


def test_the_verb_offers_every_leak_that_can_be_planned_for() -> None:
    assert OFFERED == LEAKS


@pytest.mark.parametrize("leak", LEAKS)
def test_leaks_of_simulated_systems(leak: str) -> None:
    """Shares as they were asked for; a patient leaks or does not, and one without gold cannot."""
    plan = PowerPlan(gap=0.04, leak=leak, share=0.05)
    gold = np.array([[5, 0, 3, 7] * 50_000])
    better, worse = simulated(gold, plan, np.random.default_rng(2), 10 * gold)
    assert [2 * side[0].sum() / side[1].sum() for side in (better, worse)] == pytest.approx([0.05, 0.09], abs=0.002)
    per_patient = {"char_leak": 10 * gold, "mention_leak": gold, "patient_leak": np.minimum(gold, 1)}[leak]
    assert (better[1] == 2 * per_patient).all()
    assert (worse[0] <= per_patient).all()


def test_patients_who_leak_are_planned_for_as_mcnemars_test_says() -> None:
    """Connor (1987), b and c of the patients open in one system alone: n = (z(.975)·√(b+c) + z(.8)·√(b+c−(b−c)²))² /
    (b−c)²; here b = .15 − .025 and c = .05 − .025, so 115.3 patients, and as all have gold every one counts."""
    answer = patients_needed([4, 2, 9], PowerPlan(gap=0.1, leak="patient_leak", share=0.05), seed=5)
    assert answer.patients == pytest.approx(115.3, rel=0.15)


@pytest.mark.parametrize("wrong", [{"leak": "note_leak"}, {"leak": "char_leak", "share": 0.95}])
def test_leaks_that_cannot_be_planned_for(wrong: dict[str, object]) -> None:
    with pytest.raises(UsageFault):
        PowerPlan(0.1, **wrong)  # type: ignore[arg-type]


def test_what_is_made_stays_as_it_is() -> None:
    assert changeable("separation") == set()
