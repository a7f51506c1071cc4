#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Reads README.md, pebsd-tour(7) and pebsd-figures(7) as a new user would. Each block of commands (```sh, or a line
# with a prompt) runs in a checkout that has only the programs in build/. The blocks of a section, or of a manual
# page, run in one shell. The output must be what is shown after the commands in the same block, except for numbers,
# times and the width of columns. Blocks that another test runs are listed here with that test. The verbs, options,
# targets, manual pages and files named in README.md, in these two manual pages, in pebsd-hardware(7) and in the other
# documents (DOCUMENTS) must exist. So must the files named in CONTRIBUTING.md.
# shellcheck source=tests/e2e/daemon.sh
. "$(dirname "$0")/daemon.sh"
need python3
top=$PWD
export TZ=UTC

# The blocks that this test cannot run: commands of a block, the test that runs them, and that test's evidence.
cat >"$work/elsewhere" <<'EOT'
apt-get update | tests/tools/fresh_root.sh | grep -x ".*&& make $1" README.md
apt-get install -y --no-install-recommends make | tests/tools/fresh_root.sh | grep -x ".*&& make $1" README.md
make run | tests/tools/fresh_root.sh | command=$(command_for run)
make test | tests/tools/fresh_root.sh | command=$(command_for test)
sudo make deps-package | units/packages.mk | DEPS_package =
make deb | Makefile | test-package: deb
sudo apt install ./build/deb/pebsd_*.deb | tests/tools/package_root.sh | install -y --no-install-recommends /tmp/${package##*/}
make | tests/tools/fresh_root.sh | command=$(command_for run)
sudo make install | tests/e2e/test_install.sh | "${install[@]}" install
sudo systemd-sysusers | tests/e2e/test_install.sh | systemd-sysusers --root="$root"
sudo systemctl enable --now pebsd | tests/e2e/test_install.sh | systemctl --root="$root" enable pebsd
EOT

cat >"$work/readme.py" <<'EOP'
import glob, itertools, os, re, sys

work, top = sys.argv[2:4]
lines = open(f"{top}/README.md").read().split("\n")
wrong = []


PAGES = ("pebsd-tour.7", "pebsd-figures.7")
# The section of the README whose commands need a pebsd that runs already, with the rule of the README.
GIVEN = "Five questions that it answers"


def prompted(section, document, number, text):
    """The blocks of a text in which commands follow a prompt, and what they print follows them."""
    found, here = [], None
    for at, line in enumerate(text, number):
        if here is not None:
            found[-1]["text"] += "\n" + line
            here = None if line == here else here
        elif line.startswith(("# ", "$ ")):
            found.append({"section": section, "document": document, "line": at, "text": line[2:]})
            here = (re.findall(r"<<(\w+)$", line) or [None])[0]
        elif not found:
            wrong.append(f"{document}:{at}: no command stands before: {line}")
        else:
            found[-1].setdefault("shown", []).append(line)
    return found


def of_readme():
    section, kind, found, text = "", None, [], []
    for number, line in enumerate(lines, 1):
        if kind is not None and line != "```":
            text.append(line)
        elif kind is not None:
            if kind == "sh":
                found.append({"section": section, "document": "README.md", "line": number - len(text),
                              "text": "\n".join(text)})
            elif kind == "console":
                found += prompted(section, "README.md", number - len(text), text)
            elif kind == "text":
                found[-1]["shown"] = text
            elif kind != "ini":
                wrong.append(f"line {number}: a block is of no kind that is looked at: \"{kind}\"")
            kind, text = None, []
        elif line.startswith("```"):
            kind = line[3:]
        elif line.startswith("## "):
            section = line[3:]
    return found


def of_page(page):
    found, text = [], None
    for number, line in enumerate(open(f"{top}/daemon/man/{page}").read().split("\n"), 1):
        if line == ".EX":
            text = []
        elif line == ".EE":
            found += prompted(page, page, number - len(text), text)
            text = None
        elif text is not None:
            text.append(line.replace("\\&", "").replace("\\-", "-").replace("\\(dq", '"').replace("\\e", "\\"))
    return found


def blocks():
    """Each block of commands: its section, its place, its text, and what is shown of its output."""
    return of_readme() + [block for page in PAGES for block in of_page(page)]


def elsewhere():
    return [[part.strip() for part in line.split(" | ")] for line in open(f"{work}/elsewhere")]


def prepare():
    """A script for each section whose blocks are run here."""
    used = set()
    commands = {command: (test, proof) for command, test, proof in elsewhere()}
    for command, (test, proof) in commands.items():
        if proof not in open(f"{top}/{test}").read():
            wrong.append(f"\"{command}\": {test} has no {proof}")
    here = []
    for number, block in enumerate(blocks()):
        parts = [part.strip() for part in block["text"].split("&&")]
        if all(part in commands for part in parts):
            used.update(parts)
            continue
        here.append((number, block))
        open(f"{work}/block{number}", "w").write(block["text"] + "\n")
    for command in commands.keys() - used:
        wrong.append(f"the README has no \"{command}\" that another test would run")
    for document, least in (("README.md", 5), ("pebsd-tour.7", 4), ("pebsd-figures.7", 1)):
        if len([block for _, block in here if "shown" in block and block["document"] == document]) < least:
            wrong.append(f"{document} shows too little")
    if not any(block["section"] == GIVEN for _, block in here):
        wrong.append(f"the README has no section \"{GIVEN}\"")
    with open(f"{work}/sections", "w") as sections:
        for section in dict.fromkeys(block["section"] for _, block in here):
            print("given" if section == GIVEN else "alone",
                  *(number for number, block in here if block["section"] == section), file=sections)


def normal(line):
    line = re.sub("[\u2581-\u258f]+", "", line)
    if "Measured:" in line:
        line = "Measured:"
    line = re.sub(r"\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun) (?=\d{4}-)", "", line)
    line = re.sub(r"0x[0-9a-f]+", "N", line)
    line = re.sub(r"[<>]?[+-]?\d[\d.,]*", "N", line)
    line = re.sub(r"\bN(ms|s|min|h)\b( N(ms|s|min|h)\b)*", "T", line)
    return re.sub(r"\s+", " ", line).strip()


def normals(text):
    found = []
    # Alerts are listed by the time at which they fired. By chance, one may fire a collection later than another.
    for alerts, lines in itertools.groupby(map(normal, text), lambda line: line.startswith("firing ")):
        for line in sorted(lines) if alerts else lines:
            # The trend of samples needs a cell that pebsd sampled as a whole: it depends on how long pebsd has run.
            if re.match("Trend: .* samples a second from", line):
                continue
            if line == "..." or not found or line != found[-1]:
                found.append(line)
    return found


def follows(expected, found):
    """Whether the lines are as they are shown; "..." stands for any."""
    parts, part = [[]], None
    for line in normals(expected):
        if line == "...":
            parts.append([])
        else:
            parts[-1].append(line)
    found = normals(found)
    if found[:len(parts[0])] != parts[0]:
        return False
    at = len(parts[0])
    if len(parts) == 1:
        return at == len(found)
    for part in parts[1:-1]:
        while at <= len(found) and found[at:at + len(part)] != part:
            at += 1
        at += len(part)
    return at + len(parts[-1]) <= len(found) and found[len(found) - len(parts[-1]):] == parts[-1]


def compare_block(number, block):
    what = f"{block['document']}:{block['line']}: {block['text'].splitlines()[0]}"
    found = open(f"{work}/block{number}.out").read().rstrip("\n").split("\n")
    status = open(f"{work}/block{number}.status").read().strip()
    if status != "0":
        wrong.append(f"{what}: exit code {status}: {open(f'{work}/block{number}.err').read()}")
    elif "shown" in block and not follows(block["shown"], found):
        wrong.append("\n".join([f"{what}: it is shown with", *normals(block["shown"]), "and it prints", *normals(found)]))


def compare():
    for number, block in enumerate(blocks()):
        if os.path.exists(f"{work}/block{number}"):
            compare_block(number, block)


def again():
    """Fails if the output of a block, sys.argv[4], is shown and differs from what is shown."""
    number = int(sys.argv[4])
    block = blocks()[number]
    if "shown" in block:
        compare_block(number, block)


# README.md, and the files with the text that is too long for it.
DOCUMENTS = ("README.md", ".github/SECURITY.md", "daemon/README.md", "daemon/origin/perf/README.md", "tests/README.md",
             "tests/bench/README.md")


def quotes_of_page(page):
    """What a manual page has in bold or italics, and its examples."""
    text = open(f"{top}/daemon/man/{page}").read().replace("\\&", "").replace("\\-", "-").replace("\\(dq", '"')
    quotes = re.findall(r"^\.(?:B|BI|I|BR|IR|RB) (.*)$", text, re.M)
    return [quote.replace('"', "").strip() for quote in quotes] + re.findall(r"^[#$] (.*)$", text, re.M)


def names():
    """Returns the names in the text outside of the blocks."""
    texts = {name: re.sub(r"^```.*?^```$", "", open(f"{top}/{name}").read(), flags=re.M | re.S) for name in DOCUMENTS}
    # Quoted words may continue on the next line.
    quoted = [(name, re.sub(r"\s+", " ", words)) for name, text in texts.items()
              for words in re.findall(r"`([^`]+)`", text)]
    quoted += [(page, quote) for page in PAGES + ("pebsd-hardware.7",) for quote in quotes_of_page(page)]
    quoted += [(block["document"], block["text"]) for block in blocks() if "\n" not in block["text"]]
    helps = {program: os.popen(f"{os.environ[program.upper()]} --help").read() for program in ("pebsd", "pebsctl")}
    rules = "".join(open(file).read() for file in [f"{top}/Makefile"] + glob.glob(f"{top}/*/*.mk"))
    targets = re.findall(r"^([a-z][a-z-]*):", rules, re.M)
    targets += [f"bench-{name}" for name in re.findall(r"^RUNS_([a-z-]+) =", rules, re.M)]
    targets += [f"deps-{name}" for name in re.findall(r"^DEPS_([a-z]+) =", rules, re.M)]
    counted = {"make": 0, "pebsctl": 0, "options": 0, "files": 0, "pages": 0}
    for name, quote in quoted:
        made = re.match(r"(?:sudo )?make( [a-z-]+)?", quote)
        if made and made[0] == quote.split("=")[0].rsplit(" C", 1)[0].rsplit(" A", 1)[0]:
            counted["make"] += 1
            if made[1] and made[1].strip() not in targets:
                wrong.append(f"{name}: there is no \"{quote}\"")
        verb = re.match(r"pebsctl (?:--json )?([a-z]+)", quote)
        if verb:
            counted["pebsctl"] += 1
            if not re.search(rf"^ +(.* )?{verb[1]}\b", helps["pebsctl"], re.M):
                wrong.append(f"{name}: pebsctl has no verb of \"{quote}\"")
        program = re.match(r"(?:sudo )?(?:build/)?(pebsd|pebsctl)\b.* --", quote)
        for option in re.findall(r" (--[a-z-]+)", quote) if program else []:
            counted["options"] += 1
            if option not in helps[program[1]] and option not in ("--http", "--container-names", "--keeper"):
                wrong.append(f"{name}: {program[1]} has no {option}: \"{quote}\"")
    files = {file for folder in ("bpf", "daemon", "include", "tests") for _, _, files in os.walk(f"{top}/{folder}") for file in files}
    contributing = [(".github/CONTRIBUTING.md", quote)
                    for quote in re.findall(r"`([^`\n]+)`", open(f"{top}/.github/CONTRIBUTING.md").read())]
    for name, quote in quoted + contributing:
        if re.match(r"(bpf|config|daemon|include|tests|units|\.ci|\.github)/[\w./-]*$", quote):
            counted["files"] += 1
            # The tables of claims leave out tests/.
            if not os.path.exists(f"{top}/{quote}") and not os.path.exists(f"{top}/tests/{quote}"):
                wrong.append(f"{name}: there is no {quote}")
        elif re.match(r"\w+\.(bpf\.)?[ch]$", quote):
            counted["files"] += 1
            if quote not in files:
                wrong.append(f"{name}: there is no {quote}")
    for name, text in texts.items():
        heads = ["#" + re.sub(r"[^a-z0-9 -]", "", line.lstrip("# ").lower()).replace(" ", "-")
                 for line in text.split("\n") if line.startswith("#")]
        for link in re.findall(r"\]\(([^)\s]+)\)", text):
            counted["files"] += 1
            if link not in heads if link.startswith("#") else not os.path.exists(f"{top}/{os.path.dirname(name)}/{link}"):
                wrong.append(f"{name}: a link leads nowhere: {link}")
        for page, section in re.findall(r"\b((?:io\.)?pebs[a-z.-]*)\(([1-8])\)", text):
            counted["pages"] += 1
            if not os.path.exists(f"{top}/daemon/man/{page}.{section}"):
                wrong.append(f"{name}: there is no page {page}({section})")
    for page in PAGES + ("pebsd-hardware.7",):
        for other, section in re.findall(r"^\.BR ((?:io\.)?pebs\S*) \(([1-8])\)",
                                         open(f"{top}/daemon/man/{page}").read().replace("\\-", "-"), re.M):
            counted["pages"] += 1
            if not os.path.exists(f"{top}/daemon/man/{other}.{section}"):
                wrong.append(f"{page}: there is no page {other}({section})")
    for what, count in counted.items():
        if count < 10:
            wrong.append(f"only {count} of {what} are found in the text")


{"prepare": prepare, "compare": compare, "again": again, "names": names}[sys.argv[1]]()
if wrong:
    sys.exit("\n".join(wrong))
EOP
readme() {
	PEBSD=$PEBSD PEBSCTL=$PEBSCTL python3 "$work/readme.py" "$1" "$work" "$top" 2>"$work/wrong" || fail "$(cat "$work/wrong")"
}

readme names
readme prepare

# The outputs were made in this locale.
export LC_ALL=C.UTF-8

mkdir -p "$work/checkout/build"
for name in pebsd pebsctl pebsd-opener; do
	ln -s "$(realpath "$(dirname "$PEBSD")/$name")" "$work/checkout/build/$name"
done
# Starts the pebsd that the section GIVEN needs. This pebsd stands for an installed one, to which the user's
# commands talk. It has the rule of the README, and the rule fires.
sed -n '/^\[rule /,/^EOF$/{/^EOF$/!p}' README.md >"$work/given.conf"
[ -s "$work/given.conf" ] || fail 'the README has no rule'
mkdir "$work/given" "$work/alone"
printf '#!/bin/sh\nexec "%s" --socket "%s" "$@"\n' "$(realpath "$PEBSCTL")" "$socket" >"$work/given/pebsctl"
chmod +x "$work/given/pebsctl"
ln -s "$(realpath "$PEBSD")" "$(realpath "$PEBSCTL")" "$work/alone/"
start --origin model --config "$work/given.conf"
for _ in $(seq 80); do
	! ctl alerts | grep -q ^firing || break
	sleep 1
done
ctl alerts | grep -q ^firing || fail 'the rule of the README does not fire'

# The figures are those of a moment. By chance, an alert may fire a collection later than another, and cgroups with
# similar latencies may change places, so a block whose output is shown runs up to four times. Such blocks only look at
# figures.
cat >"$work/section.sh" <<'EOT'
cd "$1/checkout" || exit 1
trap 'jobs -p | xargs -r kill 2>/dev/null; wait' EXIT
trap 'exit 1' TERM
for number in $2; do
	for _ in 1 2 3 4; do
		. "$1/block$number" >"$1/block$number.out" 2>"$1/block$number.err" </dev/null
		echo $? >"$1/block$number.status"
		! python3 "$1/readme.py" again "$1" "$3" "$number" 2>/dev/null || break
		sleep 2
	done
done
EOT
# All sections run at the same time, because they mostly wait. They stay in the process group of this test, and so
# end with it.
while read -r kind numbers; do
	PATH=$work/$kind:$PATH timeout --foreground 240 bash "$work/section.sh" "$work" "$numbers" "$top" &
	others="${others:-} $!"
done <"$work/sections"
# shellcheck disable=SC2086 # words
wait $others || :
others=''
for block in "$work"/block*[0-9]; do
	[ -e "$block.status" ] || fail "does not end: $(cat "$block")"
done
readme compare
