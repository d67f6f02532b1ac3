/* SPDX-License-Identifier: MIT */
/* A file as the commands look at it: open, or open as far as it is there. */
#ifndef TOOLS_MODEL_H
#define TOOLS_MODEL_H

#include <ggld/file.h>
#include <ggld/tensor.h>

#include "text.h"

typedef struct model {
    out_source source;
    output *out; /* that shows it, or NULL */
    bool told_cut;
    const char *path;
    ggld_file *file;
    uint32_t open_flags; /* that it was opened with */
    ggld_file_info info;
    bool whole;              /* false: tensor data is missing */
    uint64_t n_whole;        /* tensors whose data is all there */
    uint64_t data_all_bytes; /* that the table asks for */
    uint64_t missing_bytes;  /* of them past the end of the file, or of the
                                files of a set */
    uint64_t first_missing;  /* tensor whose data is the first to be cut off */
} model;

/* The row for commands that open one shard, not the set it is of, when told
 * to; and what its value makes of the flags below. */
#define OPTION_SINGLE                                                         \
    {                                                                         \
        "single", 0, NULL, "open this shard alone, not the set that it is of" \
    }
static inline uint32_t single_flag(const char *value)
{
    return value != NULL ? GGLD_OPEN_SINGLE : 0;
}

/* Does the file itself open? If so and no set can be made of it, what is wrong
 * is elsewhere in the set; if not, its bytes are still there to be hashed. */
bool model_opens_alone(const char *path);

/* Exit status; what is wrong has been reported. model_open wants a file that
 * is whole, model_open_partial takes one whose data is not, and notes it. flags
 * are GGLD_OPEN_SINGLE and _PREAD, or 0. */
int model_open_with(model *m, const char *path, uint32_t flags);
int model_open(model *m, const char *path); /* of a command without --single */
int model_open_partial(model *m, const char *path, uint32_t flags);
/* Whatever is there of a file's records, without a word: is any? */
bool model_peek(model *m, const char *path, uint32_t flags);
/* Reports an error of work with the model: where that was cut meanwhile, just
 * this; where it has changed, or the error is not about the file that is
 * written (out; NULL: there is none), as the model's. Exit status. */
int model_failed(model *m, const char *out, const ggld_error *err);
/* Reports that it was cut meanwhile, once. */
bool model_is_cut(model *m);
/* What was said of a file that changes meanwhile is said of no file at all:
 * STATUS_FAULT, and reported. */
int model_unchanged(const model *m);
/* From here until it is closed, what the command writes to its output is of this
 * model. It must not move. */
void model_show(model *m, output *o);
void model_close(model *m);

/* Is path the model's file, or one of its shards? */
bool model_has(const model *m, const char *path);
/* The file that a tensor's data is in. */
const ggld_file *model_shard(const model *m, const ggld_tensor_info *info);
ggld_file_info model_file_info(const ggld_file *file);
/* Is it all inside that file? */
bool model_tensor_whole(const model *m, const ggld_tensor_info *info);
/* Reports that no tensor is called so, with the nearest name that one is. Exit
 * status. */
int model_no_tensor(model *m, const char *name);

ggld_tensor_info model_tensor(const model *m, uint64_t index);
ggld_tensor_info model_tensor_info(const ggld_tensor *tensor);
/* "q4_0", or "type 99" where the type has no name. */
text_number model_type_text(uint32_t type);
/* "4096 x 128256"; "scalar" for no dimensions. */
text_number model_shape_text(const ggld_tensor_info *info);

#endif /* TOOLS_MODEL_H */
