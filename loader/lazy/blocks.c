/* SPDX-License-Identifier: MIT */
/* May assume a little-endian map is what kernels read from; everything else
 * goes through the scratch buffer. Must not allocate, nor write to the map. */
#include "blocks.h"

#include <sys/mman.h>

#include "../base/checked.h"
#include "../read/file.h"
#include "extent.h"
#include "pages.h"

#define FIRST_READ_MAX_BYTES (256u << 10)

#define TYPE(id, NAME, name, elems, bytes, ...)          \
    _Static_assert((bytes) <= GGLD_BLOCKS_SCRATCH_BYTES, \
                   "a block of " name " fits the scratch buffer");
#include "../spec/tensor_types.def"

void ggld_blocks_init(ggld_blocks *b, const ggld_view *view,
                      const ggld_type_row *row)
{
    b->tensor = view->tensor;
    b->pread = (view->flags & GGLD_VIEW_PREAD) != 0 &&
               ggld_file_has_both(view->tensor->file);
    b->row = row;
    b->ready = b->scratch;
    b->n_ready = 0;
    b->offset = 0;
    b->n_behind = 0;
}

/* Of a page that is not in memory the kernel reads the surroundings too, by
 * megabytes on some disks, and lets the reader wait for them. Nobody waits long
 * for the first rows of a tensor when just their own pages are asked for
 * before. What follows is left to the kernel, and pays for no system call. */
static void bring_in_first(const ggld_tensor *tensor, const uint8_t *data,
                           uint64_t size)
{
    /* The tensor is const to who reads it, not in itself. */
    ggld_tensor *t = (ggld_tensor *)(uintptr_t)tensor;
    if (size > FIRST_READ_MAX_BYTES ||
        atomic_load_explicit(&t->was_read, memory_order_relaxed))
        return;
    atomic_store_explicit(&t->was_read, true, memory_order_relaxed);
    uintptr_t over = (uintptr_t)data % ggld_page_size();
    (void)madvise((void *)((uintptr_t)data - over), (size_t)(size + over),
                  MADV_WILLNEED);
}

ggld_status ggld_blocks_seek(ggld_blocks *b, uint64_t first, uint64_t n_blocks,
                             ggld_error *err)
{
    const ggld_file *file = b->tensor->file;
    uint64_t block_bytes = b->row->traits.block_bytes;
    uint64_t size = n_blocks * block_bytes;
    uint64_t at;

    ggld_status status =
        ggld_extent_admit(b->tensor, first * block_bytes, size, &at, err);
    if (status != GGLD_OK)
        return status;

    const uint8_t *mapped =
        file->big_endian || b->pread ? NULL : ggld_span_at(file->map, at, size);
    if (mapped != NULL && size != 0)
        bring_in_first(b->tensor, mapped, size);
    b->ready = mapped;
    b->n_ready = mapped != NULL ? n_blocks : 0;
    b->n_behind = n_blocks - b->n_ready;
    b->offset = at;
    return GGLD_OK;
}

static ggld_status fill_scratch(ggld_blocks *b, ggld_error *err)
{
    uint64_t block_bytes = b->row->traits.block_bytes;
    uint64_t n =
        ggld_min_u64(b->n_behind, GGLD_BLOCKS_SCRATCH_BYTES / block_bytes);

    ggld_status status = ggld_extent_read(b->tensor, b->offset, b->scratch,
                                          n * block_bytes, b->pread, err);
    if (status != GGLD_OK)
        return status;
    if (b->tensor->file->big_endian)
        ggld_swap_blocks(b->row, b->scratch, n);
    b->ready = b->scratch;
    b->n_ready = n;
    b->offset += n * block_bytes;
    b->n_behind -= n;
    return GGLD_OK;
}

ggld_status ggld_blocks_next(ggld_blocks *b, uint64_t max, const uint8_t **run,
                             uint64_t *n, ggld_error *err)
{
    if (b->n_ready == 0) {
        ggld_status status = fill_scratch(b, err);
        if (status != GGLD_OK)
            return status;
    }
    *run = b->ready;
    *n = ggld_min_u64(max, b->n_ready);
    b->ready += *n * b->row->traits.block_bytes;
    b->n_ready -= *n;
    return GGLD_OK;
}
