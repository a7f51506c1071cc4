#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Reads dashboards of Grafana, and rules of Prometheus, as their users would, and asks a running Prometheus.

    dashboards.py SERVER REAL METRICS EXAMPLE FILE...

In each dashboard (.json), each variable must find a value. Each expression must parse, select series that exist, and
have a result. The labels that legends, columns and links name must be among the labels of the result. Each rule (.yml)
must select series that exist.

REAL is the instance of a real pebsd, and METRICS is a file with a scrape of it. EXAMPLE is an instance that also serves
metrics which this pebsd does not have. CONTAINER_LABELS in the environment are labels that metrics may have. Waits at
most PATIENCE seconds in all for series that do not exist yet. The time of the queries themselves, which may be long on
a busy machine, does not count. Prints one complaint per line, and exits with 1 if there is any.
"""
import json
import os
import re
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

import yaml

PATIENCE_SECONDS = float(os.environ.get("PATIENCE", "60"))
LOOK_EVERY_SECONDS = 0.5
INTERVALS = {"__rate_interval": "10s", "__range": "30s", "__interval": "5s"}
GROUPING = ("by", "without", "on", "ignoring", "group_left", "group_right")
OPERATORS = ("and", "or", "unless", "bool", "offset", "atan2", "inf", "nan")
TOKEN = re.compile(
    r"""\s+ | (?P<string>"(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*' | `[^`]*`)
    | (?P<range>\[[^]]*\]) | (?P<number>[0-9][0-9a-z.]*) | (?P<word>[a-zA-Z_:][a-zA-Z0-9_:]*) | (?P<other>.)""",
    re.X,
)

complaints = []


def complain(where, text):
    complaints.append(f"{where}: {text}")


class Server:
    def __init__(self, address):
        self.address = address
        self.labels = {}  # of each metric that was asked for
        self.patience = PATIENCE_SECONDS  # what is left of it

    def ask(self, path, **parameters):
        url = f"http://{self.address}/api/v1/{path}?{urllib.parse.urlencode(parameters, doseq=True)}"
        try:
            with urllib.request.urlopen(url, timeout=60) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            raise ValueError(json.load(error)["error"]) from error

    def evaluate(self, expression):
        """The labels of each series in the result. Raises ValueError if the expression does not parse."""
        answer = self.ask("query", query=expression)
        return [one["metric"] for one in answer["result"]] if answer["resultType"] == "vector" else [{}]

    def evaluate_in_time(self, expression, wanted=None):
        """The same, but waits for a result, because the first scrapes and rules need time. With `wanted`, which is a
        (label, value), waits for a series that has it, because hosts are not scraped at the same time."""
        while True:
            made = self.evaluate(expression)
            there = made if wanted is None else [one for one in made if one.get(wanted[0]) == wanted[1]]
            if there or self.patience <= 0:
                return made
            time.sleep(LOOK_EVERY_SECONDS)
            self.patience -= LOOK_EVERY_SECONDS

    def labels_of(self, metric):
        """All labels of the metric's series. Empty if there is no such metric."""
        if metric not in self.labels:
            self.evaluate_in_time(metric)
            self.labels[metric] = set().union(*(set(one) for one in self.ask("series", **{"match[]": metric})))
        return self.labels[metric]


def read_expression(expression):
    """The selectors of an expression, as (metric, text with its matchers, labels in the matchers); the labels that the
    expression groups by; and the labels that it leaves out."""
    tokens = [(one.lastgroup, one.group(one.lastgroup)) for one in TOKEN.finditer(expression) if one.lastgroup]
    selectors, grouped, left_out = [], set(), set()
    i = 0
    while i < len(tokens):
        kind, text = tokens[i]
        following = tokens[i + 1][1] if i + 1 < len(tokens) else ""
        i += 1
        if kind != "word" or text.lower() in OPERATORS:
            continue
        if text in GROUPING:
            if following == "(":
                end = tokens.index(("other", ")"), i)
                (left_out if text == "without" else grouped).update(
                    word for kind, word in tokens[i:end] if kind == "word"
                )
                i = end + 1
        elif following == "{":
            end = tokens.index(("other", "}"), i)
            inside = tokens[i + 1 : end]
            matched = {word for kind, word in inside if kind == "word"}
            selectors.append((text, text + "{" + "".join(word for _, word in inside) + "}", matched))
            i = end + 1
        elif following not in ("(", "by", "without"):
            selectors.append((text, text, set()))
    return selectors, grouped, left_out


def check_selectors(server, where, expression):
    """Checks that each metric of the expression exists, with the labels and values that the expression uses."""
    selectors, grouped, left_out = read_expression(expression)
    known = set()
    if not selectors:
        complain(where, f"no metric is found in {expression}")
    for metric, text, matched in selectors:
        labels = server.labels_of(metric)
        if not labels:
            complain(where, f"there is no metric {metric}")
            continue
        known |= labels
        for label in sorted(matched - labels):
            complain(where, f"{metric} has no label {label}")
        if not matched - labels and not server.evaluate_in_time(text):
            complain(where, f"nothing is selected by {text}")
    # The model's cgroups have no labels of containers, so `without` may name labels that no metric has.
    for label in sorted((grouped | left_out - set(os.environ["CONTAINER_LABELS"].split())) - known):
        complain(where, f"no metric of it has the label {label}: {expression}")


def substitute(text, values):
    for name, value in sorted((INTERVALS | values).items(), reverse=True):
        text = re.sub(rf"\$(?:{name}\b|{{{name}(?::[a-z]+)?}})", lambda _: value, text)
    return text


class Dashboard:
    def __init__(self, path, server, instances, served):
        self.name = path.rsplit("/", 1)[-1]
        self.server, self.served = server, served
        self.real, self.example = instances
        with open(path) as file:
            self.text = file.read()
        self.board = json.loads(self.text)
        self.variables = {one["name"]: one for one in self.board["templating"]["list"]}

    def choose(self, instance):
        """A value per variable: this instance, the event loads, else all values if offered, else the first."""
        values = {}
        for name, variable in self.variables.items():
            if variable["type"] == "datasource":
                values[name] = "prometheus"
                continue
            selector, label = re.fullmatch(r"label_values\((.*), *(\w+)\)", variable["definition"]).groups()
            selector = substitute(selector, values)
            check_selectors(self.server, f"{self.name}: variable {name}", selector)
            wanted = instance if name == "instance" else "loads" if name == "event" else None
            made = self.server.evaluate_in_time(selector, (label, wanted) if wanted else None)
            found = sorted({one.get(label, "") for one in made})
            if variable["query"]["query"] != variable["definition"]:
                complain(self.name, f"the variable {name} has two queries")
            if not found or found == [""]:
                complain(self.name, f"the variable {name} finds no {label}: {selector}")
            if wanted and wanted not in found:
                complain(self.name, f"the variable {name} does not find {wanted}")
            values[name] = wanted or (variable["allValue"] if variable.get("includeAll") else (found or [""])[0])
        return values

    def check(self):
        values = {instance: self.choose(instance) for instance in (self.real, self.example)}
        panels = self.board["panels"]
        self.check_places(panels)
        for panel in panels:
            if panel["type"] != "row":
                self.check_panel(panel, values)
        for name in re.findall(r"\$\{?(\w+)", self.text):
            if name not in self.variables and not name.startswith("__"):
                complain(self.name, f"there is no variable {name}")
        used = re.findall(r"\$\{?(\w+)", self.text)
        for name in self.variables:
            if name not in used:
                complain(self.name, f"the variable {name} is not used")

    def check_places(self, panels):
        taken = {}
        for panel in panels:
            place = panel["gridPos"]
            cells = {
                (x, y)
                for x in range(place["x"], place["x"] + place["w"])
                for y in range(place["y"], place["y"] + place["h"])
            }
            if place["x"] + place["w"] > 24 or any(cell in taken for cell in cells):
                complain(self.name, f"{panel['title']} has no room where it stands")
            taken.update(dict.fromkeys(cells, panel["title"]))
        for what in "id", "title":
            if len({one[what] for one in panels}) != len(panels):
                complain(self.name, f"two panels have one {what}")

    def check_panel(self, panel, values):
        where = f"{self.name}: {panel['title']}"
        if len(panel.get("description", "")) < 20:
            complain(where, "does not say what its figures mean")
        if "unit" not in panel["fieldConfig"]["defaults"]:
            complain(where, "has no unit")
        if panel["datasource"] != {"type": "prometheus", "uid": "${datasource}"}:
            complain(where, "does not ask the Prometheus that is chosen")
        labels, columns = set(), set()
        for target in panel["targets"]:
            made = self.check_target(where, target, values)
            for label in re.findall(r"{{ *(\w+) *}}", target.get("legendFormat", "")):
                if made and not any(label in one for one in made):
                    complain(where, f"its legend names {label}, which {target['expr']} does not make")
            labels |= set().union(*(set(one) for one in made))
            columns.add("Value" if len(panel["targets"]) == 1 else f"Value #{target['refId']}")
        if panel["type"] == "table":
            self.check_columns(where, panel, labels, columns)

    def check_target(self, where, target, values):
        """Checks that the expression parses, selects series that exist, and has a result. Uses the real pebsd if it
        has all the metrics, or else the example. Returns the labels of the result."""
        real, example = (substitute(target["expr"], values[one]) for one in (self.real, self.example))
        try:
            self.server.evaluate(real)
        except ValueError as error:
            complain(where, f"Prometheus does not take {real}: {error}")
            return []
        others = {metric for metric, _, _ in read_expression(real)[0] if metric.startswith("pebsd_")} - self.served
        if others:
            print(f"{where}: of the example alone, as the other has no {', '.join(sorted(others))}")
        expression = example if others else real
        check_selectors(self.server, where, expression)
        made = self.server.evaluate_in_time(expression)
        if not made:
            complain(where, f"nothing is made by {expression}")
        return made

    def check_columns(self, where, panel, labels, columns):
        """Checks that the columns exist which a table renames, hides, formats or links to."""
        named = labels | columns | {"Time"}
        for step in panel["transformations"]:
            renamed = step["options"].get("renameByName", {})
            for name in list(step["options"].get("excludeByName", {})) + list(renamed):
                if name not in named:
                    complain(where, f"there is no column {name}")
            if step["id"] == "organize":
                named = {renamed.get(name, name) for name in named}
        shown = [one["matcher"]["options"] for one in panel["fieldConfig"]["overrides"]]
        shown += [one["displayName"] for one in panel["options"].get("sortBy", [])]
        shown += re.findall(r"\$\{__data\.fields\.(\w+)", json.dumps(panel))
        for name in shown:
            if name not in named:
                complain(where, f"there is no column {name}")


def check_rules(path, server):
    with open(path) as file:
        groups = yaml.safe_load(file)["groups"]
    for rule in (rule for group in groups for rule in group["rules"]):
        where = f"{path.rsplit('/', 1)[-1]}: {rule.get('record') or rule['alert']}"
        check_selectors(server, where, rule["expr"])
        if "record" in rule and not server.evaluate_in_time(rule["record"]):
            complain(where, "nothing is recorded")


def main():
    address, real, metrics, example, *paths = sys.argv[1:]
    server = Server(address)
    with open(metrics) as file:
        served = {re.match(r"\w+", line).group() for line in file if line[0] not in "#\n"}
    for path in paths:
        if path.endswith(".json"):
            Dashboard(path, server, (real, example), served).check()
        else:
            check_rules(path, server)
    print("\n".join(complaints))
    sys.exit(bool(complaints))


main()
