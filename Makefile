# make install   the environment, in .venv
# make demo      build, train and measure a small judge, end to end (14 minutes on two cores)
# make test      the tests
# make lint      ruff and mypy
# Each needs nothing before it but Python 3.11 or newer, pip and make.

PYTHON ?= python3
VENV := .venv
STAMP := $(VENV)/.installed

.PHONY: install demo test lint

install: $(STAMP)

$(STAMP): requirements/cpu.txt pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --requirement requirements/cpu.txt
	$(VENV)/bin/python -m pip install --quiet --no-deps --editable .
	touch $(STAMP)

demo: install
	$(VENV)/bin/judge demo

test: install
	$(VENV)/bin/python -m pytest

lint: install
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
