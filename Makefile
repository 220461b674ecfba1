# Every target does its own set-up and says what it installs; the second time there is nothing to install.
PYTHON := .venv/bin/python
OUT ?= demo

.DEFAULT_GOAL := help
.PHONY: help environment needs engine podman images models browser proxy shells peers check types style arrows unit quick test mutate schemas lock wheels zig sbom demo fuzz soak guest bench clean

help:  ## what can be made
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' Makefile

environment:
	@tools/environment.sh

engine: environment
	@tools/engine.sh

podman:
	@tools/podman.sh

images: engine
	@tools/base_image.sh
	@$(PYTHON) tools/example_images.py >/dev/null

models: images peers
	@tools/models_image.sh

browser: environment
	@tools/browser.sh

shells:
	@tools/shells.sh

proxy:
	@tools/proxy.sh

slurm:
	@tools/slurm.sh

peers: environment
	@$(PYTHON) tools/peer_env.py presidio nlpsandbox-client neleval cwltool groovy-parser compose roc-validator

check: environment  ## lint, format, types, import arrows, compiler warnings
	@$(MAKE) --no-print-directory --jobs 2 --output-sync types style arrows

types:
	@$(PYTHON) -m mypy

style:
	@$(PYTHON) -m ruff check .
	@$(PYTHON) -m ruff format --check .
	@tools/check_kernel.sh

arrows:
	@.venv/bin/lint-imports --no-cache > .venv/arrows.txt || (cat .venv/arrows.txt; exit 1)

unexport PYTHONDONTWRITEBYTECODE  # tests are compiled once, not by each process of every run

quick: environment  ## lint, types and the unit tests, without engine, browser or original scorers
	@$(MAKE) --no-print-directory --jobs 2 --output-sync types style arrows unit

unit:
	@$(PYTHON) -m pytest -n 2 --dist worksteal --hypothesis-profile quick -m "not engine and not browser and not peer and not slow" \
		--ignore tests/fuzz --ignore tests/bounds --ignore tests/plugins --ignore tests/intake --ignore tests/perturbation --ignore tests/submission_queue --ignore tests/board_site --ignore tests/peers \
		--ignore tests/attestation/test_public_log.py --ignore tests/attestation/test_verification_levels.py

needs: environment
	@tools/needs.sh

# Three workers, also on two cores: a fifth of the time is spent waiting for containers.
test: needs check images podman browser peers shells proxy slurm models zig  ## everything that must hold
	@$(PYTHON) -m pytest -n 3 --dist worksteal

mutate: environment  ## small faults planted in every room, and which of them its tests do not notice
	@$(PYTHON) tools/mutate.py

schemas: environment  ## what follows from the task table: JSON Schemas, the list of tasks, docs/predictions.md
	@$(PYTHON) tools/make_schemas.py

lock: environment  ## constraints.txt for what is installed, each file by its hash
	@$(PYTHON) tools/lock.py

zig: environment
	@$(PYTHON) -c "from tools.make_wheels import zig; zig()"

wheels: environment  ## wheels for seven platforms into dist/, and the Linux ones tried from nothing
	@$(PYTHON) tools/make_wheels.py dist
	@$(PYTHON) tools/try_wheels.py dist

sbom: environment  ## what sandscore is made of, as CycloneDX: sbom.json
	@$(PYTHON) -m tools.sbom > sbom.json

demo: environment  ## the whole flow on the bundled example challenge; without an engine on prediction files
	@tools/demo.sh $(OUT)

fuzz: environment  ## hostile inputs, the kernel among sanitizers, and a guided search
	@cd tests && PYTHONPATH=. ../$(PYTHON) -m fuzz.long

soak: environment images podman  ## 500 workers killed, on every home of the queue; all of the hostile set on Podman and Apptainer's stand-in
	@$(PYTHON) benchmarks/queue_crashes.py
	@SANDSCORE_SOAK=1 $(PYTHON) -m pytest -q tests/containers/test_podman_attack.py tests/containers/test_apptainer.py

guest: environment podman  ## engines on control groups of version 2, in a Linux of their own
	@$(PYTHON) tools/guest_kernel.py root $(PYTHON) -m pytest -q -p no:cacheprovider tests/containers/test_bubblewrap_attack.py -k test_contained
	@$(PYTHON) tools/guest_kernel.py user $(PYTHON) -m pytest -q -p no:cacheprovider tests/containers/test_bubblewrap_attack.py -k test_contained
	@$(PYTHON) tools/guest_kernel.py user $(PYTHON) -m pytest -q -p no:cacheprovider tests/containers/podman_without_root.py

bench: environment  ## our speed beside decoding and the original scorers
	@$(PYTHON) benchmarks/everything.py --json speed.json

clean:  ## everything that was made here
	rm -rf .venv .cache demo scoring/sandscore/kernel/kernel.so
