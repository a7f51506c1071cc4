// SPDX-License-Identifier: GPL-2.0
/* The control socket's interface in Varlink's own language: what GetInterfaceDescription returns. */
#ifndef PEBSD_CONTROL_INTERFACE_H
#define PEBSD_CONTROL_INTERFACE_H

#define CONTROL_INTERFACE "io.pebsd"

extern const char control_interface_description[];

#endif
