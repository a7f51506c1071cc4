#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""fleet_cost.py EXAMPLE_SCRAPE CONFIG [HOSTS [SCRAPES [INTERVAL]]]: what a series costs in a Prometheus and in a
VictoriaMetrics. Both scrape the same invented hosts with the shipped configuration, by default every two seconds, and
as often as a shard does in an hour: memory and CPU time. Without HOSTS, then both get the same day of samples, one each
30 s: disk. The hosts have the metrics of EXAMPLE_SCRAPE, for 52 cgroups instead of three. Counters grow by random
steps. Prints JSON."""
import gzip, http.server, json, os, random, re, subprocess, sys, tempfile, threading, time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
import fleet_engines  # pylint: disable=wrong-import-position

CGROUPS = 52
# A shard scrapes a host 120 times in an hour. After two hours, Prometheus writes its samples to disk.
SCRAPES = 120
INTERVAL = int(sys.argv[5]) if len(sys.argv) > 5 else 2
DAY = 86400
STEP = 30
DISK_SERIES = 400


def line(name, unit, value):
    print(json.dumps({"group": "fleet", "name": name, "unit": unit, "value": value}), flush=True)


class Host:
    """The text of /metrics, whose counters grow with each call of grow()."""

    def __init__(self, example):
        self.lines = []
        for text in example.splitlines():
            found = re.match(r"([a-zA-Z_:]+)(\{.*\})? (\S+)$", text)
            if not found:
                continue
            name, labels, value = found[1], found[2] or "", float(found[3])
            copies = [labels]
            if 'cgroup="/system.slice/db.service"' in labels:
                copies = [labels.replace("db.service", f"service-{number}.service") for number in range(CGROUPS)]
            elif 'cgroup="/' in labels:
                continue
            self.lines += [[name, copy, value, value] for copy in copies]
        random.seed(1)

    def grow(self):
        # All counters of a cgroup grow by the same share, so that its buckets fit together.
        paces = {}
        for entry in self.lines:
            name, labels, start, _ = entry
            if re.search("_(total|bucket|count|sum)$", name):
                cgroup = re.search('cgroup="[^"]*"', labels)
                pace = paces.setdefault(cgroup and cgroup[0], random.randrange(1, 100))
                entry[3] += int(start * pace / 100) if start == int(start) else start * pace / 100

    def text(self):
        return "".join(f"{name}{labels} {value!r}\n" for name, labels, _, value in self.lines).encode()


def serve(host):
    """Serves the host on all addresses of loopback, with gzip. Returns the port."""
    state = {"turn": 0, "body": b""}
    lock = threading.Lock()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):  # pylint: disable=invalid-name
            with lock:
                if state["turn"] != int(time.time() / INTERVAL):
                    state["turn"] = int(time.time() / INTERVAL)
                    host.grow()
                    state["body"] = gzip.compress(host.text(), 1)
                body = state["body"]
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.send_header("Content-Encoding", "gzip")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):  # pylint: disable=arguments-differ
            pass

    class Server(http.server.ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_):  # pylint: disable=arguments-differ
            """A scrape that took too long was ended."""

    server = Server(("0.0.0.0", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


def configure(work, config, port, hosts):
    """The shipped configuration for one shard, with more scrapes and without rules."""
    with open(f"{work}/hosts.json", "w", encoding="utf-8") as file:
        json.dump([{"targets": [f"127.0.{number // 200}.{number % 200 + 1}:{port}" for number in range(hosts)]}], file)
    with open(f"{config}/prometheus.yml", encoding="utf-8") as file:
        text = file.read()
    text = re.sub(r"_interval: .*", f"_interval: {INTERVAL}s", text).replace(
        "/etc/prometheus/pebsd-hosts.json", f"{work}/hosts.json"
    )
    text = (
        re.sub(r"modulus: 40.*", "modulus: 1", text)
        .replace("  - pebsd.rules.yml\n", "")
        .replace("  - alerts.rules.yml\n", "")
    )
    os.makedirs(f"{work}/prometheus")
    path = f"{work}/prometheus/prometheus.yml"
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def measure_memory(engines, seconds):
    before = {name: (engine.resident(), engine.cpu_seconds()) for name, engine in engines.items()}
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(1)
    for name, engine in engines.items():
        resident, cpu = engine.resident(), engine.cpu_seconds()
        series = engine.query(f'sum(max_over_time(scrape_samples_post_metric_relabeling{{job="pebsd"}}[{seconds}s]))')[
            0
        ][1]
        scrapes = engine.query(f'sum(count_over_time(scrape_samples_scraped{{job="pebsd"}}[{seconds}s]))')[0][1]
        line(f"{name}: scrapes", "", int(scrapes))
        samples = engine.query(f'sum(sum_over_time(scrape_samples_scraped{{job="pebsd"}}[{seconds}s]))')[0][1]
        line(f"{name}: kept series", "", int(series))
        line(f"{name}: memory", "MB", round(resident / 1e6, 1))
        line(f"{name}: memory a series, with the server's own", "bytes", round(resident / series))
        line(f"{name}: memory of the server before its first series", "MB", round(before[name][0] / 1e6, 1))
        line(f"{name}: CPU time for a million scraped samples", "s", round((cpu - before[name][1]) / samples * 1e6, 2))


def size_of(folder):
    return sum(os.lstat(os.path.join(at, name)).st_blocks * 512 for at, _, names in os.walk(folder) for name in names)


def measure_disk(work, host):
    """A day of DISK_SERIES series, spread evenly over the host's."""
    chosen = [entry for entry in host.lines if re.search("_(total|bucket|count|sum)$", entry[0])]
    chosen = chosen[:: max(1, len(chosen) // DISK_SERIES)][:DISK_SERIES]
    begin = (int(time.time()) - DAY) // 7200 * 7200 - DAY
    history = []
    for at in range(begin, begin + DAY, STEP):
        host.grow()
        history.append((at, [entry[3] for entry in chosen]))

    def write(file, unit):
        for number, (name, labels, _, _) in enumerate(chosen):
            for at, values in history:
                file.write(f"{name}{labels} {values[number]!r} {at * unit}\n")

    samples = len(chosen) * len(history)
    prometheus, victoria = (
        kind(f"{work}/disk-{kind.__name__}") for kind in (fleet_engines.Prometheus, fleet_engines.VictoriaMetrics)
    )
    prometheus.load(write)
    try:
        victoria.start()
        empty = size_of(f"{victoria.work}/data")
        victoria.load(write)
        victoria.get("/internal/force_merge")
        time.sleep(5)
        for _ in range(60):
            if victoria.query('sum(vm_active_merges)') in ([], [({}, 0.0)]):
                break
            time.sleep(1)
    finally:
        victoria.stop()
    for name, size in (
        ("prometheus", size_of(f"{prometheus.work}/tsdb")),
        ("victoria-metrics", size_of(f"{victoria.work}/data") - empty),
    ):
        line(f"{name}: disk for a day of a series, a sample each {STEP} s", "bytes", round(size / len(chosen)))
        line(f"{name}: disk a sample", "bytes", round(size / samples, 2))


def main():
    lacks = fleet_engines.missing()
    if lacks:
        sys.exit(f"fleet_cost: {lacks} is not here (Debian: prometheus, victoria-metrics)")
    hosts = int(sys.argv[3]) if len(sys.argv) > 3 else 10
    seconds = INTERVAL * (int(sys.argv[4]) if len(sys.argv) > 4 else SCRAPES)
    host = Host(subprocess.run([sys.argv[1]], check=True, capture_output=True, text=True).stdout)
    with tempfile.TemporaryDirectory() as work:
        path = configure(work, os.path.abspath(sys.argv[2]), serve(host), hosts)
        engines = {
            "prometheus": fleet_engines.Prometheus(f"{work}/prometheus"),
            "victoria-metrics": fleet_engines.VictoriaMetrics(
                f"{work}/victoria",
                f"-promscrape.config={path}",
                "-promscrape.config.strictParse=false",
                "-search.latencyOffset=1s",
            ),
        }
        line("hosts", "", hosts)
        line("series that a host serves", "", len(host.lines))
        try:
            for engine in engines.values():
                engine.start()
            measure_memory(engines, seconds)
        finally:
            for engine in engines.values():
                engine.stop()
        if len(sys.argv) <= 3:
            measure_disk(work, host)


main()
