# Measurements. `make bench` runs BENCH_CASES BENCH_ROUNDS times. The number of the round changes the order within some
# of them.
BENCH_ROUNDS ?= 7
BENCH_RESULTS = $(BUILD)/bench
BENCH_CASES = yardstick 'events_cost ROUND' switch_cost 'tools_cost ROUND' 'as_lines.sh sample_body' \
	'as_lines.sh tick_cost' 'drain_cost 5' 'scrape_cost --json' 'as_lines.sh start_time' \
	'daemon_cost $(abspath $(OUT)/pebsd)' \
	'daemon_cost $(abspath $(OUT)/pebsd) loads cycles instructions stalls misses' \
	'scrape_peers tests/bench/peers/client.py'
BENCH_REPORT = $(OUT)/tests/bench/bench_report
# A result: the name of its file, or a commit in any form that git accepts.
bench_result = $(firstword $(wildcard $(BENCH_RESULTS)/$(1).json \
	$(BENCH_RESULTS)/$(shell git rev-parse --short=12 '$(1)^{commit}' 2>/dev/null).json) $(BENCH_RESULTS)/$(1).json)

# `make bench-NAME` runs the programs of tests/bench in RUNS_NAME, one after the other. The words after the colons are
# arguments. `make bench-list` prints the texts after ##.
ALARMS = policy_figures bursts:alarms bursts:away bursts:services bursts:steps
RUNS_alarms = $(ALARMS) ## how often rules fire without a cause, and find a step (40 minutes)
# A week has too few false alarms to compare with one a month if bursts take 30 s: two such bursts may meet.
RUNS_alarms-short = policy_figures:1:100 bursts:alarms:7:20 ## the same in one week, with short bursts (2 minutes)
RUNS_churn = churn ## 2,000 births and removals of cgroups per second, none lost (root, 1 minute)
RUNS_coverage = coverage bursts:coverage ## how often the bounds of each metric hold (some minutes)
RUNS_drain = drain_cost ## what reading new counts costs, compared with a memcpy (root)
RUNS_history = history_cost ## what the history on disk costs with 1,000 cgroups; has limits
RUNS_hot = hot_sample ## what hot tables cost per sample (root)
RUNS_memory = memory ## the engine's memory with up to 10,000 cgroups, and its budget (root)
RUNS_neighbours = neighbours_rates ## how often the right neighbour is named, and a wrong one
RUNS_offcore = offcore_read ## what off-core counts of 5,000 cgroups on 256 CPUs cost; has limits (root)
RUNS_panes = history_panes ## what the history costs the daemon with 1,000 cgroups; has limits
RUNS_policy = policy_tick ## what a collection of 10,000 cgroups costs with 50 rules
RUNS_scrape = scrape_cost ## what a scrape of 1,000 cgroups costs, and collections during 50 scrapes
RUNS_scrape-crowd = scrape_crowd ## how long scrapes take next to 1,000 slow clients (root, some minutes)
RUNS_sparse = sparse_sample ## what a sample costs alone, and among many others (root, 1 minute)
RUNS_start = start_time ## the time to the first accounted sample, with 1,000 cgroups (root)
RUNS_symbols = symbols_questions ## what names of addresses cost: requests per second, CPU time, memory
RUNS_tick = tick_cost ## what a collection costs the daemon, stage by stage (root)
RUNS_window = window_reach ## how far back the window reaches in its memory, and what that costs
RUNS_zoom = zoom_cost ## what a zoom of 1,000 samples per second costs (root, 1 minute)

# These compare pebsd with other servers.
bench-history-peer: ## the history's answers about a day, and those of a Prometheus (root, 3 minutes)
	$(call build,all $(OUT)/tests/bench/history_cost)
	@tests/bench/history_peer.py $(OUT)/tests/bench/history_cost $(OUT)/pebsd

bench-fleet: ## what a series costs in Prometheus and VictoriaMetrics (deps-outside, 8 minutes)
	$(call build,tools)
	@tests/bench/fleet_cost.py $(OUT)/tests/tools/example_scrape config/prometheus
	@tests/bench/fleet_cost.py $(OUT)/tests/tools/example_scrape config/prometheus 40 15 10
