"""``sandscore score``: predictions against gold, to a score card."""

import os
from typing import Any

import click

from sandscore import api
from sandscore.cli.options import (
    FORMAT_NAME,
    NearChoice,
    TaskName,
    challenge_option,
    foreign_options,
    format_option,
    task_file_option,
)

_WRITTEN = ("card", "publish", "phase", "cards", "errors", "entity_map", "report", "challenge")
"""Options that say what is written; the others say what is scored."""


@click.command("score")
@click.argument("task", type=TaskName(with_all=True))
@click.option(
    "--gold",
    multiple=True,
    metavar="FILE",
    help="The reference annotations; of all tasks, their folder. Repeatable: one file for each annotator.",
)
@click.option("--predictions", required=True, metavar="FILE", help="What is scored; - reads standard input.")
@click.option("--notes", metavar="FILE", help="The notes; they define the data set and prove every text.")
@click.option("--index", metavar="FILE", help="What sandscore index made of gold and notes, in place of both.")
@foreign_options
@click.option("--from-gold", "gold_source", type=FORMAT_NAME, help="What gold is, in the same way.")
@click.option("--complete", is_flag=True, help="A note without an entry is an error, not a warning.")
@click.option(
    "--jobs",
    default=1,
    show_default=True,
    metavar="N",
    type=click.IntRange(1, 64),
    help="Processes to use; the card stays the same.",
)
@click.option("--profile", default="challenge", show_default=True, metavar="X", help="Whose rules; see docs/profiles.")
@click.option("--measure", "measures", multiple=True, metavar="M", help="A measure beside the task's own; repeatable.")
@click.option("--hipaa-map", metavar="FILE", help="Which labels HIPAA protects, in place of the bundled map.")
@click.option("--class-map", metavar="FILE", help="Which labels identify a patient, in place of the task table's.")
@click.option(
    "--slices",
    multiple=True,
    metavar="SLICES",
    help="Every measure by group: label, mention-length, script, note-type, note-length, site, or a JSON file.",
)
@click.option("--team", metavar="NAME", help="Copied to the card.")
@click.option("--submission", metavar="ID", help="Copied to the card.")
@click.option("--image", metavar="DIGEST", help="Copied to the card.")
@click.option("--dataset", metavar="NAME", help="Copied to the card.")
@click.option("--run", metavar="RUN", help="A run's folder or run.json, copied to the card.")
@click.option("--created", metavar="TIME", help="Copied to the card; no clock is ever read.")
@click.option(
    "--publish",
    is_flag=True,
    help="Write what --challenge lets out; SANDSCORE_SALT hides note and patient ids.",
)
@click.option("--phase", metavar="P", help="The phase of the challenge that the card is of; with --publish its policy.")
@click.option("--cards", type=NearChoice(["totals", "notes"]), help="With --publish: no more than that.")
@click.option(
    "--errors", metavar="DIR", help="Write false positives, misses and a confusion matrix here; they quote gold."
)
@click.option("--entity-map", metavar="FILE", help="JSON, foreign type to label of the task, for the error files.")
@click.option("--html", "report", metavar="REPORT", help="Write a page that shows where the points were lost.")
@challenge_option(
    "challenge.toml: its own tasks, what may be published, and whether the report may show notes (publication.text).",
    kept=True,
)
@task_file_option
@click.option(
    "--intervals/--no-intervals",
    default=None,
    help="95 % intervals over patients; without a word where there are not too many patients for a moment's work.",
)
@click.option("-o", "--output", "card", metavar="CARD", help="Write the score card here.")
@format_option
def command(output_format: str, intervals: bool | None, gold: tuple[str, ...], **asked: Any) -> int:
    """Validate PREDICTIONS, compare them with GOLD and print a score card.

    TASK may be 'all': GOLD and PREDICTIONS are folders then, and the card says what leaks of all tasks together.
    Exits 65 if the predictions are not valid, 78 if gold or notes are not.

    \b
    Example:
      sandscore score address --notes gold/example/notes.json \\
          --gold gold/example/address.json --predictions submissions/address-good/predictions.json
    """
    from sandscore.cli.card_text import print_scored
    from sandscore.cli.problem_text import watch

    salt = os.environ.get("SANDSCORE_SALT", "").encode() or None
    files = api.ScoreFiles(salt=salt, **{name: asked.pop(name) for name in _WRITTEN})
    plan = api.ScoringPlan(gold=gold[0] if gold else None, more_gold=gold[1:], **asked)
    scored = api.score_to_files(plan, files, watch())
    shown = api.shown_intervals(scored, wanted=intervals) if output_format == "text" else None
    print_scored(scored, output_format, shown)
    return 0
