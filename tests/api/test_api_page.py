"""What is said of the library is true: ``docs/api.md``, every example in it, the README's, and the notebook."""

import doctest
import json
import re
import warnings
from pathlib import Path
from typing import Any

import pytest

import sandscore

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOK = ROOT / "docs" / "notebook.ipynb"
NAMES = {name: getattr(sandscore, name) for name in sandscore.__all__}
GIVEN = {
    "ss": sandscore,
    "gold": "gold/example/date.json",
    "notes": "gold/example/notes.json",
    "predictions": "submissions/date-good/predictions.json",
}


def test_the_page_is_what_its_tool_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    from tools.make_api_page import PAGE, page

    told = page()
    assert PAGE.read_text(encoding="utf-8") == told, ".venv/bin/python tools/make_api_page.py"
    assert all(f"\n### {name}\n" in told for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_has_an_example_that_runs(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    found = [test for test in doctest.DocTestFinder().find(NAMES[name], name, globs=dict(GIVEN)) if test.examples]
    assert found, f"{name} has no example"
    said: list[str] = []
    runner = doctest.DocTestRunner(verbose=False)
    for test in found:
        runner.run(test, out=said.append)
    assert "".join(said) == ""


def test_the_readme_s_lines_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    for page in (ROOT / "README.md", ROOT / "docs" / "api.md"):
        program = re.findall(
            r"^```python\n(import .*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
        )
        assert len(program) == 1
        held: dict[str, Any] = {}
        exec(program[0], held)
        assert round(held["result"].f1, 3) == 0.934
    assert {name: held[name] for name in GIVEN} == GIVEN


def test_the_notebook_runs_cell_by_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(NOTEBOOK.parent)
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert len(cells) > 5
    held: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for cell in cells:
            assert (cell["outputs"], cell["execution_count"]) == ([], None)
            *lines, last = "".join(cell["source"]).splitlines()
            exec("\n".join(lines), held)
            assert shown(eval(last, held))
    assert not held["wrong"].ok
    assert held["comparison"].difference > 0.5
    assert held["board"].to_pandas().submission.tolist() == ["good", "years"]


def shown(value: Any) -> str:
    """What the notebook would show."""
    as_page = getattr(value, "_repr_html_", None)
    return str(as_page()) if as_page else repr(value)
