/* SPDX-License-Identifier: MIT */
/* See room.h. Files of /proc and /sys, line by line; what is not there, or not
 * as it is known, sets no limit. */
#include "room.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/checked.h"

#define PATH_BYTES 1024

static bool number_at(const char *text, uint64_t *out)
{
    char *end;
    errno = 0;
    *out = strtoull(text, &end, 10);
    return end != text && errno == 0;
}

/* The number behind "name" and blanks at the beginning of a line; a name of ""
 * is that of a file with nothing but a number. */
static bool number_in(const char *path, const char *name, uint64_t *out)
{
    char line[256];
    size_t len = strlen(name);
    bool found = false;
    FILE *f = fopen(path, "re");
    while (f != NULL && !found && fgets(line, sizeof line, f) != NULL)
        found = strncmp(line, name, len) == 0 && number_at(line + len, out);
    if (f != NULL)
        fclose(f);
    return found;
}

/* What files the two versions of cgroups have. */
typedef struct version {
    const char *root, *limit, *usage, *cache;
} version;

static const version v1 = { "/sys/fs/cgroup/memory", "memory.limit_in_bytes",
                            "memory.usage_in_bytes", "cache " };
static const version v2 = { "/sys/fs/cgroup", "memory.max", "memory.current",
                            "file " };

/* What a group's limit leaves; UINT64_MAX: it has none ("max"), or is not
 * there. */
static uint64_t left_in(const version *v, const char *group)
{
    char path[PATH_BYTES + 128];
    uint64_t limit, usage, cache = 0;
    snprintf(path, sizeof path, "%s%s/%s", v->root, group, v->limit);
    if (!number_in(path, "", &limit))
        return UINT64_MAX;
    snprintf(path, sizeof path, "%s%s/%s", v->root, group, v->usage);
    if (!number_in(path, "", &usage))
        return UINT64_MAX;
    snprintf(path, sizeof path, "%s%s/memory.stat", v->root, group);
    (void)number_in(path, v->cache, &cache);
    usage -= ggld_min_u64(usage, cache);
    return limit - ggld_min_u64(limit, usage);
}

/* Of the group and all above it. */
static uint64_t left_up_from(const version *v, char *group)
{
    uint64_t least = left_in(v, "");
    for (char *end = group + strlen(group); end > group;) {
        *end = 0;
        least = ggld_min_u64(least, left_in(v, group));
        while (end > group && *--end != '/')
            continue;
    }
    return least;
}

/* A line of /proc/self/cgroup: number, controllers, group. */
static uint64_t left_by(char *line)
{
    line[strcspn(line, "\n")] = 0;
    char *controllers = strchr(line, ':');
    char *group = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
    if (group == NULL)
        return UINT64_MAX;
    *group++ = 0;
    if (controllers[1] == 0)
        return left_up_from(&v2, group);
    return strcmp(controllers + 1, "memory") == 0 ? left_up_from(&v1, group)
                                                  : UINT64_MAX;
}

uint64_t ggld_room_bytes(void)
{
    char line[PATH_BYTES];
    uint64_t kib, least = UINT64_MAX;
    if (number_in("/proc/meminfo", "MemAvailable:", &kib))
        least = kib << 10;
    FILE *f = fopen("/proc/self/cgroup", "re");
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        least = ggld_min_u64(least, left_by(line));
    if (f != NULL)
        fclose(f);
    return least;
}
