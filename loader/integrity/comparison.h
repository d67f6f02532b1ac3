/* SPDX-License-Identifier: MIT */
/* A comparison of a file with its manifest under way: what verify.c and
 * verify_tensors.c share. */
#ifndef GGLD_INTEGRITY_COMPARISON_H
#define GGLD_INTEGRITY_COMPARISON_H

#include "manifest.h"
#include "report.h"

/* A tensor that the manifest does not name. */
typedef struct ggld_extra {
    uint64_t index;
    const ggld_digest *digest; /* by the algo that renames are told from */
    bool taken;
    uint64_t n_taken; /* of the run with this digest, kept at its first one */
} ggld_extra;

typedef struct ggld_comparison {
    const ggld_manifest *expected;
    const ggld_manifest *actual;
    const ggld_file *file;
    ggld_verify_report *report;
    uint32_t rename_algo; /* 0: the manifest has no tensors */
    ggld_extra *extras;   /* by digest */
    uint64_t n_extras;
    ggld_string last_renamed; /* its other digests need no search */
    ggld_string last_new_name;
    ggld_string last_shaped; /* its type and dimensions have been compared */
} ggld_comparison;

/* What a report says of an entry before anything is compared. */
static inline ggld_found ggld_found_of(const ggld_entry *entry)
{
    ggld_found item = { .scope = entry->scope,
                        .name = entry->name,
                        .new_name = { "", 0 },
                        .expected = entry->digest };
    return item;
}

/* verify.c: sets the item's bad range to the first bad chunk of [offset,
 * offset + size) of the file; and puts an item whose digests differ. */
void ggld_find_bad_range(const ggld_comparison *c, uint64_t offset,
                         uint64_t size, ggld_found *item);
void ggld_put_differs(ggld_comparison *c, const ggld_found *item);

/* verify_tensors.c: finds what only the file has, before all else; compares a
 * tensor's entry; puts what only the file has and no entry has claimed. */
GGLD_MUST_CHECK
ggld_status ggld_find_extras(ggld_comparison *c, ggld_error *err);
void ggld_compare_tensor(ggld_comparison *c, const ggld_entry *entry);
void ggld_put_extras(ggld_comparison *c);

#endif /* GGLD_INTEGRITY_COMPARISON_H */
