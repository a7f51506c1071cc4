// SPDX-License-Identifier: GPL-2.0
/* The verbs of pebsctl. */
#ifndef PEBSD_CTL_VERBS_H
#define PEBSD_CTL_VERBS_H

#include "ctl/call/call_when.h"
#include "ctl/call/ctl_options.h"
#include "ctl/call/exit.h"

/*
 * Each verb gets its arguments, as many as main.c lists for the verb at most, followed by NULL. Each verb reports its
 * own failures.
 */
typedef enum ctl_exit (*verb_function)(const struct ctl_options *options, char *const *arguments);

/* The time of the past in which a verb looks for the cgroups that its arguments name. */
typedef struct call_range (*verb_time)(const struct ctl_options *options, char *const *arguments);

struct call_range verb_show_time(const struct ctl_options *options, char *const *arguments);
struct call_range verb_compare_time(const struct ctl_options *options, char *const *arguments);
struct call_range verb_explain_time(const struct ctl_options *options, char *const *arguments);
struct call_range verb_neighbours_time(const struct ctl_options *options, char *const *arguments);

enum ctl_exit verb_status(const struct ctl_options *options, char *const *arguments);
enum ctl_exit verb_top(const struct ctl_options *options, char *const *arguments);
enum ctl_exit verb_show(const struct ctl_options *options, char *const *arguments);
/* Returns true if both arguments are files, as recordings are. */
bool verb_compare_is_of_files(char *const *arguments);
enum ctl_exit verb_compare(const struct ctl_options *options, char *const *arguments);
enum ctl_exit verb_hot(const struct ctl_options *options, char *const *arguments);
enum ctl_exit verb_zoom(const struct ctl_options *options, char *const *arguments);
enum ctl_exit verb_profile(const struct ctl_options *options, char *const *arguments);
enum ctl_exit verb_rules(const struct ctl_options *options, char *const *arguments);
enum ctl_exit verb_alerts(const struct ctl_options *options, char *const *arguments);
enum ctl_exit verb_explain(const struct ctl_options *options, char *const *arguments);
enum ctl_exit verb_neighbours(const struct ctl_options *options, char *const *arguments);
enum ctl_exit verb_watch(const struct ctl_options *options, char *const *arguments);
enum ctl_exit verb_pause(const struct ctl_options *options, char *const *arguments);
enum ctl_exit verb_resume(const struct ctl_options *options, char *const *arguments);
enum ctl_exit verb_reload(const struct ctl_options *options, char *const *arguments);

#endif
