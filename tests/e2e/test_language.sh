#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The language check must pass for this repository. In every kind of file it must find forbidden turns of phrase, and in
# C sources also forbidden names. It must let good sentences and names pass.
set -eu

cd "$(dirname "$0")/../.."
for program in make python3; do
	command -v $program >/dev/null || {
		echo "needs $program"
		exit 77
	}
done
make --no-print-directory lint-language

work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
fail() {
	printf '%s\n' "$*"
	exit 1
}
tool=$PWD/tests/tools/language.py
cd "$work"

# finds FILE LINE...: expects a forbidden turn in each of these lines of the file, and in no other line. The text of
# the file comes from standard input.
finds() {
	local file=$1 expected found
	shift
	cat >"$file"
	expected=$(printf '%s\n' "$@")
	found=$("$tool" "$file" | cut -d : -f 2 | sort -nu || :)
	[ "$expected" = "$found" ] || fail "$file: expected turns in lines: $*; found: $("$tool" "$file")"
	rm "$file"
}

finds message.c 2 3 6 7 <<'C'
	log("%s is not a file", path);
	log("%s is no file", path);
	log("watch does not "
	    "heed --for");
	/* There is no file, and there
	 * is no folder. It begins anew. */
	int kept; /* in the place of a new one */
	// language: quoted
	log("it begins anew"); log("it is told once");
	log("anewly");
	/* language: quoted: it is told */
C
# Words that the glossary rules out in names of sources and types, also in the plural. Words that it rules out for one
# meaning only, such as waits, are allowed, and so are other names.
finds names.c 1 4 6 7 <<'C'
struct perf_ledger {
};
struct ledgering { int ledgers; };
enum ledgers { ONE_LEDGER };
struct waits {
}; union give_back { int x; };
struct
	child_wish
{
};
static struct ledger *ledger_of(const struct ledger *from);
C
finds room.h 1 <<'C'
C
finds page.7 3 7 <<'M'
.SH DESCRIPTION
.B pebsd
is told
.PP
There
is no such thing.
A value is given \fIin the place\fP of another.
.nf
begin anew
.fi
M
finds README.md 1 <<'M'
This begins anew.
```
This begins anew.
```
M
finds script.sh 2 <<'S'
echo anew
# Begins anew.
S
finds board.json 2 <<'J'
  "expr": "anew",
  "description": "Those that are told."
J
finds some.rules.yml 1 4 <<'Y'
# Begins anew.
- expr: anew
  annotations:
    description: "What whoever asked for it gets."
Y
finds api.varlink 1 <<'V'
# The symboliser ended.
type Symbols (late: int)
V

mkdir folder
echo 'It begins anew.' >folder/README.md
! "$tool" >said || fail 'nothing is found in a folder'
"$tool" --except folder >said || fail "--except: $(cat said)"
