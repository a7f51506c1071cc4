// SPDX-License-Identifier: GPL-2.0
/*
 * The interface of the control socket in the Varlink interface definition language, which
 * GetInterfaceDescription returns.
 */
#ifndef PEBSD_CONTROL_INTERFACE_H
#define PEBSD_CONTROL_INTERFACE_H

#define CONTROL_INTERFACE "io.pebsd"

extern const char control_interface_description[];

#endif
