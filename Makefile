# Every target does its own set-up and says what it installs; the second time there is nothing to install.
PYTHON := .venv/bin/python
OUT ?= demo

.DEFAULT_GOAL := help
.PHONY: help environment engine check test demo fuzz bench clean

help:  ## what can be made
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' Makefile

environment:
	@tools/environment.sh

engine: environment
	@tools/engine.sh

check: environment  ## lint, format, types, import arrows
	@$(PYTHON) -m ruff check .
	@$(PYTHON) -m ruff format --check .
	@$(PYTHON) -m mypy
	@.venv/bin/lint-imports --no-cache > .venv/arrows.txt || (cat .venv/arrows.txt; exit 1)

test: check engine  ## everything that must hold
	@$(PYTHON) -m pytest -n 2 --dist worksteal

demo: engine  ## the whole flow on the bundled example challenge
	@.venv/bin/sandscore demo -o $(OUT)

fuzz: environment  ## 200,000 hostile inputs
	@cd tests && PYTHONPATH=. ../$(PYTHON) -m fuzz.long

bench: environment  ## our speed beside the decode limit
	@$(PYTHON) benchmarks/reading_and_scoring.py

clean:
	rm -rf .venv .cache demo
