/* SPDX-License-Identifier: MIT */
/* The report of a verification, while it is put together. */
#ifndef GGLD_INTEGRITY_REPORT_H
#define GGLD_INTEGRITY_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include <ggld/integrity.h>

typedef struct ggld_found {
    uint32_t verdict;
    uint32_t scope;
    ggld_string name;
    ggld_string new_name;
    ggld_digest expected;
    ggld_digest actual;
    uint64_t bad_offset;
    uint64_t bad_bytes;
    char *message; /* NULL: "" */
    uint32_t shard;
} ggld_found;

/* Of what is wrong so many items are kept: a manifest of another model may have
 * a million lines that are. */
#define GGLD_REPORT_MOST_BAD 10000u

/* Memory that names lie in. */
typedef struct ggld_report_block {
    struct ggld_report_block *next;
    size_t used;
    size_t size;
    char data[];
} ggld_report_block;

#define GGLD_VERDICTS 9u

struct ggld_verify_report {
    ggld_found *items;
    uint64_t n_items;
    uint64_t capacity;
    ggld_report_block *names;
    bool no_same; /* are counted and not kept */
    uint64_t n_compared;
    uint64_t n_bad;      /* kept or not */
    uint64_t n_left_out; /* of those */
    uint64_t n_by_verdict[GGLD_VERDICTS];
    bool metadata_uncovered, data_uncovered;
    uint64_t n_by_scope[32]; /* compared and the same, by the scope's value */
    char summary[GGLD_MESSAGE_MAX];
    bool failed;     /* no memory for an item */
    uint32_t shard;  /* that items are about, and what their messages begin */
    char label[112]; /* with: "'m-00002-of-00003.gguf': ", or "" */
};

/* Names are copied; the message is made from format. */
void ggld_report_put(ggld_verify_report *r, const ggld_found *item,
                     const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Writes the summary: nothing is put afterwards. GGLD_E_NOMEM. */
GGLD_MUST_CHECK
ggld_status ggld_report_close(ggld_verify_report *r, ggld_error *err);

#endif /* GGLD_INTEGRITY_REPORT_H */
