/* SPDX-License-Identifier: MIT */
#include "advice.h"

#include <string.h>

static const struct {
    const char *words; /* stand in the message */
    const char *option;
    const char *advice;
} rows[] = {
    { "only finite values are let through", "allow-nonfinite",
      "--allow-nonfinite lets them into tensors of floats" },
    { "bytes, more than 63", "map", "--map gives it a shorter one" },
    { "for which GGUF has no type", "skip",
      "--skip GLOB leaves tensors of such names out" },
    { "without which llama.cpp loads no model", "arch", "--arch NAME sets it" },
    { "is there already", "force", "remove it, give another OUT, or --force" },
};

static bool has_option(const args *a, const char *name)
{
    const option_row *row = a->command->options;

    while (row->name != NULL && strcmp(row->name, name) != 0)
        row++;
    return row->name != NULL;
}

const char *advice_of(const args *a, const char *message)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strstr(message, rows[i].words) != NULL &&
            has_option(a, rows[i].option))
            return rows[i].advice;
    return NULL;
}
