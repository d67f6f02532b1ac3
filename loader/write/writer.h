/* SPDX-License-Identifier: MIT */
/* The writer's inside, for the files of this folder. */
#ifndef GGLD_WRITE_WRITER_H
#define GGLD_WRITE_WRITER_H

#include <ggld/write.h>

#include "../base/error.h"
#include "../base/sink.h"
#include "kvs.h"
#include "names.h"
#include "plan.h"

/* The most elements that a block of a type with a quantiser has. */
#define GGLD_MAX_PUT_BLOCK 256

typedef enum ggld_writer_state {
    GGLD_WRITER_DECLARING,
    GGLD_WRITER_BEGUN,
    GGLD_WRITER_SEALED,
    GGLD_WRITER_FINISHED,
    GGLD_WRITER_FAILED
} ggld_writer_state;

struct ggld_writer {
    ggld_allocator allocator;
    uint32_t flags;
    uint32_t alignment_bytes;
    uint64_t reserve_bytes;
    ggld_progress progress; /* may be NULL */
    void *progress_user;
    ggld_writer_state state;

    ggld_kvs kvs;
    ggld_name_list tensor_names; /* its records are tensors */
    ggld_out_tensor *tensors;    /* that is, these */

    /* From begin on. */
    ggld_sink sink;
    ggld_plan plan;
    uint32_t current;       /* tensor that bytes are for */
    uint64_t current_bytes; /* that it has by now */
    uint64_t copied_bytes;  /* of all tensors with a source */
    uint64_t copy_bytes;    /* that they have */
    bool no_ranges;         /* the system has refused to copy a range */
    bool hollow;            /* nothing is copied */
    uint32_t n_pending;     /* values for its next block */
    float pending[GGLD_MAX_PUT_BLOCK];
};

static inline bool ggld_writer_big_endian(const ggld_writer *w)
{
    return (w->flags & GGLD_WRITE_BIG_ENDIAN) != 0;
}

/* GGLD_E_INVALID where w is NULL or not in that state: the message says what
 * to call. */
ggld_status ggld_writer_expect(const ggld_writer *w, ggld_writer_state state,
                               ggld_error *err);

/* Checks an entry against the rules for special keys and puts it into the
 * list. The entry is the writer's, on failure too. */
ggld_status ggld_writer_put_kv(ggld_writer *w, ggld_kv_entry *entry,
                               ggld_error *err);
/* A new entry, or NULL and *err. */
ggld_kv_entry *ggld_writer_new_kv(const ggld_writer *w, ggld_string key,
                                  uint32_t type, uint64_t value_bytes,
                                  ggld_error *err);
/* Adds a tensor whose size is known; the name is copied. */
ggld_status ggld_writer_add_tensor(ggld_writer *w,
                                   const ggld_out_tensor *tensor,
                                   ggld_error *err);

/* Completes what needs no data to be put: padding, tensors of no elements,
 * copies. Afterwards current is a tensor that waits for data, or past the
 * last. */
ggld_status ggld_writer_advance(ggld_writer *w, ggld_error *err);
/* The whole stored extent of the current tensor, which is copied, into the
 * sink; maybe of some that follow it too: current is then the last of them. */
ggld_status ggld_writer_copy_extent(ggld_writer *w, ggld_error *err);
/* The current tensor, and what follows it in both files alike, by the system's
 * own copy, as far as that goes: current and current_bytes say how far. Where
 * it does not go, what is left is to be read. */
ggld_status ggld_writer_copy_range(ggld_writer *w, ggld_error *err);
/* size more bytes have been copied: says so. */
ggld_status ggld_writer_copied(ggld_writer *w, uint64_t size, ggld_error *err);

/* The metadata that begin would write, to be freed by the writer's allocator.
 * The writer is then finished, and keeps what was set and declared. */
ggld_status ggld_writer_draft(ggld_writer *w, uint8_t **image,
                              uint64_t *image_bytes, ggld_error *err);
/* Before begin: tensors that are copied become holes, to be filled in later. */
void ggld_writer_leave_out(ggld_writer *w);
/* Of a sealed writer, which is then finished: its temporary file is the
 * caller's, in the folder of the path that it began with, and so is the
 * descriptor that holds its lock: -1, there is none. */
int ggld_writer_hand_over(ggld_writer *w,
                          char temp_name[static GGLD_TEMP_NAME_MAX]);
/* The output is given up: what was written is removed. Returns status. */
ggld_status ggld_writer_abandon(ggld_writer *w, ggld_status status);

/* Place of a tensor's data in errors. */
static inline ggld_place ggld_in_tensor_data(uint64_t index, uint64_t offset)
{
    return ggld_place_of(GGLD_IN_TENSOR_DATA, index, offset);
}

#endif /* GGLD_WRITE_WRITER_H */
