/* SPDX-License-Identifier: MIT */
/* Decode and encode joined. Work is bounded by the bytes at the cursor; arrays
 * are walked as decode walks them, with the same limit of depth. */
#include "transcode.h"

#include "types.h"

static bool transcode_strings(ggld_cursor *c, uint64_t count, ggld_encoder *e,
                              ggld_fault *fault)
{
    ggld_string string;
    for (uint64_t i = 0; i < count; i++) {
        if (!ggld_decode_string(c, "string length", 0, &string, fault))
            return false;
        ggld_encode_string(e, string);
    }
    return true;
}

static bool transcode_array(ggld_cursor *c, ggld_encoder *e, ggld_fault *fault)
{
    ggld_array_walk walk = ggld_array_walk_init();
    uint32_t type;
    uint64_t count;

    while (!ggld_array_walk_done(&walk)) {
        if (!ggld_decode_array_head(c, &walk, &type, &count, fault))
            return false;
        ggld_encode_u32(e, type);
        ggld_encode_len(e, count);
        if (type == GGLD_VALUE_ARRAY)
            continue;
        if (type == GGLD_VALUE_STRING) {
            if (!transcode_strings(c, count, e, fault))
                return false;
            continue;
        }
        /* The head's reading saw that these bytes are there. */
        uint32_t width = ggld_value_size(type);
        ggld_encode_numbers(e, ggld_cursor_take(c, count * width), width, count,
                            c->big_endian);
    }
    return true;
}

bool ggld_transcode_value(ggld_cursor *c, uint32_t value_type, ggld_encoder *e,
                          ggld_fault *fault)
{
    if (value_type == GGLD_VALUE_ARRAY)
        return transcode_array(c, e, fault);
    if (value_type == GGLD_VALUE_STRING)
        return transcode_strings(c, 1, e, fault);

    ggld_cursor start = *c;
    if (!ggld_decode_skip_value(c, value_type, 0, fault))
        return false;
    uint32_t width = ggld_value_size(value_type);
    ggld_encode_numbers(e, ggld_cursor_take(&start, width), width, 1,
                        c->big_endian);
    return true;
}

bool ggld_transcode_raw(const ggld_raw_value *raw, uint32_t value_type,
                        ggld_encoder *e)
{
    ggld_cursor c = { .span = { (const uint8_t *)raw->bytes.data,
                                raw->bytes.len },
                      .big_endian = raw->big_endian,
                      .narrow = raw->version == 1 };
    ggld_fault ignored;

    if (c.narrow || c.big_endian != e->big_endian)
        return ggld_transcode_value(&c, value_type, e, &ignored) && !e->full;
    ggld_encode_bytes(e, raw->bytes.data, raw->bytes.len);
    return !e->full;
}
