/* SPDX-License-Identifier: MIT */
/* What ggld hash is asked for: its options, understood and found to go
 * together before a file is read. */
#ifndef TOOLS_HASHING_H
#define TOOLS_HASHING_H

#include <ggld/integrity.h>

#include "command.h"
#include "js.h"

enum {
    OPT_ALGO,
    OPT_FORMAT,
    OPT_OUTPUT,
    OPT_SAVE,
    OPT_WHOLE,
    OPT_CHUNKS,
    OPT_UNCACHED,
    OPT_SINGLE,
    OPT_JSON
};

/* What is made of all files. */
typedef struct hashing {
    const args *a;
    const char *out_path; /* NULL: standard output */
    uint32_t format;
    ggld_hash_options options;
    ggld_manifest *all;
    js *json; /* in its list; or NULL */
} hashing;

/* Exit status; what is wrong has been reported. */
int hashing_parse(hashing *h, const args *a);
/* Can all be said of a set of so many shards? Exit status. */
int hashing_check_set(const hashing *h, uint32_t n_shards);
/* Is the format one of sha256 of whole files, which are made of any file? */
bool hashing_whole_files(const hashing *h);

#endif /* TOOLS_HASHING_H */
