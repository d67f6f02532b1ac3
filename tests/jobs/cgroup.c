/* SPDX-License-Identifier: MIT */
/* Folders of /sys/fs/cgroup and the files in them. */
#include "cgroup.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool put(const cgroup *group, const char *file, const char *text)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s", group->folder, file);
    FILE *f = fopen(path, "w");
    if (f == NULL)
        return false;
    bool good = fputs(text, f) >= 0;
    return fclose(f) == 0 && good;
}

static bool make_in(cgroup *out, const char *parent, bool v2,
                    uint64_t limit_bytes)
{
    char limit[32];
    snprintf(out->folder, sizeof out->folder, "%s/ggld-test-%d", parent,
             (int)getpid());
    snprintf(limit, sizeof limit, "%llu", (unsigned long long)limit_bytes);
    out->v2 = v2;
    if (mkdir(out->folder, 0755) != 0)
        return false;
    if (put(out, v2 ? "memory.max" : "memory.limit_in_bytes", limit))
        return true;
    rmdir(out->folder);
    return false;
}

/* This process's own group of version 2, below which others may be made. */
static void own_group(char *out, size_t size)
{
    char line[400];
    FILE *f = fopen("/proc/self/cgroup", "r");
    snprintf(out, size, "/sys/fs/cgroup");
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        line[strcspn(line, "\n")] = 0;
        if (strncmp(line, "0::", 3) == 0)
            snprintf(out, size, "/sys/fs/cgroup%s", line + 3);
    }
    if (f != NULL)
        fclose(f);
}

bool cgroup_make(cgroup *out, uint64_t limit_bytes, char *why,
                 unsigned why_size)
{
    char own[480];
    if (make_in(out, "/sys/fs/cgroup/memory", false, limit_bytes))
        return true;
    own_group(own, sizeof own);
    if (make_in(out, own, true, limit_bytes) ||
        make_in(out, "/sys/fs/cgroup", true, limit_bytes))
        return true;
    snprintf(why, why_size,
             "no memory cgroup can be made in /sys/fs/cgroup/memory (version "
             "1), %s or /sys/fs/cgroup (version 2): %s",
             own, strerror(errno));
    return false;
}

bool cgroup_enter(const cgroup *group)
{
    return put(group, "cgroup.procs", "0");
}

uint64_t cgroup_peak(const cgroup *group)
{
    char path[600];
    unsigned long long peak = 0;
    snprintf(path, sizeof path, "%s/%s", group->folder,
             group->v2 ? "memory.peak" : "memory.max_usage_in_bytes");
    FILE *f = fopen(path, "r");
    if (f == NULL)
        return 0;
    if (fscanf(f, "%llu", &peak) != 1)
        peak = 0;
    fclose(f);
    return peak;
}

void cgroup_remove(const cgroup *group)
{
    /* The kernel lets go of a process a moment after it was waited for. */
    for (int i = 0; i < 100 && rmdir(group->folder) != 0; i++)
        usleep(10000);
}
