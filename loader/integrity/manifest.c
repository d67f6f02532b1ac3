/* SPDX-License-Identifier: MIT */
/* Building a manifest, its index, and the public getters. The index is keyed
 * with a seed of the process, so that names can't be chosen to collide. */
#include "manifest.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <xxhash.h>

#include "../base/checked.h"
#include "../base/error.h"
#include "../base/quote.h"
#include "digest.h"
#include "names.h"

static ggld_status no_memory(ggld_error *err)
{
    return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                     "manifest: no memory for its entries");
}

ggld_manifest *ggld_manifest_new(void)
{
    return calloc(1, sizeof(ggld_manifest));
}

void ggld_manifest_free(ggld_manifest *m)
{
    if (m == NULL)
        return;
    while (m->blocks != NULL)
        ggld_manifest_drop_block(m);
    for (uint64_t i = 0; i < m->n_subjects; i++)
        ggld_tree_free(&m->subjects[i].tree);
    free(m->subjects);
    free(m->shapes);
    free(m->entries);
    free(m->slots);
    free(m);
}

const char *ggld_manifest_label(const ggld_manifest *m)
{
    return m->label != NULL ? m->label : "manifest";
}

void ggld_manifest_drop_block(ggld_manifest *m)
{
    ggld_block *block = m->blocks;
    m->blocks = block->next;
    free(block);
}

char *ggld_manifest_block(ggld_manifest *m, uint64_t size)
{
    uint64_t total;
    if (!ggld_add_u64(size, sizeof(ggld_block) + 1, &total) ||
        total > PTRDIFF_MAX)
        return NULL;
    ggld_block *block = malloc((size_t)total);
    if (block == NULL)
        return NULL;
    block->next = m->blocks;
    m->blocks = block;
    return block->data;
}

/* Room for one more record of size bytes behind count; NULL: no memory. */
static void *grown(void *records, uint64_t count, uint64_t *capacity,
                   size_t size)
{
    if (count < *capacity)
        return records;
    uint64_t wanted = *capacity == 0 ? 16 : *capacity * 2;
    if (wanted > UINT32_MAX)
        return NULL;
    void *more = reallocarray(records, (size_t)wanted, size);
    if (more != NULL)
        *capacity = wanted;
    return more;
}

ggld_status ggld_manifest_add_subject(ggld_manifest *m, ggld_string path,
                                      uint32_t *out, ggld_error *err)
{
    ggld_subject subject = { .path = path };
    ggld_subject *subjects =
        grown(m->subjects, m->n_subjects, &m->subject_capacity, sizeof subject);
    if (subjects == NULL)
        return no_memory(err);
    m->subjects = subjects;
    m->subjects[m->n_subjects] = subject;
    *out = (uint32_t)m->n_subjects++;
    return GGLD_OK;
}

/* Layers are alike: the shape is mostly one of the last few. */
static bool had_shape(const ggld_manifest *m, const ggld_shape *shape,
                      uint32_t *out)
{
    uint64_t most = ggld_min_u64(m->n_shapes, 16);
    for (uint64_t i = 1; i <= most; i++) {
        if (memcmp(&m->shapes[m->n_shapes - i], shape, sizeof *shape) != 0)
            continue;
        *out = (uint32_t)(m->n_shapes - i);
        return true;
    }
    return false;
}

ggld_status ggld_manifest_add_shape(ggld_manifest *m, const ggld_shape *shape,
                                    uint32_t *out, ggld_error *err)
{
    if (had_shape(m, shape, out))
        return GGLD_OK;
    ggld_shape *shapes =
        grown(m->shapes, m->n_shapes, &m->shape_capacity, sizeof *shape);
    if (shapes == NULL)
        return no_memory(err);
    m->shapes = shapes;
    m->shapes[m->n_shapes] = *shape;
    *out = (uint32_t)m->n_shapes++;
    return GGLD_OK;
}

ggld_status ggld_manifest_add(ggld_manifest *m, const ggld_entry *entry,
                              ggld_error *err)
{
    ggld_entry *entries =
        grown(m->entries, m->n_entries, &m->entry_capacity, sizeof *entry);
    if (entries == NULL)
        return no_memory(err);
    m->entries = entries;
    m->entries[m->n_entries++] = *entry;
    return GGLD_OK;
}

uint64_t ggld_manifest_strings_bytes(const ggld_manifest *m)
{
    uint64_t total = 0;
    for (uint64_t i = 0; i < m->n_entries; i++)
        total += m->entries[i].name.len;
    for (uint64_t i = 0; i < m->n_subjects; i++)
        total += m->subjects[i].path.len;
    return total;
}

/* ---- index ---- */

/* A digest of a whole file is found by the file's path, so that a path that
 * comes twice is found too; all else by subject and name. */
typedef struct entry_key {
    uint32_t subject;
    uint32_t scope;
    uint32_t algo;
    ggld_string name;
} entry_key;

static entry_key key_of(const ggld_manifest *m, uint32_t subject,
                        uint32_t scope, uint32_t algo, ggld_string name)
{
    entry_key key = { subject, scope, algo, name };
    if (scope == GGLD_SCOPE_FILE) {
        key.subject = 0;
        key.name = m->subjects[subject].path;
    }
    return key;
}

static entry_key key_of_entry(const ggld_manifest *m, uint64_t i)
{
    const ggld_entry *e = &m->entries[i];
    return key_of(m, e->subject, e->scope, e->digest.algo, e->name);
}

static uint64_t key_hash(uint64_t seed, const entry_key *key)
{
    uint64_t mix =
        ((uint64_t)key->subject << 32 | key->scope << 8 | key->algo) + 1;
    return XXH3_64bits_withSeed(key->name.data, (size_t)key->name.len,
                                seed ^ mix * 0x9E3779B97F4A7C15u);
}

static bool same_key(const entry_key *a, const entry_key *b)
{
    return a->subject == b->subject && a->scope == b->scope &&
           a->algo == b->algo && ggld_string_equal(a->name, b->name);
}

/* The slot of that key, or the free one where it would be put. */
static uint64_t slot_of(const ggld_manifest *m, const entry_key *key)
{
    uint64_t mask = m->n_slots - 1;
    uint64_t i = key_hash(m->seed, key) & mask;
    for (; m->slots[i] != 0; i = (i + 1) & mask) {
        entry_key there = key_of_entry(m, m->slots[i] - 1);
        if (same_key(key, &there))
            break;
    }
    return i;
}

static const char *scope_name(uint32_t scope)
{
    switch (scope) {
    case GGLD_SCOPE_FILE:
        return "file";
    case GGLD_SCOPE_METADATA:
        return "metadata";
    case GGLD_SCOPE_TENSORS:
        return "tensors together";
    case GGLD_SCOPE_TENSOR:
        return "tensor";
    default:
        return "name";
    }
}

static ggld_status duplicate(const ggld_manifest *m, const ggld_entry *first,
                             const ggld_entry *entry, const char *label,
                             ggld_error *err)
{
    ggld_string path = m->subjects[entry->subject].path;
    ggld_string name = entry->scope == GGLD_SCOPE_FILE ? path : entry->name;
    if (entry->line == 0)
        return ggld_fail(
            err, GGLD_E_DUPLICATE, ggld_nowhere(), "%s: %s of %s %s twice",
            label, ggld_algo_name(entry->digest.algo), scope_name(entry->scope),
            ggld_quote(name.data, name.len).text);
    return ggld_fail(err, GGLD_E_DUPLICATE,
                     ggld_place_of(GGLD_IN_NONE, entry->line - 1, 0),
                     "%s line %" PRIu64
                     ": %s of %s %s again, which line %" PRIu64 " gave already",
                     label, entry->line, ggld_algo_name(entry->digest.algo),
                     scope_name(entry->scope),
                     ggld_quote(name.data, name.len).text, first->line);
}

static bool index_make(ggld_manifest *m, uint64_t n_slots)
{
    uint32_t *slots = calloc((size_t)n_slots, sizeof *slots);
    if (slots == NULL)
        return false;
    free(m->slots);
    m->slots = slots;
    m->n_slots = n_slots;
    if (getrandom(&m->seed, sizeof m->seed, GRND_NONBLOCK) < 0)
        m->seed = (uintptr_t)m->slots; /* early in boot: the next best */
    return true;
}

/* Twice as many slots as entries at least. Entries before first are in the
 * index, and known to differ. */
static bool index_reserve(ggld_manifest *m, uint64_t first)
{
    uint64_t n = 16;
    while (n < m->n_entries * 2)
        n *= 2;
    if (n <= m->n_slots)
        return true;
    if (!index_make(m, n))
        return false;
    for (uint64_t i = 0; i < first; i++) {
        entry_key key = key_of_entry(m, i);
        m->slots[slot_of(m, &key)] = (uint32_t)(i + 1);
    }
    return true;
}

/* The last entries that were put in: in reverse order, as later ones may stand
 * where they do because of those before. */
static void index_take_out(ggld_manifest *m, uint64_t first, uint64_t end)
{
    for (uint64_t i = end; i > first; i--) {
        entry_key key = key_of_entry(m, i - 1);
        m->slots[slot_of(m, &key)] = 0;
    }
}

ggld_status ggld_manifest_index(ggld_manifest *m, uint64_t first,
                                const char *label, ggld_error *err)
{
    if (!index_reserve(m, first))
        return no_memory(err);
    for (uint64_t i = first; i < m->n_entries; i++) {
        entry_key key = key_of_entry(m, i);
        uint64_t slot = slot_of(m, &key);
        if (m->slots[slot] != 0) {
            const ggld_entry *other = &m->entries[m->slots[slot] - 1];
            index_take_out(m, first, i);
            return duplicate(m, other, &m->entries[i], label, err);
        }
        m->slots[slot] = (uint32_t)(i + 1);
    }
    return GGLD_OK;
}

ggld_status ggld_manifest_seal(ggld_manifest *m, const char *label,
                               ggld_error *err)
{
    return ggld_manifest_index(m, 0, label, err);
}

const ggld_tree *ggld_manifest_tree(const ggld_manifest *m)
{
    static const ggld_tree none;
    return m->n_subjects == 1 ? &m->subjects[0].tree : &none;
}

const ggld_entry *ggld_manifest_find(const ggld_manifest *m, uint32_t subject,
                                     uint32_t scope, uint32_t algo,
                                     ggld_string name)
{
    entry_key key = key_of(m, subject, scope, algo, name);
    uint32_t number = m->slots[slot_of(m, &key)];
    return number == 0 ? NULL : &m->entries[number - 1];
}

const ggld_entry *ggld_manifest_best(const ggld_manifest *m, uint32_t scope)
{
    const ggld_entry *best = NULL;
    for (uint64_t i = 0; i < m->n_entries; i++) {
        const ggld_entry *entry = &m->entries[i];
        if (entry->subject != 0 || entry->scope != scope)
            continue;
        uint32_t algos = GGLD_ALGO_BIT(entry->digest.algo);
        if (best != NULL)
            algos |= GGLD_ALGO_BIT(best->digest.algo);
        if (ggld_algo_best(algos) == entry->digest.algo)
            best = entry;
    }
    return best;
}

/* ---- getters ---- */

uint64_t ggld_manifest_count(const ggld_manifest *m)
{
    return m->n_entries;
}

bool ggld_manifest_at(const ggld_manifest *m, uint64_t index,
                      ggld_manifest_entry *out)
{
    if (index >= m->n_entries)
        return false;
    const ggld_entry *entry = &m->entries[index];
    ggld_manifest_entry e = { 0 };
    e.scope = entry->scope;
    e.file = m->subjects[entry->subject].path;
    e.name = entry->name;
    e.line = entry->line;
    e.digest = entry->digest;
    if (entry->shape != GGLD_NO_SHAPE) {
        const ggld_shape *shape = &m->shapes[entry->shape];
        e.has_shape = true;
        e.type = shape->type;
        e.n_dims = shape->n_dims;
        memcpy(e.dims, shape->dims, sizeof e.dims);
    }
    e.struct_size = out->struct_size;
    memcpy(out, &e, ggld_min_u64(out->struct_size, sizeof e));
    return true;
}

uint32_t ggld_manifest_forgeable(const ggld_manifest *m)
{
    uint32_t there = 0, sound = 0;
    for (uint64_t i = 0; i < m->n_subjects; i++) {
        uint32_t algo = m->subjects[i].tree.algo;
        there |= algo != 0 ? (uint32_t)GGLD_SCOPE_CHUNKS : 0;
        sound |= algo == GGLD_ALGO_SHA256 ? (uint32_t)GGLD_SCOPE_CHUNKS : 0;
    }
    for (uint64_t i = 0; i < m->n_entries; i++) {
        const ggld_entry *entry = &m->entries[i];
        there |= entry->scope;
        if (entry->digest.algo == GGLD_ALGO_SHA256)
            sound |= entry->scope;
    }
    return there & ~sound;
}

void ggld_manifest_get_info(const ggld_manifest *m, ggld_manifest_info *out)
{
    const ggld_tree *tree = ggld_manifest_tree(m);
    ggld_manifest_info info = { 0 };
    info.struct_size = out->struct_size;
    info.format = m->format;
    info.n_files = m->n_subjects;
    info.chunk_algo = tree->algo;
    info.n_chunks = tree->n_chunks;
    info.chunk_bytes = tree->chunk_bytes;
    info.root = tree->root;
    info.forgeable = ggld_manifest_forgeable(m);
    memcpy(out, &info, ggld_min_u64(out->struct_size, sizeof info));
}
