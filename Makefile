# Every target sets up what it needs by itself, in .venv. ARGS goes to the command: make test ARGS="-k crash -x"
# PYTHON names the interpreter to build on: make PYTHON=python3.12 test

.PHONY: help demo test faults check fmt format lint types imports bench soak build clean setup-run setup-test

ARGS =
PY = .venv/bin/python

help: ## list the targets
	@sed -n 's/^\([a-z]*\):[^#]*## \(.*\)/  make \1	\2/p' Makefile

demo: setup-run ## review a bundled Pi session with the offline reviewer, and show what memory gained
	@echo "demo: curator demo"
	@$(PY) -m curator demo $(ARGS)

test: setup-test ## run the tests
	@echo "test: pytest"
	@$(PY) -m pytest -n 2 $(ARGS)

faults: setup-test ## run the whole fault campaign, layer by layer, with a summary
	@PYTHONPATH=.:fault-injection $(PY) -m faults $(ARGS)

check: format lint types imports ## run every gate but the tests

fmt: setup-test ## format the code, and mend what the linter can
	@$(PY) -m ruff format
	@$(PY) -m ruff check --fix

format: setup-test
	@echo "check: format"
	@$(PY) -m ruff format --check

lint: setup-test ## ruff, every rule but those pyproject.toml argues away
	@echo "check: lint"
	@$(PY) -m ruff check

types: setup-test ## mypy, strict
	@echo "check: types"
	@$(PY) -m mypy

imports: setup-test ## the direction of imports
	@echo "check: imports"
	@.venv/bin/lint-imports --no-logo

bench: setup-run ## measure every claim of bench/README.md, in small
	@failed=0; $(PY) bench/startup.py || failed=1; \
	for script in drain flat latency wakeup start idle audit trajectory trajectory_push soak; do \
		echo; $(PY) -m bench.$$script --quick $(ARGS) || failed=1; \
	done; exit $$failed

soak: setup-run ## twenty minutes of jobs, kills, edits and failures
	@$(PY) -m bench.soak $(ARGS)

build: setup-test ## build wheel and sdist into dist/
	@rm -rf dist
	@$(PY) -m hatchling build -t sdist -t wheel

clean: ## remove the environment, builds and caches
	rm -rf .venv build dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

setup-run:
	@PYTHON="$(PYTHON)" .make/setup run

setup-test:
	@PYTHON="$(PYTHON)" .make/setup test
