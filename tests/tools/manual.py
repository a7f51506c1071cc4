#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
Checks the form of manual pages. Prints PAGE:LINE and what is wrong.

  manual.py PAGE...

- groff has no warnings.
- The heading has the version that the Makefile defines.
- If there are EXAMPLES, they stand right after DESCRIPTION.
- No paragraph has more than LINES_MAX lines at COLUMNS columns. Code and tables may be longer, and so may the synopsis.

To measure paragraphs, groff is told to report its position in front of each macro that begins a paragraph, an entry or
a heading. Two positions give the length of the paragraph between them.
"""
import re
import subprocess
import sys

COLUMNS = 80
LINES_MAX = 12
# Macros that begin a paragraph or entry, with the empty line before it; a heading; and others that end a paragraph.
PARAGRAPH = re.compile(r"\.(P|PP|LP|TP|IP|Pp|It)\b")
HEADING = re.compile(r"\.(SH|SS|Sh|Ss)\b")
OTHER = re.compile(r"\.(RS|RE|SY|YS|sp|in|Bl|El)\b")
# Text between these macros is printed as it is.
VERBATIM = re.compile(r"\.(nf|EX|TS|Bd)\b")
VERBATIM_END = re.compile(r"\.(fi|EE|TE|Ed)\b")
# A page length that no manual reaches: there is only one page, so positions only grow.
ENDLESS = ".pl 100000v"
UNITS_PER_LINE = 40


def mark(number):
    return [".br", rf".tm paragraph {number} \n[nl]"]


def prepare(lines):
    """The page with commands that report positions. Also, for each line that begins a paragraph: how many lines of the
    output before its text do not count."""
    text, before = [ENDLESS], {}
    verbatim, distance, lists, section = False, 1, [], ""
    for number, line in enumerate(lines, 1):
        heading = HEADING.match(line)
        if heading and heading[1].upper() == "SH":
            section = line[4:].strip()
        if line.startswith(".PD"):
            distance = 0 if line == ".PD 0" else 1
        elif line.startswith(".Bl"):
            lists.append("-compact" in line)
        elif line.startswith(".El"):
            lists.pop()
        if VERBATIM.match(line):
            text += mark(number)
            verbatim = True
        elif not verbatim and (heading or PARAGRAPH.match(line) or OTHER.match(line)):
            text += mark(number)
            compact = line.startswith(".It") and lists and lists[-1]
            before[number] = 2 if heading else distance if PARAGRAPH.match(line) and not compact else 0
            if section == "SYNOPSIS":
                before[number] = float("inf")
        text.append(line)
        if VERBATIM_END.match(line):
            text += mark(number + 1)
            before[number + 1] = 0
            verbatim = False
    return "".join(line + "\n" for line in text + mark(len(lines) + 1)), before


def positions(text):
    """(line of the page, line of the output) for each report."""
    command = ["groff", "-t", "-mandoc", "-Tutf8", f"-rLL={COLUMNS}n", "-z"]
    run = subprocess.run(command, input=text.encode(), stderr=subprocess.PIPE, check=True)
    reports = re.findall(r"^paragraph (\d+) (\d+)$", run.stderr.decode(), re.M)
    return [(int(number), int(position) // UNITS_PER_LINE) for number, position in reports]


def long_paragraphs(page):
    """(line, length, first words) of each paragraph that is too long."""
    with open(page, encoding="utf-8") as file:
        lines = file.read().split("\n")[:-1]
    text, before = prepare(lines)
    found = positions(text)
    assert len(found) > 2 and found == sorted(found), f"{page}: groff reported no usable positions"
    for (number, top), (end, bottom) in zip(found, found[1:]):
        length = bottom - top - before.get(number, float("inf"))
        if length > LINES_MAX:
            words = " ".join(re.sub(r"^\.\w+ ?", "", line) for line in lines[number - 1 : end - 1])
            yield number, length, words.strip()[:60]


def warnings(page):
    """The warnings of groff, which contain the page and the line."""
    run = subprocess.run(["groff", "-t", "-mandoc", "-Tutf8", "-ww", "-z", page], stderr=subprocess.PIPE, check=False)
    return run.stderr.decode().splitlines()


def version():
    with open("Makefile", encoding="utf-8") as file:
        return re.search(r"^VERSION = (.*)$", file.read(), re.M)[1]


def check(page):
    """The mistakes of the page, one line of text each."""
    with open(page, encoding="utf-8") as file:
        text = file.read()
    yield from warnings(page)
    if not re.search(rf'^\.(TH|Os) .*"pebsd {re.escape(version())}"', text, re.M):
        yield f"{page}:1: the heading lacks \"pebsd {version()}\", the VERSION in the Makefile"
    sections = re.findall(r"^\.S[Hh] (.*)$", text, re.M)
    if "EXAMPLES" in sections and sections[sections.index("EXAMPLES") - 1] != "DESCRIPTION":
        line = text[: text.index(" EXAMPLES\n")].count("\n") + 1
        yield f"{page}:{line}: EXAMPLES do not stand right after DESCRIPTION"
    for number, length, words in long_paragraphs(page):
        yield f"{page}:{number}: a paragraph of {length} lines, more than {LINES_MAX}: {words} ..."


def main(pages):
    wrong = [line for page in pages for line in check(page)]
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]) if sys.argv[1:] else __doc__)
