/* SPDX-License-Identifier: MIT */
/* What memory the system has left for the process. */
#ifndef GGLD_WINDOW_ROOM_H
#define GGLD_WINDOW_ROOM_H

#include <stdint.h>

/* MemAvailable, or less where a memory cgroup that the process is in has less
 * left of its limit, page cache that can go not counted. UINT64_MAX where the
 * system does not tell. Allocates nothing that stays. */
uint64_t ggld_room_bytes(void);

#endif /* GGLD_WINDOW_ROOM_H */
