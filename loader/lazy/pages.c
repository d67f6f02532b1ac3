/* SPDX-License-Identifier: MIT */
/* Views to pages. Touches neither the data nor the system. */
#include "pages.h"

#include <inttypes.h>
#include <unistd.h>

#include "../base/checked.h"
#include "../read/file.h"
#include "../spec/types.h"
#include "blocks.h"
#include "refuse.h"
#include "view.h"

size_t ggld_page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* Of a type that is not known the elements are of no size: all or nothing. */
static void view_blocks(const ggld_view *view, uint64_t *first_byte,
                        uint64_t *size)
{
    const ggld_tensor *t = view->tensor;
    const ggld_type_row *row = ggld_type_row_of(t->type);
    *first_byte = 0;
    *size = view->n_elems == 0 ? 0 : t->size_bytes;
    if (row == NULL || view->n_elems == 0)
        return;
    uint64_t first;
    *size = ggld_blocks_touched(row->traits.block_elems, view->first_elem,
                                view->n_elems, &first) *
            row->traits.block_bytes;
    *first_byte = first * row->traits.block_bytes;
}

static void set_map(ggld_pages *pages, const uint8_t *map)
{
    size_t page = ggld_page_size();
    uintptr_t from = (uintptr_t)(map + pages->offset);
    size_t over = (size_t)(from % page);
    pages->map = (void *)(from - over);
    pages->map_bytes = (size_t)pages->size + over;
}

ggld_status ggld_pages_of(ggld_pages *out, const ggld_view *view,
                          ggld_error *err)
{
    ggld_pages pages = { .fd = -1 };
    ggld_backing backing = { sizeof backing };
    uint64_t first_byte;

    ggld_status status = ggld_view_check(view, err);
    if (status != GGLD_OK)
        return status;
    const ggld_tensor *t = view->tensor;
    view_blocks(view, &first_byte, &pages.size);
    if (pages.size != 0 &&
        (!ggld_add_u64(t->offset, first_byte, &pages.offset) ||
         !ggld_fits(pages.offset, pages.size, t->file->source.size_bytes)))
        return ggld_refuse_view(view, GGLD_E_TRUNCATED, err,
                                "its %" PRIu64
                                " bytes end past the end of the file (%" PRIu64
                                " bytes)",
                                pages.size, t->file->source.size_bytes);
    ggld_file_get_backing(t->file, &backing);
    pages.fd = backing.fd;
    pages.fd_offset = backing.fd_offset_bytes;
    if (backing.map != NULL)
        set_map(&pages, backing.map);
    *out = pages;
    return GGLD_OK;
}
