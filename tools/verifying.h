/* SPDX-License-Identifier: MIT */
/* One file under verification: what the parts of ggld verify share. */
#ifndef TOOLS_VERIFYING_H
#define TOOLS_VERIFYING_H

#include <ggld/integrity.h>

#include "command.h"
#include "digests.h"
#include "jobs.h"

enum {
    VERIFY_FORMAT,
    VERIFY_PUBKEY,
    VERIFY_ROOT,
    VERIFY_ONCE,
    VERIFY_FOLDER,
    VERIFY_ALL,
    VERIFY_COMPLETE,
    VERIFY_UNCACHED,
    VERIFY_SINGLE,
    VERIFY_JSON
};

typedef struct verifying {
    const args *a;
    const char *path;
    char manifest_path[DIGESTS_PATH_MAX];
    ggld_manifest *manifest;
    int fd;
    ggld_file *file;
    ggld_file_identity identity;
    ggld_verify_cache *cache; /* NULL: not asked for */
    ggld_error unopened; /* why it is no model; its code is GGLD_OK if it is */
    bool is_signed;
    bool is_pinned; /* it has the root that was given */
    bool from_cache;
    bool complete; /* what is verified leaves no gap */
    bool of_set;   /* the file is a shard, which lines then name */
    js *all;       /* of a set: in the list of shards; or NULL */
} verifying;

typedef struct verify_run {
    job_run run;
    ggld_verify_report *report;
} verify_run;

/* verify_trust.c: the options' own form; exit status. */
int verify_check_digest_text(const args *a);
int verify_check_root_text(const args *a);
/* 64 hex digits that no file is called by are a digest too. */
bool verify_is_bare_digest(const char *given);
/* The manifest's text has the signature that is asked for; it has the root. */
int verify_check_signature(verifying *v, const char *text, size_t size);
int verify_check_root(verifying *v);
/* What a forger can match is said, where a signature or root is relied on. */
void verify_note_chunks(const verifying *v);

/* verify_print.c: the outcome, as lines or JSON; one that could not be had (of a
 * set, where others could). */
void verify_print(const verifying *v, const verify_run *r, bool good);
void verify_print_failed(const verifying *v);

#endif /* TOOLS_VERIFYING_H */
