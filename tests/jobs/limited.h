/* SPDX-License-Identifier: MIT */
/* A part of a test that is given little memory, page cache included: a child in a
 * cgroup of its own, which the kernel kills where the group's memory does not
 * do. */
#ifndef TEST_JOBS_LIMITED_H
#define TEST_JOBS_LIMITED_H

#include "cgroup.h"

/* false: no group can be made here; says so, for a test that is skipped. */
bool limited_make(cgroup *group, uint64_t limit_bytes);

/* Calls body in a child in the group, which is removed afterwards. What body
 * returned: 0, or 77 where it has left its part out; anything else, and a child
 * that is killed, is a failed check. *peak_bytes: as cgroup_peak has it. */
int limited_run(const cgroup *group, int (*body)(const void *arg),
                const void *arg, uint64_t *peak_bytes);

#endif /* TEST_JOBS_LIMITED_H */
