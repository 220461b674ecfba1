"""``sandscore serve``: the door for teams, on a queue."""

from pathlib import Path

import click


@click.command("serve")
@click.argument("queue", metavar="QUEUE", type=click.Path(path_type=Path, file_okay=False))
@click.option("--listen", default="127.0.0.1:8000", show_default=True, metavar="HOST:PORT", help="Where it listens.")
@click.option("--public-url", metavar="URL", help="As teams reach it: https://… where a proxy has a certificate.")
@click.option(
    "--trusted-proxy",
    "proxies",
    multiple=True,
    metavar="CIDR",
    help="Whose X-Forwarded-For is believed, beside this machine's own. Repeatable.",
)
def command(queue: Path, listen: str, public_url: str | None, proxies: tuple[str, ...]) -> int:
    """Serve the boards of a queue to everybody at /, and a team's area at /team and /api/v1 to whoever has a token.

    It only writes to the queue's folder: sandscore queue work evaluates what comes in. Any number of servers may run on
    one queue. Behind a proxy with a certificate, as docs/serving.md sets it up.

    \b
    Example:
      sandscore serve demo/queue --listen 127.0.0.1:8000
    """
    from sandscore.base.errors import UsageFault

    try:
        from sandscore.intake.web_server import serve
    except ModuleNotFoundError as fault:
        if fault.name not in ("starlette", "uvicorn", "python_multipart"):
            raise
        raise UsageFault(f"serving needs {fault.name}: pip install 'sandscore[serve]'") from None
    click.echo(f"http://{listen}/team", err=True)
    serve(queue, listen, public_url, proxies)
    return 0
