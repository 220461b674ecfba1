"""Options that several verbs share, and the task that most are about."""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import click

from sandscore import api
from sandscore.base.errors import nearest
from sandscore.base.own_rows import OWN_ROWS

if TYPE_CHECKING:
    from sandscore.queue.homes.home_row import HomeOption
    from sandscore.task_table.task import Task

    _Choice = click.Choice[str]
    _AnyType = click.ParamType[Any]
else:
    _Choice = click.Choice
    _AnyType = click.ParamType

_Command = TypeVar("_Command", bound=Callable[..., Any])
_OWN = "sandscore.own_tasks"


class NearChoice(_Choice):
    """One of several words; of another one it is said which was probably meant."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as fault:
            near = nearest(str(value), map(str, self.choices))
            if near is None:
                raise
            return self.fail(f"{fault.message} Did you mean '{near}'?", param, ctx)


format_option = click.option(
    "--format",
    "output_format",
    type=NearChoice(["text", "json"]),
    default="text",
    show_default=True,
    help="For people or for programs.",
)


class TaskName(_AnyType):
    """The id of a task, of our table or of an organiser's."""

    name = "task"

    def __init__(self, *, with_all: bool = False) -> None:
        self._with_all = with_all

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> "Task":
        from sandscore.task_table.task import ALL_TASKS, find_task

        if self._with_all and value == ALL_TASKS.id:
            return ALL_TASKS
        return find_task(value, own_tasks(ctx))


class TaskNames(_AnyType):
    """The ids of several tasks, with commas between them."""

    name = "tasks"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> "tuple[Task, ...]":
        found = {word: TaskName().convert(word, param, ctx) for word in map(str.strip, str(value).split(","))}
        return tuple(found.values())


def own_tasks(context: click.Context | None = None) -> "Mapping[str, Task]":
    """The tasks that the command line's ``--challenge`` and ``--task-file`` define."""
    found: Mapping[str, Task] = (context or click.get_current_context()).meta.get(_OWN, {})
    return found


def _from_challenge(context: click.Context, _option: click.Parameter, path: str | None) -> str | None:
    if path is not None and not context.resilient_parsing:
        from pathlib import Path

        _learn(context, api.read_own_tasks(Path(path)))
    return path


def _from_task_file(context: click.Context, _option: click.Parameter, path: str | None) -> None:
    if path is not None and not context.resilient_parsing:
        from pathlib import Path

        _learn(context, api.read_task_file(Path(path)))


def _learn(context: click.Context, tasks: "Mapping[str, Task]") -> None:
    context.meta[_OWN] = {**own_tasks(context), **tasks}


task_argument = click.argument("task", type=TaskName())
task_file_option = click.option(
    "--task-file",
    metavar="FILE",
    is_eager=True,
    expose_value=False,
    callback=_from_task_file,
    help="TOML that defines tasks of your own, as challenge.toml may.",
)


def challenge_option(told: str, *, kept: bool = False) -> Callable[[_Command], _Command]:
    """``--challenge``, which may define tasks; ``kept``: the verb wants the path too."""
    return click.option(
        "--challenge", metavar="FILE", is_eager=True, expose_value=kept, callback=_from_challenge, help=told
    )


def own_task_options(command: _Command) -> _Command:
    """Where an organiser's own tasks are defined, for a verb that takes a task."""
    return challenge_option("challenge.toml, which may define tasks of its own.")(task_file_option(command))


def _click_type(kind: str) -> click.ParamType[Any] | None:
    """How click reads an option of that kind."""
    from pathlib import Path

    if kind == "text":
        return None
    return click.Path(path_type=Path, dir_okay=kind != "file", file_okay=kind != "folder")


def click_options(declared: "Iterable[HomeOption]") -> Callable[[_Command], _Command]:
    """Options that rows declare, as the command line has them."""
    made = [
        click.option(
            one.flag,
            one.name,
            metavar=None if one.kind == "flag" else one.metavar,
            help=one.description,
            type=None if one.kind == "flag" else _click_type(one.kind),
            multiple=one.repeatable,
            is_flag=one.kind == "flag",
        )
        for one in declared
    ]

    def add(command: _Command) -> _Command:
        for option in reversed(made):
            command = option(command)
        return command

    return add


class FormatName(NearChoice):
    """A format of ours, or one that an installed package has."""

    def __init__(self) -> None:
        super().__init__(tuple(OWN_ROWS["sandscore.formats"]))

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value in self.choices or not api.FORMATS.is_installed(str(value)):
            return super().convert(value, param, ctx)
        try:
            return api.FORMATS.find(str(value)).name
        except api.SandscoreError as fault:
            return self.fail(str(fault), param, ctx)


FORMAT_NAME = FormatName()
annotator_option = click.option(
    "--annotator", metavar="NAME", help="Whose annotations are read, where several people annotated."
)


def foreign_options(command: _Command) -> _Command:
    """What predictions are of, where they are no file of ours."""
    told = "What the predictions are, as convert reads it; seen by itself where that leaves no doubt."
    command = annotator_option(command)
    command = click.option(
        "--map", "labels", metavar="FILE", help="JSON object, foreign type to label of ours (null: no label)."
    )(command)
    return click.option("--from", "source", type=FORMAT_NAME, help=told)(command)
