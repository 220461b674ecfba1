"""Options that several verbs share."""

from typing import TYPE_CHECKING, Any

import click

from sandscore.base.errors import nearest

if TYPE_CHECKING:
    _Choice = click.Choice[str]
else:
    _Choice = click.Choice


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
