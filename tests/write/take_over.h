/* SPDX-License-Identifier: MIT */
/* A whole file into a new one, record by record, as an app would do it. A
 * header, because fuzzers link nothing of the tests. */
#ifndef TESTS_WRITE_TAKE_OVER_H
#define TESTS_WRITE_TAKE_OVER_H

#include <ggld/write.h>

/* Of a key that is there twice, the first. */
static inline ggld_status copy_records(ggld_writer *w, const ggld_file *file,
                                       ggld_error *err)
{
    ggld_status status = GGLD_OK;
    for (uint64_t i = 0; i < ggld_kv_count(file) && status == GGLD_OK; i++) {
        const ggld_kv *kv = ggld_kv_at(file, i);
        ggld_string key = ggld_kv_key(kv);
        if (ggld_kv_find_n(file, key.data, (size_t)key.len) == kv)
            status = ggld_writer_copy_kv(w, kv, err);
    }
    for (uint64_t i = 0; i < ggld_tensor_count(file) && status == GGLD_OK; i++)
        status = ggld_writer_copy_tensor(w, ggld_tensor_at(file, i), err);
    return status;
}

static inline ggld_status take_records_over(const ggld_file *file,
                                            const char *path,
                                            const ggld_writer_options *options,
                                            ggld_error *err)
{
    ggld_writer *w = NULL;

    ggld_status status = ggld_writer_new(&w, options, err);
    if (status == GGLD_OK)
        status = copy_records(w, file, err);
    if (status == GGLD_OK)
        status = ggld_writer_begin(w, path, err);
    if (status == GGLD_OK)
        status = ggld_writer_finish(w, err);
    ggld_writer_free(w);
    return status;
}

#endif /* TESTS_WRITE_TAKE_OVER_H */
