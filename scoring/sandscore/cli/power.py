"""``sandscore power``: how many patients a challenge needs."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sandscore import api
from sandscore.cli.options import format_option, own_task_options, task_argument

if TYPE_CHECKING:
    from sandscore.task_table.task import Task

LEAKS = ("char_leak", "mention_leak", "patient_leak")
"""Written out, so that help need not import the planning."""


@click.command("power")
@task_argument
@click.option("--gap", type=float, required=True, help="How far apart the two systems are in F1, or leak.")
@click.option("--gold", required=True, type=click.Path(path_type=Path), help="Gold of the task, to draw patients from.")
@click.option("--notes", type=click.Path(path_type=Path), help="The notes, which know the patients.")
@click.option("--f1", type=float, default=0.9, show_default=True, help="F1 of the better system.")
@click.option("--leak", type=click.Choice(LEAKS), help="Plan for this measure of leaks in place of F1.")
@click.option("--share", type=float, default=0.05, show_default=True, help="With --leak: that of the better system.")
@click.option("--overlap", type=float, default=0.5, show_default=True, help="Share of errors both make.")
@click.option("--power", "wanted", type=float, default=0.8, show_default=True, help="How often they must separate.")
@click.option("--beta", type=float, default=1.0, show_default=True, help="How much misses weigh: F-beta instead of F1.")
@click.option("--simulations", type=click.IntRange(20, 100_000), default=400, show_default=True)
@own_task_options
@format_option
def command(
    task: "Task",
    gap: float,
    gold: Path,
    notes: Path | None,
    leak: str | None,
    output_format: str,
    **assumed: float | int,
) -> None:
    """Say how many patients separate two systems that are a given gap apart.

    Simulates challenges on patients drawn from gold, and runs the board's own test on each (level 0.05).

    \b
    Example:
      sandscore power date --gap 0.02 --gold gold/example/date.json --notes gold/example/notes.json
    """
    from sandscore.cli.progress import bar

    plan = api.PowerPlan(
        gap,
        assumed["f1"],
        assumed["overlap"],
        assumed["wanted"],
        int(assumed["simulations"]),
        assumed["beta"],
        leak,
        assumed["share"],
    )
    found = api.patients_for(task, plan, gold, notes, lambda: bar("simulating"))
    click.echo(FORMATS[output_format](found))


def _as_text(found: "api.PowerAnswer") -> str:
    plan, answer, units = found.plan, found.answer, found.units
    lines = [f"{patients:>8} patients: separated in {power:.0%} of simulations" for patients, power in answer.tried]
    if answer.patients is None:
        verdict = f"more than {answer.tried[-1][0]} patients are needed"
    else:
        ours = (f"F{plan.beta:g}", plan.f1, plan.f1 - plan.gap)
        name, better, worse = ours if plan.leak is None else (plan.leak, plan.share, plan.share + plan.gap)
        verdict = f"{answer.patients} patients separate {name} {better:g} from {worse:g}"
    assumed = f"power {plan.power:.0%}, level 0.05, {plan.overlap:.0%} of errors shared; gold has {units} patients"
    return "\n".join([*lines, "", f"{verdict} ({assumed})"])


def _as_json(found: "api.PowerAnswer") -> str:
    plan, answer, units = found.plan, found.answer, found.units
    tried = [{"patients": patients, "power": power} for patients, power in answer.tried]
    assumed: dict[str, object] = {
        "gap": plan.gap,
        "f1": plan.f1,
        "overlap": plan.overlap,
        "power": plan.power,
        "alpha": 0.05,
        "beta": plan.beta,
    }
    if plan.leak is not None:
        assumed = {name: value for name, value in assumed.items() if name not in ("f1", "beta")}
        assumed |= {"leak": plan.leak, "share": plan.share}
    return json.dumps({"patients": answer.patients, "assumed": assumed, "gold_patients": units, "tried": tried})


FORMATS = {"text": _as_text, "json": _as_json}
