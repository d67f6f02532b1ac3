/* SPDX-License-Identifier: MIT */
/* See hashing.h. */
#include "hashing.h"

#include <inttypes.h>
#include <string.h>

#include "digests.h"
#include "jobs.h"
#include "opts.h"
#include "paths.h"
#include "report.h"
#include "text.h"

/* What a format says when nothing else is asked for. */
static void fill_defaults(uint32_t format, bool whole, ggld_hash_options *o)
{
    switch (format) {
    case GGLD_MANIFEST_GGSUM:
        o->scopes = GGLD_SCOPE_METADATA | GGLD_SCOPE_TENSOR | GGLD_SCOPE_CHUNKS;
        if (whole)
            o->scopes |= GGLD_SCOPE_FILE | GGLD_SCOPE_TENSORS;
        break;
    case GGLD_MANIFEST_LLAMA:
        o->scopes = GGLD_SCOPE_TENSOR | GGLD_SCOPE_TENSORS;
        if (o->algos == 0) /* as llama-gguf-hash does */
            o->algos = GGLD_ALGO_BIT(GGLD_ALGO_XXH64);
        break;
    default:
        o->scopes = GGLD_SCOPE_FILE;
        break;
    }
    if ((o->algos & GGLD_ALGO_BIT(GGLD_ALGO_UUID)) != 0)
        o->scopes |= GGLD_SCOPE_TENSORS;
}

static bool is_chunk_size(uint64_t bytes)
{
    return bytes >= 4096 && bytes <= UINT64_C(1) << 30 &&
           (bytes & (bytes - 1)) == 0;
}

/* ALGO, ALGO:SIZE or none. */
static int parse_chunks(const args *a, const char *text, ggld_hash_options *o)
{
    char algo[16];
    size_t len;
    if (text == NULL)
        return STATUS_GOOD;
    if (strcmp(text, "none") == 0) {
        o->scopes &= ~(uint32_t)GGLD_SCOPE_CHUNKS;
        return STATUS_GOOD;
    }
    len = strcspn(text, ":");
    if (len < sizeof algo) {
        memcpy(algo, text, len);
        algo[len] = '\0';
        if (ggld_algo_from_name(algo, &o->chunk_algo) &&
            o->chunk_algo != GGLD_ALGO_UUID) {
            if (text[len] == '\0' ||
                (opts_size(text + len + 1, &o->chunk_bytes) &&
                 is_chunk_size(o->chunk_bytes)))
                return STATUS_GOOD;
            return report_usage(a,
                                "--chunks is '%s': a chunk is a power of two "
                                "from 4K to 1G",
                                text);
        }
    }
    return report_usage(a,
                        "--chunks is '%s': xxh3, sha256, xxh64 or sha1, or "
                        "sha256:256K, or none",
                        text);
}

/* Can all be said of several files? Shards: of how many FILE is one; 0: several
 * files were given. */
static int check_many(const hashing *h, uint32_t n_shards)
{
    const char *format = ggld_manifest_format_name(h->format);
    bool ggsum = h->format == GGLD_MANIFEST_GGSUM;

    if (h->a->values[OPT_SAVE] != NULL || h->a->values[OPT_JSON] != NULL ||
        (!ggsum && h->format != GGLD_MANIFEST_DIGEST &&
         h->format != GGLD_MANIFEST_LFS))
        return STATUS_GOOD;
    if (n_shards != 0)
        return report_usage(h->a,
                            "%s speaks of one file, and FILE is a shard of a "
                            "set of %" PRIu32 ": --single hashes that one%s",
                            format, n_shards,
                            ggsum ? ", --save writes a ggsum beside each"
                                  : "; sha256sum speaks of all");
    return report_usage(h->a, "%s speaks of one file, and %d were given: %s",
                        format, h->a->n_operands,
                        ggsum ? "--save writes a ggsum beside each"
                              : "sha256sum speaks of several");
}

/* A uuid is the model's, over all its tensors, and llama-gguf-hash, which
 * defines it, knows no sets: there is none to compare it with. */
int hashing_check_set(const hashing *h, uint32_t n_shards)
{
    if ((h->options.algos & GGLD_ALGO_BIT(GGLD_ALGO_UUID)) != 0)
        return report_usage(h->a,
                            "a uuid is of all tensors of one file, and FILE is "
                            "a shard of a set of %" PRIu32
                            ": --single has that of this file, and that of "
                            "the model is to be had when it is merged",
                            n_shards);
    return check_many(h, n_shards);
}

bool hashing_whole_files(const hashing *h)
{
    return h->format != GGLD_MANIFEST_GGSUM && h->format != GGLD_MANIFEST_LLAMA;
}

/* What the format can't say is not worth reading a model for. */
static int check_algos(const hashing *h)
{
    uint32_t algos = h->options.algos;
    if (!hashing_whole_files(h) || algos == 0 ||
        algos == GGLD_ALGO_BIT(GGLD_ALGO_SHA256))
        return STATUS_GOOD;
    return report_usage(h->a,
                        "--algo is '%s', and %s has sha256 only; use ggsum or "
                        "llama for others",
                        h->a->values[OPT_ALGO],
                        ggld_manifest_format_name(h->format));
}

/* What the format has no place for was not asked for in earnest. */
static int check_ggsum_only(const hashing *h)
{
    static const struct {
        int option;
        const char *name;
    } only[] = { { OPT_WHOLE, "--whole" }, { OPT_CHUNKS, "--chunks" } };
    for (size_t i = 0; i < sizeof only / sizeof only[0]; i++)
        if (h->format != GGLD_MANIFEST_GGSUM &&
            h->a->values[only[i].option] != NULL)
            return report_usage(h->a, "%s is for a ggsum; %s has none",
                                only[i].name,
                                ggld_manifest_format_name(h->format));
    if (h->a->values[OPT_WHOLE] != NULL &&
        h->options.algos == GGLD_ALGO_BIT(GGLD_ALGO_UUID))
        return report_usage(h->a, "--whole is of every byte of the file, and a "
                                  "uuid of its tensors only: ask for another "
                                  "--algo too");
    return STATUS_GOOD;
}

/* A name that the format has no way to write is said before the model is read,
 * not behind it. Of the folders a statement names only some: those are judged
 * when it is made. */
static int check_name(const hashing *h, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *p = slash != NULL ? slash + 1 : path;
    uint32_t code;

    if (h->format == GGLD_MANIFEST_LLAMA && strpbrk(path, "\r\n") != NULL)
        return report(path, "llama can't write the file's name, as that has a "
                            "line break; ggsum can");
    while (h->format == GGLD_MANIFEST_IN_TOTO && *p != '\0') {
        size_t n = text_utf8(p, strlen(p), &code);
        if (n == 0)
            return report(path, "in-toto can't write the file's name, as that "
                                "is not UTF-8; ggsum can");
        p += n;
    }
    return STATUS_GOOD;
}

static int check_names(const hashing *h)
{
    int status = STATUS_GOOD;
    if (h->a->values[OPT_JSON] != NULL)
        return STATUS_GOOD;
    for (int i = 0; i < h->a->n_operands && status == STATUS_GOOD; i++)
        status = check_name(h, h->a->operands[i]);
    return status;
}

int hashing_parse(hashing *h, const args *a)
{
    bool json = a->values[OPT_JSON] != NULL, save = a->values[OPT_SAVE] != NULL;
    h->a = a;
    if (!paths_is_stdout(a->values[OPT_OUTPUT]))
        h->out_path = a->values[OPT_OUTPUT];
    h->format = GGLD_MANIFEST_GGSUM;
    h->options = ggld_hash_options_init();
    int status = format_parse(a, a->values[OPT_FORMAT], &h->format);
    if (status == STATUS_GOOD)
        status = algos_parse(a, a->values[OPT_ALGO], &h->options.algos);
    if (status == STATUS_GOOD)
        status = check_algos(h);
    if (status == STATUS_GOOD)
        status = check_ggsum_only(h);
    if (status != STATUS_GOOD)
        return status;
    fill_defaults(h->format, a->values[OPT_WHOLE] != NULL, &h->options);
    if (a->values[OPT_UNCACHED] != NULL)
        h->options.flags = GGLD_HASH_KEEP_CACHE;
    h->options.progress = job_run_progress;
    if (json && (save || a->values[OPT_OUTPUT] != NULL))
        return report_usage(a, "--json prints, it does not write manifests");
    if (save &&
        (a->values[OPT_OUTPUT] != NULL || h->format != GGLD_MANIFEST_GGSUM))
        return report_usage(a, "--save writes FILE.ggsum for each FILE; it "
                               "takes no --output and no other format");
    if (a->n_operands > 1) {
        status = check_many(h, 0);
        if (status != STATUS_GOOD)
            return status;
    }
    status = parse_chunks(a, a->values[OPT_CHUNKS], &h->options);
    return status == STATUS_GOOD ? check_names(h) : status;
}
