/* SPDX-License-Identifier: MIT */
/* What the parts of the peer program share: the peer, the tally of cases, and
 * the checks and benchmarks that main calls. */
#ifndef GGLD_PEER_PEER_H
#define GGLD_PEER_PEER_H

#include <stdbool.h>
#include <stdint.h>

#include "ggml.h"

typedef struct tally {
    uint64_t passed;
    uint64_t failed;
    uint64_t skipped;
    uint64_t n_told;
} tally;

void tally_case(tally *t, bool ok);
/* What differs: one line. Of very many only the first are printed. Returns
 * false. */
bool tally_tell(tally *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void tally_skip(tally *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Memory or the end of the program. */
void *peer_alloc(size_t size);

/* Random blocks of every type through both: the same floats, and halves. */
void check_blocks(const ggml_api *ggml, tally *t);
/* Random and edge values through both quantisers: the same bytes. */
void check_quantisers(const ggml_api *ggml, tally *t);
/* Every file of a folder, and every small change of the small ones: opened by
 * both, or by neither. */
void check_verdicts(const ggml_api *ggml, tally *t, const char *folder);
/* What the ggld command at tool writes, read back by the peer; also from a
 * model of the folder shared, which may be NULL. */
void check_written(const ggml_api *ggml, tally *t, const char *tool,
                   const char *shared);

typedef struct bench_options {
    bool json;
    const char *type; /* only this one; NULL: all */
    const char *file; /* to open; NULL: opening is not timed */
} bench_options;

/* false, and a line on stderr, where something could not be measured. */
bool bench_open(const ggml_api *ggml, const bench_options *options);
bool bench_dequantise(const ggml_api *ggml, const bench_options *options);
bool bench_quantise(const ggml_api *ggml, const bench_options *options);

#endif /* GGLD_PEER_PEER_H */
