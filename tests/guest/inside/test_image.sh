#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Podman runs the image of `make image` from the objects of config/kubernetes/daemonset.yaml, and pebsd there must
# sample the other containers of the machine as the books say. It has the capabilities, mounts, limits and namespaces
# that the manifest gives it, and no others. Its seccomp profile is containerd's (seccomp.jq). A pause must make it not
# ready, and leave it alive. The test changes two things in the manifest: pebsd gets a fixed period, as everywhere in
# guests, and the liveness probe is left out, because Podman would run it as a program in the container. The test asks
# the paths itself.
# long
# kernels: 7
# root: podman
# takes: 120 s
# time limit: 900 s
# shellcheck source=tests/guest/inside/lib.sh
. "${0%/*}/lib.sh"
# shellcheck source=tests/guest/inside/books.sh
. "${0%/*}/books.sh"

archive=$(find "$here" -maxdepth 1 -name 'pebsd-*.oci.tar')
[ -n "$archive" ] || skip 'needs the image: run make image, then make test-guest'
objects=$here/daemonset.json
paranoid=$(</proc/sys/kernel/perf_event_paranoid)

# shellcheck disable=SC2317 # called by the trap
end_pods() {
	podman logs "$container" 2>/dev/null | tail -n 30
	podman pod rm --force --time 0 --all >/dev/null 2>&1 || :
	podman rm --force --time 0 --all >/dev/null 2>&1 || :
	echo "$paranoid" >/proc/sys/kernel/perf_event_paranoid
	leave
}
trap end_pods EXIT

# of_manifest FILTER: prints what jq finds in the manifest's container, with its volumes as .volumes.
of_manifest() {
	jq --raw-output "select(.kind == \"DaemonSet\").spec.template.spec | .containers[0] + {volumes} | $1" "$objects"
}

pod=$(jq --raw-output 'select(.kind == "DaemonSet").metadata.name' "$objects")-pod
container=$pod-$(of_manifest .name)

# Containers beside it: one that waits for memory, and one that does not.
mkdir "$work/tree"
cp "$here/workload" "$work/tree/"
tar --directory="$work/tree" --create . | podman import --quiet - neighbour >/dev/null
podman load --quiet --input "$archive" >"$work/said"
expect 'the name of the image' "Loaded image: $(of_manifest .image)" "$(cat "$work/said")"

# neighbour NAME WORKLOAD: runs a container of this name and prints its cgroup.
neighbour() {
	podman run --quiet --detach --network=none --name "$1" neighbour /workload "$2" --rest "$rest" --touch "$touches" >/dev/null
	sed -n 's/^0:://p' "/proc/$(podman inspect --format '{{.State.Pid}}' "$1")/cgroup"
}

# README.md says that nodes with Debian's kernels need this.
echo 2 >/proc/sys/kernel/perf_event_paranoid
jq --from-file "$here/seccomp.jq" /usr/share/containers/seccomp.json >"$work/seccomp.json"
# The process that holds the namespaces of a pod. The kubelet's runtime has one, too.
mkdir "$work/pause"
cp /bin/busybox "$work/pause/"
tar --directory="$work/pause" --create . |
	podman import --quiet --change 'ENTRYPOINT ["/busybox", "sleep", "1000000"]' - pause >/dev/null
printf '[containers]\nseccomp_profile = "%s"\n[engine]\ninfra_image = "localhost/pause"\n' "$work/seccomp.json" >"$work/containers.conf"
export CONTAINERS_CONF_OVERRIDE=$work/containers.conf
jq --raw-output 'if .kind == "ConfigMap" then .data["pebsd.conf"] += "[sampling]\nevents = loads\nbudget = off\nperiod = 101\n" else . end |
	if .kind == "DaemonSet" then del(.spec.template.spec.containers[0].livenessProbe) else . end | "---\n\(.)"' "$objects" >"$work/pod.yaml"

play_paused
before=$(neighbour before pointer-chase)
podman kube play --quiet "$work/pod.yaml" >"$work/said" 2>&1 || fail "podman refuses the manifest: $(cat "$work/said")"
pid=$(podman inspect --format '{{.State.Pid}}' "$container")
[ "$pid" -gt 0 ] || fail "the pod has ended: $(podman logs "$container" 2>&1)"
socket=/proc/$pid/root/run/pebsd/control.sock
address=$(podman inspect --format '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}' "$(podman inspect --format '{{.Pod}}' "$container" |
	xargs podman pod inspect --format '{{.InfraContainerID}}')")
endpoint=http://$address:$(of_manifest '.ports[0].containerPort')/metrics

# The rights of the container are those of the manifest.
declare -A bits=([DAC_READ_SEARCH]=2 [PERFMON]=38 [BPF]=39)
mask=0
for name in $(of_manifest '.securityContext.capabilities.add[]'); do
	[ -n "${bits[$name]:-}" ] || fail "the test does not know the capability $name"
	mask=$((mask | 1 << bits[$name]))
done
mask=$(printf '%016x' $mask)
expect 'its capabilities' "$mask $mask $mask" "$(awk '/^Cap(Prm|Eff|Bnd)/ { printf "%s%s", n++ ? " " : "", $2 }' "/proc/$pid/status")"
expect 'its user' "$(of_manifest .securityContext.runAsUser)" "$(awk '/^Uid:/ { print $2 }' "/proc/$pid/status")"
expect 'no new privileges' 1 "$(awk '/^NoNewPrivs:/ { print $2 }' "/proc/$pid/status")"
expect 'a filter of system calls' 2 "$(awk '/^Seccomp:/ { print $2 }' "/proc/$pid/status")"
for namespace in cgroup ipc mnt net pid uts; do
	[ "$(readlink "/proc/$pid/ns/$namespace")" != "$(readlink "/proc/1/ns/$namespace")" ] || fail "it shares the namespace $namespace of the host"
done
# access PATH: prints whether the mount there is ro or rw.
access() {
	awk -v path="$1" '$5 == path { split($6, options, ","); found = options[1] } END { print found }' "/proc/$pid/mountinfo"
}
expect 'the root' ro "$(access /)"
while read -r path read_only; do
	expect "the mount $path" "$([ "$read_only" = true ] && echo ro || echo rw)" "$(access "$path")"
done < <(of_manifest '.volumeMounts[] | "\(.mountPath) \(.readOnly)"')
own=$(sed -n 's/^0:://p' "/proc/$pid/cgroup")
limit=$(of_manifest .resources.limits.memory)
expect 'its memory limit' "$((${limit%Mi} << 20))" "$(cat "/sys/fs/cgroup$own/memory.max")"

# asked PATH: prints the status and the body.
asked() {
	curl --silent --max-time 20 --output "$work/body" --write-out '%{http_code} ' "${endpoint%/metrics}$1" || :
	head -n 1 "$work/body"
}
is_ready() {
	[ "$(asked "$(of_manifest .readinessProbe.httpGet.path)")" = '200 ok' ]
}
wait_until 'it is ready' 100 is_ready
expect 'the liveness probe' '200 ok' "$(asked "$(of_manifest .livenessProbe.httpGet.path)")"
# Both times are of this machine's clock.
began=$(date --date="$(podman inspect --format '{{.State.StartedAt.Format "2006-01-02T15:04:05.000Z07:00"}}' "$container")" +%s%3N)
served=$(podman logs --timestamps "$container" 2>&1 | sed -n '/ serving: /{s/ .*//p;q}')
[ -n "$served" ] || fail "it does not say that it serves: $(podman logs "$container" 2>&1)"
started_ms=$(($(date --date="$served" +%s%3N) - began))

# From here on, the functions of books.sh ask this pebsd.
pebsctl() {
	command pebsctl --socket "$socket" "$@"
}
expect 'what it samples' perf "$(status | jq -r .origin)"
resume
after=$(neighbour after mix)
await_samples 500
ids=("$(stat --format=%i "/sys/fs/cgroup$before")" "$(stat --format=%i "/sys/fs/cgroup$after")")
wait_until 'samples of both containers' 200 books_have 100 "${ids[@]}"
podman exec "$container" pebsctl status >"$work/said" || fail "pebsctl in the container: $(cat "$work/said")"

# A pause ends nothing.
exits 'pause' 0 pebsctl pause
expect 'liveness in a pause' '200 ok' "$(asked "$(of_manifest .livenessProbe.httpGet.path)")"
[[ "$(asked "$(of_manifest .readinessProbe.httpGet.path)")" == '503 paused until'* ]] || fail "readiness in a pause: $(cat "$work/body")"
exits 'resume' 0 pebsctl resume
wait_until 'it is ready after the pause' 100 is_ready
await_samples 200
expect 'restarts of the container' 0 "$(podman inspect --format '{{.RestartCount}}' "$container")"

settle
scrape
peak=$(($(cat "/sys/fs/cgroup$own/memory.peak") >> 10))
compare
for path in "$before" "$after"; do
	[ "$(samples_of "$path")" -gt 0 ] || fail "$path has no sample in the books"
	grep -q "^pebsd_weighted_samples_total{cgroup=\"$path\"," "$work/metrics" || fail "no metric has $path"
done
measured "image $(($(stat --format=%s "$archive") >> 10)) KiB, serving after $started_ms ms, peak memory $peak KiB," \
	"samples of its neighbours $(samples_of "$before") and $(samples_of "$after")"
[ -z "$(differences)" ] || fail "pebsd and the books differ:" "$(differences | head -n 40)"
resume
podman kube down "$work/pod.yaml" >"$work/said" 2>&1 || fail "the pod does not end: $(cat "$work/said")"
