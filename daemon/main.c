// SPDX-License-Identifier: GPL-2.0
/* pebsd: parses the options and runs the mode that they ask for. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <systemd/sd-daemon.h>

#include "base/build_info.h"
#include "base/failure.h"
#include "base/log.h"
#include "base/standard_descriptors.h"
#include "base/utf8.h"
#include "config/config.h"
#include "config/config_check.h"
#include "config/options.h"
#include "containers/container_worker.h"
#include "history/keeper/keeper.h"
#include "http/server/http_worker.h"
#include "once.h"
#include "origin/probe/probe.h"
#include "origin/probe/probe_running.h"
#include "serve.h"
#include "symbols/resolver/symbols_unit.h"
#include "symbols/resolver/symbols_worker.h"
#include "trial/compare_recordings.h"
#include "trial/trial_command.h"

static int check_config(const struct options *options)
{
	_cleanup_(config_mistakes_clear) struct config_mistakes mistakes = {0};
	_cleanup_(config_freep) struct config *config = NULL;
	int checked = config_check(options->config, &config, &mistakes);
	int r = checked == -EINVAL ? 0 : checked;

	if (r == 0)
		r = config_check_print(config, &mistakes, options->json, stdout);
	if (r < 0) {
		(void)log_error(r, "cannot check the configuration");
		return EXIT_FAILED;
	}
	return checked < 0 ? EXIT_INPUT : EXIT_DONE;
}

static void log_mistakes(int priority, const struct config_mistakes *mistakes)
{
	for (size_t i = 0; i < mistakes->n; i++) {
		_cleanup_free_ char *text = config_mistake_text(&mistakes->list[i]);

		(void)log_full(priority, 0, NULL, "%s", text ? text : mistakes->list[i].message);
	}
}

static int load_config(const struct options *options, struct config **ret)
{
	_cleanup_(config_mistakes_clear) struct config_mistakes mistakes = {0};
	_cleanup_free_ char *problem = NULL;
	int r = config_load(options->config, NULL, ret, &mistakes);

	log_mistakes(LOG_ERR, &mistakes);
	if (r == 0)
		log_mistakes(LOG_WARNING, &(*ret)->warnings);
	if (r == 0)
		r = options_override(options, *ret, &problem);
	if (problem)
		(void)log_error(0, "%s", problem);
	if (r == -EINVAL)
		return EXIT_INPUT;
	if (r < 0) {
		(void)log_error(r, "cannot read the configuration");
		return EXIT_FAILED;
	}
	return EXIT_DONE;
}

/* Uses the configuration, but its defaults if it has mistakes, so that a mistake does not prevent a probe. */
static int probe(const struct options *options)
{
	_cleanup_(config_mistakes_clear) struct config_mistakes mistakes = {0};
	_cleanup_(config_freep) struct config *config = NULL;
	struct probe_request request;
	int r = config_load(options->config, NULL, &config, &mistakes);

	if (r == -EINVAL) {
		log_mistakes(LOG_ERR, &mistakes);
		log_notice("the configuration has mistakes; this report uses the default configuration");
		r = config_new(&config);
	}
	if (r >= 0) {
		request = (struct probe_request){
			.sysfs_root = options->sysfs_root ? options->sysfs_root : "/sys",
			.events = {.ldlat = (u32)config->ldlat,
				   .periods = config->periods,
				   .roles = config_roles(config),
				   .automatic = config->events == CONFIG_EVENTS_AUTO},
			.slots =
				config->cgroups_max == CONFIG_CGROUPS_MAX_AUTO ? 0 : (u32)config->cgroups_max,
			.hot_max = (u32)config->hot_max,
			.leave_counters = (unsigned)config->leave_counters,
		};
		request.selection.named = config->cpus;
		if (!config->isolated)
			request.selection.isolated = perf_selection_isolated(request.sysfs_root);
		if (!options->sysfs_root)
			probe_running_ask(options->socket, &request.running);
		r = probe_run(&request, options->json, stdout);
	}
	if (r < 0) {
		(void)log_error(r, "cannot probe %s", options->sysfs_root ? options->sysfs_root : "/sys");
		return EXIT_FAILED;
	}
	return r;
}

static int start(const struct options *options, struct config *config, struct failure *failure)
{
	if (options->action == OPTIONS_TEST_RULES)
		return trial_command(options, config, failure);
	if (options->action == OPTIONS_COMPARE)
		return compare_command(options, failure);
	return options->once ? once(options, config, failure) : serve(options, config, failure);
}

static int run(const struct options *options, struct config *config)
{
	struct failure failure = {0};
	int r = start(options, config, &failure);
	_cleanup_free_ char *message = failure.message;

	if (r >= 0)
		return r;
	/*
	 * The message must be one line: the service manager would read a second line as another assignment.
	 */
	if (message)
		utf8_make_plain(message);
	if (message)
		(void)log_error(0, "%s", message);
	else
		(void)log_error(r, ferror(stdout) ? "cannot write to standard output" : "cannot continue");
	/* After an error that a restart cannot cure, the unit is not restarted, and its status says why. */
	(void)sd_notifyf(false, "STATUS=%s\nERRNO=%d", message ? message : strerror(-r), -r);
	return (int)failure.code;
}

/* Runs the symbolizer for the socket unit. The debuginfod URLs come from the configuration, not from a client. */
static int symbols_socket(void)
{
	_cleanup_(config_mistakes_clear) struct config_mistakes mistakes = {0};
	_cleanup_(config_freep) struct config *config = NULL;
	int r = config_load(NULL, NULL, &config, &mistakes);

	if (r == -EINVAL)
		(void)log_warning(
			0,
			"the configuration has mistakes: no debuginfod server is used; run pebsd --check-config");
	else if (r < 0)
		(void)log_warning(r,
				  "no debuginfod server is used, because the configuration cannot be read");
	return symbols_unit(&(struct symbols_unit_settings){
		.listening = SD_LISTEN_FDS_START,
		.debuginfod = r < 0 ? NULL : config->debuginfod,
	});
}

/*
 * The socket unit starts the symbolizer with a listening socket. It is also started for a single client, by
 * pebsd or by that unit, with a socket as standard input, and with DEBUGINFOD_URLS if it may ask these
 * servers.
 */
static int symbolizer(void)
{
	const char *debuginfod = getenv("DEBUGINFOD_URLS");

	if (sd_listen_fds(true) == 1 &&
	    sd_is_socket_unix(SD_LISTEN_FDS_START, SOCK_SEQPACKET, 1, NULL, 0) > 0)
		return symbols_socket();
	return symbols_worker(STDIN_FILENO, debuginfod && *debuginfod);
}

/*
 * Digests of the BPF objects that are part of pebsd. The kernel's tag of a program depends on the kernel; these digests
 * do not.
 */
static const struct build_info_bpf bpf_digests[] = {
#include "bpf_digests.h" /* generated by the build */
};

static int version(const struct options *options)
{
	int r;

	if (!options->json) {
		options_print_version(stdout);
		return EXIT_DONE;
	}
	r = build_info_print(stdout, "pebsd", bpf_digests, ARRAY_SIZE(bpf_digests));
	if (r < 0) {
		(void)log_error(r, "cannot print the build information");
		return EXIT_FAILED;
	}
	return EXIT_DONE;
}

/* An incomplete report is a failure, whatever it says. Returns the exit code. */
static int reported(int code)
{
	int r = fflush(stdout) == 0 ? 0 : -errno;

	if ((r == 0 && !ferror(stdout)) || code == EXIT_FAILED)
		return code;
	/* If an earlier write failed, `r` may be 0: the reason is lost. */
	(void)log_error(r, "cannot write to standard output");
	return EXIT_FAILED;
}

int main(int argc, char *argv[])
{
	_cleanup_(options_clear) struct options options = {0};
	_cleanup_(config_freep) struct config *config = NULL;
	_cleanup_free_ char *problem = NULL;
	int r;

	standard_descriptors_occupy();
	log_open("pebsd");
	r = options_parse(argc, argv, &options, &problem);
	if (r < 0) {
		(void)log_error(problem ? 0 : r, "%s", problem ? problem : "cannot read the command line");
		return r == -EINVAL ? EXIT_INPUT : EXIT_FAILED;
	}
	if (options.action == OPTIONS_HELP) {
		options_print_help(stdout);
		return reported(EXIT_DONE);
	}
	if (options.action == OPTIONS_VERSION)
		return reported(version(&options));
	if (options.action == OPTIONS_SYMBOLIZER)
		return symbolizer();
	if (options.action == OPTIONS_HTTP)
		return http_worker(STDIN_FILENO);
	if (options.action == OPTIONS_CONTAINER_NAMES)
		return container_worker(STDIN_FILENO);
	if (options.action == OPTIONS_KEEPER)
		return keeper_worker(STDIN_FILENO);
	if (options.action == OPTIONS_CHECK_CONFIG)
		return reported(check_config(&options));
	if (options.action == OPTIONS_PROBE)
		return reported(probe(&options));
	r = load_config(&options, &config);
	return r == EXIT_DONE ? run(&options, config) : r;
}
