# SPDX-License-Identifier: GPL-2.0
"""Checks that a reply has the members that the interface describes, with these types, and no others.

Usage: interface.py DESCRIPTION METHOD <REPLY, where REPLY is the JSON of the parameters.
"""
import json
import re
import sys

BASIC = {"int": int, "float": (int, float), "string": str, "bool": bool}


def members_of(text):
    """Splits "a: int, b: ?[]T" into names and types."""
    return dict(part.strip().split(": ", 1) for part in text.split(",") if part.strip())


def read_interface(text):
    text = re.sub(r"#.*", "", text)
    types = {name: members_of(body) for name, body in re.findall(r"type (\w+) \(([^)]*)\)", text)}
    replies = {name: members_of(body) for name, body in re.findall(r"method (\w+)\([^)]*\) -> \(([^)]*)\)", text)}
    return types, replies


def check_members(value, members, types, where):
    wrong = [f"{where}.{name}: not described" for name in value if name not in members]
    for name, kind in members.items():
        if name in value:
            wrong += check(value[name], kind, types, f"{where}.{name}")
        elif not kind.startswith("?"):
            wrong.append(f"{where}.{name}: missing")
    return wrong


def check(value, kind, types, where):
    if kind.startswith("?"):
        return [] if value is None else check(value, kind[1:], types, where)
    if kind.startswith("[]") and isinstance(value, list):
        return [one for i, item in enumerate(value) for one in check(item, kind[2:], types, f"{where}[{i}]")]
    if kind.startswith("[string]") and isinstance(value, dict):
        return [one for key, item in value.items() for one in check(item, kind[8:], types, f"{where}.{key}")]
    if kind in types and isinstance(value, dict):
        return check_members(value, types[kind], types, where)
    if kind in BASIC and isinstance(value, BASIC[kind]) and (kind == "bool" or not isinstance(value, bool)):
        return []
    return [f"{where}: {json.dumps(value)[:60]} is not {kind}"]


def main():
    with open(sys.argv[1], encoding="utf-8") as description:
        types, replies = read_interface(description.read())
    wrong = check_members(json.load(sys.stdin), replies[sys.argv[2]], types, sys.argv[2])
    print("\n".join(sorted(set(re.sub(r"\[\d+\]", "[]", one) for one in wrong))[:20]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
