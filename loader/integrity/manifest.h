/* SPDX-License-Identifier: MIT */
/* The one model that all formats are read into and written from: files, what
 * is said of them, and their chunks. Built by adding, then sealed,
 * then immutable. */
#ifndef GGLD_INTEGRITY_MANIFEST_H
#define GGLD_INTEGRITY_MANIFEST_H

#include <stdbool.h>
#include <stdint.h>

#include <ggld/integrity.h>

#include "tree.h"

/* Not public scopes: a llama line whose name is yet to be told apart. */
#define GGLD_SCOPE_UNSPLIT 0u

#define GGLD_NO_SHAPE UINT32_MAX

typedef struct ggld_subject {
    ggld_string path; /* empty: the manifest does not name its file */
    bool has_size;
    bool has_metadata_size;
    uint64_t size_bytes;
    uint64_t metadata_bytes;
    ggld_tree tree; /* algo 0: none */
} ggld_subject;

typedef struct ggld_shape {
    uint32_t type;
    uint32_t n_dims;
    uint64_t dims[4]; /* 1 past n_dims */
} ggld_shape;

typedef struct ggld_entry {
    uint32_t scope;
    uint32_t subject;
    uint32_t shape; /* or GGLD_NO_SHAPE */
    uint64_t line;
    ggld_string name;
    ggld_digest digest;
} ggld_entry;

/* Memory that strings lie in. */
typedef struct ggld_block {
    struct ggld_block *next;
    char data[];
} ggld_block;

struct ggld_manifest {
    uint32_t format;
    const char *label; /* before messages: its name, and of which format it is;
                             NULL: it was never text */
    ggld_digest identity; /* sha256 of the text; algo 0: it was never text */
    ggld_block *blocks;

    ggld_subject *subjects;
    uint64_t n_subjects, subject_capacity;
    ggld_shape *shapes;
    uint64_t n_shapes, shape_capacity;
    ggld_entry *entries;
    uint64_t n_entries, entry_capacity;

    /* Entries by subject, scope, algo and name: open addressing, slots hold a
     * number plus one. Made by seal, and goes with what is appended. */
    uint32_t *slots;
    uint64_t n_slots; /* a power of two */
    uint64_t seed;
};

/* What stands before messages about it. */
const char *ggld_manifest_label(const ggld_manifest *m);

/* Empty. NULL: no memory. */
ggld_manifest *ggld_manifest_new(void);
/* size bytes that live as long as the manifest. NULL: no memory. */
char *ggld_manifest_block(ggld_manifest *m, uint64_t size);
/* Of all strings together. */
uint64_t ggld_manifest_strings_bytes(const ggld_manifest *m);
/* Frees the last one. */
void ggld_manifest_drop_block(ggld_manifest *m);

/* Strings are not copied. */
GGLD_MUST_CHECK
ggld_status ggld_manifest_add_subject(ggld_manifest *m, ggld_string path,
                                      uint32_t *out, ggld_error *err);
GGLD_MUST_CHECK
ggld_status ggld_manifest_add_shape(ggld_manifest *m, const ggld_shape *shape,
                                    uint32_t *out, ggld_error *err);
GGLD_MUST_CHECK
ggld_status ggld_manifest_add(ggld_manifest *m, const ggld_entry *entry,
                              ggld_error *err);

/* Puts the entries from first on into the index, which is made where there is
 * none. GGLD_E_DUPLICATE: two entries say the same thing; label stands before the
 * message. On failure the index is as it was. */
GGLD_MUST_CHECK
ggld_status ggld_manifest_index(ggld_manifest *m, uint64_t first,
                                const char *label, ggld_error *err);
/* All of them: a manifest that is built is then whole. */
GGLD_MUST_CHECK
ggld_status ggld_manifest_seal(ggld_manifest *m, const char *label,
                               ggld_error *err);

/* The chunks of a manifest of one file; of another an empty one. */
const ggld_tree *ggld_manifest_tree(const ggld_manifest *m);

/* Of a sealed one; NULL: there is none. */
const ggld_entry *ggld_manifest_find(const ggld_manifest *m, uint32_t subject,
                                     uint32_t scope, uint32_t algo,
                                     ggld_string name);

/* Of the first subject, the one by the best algo; of an unsealed one too. */
const ggld_entry *ggld_manifest_best(const ggld_manifest *m, uint32_t scope);

/* What a manifest says of the one file at path (NULL: all that it says), as a
 * manifest of one subject, with llama lines told apart. It borrows nothing.
 * GGLD_E_INVALID: nothing is said of that file, or of several it could be. */
GGLD_MUST_CHECK
ggld_status ggld_manifest_select(ggld_manifest **out, const ggld_manifest *from,
                                 const char *path, ggld_error *err);

/* Is all that it says of that one file, whatever it is called? Then there is no
 * need to select. */
static inline bool ggld_manifest_is_of_one(const ggld_manifest *m)
{
    return m->format == GGLD_MANIFEST_GGSUM && m->n_subjects == 1 &&
           m->n_entries != 0;
}

/* Those of which it has no sha256. */
uint32_t ggld_manifest_forgeable(const ggld_manifest *m);
/* ggld_scope bits of its entries and chunks. */
uint32_t ggld_manifest_all_scopes(const ggld_manifest *m);

#endif /* GGLD_INTEGRITY_MANIFEST_H */
