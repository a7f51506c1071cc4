#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
Finds turns of phrase that a reader must read twice, in what people read.

  language.py [--except PATH]... [PATH...]     prints FILE:LINE, the words, and what to write instead

A PATH is a file or a folder. Without any, all files are read except those in build/ and .git/. In C sources the tool
reads strings (messages, help) and comments. In scripts and configuration files it reads comments. In manual pages,
interface descriptions, READMEs, rules and dashboards it reads the text, but no code. If a line must quote such a turn,
write "language: quoted" into it or into the line above.

CONTRIBUTING, "Words", has the glossary. A word in its column "not" must not be part of the name of a C source or of a
type, except in tests/, and unless the column says "for this" or the like.
"""
import fnmatch
import json
import os
import re
import sys

# Each forbidden turn of phrase, and the advice for it. Case does not matter, and a turn may go across line ends.
TURNS = [
    (r"(?:does|do|is|are|was|were)(?: not|n't)? heed(?:s|ed)?", "say that it is ignored or cannot be used"),
    (r"not know what to do with", "unexpected argument"),
    (r"(?:is|are|was|were) not taken(?! into account| from)", "invalid, refused"),
    (
        r"(?<!there )\b(?:is|are|was|were) no (?!longer|more\b|less\b|later\b|fewer\b|worse\b|better\b|larger\b|"
        r"smaller\b|one\b|different\b)",
        "is not a, has no, there is no",
    ),
    (r"\bin (?:the|its|their) place(?: of\b|(?=[.,;:)]))", "instead of"),
    (r"\banew\b", "again"),
    (r"\bof late\b", "recently"),
    (r"\b(?:is|are|was|were|be|been) told\b(?! (?:apart|to\b))", "is reported, is logged, is shown"),
    (r"\btells (?:of|what|who)\b", "says, shows, reports"),
    (r"\bwhoever\b", "name the person or program"),
    (r"\bbe (?:it|they) (?!is|are)\w+ ?(?:or|,)", "whether or not, even if"),
    (r"\b(?:of|to|for) nobody\b", "of no cgroup, for no user"),
    (r"\bwhere (?:not|none|absent)\b", "if not, if there is none"),
    (r"\b(?:goes|go|went|gone) on (?:with|well|in|as)\b", "continues, uses"),
    (r"\bas (?:many|much) as may\b", "the maximum number"),
    (r"\boptions alone\b|\bthis one alone\b", "only"),
    (r"\btabled\b", "in a table, tracked"),
    (
        r"\bnothing came yet\b|\basked again all the time\b|\bfree of mistakes\b|\bnothing of it here\b|\btakes it, Esc\b",
        "see CONTRIBUTING, Words",
    ),
    (r"\bWhat is not shown has\b", "Every line not shown has"),
    (r"\bsymbolis(?:e|ed|es|er|ing)\b", "symbolize, symbolizer"),
    (r"\bso many (?!that\b|of\b)", "this number of, N"),
    (r"\blet go of\b|\blead back\b|\bgave? room\b", "release, reclaim"),
]
QUOTED = "language: quoted"
GLOSSARY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../.github/CONTRIBUTING.md")

C_PARTS = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)+\'', re.S)
READ = re.compile(
    r"\.([ch1-8]|md|json|ya?ml|sh|py|conf|varlink|catalog|service|socket|bash|html|proto|fish|mk)$|(^|/)(Makefile|_pebs\w+)$"
)
# These files list forbidden turns, so they are not checked.
SKIPPED = ("tests/tools/language.py", "tests/e2e/test_language.sh")


def blank(text):
    """Only the line ends of the text, so that later lines keep their numbers."""
    return "\n" * text.count("\n")


def of_c(text):
    """The comments and strings of C sources. Adjacent strings are joined."""
    result, last = "", 0
    for part in C_PARTS.finditer(text):
        between = text[last : part.start()]
        found = part[0]
        if found[0] == '"':
            joined = not between.strip() and result.endswith("\x01")
            result = (
                (result[:-1] if joined else result + "\x00") + blank(between) + found[1:-1].replace("\\n", " ") + "\x01"
            )
        elif found[0] == "/":
            found = re.sub(r"^/[*/]+|[*/]+/$", "", found)
            # Comments of one line each, one below the other, are one text.
            joined = between.strip() == "" and part[0].startswith("//") and result.endswith("\x02")
            result = (
                (result[:-1] + " " if joined else result + "\x00")
                + blank(between)
                + re.sub(r"\n\s*\*", "\n", found)
                + "\x02"
            )
        else:
            result += "\x00" + blank(between + found)
        last = part.end()
    return result


def of_comments(text):
    """The comments of scripts and configuration files."""
    lines = []
    for line in text.split("\n"):
        match = re.match(r"\s*#+ ?(.*)", line) or re.search(r"\s# (.*)", line)
        lines.append(match[1] if match else "\x00")
    return "\n".join(lines)


def of_manual(text):
    """A manual page without macros and escapes. Their arguments stay, because they are text."""
    text = re.sub(r"^\.\\\".*$", "", text, flags=re.M)
    text = re.sub(r"^\.(nf|EX|TS|Bd)\b.*?^\.(fi|EE|TE|Ed)\b", lambda match: blank(match[0]), text, flags=re.M | re.S)
    text = re.sub(r"^\.[A-Z][A-Za-z]? ?", "", text, flags=re.M)
    return re.sub(r"\\f[A-Z]", "", text).replace("\\-", "-").replace('"', "")


def of_markdown(text):
    """Markdown without code, and without the glossary, which lists forbidden turns."""
    text = re.sub(r"^## Words$.*?(?=^## |\Z)", lambda match: blank(match[0]), text, flags=re.M | re.S)
    return re.sub(r"^```.*?^```", lambda match: blank(match[0]), text, flags=re.M | re.S)


def of_rules(text):
    """The comments and annotations of Prometheus rules."""
    return "\n".join(
        re.sub(r"^\s*#", "", line) if re.match(r"\s*(#|summary:|description:|[a-z].*[.\"]$)", line) else "\x00"
        for line in text.split("\n")
    )


def text_of(path, text):
    name = os.path.basename(path)
    if re.search(r"\.[1-8]$", name):
        return of_manual(text)
    if name.endswith(".md"):
        return of_markdown(text)
    if name.endswith(".json"):
        return "\n".join(
            line if re.match(r'\s*"(title|description|legendFormat)"', line) else "\x00" for line in text.split("\n")
        )
    if name.endswith(".rules.yml"):
        return of_rules(text)
    if name.endswith((".varlink", ".catalog", ".html", ".fish")) or name.startswith("_pebs"):
        return re.sub(r"^#", "", text, flags=re.M)
    if name.endswith((".c", ".h")):
        return of_c(text)
    return of_comments(text)


def banned_words():
    """The words of the glossary's column "not" that are ruled out in every sense, each with the word to use."""
    with open(GLOSSARY, encoding="utf-8") as file:
        words = re.search(r"^## Words$(.*?)(?=^## |\Z)", file.read(), re.M | re.S)[1]
    banned = {}
    for row in re.findall(r"^\| (.*) \|$", words, re.M):
        cells = [cell.strip() for cell in row.split("|")]
        for group in cells[-1].split(";") if len(cells) == 3 and cells[0] != "word" else []:
            if not re.search(r"\bfor\b", group):
                banned.update((word.strip().replace(" ", "_"), cells[0]) for word in group.split(",") if word.strip())
    return banned


def name_findings(path, source, banned):
    """The names of a C source and of its types in which a word is ruled out, as singular or plural."""
    names = [(1, os.path.splitext(os.path.basename(path))[0])]
    for match in re.finditer(r"\b(?:struct|enum|union)\s+([a-z_0-9]+)\s*\{", source):
        names.append((source.count("\n", 0, match.start()) + 1, match[1]))
    for number, name in names:
        for word, better in banned.items():
            if re.search(rf"(?:^|_){word.removesuffix('s')}s?(?:_|$)", name):
                yield number, f"{path}:{number}: the name {name}: {better} (CONTRIBUTING, Words)"


def findings(path, banned):
    with open(path, encoding="utf-8", errors="replace") as file:
        source = file.read()
    if path.endswith((".c", ".h")) and not os.path.normpath(path).startswith("tests" + os.sep):
        yield from name_findings(path, source, banned)
    lines = source.split("\n")
    text = text_of(path, source)
    for turn, better in TURNS:
        spaced = re.sub(r" (?![?*)])", r"\\s+", turn)
        for match in re.finditer(spaced, text, re.I):
            if "\x00" in match[0] or re.search(r"\bthere\s*$", text[max(0, match.start() - 20) : match.start()], re.I):
                continue
            number = text.count("\n", 0, match.start()) + 1
            if any(QUOTED in line for line in lines[max(0, number - 2) : number]):
                continue
            around = text[max(0, match.start() - 25) : match.end() + 25].split("\x00")
            words = " ".join(
                next(part for part in around if match[0] in part).replace("\x01", " ").replace("\x02", " ").split()
            )
            yield number, f'{path}:{number}: "{words}": {better}'


def listed(path):
    """The files of a folder, without those in build/ and .git/."""
    if not os.path.isdir(path):
        return [path]
    found = []
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if name not in (".git", "build"))
        found += [os.path.normpath(os.path.join(folder, name)) for name in sorted(names)]
    return found


def files(paths, but):
    left_out = tuple(os.path.normpath(path) for path in [*but, *SKIPPED])
    return [
        path
        for start in paths or ["."]
        for path in listed(start)
        if READ.search(path)
        and os.path.exists(path)
        and not any(path == out or path.startswith(out + os.sep) or fnmatch.fnmatch(path, out) for out in left_out)
    ]


def main(arguments):
    but, paths = [], []
    while arguments:
        word = arguments.pop(0)
        if word == "--except" and arguments:
            but.append(arguments.pop(0))
        elif word.startswith("-"):
            return __doc__
        else:
            paths.append(word)
    banned = banned_words()
    found = [line for path in files(paths, but) for _, line in sorted(findings(path, banned))]
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
