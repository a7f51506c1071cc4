// SPDX-License-Identifier: GPL-2.0
/* Names of data sources, snoop results and TLB results, by their numbers in data_source.h. */
#ifndef PEBSD_DATA_SOURCE_NAMES_H
#define PEBSD_DATA_SOURCE_NAMES_H

#include "pebsd/data_source.h"

#define NAMES_WORD_(name, word) word,

static const char *const source_names[SOURCE_SLOTS] = {SOURCES(NAMES_WORD_)};
static const char *const snoop_names[SNOOP_SLOTS] = {SNOOPS(NAMES_WORD_)};
static const char *const tlb_names[TLB_SLOTS] = {TLBS(NAMES_WORD_)};

#undef NAMES_WORD_

#endif
