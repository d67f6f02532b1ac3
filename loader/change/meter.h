/* SPDX-License-Identifier: MIT */
/* How far a long call has come, told to whoever wants to hear it. */
#ifndef GGLD_CHANGE_METER_H
#define GGLD_CHANGE_METER_H

#include <ggld/error.h>
#include <ggld/progress.h>

typedef struct ggld_meter {
    ggld_progress call; /* may be NULL */
    void *user;
    uint64_t total_bytes;
    uint64_t done_bytes;
    uint64_t told_bytes;
    uint64_t base_bytes; /* done before the writer's that is heard */
} ggld_meter;

/* bytes more are done. GGLD_E_CANCELLED where the caller wants no more. */
ggld_status ggld_meter_add(ggld_meter *m, uint64_t bytes, ggld_error *err);
/* A ggld_progress, user being the meter: a writer's copying as a part of the
 * work, behind base_bytes of it. */
int ggld_meter_hear(uint64_t done_bytes, uint64_t total_bytes, void *user);

#endif /* GGLD_CHANGE_METER_H */
