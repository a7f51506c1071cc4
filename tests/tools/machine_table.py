#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
Writes what tests/guest/inside/test_machine.sh measured into the table of tests/guest/README.md.

  machine_table.py README RESULTS...

RESULTS are outputs of `make test-guest` or `make machine-table`. The table stands between the two lines of MARKS, with
one row for each machine and number of CPUs, and one column for each kernel. Only tests that passed count. A cell whose
guest is in none of the results keeps its text.
"""
import json
import re
import sys

MARKS = ("<!-- make machine-table: begin -->", "<!-- make machine-table: end -->")
KERNELS = ("6.1", "6.12", "7")
DRIVER_KERNEL = "6.12"
HEAD = ["machine", "CPUs", "its driver says", "opened"]
ALIGN = ["---", "--:"] + ["---"] * (2 + len(KERNELS))
KINDS = {"cpu_core": " P", "cpu_atom": " E"}
PASSED = re.compile(r"^passed +([^ ,]+),([^ ,]+),(\d)[^ ]*: machine \(")
RESULT = re.compile(r"^(passed|FAILED|skipped) ")
ROW = re.compile(r"^ +table: (\{.*\})$")


def read_results(paths):
    """What each guest measured, by (machine, CPUs) and kernel: the objects that the test printed."""
    found = {}
    for path in paths:
        with open(path, encoding="utf-8", errors="replace") as file:
            measured = None
            for line in file:
                passed = PASSED.match(line)
                if passed:
                    measured = found.setdefault(passed.group(2, 3), {})[passed[1]] = []
                elif RESULT.match(line):
                    measured = None
                elif measured is not None and ROW.match(line):
                    measured.append(json.loads(ROW.match(line)[1]))
    return {row: {kernel: rows for kernel, rows in cells.items() if rows} for row, cells in found.items()}


def named(event):
    """The event's name in the table: "loads", or "loads P" on a hybrid."""
    role, _, pmu = event.partition(":")
    return role + KINDS.get(pmu, "")


def opened(rows):
    """The attributes of all events, from the lines of the probe: "open PMU ROLE CONFIG CONFIG1 PRECISE_IP LEADER CPUS"."""
    texts = []
    for line in dict.fromkeys(line for row in rows for line in row["opened"]):
        _, pmu, role, config, config1, precise, leader, _ = line.split()
        text = f"{named(role + ':' + pmu)} {config}"
        if int(config1, 16):
            text += f" ldlat {int(config1, 16)}"
        if int(precise):
            text += " " + "p" * int(precise)
        if leader != "-":
            text += f" after {leader}"
        texts.append(text + (f" of {pmu}" if pmu.startswith("ibs") else ""))
    return "; ".join(texts) or "-"


def cell(rows, cpus):
    """What was measured: the samples of each event, the sum of their latencies, their sources, and HITM."""
    if all(row.get("refused") for row in rows):
        return "refused by name"
    texts = []
    for row in rows:
        for name, event in row.get("events", {}).items():
            text = f"{named(name)} {event['samples']:,}"
            parts = [f"{event['latency']:,} cycles"] if event["latency"] is not None else []
            if event["sources"]:
                parts.append(", ".join(f"{source} {n:,}" for source, n in event["sources"].items()))
            if event["hitm"] or (cpus == "2" and event["latency"] is not None and name.startswith("loads")):
                parts.append(f"HITM {event['hitm']:,}")
            texts.append(text + (f" ({'; '.join(parts)})" if parts else ""))
            if event["filtered"]:
                texts[-1] += f", {event['filtered']:,} others filtered"
    return "; ".join(texts)


def words(driver):
    """The driver's words, without their order."""
    return sorted(re.split(r", ?", driver.strip().rstrip(".")))


def driver_says(old, by_kernel):
    """The words on DRIVER_KERNEL, and those on the other kernels if they differ by more than the order."""
    brackets = dict(re.findall(r"\((\d[\d.]*): ([^)]*)\)", old))
    main = re.sub(r" \(\d[\d.]*: [^)]*\)", "", old)
    if DRIVER_KERNEL in by_kernel:
        main = by_kernel[DRIVER_KERNEL].rstrip(".")
    for kernel, driver in by_kernel.items():
        if kernel == DRIVER_KERNEL:
            continue
        brackets.pop(kernel, None)
        if words(driver) != words(main):
            brackets[kernel] = driver.rstrip(".")
    return " ".join([main] * bool(main) + [f"({kernel}: {driver})" for kernel, driver in sorted(brackets.items())])


def update(table, results):
    """The rows of the table, with what was measured. `table`: lists of cells, without the head."""
    rows = {(row[0], row[1]): row for row in table}
    same = {key: table[i - 1] for i, (key, row) in enumerate(rows.items()) if row[2] == "the same"}
    for key, above in same.items():
        rows[key][2:4] = above[2:4]
    for machine in results:
        if machine not in rows:
            at = max((i for i, row in enumerate(table) if row[0] == machine[0]), default=len(table) - 1)
            table.insert(at + 1, [*machine, "", ""] + ["-"] * len(KERNELS))
    for row in table:
        cells = results.get((row[0], row[1]), {})
        row[2] = driver_says(row[2], {kernel: " ".join(rows[0]["driver"].split()) for kernel, rows in cells.items()})
        for kernel, rows in cells.items():
            row[len(HEAD) + KERNELS.index(kernel)] = cell(rows, row[1])
            if opened(rows) != "-" or not row[3]:
                row[3] = opened(rows)
    for above, row in reversed(list(zip(table, table[1:]))):
        if row[0] == above[0] and row[2:4] == above[2:4]:
            row[2:4] = ["the same", "the same"]
    return table


def text_of(row):
    """A row of a table in Markdown."""
    return "| " + " | ".join(row) + " |\n"


def main():
    """Replaces the table in README."""
    if len(sys.argv) < 3:
        sys.exit(__doc__.strip())
    readme = sys.argv[1]
    results = read_results(sys.argv[2:])
    if not any(results.values()):
        sys.exit("machine_table.py: the results have no test of a machine that passed")
    with open(readme, encoding="utf-8") as file:
        before, rest = file.read().split(MARKS[0] + "\n")
    old, after = rest.split(MARKS[1])
    table = [line.strip("| ").split(" | ") for line in old.splitlines()[2:]]
    new = text_of(HEAD + list(KERNELS)) + "|" + "|".join(ALIGN) + "|\n"
    new += "".join(text_of(row) for row in update(table, results))
    with open(readme, "w", encoding="utf-8") as file:
        file.write(before + MARKS[0] + "\n" + new + MARKS[1] + after)


if __name__ == "__main__":
    main()
