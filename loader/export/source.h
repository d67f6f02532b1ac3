/* SPDX-License-Identifier: MIT */
/* A model that is read, whatever its format. Adding a format is one file and
 * one row of the table in source.c. */
#ifndef GGLD_EXPORT_SOURCE_H
#define GGLD_EXPORT_SOURCE_H

#include <stdbool.h>
#include <sys/stat.h>

#include <ggld/export.h>

#include "../base/error.h"

/* No type of GGUF: values are to be had as F32 only, or not at all. */
#define GGLD_NO_TYPE UINT32_MAX

/* What is kept of each of a model's tensors, so no more than is needed. */
typedef struct ggld_source_tensor {
    ggld_string name;
    const char *type_name;      /* as its format has it, or NULL: by number */
    uint64_t dims[4];           /* in GGUF's order; 1 past n_dims */
    uint64_t size_bytes;        /* stored */
    uint64_t file_offset_bytes; /* in its file's descriptor */
    const ggld_tensor *gguf;    /* where there is one */
    uint32_t type; /* of its bytes, as GGUF numbers them; or GGLD_NO_TYPE */
    uint32_t file;
    uint8_t n_dims;
    bool readable;         /* its values can be had */
    bool copied_by_writer; /* only the writer can copy its bytes */
} ggld_source_tensor;

/* Whoever fills in the dimensions has seen that this is no overflow, or that one
 * is zero, which makes the product zero in any case. */
static inline uint64_t ggld_source_elems(const ggld_source_tensor *t)
{
    return t->dims[0] * t->dims[1] * t->dims[2] * t->dims[3];
}

/* A file of the source, as it was when it was opened. */
typedef struct ggld_source_file {
    char *path;
    int fd;
    struct stat stamp;
} ggld_source_file;

typedef struct ggld_source_format ggld_source_format;

struct ggld_export_source {
    const ggld_source_format *format;
    ggld_source_file *files;
    uint32_t n_files;
    ggld_source_tensor *tensors;
    uint64_t n_tensors;
    void *state; /* the format's own */
    /* Something odd that is no fault, one line, for whoever exports; or "". */
    char remark[192];
};

/* What a format is told by. */
typedef struct ggld_source_look {
    const char *path; /* of the first of n_paths files */
    size_t n_paths;
    uint8_t head[16]; /* its first bytes */
    size_t head_bytes;
} ggld_source_look;

struct ggld_source_format {
    const char *name;
    bool (*recognise)(const ggld_source_look *look);
    /* Opens the files and reads what is in front of tensor data. On failure
     * close is called all the same. */
    ggld_status (*open)(ggld_export_source *s, const char *const *paths,
                        size_t n_paths, ggld_error *err);
    /* Fills in tensors, for which there is room, and n_tensors of them. */
    ggld_status (*list)(ggld_export_source *s, ggld_error *err);
    /* Stored bytes, little-endian. */
    ggld_status (*read_bytes)(const ggld_export_source *s, uint64_t tensor,
                              uint64_t first_byte, void *dst, size_t size,
                              ggld_error *err);
    /* Values. scratch has 8 bytes for each. */
    ggld_status (*read_f32)(const ggld_export_source *s, uint64_t tensor,
                            uint64_t first_elem, float *dst, uint64_t n_elems,
                            void *scratch, ggld_error *err);
    /* Text number i of its metadata; false: there are no more. A key that is
     * empty is to be passed over. */
    bool (*text_at)(const ggld_export_source *s, uint64_t i, ggld_string *key,
                    ggld_string *value);
    void (*close)(ggld_export_source *s);
};

extern const ggld_source_format ggld_source_gguf;
extern const ggld_source_format ggld_source_safetensors;
extern const ggld_source_format ggld_source_index;

/* For formats: room for n tensors; GGLD_E_NOMEM. */
ggld_status ggld_source_room(ggld_export_source *s, uint64_t n,
                             ggld_error *err);
/* Adds a file, opened for reading. */
ggld_status ggld_source_add_file(ggld_export_source *s, const char *path,
                                 ggld_error *err);
/* A range of a tensor's stored bytes is about to be read: has the system bring
 * in what follows it in the file, so that the threads find it in memory. Only
 * advice. */
void ggld_source_read_ahead(const ggld_export_source *s, uint64_t tensor,
                            uint64_t first_byte, uint64_t size_bytes);
/* GGLD_E_CHANGED where a file is not as it was. */
ggld_status ggld_source_unchanged(const ggld_export_source *s, ggld_error *err);
/* The file that is open; NULL where it is of another format. */
ggld_file *ggld_source_gguf_file(const ggld_export_source *s);

#endif /* GGLD_EXPORT_SOURCE_H */
