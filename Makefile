# `make run` and `make test` are all that a newcomer needs. `make help` lists the rest.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
ARGS ?=

# A broker that starts from compiled modules is ready in half the time.
COMPILE = $(BIN)/python -m compileall -q kafkish protocol storage raft

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | column -t -s '	'

# -- install

$(VENV)/.broker: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "kafkish needs Python 3.11 or newer; this is " + sys.version)'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q --disable-pip-version-check -c constraints.txt -e .
	touch $@

$(VENV)/.dev: $(VENV)/.broker
	$(BIN)/pip install -q --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

.PHONY: install
install: $(VENV)/.dev tools ## everything that tests and benches need

# Programs that tests compare with, and the Debian packages that hold them.
TOOLS := java:openjdk-17-jdk-headless mvn:maven kcat:kcat go:golang-go node:nodejs npm:npm

.PHONY: tools
tools:
	@for pair in $(TOOLS); do \
	  command -v $${pair%%:*} >/dev/null && continue; \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then missing="$$missing $${pair##*:}"; \
	  else echo "missing: $${pair%%:*}. Install the package $${pair##*:}; without it some tests are skipped."; fi; \
	done; \
	if [ -n "$$missing" ]; then echo "installing$$missing"; \
	  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $$missing >/dev/null; fi

# -- run

.PHONY: run
run: $(VENV)/.broker ## start a broker on 127.0.0.1:9092 with its data under ./data
	@$(COMPILE)
	$(BIN)/kafkish serve --data-dir data $(ARGS)

.PHONY: example-orders
example-orders: install ## 200,000 orders through a pipeline on Spark, checked against plain Python
	$(BIN)/python examples/orders/run.py $(ARGS)

# -- check

.PHONY: test
test: install lint ## lint, types and all tests
	@$(COMPILE)
	$(BIN)/pytest $(ARGS)

.PHONY: test-slow
test-slow: install ## tests that take minutes each: a Spark cluster
	$(BIN)/pytest -m slow $(ARGS)

.PHONY: lint
lint: $(VENV)/.dev ## style, types and the walls between the rooms
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

.PHONY: format
format: $(VENV)/.dev ## let ruff mend what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

.PHONY: fuzz
fuzz: $(VENV)/.dev ## throw bytes at the codec for FUZZ_SECONDS (60)
	$(BIN)/python -m kafkish_protocol.tests.fuzz --seconds $(or $(FUZZ_SECONDS),60) $(ARGS)

.PHONY: crash-sweep
crash-sweep: $(VENV)/.dev ## start storage from 100,000 states in which a crash can leave the disk
	nice $(BIN)/python -m kafkish_storage.tests.crash_sweep $(ARGS)

.PHONY: kill-archive
kill-archive: $(VENV)/.dev ## archive 1,000,000 records while the job is killed 10 times; each is there once
	nice $(BIN)/python -m kafkish.tests.pipelines.kill_archive $(ARGS)

.PHONY: sim-raft
sim-raft: $(VENV)/.dev ## simulate SEEDS (1000) quorums from seed FIRST (0) on; SEED=n tells the story of one
	$(BIN)/python -m kafkish_raft.tests.simulate --seeds $(or $(SEEDS),1000) --first $(or $(FIRST),0) \
	  $(if $(SEED),--seed $(SEED)) $(ARGS)

.PHONY: oracle
oracle: $(VENV)/.dev ## REQUESTS (20000) generated requests to kafkish and to Apache Kafka: the same answers
	$(BIN)/python -m kafkish.tests.diff.oracle --requests $(or $(REQUESTS),20000) --seed $(or $(SEED),1) $(ARGS)

# -- measure

.PHONY: bench
bench: $(VENV)/.dev ## kafkish beside Apache Kafka, all rows (an hour); ARGS='--rows latency' for some
	$(BIN)/python -m bench.versus $(ARGS)

.PHONY: bench-quick
bench-quick: $(VENV)/.dev ## kafkish beside Apache Kafka, the main rows (3 minutes)
	$(BIN)/python -m bench.versus --quick $(ARGS)

.PHONY: bench-growth
bench-growth: $(VENV)/.dev ## latency beside more partitions and records, on kafkish and on Apache Kafka
	$(BIN)/python -m bench.versus.growth $(ARGS)

.PHONY: profile
profile: $(VENV)/.dev ## flame graph of the broker under the rows whose names contain ROW, for SECONDS (10)
	$(BIN)/python -m bench.versus.profile $(if $(ROW),--row '$(ROW)') --seconds $(or $(SECONDS),10) $(ARGS)

.PHONY: bench-archive
bench-archive: $(VENV)/.dev ## a topic to Parquet by Spark, from kafkish and from Apache Kafka
	$(BIN)/python bench/archive.py $(ARGS)

.PHONY: bench-codec
bench-codec: $(VENV)/.dev ## the codec beside construct and the Python clients' codecs
	$(BIN)/python bench/codec.py $(ARGS)

.PHONY: bench-start
bench-start: $(VENV)/.dev ## start to first answer, and idle memory, beside Apache Kafka
	$(BIN)/python bench/start.py $(ARGS)

.PHONY: bench-storage
bench-storage: $(VENV)/.dev ## the log beside bare system calls; LOG_GB (2) is the size of the log that is read
	$(BIN)/python bench/storage.py --log-gb $(or $(LOG_GB),2) $(ARGS)
