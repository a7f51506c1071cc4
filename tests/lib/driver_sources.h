// SPDX-License-Identifier: GPL-2.0
/*
 * Data source values of loads as Linux's driver makes them on Skylake and later servers (pebs_data_source,
 * arch/x86/events/intel/ds.c, Linux 6.1). tests/unit/test_data_source.c tests that each has the source of its
 * name.
 */
#ifndef PEBSD_DRIVER_SOURCES_H
#define PEBSD_DRIVER_SOURCES_H

#define DRIVER_L1           0x10268100142ULL
#define DRIVER_LFB          0x11868100242ULL
#define DRIVER_L2           0x10468100442ULL
#define DRIVER_L3           0x10668100842ULL
#define DRIVER_L3_HITM      0x10668800842ULL
#define DRIVER_LOCAL_DRAM   0x11a68201042ULL
#define DRIVER_REMOTE_CACHE 0x13668800042ULL /* a modified copy */
#define DRIVER_REMOTE_DRAM  0x13a68100042ULL

#endif
