#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The page at /, opened in Chromium. It must show the same values as pebsctl, on a wide and on a narrow screen, and
# work with the keyboard. A name must never become markup. The page must request only from pebsd, once per
# collection, and must not violate its policy. It must say when pebsd does not answer. With the fixed replies of
# page_data.js: ranges of time and their addresses, charts, alerts, code, and what it says if pebsd is paused or has no
# history. Leaves pictures of it in build/page/.
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

# The cells of each row by column. For the name, the path that its link shows on hover.
table='[...document.querySelectorAll("#table tbody tr")].map(tr => Object.fromEntries([...tr.cells].map((cell, i) =>
	[document.querySelectorAll("#table thead th")[i].dataset.key, (cell.querySelector("a") || {}).title || cell.textContent])))'

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
		found=$(evaluate "$table" | jq -c 'map(del(.sources, .trend, .lost, .wait))')
		[ "$expected" != "$found" ] || return 0
	done
	fail "$what: pebsctl has $expected, the page $found"
}

# has WHAT TEXT ID: the element contains the text
has() {
	becomes "$1" true "document.getElementById('$3').textContent.includes('$2')"
}

# size_of FILE: prints width and height of a picture
size_of() {
	od -An -j16 -N8 -tu1 "$1" | awk '{print $3 * 256 + $4 " " $7 * 256 + $8}'
}

# What a screen reader would call the controls that can be seen, as `role=name`: the part of the rules for accessible
# names that the page uses. A control with a symbol only, such as an arrow, has no name by it.
controls='[...document.querySelectorAll("a, button, input, select, textarea, summary, [tabindex=\"0\"]")]
	.filter(e => e.checkVisibility({visibilityProperty: true}))
	.map(e => [e, (e.getAttribute("aria-label") || (e.getAttribute("aria-labelledby") || "").split(" ")
		.map(id => (document.getElementById(id) || {textContent: ""}).textContent).join(" ").trim() ||
		[...e.labels || []].map(label => label.textContent).join(" ").trim() || (e.type ? e.value : "") || e.textContent).trim()])
	.map(([e, name]) => [e, /[\p{L}\p{N}]/u.test(name) ? name : (e.title || "").trim()])'

# look NAME: takes a picture at each width, for some also a dark one. Nothing may be wider than the screen, and every
# control has a name.
look() {
	local width scheme file
	for width in 600 701 824 1100 1319 1320; do
		screen "$width" 900
		expect "$1 fits into $width pixels" true "$(evaluate 'document.scrollingElement.scrollWidth <= innerWidth')"
		expect "the table of $1 fits into $width pixels" true "$(evaluate 'document.getElementById("rows").scrollWidth <= document.getElementById("rows").clientWidth')"
	done
	for width in 1400 760 390; do
		for scheme in light dark; do
			screen "$width" 900 "$scheme"
			expect "$1 fits into $width pixels" true "$(evaluate 'document.scrollingElement.scrollWidth <= innerWidth')"
			[ "$scheme" = light ] || [[ " alerts live range code " == *" $1 "* ]] || continue
			file=$pictures/$1-$width-$scheme.png
			picture "$file"
			expect "the width of $file" "$width" "$(size_of "$file" | cut -d' ' -f1)"
		done
	done
	screen 1400 900
	expect "controls of $1 without a name" '[]' "$(evaluate "$controls"'.filter(([, name]) => !name).map(([e]) => e.outerHTML.slice(0, 100))')"
	expect "$1 has controls" true "$(evaluate "$controls"'.length > 10')"
}

# All requests went to pebsd, nothing failed in the page, and no policy was violated.
innocent() {
	local others mistakes
	others=$(jq -r 'select(.method == "Network.requestWillBeSent") | .params.request.url' "$work/events" |
		grep -v -e "^http://127.0.0.1:$port/" -e "^blob:http://127.0.0.1:$port/" -e '^data:' || :)
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
has 'a replay' 'Replay: these figures come from a recording, not from now.' notice
has 'no advice that does not help' 'No timeline: No history is stored: a replay has the times of its recording.' no-history
expect 'nothing after it' true "$(evaluate 'document.getElementById("no-history").textContent.endsWith("of its recording.")')"
look replay
expect 'elements made of names' '[1,0]' "$(evaluate '[document.scripts.length, document.images.length]')"
evaluate 'document.querySelectorAll("#table tbody a").forEach(a => { if (a.title.includes("script")) a.click(); })' >/dev/null
becomes 'the cgroup of that name' "\"/<script>alert(1)</script>\\\"\"" \
	'document.getElementById("one-path").textContent || document.querySelector("#one-head bdi").textContent'
expect 'its samples, by bucket' \
	"$(ctl --json show "/<script>alert(1)</script>\"" | jq -c '[.events.loads.histogram[].samples]')" \
	"$(evaluate '[...document.querySelectorAll("#buckets tr")].map(tr => Number(tr.cells[1].textContent.replace(/,/g, "")))')"
expect 'its sources' \
	"$(ctl --json show "/<script>alert(1)</script>\"" | jq -c '[.events.loads.sources | to_entries[].key | gsub("_"; " ")] | sort')" \
	"$(evaluate '[...document.querySelectorAll("#sources tr th")].map(th => th.textContent).sort()')"
look names
innocent
leave_page

# 10,000 cgroups, of which the server lists the 50 costliest. The page says how many are not listed. The search finds
# them in the server.
"$TOOLS/make_hostile" "$work/many.perf.data" 10000
start --replay "$work/many.perf.data"
replayed
ask Page.navigate '{"url":"about:blank"}'
open_page
has 'the cgroups that are not listed' '99.5 % of them belong to cgroups that are not listed, of which Search finds 9,950: like /metrics,' rest
names_in_table='[...document.querySelectorAll("#table tbody a")].map(a => a.title)'
key / /
ask Input.insertText '{"text":"M5555"}'
becomes 'one that is not listed' '["\\u001b[31m5555"]' "$names_in_table.map(name => name.replace('comm:', ''))"
has 'the number' '1 found' found
key Enter $'\\r'
has 'its figures' '31m5555' one-head
becomes 'its sample' '"1"' 'document.querySelector("#buckets td").textContent'
key Escape
evaluate 'change({filter: "no such"})' >/dev/null
has 'no such cgroup' 'No cgroup has “no such” in its name, path or labels.' none
evaluate 'change({filter: "m77"})' >/dev/null
becomes 'many' '[100,"111 found, the costliest are listed"]' '[document.querySelectorAll("#table tbody tr").length, document.getElementById("found").textContent]'
evaluate 'change({filter: ""})' >/dev/null
becomes 'no search' '[50,""]' '[document.querySelectorAll("#table tbody tr").length, document.getElementById("found").textContent]'
evaluate 'go({cgroup: "comm:\u001b[31m4444"})' >/dev/null
becomes 'the address of one that is not listed' '"1"' 'document.getElementById("one-gone").hidden && document.querySelector("#buckets td").textContent'
look many
innocent
leave_page

# With a large `top`, the page lists all cgroups that fit into one answer.
printf '[export]\ntop = 10000\n' >"$work/top.conf"
start --config "$work/top.conf" --replay "$work/many.perf.data"
replayed
open_page
becomes 'a bounded number of rows' 100 'document.querySelectorAll("#table tbody tr").length'
expect 'listed and not listed' 10000 "$(evaluate 'top_.cgroups.length + top_.unlisted')"
[ "$(evaluate 'top_.cgroups.length')" -gt 1000 ] || fail "few are listed: $(evaluate 'top_.cgroups.length')"
echo "$(evaluate 'top_.cgroups.length') of 10,000 cgroups: drawn in $(evaluate '(began => { made = {}; render(); return Math.round(performance.now() - began); })(performance.now())') ms, again in" \
	"$(evaluate '(began => { render(); return Math.round(performance.now() - began); })(performance.now())') ms"
echo "search in the page: $(evaluate '(began => { state.filter = "m5555"; render(); const took = performance.now() - began; state.filter = ""; return Math.round(took); })(performance.now())') ms, in the" \
	"server: $(evaluate '(began => fetch("top.json?match=m9999").then(r => r.json()).then(r => Math.round(performance.now() - began) + " ms, " + r.cgroups.length))(performance.now())') found"
leave_page

# The running model, at first without rules, then with a rule that fires and one that does not fire yet.
cat >"$work/pebsd.conf" <<'EOF'
[sampling]
events = loads
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
	'[...document.querySelectorAll("#alert-list .lane")].map(lane => [lane.children[0].textContent, lane.children[2].textContent,
		lane.children[1].title].join(" "))'
expect 'pebsctl has the same alerts' '["firing slow model:pointer-chase","pending soon model:remote-numa"]' \
	"$(ctl --json alerts | jq -c '[.alerts[] | "\(.held // .state) \(.rule) \(.cgroup)"] | sort')"
look alerts

# The columns of the cost of waiting are shown only if it is known. A figure that is unknown in one cgroup is a dash.
expect 'columns of waits' false "$(evaluate 'Boolean(document.querySelector("#table th[data-key=lost]"))')"
evaluate 'state.frozen = true; made = {}; top_.waits = {wait: {value: 0.284}, cores_used: {value: 40.16}, cores_lost: {value: 11.4}};
	for (const cgroup of top_.cgroups)
		if (cgroup.cgroup === "model:pointer-chase")
			cgroup.waits = {wait: {value: 0.412, low: 0.38, high: 0.44}, cores_lost: {value: 3.24, low: 3, high: 3.6},
				traffic: {value: 5.128e9, low: 4e9}};
	render()' >/dev/null
expect 'waits of cgroups' '[["3.2","41"],["–","–"]]' "$(evaluate "$table.filter(row =>
	['model:pointer-chase', 'model:streaming'].includes(row.name)).map(row => [row.lost, row.wait])" | jq -c 'sort')"
expect 'waits of the host' true "$(evaluate 'document.getElementById("about").textContent.endsWith(
	"; all cgroups: cores lost 11.4, cores used 40.2, wait 28 %")')"
evaluate '[...document.querySelectorAll("#table tbody a")].find(a => a.title === "model:pointer-chase").click()' >/dev/null
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
key ArrowDown
expect 'the first row' '"model:pointer-chase"' "$(evaluate 'document.activeElement.title')"
key Enter $'\\r'
becomes 'its figures' '[true,true]' \
	'[document.activeElement.textContent.endsWith("pointer-chase"), document.querySelectorAll("#histogram rect").length > 3]'
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

leave_page

# A history: the page has the figures that pebsctl has of the same range.
export STATE_DIRECTORY=$work/state
mkdir "$STATE_DIRECTORY"
sed 's/^interval = .*/interval = 250ms/' "$work/pebsd.conf" >"$work/history.conf"
printf '[history]\nkeep = yes\n' >>"$work/history.conf"
start --origin model --config "$work/history.conf"
open_page
becomes 'a timeline' true 'Boolean(bodyOf("timeline")) && bodyOf("timeline").bins.length >= 3 && document.querySelectorAll("#timeline path[class^=s]").length >= 4'
evaluate 'choose(viewOf().until - 20, viewOf().until)' >/dev/null
becomes 'figures of the range' true 'Boolean(bodyOf("range")) && !following'
read -r since until_ < <(evaluate '[rfc3339(state.since), rfc3339(state.until)].join(" ")' | tr -d '"')
expect 'samples of each cgroup' "$(ctl --json top --since "$since" --until "$until_" | jq -c '[.cgroups[] | [.cgroup, .events.loads.samples]] | sort')" \
	"$(evaluate 'bodyOf("range").cgroups.map(c => [c.cgroup, c.events.loads.samples])' | jq -c sort)"
evaluate '[...document.querySelectorAll("#table tbody a")].find(a => a.title === "model:pointer-chase").click()' >/dev/null
becomes 'its heatmap and histogram' true 'Boolean(bodyOf("heat")) && bodyOf("heat").cgroup === "model:pointer-chase" && !document.getElementById("one-heat").hidden &&
	document.querySelectorAll("#histogram rect").length > 10'
evaluate '[...document.querySelectorAll("#alert-list .lane")].find(lane => lane.textContent.includes("slow")).click()' >/dev/null
has 'an explanation' 'the rule fires when p50 is proven to be above 96 cycles' explanation
expect 'refusals' '[]' "$(evaluate 'Object.values(past).map(of => of.error).filter(Boolean)')"
innocent

# Fixed data from here on: page_data.js replies in place of the server.
script=''
# data_page MODE HASH: opens the page with these replies
data_page() {
	[ -z "$script" ] || ask Page.removeScriptToEvaluateOnNewDocument "{\"identifier\":\"$script\"}"
	ask Page.addScriptToEvaluateOnNewDocument "$(jq -cn --rawfile source tests/outside/page_data.js --arg mode "$1" \
		'{source: ($source + "fixture.mode = \"" + $mode + "\";")}')"
	script=$(jq -r .result.identifier <<<"$answer")
	ask Page.navigate '{"url":"about:blank"}'
	ask Page.navigate "{\"url\":\"http://127.0.0.1:$port/#$2\"}"
	becomes "the page with $1 and $2" true 'document.readyState === "complete" && document.querySelectorAll("#table tbody tr").length > 0 &&
		Boolean(past.timeline) && past.timeline.key !== "" && !following'
}

# drag TIME TIME: drags across the timeline from one time to the other (of 2026-01-15, UTC)
drag() {
	local begin end y type
	read -r begin end y < <(evaluate "(() => {
		scrollTo(0, 0);
		const box = document.getElementById('timeline').getBoundingClientRect(), x = xOf(viewOf(), box.width);
		return [x(seconds('2026-01-15T$1Z')) + box.left, x(seconds('2026-01-15T$2Z')) + box.left, box.top + 60].join(' ');
	})()" | tr -d '"')
	for type in "mousePressed $begin" "mouseMoved $end" "mouseReleased $end"; do
		ask Input.dispatchMouseEvent "{\"type\":\"${type% *}\",\"x\":${type#* },\"y\":$y,\"button\":\"left\",\"buttons\":1,\"clickCount\":1}"
	done
}

ask Emulation.setTimezoneOverride '{"timezoneId":"UTC"}'
postgresql=/system.slice/postgresql@15-main.service
shop=/kubepods.slice/pod7/cri-6d4f.scope
incident='since=2026-01-15T11%3A53%3A00Z&until=2026-01-15T11%3A56%3A00Z&end=2026-01-15T12%3A00%3A00Z'
address() {
	jq -rn --arg text "$1" '$text | @uri'
}

data_page '' ''
expect 'names first, and the path on hover' "[\"postgresql@15-main\",\"$postgresql\"]" \
	"$(evaluate '(a => [a.textContent, a.title])(document.querySelector("#table tbody a"))')"
expect 'a name stays text' '[true,1,0]' "$(evaluate '[[...document.querySelectorAll("#table bdi")].some(e => e.textContent === "<script>alert(1)</script>\\u202e"),
	document.scripts.length, document.images.length]')"
expect 'rows with alerts' '["firing","pending"]' "$(evaluate '[...document.querySelectorAll("#table .mark")].map(e => e.className.slice(5)).sort()')"
becomes 'the timeline by source' true 'document.querySelectorAll("#timeline path[class^=s]").length >= 6'
expect 'a band for each alert that fired' 2 "$(evaluate 'document.querySelectorAll("#timeline .band").length')"
expect 'cores lost are drawn' 1 "$(evaluate 'document.querySelectorAll("#timeline .lost").length')"
expect 'time that is not stored is a gap' 1 "$(evaluate 'document.querySelectorAll("#timeline .gap").length')"
becomes 'the heatmap of all cgroups' true '(canvas => new Set(canvas.getContext("2d").getImageData(0, 0, canvas.width, 180).data).size > 50)(
	document.querySelector("#heat canvas"))'
look live

# One drag and two clicks find the incident.
drag 11:53:00 11:56:00
becomes 'the address has the range' "\"#$incident\"" 'location.hash'
has 'the range' 'Chosen: 11:53:00 to 11:56:00 (3 min)' chosen-range
has 'the table is about it' '11:53:00 to 11:56:00' range-text
expect 'no trend of another time' 0 "$(evaluate 'document.querySelectorAll("#table .trend svg").length')"
expect 'the database is the costliest' "\"$postgresql\"" "$(evaluate 'document.querySelector("#table tbody a").title')"
expect 'its alert fired in this range' '"an alert fired in this range"' "$(evaluate 'document.querySelector("#table tbody .mark").title')"
evaluate 'document.querySelector("#table tbody tr td").click()' >/dev/null
has 'its figures' postgresql@15-main one-head
becomes 'its histogram by source' true 'document.querySelectorAll("#histogram rect.s5").length > 5 && document.querySelectorAll("#histogram .before").length === 1'
has 'the range before is the outline' '3 min before' histogram-unit
becomes 'the quantiles of its heatmap' '[true,true]' '["p50", "p99"].map(name => document.querySelectorAll("#heat polyline.of-" + name).length > 0)'
evaluate '[...document.querySelectorAll("#alert-list .lane")].find(lane => lane.textContent.includes("remote-loads")).click()' >/dev/null
has 'the explanation' 'the rule fires when the share is proven to be above its limit' explanation
has 'value and limit' 'share:remote 43 % at worst, limit: above 30 %' explanation
expect 'the address has the alert' true "$(evaluate 'location.hash.includes("rule=remote-loads")')"
look range

# The address brings all of it back, in a new page.
data_page '' "cgroup=$(address "$postgresql")&rule=remote-loads&$incident"
has 'the range of the address' 'Chosen: 11:53:00 to 11:56:00 (3 min)' chosen-range
has 'its cgroup' postgresql@15-main one-head
has 'its alert' 'proven to be above' explanation
becomes 'the request for its range' true 'fixture.asked.includes("/range.json?since=2026-01-15T11%3A53%3A00Z&until=2026-01-15T11%3A56%3A00Z")'

# Escape goes back step by step. All else that the mouse does has keys.
key Escape
becomes 'no explanation' true 'document.getElementById("explanation").hidden'
key Escape
has 'all cgroups' 'All cgroups' one-head
key Escape
has 'now' 'Live: the last 10 s' chosen-range
key t t
key ArrowLeft
has 'a range by keys' 'Chosen: 11:59:00 to 12:00:00' chosen-range
key ArrowLeft
has 'it moves' 'Chosen: 11:58:50 to 11:59:50' chosen-range
evaluate 'document.getElementById("timeline").dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowLeft", shiftKey: true, bubbles: true}))' >/dev/null
has 'its end moves' 'Chosen: 11:58:50 to 11:59:40' chosen-range
for _ in 1 2 3; do
	key ArrowRight
done
has 'it keeps its length at the end of the chart' 'Chosen: 11:59:10 to 12:00:00' chosen-range
evaluate 'nudge(1, true); choose(viewOf().since + 10, viewOf().since + 40); nudge(-1); nudge(-1)' >/dev/null
has 'and at its begin' 'Chosen: 11:50:00 to 11:50:30' chosen-range
evaluate 'document.getElementById("time-details").open = true; document.getElementById("choose").focus(); document.getElementById("from").value = "2026-01-15T11:55:00";
	document.getElementById("until").value = "2026-01-15T11:54:00"; render(); document.getElementById("choose").click()' >/dev/null
has 'a range without a length' 'From must be a time before Until.' choose-said
evaluate 'document.getElementById("until").value = "2026-01-15T11:56:00"; render(); document.getElementById("choose").click()' >/dev/null
becomes 'a range that is typed' '["","Chosen: 11:55:00 to 11:56:00 (1 min)"]' '["choose-said", "chosen-range"].map(id => document.getElementById(id).textContent)'
evaluate 'document.getElementById("timeline").focus(); document.getElementById("time-details").open = false' >/dev/null
key Escape
key 3 3
becomes 'an hour' '["#span=3600","true"]' '[location.hash, document.querySelector("#spans [data-span=\"3600\"]").getAttribute("aria-pressed")]'
key '[' '['
becomes 'earlier' true 'location.hash.includes("end=2026-01-15T11%3A30%3A00Z")'
key Escape
becomes 'all of it is left' '["#",true]' '["#" + location.hash.slice(1), document.getElementById("now").hidden]'
key '[' '['
key ']' ']'
becomes 'ten minutes' '["#span=600",false]' '[location.hash, document.getElementById("now").hidden]'
evaluate 'document.getElementById("now").click()' >/dev/null
has 'now again' 'Live: the last 10 s' chosen-range
key a a
expect 'alerts have a key' true "$(evaluate 'document.activeElement.className === "lane"')"
key / /
ask Input.insertText '{"text":"team=pay"}'
becomes 'a search over the labels' "[\"$shop\"]" "$table.map(row => row.name)"
key Escape
becomes 'no search' '["",6]' '[document.getElementById("filter").value, document.querySelectorAll("#table tbody tr").length]'

# When summer time ends or begins, each mark stays at a full hour or day of its own time, and names the offset once it
# is another.
ask Emulation.setTimezoneOverride '{"timezoneId":"Europe/Berlin"}'
data_page '' 'span=172800&end=2025-10-27T00%3A00%3A00Z'
becomes 'marks of two days' '"04:00 08:00 12:00 16:00 20:00 10-26 04:00 UTC+1 08:00 12:00 16:00 20:00 10-27"' \
	'[...document.querySelectorAll("#timeline text")].map(e => e.textContent).filter(t => /[:-]/.test(t)).join(" ")'
expect 'a time of two days and of one' '["2025-10-26 02:30:00","02:30:00"]' "$(evaluate '[viewOf(), {since: 1761438600, until: 1761440000}].map(view => timeIn(view, 1761438600))')"
has 'the offsets' 'times in UTC+2, then UTC+1' time-unit
marks='text => (([since, until, width]) => timeMarks(seconds(since), seconds(until), width).map(mark => mark.text).join(" "))(text.split(" "))'
expect 'days and hours in autumn and spring' '["10-24 10-25 10-26 10-27 UTC+1 10-28","10-26 01:00 02:00 02:00 UTC+1 03:00","22:00 03-29 04:00 UTC+2 06:00 08:00"]' "$(evaluate "[
	'2025-10-23T22:00:00Z 2025-10-28T00:00:00Z 500', '2025-10-25T22:00:00Z 2025-10-26T02:00:00Z 400', '2026-03-28T20:00:00Z 2026-03-29T06:00:00Z 500'].map($marks)")"
expect 'a range' '"2025-10-26 02:30:00 UTC+2 to 02:30:00 UTC+1"' "$(evaluate 'rangeText(seconds("2025-10-26T00:30:00Z"), seconds("2025-10-26T01:30:00Z"))')"

# Sentences of the server have their times in the zone of the page, too.
ask Emulation.setTimezoneOverride '{"timezoneId":"Asia/Kolkata"}'
data_page paused "cgroup=$(address "$shop")&rule=shared-lines"
has 'the time of a pause' 'paused until 2026-01-15 17:40:00. The figures' trouble
has 'the time of an alert' 'the alert has been firing since 2026-01-15 17:27:20' explanation
evaluate 'choose(seconds("2026-01-15T11:53:00Z"), seconds("2026-01-15T11:56:00Z"))' >/dev/null
has 'the times of a history' 'The history reaches from 2026-01-15 17:28:00 to 2026-01-15 17:30:00.' range-text
expect 'no time of another zone' false "$(evaluate '/\dT\d\d:.*Z/.test(document.querySelector("main").textContent)')"
ask Emulation.setTimezoneOverride '{"timezoneId":"UTC"}'

# Code: a zoom is begun where it is permitted.
data_page no-zoom-yet "cgroup=$(address "$shop")"
has 'no zoom yet' 'No zoom into this service yet' code-said
key z z
becomes 'the flame graph' '[7,true]' '(all => [all.length, all.some(e => e.className === "s5" && e.textContent.startsWith("count_order stats.c:118"))])(
	[...document.querySelectorAll("#flame button")])'
expect 'a function stays text' true "$(evaluate '[...document.querySelectorAll("#flame button")].some(e => e.textContent.startsWith("<b>parse</b>"))')"
expect 'bytes of contended lines, by CPU' '["4 CPUs, first at 0%","2 CPUs, first at 0%"]' "$(evaluate '[...document.querySelectorAll(".line64")].map(line =>
	line.querySelectorAll(".track").length + " CPUs, first at " + line.querySelector(".track i").style.left)')"
evaluate 'window.box = document.querySelector("#flame button"); box.focus(); fixture.asked = []; poll()' >/dev/null
becomes 'new figures below it' true 'fixture.asked.some(url => url.startsWith("/top.json")) && !asking'
expect 'the same graph' true "$(evaluate 'render(); box.isConnected && document.activeElement === box')"
evaluate '[...document.querySelectorAll("#flame button")].find(e => e.textContent.startsWith("handle_order")).click()' >/dev/null
becomes 'a part of the graph' '"calc(100% - 1px)"' \
	'[...document.querySelectorAll("#flame button")].find(e => e.textContent.startsWith("handle_order")).style.width'
evaluate 'document.getElementById("widen").click()' >/dev/null
look code
has 'a zoom is of now' 'Zoom now' zoom
has 'the time of a zoom' 'zoom of 11:59:50 to 12:00:00; width' code-text
expect 'and no other time is chosen' true "$(evaluate 'document.getElementById("code-outside").hidden')"
drag 11:53:00 11:56:00
has 'the zoom is of another time' 'This zoom is not from the chosen time (11:53:00 to 11:56:00): it covers 11:59:50 to 12:00:00, after it.' code-outside
drag 11:58:00 12:00:00
becomes 'a range with the zoom' '[true,true]' '[document.getElementById("chosen-range").textContent.includes("11:58:00"), document.getElementById("code-outside").hidden]'
data_page no-zoom "cgroup=$(address "$shop")"
has 'the refusal of a zoom' 'Zooms are not served. Set "profiles = yes" in [export].' code-said
expect 'no button for it' true "$(evaluate 'document.getElementById("zoom").hidden')"

evaluate 'fixture.mode = ""; askZoom(false)' >/dev/null
becomes 'a zoom that is permitted again' false 'zoom.busy || !zoom.body || document.getElementById("zoom").hidden'
data_page '' ''
evaluate 'past.range = {key: "", about: "", body: null, error: "old"}; fixture.hold = new Promise(() => 0); choose(seconds("2026-01-15T11:53:00Z"), seconds("2026-01-15T11:56:00Z"))' >/dev/null
has 'no error of another range' 'loading...' range-text

# The files that the page exports.
data_page '' "cgroup=$(address "$postgresql")&$incident"
becomes 'all replies' true 'Boolean(bodyOf("before") && bodyOf("range")) && !following'
evaluate '(was => URL.createObjectURL = blob => { window.saved = blob; return was.call(URL, blob); })(URL.createObjectURL);
	HTMLAnchorElement.prototype.click = () => 0; document.getElementById("export-json").click()' >/dev/null
expect 'exported figures' "[6,\"$postgresql\",60]" "$(evaluate 'saved.text().then(text => (all => [all.figures.cgroups.length, all.cgroup, all.cgroup_timeline.bins.length + 4])(JSON.parse(text)))')"
evaluate 'document.getElementById("export-svg").click()' >/dev/null
expect 'an exported picture' '["image/svg+xml",true,true]' "$(evaluate 'saved.text().then(text => [saved.type, text.startsWith("<svg"), text.includes("data:image/png") && text.includes("postgresql@15-main")])')"

# The sentences about a pause, a missing history and other states.
data_page paused ''
has 'a pause' 'pebsd is not sampling: paused until 2026-01-15 12:10:00. The figures shown are' trouble
look paused
data_page '' ''
evaluate 'fixture.mode = "stopped"' >/dev/null
has 'a stop' 'Lost connection to pebsd at 127.0.0.1:' trouble
look stopped
data_page no-history "cgroup=$(address "$postgresql")"
has 'why nothing older is there' 'No timeline: No history is stored: keep = no in [history].' no-history
expect 'the live figures and the trend remain' '[6,true,true]' "$(evaluate '[document.querySelectorAll("#table tbody tr").length, document.querySelectorAll(".trend polyline").length >= 6,
	document.querySelectorAll("#histogram rect").length > 10]')"
look no-history
data_page unknown "cgroup=$(address /system.slice/nginx.service)&rule=slow-pages"
has 'an alert that cannot be judged' 'unknown (pending)' alert-list
expect 'its bar' 1 "$(evaluate 'document.querySelectorAll("#alert-list .is-unknown").length')"
has 'its explanation' 'The state is unknown now (samples).' explanation
expect 'its mark in the table' 1 "$(evaluate 'document.querySelectorAll("#table .mark.unknown").length')"
look unknown

# The explanation always belongs to the chosen alert and to the state that is shown, even if the answer is slow.
data_page twice "cgroup=$(address "$shop")"
evaluate 'window.lane = text => [...document.querySelectorAll("#alert-list .lane")].find(e => e.textContent.includes(text)); lane("for 3 min").click()' >/dev/null
has 'why it fires now' 'the share is 43 %' explanation
evaluate 'fixture.holdExplain = new Promise(done => { fixture.release = done; }); fixture.ended = true; poll()' >/dev/null
has 'its end' 'resolved 2026-01-15 11:59:50' explanation
expect 'nothing of the time before' false "$(evaluate '/43 %|as of/.test(document.getElementById("explanation").textContent)')"
evaluate 'fixture.release()' >/dev/null
has 'why it fired' 'when it fired:the share is 44 %' explanation
evaluate 'lane("11:50:30").click()' >/dev/null
has 'an alert before on the same cgroup' 'when it fired:the share is 21 %' explanation
expect 'and only that one' false "$(evaluate '/4[34] %/.test(document.getElementById("explanation").textContent)')"
evaluate 'lane("nginx").click()' >/dev/null
becomes 'a time of what is said' true '/as of 12:00:[0-5][0-9]:the share/.test(document.getElementById("explanation").textContent)'
evaluate 'go({rule: ""})' >/dev/null
becomes 'no explanation' true 'document.getElementById("explanation").hidden'
evaluate 'fixture.holdExplain = new Promise(() => 0); lane("nginx").click()' >/dev/null
has 'an old answer is not shown again' 'loading...' explanation

# No row of the list of alerts moves under the pointer, so that a slow click opens the alert that it began on.
# press TYPE EXPRESSION: the mouse on the middle of an element
press() {
	evaluate "($2).scrollIntoView({block: 'nearest'})" >/dev/null
	ask Input.dispatchMouseEvent "$(evaluate "(box => ({type: '$1', x: box.left + box.width / 2, y: box.top + 8, button: 'left', buttons: 1, clickCount: 1}))(
		($2).getBoundingClientRect())" | if [ "$1" = mouseMoved ]; then jq -c '.button = "none" | .buttons = 0'; else cat; fi)"
}
rules='[...document.querySelectorAll("#alert-list strong")].map(e => e.textContent).join(" ")'
data_page several ''
becomes 'some of the alerts' '["shared-lines slow-pages brief-7 brief-6 brief-5 brief-4","Show more: 6 of 11 alerts are listed"]' "[$rules, \$('all-alerts').textContent]"
press mouseMoved 'document.getElementById("alert-list").children[1]'
press mousePressed 'document.getElementById("alert-list").children[1]'
evaluate 'window.row = document.getElementById("alert-list").children[1]; fixture.fresh = true; poll()' >/dev/null
has 'it waits for the pointer' '1 more alert: leave the list to show it' unlisted
sleep 1.5
press mouseReleased 'document.getElementById("alert-list").children[1]'
becomes 'the alert of the click' true 'location.hash.includes("rule=slow-pages")'
expect 'rows in their place' '["shared-lines slow-pages brief-7 brief-6 brief-5 brief-4",true]' "$(evaluate "[$rules, row === \$('alert-list').children[1]]")"
press mouseMoved 'document.getElementById("timeline")'
becomes 'a lasting mark of the open alert' '[["slow-pages"],true]' '(all => [all.map(e => e.children[2].textContent), all.every(e => getComputedStyle(e).boxShadow !== "none" &&
	getComputedStyle(e).backgroundColor !== "rgba(0, 0, 0, 0)")])([...document.querySelectorAll(".lane[aria-current=true]")])'
becomes 'the list without the pointer' '["fresh shared-lines slow-pages brief-7 brief-6 brief-5",true]' "[$rules, row === \$('alert-list').children[2]]"
evaluate 'document.getElementById("all-alerts").click()' >/dev/null
becomes 'all alerts' '[12,true]' '[document.getElementById("alert-list").children.length, document.getElementById("all-alerts").hidden]'
expect 'their bars are below their times, and the list does not scroll' '[48,8,0]' "$(evaluate '((bar, chart, box) => [bar.left - chart.left, chart.right - bar.right,
	box.scrollHeight - box.clientHeight])(document.querySelector(".lane .track").getBoundingClientRect(), document.getElementById("timeline").getBoundingClientRect(), document.getElementById("alert-list"))')"
press mouseMoved 'document.getElementById("alert-list").children[1]'
becomes 'the pointer on the list' true pointing
evaluate 'change({span: 60, end: seconds("2026-01-15T11:40:00Z")})' >/dev/null
becomes 'only alerts of the time that is chosen' 0 'document.getElementById("alert-list").children.length'

# The number of alerts is that of the list.
data_page unknown ''
becomes 'states of now' '"Alerts: 1 firing, 1 unknown, 1 resolved"' 'document.getElementById("alerts-head").textContent'
data_page lost ''
evaluate 'window.lane = text => [...document.querySelectorAll("#alert-list .lane")].find(e => e.textContent.includes(text))' >/dev/null
becomes 'an end that is not known' '["Alerts: 1 pending, 1 with unknown end, 1 resolved",3]' '[document.getElementById("alerts-head").textContent, document.getElementById("alert-list").children.length]'
becomes 'only the part that is not known is hatched' '["is-pending 11:57:10","is-firing 11:57:20","is-unknown 11:58:20"]' '(view => [...lane("shared-lines").querySelectorAll("i")].map(
	e => e.className + " " + clockOf(Math.round(view.since + parseFloat(e.style.left) / 100 * (view.until - view.since)))))(viewOf())'
expect 'and what is known is a band' 2 "$(evaluate 'document.querySelectorAll("#timeline .band").length')"
data_page '' 'span=60&end=2026-01-15T11%3A40%3A00Z'
becomes 'another time' '["Alerts: 1 firing now, but not in this time",0]' '[document.getElementById("alerts-head").textContent, document.getElementById("alert-list").children.length]'

# The chart covers ten minutes while the figures cover the last 10 s. The quantiles in a histogram are those of the
# histogram.
data_page '' ''
becomes 'buttons' '["now (10 s)","10 min","1 h","1 day"]' '[...document.getElementById("spans").children].map(e => e.textContent)'
expect 'the times of chart and figures' '["the last 10 min in the chart","Figures of","the last 10 s"]' "$(evaluate '["chart-range", "spans-head", "numbers-range"].map(id => document.getElementById(id).textContent)')"
becomes 'the histogram of ten minutes' true 'document.getElementById("histogram-unit").textContent.endsWith("the last 10 min") && document.getElementById("buckets").children.length > 9'
expect 'its own quantiles' '[]' "$(evaluate '(rows => { const all = sum(rows.map(r => r[2])); return [["p50", 0.5], ["p99", 0.99]].filter(([name, part]) => { let n = 0;
	const [low, high] = rows.find(r => (n += r[2]) >= part * all), text = [...document.querySelectorAll("#histogram text")].find(e => e.textContent.startsWith(name)).textContent;
	const q = Number(text.slice(4).replace(/,/g, "")); return q < low || q > high; }); })(
	[...document.getElementById("buckets").rows].map(tr => [...tr.cells[0].textContent.replace(/,/g, "").split(" to "), tr.cells[1].textContent.replace(/,/g, "")].map(Number)))')"
drag 11:53:00 11:56:00
becomes 'the times of a range' '["the last 10 min in the chart","11:53:00 to 11:56:00"]' '["chart-range", "numbers-range"].map(id => document.getElementById(id).textContent)'

# Columns that explain an alert stay on narrow screens; a column of zeros does not.
data_page '' ''
heads='[...document.querySelectorAll("#table thead th")].filter(th => th.getClientRects().length).map(th => th.dataset.key).join(" ")'
while read -r width heads_of; do
	screen "$width" 900
	becomes "columns at $width" "\"$heads_of\"" "$heads"
	expect "the table fits into $width pixels" true "$(evaluate 'document.getElementById("rows").scrollWidth <= document.getElementById("rows").clientWidth')"
done <<'EOF'
1280 name rate share lost wait p50 p99 mean sources hitm trend
1400 name share lost wait p50 p99 mean sources hitm
1320 name share lost wait p50 p99 mean sources hitm
1000 name share lost wait p50 p99 mean sources hitm
760 name share lost wait p50 p99 sources hitm
641 name share lost wait p50 p99 sources hitm
390 name share lost wait p50 p99 sources hitm trend
EOF
evaluate 'for (const c of top_.cgroups) c.events.loads.snoop.hitm = 0; state.frozen = true; made = {}; render()' >/dev/null
expect 'no HITM' '"name share lost wait p50 p99 sources trend"' "$(evaluate "$heads")"
screen 1400 900

# An event without a latency and sources, such as stalls, leaves no legend of sources and no empty panel. A range has
# its whole length.
data_page stalls ''
becomes 'no word about sources' '["Samples of all cgroups",true,[]]' '[document.getElementById("time-head").textContent, document.getElementById("legend").hidden, [...document.querySelectorAll("main .panel")].filter(panel =>
	panel.getClientRects().length && ![...panel.children].some(e => e.getClientRects().length && e.textContent.trim())).map(panel => panel.id)]'
expect 'no panel of results' true "$(evaluate 'document.getElementById("results-of").hidden')"
drag 11:53:00 11:56:30
has 'the length of the range' 'Chosen: 11:53:00 to 11:56:30 (3 min 30 s)' chosen-range
expect 'lengths' '["1 h","2 d 5 s","0 s"]' "$(evaluate '[3600, 172805, 0].map(exactDuration)')"
data_page no-stores "cgroup=$(address "$shop")"
becomes 'no colour that is not there' '[true,true]' '[document.querySelectorAll(".bytes i").length > 3, document.getElementById("stores").hidden]'
data_page '' "cgroup=$(address "$shop")"
becomes 'a colour that is there' '[true,false]' '[document.querySelectorAll(".bytes i.stores").length > 0, document.getElementById("stores").hidden]'

# Keys: Enter opens the first row that a search finds, arrows move in the list of alerts, z shows its result, and Escape
# leaves a part of the flame graph first.
data_page '' ''
key / /
ask Input.insertText '{"text":"checkout"}'
key Enter $'\\r'
has 'the first row that is found' shop/checkout-6d4f one-head
screen 700 500
evaluate 'scrollTo(0, 0)' >/dev/null
key z z
becomes 'the zoom on the screen' true '(box => box.top >= 0 && box.top < 500)(document.getElementById("code").getBoundingClientRect())'
becomes 'its flame graph' 7 'zoom.busy ? 0 : document.querySelectorAll("#flame button").length'
evaluate '(button => { button.focus(); button.click(); })([...document.querySelectorAll("#flame button")].find(e => e.textContent.startsWith("handle_order")))' >/dev/null
scrolled=$(evaluate scrollY)
key Escape
becomes 'the whole graph in its place' "[1,true,$scrolled]" '[zoom.chain.length, location.hash.includes("cgroup="), scrollY]'
key Escape
becomes 'all cgroups' true 'document.getElementById("code").hidden'
screen 1400 900
key a a
key ArrowDown
expect 'the second alert' true "$(evaluate 'document.activeElement === document.querySelectorAll("#alert-list .lane")[1]')"
key ArrowUp
expect 'the first alert' true "$(evaluate 'document.activeElement === document.querySelector("#alert-list .lane")')"

# An address with mistakes: the page says what is invalid or does not exist.
data_page no-zoom-yet 'cgroup=model:nosuch'
has 'no such service' 'No samples in this range, or not among the exported cgroups.' one-gone
has 'no zoom of it' 'No zoom: this service has no samples now, or is not among the exported cgroups.' code-said
expect 'no button for it' '[true,false]' "$(evaluate '["zoom", "one-gone"].map(id => document.getElementById(id).hidden)')"
data_page '' 'since=yesterday&until=2026-01-15T11%3A56%3A00Z'
has 'times that are not valid' 'The address has an invalid time (since=yesterday, until=2026-01-15T11:56:00Z), so the page shows another time.' notice
data_page '' 'since=2026-01-15T11%3A56%3A00Z&until=2026-01-15T11%3A53%3A00Z&span=12'
has 'a range whose end is before its begin' '(since=2026-01-15T11:56:00Z, until=2026-01-15T11:53:00Z, span=12)' notice
drag 11:53:00 11:56:00
becomes 'no mistake' true 'document.getElementById("notice").hidden'
data_page '' "$incident"
expect 'no mistake in a valid one' true "$(evaluate 'document.getElementById("notice").hidden')"

# Nothing vanishes: all twelve parts of an answer are shown, a source that the page does not know is shown as "other",
# and cgroups that are not listed are counted.
data_page parts "cgroup=$(address "$postgresql")"
becomes 'all bins' '["11:50:00 to 11:50:10","11:59:50 to 12:00:00",56]' '(bins => [rangeText(...Object.values(timesOf(bins[0]))),
	rangeText(...Object.values(timesOf(bins.at(-1)))), bins.length])(bodyOf("timeline").bins)'
expect 'a part that is refused is asked for again, and not the whole' 1 "$(evaluate 'fixture.asked.filter(url => url.startsWith("/timeline.json") && !/offset|histograms/.test(url)).length')"
expect 'an unknown source' '[0,0,0,0,0,0,7]' "$(evaluate 'groupsOf({cxl: {samples: 3}, l5: {samples: 4}}, s => s.samples)')"
has 'more lines' 'and 6 more: pebsctl zoom lists them' line-list

# Bins without samples are blank in the heatmap, and a heatmap without any says so.
data_page empty ''
becomes 'its reply' true 'Boolean(bodyOf("heat")) && !following'
expect 'columns of two bins' '[255,0]' "$(evaluate '((canvas, x) => (row => bodyOf("heat").bins.slice(-2).map(bin => row[4 * Math.round(x(seconds(bin.since) + 5)) + 3]))(
	canvas.getContext("2d").getImageData(0, 90, canvas.width, 1).data))(document.querySelector("#heat canvas"),
	xOf(viewOf(), document.getElementById("heat").clientWidth))')"
evaluate 'fixture.blank = true; delete past.heat; follow()' >/dev/null
becomes 'no histogram without samples' true 'Boolean(bodyOf("heat")) && document.getElementById("one-latency").hidden'
expect 'numbers' '["0","999","1 k","1 M","1.5 k"]' "$(evaluate '[0, 999.4, 999.7, 999960, 1500].map(metricPrefix)')"
data_page empty "cgroup=$(address "$postgresql")&$incident"
becomes 'no heatmap' '["No samples with a latency in this time.",true,false]' '(e => [e.textContent, e.getClientRects().length > 0,
	document.getElementById("heat").getClientRects().length > 0])(document.getElementById("no-heat"))'
becomes 'the range before' true 'Boolean(bodyOf("before"))'
expect 'what is drawn is a number' true "$(evaluate '!/NaN|Infinity/.test(document.querySelector("main").outerHTML)')"
picture "$pictures/empty.png"

# A cgroup has the name of the table, also in the alerts. No other cgroup has it, though it has it in another reply.
data_page names "$incident"
becomes 'names of the range' true 'Boolean(bodyOf("range") && bodyOf("alerts")) && !following'
names_of='[...document.querySelectorAll("#table tbody a, #alert-list .lane span[title^=\"/\"]")].map(e => [e.title, e.textContent])'
expect 'cgroups with two names, names of two cgroups' '[0,0]' "$(evaluate "(all => [0, 1].map(i => all.size - new Set([...all].map(pair => JSON.parse(pair)[i])).size))(
	new Set($names_of.map(pair => JSON.stringify(pair))))")"
expect 'the database in table and alerts' '["a/worker","a/worker"]' "$(evaluate "$names_of.filter(pair => pair[0] === '$postgresql').map(pair => pair[1])")"
expect 'a cgroup that is not in the table' '["/c.slice/worker.service"]' "$(evaluate "$names_of.filter(pair => pair[0].startsWith('/c.')).map(pair => pair[1])")"

# A frozen page keeps what it shows: it neither follows the time nor shows replies that were on their way. The user's
# choices still work.
data_page '' ''
becomes 'all replies' true 'Boolean(bodyOf("heat") && bodyOf("alerts")) && !following && asking === false'
evaluate 'fixture.hold = new Promise(go => { fixture.go = go; }); 0' >/dev/null
becomes 'a request on its way' true 'asking'
key f f
shown='[...document.querySelectorAll("header, main, #trouble")].map(e => e.outerHTML).join("")'
has 'the time of the figures' 'frozen at 2026-01-15 12:00:00 UTC' age
evaluate "window.before = $shown; fixture.mode = 'many'; fixture.go(); (was => performance.now = () => was.call(performance) + 65000)(performance.now); 0" >/dev/null
sleep 3
evaluate 'dispatchEvent(new Event("resize"))' >/dev/null
expect 'the page after 65 seconds and replies' true "$(evaluate "before === $shown")"
evaluate '[...document.querySelectorAll("#table tbody a")].find(a => a.textContent === "nginx").click()' >/dev/null
has 'a choice' nginx one-head
becomes 'its heatmap, until the same time' '["2026-01-15T12:00:00Z","/system.slice/nginx.service"]' \
	'bodyOf("heat") && [bodyOf("heat").until, new URLSearchParams(past.heat.key.trim().split("?")[1]).get("cgroup")]'
expect 'the timeline and the table stay' '["2026-01-15T12:00:00Z",6]' "$(evaluate '[bodyOf("timeline").until, document.querySelectorAll("#table tbody tr").length]')"
evaluate 'fixture.busy = true; choose(seconds("2026-01-15T11:53:00Z"), seconds("2026-01-15T11:56:00Z"))' >/dev/null
has 'a range that a busy server does not have' 'loading...' range-text
becomes 'no answer' false following
evaluate 'fixture.busy = false' >/dev/null
has 'a later answer' '11:53:00 to 11:56:00' range-text
evaluate 'follow_now()' >/dev/null
key f f
becomes 'new figures' 100 'document.querySelectorAll("#table tbody tr").length'

# An event without a latency: its figures are counts of samples, and nothing is in cycles.
data_page counts "cgroup=$(address "$postgresql")"
evaluate 'document.querySelectorAll("details").forEach(e => { e.open = true; })' >/dev/null
becomes 'its zoom and its timeline as a table' true 'document.querySelectorAll("#functions tr").length > 3 && document.querySelectorAll("#bins tr").length > 9'
drag 11:53:00 11:53:00
has 'its bins are samples' 'weighted samples/s' hover
expect 'elements that say cycles or latency' '[]' "$(evaluate '[...document.querySelectorAll("main *")].filter(e => e.getClientRects().length &&
	/cycles|latency/i.test(e.title + " " + e.getAttribute("aria-label") + [...e.childNodes].map(n => n.nodeType === 3 ? n.data : "").join("")) &&
	!/stalled/.test(e.title + e.textContent) && !e.closest("#alert-list")).map(e => e.outerHTML.slice(0, 200))')"
picture "$pictures/counts.png"
expect 'tables with a name for a screen reader' '["The timeline as a table, and a range by date","Services","Latency over time as numbers","The histogram as numbers","Data sources","Snoop and TLB results","The flame graph as a table"]' \
	"$(evaluate '[...document.querySelectorAll("table")].map(e => e.getAttribute("aria-label"))')"

# An alert that began to fire after the past was asked for is one alert. One that is not among those of now has no known
# end.
expect 'alerts of the past and of now' '[["c","firing",false],["d","firing",true]]' "$(evaluate 'allAlerts(
	[{rule: "r", cgroup: "c", state: "firing", since: "2026-01-15T11:00:05Z", breached: "2026-01-15T11:00:00Z"}],
	[{rule: "r", cgroup: "c", state: "pending", since: "2026-01-15T11:00:00Z", breached: "2026-01-15T11:00:00Z"},
		{rule: "r", cgroup: "d", state: "firing", since: "2026-01-15T10:00:00Z"}], true).map(a => [a.cgroup, a.state, a.lost])')"

# A bounded number of rows is drawn, and more on request.
data_page many ''
expect 'rows' '[100,"Show more: 100 of 200 are listed"]' "$(evaluate '[document.querySelectorAll("#table tbody tr").length, document.getElementById("more").textContent]')"
key / /
ask Input.insertText '{"text":"api-00199"}'
becomes 'the last one' '["shop-39/api-00199 · app"]' '[...document.querySelectorAll("#table tbody a")].map(a => a.textContent)'
key Escape
innocent
ask Page.removeScriptToEvaluateOnNewDocument "{\"identifier\":\"$script\"}"
get / >"$work/served.html"
size=$(wc -c <"$work/served.html")
[ "$size" -lt 100000 ] || fail "the page has $size bytes"
! grep -nE $'^(\t|[ \t]*//|/\\*)' "$work/served.html" || fail 'the page as served has comments or leading tabs'
ask Page.navigate '{"url":"about:blank"}'
open_page

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
