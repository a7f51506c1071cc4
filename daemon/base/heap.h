// SPDX-License-Identifier: GPL-2.0
/* How malloc(3) gives memory back, in a process that runs for months. */
#ifndef PEBSD_HEAP_H
#define PEBSD_HEAP_H

/*
 * From here on what is large is mapped on its own, and is gone when it is freed. Left alone, the size from
 * which that is so would grow to the largest that was ever freed (mallopt(3), M_MMAP_THRESHOLD), and what is
 * freed later would stay.
 */
void heap_map_large(void);

/* Gives back what is free: for after a start, which takes more than what follows. */
void heap_trim(void);

#endif
