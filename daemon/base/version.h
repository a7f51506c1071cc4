// SPDX-License-Identifier: GPL-2.0
/* The version that --version, the control socket and the metrics show. The build may set it. */
#ifndef PEBSD_VERSION_H
#define PEBSD_VERSION_H

#ifndef PEBSD_VERSION
#define PEBSD_VERSION "0.1.0"
#endif

#endif
