"""A task that an organiser defines: what a definition may say, where it may stand, and that it travels."""

import json
from pathlib import Path
from typing import Any

import pytest
from cli.running import sandscore
from jsonschema import Draft202012Validator
from task_samples import write_challenge

from sandscore.base.errors import OrganiserFault, ParticipantFault
from sandscore.challenges.challenge_reading import own_tasks, parse_challenge, read_task_file, rules_for
from sandscore.measures.measure_registry import MEASURES
from sandscore.ranking.card_reading import read_card
from sandscore.records.task_definition import TaskDefinition
from sandscore.task_table.own_tasks import definition_hash, definition_of, own_task
from sandscore.task_table.task import TASKS
from sandscore.task_table.task_schema import schema_of

MEDICATION = """[tasks.medication]
array = "textMedicationAnnotations"
label = "route"
labels = ["oral", "iv", "topical"]
label_required = true
"""
CHALLENGE = 'challenge = "c"\nresamples = 100\nrandomisations = 99\n'


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A challenge about medication, defined in a challenge and in a task file."""
    (tmp_path / "challenge.toml").write_text(CHALLENGE + MEDICATION, encoding="utf-8")
    (tmp_path / "tasks.toml").write_text(MEDICATION, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return write_challenge(tmp_path, read_task_file(tmp_path / "tasks.toml")["medication"])


def table(**changes: object) -> str:
    lines = {"array": "textMedicationAnnotations", "label": "route", "labels": ["oral", "iv"]} | changes
    return "[tasks.medication]\n" + "".join(
        f"{key} = {json.dumps(value)}\n" for key, value in lines.items() if value is not None
    )


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        pytest.param(table().replace("medication]", "date]"), "'date' is a built-in task", id="a built-in again"),
        pytest.param(table().replace("medication]", "notes]"), "'notes' is no id for a task", id="the name of notes"),
        pytest.param(table().replace("medication]", '"../x"]'), "is no id for a task", id="a path"),
        pytest.param(table(array=None), "needs 'array'", id="no array"),
        pytest.param(
            table(array="medications"), "array: must be 'text', a name in ASCII", id="not an array of the protocol"
        ),
        pytest.param(table(array="textDateAnnotations"), "belongs to the task date already", id="another's array"),
        pytest.param(table(label="token"), "would make a measure token, which there is already", id="a span measure"),
        pytest.param(table(label="iou"), "would make a measure iou", id="a general measure"),
        pytest.param(table(label="addressType"), "would make a measure address_type", id="another task's measure"),
        pytest.param(table(label="instanceStrict"), "would make a measure instance_strict", id="in camel case"),
        pytest.param(table(label="start"), "no name for a label", id="a property of every annotation"),
        pytest.param(table(label=None), "need 'label'", id="labels of no label"),
        pytest.param(table(labels=["iv", "IV"]), "stands twice", id="one label in two cases"),
        pytest.param(table(labels=[" iv"]), "labels", id="white space around a label"),
        pytest.param(table(aliases={"po": "mouth"}).replace(":", " ="), "'mouth', which", id="an alias of nothing"),
        pytest.param(table(colour="red"), "colour", id="an unknown key"),
        pytest.param(
            table() + table().replace("medication", "other"),
            "belongs to the task medication already",
            id="one array twice",
        ),
    ],
)
def test_refused_with_a_line(content: str, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(OrganiserFault, match=r"c\.toml, line \d+: ") as in_challenge:
        parse_challenge((CHALLENGE + content).encode(), "c.toml")
    assert sentence in str(in_challenge.value)
    (tmp_path / "challenge.toml").write_text(CHALLENGE + content, encoding="utf-8")
    ran = sandscore("tasks", "--challenge", tmp_path / "challenge.toml")
    assert (ran.code, sentence in ran.err) == (78, True)


def test_a_task_file_is_refused_as_a_challenge_is(tmp_path: Path) -> None:
    path = tmp_path / "tasks.toml"
    path.write_text(table(label="iou"), encoding="utf-8")
    assert sandscore("tasks", "--task-file", path).code == 78
    path.write_text('[tasks.medication]\nheadline = "token"\n', encoding="utf-8")
    assert sandscore("tasks", "--task-file", path).code == 78
    path.write_text("tasks =", encoding="utf-8")
    assert sandscore("tasks", "--task-file", path).code == 78
    assert sandscore("tasks", "--task-file", tmp_path / "none.toml").code == 66


def test_one_table_may_define_a_task_and_change_its_rules() -> None:
    given = CHALLENGE + MEDICATION + 'headline = "route"\n[tasks.date]\nheadline = "token"\n'
    challenge = parse_challenge(given.encode(), "challenge.toml")
    assert list(own_tasks(challenge)) == ["medication"]
    assert rules_for(challenge, "medication", None)[0].headline == "route"
    assert rules_for(challenge, "date", None)[0].headline == "token"


def test_every_verb_takes_a_task_file(place: Path) -> None:
    own = ("--task-file", "tasks.toml")
    files = ("--gold", "medication.json", "--notes", "notes.json")
    assert sandscore("validate", "medication", "medication.json", "--notes", "notes.json", *own).code == 0
    assert sandscore("score", "medication", *files, "--predictions", "predictions.json", *own, "-o", "c.json").code == 0
    assert sandscore("init", "medication", "mine", *own).code == 0
    assert sandscore("power", "medication", *files, "--gap", "0.4", "--simulations", "20", *own).code == 0
    into = ("--from", "ours", "--to", "brat", "-o", "brat", "--notes", "notes.json", "medication.json")
    assert sandscore("convert", "medication", *into, *own).code == 0
    assert (
        sandscore("run", "medication", "--url", "http://127.0.0.1:9", "--notes", "none.json", "-o", "r", *own).code
        == 66
    )
    wanted = ("--image", "none", "--gold", "medication.json", "--notes", "none.json", "-o", "e")
    assert sandscore("evaluate", "medication", *wanted, *own).code == 66
    assert sandscore("validate", "medication", "medication.json").code == 2, "nobody has defined it"


def test_a_label_is_free_text_where_none_are_listed() -> None:
    task = own_task("dose", TaskDefinition(array="textDoseAnnotations", label="doseUnit"))
    assert task.measures[-1] == "dose_unit"
    rule = schema_of(task)["$defs"]["annotation"]
    assert rule["properties"]["doseUnit"] == {"type": "string"}
    assert rule["required"] == ["start", "length", "text"]


def test_a_task_without_a_label_has_the_span_measures() -> None:
    assert own_task("dose", TaskDefinition(array="textDoseAnnotations")).measures == (
        "token",
        "instance_strict",
        "instance_relax",
    )


@pytest.mark.parametrize(
    ("label", "accepted", "refused"),
    [
        ("IV", ["iv", "IV", " Iv\n"], ["i v", "ivs"]),
        ("n/a", ["N/A", "n/a"], ["n-a"]),
        ("a.b (c)", ["A.B (C)"], ["axb (c)", "a.b c"]),
        ("Größe", ["Größe", " Größe "], ["größe", "GRÖSSE"]),
    ],
)
def test_labels_of_any_letters(label: str, accepted: list[str], refused: list[str], tmp_path: Path) -> None:
    """Validation and the published schema accept the same spellings."""
    definition = TaskDefinition(array="textThingAnnotations", label="thing", labels=(label, "other"))
    rule = Draft202012Validator(schema_of(own_task("thing", definition))["$defs"]["annotation"]["properties"]["thing"])
    (tmp_path / "t.toml").write_text(
        f'[tasks.thing]\narray = "textThingAnnotations"\nlabel = "thing"\nlabels = [{json.dumps(label)}, "other"]\n',
        "utf-8",
    )
    for written, code in [(one, 0) for one in accepted] + [(one, 65) for one in refused]:
        assert rule.is_valid(written) == (code == 0), written
        one = {"start": 0, "length": 1, "text": "x", "thing": written}
        (tmp_path / "p.json").write_text(json.dumps({"textThingAnnotations": [one]}), encoding="utf-8")
        ran = sandscore("validate", "thing", tmp_path / "p.json", "--task-file", tmp_path / "t.toml")
        assert ran.code == code, (written, ran.out)


def test_a_label_that_is_not_listed_is_told_with_those_that_are(place: Path) -> None:
    records = json.loads((place / "medication.json").read_text(encoding="utf-8"))
    records[0]["textMedicationAnnotations"][0]["route"] = "oralle"
    (place / "wrong.json").write_text(json.dumps(records), encoding="utf-8")
    ran = sandscore("validate", "medication", "wrong.json", "--challenge", "challenge.toml")
    assert ran.code == 65
    assert "\"oralle\" is not one of oral, iv, topical (did you mean 'oral'?)" in ran.out


def test_the_definition_comes_back_from_a_card_as_it_went(place: Path) -> None:
    words = ("--gold", "medication.json", "--predictions", "predictions.json", "--challenge", "challenge.toml")
    assert sandscore("score", "medication", *words, "-o", "card.json").code == 0
    card = read_card(place / "card.json").card
    task = read_task_file(place / "tasks.toml")["medication"]
    assert card.definition is not None
    assert own_task("medication", card.definition) == task
    assert f"|task:{str(definition_hash(task))[:12]}|" in card.signature
    assert definition_of(TASKS["date"]) is None
    assert definition_hash(TASKS["date"]) is None


def changed_card(place: Path, name: str, **changes: Any) -> Path:
    words = ("--gold", "medication.json", "--predictions", "predictions.json", "--challenge", "challenge.toml")
    assert sandscore("score", "medication", *words, "--team", name, "-o", f"{name}.json").code == 0
    card = json.loads((place / f"{name}.json").read_text(encoding="utf-8")) | changes
    (place / f"{name}.json").write_text(json.dumps(card), encoding="utf-8")
    return place / f"{name}.json"


def test_cards_of_two_definitions_are_not_compared(place: Path) -> None:
    one = changed_card(place, "one")
    other = changed_card(place, "other", definition={"array": "textMedicationAnnotations", "label": "route"})
    ran = sandscore("rank", one, other)
    assert (ran.code, "not the same definition of the task" in ran.err) == (65, True)


def test_a_card_that_defines_one_of_our_tasks_is_not_believed(place: Path) -> None:
    with pytest.raises(ParticipantFault, match="'date' is a built-in task"):
        read_card(changed_card(place, "one", task="date"))


def test_the_names_of_label_measures_are_those_of_the_table() -> None:
    """As they stand in the challenge's description of measures."""
    names = ["date_format", None, "address_type", "location_type", "id_type", "contact_type", "condition", "type"]
    assert [task.label_measure for task in TASKS.values()] == names
    assert {name for name in names if name} <= set(MEASURES.names)
