/* SPDX-License-Identifier: MIT */
/* Puts the tensor's name before a refusal. Costs nothing to callers that don't
 * ask for an error. */
#include "refuse.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "../base/checked.h"
#include "../base/quote.h"
#include "../read/file.h"
#include "../read/split.h"
#include "../spec/types.h"

#define TYPE_TEXT_MAX 32

ggld_place ggld_data_place(const ggld_tensor *t, uint64_t file_offset)
{
    return ggld_place_of(GGLD_IN_TENSOR_DATA, ggld_tensor_index_of(t),
                         file_offset);
}

/* Of a length, as the file's version has them. */
static uint64_t length_bytes(const ggld_tensor *t)
{
    return t->file->version == 1 ? 4 : 8;
}

ggld_place ggld_type_place(const ggld_tensor *t)
{
    uint64_t len_bytes = length_bytes(t);
    uint64_t before = len_bytes + t->name.len + 4 + t->n_dims * len_bytes;
    return ggld_place_of(GGLD_IN_TENSOR_INFO, ggld_tensor_index_of(t),
                         t->info_offset + before);
}

static void describe_type(uint32_t type, char text[TYPE_TEXT_MAX])
{
    const ggld_type_row *row = ggld_type_row_of(type);
    const char *removed = ggld_removed_type_name(type);

    if (row != NULL)
        snprintf(text, TYPE_TEXT_MAX, "%s", row->traits.name);
    else if (removed != NULL)
        snprintf(text, TYPE_TEXT_MAX, "%s, removed", removed);
    else
        snprintf(text, TYPE_TEXT_MAX, "type %" PRIu32, type);
}

/* The name lies in the map too, and may be what is gone: what is quoted of it
 * is read past the map. */
static ggld_quoted name_of(const ggld_tensor *t)
{
    static const ggld_quoted gone = { "(its name is gone)" };
    char name[GGLD_QUOTE_MAX]; /* more than a quote has of one */
    uint64_t n = ggld_min_u64(t->name.len, sizeof name);
    ggld_status status =
        ggld_file_pread(t->file, t->info_offset + length_bytes(t), name, n,
                        ggld_type_place(t), NULL);
    return status == GGLD_OK ? ggld_quote(name, n) : gone;
}

static ggld_status refuse(const ggld_tensor *t, ggld_status code,
                          ggld_place place, ggld_error *err, const char *format,
                          va_list args)
{
    char why[GGLD_MESSAGE_MAX];
    char type[TYPE_TEXT_MAX];

    vsnprintf(why, sizeof why, format, args);
    describe_type(t->type, type);
    if (t->file->set == NULL)
        return ggld_fail(err, code, place, "tensor %" PRIu64 " %s (%s): %s",
                         ggld_tensor_index_of(t), name_of(t).text, type, why);
    ggld_fail(err, code, place, "tensor %" PRIu64 " %s (%s) in %s: %s",
              ggld_tensor_index_of(t), name_of(t).text, type,
              ggld_split_label(t->file->path).text, why);
    err->shard = t->file->shard;
    return code;
}

ggld_status ggld_refuse(const ggld_tensor *tensor, ggld_status code,
                        ggld_place place, ggld_error *err, const char *format,
                        ...)
{
    if (err != NULL) {
        va_list args;
        va_start(args, format);
        refuse(tensor, code, place, err, format, args);
        va_end(args);
    }
    return code;
}

ggld_status ggld_refuse_view(const ggld_view *view, ggld_status code,
                             ggld_error *err, const char *format, ...)
{
    if (err != NULL) {
        va_list args;
        va_start(args, format);
        refuse(view->tensor, code,
               ggld_data_place(view->tensor, view->first_elem), err, format,
               args);
        va_end(args);
    }
    return code;
}

ggld_status ggld_refuse_errno(const ggld_tensor *tensor, int sys_errno,
                              uint64_t file_offset, ggld_error *err,
                              const char *format, ...)
{
    if (err != NULL) {
        char what[GGLD_MESSAGE_MAX];
        va_list args;
        va_start(args, format);
        vsnprintf(what, sizeof what, format, args);
        va_end(args);
        (void)ggld_fail_errno(err, sys_errno,
                              ggld_data_place(tensor, file_offset), "%s", what);
    }
    return ggld_refuse_as(tensor, GGLD_E_IO, err);
}

ggld_status ggld_refuse_as(const ggld_tensor *tensor, ggld_status status,
                           ggld_error *err)
{
    if (err != NULL) {
        ggld_error below = *err;
        ggld_place place = { below.section, below.index, below.offset };
        ggld_refuse(tensor, status, place, err, "%s", below.message);
        err->sys_errno = below.sys_errno;
    }
    return status;
}
