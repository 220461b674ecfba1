"""A group of verbs, each in a module of its own that is imported only when the verb is asked for."""

import importlib
import os
from collections.abc import Mapping
from inspect import cleandoc
from types import CodeType
from typing import Any

import click

from sandscore.base.errors import nearest

COMPLETING = "_SANDSCORE_COMPLETE"
"""Set by a shell that wants to know how a line goes on."""


class VerbGroup(click.Group):
    """``modules``: by verb, in the order of the help, the module that holds its ``command``."""

    def __init__(self, *args: Any, modules: Mapping[str, str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._modules = modules

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._modules)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """A line for each verb, as click has it: what its docstring says, for which nothing need be imported."""
        commands = {verb: self._described(ctx, verb) for verb in self._modules}
        room = formatter.width - 6 - max(map(len, commands))
        with formatter.section("Commands"):
            formatter.write_dl(
                [(verb, command.get_short_help_str(room)) for verb, command in commands.items() if command]
            )

    def _described(self, ctx: click.Context, verb: str) -> click.Command | None:
        """The verb with its help alone; its ``command`` itself where the docstring has places to be filled in."""
        said = _docstring(self._modules[verb])
        return self.get_command(ctx, verb) if "{" in said else click.Command(verb, help=cleandoc(said))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._modules:
            return None
        command: click.Command = importlib.import_module(self._modules[cmd_name]).command
        if COMPLETING in os.environ:
            from sandscore.cli.completion import suggesting

            return suggesting(command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """A verb that there is not is told with the one that was probably meant."""
        name = args[0]
        if name not in self._modules and not name.startswith("-") and not ctx.resilient_parsing:
            near = nearest(name, self._modules)
            hint = f" Did you mean '{near}'?" if near else ""
            ctx.fail(f"No such command '{name}'.{hint}")
        return super().resolve_command(ctx, args)


def fill_in(command: click.Command, **said: str) -> None:
    """The places that a docstring leaves for what only imported modules know."""
    command.help = cleandoc(str(command.help)).format(**said)


def _docstring(module: str) -> str:
    """Of the ``command`` of a module that is not imported."""
    from importlib.util import find_spec

    spec: Any = find_spec(module)
    inner = (one for one in spec.loader.get_code(module).co_consts if isinstance(one, CodeType))
    return str(next(one.co_consts[0] for one in inner if one.co_name == "command"))
