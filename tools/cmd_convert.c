/* SPDX-License-Identifier: MIT */
/* ggld convert: a model from one format to another. */
#include "command.h"
#include "exporting.h"
#include "report.h"

enum {
    OPT_TYPE,
    OPT_PURE,
    OPT_ARCH,
    OPT_NAME,
    OPT_SET,
    OPT_MAP,
    OPT_KEEP,
    OPT_SKIP,
    OPT_ALLOW_NONFINITE,
    OPT_MAX_SIZE,
    OPT_FORCE
};

static int check_output(const args *a, const exporting *x)
{
    static const int gguf_only[] = { OPT_PURE, OPT_ARCH, OPT_NAME, OPT_SET,
                                     OPT_MAX_SIZE };
    uint32_t type = x->options.type;

    if (!x->to_safetensors)
        return STATUS_GOOD;
    for (size_t i = 0; i < sizeof gguf_only / sizeof gguf_only[0]; i++)
        if (a->values[gguf_only[i]] != NULL)
            return report_usage(a, "--%s is for GGUF output only",
                                a->command->options[gguf_only[i]].name);
    if (type != GGLD_TYPE_F32 && type != GGLD_TYPE_F16 &&
        type != GGLD_TYPE_BF16)
        return report_usage(a,
                            "type '%s' is none of safetensors: f32, f16 or "
                            "bf16",
                            a->values[OPT_TYPE]);
    return STATUS_GOOD;
}

static int parse(const args *a, exporting *x)
{
    int status = STATUS_GOOD;

    x->keeps_types = a->values[OPT_TYPE] == NULL;
    if (a->values[OPT_TYPE] != NULL)
        status = exporting_type(a, a->values[OPT_TYPE], &x->options.type);
    if (status == STATUS_GOOD)
        status = check_output(a, x);
    if (a->values[OPT_PURE] != NULL)
        x->options.flags |= GGLD_EXPORT_PURE;
    if (a->values[OPT_ALLOW_NONFINITE] != NULL)
        x->options.flags |= GGLD_EXPORT_ALLOW_NONFINITE;
    if (status == STATUS_GOOD && a->values[OPT_ARCH] != NULL &&
        a->values[OPT_ARCH][0] == '\0')
        status = report_usage(a, "--arch is empty: a name is wanted, as llama");
    x->options.architecture = a->values[OPT_ARCH];
    x->options.name = a->values[OPT_NAME];
    if (status == STATUS_GOOD)
        status = exporting_keeps(a, OPT_KEEP, x);
    if (status == STATUS_GOOD)
        status = exporting_skips(a, OPT_SKIP, x);
    if (status == STATUS_GOOD)
        status = exporting_settings(a, OPT_SET, x);
    if (status == STATUS_GOOD)
        status = exporting_shards(a, OPT_MAX_SIZE, OPT_FORCE, x);
    return status == STATUS_GOOD ? exporting_map(a->values[OPT_MAP], x)
                                 : status;
}

static int convert_run(const args *a)
{
    return exporting_command(a, "convert", parse);
}

static const option_row options[] = {
    [OPT_TYPE] = { "type", 't', "TYPE",
                   "f16; or f32, bf16, q8_0, q4_0, q4_1, q5_0, q5_1" },
    [OPT_PURE] = { "pure", 0, NULL,
                   "tensors of one dimension become f16, not f32" },
    [OPT_ARCH] = { "arch", 'a', "NAME", "general.architecture" },
    [OPT_NAME] = { "name", 'n', "NAME", "general.name" },
    [OPT_SET] = { "set", 's', "KEY:TYPE=VALUE",
                  "a key-value; repeatable, and wins over all others",
                  .is_repeated = true },
    [OPT_MAP] = { "map", 'm', "FILE",
                  "rename tensors: lines of OLD and NEW name" },
    [OPT_KEEP] = { "keep", 'k', "GLOB=TYPE",
                   "another type for tensors of such names; repeatable",
                   .is_repeated = true },
    [OPT_SKIP] = { "skip", 'x', "GLOB",
                   "leave out tensors of such names; repeatable",
                   .is_repeated = true },
    [OPT_ALLOW_NONFINITE] = { "allow-nonfinite", 0, NULL,
                              "let NaN and infinities into float tensors" },
    [OPT_MAX_SIZE] = { "max-size", 0, "SIZE",
                       "GGUF in shards of so many bytes at most: 500M, 2G" },
    [OPT_FORCE] = { "force", 'f', NULL, "replace shards that are there" },
    { NULL, 0, NULL, NULL },
};

const command_row command_convert = {
    "convert",
    "IN... OUT",
    "Converts a model from safetensors to GGUF, or back",
    "IN is a safetensors file, several that are one model, the index of\n"
    "shards (.json), or a GGUF model. OUT is safetensors where its name ends\n"
    "so, GGUF otherwise, and appears only complete. To GGUF, types are chosen\n"
    "as 'ggld quantize' does; to safetensors, all but integers take TYPE, and\n"
    "without one floats of safetensors keep theirs. Of key-values only texts of\n"
    "general.* are carried between the formats; a note counts the others.\n"
    "With --max-size OUT is a set, OUT-00001-of-0000N.gguf, as of 'ggld split'.\n",
    2,
    ANY_NUMBER,
    options,
    convert_run,
};
