/* SPDX-License-Identifier: MIT */
/* ggld quantize: a model with its tensors in another type. */
#include "command.h"
#include "exporting.h"
#include "report.h"

enum {
    OPT_TYPE,
    OPT_PURE,
    OPT_KEEP,
    OPT_ALLOW_NONFINITE,
    OPT_MAX_SIZE,
    OPT_FORCE
};

static int parse(const args *a, exporting *x)
{
    const char *type = a->values[OPT_TYPE];

    if (type == NULL)
        return report_usage(a, "--type is missing: f32, f16, bf16, q8_0, q4_0, "
                               "...");
    int status = exporting_type(a, type, &x->options.type);
    if (status == STATUS_GOOD && x->to_safetensors)
        status = report_usage(a, "OUT is a GGUF model; 'ggld convert' writes "
                                 "safetensors");
    if (a->values[OPT_PURE] != NULL)
        x->options.flags |= GGLD_EXPORT_PURE;
    if (a->values[OPT_ALLOW_NONFINITE] != NULL)
        x->options.flags |= GGLD_EXPORT_ALLOW_NONFINITE;
    if (status == STATUS_GOOD)
        status = exporting_shards(a, OPT_MAX_SIZE, OPT_FORCE, x);
    return status == STATUS_GOOD ? exporting_keeps(a, OPT_KEEP, x) : status;
}

static int quantize_run(const args *a)
{
    return exporting_command(a, "quantize", parse);
}

static const option_row options[] = {
    [OPT_TYPE] = { "type", 't', "TYPE",
                   "f32, f16, bf16, q8_0, q4_0, q4_1, q5_0 or q5_1" },
    [OPT_PURE] = { "pure", 0, NULL,
                   "tensors of one dimension become f16, not f32" },
    [OPT_KEEP] = { "keep", 'k', "GLOB=TYPE",
                   "another type for tensors of such names; repeatable",
                   .is_repeated = true },
    [OPT_ALLOW_NONFINITE] = { "allow-nonfinite", 0, NULL,
                              "let NaN and infinities into float tensors" },
    [OPT_MAX_SIZE] = { "max-size", 0, "SIZE",
                       "in shards of so many bytes at most: 500M, 2G" },
    [OPT_FORCE] = { "force", 'f', NULL, "replace shards that are there" },
    { NULL, 0, NULL, NULL },
};

const command_row command_quantize = {
    "quantize",
    "IN OUT",
    "Writes a model with its tensors in another type",
    "Tensors of two or more dimensions take TYPE where their rows are whole\n"
    "blocks of it, and f16 where not; those of one dimension become f32;\n"
    "integers stay. Key-values are carried over, general.file_type and\n"
    "general.quantization_version set. OUT appears only complete. With\n"
    "--max-size it is a set, OUT-00001-of-0000N.gguf, as of 'ggld split'.\n",
    2,
    2,
    options,
    quantize_run,
};
