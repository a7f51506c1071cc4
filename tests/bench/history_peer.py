#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""history_peer.py HISTORY_COST PEBSD [CGROUPS]: questions about a day at the control socket of a pebsd whose history
history_cost has made, and similar ones of a Prometheus that scraped /metrics once a minute in that day. A question is
asked once and then with a day that is 10 s earlier, because pebsd keeps answers. Prometheus gets its series from
promtool, which writes them as blocks (tsdb create-blocks-from openmetrics). Each cgroup has as many series of the load
event as /metrics has for a cgroup with four data sources. Prints JSON: the least time of five, because the first answer
may find cold caches, and the processor time of pebsd and its keeper for it. Fails if a claim of pebsd-history(7) does
not hold."""
import json, os, random, socket, subprocess, sys, tempfile, time, urllib.parse, urllib.request

END = 1785024000
HISTORY_HOURS = 26
# The range neither begins nor ends with a long span.
HISTORY_END = END + HISTORY_HOURS * 3600 - 310
DAY = 86400
HOUR = 3600
MINUTE = 60
ASKED = 5
# For 1,000 cgroups and less.
CLAIM_ANSWER_MS = 100
ONE = "/fixture/7"
# Upper edges of the buckets of /metrics.
EDGES = [str(float(1 << power)) for power in range(4, 14)] + ["+Inf"]
SOURCES = ("l1", "lfb", "l3", "local_dram")


def line(name, unit, value):
    print(json.dumps({"group": "history beside prometheus", "name": name, "unit": unit, "value": value}))


def families():
    """The counters of a cgroup: family, further label, what a minute adds."""
    for place, edge in enumerate(EDGES):
        yield "pebsd_latency_cycles_bucket", f',le="{edge}"', 60 * (place + 1)
    for source in SOURCES:
        yield "pebsd_source_samples", f',source="{source}"', 200
    for source in SOURCES:
        yield "pebsd_source_latency_cycles", f',source="{source}"', 40000
    for family in ("weighted_samples", "weighted_latency_cycles", "hitm_samples"):
        yield f"pebsd_{family}", "", 10000


def write_series(path, cgroups):
    """OpenMetrics wants the samples of a family together."""
    random.seed(1)
    kinds = {}
    for family, label, step in families():
        kinds.setdefault(family, []).append((label, step))
    with open(path, "w", encoding="utf-8") as file:
        for family, parts in kinds.items():
            name = family.removesuffix("_bucket")
            is_histogram = name != family
            file.write(f"# TYPE {name} {'histogram' if is_histogram else 'counter'}\n")
            for cgroup in range(cgroups):
                for label, step in parts:
                    value = 0
                    key = (
                        f'{family}{"" if is_histogram else "_total"}{{cgroup="/fixture/{cgroup}",event="loads"{label}}}'
                    )
                    for moment in range(END - DAY, END + 1, MINUTE):
                        file.write(f"{key} {value} {moment}\n")
                        value += step + random.randrange(step)
        file.write("# EOF\n")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def ask(port, path, parameters):
    """The time of the answer in ms, and its number of series."""
    url = f"http://127.0.0.1:{port}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
    before = time.monotonic()
    with urllib.request.urlopen(url, timeout=120) as answer:
        text = answer.read()
    took = 1000 * (time.monotonic() - before)
    result = json.loads(text)["data"]["result"]
    if not result:
        sys.exit(f"history_peer: no answer to {parameters}")
    return took, result


def least(port, path, parameters):
    return min(ask(port, path, parameters)[0] for _ in range(ASKED))


def serve(work, port):
    with open(f"{work}/prometheus.yml", "w", encoding="utf-8") as file:
        file.write("global: {}\n")
    server = subprocess.Popen(
        [
            "prometheus",
            f"--config.file={work}/prometheus.yml",
            f"--storage.tsdb.path={work}/tsdb",
            "--storage.tsdb.retention.time=100y",
            f"--web.listen-address=127.0.0.1:{port}",
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    for _ in range(600):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/-/ready", timeout=5).close()
            return server
        except OSError:
            time.sleep(0.1)
    server.kill()
    sys.exit("history_peer: Prometheus does not answer")


def varlink(path, method, parameters):
    """The reply to one call."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(60)
        connection.connect(path)
        connection.sendall(json.dumps({"method": f"io.pebsd.{method}", "parameters": parameters}).encode() + b"\0")
        text = b""
        while not text.endswith(b"\0"):
            part = connection.recv(1 << 20)
            if not part:
                sys.exit(f"history_peer: no reply to {method}")
            text += part
    reply = json.loads(text[:-1])
    if "error" in reply:
        sys.exit(f"history_peer: {method}: {reply}")
    return reply["parameters"]


def own_questions(end):
    """The questions about the day before a moment: a name, a method and its parameters."""

    def part(begin, until):
        return {key: time.strftime("%FT%TZ", time.gmtime(at)) for key, at in (("since", begin), ("until", until))}

    day, halves = part(end - DAY, end), (part(end - DAY, end - DAY // 2), part(end - DAY // 2, end))
    return (
        ("a day of all cgroups", "GetTop", day),
        ("a day of one cgroup", "GetCgroup", day | {"cgroup": ONE, "trend": 60}),
        ("a day of the sum of all in hours", "GetHistory", day | {"bins": 24}),
        ("a day of the sum of all in 60 bins", "GetHistory", day | {"bins": 60}),
        ("a day of one cgroup by the minute", "GetHistory", day | {"bins": 1440, "cgroup": ONE}),
        ("two halves of a day compared, all cgroups", "Compare", dict(zip("ab", halves))),
        (
            "two halves of a day compared, one cgroup",
            "Compare",
            {side: half | {"cgroup": ONE} for side, half in zip("ab", halves)},
        ),
        ("the status of a day", "GetStatus", day),
    )


def processor_ms(daemon):
    """The processor time of pebsd and its children so far."""
    total = 0
    for pid in [daemon, *map(int, open(f"/proc/{daemon}/task/{daemon}/children", encoding="ascii").read().split())]:
        with open(f"/proc/{pid}/schedstat", encoding="ascii") as file:
            total += int(file.read().split()[0]) / 1e6
    return total


def own_times(path, daemon):
    """For each question, the least time of an answer with all its pages, and the least processor time."""
    times = {}
    for asked in range(ASKED):
        for name, method, parameters in own_questions(HISTORY_END - 10 * asked):
            spent, before, following = processor_ms(daemon), time.monotonic(), {}
            while following is not None:
                reply = varlink(path, method, parameters | following)
                following = {"offset": reply["next"]} if "next" in reply else None
            took = (1000 * (time.monotonic() - before), processor_ms(daemon) - spent)
            times[name] = tuple(map(min, times.get(name, took), took))
    return times


def own_answers(history_cost, pebsd, cgroups):
    """The times of pebsd's answers, and the size of its history."""
    with tempfile.TemporaryDirectory() as work:
        os.mkdir(f"{work}/state")
        made = subprocess.run(
            [history_cost, str(cgroups), str(HISTORY_HOURS), "256", f"{work}/state"],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        with open(f"{work}/pebsd.conf", "w", encoding="utf-8") as file:
            file.write("[sampling]\norigin = model\n[history]\nkeep = yes\nage = 3650d\n")
        path = f"{work}/control.sock"
        daemon = subprocess.Popen(
            [pebsd, "--config", f"{work}/pebsd.conf", "--socket", path, "--listen", f"127.0.0.1:{free_port()}"],
            env=os.environ | {"STATE_DIRECTORY": f"{work}/state"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            for _ in range(600):
                if os.path.exists(path):
                    break
                time.sleep(0.1)
            own = own_times(path, daemon.pid)
        finally:
            daemon.terminate()
            daemon.wait()
    figures = [json.loads(text) for text in made.splitlines()]
    return own, next(figure["value"] for figure in figures if figure["name"] == "size")


def size_of(folder):
    return sum(os.path.getsize(os.path.join(at, name)) for at, _, names in os.walk(folder) for name in names)


def main():
    cgroups = int(sys.argv[3]) if len(sys.argv) > 3 else 1000
    own, own_size = own_answers(sys.argv[1], sys.argv[2], cgroups)
    with tempfile.TemporaryDirectory() as work:
        write_series(f"{work}/series", cgroups)
        subprocess.run(
            [
                "promtool",
                "tsdb",
                "create-blocks-from",
                "openmetrics",
                "--quiet",
                "--max-block-duration=24h",
                f"{work}/series",
                f"{work}/tsdb",
            ],
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        os.remove(f"{work}/series")
        port = free_port()
        server = serve(work, port)
        try:
            day = sum(
                least(port, "query", {"time": END, "query": query})
                for query in (
                    "histogram_quantile(0.99, sum by (cgroup, le) (increase(pebsd_latency_cycles_bucket[1d])))",
                    "sum by (cgroup, source) (increase(pebsd_source_latency_cycles_total[1d]))",
                    "sum by (cgroup, source) (increase(pebsd_source_samples_total[1d]))",
                )
            )
            hours = least(
                port,
                "query_range",
                {
                    "start": END - DAY + HOUR,
                    "end": END,
                    "step": HOUR,
                    "query": "histogram_quantile(0.99, sum by (le) (increase(pebsd_latency_cycles_bucket[1h])))",
                },
            )
            single = least(
                port,
                "query_range",
                {
                    "start": END - DAY,
                    "end": END,
                    "step": MINUTE,
                    "query": 'histogram_quantile(0.99, rate(pebsd_latency_cycles_bucket{cgroup="' + ONE + '"}[2m]))',
                },
            )
            size = size_of(f"{work}/tsdb")
        finally:
            server.terminate()
            server.wait()
    line("cgroups", "", cgroups)
    for name, (took, spent) in own.items():
        line(f"pebsd: {name}", "ms", took)
        line(f"pebsd: {name}, processor time", "ms", spent)
    line("prometheus: a day of all cgroups, p99 and sources", "ms", day)
    line("prometheus: a day of the sum of all in hours, p99", "ms", hours)
    line("prometheus: a day of one cgroup by the minute, p99", "ms", single)
    line("pebsd: size of a day", "MiB", own_size)
    line("prometheus: size of a day, a scrape a minute", "MiB", size / 2**20)
    if max(took for took, _ in own.values()) > CLAIM_ANSWER_MS * max(1, cgroups / 1000):
        sys.exit("history_peer: a question about a day takes longer than claimed")


main()
