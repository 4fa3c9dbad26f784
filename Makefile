# Everything sets itself up: python3 (3.11 or later), git and make are all it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help demo test browser lint types layers house docs pictures lab lowest newest lock table2 \
  fuzz-short fuzz mutants wheel check clean

help:
	@echo "make demo      topics of the bundled article and corpus, and a page to open"
	@echo "make test      the whole test suite"
	@echo "make house     how much code there is and how far a fit walks through it"
	@echo "make lab       the tests of the laboratory in bench/"
	@echo "make lowest    the tests with the lowest versions that are allowed"
	@echo "make newest    the tests with the newest Python and versions that are to be had"
	@echo "make fuzz-short, make fuzz HOURS=8   changed inputs on every way into the library"
	@echo "make mutants   200 small changes of the code, and which of them the tests miss"
	@echo "make lock      newer versions of the packages for development, written down in dev.lock"
	@echo "make browser   the explorer in a real Chromium, which must be installed"
	@echo "make pictures  the pictures of the docs, drawn again"
	@echo "make table2    the paper's table 2 and its page: hours, rows that are there stay"
	@echo "make check     everything that CI checks"
	@echo "make clean     remove the virtual environment and what was built"

$(VENV)/.python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "topicvec needs Python 3.11 or later; found $$($(PYTHON) --version). Try: make PYTHON=python3.12"; exit 2; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.demo: $(VENV)/.python pyproject.toml
	$(BIN)/python -m pip install --quiet -e ".[explore]"
	@touch $@

$(VENV)/.dev: $(VENV)/.python pyproject.toml dev.lock
	$(BIN)/python -m pip install --quiet -c dev.lock -e ".[dev]"
	@touch $@

lock: $(VENV)/.python
	$(BIN)/python -m pip install --quiet --upgrade --upgrade-strategy eager -e ".[dev]"
	$(BIN)/python -m pip freeze --exclude-editable > dev.lock

demo: $(VENV)/.demo
	@$(BIN)/topicvec demo

test: $(VENV)/.dev
	$(BIN)/python -m pytest

$(VENV)/.browser: $(VENV)/.python pyproject.toml
	$(BIN)/python -m pip install --quiet -e ".[browser]"
	@touch $@

browser: $(VENV)/.browser
	$(BIN)/python -m pytest -c tests/browser/pytest.ini tests/browser

lint: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/oxlint --deny-warnings src/topicvec/explore/static

types: $(VENV)/.dev
	$(BIN)/mypy

layers: $(VENV)/.dev
	$(BIN)/lint-imports

house: $(VENV)/.dev
	$(BIN)/python scripts/house.py

$(VENV)/.lab: $(VENV)/.dev bench/pyproject.toml
	$(BIN)/python -m pip install --quiet -e ./bench
	@touch $@

lab: $(VENV)/.lab
	$(BIN)/python -m pytest -c bench/pyproject.toml bench/tests bench/topicvec_bench
	$(BIN)/mypy --config-file bench/pyproject.toml

table2: $(VENV)/.lab
	$(BIN)/topicvec-bench table2 --corpus both --seeds 3 -o benchmarks/results/table2.json
	$(BIN)/python scripts/make_tables.py

lowest: $(VENV)/.python
	$(BIN)/python scripts/lowest.py

newest: $(VENV)/.python
	$(BIN)/python scripts/lowest.py --newest

fuzz-short: $(VENV)/.dev
	$(BIN)/python tests/fuzz/fuzz.py --seconds 120

HOURS ?= 8
fuzz: $(VENV)/.dev
	nice -n 19 $(BIN)/python tests/fuzz/fuzz.py --seconds $$(($(HOURS) * 3600)) --seed $$$$ --record fuzz.jsonl

mutants: $(VENV)/.dev
	nice -n 19 $(BIN)/python scripts/mutants.py --n 200 --seed 0 --record benchmarks/results/mutants.json

docs: $(VENV)/.lab
	$(BIN)/python scripts/make_reference.py --check
	$(BIN)/python scripts/make_tables.py --check
	$(BIN)/python benchmarks/paper_start.py --check
	$(BIN)/python scripts/package_picture.py --check
	$(BIN)/python scripts/run_snippets.py README.md CONTRIBUTING.md docs
	for example in examples/*.py docs/notebooks/*.py; do $(BIN)/python $$example > /dev/null || exit 1; done

pictures: $(VENV)/.dev
	$(BIN)/python scripts/make_pictures.py
	$(BIN)/python scripts/package_picture.py

wheel: $(VENV)/.dev
	$(BIN)/python scripts/check_wheel.py

check: test fuzz-short lint types layers house docs lab lowest newest wheel browser

clean:
	rm -rf $(VENV) .venv-lowest .venv-newest dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
