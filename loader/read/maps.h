/* SPDX-License-Identifier: MIT */
/* All maps of files that the library has made and not taken down, so that
 * SIGBUS's handler can tell whether an address is in one of them, and put zeros
 * where pages are gone. */
#ifndef GGLD_READ_MAPS_H
#define GGLD_READ_MAPS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ggld_map {
    struct ggld_map *next, *before;
    uintptr_t start; /* of a page; 0: there is no map */
    size_t bytes;
    uint64_t offset; /* in the file */
    int fd;          /* the file's */
    /* What was put zeros in place of, and perhaps what is between; none where
     * they are the same. */
    _Atomic uintptr_t lost_start, lost_end;
} ggld_map;

/* From here on, until it is removed, the map is known to ggld_maps_cover. Where
 * it lies stays the caller's. */
void ggld_maps_add(ggld_map *map);
void ggld_maps_remove(ggld_map *map);

/* Of a handler of SIGBUS: puts zeros in place of the page at the address, and of
 * those behind it that the file does not have either. false: it is in no map,
 * or the system refuses. */
bool ggld_maps_cover(uintptr_t at);

/* Is any of these bytes, all in the map, a zero that was put there? */
bool ggld_map_lost(const ggld_map *map, uintptr_t start, uint64_t bytes);

#endif /* GGLD_READ_MAPS_H */
