/* SPDX-License-Identifier: MIT */
/* A memory limit for a process, page cache included: a cgroup of version 1 or
 * 2, where one can be made. */
#ifndef TEST_JOBS_CGROUP_H
#define TEST_JOBS_CGROUP_H

#include <stdbool.h>
#include <stdint.h>

typedef struct cgroup {
    char folder[512];
    bool v2;
} cgroup;

/* false: none can be made here; why says what was tried. */
bool cgroup_make(cgroup *out, uint64_t limit_bytes, char *why,
                 unsigned why_size);
/* Moves the calling process in. */
bool cgroup_enter(const cgroup *group);
/* The most that the group has used, or 0 where it is not told. */
uint64_t cgroup_peak(const cgroup *group);
/* When no process is in it any more. */
void cgroup_remove(const cgroup *group);

#endif /* TEST_JOBS_CGROUP_H */
