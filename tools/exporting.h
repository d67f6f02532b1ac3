/* SPDX-License-Identifier: MIT */
/* What quantize and convert have in common: options, progress, signals and
 * messages around ggld_export(). */
#ifndef TOOLS_EXPORTING_H
#define TOOLS_EXPORTING_H

#include <ggld/export.h>

#include "command.h"
#include "progress.h"
#include "renames.h"
#include "setting.h"

typedef struct exporting {
    const args *args;
    const char *label; /* of the progress bar */
    const char *const *inputs;
    size_t n_inputs;
    const char *path; /* output */
    bool to_safetensors;
    /* No type was asked for: safetensors that come from safetensors keep
     * theirs. */
    bool keeps_types;
    /* Of what was written in shards. */
    uint64_t set_bytes;
    uint64_t n_shards;
    output *out;
    ggld_export_options options;
    /* Filled in by the parsers below. */
    ggld_export_keep *keeps;
    const char **skips;
    setting *settings;
    size_t n_settings;
    renames map;
    progress bar;
} exporting;

/* Does it, and says in one line what came of it: the last operand is the
 * output, the others are inputs, and parse fills in the options by the calls
 * below. All give an exit status, and report what is wrong. */
int exporting_command(const args *a, const char *label,
                      int (*parse)(const args *a, exporting *x));
int exporting_type(const args *a, const char *name, uint32_t *out);
/* GLOB=TYPE, each time that the option is given. */
int exporting_keeps(const args *a, int option, exporting *x);
/* GLOB, each time that the option is given. */
int exporting_skips(const args *a, int option, exporting *x);
/* KEY:TYPE=VALUE, each time that the option is given. */
int exporting_settings(const args *a, int option, exporting *x);
/* A size of shards (NULL: one file), and whether they replace others. */
int exporting_shards(const args *a, int max_size, int force, exporting *x);
/* Lines OLD NEW. */
int exporting_map(const char *path, exporting *x);

#endif /* TOOLS_EXPORTING_H */
