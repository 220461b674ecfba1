"""Who becomes whom, by hand: with one surname and one given name a sex, the new word tells the role of the old."""

import json
import re
from pathlib import Path

import pytest

from sandscore.base.errors import UsageFault
from sandscore.perturbation.name_swap import NameSwap, plain
from sandscore.perturbation.text_edits import Draw, GoldMention, GoldNote, rewritten
from sandscore.task_table.task import TASKS, Task

NAME, PHI = TASKS["person-name"], TASKS["phi"]
A_WOMAN = next(seed for seed in range(9) if Draw(seed).chance(0.5))


def name_set(folder: Path, **names: list[str]) -> str:
    said = {"name": "few", "description": "few", "sources": [{"source": "this test", "licence": "none"}]}
    file = folder / "few.json"
    file.write_text(
        json.dumps(said | {"surnames": ["Adler"], "female": ["Carla"], "male": ["Dieter"]} | names), "utf-8"
    )
    return f"names:{file}"


def swapped(value: str, marked: str, task: Task = NAME, label: str | None = None, seed: int = 0) -> str:
    """The text after the swap; gold stands in brackets."""
    mentions, text = list[GoldMention](), ""
    for piece in re.findall(r"\[[^]]*\]|[^\[]+", marked):
        bare = piece.strip("[]") if piece.startswith("[") else piece
        if piece.startswith("["):
            mentions.append(GoldMention(len(text), len(text) + len(bare), task, len(mentions), label))
        text += bare
    note = GoldNote(0, "p", text, tuple(mentions))
    return rewritten(note, NameSwap(value).edits([note], Draw(seed))[0]).note.text


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        pytest.param("[Mary van der Berg]", "Carla van der Adler", id="particles stay"),
        pytest.param("[Mary Van Berg]", "Carla Carla Adler", id="a particle in capitals is a name"),
        pytest.param("[Mary Garcia-Lopez]", "Carla Adler-Adler", id="a surname with a hyphen is a surname"),
        pytest.param("[Mary J.]", "Carla A.", id="a name and an initial"),
        pytest.param("[J. Smith]", "C. Adler", id="an initial and a name"),
        pytest.param("[Mary J. Smith]", "Carla C. Adler", id="an initial in the middle is that of a given name"),
        pytest.param("[Smith, Mary]", "Adler, Carla", id="turned round by a comma"),
        pytest.param("[Mary Smith, MS]", "Carla Adler, MS", id="a degree behind a comma"),
        pytest.param("[Mary Smith, DO]", "Carla Adler, DO", id="a degree that may be a name elsewhere"),
        pytest.param("[Mary DO]", "Carla ADLER", id="and is one where no comma stands"),
        pytest.param("[Peter Smith Jr.]", "Dieter Adler Jr.", id="a title behind"),
        pytest.param("Dr. [Mary]", "Dr. Adler", id="whoever has a title before goes by the surname"),
        pytest.param("[Mary]", "Carla", id="a given name that the sets know"),
        pytest.param("[Smith]", "Adler", id="any other word is a surname"),
        pytest.param("[Mary Smith] and [Smith] and [Mary]", "Carla Adler and Adler and Carla", id="as whole names say"),
        pytest.param("[Peter Mary] and [Mary]", "Dieter Adler and Adler", id="even against the sets"),
        pytest.param("[Mary's] and [MARY’S] chart", "Carla's and CARLA’S chart", id="possessives stay"),
        pytest.param("[Mary O'Brien]", "Carla Adler", id="an apostrophe within a name"),
        pytest.param("[smith] and [SMITH]", "adler and ADLER", id="case is kept"),
        pytest.param("[Mary Smith], [mary smith]", "Carla Adler, carla adler", id="in small letters"),
        pytest.param("[j. smith]", "c. adler", id="an initial in small letters"),
        pytest.param("[Dr.]", "Dr.", id="a title alone names nobody"),
        pytest.param("[12]", "12", id="nor does a number"),
    ],
)
def test_roles(marked: str, expected: str, tmp_path: Path) -> None:
    """A word that no set knows is a woman's or a man's name by chance: Carla or Dieter; the seed gives Carla."""
    assert swapped(name_set(tmp_path), marked, seed=A_WOMAN) == expected


def test_an_initial_is_that_of_the_name_written_elsewhere(tmp_path: Path) -> None:
    """P. is Peter, who becomes Dieter; the S of Mary S. is that of Smith."""
    value = name_set(tmp_path)
    assert swapped(value, "[Peter Smith], [P. Smith], [Mary S.]") == "Dieter Adler, D. Adler, Carla A."


def test_two_people_have_two_names_as_long_as_names_last(tmp_path: Path) -> None:
    value = name_set(tmp_path, surnames=["Adler", "Busch", "Smith"])
    first, second, third = swapped(value, "[Smith], [Jones], [Brown]").split(", ")
    assert {first, second} == {"Adler", "Busch"}, "nobody gets a name that somebody had, while others are left"
    assert third in {"Adler", "Busch", "Smith"}


def test_accents_do_not_make_another_person(tmp_path: Path) -> None:
    value = name_set(tmp_path, surnames=["Adler", "Busch"])
    first, second = swapped(value, "[José Núñez] and [JOSE NUNEZ]").split(" and ")
    assert second == first.upper()
    assert plain("Núñez") == plain("NUNEZ") == "nunez"


def test_labels_tell_names_in_a_task_of_many_kinds(tmp_path: Path) -> None:
    value = name_set(tmp_path)
    assert swapped(value, "[Mary]", PHI, "PATIENT") == "Carla"
    assert swapped(value, "[Mary]", PHI, "doctor") == "Carla"
    assert swapped(value, "[Mary]", PHI, "HOSPITAL") == "Mary"
    assert swapped(value, "[Mary]", PHI) == "Mary"
    assert swapped(value, "[Mary]", TASKS["date"]) == "Mary"


@pytest.mark.parametrize("value", ["", "names", "names:", "name:nigeria", "dates:nigeria"])
def test_a_value_that_names_no_set(value: str) -> None:
    with pytest.raises(UsageFault, match="expected names: and the name of a set or a file"):
        NameSwap(value)


def test_it_says_whose_names_they_are(tmp_path: Path) -> None:
    told = NameSwap(name_set(tmp_path)).told
    assert told == {"names": "few", "sources": [{"source": "this test", "licence": "none"}]}
    assert NameSwap.writes == "inside"
