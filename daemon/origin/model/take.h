// SPDX-License-Identifier: GPL-2.0
/* The receiver of the model's samples. */
#ifndef PEBSD_MODEL_TAKE_H
#define PEBSD_MODEL_TAKE_H

#include "pebsd/sample.h"

/* `sample` is valid only during the call. */
typedef void (*model_take)(void *userdata, const struct sample *sample);

#endif
