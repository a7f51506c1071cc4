#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
The comments of the Varlink interface: the text of io.pebsd(7), so that the two never say different things.

  interface_comments.py --write     writes the descriptions of the page into the comments of the interface
  interface_comments.py --check     fails if a comment is not what the page says, or a member has no entry in the page

A member has its entry under the heading of its method, type or error, or in MEMBERS WITH ONE MEANING.
"""
import re
import sys
import textwrap

PAGE = "daemon/man/io.pebsd.7"
INTERFACE = "daemon/export/control/io.pebsd.varlink"
SHARED = "MEMBERS WITH ONE MEANING"
WIDTH = 100


def plain(lines):
    """Lines of roff as one line of text."""
    words = []
    for line in lines:
        if re.match(r"\.[BI]R? ", line):
            parts = re.findall(r'"([^"]*)"|(\S+)', line.split(" ", 1)[1])
            words.append(("" if line[2] == "R" else " ").join(quoted or bare for quoted, bare in parts))
        elif not line.startswith("."):
            words.append(line)
    text = " ".join(words)
    for roff, sign in ((r"\fI", ""), (r"\fP", ""), (r"\-", "-"), (r"\(dq", '"')):
        text = text.replace(roff, sign)
    return text


def described(section):
    """The text of a section before its definition: paragraphs, and (member, text) for each entry."""
    result, lines, tag = [], [], None

    def end():
        if lines:
            result.append((tag, plain(lines)))
            lines.clear()

    text = iter(section.split(".nf\n")[0].split("\n"))
    for line in text:
        if line in (".PP", ".PD", ".PD 0", ".RS 4", ".TP"):
            end()
            tag = next(text)[3:-3] if line == ".TP" else None
        elif line:
            lines.append(line)
    end()
    return [(tag, text) for tag, text in result if not re.match("The (parameters are|reply has):$", text)]


def comment(parts):
    lines = []
    for tag, text in parts:
        text = f"{tag}: {text}" if tag else text
        lines += textwrap.wrap(
            text,
            WIDTH,
            initial_indent="# ",
            subsequent_indent="#   " if tag else "# ",
            break_long_words=False,
            break_on_hyphens=False,
        )
    return "\n".join(lines) + "\n"


def main():
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    with open(INTERFACE, encoding="utf-8") as file:
        before = file.read()
    shared = described(re.search(rf"^\.SH {SHARED}\n(.*?)^\.SH ", page, re.S | re.M)[1])
    sections = {
        name: described(text) for name, text in re.findall(r"^\.SS (\w+)\n(.*?)(?=^\.S[SH] |\Z)", page, re.S | re.M)
    }

    about, definitions = re.match(r"((?:#[^\n]*\n)*)interface io\.pebsd\n(.*)", before, re.S).groups()
    about = about.split("# These members mean")[0]
    text = about + comment(shared) + "interface io.pebsd\n"
    lacking = []
    for definition in re.findall(r"^(?:method|type|error) .*?\)\n(?=\n|#|\w|\Z)", definitions, re.S | re.M):
        name = definition.split()[1].split("(")[0]
        parts = sections.get(name, [])
        entries = {tag for tag, _ in parts + shared}
        lacking += [f"{name}.{member}" for member in re.findall(r"(\w+): ", definition) if member not in entries]
        text += "\n" + comment(parts) + definition
    for member in dict.fromkeys(lacking):
        print(f"{PAGE} has no entry for {member}")
    if sys.argv[1:] == ["--write"]:
        with open(INTERFACE, "w", encoding="utf-8") as file:
            file.write(text)
    elif text != before:
        print(f"the comments of {INTERFACE} are not what {PAGE} says: run \"make interface\"")
        return 1
    return 1 if lacking else 0


if __name__ == "__main__":
    if sys.argv[1:] not in (["--write"], ["--check"]):
        sys.exit(__doc__)
    sys.exit(main())
