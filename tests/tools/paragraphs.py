#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
Fails if a manual page has a paragraph that is too long to be read in one go.

  paragraphs.py PAGE...     prints PAGE:LINE and the first words of each paragraph with more than LINES_MAX lines

groff formats the page for 80 columns. In front of each macro that begins a paragraph, an entry or a heading, it is told
to report its position. Two positions give the length of the paragraph between them. Code and tables may be longer, and
so may the synopsis.
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
# What is printed as it is.
VERBATIM = re.compile(r"\.(nf|EX|TS|Bd)\b")
VERBATIM_END = re.compile(r"\.(fi|EE|TE|Ed)\b")
# One page for all, so that positions only grow.
ENDLESS = ".pl 100000v"
UNITS_PER_LINE = 40


def mark(number):
    return [".br", rf".tm paragraph {number} \n[nl]"]


def prepare(lines):
    """The page with the reports, and for each line at which a paragraph begins the lines that are not its text."""
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
    """(line of the page, line of the output) of each report."""
    command = ["groff", "-t", "-mandoc", "-Tutf8", f"-rLL={COLUMNS}n", "-z"]
    run = subprocess.run(command, input=text.encode(), stderr=subprocess.PIPE, check=True)
    reports = re.findall(r"^paragraph (\d+) (\d+)$", run.stderr.decode(), re.M)
    return [(int(number), int(position) // UNITS_PER_LINE) for number, position in reports]


def long_paragraphs(page):
    """(line, length, first words) of each."""
    with open(page, encoding="utf-8") as file:
        lines = file.read().split("\n")[:-1]
    text, before = prepare(lines)
    found = positions(text)
    assert len(found) > 3 and found == sorted(found), f"{page}: groff reported no usable positions"
    for (number, top), (end, bottom) in zip(found, found[1:]):
        length = bottom - top - before.get(number, float("inf"))
        if length > LINES_MAX:
            words = " ".join(re.sub(r"^\.\w+ ?", "", line) for line in lines[number - 1:end - 1])
            yield number, length, words.strip()[:60]


def main(pages):
    wrong = False
    for page in pages:
        for number, length, words in long_paragraphs(page):
            print(f"{page}:{number}: a paragraph of {length} lines, more than {LINES_MAX}: {words} ...")
            wrong = True
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]) if sys.argv[1:] else __doc__)
