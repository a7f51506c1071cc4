#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
The structure of the sources: which folder includes which, drawn as text.

  folders.py                          prints the picture
  folders.py --write FILE             replaces the picture in FILE, which stands between the two lines of MARKS
  folders.py --check FILE [OBJECTS]   fails if folders include each other in a circle, the picture in FILE is out
                                      of date, daemon/ itself holds more than ROOT_FILES_MAX sources, a folder has
                                      no README.md, a README.md does not name a folder that includes its folder, a
                                      source without a header of its own does not begin with a comment, or sources
                                      whose objects lie below OBJECTS call each other in a circle

A folder is a directory that holds sources. It stands above all folders that it includes. The picture leaves out an
arrow if another arrow of the same folder leads to the same place.
"""
import os
import re
import subprocess
import sys

ROOTS = ("daemon", "bpf", "include")
SEARCHED = ("include", "daemon", "bpf")
ROOT_FILES_MAX = 12
MARKS = ("<!-- make folders: begin -->", "<!-- make folders: end -->")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


def sources():
    """Paths of all sources."""
    found = []
    for root in ROOTS:
        for folder, _, names in os.walk(root):
            found += [os.path.join(folder, name) for name in names if name.endswith((".c", ".h"))]
    return sorted(found)


def includes(files):
    """The sources that each source includes, without generated headers and headers of libraries."""
    known = set(files)
    result = {}
    for path in files:
        result[path] = set()
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for name in INCLUDE.findall(text):
            for folder in (os.path.dirname(path),) + SEARCHED:
                target = os.path.normpath(os.path.join(folder, name))
                if target in known:
                    result[path].add(target)
                    break
    return result


def folders(arrows):
    """The arrows between folders that follow from the arrows between their sources."""
    graph = {}
    for path, targets in arrows.items():
        graph.setdefault(os.path.dirname(path), set()).update(os.path.dirname(target) for target in targets)
    for name, targets in graph.items():
        targets.discard(name)
    return graph


def calls(objects, files):
    """The sources whose functions and variables each source uses, by the symbols of their objects."""
    paths = {os.path.join(objects, path[:-2] + ".o"): path for path in files if path.endswith(".c")}
    present = [path for path in paths if os.path.exists(path)]
    lines = subprocess.run(["nm", "-A", "-P"] + present, check=True, capture_output=True, text=True).stdout
    owner = {}
    wanted = []
    for line in lines.splitlines():
        path, _, rest = line.partition(": ")
        name, kind = rest.split()[:2]
        if kind == "U":
            wanted.append((paths[path], name))
        elif kind.isupper():
            owner[name] = paths[path]
    graph = {paths[path]: set() for path in present}
    for path, name in wanted:
        if owner.get(name, path) != path:
            graph[path].add(owner[name])
    return graph


def reachable(graph):
    """The names that can be reached from each name, by any number of arrows."""
    result = {}
    for name in graph:
        seen = set()
        waiting = list(graph[name])
        while waiting:
            at = waiting.pop()
            if at not in seen:
                seen.add(at)
                waiting += graph[at]
        result[name] = seen
    return result


def circles(graph):
    """The groups of names that lead to each other."""
    reach = reachable(graph)
    groups = {frozenset(other for other in reach[name] if name in reach[other]) for name in graph}
    return sorted(sorted(group) for group in groups if group)


def floors(graph):
    """The height of each folder: one above the highest folder that it includes."""
    result = {}

    def floor(name):
        if name not in result:
            result[name] = 1 + max((floor(target) for target in graph[name]), default=0)
        return result[name]

    for name in graph:
        floor(name)
    return result


def short(folder):
    return folder[len("daemon/") :] if folder.startswith("daemon/") else folder


def idea(folder):
    """The purpose of the folder, from the first line of its README.md: "# NAME: IDEA". Empty if there is none."""
    try:
        with open(os.path.join(folder, "README.md"), encoding="utf-8") as file:
            return file.readline().partition(": ")[2].strip()
    except FileNotFoundError:
        return ""


def permitted(folder):
    """
    The folders that README.md permits to use this one: those in backquotes with all below them, "the root" (daemon),
    "the exports" (export and http), or all ("every", None). None also if there is no such paragraph.
    """
    try:
        with open(os.path.join(folder, "README.md"), encoding="utf-8") as file:
            found = re.search(r"^- \*\*Who may use it:\*\*(.*?)(?=^$|^- |\Z)", file.read(), re.M | re.S)
    except FileNotFoundError:
        return None
    text = " ".join(found[1].split()) if found else "every"
    if re.search(r"\bevery", text):
        return None
    names = re.findall(r"`([a-z_/]+)`", text)
    names += ["export", "http"] if "the exports" in text else []
    return names + (["daemon"] if "the root" in text else [])


def unnamed_users(graph):
    """(folder, user) for each folder that includes another one whose README.md does not name it."""
    for user, used in sorted(graph.items()):
        for folder in sorted(used):
            names = permitted(folder)
            above = [short(user)[: match.start()] for match in re.finditer("/", short(user))]
            if names is not None and folder != "daemon" and not {short(user), *above} & set(names):
                yield folder, user


def begins_with_comment(path):
    """Returns whether the first line after the licence begins a comment."""
    with open(path, encoding="utf-8") as file:
        file.readline()
        return file.readline().startswith("/*")


def draw(graph):
    reach = reachable(graph)
    height = floors(graph)
    lines = []
    for floor in range(max(height.values()), 0, -1):
        lines.append(f"floor {floor}")
        for folder in sorted(name for name in graph if height[name] == floor):
            lines.append(f"  {short(folder):<18} {idea(folder)}".rstrip())
            shown = sorted(
                short(target) for target in graph[folder] if not any(target in reach[other] for other in graph[folder])
            )
            if shown:
                lines.append(f"  {'':<18} -> {', '.join(shown)}")
    return "\n".join(lines) + "\n"


def split(path):
    """The text before the picture, the picture, and the text after it."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    before, found_begin, rest = text.partition(MARKS[0] + "\n```text\n")
    picture, found_end, after = rest.partition("```\n" + MARKS[1])
    if not found_begin or not found_end:
        sys.exit(f"{path}: no place for the picture: it stands between {MARKS[0]} and {MARKS[1]}")
    return before + found_begin, picture, found_end + after


def check(path, arrows, graph, objects):
    """Prints what is wrong. Returns whether anything is."""
    wrong = []
    for group in circles(graph):
        wrong.append("these folders include each other in a circle: " + ", ".join(group))
        for source, targets in sorted(arrows.items()):
            wrong += [
                f"  {source} includes {target}"
                for target in sorted(targets)
                if os.path.dirname(source) != os.path.dirname(target)
                and {os.path.dirname(source), os.path.dirname(target)} <= set(group)
            ]
    if not wrong and split(path)[1] != draw(graph):
        wrong.append(f"the picture in {path} is out of date: make folders")
    if objects:
        wrong += [
            "these sources call each other in a circle: " + ", ".join(group)
            for group in circles(calls(objects, arrows))
        ]
    root = [source for source in arrows if os.path.dirname(source) == "daemon"]
    if len(root) > ROOT_FILES_MAX:
        wrong.append(f"daemon/ itself holds {len(root)} sources, more than {ROOT_FILES_MAX}: {' '.join(sorted(root))}")
    wrong += [
        f"{folder}/README.md has no first line of the form \"# NAME: IDEA\""
        for folder in sorted(graph)
        if not idea(folder)
    ]
    wrong += [
        f"{source} has no header of its own, and does not begin with what it is for"
        for source in sorted(arrows)
        if source.endswith(".c") and source[:-2] + ".h" not in arrows and not begins_with_comment(source)
    ]
    wrong += [
        f"{folder}/README.md does not name {short(user)}, which includes it, among those that may use it"
        for folder, user in unnamed_users(graph)
    ]
    print("\n".join(wrong), end="\n" if wrong else "")
    return bool(wrong)


def main(arguments):
    arrows = includes(sources())
    graph = folders(arrows)
    if arguments[:1] == ["--check"] and len(arguments) in (2, 3):
        return check(arguments[1], arrows, graph, arguments[2] if len(arguments) == 3 else None)
    if arguments and (arguments[0] != "--write" or len(arguments) != 2):
        sys.exit("usage: folders.py [--write FILE | --check FILE [OBJECTS]]")
    if circles(graph):
        sys.exit("folders include each other in a circle, so that none stands above the other: folders.py --check")
    if not arguments:
        print(draw(graph), end="")
        return 0
    before, _, after = split(arguments[1])
    with open(arguments[1], "w", encoding="utf-8") as file:
        file.write(before + draw(graph) + after)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
