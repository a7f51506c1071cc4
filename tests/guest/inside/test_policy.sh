#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A service's loads become remote. The rule must fire, and the journal, the metric, the Varlink event and the template
# unit must each say so once. A restart must not repeat it, and a kill must not lose time of a pending alert. When the
# service recovers, all must resolve. A reload with another rule must keep the state of the unchanged one. Two CPUs give
# two nodes.
# long
# cpus: 2
# kernels: 6.12
# takes: 90 s
# time limit: 900 s
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"

alerts=/run/pebsd/alerts
override=/etc/systemd/system/pebsd-alert@.service.d
ran=$work/ran

rules() {
	settings '[rule remote]' 'cgroup = /turning.service' 'metric = share:remote_dram' 'above = 20%' 'clear = 10%' \
		'window = 4s' 'for = 4s' 'min-samples = 100' 'severity = page' 'action = log unit' \
		'[rule other]' 'cgroup = /turning.service' 'metric = p50' "above = $1" 'window = 4s' 'for = 4s' \
		'min-samples = 100' '[rule dry]' 'cgroup = /turning.service' 'metric = share:remote_dram' 'above = 20%' \
		'window = 4s' 'for = 4s' 'min-samples = 100' 'dry-run = yes' 'action = unit' \
		'[rule patient]' 'cgroup = /turning.service' 'metric = share:remote_dram' 'above = 20%' \
		'window = 4s' 'for = 1h' 'min-samples = 100'
}

# does WORKLOAD: makes the service run WORKLOAD from now on.
does() {
	echo "$1" >"$work/does"
	pkill -f "^$here/workload .* --for" || :
}

state_of() {
	pebsctl --json alerts | jq --raw-output ".alerts[] | select(.rule == \"$1\") | .state" | tail -n 1
}

has_state() {
	[ "$(state_of "$1")" = "$2" ]
}

# entries MESSAGE_ID: prints the number of journal entries of the rule with this message id
entries() {
	journalctl --quiet --output=json MESSAGE_ID="$1" PEBSD_RULE=remote | wc -l
}

mkdir -p "$override"
cat >"$override/test.conf" <<UNIT
[Service]
ExecStart=
ExecStart=/bin/sh -c 'echo "\$PEBSD_ALERT \$PEBSD_RULE \$PEBSD_CGROUP" >>$ran'
ReadWritePaths=$work
ProtectSystem=no
PrivateTmp=no
DynamicUser=no
User=root
UNIT
systemctl daemon-reload
# shellcheck disable=SC2064 # the present values
trap "rm -r $override; systemctl stop watcher.service 2>/dev/null || :; leave" EXIT

play
rules 100000
echo mix >"$work/does"
systemd-run --quiet --collect --unit=turning.service --slice=-.slice --property=CPUSchedulingPolicy=idle \
	--property=CPUAffinity=0 /bin/sh -c "while :; do $here/workload \$(cat $work/does) --for 1000 --touch $touches; done"
workloads+=(turning.service)
expect 'its cgroup' /turning.service "$(cgroup_of turning.service)"
start_pebsd
systemd-run --quiet --collect --unit=watcher.service /bin/sh -c "exec pebsctl --json watch >$work/watched"
await_samples 1000
expect 'rules' 4 "$(pebsctl --json rules | jq '.rules | length')"
judged() {
	[ "$(pebsctl --json explain remote /turning.service | jq --raw-output '.judged[0].state')" = inactive ]
}
wait_until 'the rule is judged' 200 judged
# Alerts of tests before this one may have been restored.
expect 'alerts before' 0 "$(pebsctl --json alerts | jq '[.alerts[] | select(.cgroup == "/turning.service")] | length')"

does remote-numa
wait_until 'the rule fires' 200 has_state remote firing
wait_until 'the dry one too' 100 has_state dry firing
wait_until 'the unit ran' 60 test -s "$ran"
number=$(pebsctl --json alerts | jq '.alerts[] | select(.rule == "remote") | .alert')
[ -s "$alerts/$number.env" ] || fail "no facts in $alerts: $(ls "$alerts")"
grep -q 'PEBSD_CGROUP=.*/turning.service' "$alerts/$number.env" || fail "other facts: $(cat "$alerts/$number.env")"
expect 'runs of the unit' "$number remote /turning.service" "$(cat "$ran")"
has_fired() {
	jq --raw-output 'select(.event == "alert" and .rule == "remote" and .from == "pending" and .state == "firing") | .alert' \
		<"$work/watched" >"$work/fired" && [ -s "$work/fired" ]
}
wait_until 'a Varlink event of the firing' 30 has_fired
expect 'Varlink events of the firing' 1 "$(wc -l <"$work/fired")"
scrape
expect 'the metric' 1.000000 "$(metric pebsd_alert 'rule="remote"')"
expect 'no metric of a dry run' 0 "$(grep -c 'pebsd_alert{.*rule="dry"' "$work/metrics" || :)"
firing_id=$(sed -n 's/^-- //p' /usr/lib/systemd/catalog/pebsd.catalog | head -n 1)
journalctl --flush 2>/dev/null || :
fired_in_journal() {
	[ "$(entries "$firing_id")" = "$1" ]
}
wait_until 'the journal entry' 30 fired_in_journal 1
pebsctl explain remote /turning.service >"$work/explained"
say "$(cat "$work/explained")"
grep -q turning.service "$work/explained" || fail 'explain does not name the cgroup'

# Another rule changes: this rule keeps its state, and no action runs again.
rules 90000
exits 'reload' 0 systemctl reload pebsd.service
await_collections 2
expect 'after the reload' firing "$(state_of remote)"
# A restart does not run actions again either. After a restart, the state may be unknown until the window is full.
systemctl restart pebsd.service
[ "$(state_of remote)" = unknown ] || [ "$(state_of remote)" = firing ] || fail "after a restart: $(state_of remote)"
wait_until 'it is known again' 100 has_state remote firing
expect 'its number' "$number" "$(pebsctl --json alerts | jq '.alerts[] | select(.rule == "remote") | .alert')"
expect 'runs of the unit' 1 "$(wc -l <"$ran")"
fired_in_journal 1 || fail "the journal has $(entries "$firing_id") entries of one firing"

# A pending alert keeps the time that was proven so far, even if pebsd is killed and cannot save it.
held_for() {
	pebsctl --json alerts | jq '.alerts[] | select(.rule == "patient") | .held_s'
}
proven_for() {
	[ "$(pebsctl --json alerts | jq --argjson least "$1" '.alerts[] | select(.rule == "patient") | .held_s >= $least')" = true ]
}
wait_until 'it is proven for a while' 100 proven_for 10
held=$(held_for)
pid=$(systemctl show --property=MainPID --value pebsd.service)
kill -9 "$pid"
is_another() {
	[ "$(systemctl show --property=MainPID --value pebsd.service)" != "$pid" ] && pebsctl status >"$work/status"
}
wait_until 'pebsd is there again' 60 is_another
proven_for "$held" || fail "pending for $held s when pebsd was killed, for $(held_for) s after it"
say "pending for $held s when pebsd was killed, for $(held_for) s after it"
wait_until 'its time goes on' 100 proven_for "$(jq --null-input --argjson held "$held" '$held + 2')"
expect 'runs of the unit' 1 "$(wc -l <"$ran")"
fired_in_journal 1 || fail "the journal has $(entries "$firing_id") entries of one firing after a kill"

# pebsd's user may start the template unit and nothing else.
if command -v pkcheck >/dev/null; then
	exits 'another unit' 1 runuser -u pebsd -- busctl call org.freedesktop.systemd1 /org/freedesktop/systemd1 \
		org.freedesktop.systemd1.Manager StartUnit ss turning.service replace
	exits 'its own' 0 runuser -u pebsd -- busctl call org.freedesktop.systemd1 /org/freedesktop/systemd1 \
		org.freedesktop.systemd1.Manager StartUnit ss pebsd-alert@999999.service replace
fi

does streaming
wait_until 'it resolves' 200 has_state remote resolved
wait_until 'the dry one too' 100 has_state dry resolved
scrape
expect 'no metric any more' 0 "$(grep -c 'pebsd_alert{' "$work/metrics" || :)"
expect 'runs of the unit' 1 "$(wc -l <"$ran")"
[ -e "$alerts/$number.env" ] || fail 'the facts went before their hour was over'
resolved_id=$(sed -n 's/^-- //p' /usr/lib/systemd/catalog/pebsd.catalog | tail -n 1)
resolved_in_journal() {
	[ "$(entries "$resolved_id")" = 1 ]
}
wait_until 'the journal entry of the end' 30 resolved_in_journal

# root sets a preference on the directory: the rule must not fire.
setfattr --name=user.pebsd.ignore --value=remote /sys/fs/cgroup/turning.service
does remote-numa
wait_until 'the dry one fires' 200 has_state dry firing
expect 'the ignored one' resolved "$(state_of remote)"
systemctl stop pebsd.service

# Alerts of cgroups that were removed while pebsd was down must end.
systemctl stop turning.service
start_pebsd
wait_until 'the alert of a cgroup that is gone' 100 has_state dry resolved
expect 'its end' gone "$(pebsctl --json alerts | jq --raw-output '.alerts[] | select(.rule == "dry") | .end' | head -n 1)"
