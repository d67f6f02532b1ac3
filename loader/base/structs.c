/* SPDX-License-Identifier: MIT */
/* A struct of an older caller is shorter: what it lacks is zero, the default.
 * One of a newer caller is longer: it is taken while the part that is not
 * known here is zero, so that nothing asked for is silently left out. */
#include "structs.h"

#include <inttypes.h>
#include <string.h>

bool ggld_all_zero(const void *data, size_t size)
{
    const uint8_t *p = data;
    for (size_t i = 0; i < size; i++)
        if (p[i] != 0)
            return false;
    return true;
}

ggld_status ggld_struct_take(const char *what, const void *theirs,
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
        !ggld_all_zero((const uint8_t *)theirs + our_size, size - our_size))
        return ggld_fail(err, GGLD_E_ABI, ggld_nowhere(),
                         "%s: struct_size %zu, and a field past the %zu bytes "
                         "that this library knows is not zero",
                         what, size, our_size);
    memset(out, 0, our_size);
    memcpy(out, theirs, size < our_size ? size : our_size);
    return GGLD_OK;
}

ggld_status ggld_struct_check(const char *what, uint32_t unknown_flags,
                              bool reserved_is_zero, ggld_error *err)
{
    if (!reserved_is_zero)
        return ggld_fail(err, GGLD_E_ABI, ggld_nowhere(),
                         "%s: a reserved field is not zero", what);
    if (unknown_flags != 0)
        return ggld_fail(err, GGLD_E_ABI, ggld_nowhere(),
                         "%s: flags 0x%" PRIx32 " are not known", what,
                         unknown_flags);
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
