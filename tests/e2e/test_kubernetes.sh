#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# config/kubernetes/, as far as it can be tested without a cluster. The files must be YAML and match each other and
# their README. The two log mounts must be directories in which pebsd looks for names. pebsd must find no mistake
# in their configuration.
set -eu

cd "$(dirname "$0")/../.."
if ! python3 -c 'import yaml' 2>/dev/null; then
	echo 'python3-yaml is not here'
	exit 77
fi

directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
wrong=0
complain() {
	echo "$*"
	wrong=1
}

python3 - "$directory" <<'END' || wrong=1
import json, re, sys, yaml

wrong = False


def complain(text):
    global wrong
    print(text)
    wrong = True


def expect(what, is_there, wanted):
    if is_there != wanted:
        complain(f"{what}: {is_there!r}, not {wanted!r}")


with open("config/kubernetes/daemonset.yaml") as file:
    objects = {one["kind"]: one for one in yaml.safe_load_all(file)}
with open("config/kubernetes/podmonitor/podmonitor.yaml") as file:
    monitor = yaml.safe_load(file)

expect("kinds", sorted(objects), ["ConfigMap", "DaemonSet", "Namespace", "ServiceAccount"])
namespace = objects["Namespace"]["metadata"]["name"]
for one in list(objects.values())[1:] + [monitor]:
    expect(one["kind"] + "'s namespace", one["metadata"]["namespace"], namespace)

# kustomize: the base has all objects, and the image in the form in which `kustomize edit set image` changes it. The
# component adds the PodMonitor and removes what it replaces.
with open("config/kubernetes/kustomization.yaml") as file:
    base = yaml.safe_load(file)
with open("config/kubernetes/podmonitor/kustomization.yaml") as file:
    component = yaml.safe_load(file)
expect("kind of the base", (base["apiVersion"], base["kind"]), ("kustomize.config.k8s.io/v1beta1", "Kustomization"))
expect("resources of the base", base["resources"], ["daemonset.yaml"])
(image,) = base["images"]
expect("image of the base", f'{image["newName"]}:{image["newTag"]}',
       objects["DaemonSet"]["spec"]["template"]["spec"]["containers"][0]["image"])
expect("name of the image in the base", image["name"], image["newName"])
expect("kind of the component", (component["apiVersion"], component["kind"]), ("kustomize.config.k8s.io/v1alpha1", "Component"))
expect("resources of the component", component["resources"], ["podmonitor.yaml"])
(patch,) = component["patches"]
expect("target of the patch", patch["target"], {"kind": "DaemonSet", "name": objects["DaemonSet"]["metadata"]["name"]})
for step in yaml.safe_load(patch["patch"]):
    expect("step of the patch", step["op"], "remove")
    place = objects["DaemonSet"]
    for key in step["path"].strip("/").split("/"):
        if key not in place:
            complain(f"the patch removes {step['path']}, which is not there")
            break
        place = place[key]

daemon_set = objects["DaemonSet"]["spec"]
template = daemon_set["template"]
spec = template["spec"]
(container,) = spec["containers"]
expect("labels", template["metadata"]["labels"], daemon_set["selector"]["matchLabels"])
expect("serviceAccountName", spec["serviceAccountName"], objects["ServiceAccount"]["metadata"]["name"])
expect("token", spec["automountServiceAccountToken"], False)
for host in "hostNetwork", "hostPID", "hostIPC":
    expect(host, spec[host], False)

# The container may have no more privileges than the README explains.
security = container["securityContext"]
expect("capabilities", security["capabilities"], {"drop": ["ALL"], "add": ["BPF", "PERFMON", "DAC_READ_SEARCH"]})
with open("units/pebsd.service") as file:
    unit = re.search(r"^CapabilityBoundingSet=(.*)$", file.read(), re.M).group(1).replace("CAP_", "").split()
expect("capabilities of the unit", sorted(unit), sorted(security["capabilities"]["add"]))
expect("privileged", security["privileged"], False)
expect("allowPrivilegeEscalation", security["allowPrivilegeEscalation"], False)
expect("readOnlyRootFilesystem", security["readOnlyRootFilesystem"], True)
expect("seccompProfile", security["seccompProfile"], {"type": "RuntimeDefault"})
with open("config/kubernetes/README.md") as file:
    readme = file.read()
for capability in security["capabilities"]["add"]:
    if f"| `{capability}` |" not in readme:
        complain(f"README.md does not say what {capability} is for")

volumes = {one["name"]: one for one in spec["volumes"]}
mounts = {one["name"]: one for one in container["volumeMounts"]}
expect("mounts", sorted(mounts), sorted(volumes))
for name, mount in mounts.items():
    if "hostPath" in volumes[name]:
        expect(name + " is mounted where it is", mount["mountPath"], volumes[name]["hostPath"]["path"])
    if name != "run":
        expect(name + " is read only", mount.get("readOnly"), True)
    if name != "config" and f"`{mount['mountPath']}`" not in readme.replace("` of the host", "`"):
        complain(f"README.md does not say what {mount['mountPath']} is for")
# The container must mount the directories in which pebsd looks for names.
with open("daemon/containers/container_files.c") as file:
    looked_for = file.read()
for name in "pod-logs", "container-logs":
    if '"' + mounts[name]["mountPath"].lstrip("/") + '"' not in looked_for:
        complain(f"pebsd does not look for names in {mounts[name]['mountPath']}")

(port,) = container["ports"]
annotations = template["metadata"]["annotations"]
expect("annotated port", annotations["prometheus.io/port"], str(port["containerPort"]))
# A pause must make the pod not ready, and must not end it: test_pause.sh.
for probe, path in ("readinessProbe", "/readyz"), ("livenessProbe", "/healthz"):
    expect(probe, container[probe]["httpGet"], {"path": path, "port": port["name"]})
    if f"| {probe.removesuffix('Probe')} | `{path}` |" not in readme:
        complain(f"README.md does not say what the {probe} asks")
with open("daemon/http/server/http_server.h") as file:
    seconds = int(re.search(r"^#define HTTP_ANSWER_SECONDS +(\d+)", file.read(), re.M).group(1))
expect("timeouts", [container[probe]["timeoutSeconds"] > seconds for probe in ("readinessProbe", "livenessProbe")], [True, True])
(endpoint,) = monitor["spec"]["podMetricsEndpoints"]
expect("scraped port", endpoint["port"], port["name"])
expect("scraped path", endpoint["path"], annotations["prometheus.io/path"])
expect("honorLabels", endpoint["honorLabels"], True)
expect("selector", monitor["spec"]["selector"]["matchLabels"], template["metadata"]["labels"])
if f"| port {port['containerPort']} |" not in readme:
    complain("README.md does not name the port")

config = objects["ConfigMap"]["data"]
expect("configuration", list(config), ["pebsd.conf"])
expect("volume of the configuration", volumes["config"]["configMap"]["name"], objects["ConfigMap"]["metadata"]["name"])
if f":{port['containerPort']}\n" not in config["pebsd.conf"]:
    complain("pebsd.conf listens on another port")
labels = re.search(r"^labels = (.*)$", config["pebsd.conf"], re.M).group(1)
if f"`labels = {labels}`" not in readme:
    complain("README.md has other labels than the ConfigMap")

# The memory limit must have room for the amounts that MEMORY in pebsd(8) lists for a pod.
with open("daemon/man/pebsd.8") as file:
    manual = file.read()
pod = re.search(r"^A pod has (\d+) MiB .*?^to (\d+)M\.$.*?^So up to (\d+) MiB .*?^For 1,000 cgroups, (\d+) MiB .*?"
                r"^Up to (\d+) MiB are for clients of the endpoint", manual, re.M | re.S)
limit, written, maps, own, clients = map(int, pod.groups())
expect("memory limit", container["resources"]["limits"]["memory"], f"{limit}Mi")
expect("max-memory", re.findall(r"^max-memory = (.*)$", config["pebsd.conf"], re.M), [f"{maps}M"])
expect("max-memory of the manual", written, maps)
if maps + own + clients > limit:
    complain(f"{maps} MiB of maps, {own} MiB of the daemon and {clients} MiB for clients do not fit into {limit} MiB")
# What the clients of the endpoint can make grow, from the table of peers.
rows = re.findall(r"^(?:The process that speaks HTTP|The kernel's buffers of HTTP|Metrics that slow clients are sent|Views that HTTP clients are sent)"
                  r"\t(?:(\d+) x )?(\d+) ([KM])iB$", manual, re.M)
kib = sum(int(times or 1) * int(size) * (1024 if unit == "M" else 1) for times, size, unit in rows)
expect("memory for clients of the endpoint", clients, kib // 1024)
with open(sys.argv[1] + "/pebsd.conf.data", "w") as file:
    file.write(config["pebsd.conf"])
with open(sys.argv[1] + "/command", "w") as file:
    file.write("\n".join(container["command"] + container.get("args", [])))
with open(sys.argv[1] + "/image", "w") as file:
    file.write(container["image"])
sys.exit(wrong)
END

# Links, as in a mounted ConfigMap.
mkdir -p "$directory/etc/pebsd/..data"
mv "$directory/pebsd.conf.data" "$directory/etc/pebsd/..data/pebsd.conf"
ln -s ..data/pebsd.conf "$directory/etc/pebsd/pebsd.conf"
"$PEBSD" --check-config --config "$directory/etc/pebsd/pebsd.conf" || complain 'the ConfigMap has mistakes'

# The command must be where the package puts it, and accept its arguments. tests/tools/image_root.sh compares the image.
mapfile -t command <"$directory/command"
[ "${command[0]}" = /usr/sbin/pebsd ] || complain "the command is ${command[0]}"
"$PEBSD" --check-config --config "$directory/etc/pebsd/pebsd.conf" "${command[@]:1}" >/dev/null ||
	complain 'pebsd refuses the arguments'

# The README's overlay, if a tool for it is here.
build=''
! command -v kubectl >/dev/null || build='kubectl kustomize'
! command -v kustomize >/dev/null || build='kustomize build'
mkdir "$directory/overlay"
cp -r config/kubernetes "$directory/overlay/pebsd"
# shellcheck disable=SC2016 # the backticks are Markdown
sed -n '/^```yaml$/,/^```$/{/^```/!p}' config/kubernetes/README.md >"$directory/overlay/kustomization.yaml"
if [ -n "$build" ]; then
	$build config/kubernetes >"$directory/base.yaml" || complain 'kustomize refuses the base'
	$build "$directory/overlay" >"$directory/built.yaml" || complain "kustomize refuses the README's overlay"
	grep -q ' image: registry\.mine/pebsd:0' "$directory/built.yaml" || complain 'the overlay has another image'
	grep -q '^kind: PodMonitor' "$directory/built.yaml" || complain 'the overlay has no PodMonitor'
	! grep -q 'prometheus\.io/' "$directory/built.yaml" || complain 'the overlay has the annotations'
	grep -q 'prometheus\.io/scrape' "$directory/base.yaml" || complain 'the base lacks the annotations'
fi
python3 - "$directory/overlay" <<'END' || complain "the README's overlay does not fit the files"
import os, sys, yaml
with open(sys.argv[1] + "/kustomization.yaml") as file:
    overlay = yaml.safe_load(file)
for place in overlay["resources"] + overlay["components"]:
    assert os.path.exists(f"{sys.argv[1]}/{place}/kustomization.yaml"), place
END

image=$(cat "$directory/image")
version=$("$PEBSD" --version | grep -o '[0-9.]*[0-9]' | head -n 1)
[ "${image##*:}" = "$version" ] || complain "the image is $image, this is pebsd $version"
grep -q "docker://$image\$" config/kubernetes/README.md || complain "README.md pushes another image than $image"
grep -q -x "IMAGE_NAME ?= ${image%:*}" Makefile || complain "the Makefile makes another image than $image"
exit "$wrong"
