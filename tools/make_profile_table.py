"""``python -m tools.make_profile_table``: every profile on the example submissions, into ``docs/profiles/README.md``.

Only what stands between the two markers of that page is written.
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from sandscore.annotations.input_files import Inputs, load_files
from sandscore.base.whole_files import write_file
from sandscore.measures.hipaa_map import load_hipaa_map
from sandscore.original_scores.profile_cards import as_the_original_reads, score_as
from sandscore.profiles.profile_registry import CHALLENGE, find_profile
from sandscore.records.scorecard import Scorecard
from sandscore.scoring.card_building import Question, score
from sandscore.task_table.task import find_task

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "profiles" / "README.md"
BEGIN, END = "<!-- table -->", "<!-- end of table -->"
TASKS = ("date", "person-name", "address")
SUBMISSIONS = ("good", "weak")
SHOWN = {
    CHALLENGE: ("token", "instance_strict", "instance_relax"),
    "nlpsandbox-client": ("token", "instance_strict", "instance_relax", "type"),
    "i2b2": ("token", "strict", "relaxed"),
    "presidio": ("pii",),
    "span-labels": ("strict", "flexible", "partial"),
    "neleval": ("sets::span", "sets::span+type", "overlap-maxmax::span", "overlap-sumsum::span"),
    "semeval": ("strict", "exact", "partial", "ent_type"),
    "tab-2022": ("token_recall", "mention_recall", "recall_quasi_entities", "token_precision", "mention_precision"),
}


def page(text: str) -> str:
    """The page with its tables made anew."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{tables()}\n{END}{after}"


def tables() -> str:
    return "\n".join(f"**{task}**\n\n" + "".join(f"{line}\n" for line in table(task)) for task in TASKS)


def table(task: str) -> Iterator[str]:
    yield "| profile | measure | " + " | ".join(f"{task}-{name}: P | R | F1" for name in SUBMISSIONS) + " |"
    yield "|---|---|" + "---:|" * (3 * len(SUBMISSIONS))
    label = find_task(task).label_measure
    for profile, measures in SHOWN.items():
        for measure in (*measures, label) if profile == CHALLENGE and label else measures:
            cells = [cell for name in SUBMISSIONS for cell in ratios(card(task, name, profile), measure)]
            yield f"| `{profile}` | `{measure}` | " + " | ".join(cells) + " |"


def ratios(card: Scorecard, measure: str) -> list[str]:
    """Three digits; two where the original prints no more."""
    values = (getattr(card.measures[measure], name, None) for name in ("precision", "recall", "f1"))
    digits = 2 if card.profile == "nlpsandbox-client" else 3
    return ["–" if value is None else f"{value:.{digits}f}" for value in values]


@cache
def card(task_id: str, submission: str, profile_name: str) -> Scorecard:
    """As ``sandscore score`` would make it."""
    task, profile = find_task(task_id), find_profile(profile_name)
    example = ROOT / "gold" / "example"
    predictions = ROOT / "submissions" / f"{task_id}-{submission}" / "predictions.json"
    inputs = Inputs(example / f"{task_id}.json", predictions, example / "notes.json")
    loaded = load_files(task, inputs)
    question = Question(task, (), load_hipaa_map(None) if task.hipaa else None)
    if profile is None:
        return score(question, loaded)
    return score_as(profile, question, as_the_original_reads(profile, task, inputs, loaded), loaded)[0]


def main() -> None:
    write_file(PAGE, page(PAGE.read_text(encoding="utf-8")).encode())
    print(f"wrote {PAGE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
