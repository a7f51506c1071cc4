// SPDX-License-Identifier: GPL-2.0
#include "export/control/control_interface.h"

#include "interface.h" /* generated from io.pebsd.varlink: INTERFACE_TEXT */

const char control_interface_description[] = INTERFACE_TEXT;
