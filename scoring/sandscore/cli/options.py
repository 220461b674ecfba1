"""Options that several verbs share."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from sandscore.base.errors import nearest

if TYPE_CHECKING:
    from sandscore.queue.homes.home_row import HomeOption

    _Choice = click.Choice[str]
else:
    _Choice = click.Choice

_Command = TypeVar("_Command", bound=Callable[..., Any])


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


_KINDS: dict[str, Callable[[], Any]] = {
    "text": lambda: None,
    "file": lambda: click.Path(path_type=Path, dir_okay=False),
    "folder": lambda: click.Path(path_type=Path, file_okay=False),
    "path": lambda: click.Path(path_type=Path),
}


def click_options(declared: "Iterable[HomeOption]") -> Callable[[_Command], _Command]:
    """Options that rows declare, as the command line has them."""
    made = [
        click.option(
            one.flag,
            one.name,
            metavar=one.metavar,
            help=one.description,
            type=_KINDS[one.kind](),
            multiple=one.repeatable,
        )
        for one in declared
    ]

    def add(command: _Command) -> _Command:
        for option in reversed(made):
            command = option(command)
        return command

    return add
