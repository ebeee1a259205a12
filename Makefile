# ragrelay's commands; `make help` lists them. Only Python 3.11 to 3.13, a C++ compiler, libnuma and a package index are assumed.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

CORES ?= 2
VENV ?= .venv
# Interpreters to try for a new environment, the first that serves: the tests run with 3.11.
PYTHON ?= python3.11 python3.12 python3.13 python3
UV ?= uv

# cpu or cuda; where nothing is said, what the environment was made for.
ACCELERATOR ?= $(or $(shell cat $(VENV)/.accelerator 2>/dev/null),cpu)
ifeq ($(filter $(ACCELERATOR),cpu cuda),)
$(error ACCELERATOR is '$(ACCELERATOR)'; expected cpu or cuda)
endif
LOCKS := $(wildcard requirements/$(ACCELERATOR).txt requirements/$(ACCELERATOR)-torch.txt)
# The environment is reused while its locks are unchanged and it is where it was made, as its programs name that place:
# a hash of both is in the stamp's name.
STAMP := $(VENV)/.lock-$(ACCELERATOR)-$(shell { cat $(LOCKS); echo $(abspath $(VENV)); } | sha256sum | cut -c1-16)

SITE_VENV ?= .venv-docs
SITE_STAMP := $(SITE_VENV)/.lock-$(shell cat requirements/docs.txt 2>/dev/null | sha256sum | cut -c1-16)

export PATH := $(abspath $(VENV))/bin:$(PATH)
# Without bytecode on disk every job would compile torch and vLLM again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup demo debug check test faults lint format docs gallery bench bench-compare lock clean

help:  ## List the commands
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

setup: $(STAMP)  ## Create the environment in .venv from its lock files: make setup [ACCELERATOR=cuda] [PYTHON=python3.11]

demo: $(STAMP)  ## Run the demo study with a real language model (135 million parameters): make demo [CORES=2]
	@snakemake --cores $(CORES) --configfile config/demo_real.yaml
	@echo "The report: results/demo_real/report/index.html"

# Snakemake keeps the job's script, which runs again and stops at its first line.
debug: $(STAMP)  ## Regenerate a file and step through its job in pdb: make debug TARGET=results/... [CONFIGFILE=my-study.yaml]
	@test -n "$(TARGET)" || { echo "ragrelay: error: TARGET: found nothing; expected a result file, such as results/demo/demo/collection/qrels.parquet"; exit 1; }
	@begun=$$(mktemp); snakemake --cores 1 $(addprefix --configfile ,$(CONFIGFILE)) --skip-script-cleanup --force "$(TARGET)" || true; \
	script=$$(find .snakemake/scripts -name '*.py' -newer "$$begun" | head -1); rm "$$begun"; \
	test -n "$$script" || { echo "ragrelay: error: $(TARGET): found no job script; see the messages above"; exit 1; }; sed -i '/snakemake preamble end/a breakpoint()' "$$script"; python "$$script"

# What needs more than the package itself is left out: markers, pyproject.toml.
NEEDS := browser or cluster or engine or full or page or process or simulation or study
check: $(STAMP)  ## Run the linters, type checks, a dry run and the unit tests that need no model, program or simulation: make check
	@ruff check --quiet .
	@ruff format --quiet --check .
	@snakefmt --check $(SNAKEFILES)
	@mypy
	@OMP_NUM_THREADS=1 OMP_WAIT_POLICY=passive pytest -q -n $(CORES) --dist loadfile -m "not ($(NEEDS))" tests/unit tests/annexes $(PYTEST)
	@snakemake --cores 1 --dry-run --quiet all

# Workers take file after file, long ones first (tests/conftest.py). One more than cores: the cluster's tests mostly wait.
RUN := OMP_NUM_THREADS=1 OMP_WAIT_POLICY=passive pytest -n $$(($(CORES) + 1)) --no-loadscope-reorder
test: $(STAMP)  ## Run the tests of make check, plus one each of a full study, a page, a cluster and a failure: make test
	@$(RUN) --dist loadfile -m "(gate and not full) or not ($(NEEDS))" $(PYTEST)

# With a seed or rules, kills alone: KILLED says what they and KILLS are. Its tests take longest, so workers share them.
KILLED := tests/faults/test_killed_rules.py
faults: $(STAMP)  ## Run all other tests, before a release: engines, kills, SLURM, simulations; some need root and SLURM's packages
ifneq ($(SEED)$(RULES)$(KILLS),)
	@pytest -m full -s $(KILLED) $(PYTEST)
else
	@ends=0; run() { $(RUN) "$$@" $(PYTEST) || [ $$? -eq 5 ] || ends=1; }; \
	run --dist loadfile -m "($(NEEDS)) and (full or not gate)" --ignore $(KILLED); run --dist worksteal -m full $(KILLED); exit $$ends
endif

# Not the folder itself, which may have modules of the reader's own.
CODE := benchmarks docs requirements resources setup.py tests tools workflow

SNAKEFILES := Snakefile workflow/Snakefile rules workflow/scripts

lint: $(STAMP)  ## Check style and types, and lint the workflow
	ruff check $(CODE)
	ruff format --check $(CODE)
	snakefmt --check $(SNAKEFILES)
	mypy
	snakemake --lint

format: $(STAMP)  ## Format Python and Snakemake files
	ruff check --fix --exit-zero .
	ruff format .
	snakefmt $(SNAKEFILES)

docs: $(STAMP) $(SITE_STAMP)  ## Regenerate the pages written from code, then build the site in site/; a broken link is an error
	python tools/config_reference.py
	python tools/bad_input.py
	python tools/thinking_models.py
	python tools/terms.py
	python tools/result_files.py
	python tools/rule_list.py
	python tools/public_names.py
	$(if $(wildcard tools/predictors.py),python tools/predictors.py)
	python tools/error_rates.py
	$(if $(wildcard tools/people_rates.py),python tools/people_rates.py)
	$(if $(wildcard tools/thought_rates.py),python tools/thought_rates.py)
	$(if $(wildcard tools/round_rates.py),python tools/round_rates.py)
	$(if $(wildcard tools/battle_rates.py),python tools/battle_rates.py)
	$(if $(wildcard tools/measure_rates.py),python tools/measure_rates.py)
	python tools/papers.py
	python -m tools.demo_page
	python -m tools.what_p_rewards
	$(if $(wildcard tools/judge_worth.py),python -m tools.judge_worth)
	python tools/site.py .site-source
	$(SITE_VENV)/bin/mkdocs build --strict --quiet

gallery: $(STAMP)  ## Run the studies in docs/gallery.md; `make docs` then adds their pages to the site
	python -m tools.gallery $(CORES)

# The site's generator has an environment of its own, so that the other does not grow.
$(SITE_STAMP): | $(STAMP)
	rm -rf $(SITE_VENV)
	python -m venv $(SITE_VENV)
	$(SITE_VENV)/bin/pip install --quiet --require-hashes -r requirements/docs.txt
	touch $@

# Every script in benchmarks/ writes one JSON. These run only when asked for: simulations and a check of them; whole studies
# (erag_labels, llm_calls, plan_truth, study_scale); main_process, whose jobs wait for minutes; and gpu, which needs one and goes
# in pieces: the same command again goes on until its JSON is there.
SIMULATIONS := acu_errors battle_errors cluster_errors early_words interval_coverage intervention_errors judge_intervals measure_errors panel_errors people_errors prediction_errors rho_errors ridge_errors round_errors thought_errors verdict_errors verdict_power verdict_signs word_errors
LONG := erag_labels llm_calls main_process plan_truth study_scale gpu
BENCH ?= $(filter-out $(SIMULATIONS) $(LONG),$(patsubst benchmarks/%.py,%,$(wildcard benchmarks/*.py)))
bench: $(STAMP)  ## Run the benchmarks and regenerate docs/reference/performance.md: make bench [BENCH="dag retrieval"] [BENCH_FLAGS="--rounds 3"]
	@mkdir -p benchmarks/results
	@for name in $(BENCH); do \
	  echo "== $$name"; \
	  PYTHONPATH=workflow/scripts:. python benchmarks/$$name.py $(BENCH_FLAGS) --out benchmarks/results/$$name.json; \
	done
	python tools/performance.py

bench-compare: $(STAMP)  ## Print benchmark figures that are at least 10% worse than in the same processor's last record
	@python -m tools.bench_compare

# Needs uv. A lock's pins are kept where they still fit; UV_FLAGS=--upgrade takes the newest.
# For torch's CPU build, uv must know PyTorch's CPU wheels, e.g. by UV_FLAGS="--find-links FOLDER".
# At the end, files for every Python that `make setup` accepts must exist, with the hashes of the locks.
lock:  ## Generate requirements/*.txt from requirements/*.in
	cd requirements; \
	compile() { $(UV) pip compile --quiet --no-annotate --generate-hashes --custom-compile-command "make lock" --python-version 3.11 $(UV_FLAGS) "$$@" > /dev/null; }; \
	compile --overrides overrides.txt --overrides cpu-overrides.txt --no-emit-package torch cpu.in -o cpu.txt; \
	sed -i '2a # torch is not here but in cpu-torch.txt, without hashes.' cpu.txt; \
	compile --overrides overrides.txt cuda.in -o cuda.txt; \
	sed -i 's/^torch==/torch===/' cuda.txt; \
	compile docs.in -o docs.txt; \
	for lock in cpu cuda docs; do for version in 3.11 3.12 3.13; do \
	  $(UV) pip install --quiet --dry-run --no-deps --require-hashes --python-version $$version --target "$$(mktemp -du)" -r $$lock.txt; \
	done; done

clean:  ## Remove the demos' results and tool caches; never cache/, other studies or .venv
	rm -rf results/demo results/demo_real logs/demo logs/demo_real .pytest_cache .mypy_cache .ruff_cache
	find workflow tests tools resources benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

# The base interpreter is asked for, since the one found may be that of the very environment that is made again.
$(STAMP):
	@python=""; \
	for candidate in $(PYTHON); do \
	  if "$$candidate" -c 'import ensurepip, sys, venv; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null; then \
	    python=$$("$$candidate" -c 'import sys; print(sys._base_executable)'); break; \
	  fi; \
	done; \
	if [ -z "$$python" ]; then \
	  echo "No Python 3.11 to 3.13 with venv and pip among: $(PYTHON). Install one (on Debian: python3 and python3-venv) or name it: make setup PYTHON=..." >&2; exit 1; \
	fi; \
	"$$python" requirements/make_environment.py $(VENV) $(ACCELERATOR); \
	touch $@
