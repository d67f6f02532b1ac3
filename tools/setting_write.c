/* SPDX-License-Identifier: MIT */
/* Settings on the command line, and into a writer. */
#include <stdio.h>
#include <string.h>

#include "report.h"
#include "setting.h"

int setting_report(const args *a, const char *path, const char *text,
                   const setting *s, const char *why)
{
    if (s->status == STATUS_FAULT)
        return report(path, "--set '%.120s': %s", text, why);
    return report_usage(a, "--set '%.120s': %s", text, why);
}

int setting_parse(const args *a, const char *text, setting *out)
{
    char why[SETTING_WHY_MAX];

    if (setting_read(text, NULL, NULL, true, out, why)) {
        if (strcmp(out->key, "general.alignment") != 0)
            return STATUS_GOOD;
        snprintf(why, sizeof why,
                 "OUT has IN's alignment (32 where IN says none): tensors lie "
                 "by it, and it is not set by hand");
    }
    return setting_report(a, a->command->name, text, out, why);
}

static ggld_status write_number(const setting *s, ggld_writer *w,
                                ggld_error *err)
{
    union {
        uint8_t u8;
        int8_t i8;
        uint16_t u16;
        int16_t i16;
        uint32_t u32;
        int32_t i32;
        uint64_t u64;
        int64_t i64;
        float f32;
        double f64;
    } v;

    memcpy(&v, s->data, sizeof v);
    switch (s->type) {
    case GGLD_VALUE_U8:
        return ggld_writer_set_u8(w, s->key, v.u8, err);
    case GGLD_VALUE_I8:
        return ggld_writer_set_i8(w, s->key, v.i8, err);
    case GGLD_VALUE_U16:
        return ggld_writer_set_u16(w, s->key, v.u16, err);
    case GGLD_VALUE_I16:
        return ggld_writer_set_i16(w, s->key, v.i16, err);
    case GGLD_VALUE_U32:
        return ggld_writer_set_u32(w, s->key, v.u32, err);
    case GGLD_VALUE_I32:
        return ggld_writer_set_i32(w, s->key, v.i32, err);
    case GGLD_VALUE_U64:
        return ggld_writer_set_u64(w, s->key, v.u64, err);
    case GGLD_VALUE_I64:
        return ggld_writer_set_i64(w, s->key, v.i64, err);
    case GGLD_VALUE_F32:
        return ggld_writer_set_f32(w, s->key, v.f32, err);
    case GGLD_VALUE_F64:
        return ggld_writer_set_f64(w, s->key, v.f64, err);
    default:
        return ggld_writer_set_bool(w, s->key, v.u8 != 0, err);
    }
}

ggld_status setting_write(const setting *s, ggld_writer *w, ggld_error *err)
{
    if (s->type == GGLD_VALUE_STRING)
        return ggld_writer_set_string(w, s->key, s->data, (size_t)s->n, err);
    if (s->type != GGLD_VALUE_ARRAY)
        return write_number(s, w, err);
    if (s->elem_type == GGLD_VALUE_STRING)
        return ggld_writer_set_strings(w, s->key, s->data, s->n, err);
    return ggld_writer_set_array(w, s->key, s->elem_type, s->data, s->n, err);
}
