/* SPDX-License-Identifier: MIT */
/* Open addressing over a table at most half full, keyed with SipHash-1-3 under
 * a seed of its own, so that a file's maker cannot choose names that collide.
 * Names stay where they are: a slot has the record's number and the high half
 * of its hash. */
#include "index.h"

#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "alloc.h"
#include "bytes.h"

typedef struct slot {
    uint32_t record; /* its number and 1; 0: free */
    uint32_t tag;
} slot;

struct ggld_index {
    uint64_t seed[2];
    uint64_t n_slots; /* a power of two */
    slot slots[];
};

static uint64_t rotate(uint64_t v, unsigned by)
{
    return v << by | v >> (64 - by);
}

static void sip_round(uint64_t v[4])
{
    v[0] += v[1];
    v[1] = rotate(v[1], 13) ^ v[0];
    v[0] = rotate(v[0], 32);
    v[2] += v[3];
    v[3] = rotate(v[3], 16) ^ v[2];
    v[0] += v[3];
    v[3] = rotate(v[3], 21) ^ v[0];
    v[2] += v[1];
    v[1] = rotate(v[1], 17) ^ v[2];
    v[2] = rotate(v[2], 32);
}

static void sip_word(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    sip_round(v);
    v[0] ^= word;
}

/* Aumasson and Bernstein, "SipHash: a fast short-input PRF", with one round a
 * word and three to finish. */
static uint64_t sip_hash(const uint64_t seed[2], const char *data, uint64_t len)
{
    uint64_t v[4] = { seed[0] ^ 0x736f6d6570736575,
                      seed[1] ^ 0x646f72616e646f6d,
                      seed[0] ^ 0x6c7967656e657261,
                      seed[1] ^ 0x7465646279746573 };
    uint64_t rest = len % 8;
    uint64_t last = len << 56;

    for (uint64_t i = 0; i < len - rest; i += 8)
        sip_word(v, ggld_load_le64(data + i));
    for (uint64_t i = 0; i < rest; i++)
        last |= (uint64_t)(uint8_t)data[len - rest + i] << 8 * i;
    sip_word(v, last);
    v[2] ^= 0xFF;
    sip_round(v);
    sip_round(v);
    sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* Where the system has no randomness to give yet, time and place must do. */
static void seed_fill(ggld_index *index)
{
    struct timespec now;
    if (getrandom(index->seed, sizeof index->seed, GRND_NONBLOCK) ==
        (ssize_t)sizeof index->seed)
        return;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    index->seed[0] = (uint64_t)now.tv_nsec << 32 ^ (uint64_t)now.tv_sec;
    index->seed[1] = (uint64_t)(uintptr_t)index;
}

static uint64_t slots_for(uint64_t n)
{
    uint64_t n_slots = 2;
    while (n_slots < 2 * n)
        n_slots *= 2;
    return n_slots;
}

static uint64_t heap_bytes_of(uint64_t n_slots)
{
    return sizeof(ggld_index) + n_slots * sizeof(slot);
}

ggld_index *ggld_index_new(const ggld_allocator *a, uint64_t n)
{
    /* n is at most 2^32: no product here wraps. */
    uint64_t n_slots = slots_for(n);
    ggld_index *index = ggld_alloc(a, heap_bytes_of(n_slots), 1);
    if (index != NULL) {
        index->n_slots = n_slots;
        seed_fill(index);
    }
    return index;
}

uint64_t ggld_index_heap_bytes(const ggld_index *index)
{
    return heap_bytes_of(index->n_slots);
}

static const ggld_string *name_of(ggld_names names, uint32_t i)
{
    return (const void *)((const char *)names.first + i * names.stride);
}

static bool name_is(const ggld_string *name, const char *data, uint64_t len)
{
    return name->len == len && memcmp(name->data, data, (size_t)len) == 0;
}

/* The slot of that name, or the free one where it would go. */
static const slot *slot_of(const ggld_index *index, ggld_names names,
                           uint64_t hash, const char *data, uint64_t len)
{
    uint32_t tag = (uint32_t)(hash >> 32);
    for (uint64_t i = hash;; i++) {
        const slot *s = &index->slots[i & (index->n_slots - 1)];
        if (s->record == 0 ||
            (s->tag == tag &&
             name_is(name_of(names, s->record - 1), data, len)))
            return s;
    }
}

uint32_t ggld_index_insert(ggld_index *index, ggld_names names, uint32_t i)
{
    const ggld_string *name = name_of(names, i);
    uint64_t hash = sip_hash(index->seed, name->data, name->len);
    const slot *found = slot_of(index, names, hash, name->data, name->len);
    slot *s = &index->slots[found - index->slots];

    if (s->record != 0)
        return s->record - 1;
    s->record = i + 1;
    s->tag = (uint32_t)(hash >> 32);
    return i;
}

uint32_t ggld_index_find(const ggld_index *index, ggld_names names,
                         const char *data, uint64_t len)
{
    uint64_t hash = sip_hash(index->seed, data, len);
    return slot_of(index, names, hash, data, len)->record - 1;
}
