#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The page at /, opened in Chromium. It must show the same values as pebsctl, on a wide and on a narrow screen, and
# work with the keyboard. A name must never become markup. The page must request only from pebsd, once per
# collection, and must not violate its policy. It must say when pebsd does not answer. Leaves pictures of it in
# build/page/.
set -u
# shellcheck source=tests/e2e/daemon.sh
. tests/e2e/daemon.sh
# shellcheck source=tests/outside/browser.sh
. tests/outside/browser.sh
trap 'browser_end; end' EXIT
command -v chromium >/dev/null || skip 'needs chromium (Debian: chromium, fonts-dejavu-core)'
need jq curl base64
pictures=$(dirname "$PEBSD")/page
mkdir -p "$pictures"

# The cells of each row by column. A name is the text that the page shows.
table='[...document.querySelectorAll("#table tbody tr")].map(tr => Object.fromEntries([...tr.cells].map((cell, i) =>
	[document.querySelectorAll("#table thead th")[i].dataset.key, (cell.querySelector("bdi") || cell).textContent])))'

# The expected contents of the table, from pebsctl's JSON.
cat >"$work/expected.jq" <<'EOF'
def grouped: tostring | [while(length > 0; .[:-3])] | map(.[-3:]) | reverse | join(",");
def fixed: (. * 10 | round) as $tenths | "\($tenths / 10 | floor).\($tenths % 10)";
def count: if . != floor and . < 9.95 then fixed else round | grouped end;
def quantile: if .high >= 4294967295 then ">" + (.low | grouped) else .value | round | grouped end;
def percent: if . > 0 and . < 0.5 then "<1" else round | tostring end;
def visible: gsub("\u202e"; "\\u202e");
.window_s as $window | .total.events.loads.weighted.latency_sum as $weighted | .total.events.loads.latency.sum as $sum |
[.cgroups[] | .events.loads as $loads | {
	name: (.cgroup | visible),
	rate: ($loads.samples / ($window // 1) | count),
	share: (100 * ($loads.weighted.latency_sum // $loads.latency.sum) / ($weighted // $sum) |
		if . > 0 and . < 0.05 then "<0.1" else fixed end),
	p50: ($loads.latency.p50 | quantile), p99: ($loads.latency.p99 | quantile), mean: ($loads.latency.mean | round | grouped),
	hitm: (100 * ($loads.snoop.hitm // 0) / $loads.samples | percent)}]
EOF

open_page() {
	ask Page.navigate "{\"url\":\"http://127.0.0.1:$port/\"}"
	becomes 'the page has figures' true 'document.readyState === "complete" && document.querySelectorAll("#table tbody tr").length > 0'
}

# agrees WHAT [PEBSCTL_OPTION...]: compares the table with pebsctl, for the same collection
agrees() {
	local what=$1 expected='' found=''
	shift
	for _ in $(seq 200); do
		evaluate 'document.dispatchEvent(new Event("visibilitychange"))' >/dev/null
		sleep 0.3
		expected=$(ctl --json top "$@" | jq -c -f "$work/expected.jq")
		found=$(evaluate "$table" | jq -c 'map(del(.sources, .trend))')
		[ "$expected" != "$found" ] || return 0
	done
	fail "$what: pebsctl has $expected, the page $found"
}

# size_of FILE: prints width and height of a picture
size_of() {
	od -An -j16 -N8 -tu1 "$1" | awk '{print $3 * 256 + $4 " " $7 * 256 + $8}'
}

# look NAME: takes a picture at each width, for `alerts` also a dark one. Nothing may be wider than the screen.
look() {
	local width scheme file
	for width in 1280 400; do
		for scheme in light dark; do
			screen "$width" 900 "$scheme"
			expect "$1 at $width is no wider" true "$(evaluate 'document.documentElement.scrollWidth <= innerWidth')"
			[ "$scheme" = light ] || [ "$1" = alerts ] || continue
			file=$pictures/$1-$width-$scheme.png
			picture "$file"
			expect "the width of $file" "$width" "$(size_of "$file" | cut -d' ' -f1)"
		done
	done
	screen 1280 900
}

# All requests went to pebsd, nothing failed in the page, and no policy was violated.
innocent() {
	local others mistakes
	others=$(jq -r 'select(.method == "Network.requestWillBeSent") | .params.request.url' "$work/events" |
		grep -v -e "^http://127.0.0.1:$port/" -e '^data:,$' || :)
	[ -z "$others" ] || fail "requests to others: $others"
	mistakes=$(jq -c 'select(.method == "Runtime.exceptionThrown" or .method == "Page.javascriptDialogOpening" or
		(.method == "Log.entryAdded" and .params.entry.source != "network"))' "$work/events")
	[ -z "$mistakes" ] || fail "said in the page: $mistakes"
	expect 'violations of the policy' '[]' "$(evaluate violations)"
}

# Leaves the page, which sends requests as long as it is open, and ends pebsd.
leave_page() {
	ask Page.navigate '{"url":"about:blank"}'
	becomes 'another page' '"about:blank"' 'location.href'
	kill "$daemon"
	wait "$daemon" || :
	: >"$work/events"
}

browser_start

# Malicious names in a recording. The values stay the same.
file=$(recording)
LC_ALL=C sed "s,/system.slice/nginx.service,/<script>alert(1)</script>\",g
	s,/system.slice/postgresql.service,/<img src=x onerror=alert(2)>\xe2\x80\xae,g" "$file" >"$work/hostile.perf.data"
start --replay "$work/hostile.perf.data"
replayed
[ "$(ctl --json top | jq '[.cgroups[] | select(.cgroup | test("<script>|<img"))] | length')" = 2 ] || fail 'no hostile names'
open_page
agrees 'a recording'
expect 'elements made of names' '[1,0]' "$(evaluate '[document.scripts.length, document.images.length]')"
evaluate 'document.querySelectorAll("#table tbody a").forEach(a => { if (a.textContent.includes("script")) a.click(); })' >/dev/null
becomes 'the cgroup of that name' "\"/<script>alert(1)</script>\\\"\"" 'document.querySelector("#one-head bdi").textContent'
expect 'its samples, by bucket' \
	"$(ctl --json show "/<script>alert(1)</script>\"" | jq -c '[.events.loads.histogram[].samples]')" \
	"$(evaluate '[...document.querySelectorAll("#buckets tr")].map(tr => Number(tr.cells[1].textContent.replace(/,/g, "")))')"
expect 'its sources' \
	"$(ctl --json show "/<script>alert(1)</script>\"" | jq -c '[.events.loads.sources | to_entries[].key | gsub("_"; " ")] | sort')" \
	"$(evaluate '[...document.querySelectorAll("#sources tr th")].map(th => th.textContent).sort()')"
look names
innocent
leave_page

# The running model, at first without rules, then with a rule that fires and one that does not fire yet.
cat >"$work/pebsd.conf" <<'EOF'
[sampling]
interval = 2s
[rule slow]
cgroup = model:pointer-chase
metric = p50
above = 100
window = 10s
for = 0
min-samples = 50
[rule soon]
cgroup = model:remote-numa
metric = p50
above = 100
window = 10s
for = 1h
min-samples = 50
severity = page
[model]
workloads = all
EOF
printf '[model]\nworkloads = all\n' >"$work/quiet.conf"
start --origin model --config "$work/quiet.conf"
open_page
becomes 'no alert' true '!document.getElementById("no-alerts").hidden && document.getElementById("alert-list").children.length === 0'
expect 'it says that it is no measurement' true "$(evaluate 'document.getElementById("about").textContent.includes("not a measurement")')"
look quiet
leave_page

start --origin model --config "$work/pebsd.conf"
open_page
agrees 'the model' --window 10
becomes 'alerts' '["firing slow model:pointer-chase","pending soon model:remote-numa"]' \
	'[...document.querySelectorAll("#alert-list li")].map(li => [...li.children].slice(0, 3).map(e => e.textContent).join(" "))'
expect 'pebsctl has the same alerts' '["firing slow model:pointer-chase","pending soon model:remote-numa"]' \
	"$(ctl --json alerts | jq -c '[.alerts[] | "\(.held // .state) \(.rule) \(.cgroup)"] | sort')"
look alerts

# What waiting costs has columns only if it is known. A figure that is not known in one cgroup is a dash.
expect 'columns of waits' false "$(evaluate 'Boolean(document.querySelector("#table th[data-key=lost]"))')"
evaluate 'state.frozen = true; top_.waits = {wait: {value: 0.284}, cores_used: {value: 40.16}, cores_lost: {value: 11.4}};
	for (const cgroup of top_.cgroups)
		if (cgroup.cgroup === "model:pointer-chase")
			cgroup.waits = {wait: {value: 0.412, low: 0.38, high: 0.44}, cores_lost: {value: 3.24, low: 3, high: 3.6},
				traffic: {value: 5.128e9, low: 4e9}};
	render()' >/dev/null
expect 'waits of cgroups' '[["3.2","41"],["–","–"]]' "$(evaluate "$table.filter(row =>
	['model:pointer-chase', 'model:streaming'].includes(row.name)).map(row => [row.lost, row.wait])" | jq -c 'sort')"
expect 'waits of the host' true "$(evaluate 'document.getElementById("about").textContent.endsWith(
	"; all cgroups: cores lost 11.4, cores used 40.2, wait 28 %")')"
evaluate '[...document.querySelectorAll("#table tbody a")].find(a => a.textContent === "model:pointer-chase").click()' >/dev/null
becomes 'waits of one cgroup' '["3.23.0 to 3.6","41 %38 % to 44 %","5.13 GB/sat least 4.00 GB/s"]' \
	'[...document.querySelectorAll("#numbers div")].filter(div => ["cores lost", "wait", "traffic"].includes(
		div.querySelector("dt").textContent)).map(div => div.querySelector("dd").textContent)'
look waits
key Escape
becomes 'the table after that' true 'document.getElementById("one").hidden'
evaluate 'state.frozen = false; poll()' >/dev/null

# The page sends a request for each new collection and no more.
requests() {
	evaluate 1 >/dev/null
	grep -c '"Network.requestWillBeSent".*/top\.json' "$work/events"
}
before=$(requests) began=$(uptime_ms) asked=0
for _ in 1 2 3 4 5 6; do
	sleep 10
	asked=$(($(requests) - before))
	[ "$asked" = 0 ] || break
done
ms=$(($(uptime_ms) - began))
if [ "$asked" -lt 1 ] || [ "$asked" -gt $((ms / 2000 + 1)) ]; then
	fail "in $ms ms, with a collection each two seconds, it asked $asked times"
fi

# The page must work with the keyboard only.
key /
expect 'the filter is typed into' '"filter"' "$(evaluate 'document.activeElement.id')"
ask Input.insertText '{"text":"Chase"}'
becomes 'one row' '["model:pointer-chase"]' "$table.map(row => row.name)"
key Escape
key ArrowDown
expect 'the first row' '"model:pointer-chase"' "$(evaluate 'document.activeElement.textContent')"
key Enter $'\\r'
becomes 'its figures' '["model:pointer-chase",true]' \
	'[document.activeElement.textContent, document.querySelectorAll("#histogram rect").length > 3]'
look cgroup
key Escape
becomes 'the table again' true 'document.getElementById("one").hidden'
evaluate 'history.replaceState(null, "", "#"); recall()' >/dev/null
evaluate '[...document.querySelectorAll("#table thead button")].find(b => b.textContent === "p99").click()' >/dev/null
expect 'sorted by p99' true "$(evaluate "$table.map(row => Number(row.p99.replace(/[,>]/g, '')))" | jq '. == (sort | reverse)')"
expect 'and says so' '"descending"' "$(evaluate 'document.querySelector("th[data-key=p99]").getAttribute("aria-sort")')"
key f f
expect 'frozen' '"true"' "$(evaluate 'document.getElementById("freeze").getAttribute("aria-pressed")')"
key f f
innocent

# The page must tell when pebsd pauses, does not answer, answers again, and has ended.
ctl pause --for 10m >/dev/null
becomes 'a pause' true 'document.getElementById("trouble").textContent.startsWith("pebsd is not sampling: ")'
ctl resume >/dev/null
becomes 'sampling' true 'document.getElementById("trouble").hidden'
kill -STOP "$daemon"
becomes 'silence' true '/(does not answer|Lost connection).* old\./.test(document.getElementById("trouble").textContent)'
look silent
kill -CONT "$daemon"
becomes 'an answer' true 'document.getElementById("trouble").hidden && !document.body.classList.contains("old")'
kill "$daemon"
wait "$daemon" || :
becomes 'the end' true 'document.getElementById("trouble").textContent.startsWith("Lost connection to pebsd at 127.0.0.1:")'
expect 'violations until here' '[]' "$(evaluate violations)"

# The purpose of the policy is to stop code in the page itself. This also shows that the test notices violations.
expect 'no text becomes markup' '"TypeError"' \
	"$(evaluate 'try { document.body.innerHTML = "<b>"; "nothing" } catch (error) { error.name }')"
evaluate 'const image = new Image(); image.src = "http://192.0.2.1/x.png"; document.body.append(image); fetch("http://192.0.2.1/y").catch(() => 0)' \
	>/dev/null
becomes 'what it would not do' true 'violations.some(v => v.startsWith("img-src http://192.0.2.1")) &&
	violations.some(v => v.startsWith("connect-src http://192.0.2.1")) && violations.some(v => v.startsWith("require-trusted-types"))'
