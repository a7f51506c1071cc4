# SPDX-License-Identifier: GPL-2.0
"""For tests/outside/fleet.py and tests/bench/fleet_cost.py: starts a Prometheus and a VictoriaMetrics, gives both the
same samples, and asks them. Both are Debian's: prometheus, victoria-metrics."""
import json, os, shutil, socket, subprocess, sys, time, urllib.error, urllib.parse, urllib.request

PROGRAMS = ("prometheus", "promtool", "victoria-metrics", "vmalert")


def missing():
    """The first of the programs that is not here, or None."""
    return next((name for name in PROGRAMS if not shutil.which(name)), None)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def write_series(file, labels, samples):
    """Writes samples, [(time, value)], as the text formats of both have them."""
    text = ",".join(
        '{}="{}"'.format(name, value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n"))
        for name, value in labels.items()
        if name != "__name__"
    )
    for at, value in samples:
        file.write(f"{labels['__name__']}{{{text}}} {value!r} {at}\n")


class Engine:
    """A server with the query API of Prometheus. Its files are below `work`."""

    def __init__(self, work, *arguments):
        self.work = work
        os.makedirs(work, exist_ok=True)
        self.port = free_port()
        self.arguments = arguments
        self.process = None

    def address(self):
        return f"127.0.0.1:{self.port}"

    def get(self, path, parameters=None, data=None):
        url = f"http://{self.address()}{path}"
        if parameters:
            url += "?" + urllib.parse.urlencode(parameters)
        with urllib.request.urlopen(urllib.request.Request(url, data=data), timeout=120) as answer:
            return answer.read()

    def start(self):
        with open(f"{self.work}/log", "ab") as log:
            self.process = subprocess.Popen(self.command(), stdout=log, stderr=log)
        for _ in range(600):
            if self.process.poll() is not None:
                break
            try:
                self.get("/health" if isinstance(self, VictoriaMetrics) else "/-/ready")
                return self
            except OSError:
                time.sleep(0.1)
        with open(f"{self.work}/log", encoding="utf-8") as log:
            sys.exit(f"{self.command()[0]} does not answer: {''.join(log.readlines()[-3:])}")

    def stop(self):
        if self.process:
            self.process.terminate()
            self.process.wait()
            self.process = None

    def query(self, query, moment=None):
        """The result of an instant query: [(labels, value)]."""
        parameters = {"query": query} | ({"time": moment} if moment else {})
        result = json.loads(self.get("/api/v1/query", parameters))["data"]["result"]
        return [(series["metric"], float(series["value"][1])) for series in result]

    def query_range(self, query, start, end, step):
        """The result of a range query: {labels as a sorted tuple: {time: value}}."""
        parameters = {"query": query, "start": start, "end": end, "step": step, "nocache": 1}
        result = json.loads(self.get("/api/v1/query_range", parameters))["data"]["result"]
        return {
            tuple(sorted(series["metric"].items())): {int(at): float(value) for at, value in series["values"]}
            for series in result
        }

    def resident(self):
        """Bytes of the process in memory, without those of files that it maps."""
        with open(f"/proc/{self.process.pid}/status", encoding="utf-8") as status:
            return next(1024 * int(line.split()[1]) for line in status if line.startswith("RssAnon:"))

    def cpu_seconds(self):
        with open(f"/proc/{self.process.pid}/stat", encoding="utf-8") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Prometheus(Engine):
    def command(self):
        configuration = f"{self.work}/prometheus.yml"
        if not os.path.exists(configuration):
            with open(configuration, "w", encoding="utf-8") as file:
                file.write("global: {}\n")
        return [
            "prometheus",
            f"--config.file={configuration}",
            f"--storage.tsdb.path={self.work}/tsdb",
            "--storage.tsdb.retention.time=100y",
            f"--web.listen-address={self.address()}",
            *self.arguments,
        ]

    def load(self, write):
        """Loads samples; the server must not run. write(file, unit) writes lines whose times are seconds x `unit`."""
        path = f"{self.work}/samples"
        with open(path, "w", encoding="utf-8") as file:
            write(file, 1)
            file.write("# EOF\n")
        subprocess.run(
            ["promtool", "tsdb", "create-blocks-from", "openmetrics", "--quiet", path, f"{self.work}/tsdb"],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        os.remove(path)

    def apply_rules(self, rules, start, end, step):
        """Evaluates recording rules for a time in the past. (promtool does it too, but at moments of its own.)"""
        recorded = {}
        for rule in rules:
            if any(dict(key)["__name__"] in rule["expr"] for key in recorded):
                self.add(recorded)
                recorded = {}
            for key, values in self.query_range(rule["expr"], start, end, step).items():
                labels = dict(key) | {"__name__": rule["record"]} | rule.get("labels", {})
                recorded[tuple(sorted(labels.items()))] = values
        self.add(recorded)

    def add(self, recorded):
        def write(file, unit):
            for key, values in recorded.items():
                write_series(file, dict(key), [(at * unit, value) for at, value in values.items()])

        self.stop()
        self.load(write)
        self.start()


class VictoriaMetrics(Engine):
    def command(self):
        return [
            "victoria-metrics",
            f"-storageDataPath={self.work}/data",
            f"-httpListenAddr={self.address()}",
            "-retentionPeriod=100y",
            *self.arguments,
        ]

    def load(self, write):
        """Loads samples after the start."""
        path = f"{self.work}/samples"
        with open(path, "w", encoding="utf-8") as file:
            write(file, 1000)
        with open(path, "rb") as file:
            self.get("/api/v1/import/prometheus", data=file.read())
        os.remove(path)
        self.flush()

    def flush(self):
        self.get("/internal/force_flush")

    def apply_rules(self, files, start, end, step):
        """Evaluates the rules of the files for a time in the past, with vmalert."""
        url = f"http://{self.address()}"
        moments = [time.strftime("%FT%TZ", time.gmtime(moment)) for moment in (start, end)]
        done = subprocess.run(
            [
                "vmalert",
                f"-datasource.url={url}",
                f"-remoteWrite.url={url}",
                f"-replay.timeFrom={moments[0]}",
                f"-replay.timeTo={moments[1]}",
                f"-evaluationInterval={step}s",
                f"-datasource.queryStep={step}s",
                "-disableAlertgroupLabel",
                "-remoteWrite.flushInterval=200ms",
                "-replay.rulesDelay=2s",
                f"-httpListenAddr=127.0.0.1:{free_port()}",
                *(f"-rule={file}" for file in files),
            ],
            capture_output=True,
            text=True,
        )
        if done.returncode:
            sys.exit(f"vmalert: {done.stderr[-2000:]}")
        self.flush()
