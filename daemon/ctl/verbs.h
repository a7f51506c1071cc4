// SPDX-License-Identifier: GPL-2.0
/* What pebsctl can be asked to do. */
#ifndef PEBSD_CTL_VERBS_H
#define PEBSD_CTL_VERBS_H

#include "ctl/call/exit.h"
#include "ctl/call/options.h"

/* Each takes its arguments, as many as it wants and NULL after them, and reports its own failures. */
typedef enum ctl_exit (*verb_function)(const struct options *options, char *const *arguments);

enum ctl_exit verb_status(const struct options *options, char *const *arguments);
enum ctl_exit verb_top(const struct options *options, char *const *arguments);
enum ctl_exit verb_show(const struct options *options, char *const *arguments);
enum ctl_exit verb_hot(const struct options *options, char *const *arguments);
enum ctl_exit verb_zoom(const struct options *options, char *const *arguments);
enum ctl_exit verb_profile(const struct options *options, char *const *arguments);
enum ctl_exit verb_rules(const struct options *options, char *const *arguments);
enum ctl_exit verb_alerts(const struct options *options, char *const *arguments);
enum ctl_exit verb_explain(const struct options *options, char *const *arguments);
enum ctl_exit verb_neighbours(const struct options *options, char *const *arguments);
enum ctl_exit verb_watch(const struct options *options, char *const *arguments);
enum ctl_exit verb_pause(const struct options *options, char *const *arguments);
enum ctl_exit verb_resume(const struct options *options, char *const *arguments);
enum ctl_exit verb_reload(const struct options *options, char *const *arguments);

#endif
