/* SPDX-License-Identifier: MIT */
/* How lazy/ says no: every message begins with the tensor and its type. */
#ifndef GGLD_LAZY_REFUSE_H
#define GGLD_LAZY_REFUSE_H

#include <ggld/tensor.h>

#include "../base/error.h"

/* Bytes of the tensor's data, at an offset in the file. */
ggld_place ggld_data_place(const ggld_tensor *tensor, uint64_t file_offset);
/* The field of the tensor's record that has its type. */
ggld_place ggld_type_place(const ggld_tensor *tensor);

/* Fails with "tensor 12 'blk.0.attn_q.weight' (q4_0): " and what format makes.
 * place is in the tensor. */
ggld_status ggld_refuse(const ggld_tensor *tensor, ggld_status code,
                        ggld_place place, ggld_error *err, const char *format,
                        ...) __attribute__((format(printf, 5, 6)));

/* The same of a view that has a tensor: the place is its first element. */
ggld_status ggld_refuse_view(const ggld_view *view, ggld_status code,
                             ggld_error *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The same for a system's error at an offset in the file. */
ggld_status ggld_refuse_errno(const ggld_tensor *tensor, int sys_errno,
                              uint64_t file_offset, ggld_error *err,
                              const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Puts the tensor before the message of a failure from below, as it is there
 * in *err (where it is not NULL), and returns its status. */
ggld_status ggld_refuse_as(const ggld_tensor *tensor, ggld_status status,
                           ggld_error *err);

#endif /* GGLD_LAZY_REFUSE_H */
