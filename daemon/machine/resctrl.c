// SPDX-License-Identifier: GPL-2.0
#include "machine/resctrl.h"

#include <errno.h>
#include <string.h>

#include "base/directory.h"
#include "base/number.h"
#include "base/text_file.h"

#define DOMAIN_PREFIX "mon_L3_"

static const char *const kind_names[RESCTRL_KINDS] = {[RESCTRL_TOTAL] = "total", [RESCTRL_LOCAL] = "local"};

/* Folders of the root that are not control groups. */
static const char *const not_groups[] = {"info", "mon_groups", "mon_data"};

const char *resctrl_kind_name(enum resctrl_kind kind)
{
	return kind_names[kind];
}

int resctrl_parse_bytes(const char *text, u64 *ret)
{
	if (strcmp(text, "Unavailable") == 0 || strcmp(text, "Error") == 0 || strcmp(text, "Unassigned") == 0)
		return -ENODATA;
	return number_parse(text, 0, ~0ULL, ret) < 0 ? -EBADMSG : 0;
}

static int read_bytes(const char *folder, struct resctrl_domain *domain, enum resctrl_kind kind)
{
	_cleanup_free_ char *path = NULL;
	_cleanup_free_ char *text = NULL;
	int r;

	if (asprintf(&path, "%s/mbm_%s_bytes", folder, kind_names[kind]) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	r = text_file_read(path, &text);
	if (r == 0)
		r = resctrl_parse_bytes(text, &domain->bytes[kind]);
	domain->known[kind] = r == 0;
	return r == -ENOMEM ? r : 0;
}

static int add(struct resctrl *resctrl, const char *group, u32 domain, struct resctrl_domain **ret)
{
	struct resctrl_domain *list;

	/* The array is full at each power of two, and is then doubled. */
	if ((resctrl->n & (resctrl->n - 1)) == 0) {
		list = reallocarray(resctrl->list, resctrl->n ? 2 * resctrl->n : 1, sizeof(*list));
		if (!list)
			return -ENOMEM;
		resctrl->list = list;
	}
	*ret = &resctrl->list[resctrl->n];
	**ret = (struct resctrl_domain){.group = strdup(group), .domain = domain};
	if (!(*ret)->group)
		return -ENOMEM;
	resctrl->n++;
	return 0;
}

static int read_group(const char *root, const char *group, struct resctrl *ret)
{
	_cleanup_closedir_ DIR *directory = NULL;
	_cleanup_free_ char *data = NULL;
	const struct dirent *entry;
	int r = 0;

	if (asprintf(&data, "%s/%s/mon_data", root, group) < 0) {
		data = NULL;
		return -ENOMEM;
	}
	directory = opendir(data);
	while (r == 0 && directory && (entry = readdir(directory))) {
		_cleanup_free_ char *folder = NULL;
		struct resctrl_domain *domain;
		u64 number;

		if (strncmp(entry->d_name, DOMAIN_PREFIX, strlen(DOMAIN_PREFIX)) != 0 ||
		    number_parse(entry->d_name + strlen(DOMAIN_PREFIX), 0, ~0U, &number) < 0)
			continue;
		if (ret->n == RESCTRL_MAX) {
			ret->truncated = true;
			return 0;
		}
		if (asprintf(&folder, "%s/%s", data, entry->d_name) < 0) {
			folder = NULL;
			return -ENOMEM;
		}
		r = add(ret, group, (u32)number, &domain);
		for (enum resctrl_kind kind = 0; r == 0 && kind < RESCTRL_KINDS; kind++)
			r = read_bytes(folder, domain, kind);
	}
	return r;
}

static bool is_group(const struct dirent *entry)
{
	if (entry->d_type != DT_DIR || strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(not_groups); i++)
		if (strcmp(entry->d_name, not_groups[i]) == 0)
			return false;
	return true;
}

/*
 * Finds the next group in the folder. `*ret` is its path below the root: joins `parent`, `separator` and the group's
 * name. NULL: no more. Returns 0 or -ENOMEM.
 */
static int next_group(DIR *directory, const char *parent, const char *separator, char **ret)
{
	const struct dirent *entry;

	*ret = NULL;
	while (directory && (entry = readdir(directory)))
		if (is_group(entry)) {
			if (asprintf(ret, "%s%s%s", parent, separator, entry->d_name) >= 0)
				return 0;
			*ret = NULL;
			return -ENOMEM;
		}
	return 0;
}

static int open_folder(const char *root, const char *group, const char *folder, DIR **ret)
{
	_cleanup_free_ char *path = NULL;

	if (asprintf(&path, "%s/%s/%s", root, group, folder) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	*ret = opendir(path);
	return 0;
}

/* Reads a control group and the monitoring groups in it. */
static int read_control_group(const char *root, const char *control, struct resctrl *ret)
{
	_cleanup_closedir_ DIR *directory = NULL;
	int r = read_group(root, control, ret);

	if (r == 0)
		r = open_folder(root, control, "mon_groups", &directory);
	while (r == 0) {
		_cleanup_free_ char *group = NULL;

		r = next_group(directory, control, *control ? "/mon_groups/" : "mon_groups/", &group);
		if (r < 0 || !group)
			break;
		r = read_group(root, group, ret);
	}
	return r;
}

static int by_group(const void *a, const void *b)
{
	const struct resctrl_domain *left = a, *right = b;
	int order = strcmp(left->group, right->group);

	return order ? order : (left->domain > right->domain) - (left->domain < right->domain);
}

int resctrl_read(const char *root, struct resctrl *ret)
{
	struct resctrl resctrl = {0};
	_cleanup_closedir_ DIR *directory = NULL;
	int r = read_control_group(root, "", &resctrl);

	if (r == 0)
		r = open_folder(root, "", "", &directory);
	while (r == 0) {
		_cleanup_free_ char *group = NULL;

		r = next_group(directory, "", "", &group);
		if (r < 0 || !group)
			break;
		r = read_control_group(root, group, &resctrl);
	}
	if (r < 0) {
		resctrl_done(&resctrl);
		return r;
	}
	if (resctrl.n > 1)
		qsort(resctrl.list, resctrl.n, sizeof(*resctrl.list), by_group);
	*ret = resctrl;
	return 0;
}

void resctrl_done(struct resctrl *resctrl)
{
	for (size_t i = 0; i < resctrl->n; i++)
		free(resctrl->list[i].group);
	free(resctrl->list);
	*resctrl = (struct resctrl){0};
}

/* Finds the same domain of the same group in another reading; NULL: it has none. */
static const struct resctrl_domain *find(const struct resctrl *resctrl, const struct resctrl_domain *wanted)
{
	for (size_t i = 0; i < resctrl->n; i++)
		if (resctrl->list[i].domain == wanted->domain &&
		    strcmp(resctrl->list[i].group, wanted->group) == 0)
			return &resctrl->list[i];
	return NULL;
}

static void add_rates(struct resctrl_rate *rate, const struct resctrl_domain *before,
		      const struct resctrl_domain *now, double seconds)
{
	for (int kind = 0; kind < RESCTRL_KINDS; kind++) {
		rate->known[kind] = rate->known[kind] && before && before->known[kind] && now->known[kind] &&
				    now->bytes[kind] >= before->bytes[kind];
		if (rate->known[kind])
			rate->rates[kind] += (double)(now->bytes[kind] - before->bytes[kind]) / seconds;
	}
}

/* Drops the rates of groups that have lost a domain since the earlier reading. */
static void drop_incomplete(struct resctrl_rate *list, size_t n, const struct resctrl *before,
			    const struct resctrl *now)
{
	for (size_t i = 0; i < before->n; i++) {
		if (find(now, &before->list[i]))
			continue;
		for (size_t k = 0; k < n; k++)
			if (strcmp(list[k].group, before->list[i].group) == 0)
				memset(list[k].known, 0, sizeof(list[k].known));
	}
}

int resctrl_rates_update(struct resctrl_rates *rates, const struct resctrl *before, const struct resctrl *now,
			 double seconds)
{
	struct resctrl_rate *list = calloc(now->n ? now->n : 1, sizeof(*list));
	size_t n = 0;

	resctrl_rates_done(rates);
	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < now->n; i++) {
		if (n == 0 || strcmp(list[n - 1].group, now->list[i].group) != 0)
			list[n++] = (struct resctrl_rate){.group = now->list[i].group, .known = {true, true}};
		add_rates(&list[n - 1], find(before, &now->list[i]), &now->list[i], seconds);
	}
	drop_incomplete(list, n, before, now);
	*rates = (struct resctrl_rates){.seconds = seconds, .n = n, .list = list};
	return 0;
}

void resctrl_rates_done(struct resctrl_rates *rates)
{
	free(rates->list);
	*rates = (struct resctrl_rates){0};
}
