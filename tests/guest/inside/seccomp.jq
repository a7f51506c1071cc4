# SPDX-License-Identifier: GPL-2.0
# Makes of Podman's default seccomp profile the one that containerd uses for a container with the capabilities of the
# DaemonSet (RuntimeDefault): contrib/seccomp/seccomp_default.go of containerd 1.6.20. It allows bpf with CAP_BPF and
# perf_event_open with CAP_PERFMON. It does not allow what Podman permits and containerd only permits with further
# capabilities. Podman also allows and refuses a few calls that pebsd does not make; these stay as they are.
def only_with_more: ["clone", "clone3", "fsconfig", "fsmount", "fsopen", "fspick", "get_mempolicy", "keyctl", "mbind", "mount",
	"mount_setattr", "move_mount", "name_to_handle_at", "open_tree", "pidfd_getfd", "pivot_root", "process_vm_readv",
	"process_vm_writev", "reboot", "set_mempolicy", "setns", "syslog", "umount", "umount2", "unshare"];
# CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET: a new namespace.
def namespaces: 2114060288;
.defaultErrnoRet = 1
| .syscalls |= map(.names -= only_with_more + ["bpf", "perf_event_open"] | select(.names | length > 0))
| .syscalls += [
	{names: ["bpf", "perf_event_open"], action: "SCMP_ACT_ALLOW"},
	{names: ["clone"], action: "SCMP_ACT_ALLOW", args: [{index: 0, value: namespaces, valueTwo: 0, op: "SCMP_CMP_MASKED_EQ"}]},
	{names: ["clone3"], action: "SCMP_ACT_ERRNO", errnoRet: 38}]
