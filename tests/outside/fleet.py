#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""fleet.py PROMETHEUS VICTORIAMETRICS CONFIG: compares a Prometheus and a VictoriaMetrics that scrape the same hosts
with the shipped configuration, by their addresses. The series that they keep, with labels and values, must be equal.
Then evaluates the shipped rules in both, over the same made-up samples of these series and some more hosts: an hour and
a half, with a restart of a host and hosts for which alerts fire. Each recorded series must be equal, and so must each
alert that fires."""
import glob, os, re, statistics, sys, tempfile, time, zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
import fleet_engines  # pylint: disable=wrong-import-position
import yaml

STEP = 30
MINUTE = 60
# The samples end well before now, because VictoriaMetrics does not show the last half minute.
LENGTH = 90 * MINUTE
# Rules are evaluated once their longest range of samples, 15 minutes, is there.
FIRST = 20 * MINUTE
TOLERANCE = 1e-9
NAMES = "pebsd_.*|process_.*|up"
# These change between the two scrapes of a second.
CHANGING = "process_|pebsd_collection_duration_seconds"
# VictoriaMetrics adds external labels when it scrapes, Prometheus when another server takes the series.
EXTERNAL = {"shard"}
wrong = []


def complain(text):
    wrong.append(text)


def key_of(labels):
    return tuple(sorted((name, value) for name, value in labels.items() if name not in EXTERNAL))


class At(fleet_engines.Engine):
    """A server that already runs."""

    def __init__(self, address):
        super().__init__(tempfile.gettempdir())
        self.port = int(address.rsplit(":", 1)[1])


def compare_scraped(prometheus, victoria):
    """Returns the series that both keep: [(labels, value)]."""
    query = f'{{__name__=~"{NAMES}"}}'
    ours = {}
    for _ in range(60):
        ours = {key_of(labels): value for labels, value in prometheus.query(query)}
        theirs = {key_of(labels): value for labels, value in victoria.query(query)}
        # Both scrape each second, so a figure that changes may differ at first.
        different = [
            key
            for key in ours.keys() | theirs.keys()
            if not re.match(CHANGING, dict(key)["__name__"])
            and (key not in ours or key not in theirs or relative(ours[key], theirs[key]) > TOLERANCE)
        ]
        if ours and not different:
            break
        time.sleep(1)
    else:
        for key in different[:10]:
            complain(f"scraped: {dict(key)}: {ours.get(key)} in Prometheus, {theirs.get(key)} in VictoriaMetrics")
    print(f"scraped: {len(ours)} series of {len({dict(key)['instance'] for key in ours})} hosts in both")
    return [(dict(key), value) for key, value in ours.items()]


def relative(one, other):
    return abs(one - other) / max(abs(one), abs(other), 1e-300)


def is_counter(name):
    return bool(re.search("_(total|bucket|count|sum)$", name))


def hosts_in_trouble(series):
    """Series of further hosts, for which alerts fire: a host's series with other values."""
    base = [(labels, value) for labels, value in series if labels["instance"] == busiest(series)]
    changes = {
        "lossy:1": lambda name, value: value * 1e6 if name == "pebsd_samples_lost_total" else value,
        "unsampled:1": lambda name, value: value + 900 if name == "pebsd_unsampled_seconds_total" else value,
        "paused:1": lambda name, value: 1 if name == "pebsd_paused" else value,
        "unattributed:1": lambda name, value: value + 1e6 if name == "pebsd_samples_unattributed_total" else value,
        "full:1": lambda name, value: {
            "pebsd_cgroups_without_slot": 2,
            "pebsd_cgroups": 99,
            "pebsd_cgroup_slots_limit": 100,
        }.get(name, value),
        "dear:1": lambda name, value: 0.05 if name == "pebsd_cost_ratio" else value,
        "refused:1": lambda name, value: 0 if name == "pebsd_config_last_reload_successful" else value,
        "still:1": lambda name, value: value,
        "down:1": lambda name, value: value,
    }
    for host, change in changes.items():
        for labels, value in base:
            yield labels | {"instance": host}, change(labels["__name__"], value)
    yield {
        "__name__": "pebsd_alert",
        "job": "pebsd",
        "instance": "refused:1",
        "rule": "slow",
        "cgroup": "/a.slice",
        "severity": "warning",
        "event": "loads",
    }, 1


def busiest(series):
    hosts = {}
    for labels, _ in series:
        hosts[labels["instance"]] = hosts.get(labels["instance"], 0) + 1
    return max(hosts, key=hosts.get)


def values_of(labels, value, steps, hosts):
    """The values of a series over the time. Counters of a cgroup grow by the same uneven steps, so that its buckets fit
    together. The steps differ by host, so that no two cgroups are equal for topk. One host restarts."""
    name, host = labels["__name__"], labels["instance"]
    if name == "up":
        return [0 if host == "down:1" and step > 20 else value for step in range(steps)]
    if not is_counter(name):
        return [value] * steps
    if host == "still:1":
        return [value] * steps
    pace = zlib.crc32(labels.get("cgroup", "").encode()) + 5 * hosts.index(host)
    result, total = [], 0
    for step in range(steps):
        total = 1 if host == "unattributed:1" and step == steps // 2 else total + 1 + (pace + 7 * step) % 89
        result.append(value * total)
    return result


def writer(series, begin, steps):
    hosts = sorted({labels["instance"] for labels, _ in series})
    made = [(labels, values_of(labels, value, steps, hosts)) for labels, value in series]

    def write(file, unit):
        for labels, values in made:
            fleet_engines.write_series(
                file, labels, [((begin + step * STEP) * unit, value) for step, value in enumerate(values)]
            )

    return write


def recording_and_alerting(files):
    records, alerts = [], []
    for path in files:
        with open(path, encoding="utf-8") as file:
            for group in yaml.safe_load(file)["groups"]:
                records += [rule for rule in group["rules"] if "record" in rule]
                alerts += [rule for rule in group["rules"] if "alert" in rule]
    return records, alerts


def compare_ranges(what, ours, theirs):
    """Returns the number of equal values, and the largest relative difference."""
    same, largest = 0, 0.0
    for key in sorted(ours.keys() | theirs.keys()):
        mine, other = ours.get(key, {}), theirs.get(key, {})
        for at in sorted(mine.keys() | other.keys()):
            if at not in mine or at not in other:
                complain(
                    f"{what} {dict(key)} at {at}: {mine.get(at)} in Prometheus, {other.get(at)} in VictoriaMetrics"
                )
                break
            difference = relative(mine[at], other[at])
            largest = max(largest, difference)
            if difference > TOLERANCE:
                complain(f"{what} {dict(key)} at {at}: {mine[at]} in Prometheus, {other[at]} in VictoriaMetrics")
                break
            same += 1
    return same, largest


def seconds(text):
    return int(text[:-1]) * {"s": 1, "m": MINUTE, "h": 60 * MINUTE}[text[-1]]


def firing(engine, rule, first, last):
    """When a rule fires, by the result of its expression in Prometheus: {labels: {time: 1}}."""
    result = {}
    for key, values in engine.query_range(rule["expr"], first, last, MINUTE).items():
        since = None
        for at in range(first, last + 1, MINUTE):
            since = None if at not in values else at if since is None else since
            if since is not None and at - since >= seconds(rule.get("for", "0s")):
                labels = {name: value for name, value in key if name != "__name__"} | rule.get("labels", {})
                result.setdefault(tuple(sorted(labels.items())), {})[at] = 1.0
    return result


def recorded(engine, selector, first, last, without):
    """Samples at exactly the moments of evaluation, without these labels: {labels: {time: value}}."""
    series = engine.query_range(f"last_over_time({selector}[{STEP}s])", first, last, MINUTE)
    return {tuple(pair for pair in key if pair[0] not in without): values for key, values in series.items()}


def compare_live(prometheus, victoria):
    """The alerts that fire now, and the names and labels of recorded series, of both servers as they run."""
    for what, query in (
        ("alerts that fire now", 'last_over_time(ALERTS{alertstate="firing"}[15s])'),
        ("series that are recorded now", '{__name__=~"(instance|service|cgroup|fleet):.*"}'),
    ):
        for _ in range(60):
            ours, theirs = (
                {
                    tuple(pair for pair in key_of(labels) if pair != ("__name__", "ALERTS") and pair[0] != "alertgroup")
                    for labels, _ in engine.query(query)
                }
                for engine in (prometheus, victoria)
            )
            if ours and ours == theirs:
                break
            time.sleep(1)
        else:
            complain(
                f"{what}: only in Prometheus {sorted(ours - theirs)[:5]}, only in VictoriaMetrics {sorted(theirs - ours)[:5]}"
            )
        print(f"{what}: {len(ours)} in both")


def tell_differences(prometheus, victoria, begin, first, last):
    """How rates differ at other moments than those of samples, and while a series is young."""
    query = "sum by (instance) (rate(pebsd_cycles_total[5m]))"

    def pairs(moment):
        ours, theirs = (
            {key_of(labels): value for labels, value in engine.query(query, moment)}
            for engine in (prometheus, victoria)
        )
        return [(value, theirs[key]) for key, value in ours.items() if value and key in theirs]

    off = [relative(*pair) for at in range(first + STEP // 2, last, 5 * MINUTE) for pair in pairs(at)]
    young = [theirs / ours for ours, theirs in pairs(begin + 2 * MINUTE)]
    print(
        f"rates between samples: {statistics.median(off):.0%} off in the median, {max(off):.0%} at the most; "
        f"after two minutes VictoriaMetrics has {statistics.median(young):.1f} times as much"
    )


def compare_rules(series, config):
    steps = LENGTH // STEP + 1
    begin = (int(time.time()) - LENGTH - 30 * MINUTE) // MINUTE * MINUTE
    first, last = begin + FIRST, begin + LENGTH
    files = sorted(glob.glob(f"{config}/*.rules.yml"))
    # The global server's rules use series that the shard records.
    files.sort(key=lambda path: os.path.basename(path) == "global.rules.yml")
    records, alerts = recording_and_alerting(files)
    write = writer(series + list(hosts_in_trouble(series)), begin, steps)
    with tempfile.TemporaryDirectory() as work:
        prometheus = fleet_engines.Prometheus(f"{work}/prometheus")
        victoria = fleet_engines.VictoriaMetrics(f"{work}/victoria")
        try:
            prometheus.load(write)
            prometheus.start()
            victoria.start()
            victoria.load(write)
            victoria.apply_rules(files, first, last, MINUTE)
            prometheus.apply_rules(records, first, last, MINUTE)
            values, largest, names = 0, 0.0, {rule["record"] for rule in records}
            for name in sorted(names):
                ours, theirs = (recorded(engine, name, first, last, ("__name__",)) for engine in (prometheus, victoria))
                same, difference = compare_ranges(name, ours, theirs)
                values, largest = values + same, max(largest, difference)
                if not ours:
                    complain(f"nothing is recorded as {name}")
            print(f"recorded: {len(names)} names, {values} values in both, which differ by at most {largest:.1e}")
            total = 0
            for rule in alerts:
                ours = firing(prometheus, rule, first, last)
                theirs = recorded(
                    victoria,
                    f'ALERTS{{alertname="{rule["alert"]}",alertstate="firing"}}',
                    first,
                    last,
                    ("__name__", "alertname", "alertstate"),
                )
                if not ours:
                    complain(f"{rule['alert']} does not fire in this test")
                total += compare_ranges(f"alert {rule['alert']}:", ours, theirs)[0]
            tell_differences(prometheus, victoria, begin, first, last)
            print(f"alerts: {len(alerts)} fire, for {total} minutes of hosts in both")
        finally:
            prometheus.stop()
            victoria.stop()


def main():
    prometheus, victoria = At(sys.argv[1]), At(sys.argv[2])
    series = compare_scraped(prometheus, victoria)
    compare_live(prometheus, victoria)
    compare_rules(series, sys.argv[3])
    if wrong:
        sys.exit("\n".join([f"{len(wrong)} differences:", *wrong[:40]]))


main()
