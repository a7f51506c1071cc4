// SPDX-License-Identifier: GPL-2.0
#include "export/prometheus/cgroup_label.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "export/prometheus/label.h"

static int append(FILE *stream, const char *separator, const char *name, const char *value)
{
	_cleanup_free_ char *escaped = NULL;
	int r = label_escape(value, &escaped);

	if (r < 0)
		return r;
	return fprintf(stream, "%s%s=\"%s\"", separator, name, escaped) < 0 ? -ENOMEM : 0;
}

static int append_known(FILE *stream, const struct cgroup_label_request *request, const char *path)
{
	const struct container *container =
		request->containers && request->labels
			? request->containers->find(request->containers->userdata, path)
			: NULL;
	int r = 0;

	for (enum container_label label = 0; r == 0 && container && label < CONTAINER_LABELS; label++)
		if ((request->labels & 1U << label) && container->text[label])
			r = append(stream, ",", container_label_name(label), container->text[label]);
	return r;
}

int cgroup_label(const struct cgroup_label_request *request, const char *path, char **ret)
{
	_cleanup_free_ char *text = NULL;
	size_t bytes;
	FILE *stream = open_memstream(&text, &bytes);
	int r;

	if (!stream)
		return -ENOMEM;
	r = append(stream, "", "cgroup", path);
	if (r == 0)
		r = append_known(stream, request, path);
	if (fclose(stream) != 0 && r == 0)
		r = -ENOMEM;
	if (r == 0)
		*ret = TAKE_PTR(text);
	return r;
}
