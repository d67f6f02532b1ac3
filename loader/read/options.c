/* SPDX-License-Identifier: MIT */
/* A struct of an older caller is shorter: what it lacks is zero, the default.
 * One of a newer caller is longer: it is taken while the part that is not
 * known here is zero, so that nothing asked for is silently left out. */
#include "options.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "../base/checked.h"

#define KNOWN_FLAGS \
    (GGLD_OPEN_STRICT | GGLD_OPEN_COPY | GGLD_OPEN_PREAD | GGLD_OPEN_METADATA)
#define KNOWN_CPU (GGLD_CPU_AVX2 | GGLD_CPU_NEON)

static bool all_zero(const void *data, size_t size)
{
    const uint8_t *p = data;
    for (size_t i = 0; i < size; i++)
        if (p[i] != 0)
            return false;
    return true;
}

/* *theirs, of which at least min_size bytes are there, in our_size bytes at
 * out. */
static ggld_status struct_take(const char *what, const void *theirs,
                               size_t min_size, void *out, size_t our_size,
                               ggld_error *err)
{
    size_t size;
    memcpy(&size, theirs, sizeof size);
    if (size < min_size)
        return ggld_fail(err, GGLD_E_ABI, ggld_nowhere(),
                         "%s: struct_size %zu is less than %zu: set it to "
                         "sizeof, or use the init function",
                         what, size, min_size);
    if (size > our_size &&
        !all_zero((const uint8_t *)theirs + our_size, size - our_size))
        return ggld_fail(err, GGLD_E_ABI, ggld_nowhere(),
                         "%s: struct_size %zu, and a field past the %zu bytes "
                         "that this library knows is not zero",
                         what, size, our_size);
    memset(out, 0, our_size);
    memcpy(out, theirs, size < our_size ? size : our_size);
    return GGLD_OK;
}

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
    if (!all_zero(o->reserved, sizeof o->reserved))
        return ggld_fail(err, GGLD_E_ABI, ggld_nowhere(),
                         "ggld_open_options: a reserved field is not zero");
    if (o->allocator != NULL &&
        (o->allocator->alloc == NULL || o->allocator->free == NULL))
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "ggld_allocator: alloc and free are both needed");
    if (o->verifier != NULL && o->verifier->struct_size < sizeof(ggld_verifier))
        return ggld_fail(err, GGLD_E_ABI, ggld_nowhere(),
                         "ggld_verifier: struct_size %zu is less than %zu",
                         o->verifier->struct_size, sizeof(ggld_verifier));
    return GGLD_OK;
}

ggld_status ggld_options_take(const ggld_open_options *options,
                              ggld_open_options *out, ggld_error *err)
{
    ggld_open_options taken = ggld_open_options_init();
    ggld_status status = GGLD_OK;

    if (options != NULL)
        status = struct_take("ggld_open_options", options,
                             offsetof(ggld_open_options, max_kv), &taken,
                             sizeof taken, err);
    if (status == GGLD_OK)
        status = check_options(&taken, err);
    if (status == GGLD_OK)
        *out = taken;
    return status;
}

ggld_status ggld_source_take(const ggld_source *source, ggld_source *out,
                             ggld_error *err)
{
    ggld_source taken;
    ggld_status status = struct_take("ggld_source", source, sizeof taken,
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

void ggld_struct_give(void *out, const void *ours, size_t our_size)
{
    size_t their_size;
    memcpy(&their_size, out, sizeof their_size);
    if (their_size < sizeof their_size)
        return;
    size_t both = their_size < our_size ? their_size : our_size;
    memset(out, 0, their_size);
    memcpy(out, ours, both);
    memcpy(out, &their_size, sizeof their_size);
}
