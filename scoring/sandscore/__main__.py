"""``python -m sandscore``: the command line."""

from sandscore.cli.main import main

main()
