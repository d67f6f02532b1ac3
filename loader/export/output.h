/* SPDX-License-Identifier: MIT */
/* Where an export goes. Adding a format is one file and one row of the table in
 * export.c. */
#ifndef GGLD_EXPORT_OUTPUT_H
#define GGLD_EXPORT_OUTPUT_H

#include "plan.h"

struct ggld_output_format {
    uint32_t format;    /* ggld_export_format */
    const char *suffix; /* of paths that mean it */
    /* Can a model be mostly of this type? */
    bool (*takes)(uint32_t type);
    /* The type that a tensor gets, unless the caller wants another. */
    uint32_t (*choose)(const ggld_export_plan *p, const ggld_source_tensor *t);
    /* Once all tensors have name and type: their order, and what is fed. */
    ggld_status (*arrange)(ggld_export_plan *p, ggld_error *err);
    /* Makes the temporary file and writes what is in front of the data. */
    ggld_status (*begin)(ggld_export_plan *p, const char *path,
                         ggld_error *err);
    /* The next bytes of fed tensors. */
    ggld_status (*put)(ggld_export_plan *p, const void *data, size_t size,
                       ggld_error *err);
    /* Everything to disk, under the temporary file's name. */
    ggld_status (*seal)(ggld_export_plan *p, ggld_error *err);
    /* Gives it its own. */
    ggld_status (*finish)(ggld_export_plan *p, ggld_error *err);
    /* Removes what is not finished. */
    void (*free)(ggld_export_plan *p);
};

extern const ggld_output_format ggld_output_gguf;
extern const ggld_output_format ggld_output_safetensors;

#endif /* GGLD_EXPORT_OUTPUT_H */
