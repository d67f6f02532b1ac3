/* SPDX-License-Identifier: MIT */
/* See meter.h. */
#include "meter.h"

#include <inttypes.h>
#include <stddef.h>

#include "../base/error.h"

#define STEP_BYTES (4u << 20)

ggld_status ggld_meter_add(ggld_meter *m, uint64_t bytes, ggld_error *err)
{
    m->done_bytes += bytes;
    if (m->call == NULL || (m->done_bytes != m->total_bytes &&
                            m->done_bytes - m->told_bytes < STEP_BYTES))
        return GGLD_OK;
    m->told_bytes = m->done_bytes;
    if (m->call(m->done_bytes, m->total_bytes, m->user) == 0)
        return GGLD_OK;
    return ggld_fail(err, GGLD_E_CANCELLED, ggld_nowhere(),
                     "cancelled after %" PRIu64 " of %" PRIu64 " bytes",
                     m->done_bytes, m->total_bytes);
}

int ggld_meter_hear(uint64_t done_bytes, uint64_t total_bytes, void *user)
{
    ggld_meter *m = user;

    (void)total_bytes;
    m->done_bytes = m->told_bytes = m->base_bytes + done_bytes;
    return m->call != NULL ? m->call(m->done_bytes, m->total_bytes, m->user)
                           : 0;
}
