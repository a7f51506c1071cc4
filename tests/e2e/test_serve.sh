#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The served values must equal those of --once over each interface. Also tests pebsctl's exit codes, reload and the end.
# shellcheck source=tests/e2e/daemon.sh
. "$(dirname "$0")/daemon.sh"
need jq curl
file=$(recording)
"$PEBSD" --replay "$file" --once --json >"$work/once.json"
printf '[export]\ntop = 50\n' >"$work/pebsd.conf"

exits 'without a daemon' 3 ctl status
start --replay "$file" --config "$work/pebsd.conf"
replayed

same='del(.since, .window_s)'
ctl --json top >"$work/top.json"
expect 'pebsctl --json top' "$(jq -cS "$same" "$work/once.json")" "$(jq -cS "$same" "$work/top.json")"

# The endpoint has the same counts.
get /metrics >"$work/metrics"
expect 'samples by cgroup and source' "$(jq '.samples.attributed' "$work/once.json")" \
	"$(awk '/^pebsd_source_samples_total/ && !/cgroup="unattributed"/ { sum += $NF } END { print sum }' "$work/metrics")"
expect 'latency by cgroup and source' "$(jq '.total.events.loads.latency.sum' "$work/once.json")" \
	"$(awk '/^pebsd_source_latency_cycles_total/ { sum += $NF } END { printf "%d\n", sum }' "$work/metrics")"
expect 'healthz' ok "$(get /healthz)"
# Leaves out the series that a collection in between changes.
expect 'gzip is the same text' "$(get /metrics | grep -v '^process_\|^pebsd_collection_' | cksum)" \
	"$(get /metrics --compressed | grep -v '^process_\|^pebsd_collection_' | cksum)"

ctl top | grep -q '^postgresql ' || fail 'top lacks a cgroup'
ctl top --full | grep -q '^/system.slice/postgresql.service ' || fail 'top --full lacks the path'
ctl show /system.slice/postgresql.service | grep -q 'local_dram' || fail 'show lacks a source'
ctl status | grep -q replay || fail 'status does not name the origin'
ctl --json show /system.slice/postgresql.service | jq -ne 'input | .cgroup' >/dev/null || fail 'show --json'
exits 'an unknown cgroup' 4 ctl show /no/such.service
exits "the code of a cgroup that was not chosen before the replay" 1 ctl hot /system.slice/postgresql.service
grep -q 'no hot table: the recording was read to its end, and hot tables hold only samples' "$work/said" || fail "hot: $(cat "$work/said")"
exits 'an unknown verb' 2 ctl frobnicate
exits 'a misspelt verb' 2 ctl satus
grep -q "unknown verb 'satus'; did you mean status? See \`pebsctl --help\`$" "$work/said" || fail "a misspelt verb: $(cat "$work/said")"
expect 'no verb is top' "$(ctl top --json)" "$(PEBSD_SOCKET=$socket "$PEBSCTL" --json)"
exits '--socket wins over PEBSD_SOCKET' 3 env PEBSD_SOCKET="$socket" "$PEBSCTL" --socket "$work/nowhere"
exits 'the help of a verb' 0 ctl show --help
expect 'options of a verb' '--socket --json --window --at --since --until --full --utc --color --help' \
	"$(sed -n 's/^  \(-., \)\?\(--[a-z]*\).*/\2/p' "$work/said" | tr '\n' ' ' | sed 's/ $//')"
head -n 1 "$work/said" | grep -q 'show CGROUP' || fail "the help of a verb: $(cat "$work/said")"

exits 'colours that are asked for' 0 ctl status --color always
grep -q "$(printf '\033')\[" "$work/said" || fail 'no colours'
exits 'no colours in a pipe' 0 ctl status
grep -q "$(printf '\033')" "$work/said" && fail 'colours in a pipe'
# on_screen ASSIGNMENT OPTION...: "coloured" or "plain", as the status is on a terminal
on_screen() {
	env -u NO_COLOR TERM=xterm "$1" script -qec "'$PEBSCTL' --socket '$socket' status ${*:2}" /dev/null </dev/null >"$work/screen"
	grep -q 'Samples: ' "$work/screen" || fail "no status on a terminal: $(cat "$work/screen")"
	if grep -q "$(printf '\033')\[3[0-9]m" "$work/screen"; then echo coloured; else echo plain; fi
}
expect 'colours on a terminal' coloured "$(on_screen OTHER=1)"
expect 'no colours on a terminal that has none' plain "$(on_screen TERM=dumb)"
expect 'NO_COLOR' plain "$(on_screen NO_COLOR=1)"
expect 'an empty NO_COLOR' coloured "$(on_screen NO_COLOR=)"
expect '--color wins over NO_COLOR' coloured "$(on_screen NO_COLOR=1 --color always)"
expect '--color never' plain "$(on_screen OTHER=1 --color never)"
expect '--color auto' plain "$(on_screen NO_COLOR=1 --color auto)"
exits 'a colour that is none' 2 ctl status --color blue

# A cgroup may be given by the end of its path, or the name of its unit.
for name in postgresql.service postgresql system.slice/postgresql.service; do
	expect "a cgroup named $name" /system.slice/postgresql.service "$(ctl --json show $name | jq -r .cgroup)"
done
exits 'a misspelt cgroup' 4 ctl show postgresq
grep -q 'did you mean postgresql?' "$work/said" || fail "a misspelt cgroup: $(cat "$work/said")"
exits 'a window as durations are written elsewhere' 0 ctl top --window 500ms
exits 'a window that is no duration' 2 ctl top --window 5x
ctl top | head -n 1 >/dev/null || fail 'a closed pipe'

# A reload applies what it can, refuses a file with mistakes as a whole, and reports both.
printf '[export]\ntop = 1\n' >"$work/pebsd.conf"
exits 'reload' 0 ctl reload
grep -q 'applied: top' "$work/said" || fail "what changed is not told: $(cat "$work/said")"
printf '[export]\ntop = many\nnonsense = 1\n' >"$work/pebsd.conf"
exits 'reload with mistakes' 1 ctl reload
grep -q ':2:' "$work/said" || fail "the first mistake is not told: $(cat "$work/said")"
grep -q ':3:' "$work/said" || fail "the second mistake is not told: $(cat "$work/said")"
reload_successful() {
	get /metrics | awk '/^pebsd_config_last_reload_successful / { print $2 }'
}
until_is 'the failed reload is exported' 0 reload_successful

printf '[sampling]\ninterval = 2s\nldlat = 50\n[export]\ntop = 1\n' >"$work/pebsd.conf"
exits 'reload of the interval' 0 ctl reload
grep -q 'applied: interval' "$work/said" || fail "the new interval is not told: $(cat "$work/said")"
grep -q 'waiting for a restart: ldlat' "$work/said" || fail "what waits is not told: $(cat "$work/said")"
interval() {
	ctl --json status | jq .interval_s
}
until_is 'the interval in force' 2 interval

# Junk from a client on the socket must not end the daemon.
head -c 100000 /dev/urandom | timeout 20 curl --silent --unix-socket "$socket" --data-binary @- http://x/ >/dev/null 2>&1 || :
ctl status >/dev/null || fail 'junk ended the daemon'
exits 'a second daemon on the same socket' 1 "$PEBSD" --replay "$file" --socket "$socket" --listen none
grep -q "$socket" "$work/said" || fail "the message does not name the socket: $(cat "$work/said")"
exits 'a taken port' 1 "$PEBSD" --replay "$file" --socket "$work/other.sock" --listen "127.0.0.1:$port"
grep -q "$port" "$work/said" || fail "the message does not name the port: $(cat "$work/said")"

kill -TERM "$daemon"
status=0
wait "$daemon" || status=$?
daemon=''
expect 'exit code after SIGTERM' 0 "$status"
[ ! -e "$socket" ] || fail 'the socket is left behind'

# A pipe has a slow writer: samples are served as soon as they arrive, and SIGTERM ends the daemon.
size=$(stat -c %s "$file")
mkfifo "$work/pipe" "$work/more"
{
	head -c $((size / 2)) "$file"
	read -r _ <"$work/more"
	tail -c +$((size / 2 + 1)) "$file"
	exec sleep 1000
} >"$work/pipe" &
others=$!
start --replay "$work/pipe"
seen() {
	ctl --json top | jq .samples.seen
}
more_seen() {
	[ "$(seen)" -gt "$1" ]
}
until_true 'what came is served' more_seen 0
expect 'healthz during the wait' ok "$(get /healthz)"
half=$(seen)
[ "$half" -lt "$(jq .samples.seen "$work/once.json")" ] || fail 'more is served than came'
cpu() {
	awk '{ print $14 + $15 }' "/proc/$daemon/stat"
}
# Waits until pebsd has read all data that came, and takes hardly any CPU time.
for _ in $(seq 30); do
	before=$(cpu) began=$(uptime_ms) half=$(seen)
	sleep 1
	took=$(($(cpu) - before)) ms=$(($(uptime_ms) - began))
	[ $((took * 50)) -gt "$ms" ] || break
done
[ $((took * 50)) -le "$ms" ] || fail "waiting costs $took hundredths of a second's CPU time in $ms ms"
echo >"$work/more"
until_true 'what came later is served' more_seen "$half"
kill -TERM "$daemon"
status=0
wait "$daemon" || status=$?
daemon=''
expect 'exit code after SIGTERM during the wait' 0 "$status"

# Before the first byte pebsd does not serve yet, but can still be ended.
sleep 1000 >"$work/pipe" &
others="$others $!"
"$PEBSD" --socket "$socket" --listen none --replay - <"$work/pipe" 2>"$work/log" &
daemon=$!
until_true 'it waits for its first byte' grep -q poll "/proc/$daemon/wchan"
kill -TERM "$daemon"
for _ in $(seq 600); do
	kill -0 "$daemon" 2>/dev/null || break
	sleep 0.1
done
! kill -0 "$daemon" 2>/dev/null || fail 'it cannot be stopped while it waits for its first byte'
daemon=''
