// SPDX-License-Identifier: GPL-2.0
/* The verb that saves a zoom as a file for other tools. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/base64.h"
#include "base/json_get.h"
#include "ctl/call/call_failure.h"
#include "ctl/call/call_style.h"
#include "ctl/new_file.h"
#include "ctl/verbs.h"
#include "ctl/zoom_wait.h"
#include "format/format.h"
#include "format/line.h"

static const char *format_of(const struct ctl_options *options)
{
	if (options->perf_data)
		return "perf.data";
	if (options->folded)
		return options->latency ? "folded-latency" : "folded";
	return "pprof";
}

static enum ctl_exit check_usage(const struct ctl_options *options)
{
	const char *wrong = NULL;

	if (!options->output)
		wrong = "profile needs -o FILE, or -o - for standard output";
	else if (options->folded && options->perf_data)
		wrong = "--folded cannot be used with --perf-data";
	else if (options->latency && !options->folded)
		wrong = "--latency can only be used with --folded: pprof and perf.data always contain the latency";
	else if (options->last && (options->has_for || options->has_rate))
		wrong = "--for and --rate are for a new zoom: they cannot be used with --last";
	else if (options->json && strcmp(options->output, "-") == 0)
		wrong = "-o - cannot be used with --json: both write to standard output";
	else if (!options->folded && strcmp(options->output, "-") == 0 && isatty(STDOUT_FILENO))
		wrong = "cannot write a binary profile to a terminal: give -o FILE, or use a pipe";
	if (!wrong)
		return CTL_DONE;
	(void)fprintf(stderr, "pebsctl: %s; see `pebsctl --help`\n", wrong);
	return CTL_USAGE;
}

static enum ctl_exit failure_of_file(const char *path, int error)
{
	_cleanup_free_ char *kept = NULL;

	if (strcmp(path, "-") == 0)
		return failure_of_output(error);
	(void)fprintf(stderr, "pebsctl: cannot write %s: %s\n", line_visible(path, &kept),
		      error == -ELOOP
			      ? "it is a symbolic link, which is not followed; give the path of its target"
			      : strerror(-error));
	return CTL_FAILED;
}

/* A profile that is being fetched. */
struct transfer {
	const struct ctl_options *options;
	struct client *client;
	const char *cgroup; /* names the zoom if `zoom` is not known yet */
	u64 zoom, offset, size;
	bool more;
	bool unwanted; /* the reader of standard output has left */
};

static enum ctl_exit get_piece(struct transfer *transfer, json_object **ret)
{
	json_object *parameters = json_object_new_object();
	bool fine = parameters;

	if (transfer->zoom)
		fine = fine && json_object_object_add(parameters, "zoom",
						      json_object_new_uint64(transfer->zoom)) == 0;
	else
		fine = fine && call_add_name(parameters, "cgroup", transfer->cgroup);
	fine = fine &&
	       json_object_object_add(parameters, "format",
				      json_object_new_string(format_of(transfer->options))) == 0 &&
	       json_object_object_add(parameters, "offset", json_object_new_uint64(transfer->offset)) == 0;
	if (!fine) {
		json_object_put(parameters);
		return failure_of_memory();
	}
	return call(transfer->options, transfer->client, "io.pebsd.GetProfile", parameters, ret);
}

static enum ctl_exit take_piece(struct transfer *transfer, const json_object *piece, struct new_file *file)
{
	const char *data = json_get_text(piece, "data");
	_cleanup_free_ u8 *bytes = NULL;
	u64 zoom, offset, size, next;
	size_t length = 0;
	int r;

	if (!data || !json_get_u64(piece, "zoom", &zoom) || !json_get_u64(piece, "offset", &offset) ||
	    !json_get_u64(piece, "size", &size) || offset != transfer->offset ||
	    (transfer->offset > 0 && (zoom != transfer->zoom || size != transfer->size)))
		return failure_of_reply(transfer->options, "profile");
	r = base64_decode(data, &bytes, &length);
	if (r == -ENOMEM)
		return failure_of_memory();
	if (r < 0 || length > size - offset)
		return failure_of_reply(transfer->options, "profile");
	transfer->zoom = zoom;
	transfer->size = size;
	transfer->offset += length;
	transfer->more = json_get_u64(piece, "next", &next);
	if (transfer->more && (length == 0 || next != transfer->offset))
		return failure_of_reply(transfer->options, "profile");
	if (!transfer->more && transfer->offset != size)
		return failure_of_reply(transfer->options, "profile");
	r = new_file_write(file, bytes, length);
	transfer->unwanted = r == -EPIPE;
	return r < 0 ? failure_of_file(transfer->options->output, r) : CTL_DONE;
}

static enum ctl_exit fetch_profile(struct transfer *transfer, struct new_file *file)
{
	enum ctl_exit result;

	do {
		_cleanup_json_ json_object *piece = NULL;

		result = get_piece(transfer, &piece);
		if (result == CTL_DONE)
			result = take_piece(transfer, piece, file);
	} while (result == CTL_DONE && transfer->more && !transfer->unwanted);
	return result;
}

/* Commands that read the file. */
static const char *advice(const struct ctl_options *options)
{
	if (options->perf_data)
		return "`perf report --mem-mode -i FILE` or `perf c2c report -i FILE`";
	if (options->folded)
		return "`flamegraph.pl FILE`, or any tool that reads folded stacks";
	return "`go tool pprof FILE`";
}

/*
 * Prints the sample counts of the zoom and how complete its stacks are. Prints to standard error if the
 * profile itself went to standard output.
 */
static enum ctl_exit print_written(const struct ctl_options *options, const struct transfer *transfer,
				   json_object *zoom)
{
	const struct format_style style = call_style(options);
	bool to_stdout = strcmp(options->output, "-") == 0;
	_cleanup_free_ char *text = NULL, *kept = NULL;
	char size[TEXT_NUMBER_MAX];
	size_t length;
	FILE *stream;

	if (options->json) {
		_cleanup_json_ json_object *all = json_object_new_object();

		if (!all ||
		    json_object_object_add(all, "file", json_object_new_string(options->output)) < 0 ||
		    json_object_object_add(all, "format", json_object_new_string(format_of(options))) < 0 ||
		    json_object_object_add(all, "size", json_object_new_uint64(transfer->size)) < 0 ||
		    json_object_object_add(all, "zoom", json_object_get(zoom)) < 0)
			return failure_of_memory();
		return call_print_json(all);
	}
	stream = open_memstream(&text, &length);
	if (!stream)
		return failure_of_memory();
	text_bytes(transfer->size, size);
	if (!to_stdout)
		line_put(stream, &style, "Written", "%s: %s, format %s; read it with %s",
			 line_visible(options->output, &kept), size, format_of(options), advice(options));
	format_zoom_samples(stream, zoom, &style);
	if (!to_stdout)
		return call_print_text(stream, &text, &length);
	if (fclose(stream) != 0)
		return failure_of_memory();
	(void)fputs(text, stderr);
	return CTL_DONE;
}

enum ctl_exit verb_profile(const struct ctl_options *options, char *const *arguments)
{
	_cleanup_(client_closep) struct client *client = NULL;
	_cleanup_(new_file_freep) struct new_file *file = NULL;
	_cleanup_json_ json_object *begun = NULL, *report = NULL, *zoom = NULL;
	struct transfer transfer = {.options = options, .cgroup = arguments[0]};
	enum ctl_exit result;
	int r;

	result = check_usage(options);
	if (result == CTL_DONE)
		result = call_open(options, &client);
	if (result != CTL_DONE)
		return result;
	/* Open the file first, so that no time is wasted if it cannot be written. */
	r = new_file_open(options->output, &file);
	if (r < 0)
		return failure_of_file(options->output, r);
	transfer.client = client;
	if (!options->last) {
		result = zoom_begin(options, client, arguments[0], &begun);
		if (result != CTL_DONE)
			return result;
		(void)json_get_u64(begun, "zoom", &transfer.zoom);
		result = zoom_wait(options, client, transfer.zoom, arguments[0], &zoom);
		if (result != CTL_DONE)
			return result;
	}
	result = fetch_profile(&transfer, file);
	if (result != CTL_DONE || transfer.unwanted)
		return result;
	r = new_file_finish(file);
	if (r < 0)
		return failure_of_file(options->output, r);
	result = zoom_get(options, client, transfer.zoom, NULL, 1, &report);
	return result == CTL_DONE ? print_written(options, &transfer, json_get_object(report, "zoom"))
				  : result;
}
