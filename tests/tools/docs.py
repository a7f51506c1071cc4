#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
Renders the documentation as HTML, with an index and links between all of it.

  docs.py --write FOLDER FILE...    renders manual pages (mandoc) and Markdown (cmark-gfm) into FOLDER
  docs.py --check FOLDER            fails if a page there has a link to a file or place that does not exist

Each file keeps its name and gets the ending .html: pebsd(8) is pebsd.8.html, .github/SECURITY.md is SECURITY.html. The
README of a folder is FOLDER.README.html. Links that Markdown has to other files of the sources lead to their rendered
page if there is one. Otherwise they become plain text, because FOLDER may be copied elsewhere. Pictures are copied.
"""
import html
import html.parser
import os
import re
import shutil
import subprocess
import sys
import urllib.parse

MANUAL = re.compile(r"([\w.@-]+)\.([1-8])$")
STYLE = """body { max-width: 50em; margin: 2em auto; padding: 0 1em; font-family: sans-serif; line-height: 1.45; }
pre { background: #f4f4f4; padding: .6em; overflow-x: auto; }
code { background: #f4f4f4; }
table { border-collapse: collapse; }
td, th { padding: .2em .8em .2em 0; vertical-align: top; text-align: left; }
table.head, table.foot { width: 100%; color: #555; }
.head-vol { text-align: center; } .head-rtitle, .foot-os { text-align: right; }
dt { margin-top: .5em; } dd { margin-left: 2.5em; } .Bl-compact > dt { margin-top: 0; }
img { max-width: 100%; }
@media (prefers-color-scheme: dark) {
body { background: #16181b; color: #dde; } a { color: #8ab4f8; } pre, code { background: #24272c; } }
"""


def output_name(path):
    """The name of the rendered page."""
    folder, name = os.path.split(path)
    if MANUAL.match(name):
        return name + ".html"
    stem = name[: -len(".md")]
    if stem == "README" and folder:
        stem = folder.replace("/", ".") + ".README"
    return stem + ".html"


def run(command, text):
    return subprocess.run(command, input=text, stdout=subprocess.PIPE, check=True).stdout.decode()


def frame(title, body, top="index.html"):
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{html.escape(title)}</title>\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<link rel="stylesheet" href="style.css">\n</head>\n<body>\n<p><a href="{top}">pebsd</a></p>\n'
        f"{body}\n</body>\n</html>\n"
    )


def manual(path, pages):
    """The body of a manual page, in which names of other pages are links."""
    with open(path, "rb") as file:
        body = run(["mandoc", "-T", "html", "-O", "fragment,toc"], file.read())
    names = "|".join(re.escape(name) for name in sorted(pages, key=len, reverse=True))
    # pebsd(8), as mandoc writes .BR pebsd (8) or .Xr pebsd 8
    reference = re.compile(rf"(?:<(?:b|i|a)\b[^>]*>)?(?<![\w.-])({names})(?:</(?:b|i|a)>)?\((\d)\)(?:</a>)?")

    def link(match):
        name, section = match.groups()
        if name == this or f"{name}.{section}" not in pages.values():
            return match[0]
        text = f"{name}({section})"
        return f'<a href="{name}.{section}.html">{text}</a>'

    this = os.path.basename(path)[:-2]
    return reference.sub(link, body)


def anchor(heading, used):
    """The anchor that GitHub gives a heading."""
    text = html.unescape(re.sub(r"<[^>]*>", "", heading)).lower().strip()
    text = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
    used[text] = used.get(text, -1) + 1
    return text if not used[text] else f"{text}-{used[text]}"


def markdown(path, rendered, folder, pages):
    """The body of a Markdown file. `rendered`: the files that have a page."""
    with open(path, "rb") as file:
        body = run(["cmark-gfm", "--unsafe", "-e", "table", "-e", "autolink", "-e", "strikethrough"], file.read())
    used = {}
    body = re.sub(
        r"<h([1-6])>(.*?)</h\1>",
        lambda match: f'<h{match[1]} id="{anchor(match[2], used)}">{match[2]}</h{match[1]}>',
        body,
        flags=re.S,
    )
    here = os.path.dirname(path)

    def link(match):
        target = html.unescape(match[1])
        place = urllib.parse.urlsplit(target)
        if place.scheme or target.startswith("#"):
            return match[0]
        source = os.path.normpath(os.path.join(here, urllib.parse.unquote(place.path)))
        if source not in rendered:
            return match[2]
        return f'<a href="{output_name(source)}{"#" + place.fragment if place.fragment else ""}">{match[2]}</a>'

    def picture(match):
        target = html.unescape(match[2])
        if urllib.parse.urlsplit(target).scheme:
            return match[0]
        source = os.path.normpath(os.path.join(here, target))
        shutil.copy(source, folder)
        return f'{match[1]}{html.escape(os.path.basename(source))}"'

    body = re.sub(r'<a href="([^"]*)">(.*?)</a>', link, body, flags=re.S)
    body = re.sub(r'(<img [^>]*?src=")([^"]*)"', picture, body)
    # Text within a link stays as it is.
    return "".join(
        part
        if part.startswith("<a ")
        else re.sub(
            r"(?<![\w.-])([\w.-]+)\(([1-8])\)",
            lambda match: f'<a href="{match[1]}.{match[2]}.html">{match[0]}</a>'
            if f"{match[1]}.{match[2]}" in pages.values()
            else match[0],
            part,
        )
        for part in re.split(r"(<a .*?</a>)", body, flags=re.S)
    )


def title_of(path):
    """The name and what it is, for the index."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    name = os.path.basename(path)
    if MANUAL.match(name):
        about = re.search(r"^\.S[Hh] NAME\n(?:.*?\\- (.*)|(?:\.Nm .*\n)?\.Nd (.*))$", text, re.M)
        return "{}({})".format(*MANUAL.match(name).groups()), (about[1] or about[2]).replace("\\-", "-")
    heading = re.search(r"^# (.*)$", text, re.M)
    return os.path.relpath(path), heading[1] if heading else ""


def index(files):
    rows = {True: "", False: ""}
    for path in files:
        name, about = title_of(path)
        rows[
            bool(MANUAL.match(os.path.basename(path)))
        ] += f'<dt><a href="{output_name(path)}">{html.escape(name)}</a></dt><dd>{html.escape(about)}</dd>\n'
    return f"<h1>pebsd</h1>\n<h2>Manual pages</h2>\n<dl>\n{rows[True]}</dl>\n<h2>Other documents</h2>\n<dl>\n{rows[False]}</dl>"


def write(folder, files):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    files = [os.path.normpath(path) for path in files]
    pages = {}
    for path in files:
        if MANUAL.match(os.path.basename(path)):
            pages[os.path.basename(path)[:-2]] = os.path.basename(path)
    for path in files:
        is_manual = MANUAL.match(os.path.basename(path))
        body = manual(path, pages) if is_manual else markdown(path, set(files), folder, pages)
        with open(os.path.join(folder, output_name(path)), "w", encoding="utf-8") as file:
            file.write(frame(title_of(path)[0], body))
    with open(os.path.join(folder, "index.html"), "w", encoding="utf-8") as file:
        file.write(frame("pebsd", index(files)))
    with open(os.path.join(folder, "style.css"), "w", encoding="utf-8") as file:
        file.write(STYLE)


class Places(html.parser.HTMLParser):
    """The links and anchors of a page, and its text outside of links."""

    def __init__(self, text):
        super().__init__()
        self.links, self.anchors, self.text, self.nested, self.depth = [], set(), "", 0, 0
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.anchors.update(value for key, value in attrs if key in ("id", "name"))
        self.links += [attributes[key] for key in ("href", "src") if key in attributes]
        if tag == "a":
            self.nested += self.depth
            self.depth += 1

    def handle_endtag(self, tag):
        if tag == "a":
            self.depth -= 1

    def handle_data(self, data):
        if not self.depth:
            self.text += data


def check(folder):
    pages = {}
    for name in os.listdir(folder):
        if name.endswith(".html"):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                pages[name] = Places(file.read())
    dead, links = [], 0
    reached, waiting = set(), ["index.html"]
    for name, places in sorted(pages.items()):
        for page, section in re.findall(r"(?<![\w.-])([\w.-]+)\(([1-8])\)", places.text):
            if f"{page}.{section}.html" in set(pages) - {name}:
                dead.append(f"{name}: {page}({section}) is not a link")
        if places.nested:
            dead.append(f"{name}: a link within a link")
        for target in places.links:
            place = urllib.parse.urlsplit(target)
            if place.scheme:
                continue
            links += 1
            file = place.path or name
            if not os.path.exists(os.path.join(folder, file)):
                dead.append(f"{name}: {target}: there is no such file")
            elif place.fragment and urllib.parse.unquote(place.fragment) not in pages[file].anchors:
                dead.append(f"{name}: {target}: there is no such place in the file")
    while waiting:
        name = waiting.pop()
        if name in pages and name not in reached:
            reached.add(name)
            waiting += [urllib.parse.urlsplit(target).path for target in pages[name].links]
    dead += [f"{name}: no link leads there from the index" for name in sorted(set(pages) - reached)]
    print("\n".join(dead) if dead else f"{len(pages)} pages, {links} links, none of them dead")
    return 1 if dead or not links else 0


def main(arguments):
    if arguments[:1] == ["--write"] and len(arguments) > 2:
        return write(arguments[1], arguments[2:])
    if arguments[:1] == ["--check"] and len(arguments) == 2:
        return check(arguments[1])
    return __doc__


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
