#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Clients of the HTTP endpoint that are silent, slow, too many or too busy, over a UNIX socket and over TCP. pebsd
# must continue to sample without being involved. The process that speaks HTTP must give its memory back, scrapes
# must be answered, and the log must be quiet. Also tests the end of that process and of pebsd.
# shellcheck source=tests/e2e/faults.sh
. "$(dirname "$0")/faults.sh"
need curl pgrep
crowd=$TOOLS/crowd
socket_http=$work/metrics.sock

scrape() {
	fetch "$work/metrics" --write-out '%{http_code}' "$@" 2>"$work/curl" || :
}

local_scrape() {
	scrape --unix-socket "$socket_http" "http://pebsd${1:-/metrics}"
}

speaker() {
	pgrep --parent "$daemon" --full -- --http
}

# of_its_own PID: prints the own memory of the process in KiB
of_its_own() {
	awk '/^RssAnon:/ { print $2 }' "/proc/$1/status"
}

held() {
	find "/proc/$1/fd" -mindepth 1 | wc -l
}

# Remembers memory, descriptors and log of pebsd, and memory and descriptors of the process that speaks HTTP.
# after_it expects the same process.
before_it() {
	expect 'a scrape before' 200 "$(local_scrape)"
	remember
	http=$(speaker)
	http_memory=$(of_its_own "$http") http_held=$(held "$http") began=$(uptime_ms) cpu_before=$(cpu)
}

after_it() {
	local now
	expect "a scrape after $1" 200 "$(local_scrape)"
	still_samples "after $1"
	expect "the process that speaks HTTP after $1" "$http" "$(speaker)"
	for _ in $(seq 600); do
		now=$(of_its_own "$http")
		[ "$now" -gt $((http_memory + memory_slack)) ] || [ "$(held "$http")" -gt $((http_held + 4)) ] || break
		sleep 0.1
	done
	[ "$now" -le $((http_memory + memory_slack)) ] || fail "$1: HTTP has $now KiB of its own, before $http_memory"
	[ "$(held "$http")" -le $((http_held + 4)) ] || fail "$1: HTTP holds $(held "$http") descriptors, before $http_held"
	given_back "after $1"
	quiet "$1" 0
}

configure model </dev/null
start --config "$work/pebsd.conf" --listen "unix:$socket_http"
healthy() {
	local_scrape /healthz
}
until_is 'HTTP' 200 healthy

# A thousand silent clients. While they fill all places, each is ended after a second, later after up to ten. A
# scrape waits for its turn.
before_it
mkfifo "$work/input"
"$crowd" "$socket_http" hold 1000 <"$work/input" >"$work/silent" &
others=$!
exec 5>"$work/input"
collections 20
still_samples '1,000 silent connections'
[ "$(of_its_own "$http")" -le $((http_memory + memory_slack + 4096)) ] ||
	fail "1,000 silent connections take $(of_its_own "$http") KiB"
took=$(($(cpu) - cpu_before)) ms=$(($(uptime_ms) - began))
[ $((took * 2)) -le $((ms + 2000)) ] || fail "1,000 silent connections cost pebsd $took ms of CPU time in $ms ms"
exec 5>&-
wait "$others" || :
others='' # another process may get this number
after_it '1,000 silent connections'

# A thousand clients each send half a request at the same time: none of them is answered, not even with an error.
before_it
"$crowd" "$socket_http" call 1000 'GET /metrics HTTP/1.0' >"$work/half"
grep -q '^connected=[1-9].* bytes=0$' "$work/half" || fail "halves of a request: $(cat "$work/half")"
after_it '1,000 halves of a request'

# A client sends 100 MB of a header without an end, and another one 100 MB of a body that nobody needs.
before_it
"$crowd" "$socket_http" send 100000000 >"$work/long"
taken=$(tr ' ' '\n' <"$work/long" | sed -n 's/^taken=//p')
[ "$taken" -lt 10000000 ] || fail "it took $taken bytes of one head"
after_it 'a head of 100 MB'
before_it
head -c 100000000 /dev/zero >"$work/zeros"
code=$(scrape --unix-socket "$socket_http" --header 'Expect:' --data-binary "@$work/zeros" http://pebsd/metrics)
[ "$code" = 405 ] || [ "$code" = 000 ] || fail "a body of 100 MB: $code"
after_it 'a body of 100 MB'
rm "$work/zeros"

# A client sends 2,000 headers.
before_it
headers=()
for i in $(seq 2000); do
	headers+=(--header "X-$i: y")
done
code=$(scrape --unix-socket "$socket_http" "${headers[@]}" http://pebsd/metrics)
[ "$code" = 431 ] || [ "$code" = 413 ] || [ "$code" = 000 ] || fail "2,000 headers: $code"
after_it '2,000 headers'

# A client that requests again and again without reading gets one answer and costs no more than that.
before_it
mkfifo "$work/deaf.input"
"$crowd" "$socket_http" deaf 100000 $'GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n' <"$work/deaf.input" >"$work/deaf" &
others=$!
exec 5>"$work/deaf.input"
collections 10
still_samples 'a client that does not read'
exec 5>&-
wait "$others" || :
others=''
after_it 'a client that does not read'

# The process that speaks HTTP is killed several times. This is logged once, and requests in between wait.
expect 'a scrape' 200 "$(local_scrape)"
remember
for _ in 1 2 3; do
	http=$(speaker)
	kill -KILL "$http"
	expect 'a scrape after a kill' 200 "$(local_scrape)"
	[ "$(speaker)" != "$http" ] || fail 'it was not killed'
done
still_samples 'after kills'
# One line reports the others together after a minute.
named 'three kills' "the HTTP endpoint's process was killed by signal 9 (KILL)" 1 1
quiet 'three kills' 1 1
# Wait, because the scraped body has the counts of the last collection.
restarts() {
	[ "$(local_scrape)" = 200 ] && sed -n 's/^pebsd_http_restarts_total //p' "$work/metrics"
}
until_is 'restarts' 3 restarts

# pebsd is killed: the process that speaks HTTP ends, too.
http=$(speaker)
kill -KILL "$daemon"
wait "$daemon" 2>/dev/null || :
for _ in $(seq 600); do
	kill -0 "$http" 2>/dev/null || break
	sleep 0.1
done
! kill -0 "$http" 2>/dev/null || fail 'the process that speaks HTTP is left behind'

# Over TCP, a request for another host name is refused, a request that arrives in pieces is served, and only the
# first of two requests on one connection is answered.
daemon=''
start --config "$work/pebsd.conf"
until_is 'HTTP over TCP' 200 scrape "http://127.0.0.1:$port/healthz"
expect 'another Host' 421 "$(scrape --header 'Host: evil.example' "http://127.0.0.1:$port/metrics")"
expect 'localhost' 200 "$(scrape "http://localhost:$port/metrics" --ipv4)"
# On a busy machine, the pieces may come too late, and pebsd hangs up. Or pebsd gets no CPU and answers too late.
http=$(speaker)
for _ in $(seq 5); do
	exec 6<>"/dev/tcp/127.0.0.1/$port"
	began=$(uptime_ms) http_waits=$(waits "$http")
	printf 'GET /heal' >&6
	until_true 'the first piece is read' has_waited $((http_waits + 1)) "$http"
	(trap '' PIPE && printf 'thz HTTP/1.1\r\nHost: localhost\r\n\r\n' >&6) 2>/dev/null || :
	ms=$(($(uptime_ms) - began))
	answer=$(timeout 60 cat <&6) || :
	exec 6>&-
	[ "$ms" -ge 1000 ] || [[ $answer == *'pebsd does not answer now'* ]] || break
done
[[ $answer == 'HTTP/1.1 200 OK'*ok ]] || fail "a request in pieces: $answer"
exec 6<>"/dev/tcp/127.0.0.1/$port"
printf 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nGET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n' >&6
answer=$(timeout 60 cat <&6 || :)
exec 6>&-
[ "$(grep -c '^HTTP/1.1' <<<"$answer")" = 1 ] || fail "two requests at once: $answer"
still_samples 'at the end'
