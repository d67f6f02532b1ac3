/* SPDX-License-Identifier: MIT */
/* Reading ggld's own format, ggld-ggsum(5): lines of known kinds in one order,
 * counted, closed by a digest of all before it. Whatever is not just so is
 * refused, with its line. */
#include <inttypes.h>
#include <string.h>

#include "../base/checked.h"
#include "../base/error.h"
#include "../base/plural.h"
#include "../base/quote.h"
#include "digest.h"
#include "formats.h"
#include "hex.h"
#include "names.h"

typedef struct ggsum {
    ggld_manifest *m;
    ggld_lines *l;
    uint32_t stage; /* of the last line's kind: they come in order */
    bool ended;
} ggsum;

/* rest is what follows the line's first word. */
typedef ggld_status line_parser(ggsum *g, ggld_word rest, ggld_error *err);

static ggld_status garbled(const ggsum *g, const char *form, ggld_error *err)
{
    return ggld_lines_fail(g->l, err, GGLD_E_STRING, "garbled; it must be '%s'",
                           form);
}

static ggld_subject *subject_of(const ggsum *g)
{
    return &g->m->subjects[0];
}

/* All the words left as digests of one thing. */
static ggld_status take_digests(ggsum *g, ggld_entry *entry, ggld_word rest,
                                ggld_error *err)
{
    entry->line = g->l->number;
    while (rest.len != 0) {
        ggld_word word = ggld_word_next(&rest);
        if (!ggld_word_digest(word, &entry->digest))
            return ggld_lines_fail(g->l, err, GGLD_E_STRING,
                                   "%s is no digest, ALGO:HEX",
                                   ggld_quote(word.data, word.len).text);
        ggld_status status = ggld_manifest_add(g->m, entry, err);
        if (status != GGLD_OK)
            return status;
    }
    return GGLD_OK;
}

static ggld_status take_scope(ggsum *g, uint32_t scope, ggld_word rest,
                              ggld_error *err)
{
    ggld_entry entry = {
        scope, 0, GGLD_NO_SHAPE, 0, ggld_string_of(""), { 0 }
    };
    return take_digests(g, &entry, rest, err);
}

static ggld_status take_version(ggsum *g, ggld_word rest, ggld_error *err)
{
    if (ggld_word_is(rest, "1"))
        return GGLD_OK;
    return ggld_lines_fail(g->l, err, GGLD_E_VERSION,
                           "version %s of ggsum; this program reads version 1",
                           ggld_quote(rest.data, rest.len).text);
}

static ggld_status take_file(ggsum *g, ggld_word rest, ggld_error *err)
{
    ggld_string name;
    uint32_t subject;
    if (!ggld_name_take(rest, &name))
        return garbled(g, "file NAME", err);
    if (memchr(name.data, '/', (size_t)name.len) != NULL ||
        ggld_path_escapes(name))
        return ggld_lines_fail(g->l, err, GGLD_E_STRING,
                               "file %s is a path; the name of a file beside "
                               "the manifest is wanted",
                               ggld_quote(name.data, name.len).text);
    return ggld_manifest_add_subject(g->m, name, &subject, err);
}

static ggld_status take_size(ggsum *g, ggld_word rest, ggld_error *err)
{
    if (!ggld_word_u64(rest, &subject_of(g)->size_bytes))
        return garbled(g, "size BYTES", err);
    subject_of(g)->has_size = true;
    return GGLD_OK;
}

static ggld_status take_whole(ggsum *g, ggld_word rest, ggld_error *err)
{
    if (rest.len == 0)
        return garbled(g, "whole ALGO:HEX", err);
    return take_scope(g, GGLD_SCOPE_FILE, rest, err);
}

static ggld_status take_metadata(ggsum *g, ggld_word rest, ggld_error *err)
{
    ggld_subject *subject = subject_of(g);
    if (!ggld_word_u64(ggld_word_next(&rest), &subject->metadata_bytes))
        return garbled(g, "metadata BYTES ALGO:HEX", err);
    if (subject->metadata_bytes > subject->size_bytes)
        return ggld_lines_fail(g->l, err, GGLD_E_STRING,
                               "metadata of %" PRIu64
                               " bytes in a file of %" PRIu64,
                               subject->metadata_bytes, subject->size_bytes);
    subject->has_metadata_size = true;
    return take_scope(g, GGLD_SCOPE_METADATA, rest, err);
}

static ggld_status take_together(ggsum *g, ggld_word rest, ggld_error *err)
{
    if (rest.len == 0)
        return garbled(g, "together ALGO:HEX", err);
    return take_scope(g, GGLD_SCOPE_TENSORS, rest, err);
}

static ggld_status take_tensor(ggsum *g, ggld_word rest, ggld_error *err)
{
    ggld_entry entry = { GGLD_SCOPE_TENSOR, 0, 0, 0, { "", 0 }, { 0 } };
    ggld_shape shape;
    ggld_word keyword = ggld_word_next(&rest);
    ggld_word name = ggld_word_next(&rest);
    ggld_word type = ggld_word_next(&rest);
    ggld_word dims = ggld_word_next(&rest);
    if (!ggld_word_is(keyword, "tensor") ||
        !ggld_name_take(name, &entry.name) ||
        !ggld_shape_take(type, dims, &shape) || rest.len == 0)
        return garbled(g, "tensor NAME TYPE SHAPE ALGO:HEX", err);
    ggld_status status =
        ggld_manifest_add_shape(g->m, &shape, &entry.shape, err);
    return status == GGLD_OK ? take_digests(g, &entry, rest, err) : status;
}

/* The next of count lines; the text may be shorter than it says. */
static ggld_status counted_line(ggsum *g, uint64_t done, uint64_t count,
                                ggld_word *line, ggld_error *err)
{
    if (ggld_lines_next(g->l, line) && !g->l->unterminated)
        return GGLD_OK;
    return ggld_lines_fail(g->l, err, GGLD_E_TRUNCATED,
                           "cut: the text ends after %" PRIu64 " of %" PRIu64
                           " %s",
                           done, count, count == 1 ? "entry" : "entries");
}

static ggld_status take_tensors(ggsum *g, ggld_word rest, ggld_error *err)
{
    uint64_t count;
    ggld_word line;
    ggld_status status = GGLD_OK;
    if (!ggld_word_u64(rest, &count))
        return garbled(g, "tensors COUNT", err);
    for (uint64_t i = 0; i < count && status == GGLD_OK; i++) {
        status = counted_line(g, i, count, &line, err);
        if (status == GGLD_OK)
            status = take_tensor(g, line, err);
    }
    return status;
}

/* Lines of one length, straight into the tree, as far as all is well: opening a
 * model waits for tens of thousands of them. Returns how many. */
static uint64_t take_plain_leaves(ggsum *g)
{
    ggld_tree *tree = &subject_of(g)->tree;
    ggld_lines *l = g->l;
    size_t width = 2 * (size_t)tree->leaf_bytes;
    uint64_t i = 0;
    if (tree->algo == GGLD_ALGO_UUID) /* has dashes */
        return 0;
    while (i < tree->n_chunks && l->size - l->pos > width) {
        const char *line = l->text + l->pos;
        if (line[width] != '\n' ||
            !ggld_bytes_of_hex(line, tree->leaf_bytes,
                               tree->leaves + i * tree->leaf_bytes))
            break;
        l->pos += width + 1;
        l->number++;
        i++;
    }
    return i;
}

/* The first that is not just so is looked at again, for what is to be said. */
static ggld_status take_leaves(ggsum *g, ggld_error *err)
{
    ggld_tree *tree = &subject_of(g)->tree;
    ggld_status status = GGLD_OK;
    for (uint64_t i = take_plain_leaves(g); i < tree->n_chunks; i++) {
        ggld_digest leaf;
        ggld_word line;
        status = counted_line(g, i, tree->n_chunks, &line, err);
        if (status != GGLD_OK)
            return status;
        if (!ggld_digest_parse(&leaf, tree->algo, line.data, line.len))
            return ggld_lines_fail(g->l, err, GGLD_E_STRING,
                                   "%s is no %s digest; chunk %" PRIu64
                                   " of %" PRIu64 " is wanted",
                                   ggld_quote(line.data, line.len).text,
                                   ggld_algo_name(tree->algo), i + 1,
                                   tree->n_chunks);
        ggld_tree_set_leaf(tree, i, &leaf);
    }
    return status;
}

static ggld_status take_chunks(ggsum *g, ggld_word rest, ggld_error *err)
{
    const ggld_subject *subject = subject_of(g);
    uint64_t data_bytes = subject->size_bytes - subject->metadata_bytes;
    uint32_t algo;
    uint64_t chunk_bytes, count;
    if (!ggld_word_algo(ggld_word_next(&rest), &algo) ||
        !ggld_word_u64(ggld_word_next(&rest), &chunk_bytes) ||
        !ggld_chunk_bytes_valid(chunk_bytes) || !ggld_word_u64(rest, &count))
        return garbled(g, "chunks ALGO BYTES COUNT", err);
    uint64_t wanted =
        data_bytes / chunk_bytes + (data_bytes % chunk_bytes != 0);
    /* Each leaf takes a line of at least that many bytes. */
    uint64_t left = g->l->size - g->l->pos;
    if (count != wanted || count > left / (UINT64_C(2) * ggld_algo_size(algo)))
        return ggld_lines_fail(
            g->l, err, GGLD_E_STRING,
            "%" PRIu64 " chunk%s; %" PRIu64 " byte%s of data have %" PRIu64
            ", and the text has %" PRIu64 " byte%s left for them",
            count, ggld_plural(count), data_bytes, ggld_plural(data_bytes),
            wanted, left, ggld_plural(left));
    ggld_status status = ggld_tree_init(&subject_of(g)->tree, algo, chunk_bytes,
                                        data_bytes, err);
    return status == GGLD_OK ? take_leaves(g, err) : status;
}

static ggld_status take_root(ggsum *g, ggld_word rest, ggld_error *err)
{
    ggld_tree *tree = &subject_of(g)->tree;
    const ggld_entry *metadata = ggld_manifest_best(g->m, GGLD_SCOPE_METADATA);
    ggld_digest said, is;
    if (tree->algo == 0 || metadata == NULL || !ggld_word_digest(rest, &said) ||
        said.algo != GGLD_ALGO_SHA256)
        return garbled(g, "root sha256:HEX' after metadata and 'chunks", err);
    ggld_status status = ggld_tree_root(tree, subject_of(g)->metadata_bytes,
                                        &metadata->digest, &is, err);
    if (status != GGLD_OK)
        return status;
    if (!ggld_digest_equal(&said, &is))
        return ggld_lines_fail(g->l, err, GGLD_E_CHECKSUM,
                               "the root does not fit the chunks and the "
                               "metadata above it");
    tree->root = is;
    return GGLD_OK;
}

static ggld_status take_end(ggsum *g, ggld_word rest, ggld_error *err)
{
    ggld_digest said;
    char is_text[GGLD_DIGEST_TEXT_MAX], said_text[GGLD_DIGEST_TEXT_MAX];
    if (!ggld_word_digest(rest, &said) || said.algo != GGLD_ALGO_SHA256)
        return garbled(g, "end sha256:HEX", err);
    if (g->l->pos != g->l->size)
        return ggld_lines_fail(g->l, err, GGLD_E_STRING,
                               "text goes on behind the 'end' line");
    if (subject_of(g)->tree.algo != 0 && subject_of(g)->tree.root.algo == 0)
        return ggld_lines_fail(g->l, err, GGLD_E_STRING,
                               "the 'root' line of the chunks is missing");
    g->ended = true;
    if (ggld_digest_equal(&said, &g->m->identity))
        return GGLD_OK;
    ggld_digest_text(&said, said_text);
    ggld_digest_text(&g->m->identity, is_text);
    return ggld_lines_fail(g->l, err, GGLD_E_CHECKSUM,
                           "the manifest was changed or damaged: sha256 %s is "
                           "expected, its text has %s",
                           said_text, is_text);
}

/* In the order that they come in. */
static const struct {
    const char *keyword;
    bool optional;
    line_parser *take;
} kinds[] = {
    { "ggsum", false, take_version },     { "file", false, take_file },
    { "size", false, take_size },         { "whole", true, take_whole },
    { "metadata", false, take_metadata }, { "together", true, take_together },
    { "tensors", true, take_tensors },    { "chunks", true, take_chunks },
    { "root", true, take_root },          { "end", false, take_end },
};

#define N_KINDS ((uint32_t)(sizeof kinds / sizeof kinds[0]))

/* Is that kind of line, next to come is kind from, allowed now? */
static bool in_order(uint32_t from, uint32_t kind)
{
    for (uint32_t i = from; i < kind; i++)
        if (!kinds[i].optional)
            return false;
    return kind >= from;
}

static ggld_status take_line(ggsum *g, ggld_word line, ggld_error *err)
{
    uint32_t kind = 0;
    ggld_word rest = line;
    ggld_word keyword = ggld_word_next(&rest);
    if (line.len != 0 && line.data[line.len - 1] == '\r')
        return ggld_lines_fail(g->l, err, GGLD_E_STRING,
                               "ends in CR LF: the manifest was converted on "
                               "its way; get it as it was written");
    while (kind < N_KINDS && !ggld_word_is(keyword, kinds[kind].keyword))
        kind++;
    if (kind == N_KINDS)
        return ggld_lines_fail(g->l, err, GGLD_E_STRING, "unknown: %s",
                               ggld_quote(line.data, line.len).text);
    if (!in_order(g->stage, kind))
        return ggld_lines_fail(
            g->l, err, kind < g->stage ? GGLD_E_DUPLICATE : GGLD_E_STRING,
            "'%s' %s", kinds[kind].keyword,
            kind < g->stage ? "again, or behind its place"
                            : "too early: a line before it is missing");
    g->stage = kind + 1;
    return kinds[kind].take(g, rest, err);
}

ggld_status ggld_ggsum_parse(ggld_manifest *m, ggld_lines *l, ggld_error *err)
{
    ggsum g = { m, l, 0, false };
    ggld_word line;
    ggld_status status = GGLD_OK;
    while (status == GGLD_OK && ggld_lines_next(l, &line)) {
        if (l->unterminated)
            break;
        status = take_line(&g, line, err);
    }
    if (status == GGLD_OK && !g.ended)
        status = ggld_lines_fail(l, err, GGLD_E_TRUNCATED,
                                 "cut: the 'end' line is missing");
    return status;
}
