/* SPDX-License-Identifier: MIT */
/* Judges what an app asks for at open. */
#include "options.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "../base/checked.h"
#include "../base/structs.h"

#define KNOWN_FLAGS                                        \
    (GGLD_OPEN_STRICT | GGLD_OPEN_COPY | GGLD_OPEN_PREAD | \
     GGLD_OPEN_METADATA | GGLD_OPEN_SINGLE)
#define KNOWN_CPU (GGLD_CPU_AVX2 | GGLD_CPU_NEON)

static ggld_status check_options(const ggld_open_options *o, ggld_error *err)
{
    if ((o->flags & ~KNOWN_FLAGS) != 0)
        return ggld_fail(err, GGLD_E_ABI, ggld_nowhere(),
                         "ggld_open_options: flags 0x%x are not known (0x%x "
                         "are)",
                         o->flags & ~KNOWN_FLAGS, KNOWN_FLAGS);
    if ((o->cpu_disable & ~KNOWN_CPU) != 0)
        return ggld_fail(err, GGLD_E_ABI, ggld_nowhere(),
                         "ggld_open_options: cpu_disable 0x%x is not known "
                         "(0x%x are)",
                         o->cpu_disable & ~KNOWN_CPU, KNOWN_CPU);
    if (!ggld_all_zero(o->reserved, sizeof o->reserved))
        return ggld_fail(err, GGLD_E_ABI, ggld_nowhere(),
                         "ggld_open_options: a reserved field is not zero");
    if (o->allocator != NULL &&
        (o->allocator->alloc == NULL || o->allocator->free == NULL))
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "ggld_allocator: alloc and free are both needed");
    return GGLD_OK;
}

ggld_status ggld_options_take(const ggld_open_options *options,
                              ggld_open_options *out, ggld_verifier *verifier,
                              ggld_error *err)
{
    ggld_open_options taken = ggld_open_options_init();
    ggld_verifier asked;
    ggld_status status = GGLD_OK;

    if (options != NULL)
        status = ggld_struct_take("ggld_open_options", options,
                                  offsetof(ggld_open_options, max_kv), &taken,
                                  sizeof taken, err);
    if (status == GGLD_OK)
        status = check_options(&taken, err);
    if (status == GGLD_OK && taken.verifier != NULL)
        status = ggld_struct_take("ggld_verifier", taken.verifier,
                                  offsetof(ggld_verifier, check_shard), &asked,
                                  sizeof asked, err);
    if (status != GGLD_OK)
        return status;
    if (taken.verifier != NULL) {
        *verifier = asked;
        taken.verifier = verifier;
    }
    *out = taken;
    return GGLD_OK;
}

ggld_status ggld_source_take(const ggld_source *source, ggld_source *out,
                             ggld_error *err)
{
    ggld_source taken;
    ggld_status status = ggld_struct_take("ggld_source", source, sizeof taken,
                                          &taken, sizeof taken, err);
    if (status != GGLD_OK)
        return status;
    if (taken.pread == NULL && taken.map == NULL && taken.size_bytes != 0)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "ggld_source: neither pread nor map is set");
    if (taken.map != NULL && taken.size_bytes > PTRDIFF_MAX)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "ggld_source: a map can't have %llu bytes",
                         (unsigned long long)taken.size_bytes);
    *out = taken;
    return GGLD_OK;
}
