"""A group of verbs, each in a module of its own that is imported only when the verb is asked for."""

import importlib
import os
from collections.abc import Mapping
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
