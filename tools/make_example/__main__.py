"""``python -m tools.make_example [FOLDER]``: FOLDER is gold/example unless given."""

import sys
from pathlib import Path

from tools.make_example.writing import write_example

ROOT = Path(__file__).resolve().parents[2]


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "gold" / "example"
    write_example(folder)
    print(f"wrote the example challenge to {folder}")


if __name__ == "__main__":
    main()
