/* SPDX-License-Identifier: MIT */
/* The list of maps. Whoever holds its lock touches no map and can't be
 * interrupted by a signal, so that the handler of a fault may wait for it. What
 * ggld_maps_cover does is async-signal-safe; mmap is as a system call, which
 * POSIX does not promise. */
#include "maps.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static atomic_flag locked = ATOMIC_FLAG_INIT;
static ggld_map *maps;

static void lock(sigset_t *before)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, before);
    while (atomic_flag_test_and_set_explicit(&locked, memory_order_acquire))
        ;
}

static void unlock(const sigset_t *before)
{
    atomic_flag_clear_explicit(&locked, memory_order_release);
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

void ggld_maps_add(ggld_map *map)
{
    sigset_t before;
    lock(&before);
    map->before = NULL;
    map->next = maps;
    if (maps != NULL)
        maps->before = map;
    maps = map;
    unlock(&before);
}

void ggld_maps_remove(ggld_map *map)
{
    sigset_t before;
    lock(&before);
    if (map->before != NULL)
        map->before->next = map->next;
    else
        maps = map->next;
    if (map->next != NULL)
        map->next->before = map->before;
    unlock(&before);
}

static uintptr_t page_bytes(void)
{
    return (uintptr_t)sysconf(_SC_PAGESIZE);
}

/* Where what has to be replaced ends: pages behind the file's end are all gone,
 * of others only the one is known to be. */
static uintptr_t lost_end_of(const ggld_map *map, uintptr_t start)
{
    uintptr_t page = page_bytes();
    struct stat st;

    if (fstat(map->fd, &st) != 0 ||
        (uint64_t)st.st_size > map->offset + (start - map->start))
        return start + page;
    return map->start + (map->bytes + page - 1) / page * page;
}

static bool cover(ggld_map *map, uintptr_t at)
{
    uintptr_t page = page_bytes();
    uintptr_t start = at / page * page;
    uintptr_t end = lost_end_of(map, start);
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): an address in the map. */
    void *to = (void *)start;

    /* cppcheck-suppress leakReturnValNotUsed; it is in the map, and goes with it */
    if (mmap(to, end - start, PROT_READ,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
        return false;
    bool none = map->lost_start == map->lost_end;
    if (none || start < map->lost_start)
        map->lost_start = start;
    if (none || end > map->lost_end)
        map->lost_end = end;
    return true;
}

bool ggld_maps_cover(uintptr_t at)
{
    sigset_t before;
    int saved = errno;
    bool covered = false;

    lock(&before);
    ggld_map *map = maps;
    while (map != NULL && (at < map->start || at - map->start >= map->bytes))
        map = map->next;
    if (map != NULL)
        covered = cover(map, at);
    unlock(&before);
    errno = saved;
    return covered;
}

bool ggld_map_lost(const ggld_map *map, uintptr_t start, uint64_t bytes)
{
    uintptr_t lost_start = map->lost_start, lost_end = map->lost_end;
    return lost_start != lost_end && start < lost_end &&
           start + bytes > lost_start;
}
