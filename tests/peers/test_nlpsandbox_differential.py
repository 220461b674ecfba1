"""The profile ``nlpsandbox-client`` beside the installed client on random files: output, printed tables, deaths."""

import json
import random
from typing import Any

import pytest
from peers.originals import answers_of

from sandscore.base.errors import OrganiserFault, ParticipantFault
from sandscore.profiles.nlpsandbox import nlpsandbox_profile
from sandscore.profiles.profile import ProfileInput, ProfileResult
from sandscore.task_table.task import find_task

pytestmark = pytest.mark.peer

TASKS = ("date", "person-name", "location", "id", "contact")
TYPES = {"person-name": "personType"}
PIECES = (
    *(
        "Ann",
        "O'Brien",
        "St.",
        "a",
        "12",
        "10:30",
        "2069-04-07",
        "can",
        "not",
        "cannot",
        "Gotta",
        "wanna",
        "'tis",
        "d'ye",
    ),
    *(
        " ",
        " ",
        " ",
        "  ",
        "\n",
        "\t",
        "\u3000",
        "",
        "'",
        "''",
        "'s",
        "n't",
        "'LL",
        ".",
        "...",
        ",",
        ":",
        ";",
        "--",
        "-",
    ),
    *('"', "``", "(", ")", "[", "?", "$", "é", "’", "😀"),
)
ODD: dict[str, tuple[Any, ...]] = {
    "start": (9.0, True, "9", -1, None, 2**70),
    "length": (9.0, "9", None, -5, []),
    "text": (None, 7, ["a"]),
}


def text(rng: random.Random) -> str:
    return "".join(rng.choices(PIECES, k=rng.randint(0, 6)))


def annotation(rng: random.Random, task: str, odd: float) -> dict[str, Any]:
    found: dict[str, Any] = {"start": rng.randint(0, 40), "text": text(rng)}
    found["length"] = len(found["text"]) + rng.choice((0, 0, 0, 1, -2))
    if rng.random() < 0.7:
        found[TYPES.get(task) or str(find_task(task).label)] = rng.choice(("city", "City", "", None, 1, True))
    if rng.random() < odd:
        name = rng.choice(list(ODD))
        found[name] = rng.choice(ODD[name])
    if rng.random() < odd:
        del found[rng.choice(list(found))]
    return found


def side(rng: random.Random, task: str, odd: float) -> list[dict[str, Any]]:
    array = find_task(task).array
    names = [f"d/{rng.choice(('1', '2', 'a', 'a-', ''))}" for _ in range(rng.randint(0, 5))]
    records = [
        {
            "annotationSource": {"resourceSource": {"name": name}},
            array: [annotation(rng, task, odd) for _ in range(rng.randint(0, 12))],
        }
        for name in names
    ]
    if rng.random() < odd:
        records.append({"annotationSource": {"resourceSource": {"name": rng.choice(("x", 7))}}})
    return records


def nearby(rng: random.Random, gold: list[dict[str, Any]], task: str, odd: float) -> list[dict[str, Any]]:
    """Predictions that share much with gold."""
    found: list[dict[str, Any]] = json.loads(json.dumps(gold))
    array = find_task(task).array
    for record in found:
        listed = record.get(array, [])
        for place in range(len(listed)):
            if rng.random() < 0.3:
                listed[place] = annotation(rng, task, odd)
    return found + side(rng, task, odd)[:1]


def cases() -> list[dict[str, Any]]:
    rng = random.Random(20261118)
    found = []
    for number in range(600):
        task, odd = TASKS[number % len(TASKS)], 0.03 if number % 3 == 0 else 0.0
        gold = side(rng, task, odd)
        found.append({"task": task, "gold": gold, "predictions": nearby(rng, gold, task, odd)})
    return found


CASES = cases()


def ours(case: dict[str, Any]) -> ProfileResult:
    given = ProfileInput(find_task(case["task"]), None, case["gold"], case["predictions"])
    return nlpsandbox_profile.evaluate(given, {"release": "4.3.0"})


@pytest.fixture(scope="module")
def answers() -> list[dict[str, Any]]:
    return answers_of("nlpsandbox-client", "nlpsandbox_original.py", CASES)


def test_every_output_is_the_clients(answers: list[dict[str, Any]]) -> None:
    died = 0
    for case, answer in zip(CASES, answers, strict=True):
        if "error" in answer:
            died += 1
            with pytest.raises((OrganiserFault, ParticipantFault)) as stopped:
                ours(case)
            assert f"the original stops here with {answer['error']}" in str(stopped.value)
            continue
        found = ours(case)
        assert json.dumps(found.details) == json.dumps(answer["output"]).replace("NaN", "null")
        assert found.table.split() == answer["printed"].split()
    assert 20 < died < 200
