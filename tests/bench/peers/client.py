# SPDX-License-Identifier: GPL-2.0
"""A peer of pebsd's endpoint: Prometheus' own client for Python, with PORT and SERIES as arguments.

It serves SERIES series of counters with a cgroup and a source, as an exporter written with this client would.
"""
import sys
import threading

from prometheus_client import Counter, start_http_server

port, series = int(sys.argv[1]), int(sys.argv[2])
counter = Counter("samples", "Sampled accesses.", ["cgroup", "source"])
sources = ["l1", "l2", "l3", "local_dram", "remote_dram"]
for i in range(series // (2 * len(sources))):  # each has a second one, "samples_created"
    for source in sources:
        counter.labels(f"/kubepods.slice/kubepods-pod{i}.slice/container-{i}.scope", source).inc(i)
start_http_server(port, addr="127.0.0.1")
threading.Event().wait()
