// SPDX-License-Identifier: GPL-2.0
/* The exit codes of pebsctl, on which scripts rely. */
#ifndef PEBSD_CTL_EXIT_H
#define PEBSD_CTL_EXIT_H

enum ctl_exit {
	CTL_DONE,
	CTL_FAILED,
	CTL_USAGE,
	CTL_NO_DAEMON,
	CTL_NO_SUCH,
	CTL_NOT_PERMITTED,
};

#endif
