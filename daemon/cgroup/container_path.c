// SPDX-License-Identifier: GPL-2.0
#include "cgroup/container_path.h"

#include <string.h>

#include "base/cleanup.h"

#define UUID_LENGTH 36
#define HASH_LENGTH 32 /* digits of a static pod's uid: kubelet, pkg/kubelet/config/common.go */

#define HEX "0123456789abcdef"

/* A part of the path, not terminated. */
struct span {
	const char *at;
	size_t length;
};

/* The effect of the components so far on the meaning of the next one. */
struct walk {
	struct container_labels *labels;
	const char *path;
	struct span before;    /* the previous component; empty: the root */
	struct span at;        /* this component */
	struct span container; /* the component of the innermost container or pod; empty: none */
	struct span unit;      /* the component of the label `unit`; empty: none */
	bool in_kubepods;
	bool in_ecs;
	bool in_machine;
};

const char *container_label_name(enum container_label label)
{
#define NAME_(name, word) word,
	static const char *const names[] = {CONTAINER_LABELS_LIST(NAME_)};
#undef NAME_

	return names[label];
}

static bool is_word(struct span span, const char *word)
{
	return span.length == strlen(word) && memcmp(span.at, word, span.length) == 0;
}

/* Removes `prefix`. Returns false if it is missing or if nothing would be left. */
static bool skip_prefix(struct span *span, const char *prefix)
{
	size_t length = strlen(prefix);

	if (span->length <= length || memcmp(span->at, prefix, length) != 0)
		return false;
	span->at += length;
	span->length -= length;
	return true;
}

static bool skip_suffix(struct span *span, const char *suffix)
{
	size_t length = strlen(suffix);

	if (span->length <= length || memcmp(span->at + span->length - length, suffix, length) != 0)
		return false;
	span->length -= length;
	return true;
}

static bool is_hex_digit(char c)
{
	return c != '\0' && strchr(HEX, c);
}

static bool is_hex(struct span span)
{
	for (size_t i = 0; i < span.length; i++)
		if (!is_hex_digit(span.at[i]))
			return false;
	return span.length > 0;
}

static bool is_container_id(struct span span)
{
	return span.length == CONTAINER_ID_LENGTH && is_hex(span);
}

/* In the names of slices, systemd uses `-` to separate levels, so the kubelet writes `_` instead. */
static bool is_pod_uid(struct span span)
{
	if (span.length == HASH_LENGTH)
		return is_hex(span);
	if (span.length != UUID_LENGTH)
		return false;
	for (size_t i = 0; i < span.length; i++) {
		bool step = i == 8 || i == 13 || i == 18 || i == 23;

		if (step ? span.at[i] != '-' && span.at[i] != '_' : !is_hex_digit(span.at[i]))
			return false;
	}
	return true;
}

static void put(struct walk *walk, enum container_label label, struct span span)
{
	char *text = walk->labels->text[label];

	if (span.length >= CONTAINER_TEXT_MAX)
		return;
	memcpy(text, span.at, span.length);
	text[span.length] = '\0';
}

static void put_word(struct walk *walk, enum container_label label, const char *word)
{
	put(walk, label, (struct span){word, strlen(word)});
}

static int hex_digit(char digit)
{
	const char *at = digit ? strchr(HEX, digit) : NULL;

	return at ? (int)(at - HEX) : -1;
}

/* Undoes the escapes of systemd (\x2d for a `-`, systemd-escape(1)). Leaves \x00 as it is: it would end the text. */
static void put_unescaped(struct walk *walk, enum container_label label, struct span span)
{
	char text[CONTAINER_TEXT_MAX];
	struct span plain = {.at = text};

	for (size_t i = 0; i < span.length && plain.length < sizeof(text); i++) {
		const char *at = span.at + i;

		if (span.length - i >= 4 && at[0] == '\\' && at[1] == 'x' && hex_digit(at[2]) >= 0 &&
		    hex_digit(at[3]) >= 0 && hex_digit(at[2]) + hex_digit(at[3]) > 0) {
			text[plain.length++] = (char)(hex_digit(at[2]) << 4 | hex_digit(at[3]));
			i += 3;
		} else {
			text[plain.length++] = *at;
		}
	}
	put(walk, label, plain);
}

/* Clears the labels of the enclosing container or system, except for the user and, with `keep_unit`, the unit. */
static void enter(struct walk *walk, bool keep_unit)
{
	for (enum container_label label = 0; label < CONTAINER_LABELS; label++)
		if (label != CONTAINER_LABEL_USER && !(keep_unit && label == CONTAINER_LABEL_UNIT))
			walk->labels->text[label][0] = '\0';
	walk->container = walk->at;
	if (!keep_unit)
		walk->unit.length = 0;
}

static void enter_pod(struct walk *walk, struct span uid)
{
	enter(walk, false);
	put(walk, CONTAINER_LABEL_POD_UID, uid);
	for (char *at = walk->labels->text[CONTAINER_LABEL_POD_UID]; *at; at++)
		if (*at == '_')
			*at = '-';
}

/* Keeps the pod's uid if the container belongs to the pod. */
static void enter_container(struct walk *walk, const char *runtime, struct span id, bool keep_unit)
{
	char pod_uid[CONTAINER_TEXT_MAX];

	memcpy(pod_uid, walk->labels->text[CONTAINER_LABEL_POD_UID], sizeof(pod_uid));
	/* A container within a pod's container does not belong to the pod. */
	if (*walk->labels->text[CONTAINER_LABEL_ID])
		*pod_uid = '\0';
	enter(walk, keep_unit);
	put_word(walk, CONTAINER_LABEL_POD_UID, pod_uid);
	put_word(walk, CONTAINER_LABEL_RUNTIME, runtime);
	put(walk, CONTAINER_LABEL_ID, id);
}

static void enter_named(struct walk *walk, const char *runtime, struct span name)
{
	enter(walk, false);
	put_word(walk, CONTAINER_LABEL_RUNTIME, runtime);
	put_unescaped(walk, CONTAINER_LABEL_CONTAINER, name);
}

/* Parses kubepods-burstable-podUID.slice. If the kubelet has a cgroup root, the slice's name begins with that. */
static bool take_pod_slice(struct walk *walk, struct span name)
{
	static const size_t lengths[] = {UUID_LENGTH, HASH_LENGTH};
	struct span uid = name;

	if (!memmem(name.at, name.length, "kubepods-", strlen("kubepods-")) || !skip_suffix(&uid, ".slice"))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		const size_t length = lengths[i];
		struct span end = {uid.at + uid.length - length, length};
		struct span start = {uid.at, uid.length - length};

		if (uid.length <= length || !is_pod_uid(end) || !skip_suffix(&start, "-pod"))
			continue;
		enter_pod(walk, end);
		return true;
	}
	return false;
}

static bool take_pod(struct walk *walk, struct span name)
{
	if (take_pod_slice(walk, name))
		return true;
	if (!walk->in_kubepods || !skip_prefix(&name, "pod") || !is_pod_uid(name))
		return false;
	enter_pod(walk, name);
	return true;
}

static const struct {
	const char *prefix;
	const char *runtime;
} prefixes[] = {
	{"cri-containerd", "containerd"},
	{"containerd", "containerd"},
	{"nerdctl", "containerd"},
	{"crio", "cri-o"},
	{"docker", "docker"},
	{"libpod", "podman"},
};

/* Parses PREFIX-ID.scope of the systemd driver, or PREFIX-ID of the cgroupfs driver. */
static bool take_prefixed(struct walk *walk, struct span name)
{
	struct span payload = name;

	(void)skip_suffix(&name, ".scope");
	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++) {
		struct span id = name;

		if (!skip_prefix(&id, prefixes[i].prefix) || !skip_prefix(&id, "-") || !is_container_id(id))
			continue;
		enter_container(walk, prefixes[i].runtime, id, false);
		return true;
	}
	/*
	 * podman run --cgroups=split, which Quadlet uses, makes the container's cgroup within the cgroup of the
	 * unit.
	 */
	if (!skip_prefix(&payload, "libpod-payload-") || !is_container_id(payload))
		return false;
	enter_container(walk, "podman", payload, true);
	return true;
}

/*
 * Parses SLICE:PREFIX:ID. Runtimes such as runc get this text for their systemd driver. Without that driver, they
 * use the whole text as a directory name.
 */
static bool take_colons(struct walk *walk, struct span name)
{
	const char *first = memchr(name.at, ':', name.length);
	const char *second =
		first ? memchr(first + 1, ':', name.length - (size_t)(first + 1 - name.at)) : NULL;
	struct span slice, prefix, id;

	if (!second)
		return false;
	slice = (struct span){name.at, (size_t)(first - name.at)};
	prefix = (struct span){first + 1, (size_t)(second - first - 1)};
	id = (struct span){second + 1, name.length - (size_t)(second + 1 - name.at)};
	if (!is_container_id(id))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (is_word(prefix, prefixes[i].prefix)) {
			(void)take_pod_slice(walk, slice);
			enter_container(walk, prefixes[i].runtime, id, false);
			return true;
		}
	return false;
}

/* An id alone does not tell the runtime, but the directories above may. */
static bool take_bare_id(struct walk *walk, struct span name)
{
	const char *runtime = "";

	if (!is_container_id(name))
		return false;
	if (is_word(walk->before, "docker") || walk->in_ecs)
		runtime = "docker";
	else if (is_word(walk->before, "default") || is_word(walk->before, "k8s.io"))
		runtime = "containerd"; /* containerd's namespaces */
	else if (*walk->labels->text[CONTAINER_LABEL_ID])
		return false; /* a cgroup that a container made within itself */
	enter_container(walk, runtime, name, false);
	return true;
}

/*
 * Parses the cgroup that containerd makes with the cgroupfs driver if its client names none: /NAMESPACE/NAME. Any
 * cgroup may have two levels, so only the default namespace is recognized.
 */
static bool take_containerd(struct walk *walk, struct span name)
{
	if (!is_word(walk->before, "default") || walk->before.at != walk->path + 1)
		return false;
	enter_named(walk, "containerd", name);
	return true;
}

static bool take_lxc(struct walk *walk, struct span name)
{
	if (!skip_prefix(&name, "lxc.payload.") && !is_word(walk->before, "lxc"))
		return false;
	enter_named(walk, "lxc", name);
	return true;
}

/*
 * Parses DRIVER-NUMBER-NAME: virDomainGenerateMachineName(), src/hypervisor/domain_driver.c of libvirt.
 * `separator` is "-", or "\x2d" in the name of a systemd scope.
 */
static bool take_libvirt(struct walk *walk, struct span name, const char *separator)
{
	size_t digits;

	if (!skip_prefix(&name, "qemu") && !skip_prefix(&name, "lxc"))
		return false;
	if (!skip_prefix(&name, separator))
		return false;
	for (digits = 0; digits < name.length && name.at[digits] >= '0' && name.at[digits] <= '9';)
		digits++;
	name.at += digits;
	name.length -= digits;
	if (digits == 0 || !skip_prefix(&name, separator))
		return false;
	enter_named(walk, "libvirt", name);
	return true;
}

static bool take_machine(struct walk *walk, struct span name)
{
	struct span machine = name;

	if (skip_prefix(&machine, "systemd-nspawn@") && skip_suffix(&machine, ".service")) {
		enter_named(walk, "nspawn", machine);
		return true;
	}
	machine = name;
	if ((skip_suffix(&machine, ".libvirt-qemu") || skip_suffix(&machine, ".libvirt-lxc")) &&
	    take_libvirt(walk, machine, "-"))
		return true;
	machine = name;
	if (!skip_prefix(&machine, "machine-") || !skip_suffix(&machine, ".scope"))
		return false;
	if (take_libvirt(walk, machine, "\\x2d"))
		return true;
	enter_named(walk, "machine", machine);
	walk->in_machine = true;
	return true;
}

static bool take_container(struct walk *walk, struct span name)
{
	return take_pod(walk, name) || take_prefixed(walk, name) || take_colons(walk, name) ||
	       take_bare_id(walk, name) || take_containerd(walk, name) || take_lxc(walk, name) ||
	       take_machine(walk, name);
}

static void take_unit(struct walk *walk, struct span name)
{
	static const char *const suffixes[] = {".service", ".scope", ".socket", ".mount", ".swap"};
	struct span user = name;

	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
		struct span stem = name;

		if (skip_suffix(&stem, suffixes[i])) {
			put(walk, CONTAINER_LABEL_UNIT, name);
			walk->unit = name;
		}
	}
	if (skip_prefix(&user, "user-") && skip_suffix(&user, ".slice") &&
	    user.length <= strlen("4294967295") && strspn(user.at, "0123456789") == user.length)
		put(walk, CONTAINER_LABEL_USER, user);
}

static void take(struct walk *walk, struct span name)
{
	bool was_machine = walk->in_machine;

	walk->in_machine = false;
	walk->at = name;
	if (is_word(name, "kubepods"))
		walk->in_kubepods = true;
	else if (is_word(name, "ecs"))
		walk->in_ecs = true;
	/* systemd-nspawn makes the cgroups payload and supervisor in its scope. */
	else if (was_machine && (is_word(name, "payload") || is_word(name, "supervisor")))
		put_word(walk, CONTAINER_LABEL_RUNTIME, "nspawn");
	else if (!take_container(walk, name))
		take_unit(walk, name);
	walk->before = name;
}

static struct container_place place_of(const char *path, const struct span *span)
{
	return span->length ? (struct container_place){(size_t)(span->at - path), span->length}
			    : (struct container_place){0};
}

bool container_path_parse(const char *path, struct container_labels *ret)
{
	struct container_places places;

	return container_path_find(path, ret, &places);
}

bool container_path_find(const char *path, struct container_labels *ret, struct container_places *ret_places)
{
	struct walk walk = {.labels = ret, .path = path, .before = {.at = path}};

	memset(ret, 0, sizeof(*ret));
	*ret_places = (struct container_places){0};
	/* A name that is not a path (comm:NAME, model:WORKLOAD) has no labels. */
	if (*path != '/')
		return false;
	for (const char *at = path; *at;) {
		struct span name;

		at += strspn(at, "/");
		name = (struct span){at, strcspn(at, "/")};
		if (name.length > 0)
			take(&walk, name);
		at += name.length;
	}
	ret_places->container = place_of(path, &walk.container);
	ret_places->unit = place_of(path, &walk.unit);
	for (enum container_label label = 0; label < CONTAINER_LABELS; label++)
		if (*ret->text[label])
			return true;
	return false;
}
