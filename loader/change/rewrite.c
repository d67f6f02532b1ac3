/* SPDX-License-Identifier: MIT */
/* See rewrite.h. Everything taken over, read back, compared, named. */
#include "rewrite.h"

#include "../base/error.h"

uint64_t ggld_rewrite_bytes(const ggld_rewrite *r)
{
    return ggld_take_bytes(r->in) * (r->compare ? 2 : 1);
}

static ggld_status write_all(const ggld_rewrite *r, ggld_writer *w,
                             const char *path, ggld_error *err)
{
    ggld_status status = ggld_take_kvs(w, r->in, r->drop_split, err);
    if (status == GGLD_OK)
        status = ggld_take_tensors(w, r->in, err);
    if (status == GGLD_OK)
        status = ggld_writer_begin(w, path, err);
    if (status == GGLD_OK)
        status = ggld_writer_seal(w, err);
    return status;
}

static ggld_status read_back(ggld_rewrite *r, const ggld_writer *w,
                             ggld_error *err)
{
    ggld_file *out = NULL;
    ggld_status status = ggld_writer_reopen(w, &out, NULL, err);
    if (status == GGLD_OK)
        status = ggld_take_check_kvs(r->in, out, r->drop_split, err);
    if (status == GGLD_OK)
        status = ggld_take_check_tensors(r->in, out, &r->meter, err);
    ggld_close(out);
    return status;
}

ggld_status ggld_rewrite_run(ggld_rewrite *r, const char *path, ggld_error *err)
{
    ggld_writer_options options = ggld_writer_options_init();
    ggld_writer *w = NULL;

    ggld_status status = ggld_take_other_path(r->in, path, err);
    if (status != GGLD_OK)
        return status;
    options.alignment_bytes = ggld_take_alignment(r->in);
    options.flags = r->big_endian ? GGLD_WRITE_BIG_ENDIAN : 0;
    options.progress = ggld_meter_hear;
    options.progress_user = &r->meter;
    r->meter.total_bytes = ggld_rewrite_bytes(r);
    status = ggld_writer_new(&w, &options, err);
    if (status == GGLD_OK)
        status = write_all(r, w, path, err);
    if (status == GGLD_OK && r->compare)
        status = read_back(r, w, err);
    if (status == GGLD_OK)
        status = ggld_take_unchanged(r->in, err);
    if (status == GGLD_OK)
        status = ggld_writer_finish(w, err);
    ggld_writer_free(w);
    return status;
}
