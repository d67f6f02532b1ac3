/* SPDX-License-Identifier: MIT */
/* The edit's life: options, opening, freeing. The file is read through one
 * open file description from beginning to end, which is what lets a lease tell
 * whether there is any other. */
#include "edit.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "../base/open.h"
#include "../base/structs.h"
#include "alone.h"
#include "journal.h"
#include "sys.h"

#define KNOWN_FLAGS (GGLD_EDIT_IN_PLACE | GGLD_EDIT_FORCE)
/* The longest string that ggml reads. */
#define MAX_RESERVE (1u << 30)

bool ggld_text_same(ggld_string a, ggld_string b)
{
    return a.len == b.len &&
           (a.len == 0 || memcmp(a.data, b.data, (size_t)a.len) == 0);
}

static ggld_status check_options(const ggld_edit_options *o, ggld_error *err)
{
    if (!ggld_all_zero(o->reserved, sizeof o->reserved) ||
        o->reserved_flags != 0)
        return ggld_fail(err, GGLD_E_ABI, ggld_nowhere(),
                         "ggld_edit_options: a reserved field is not zero");
    if ((o->flags & ~KNOWN_FLAGS) != 0)
        return ggld_fail(err, GGLD_E_ABI, ggld_nowhere(),
                         "ggld_edit_options: flags 0x%" PRIx32 " are not known",
                         o->flags & ~KNOWN_FLAGS);
    if (o->reserve_bytes > MAX_RESERVE)
        return ggld_fail(err, GGLD_E_LIMIT, ggld_nowhere(),
                         "ggld_edit_options: reserve_bytes %" PRIu64
                         " is more than %u",
                         o->reserve_bytes, MAX_RESERVE);
    if (o->allocator != NULL &&
        (o->allocator->alloc == NULL || o->allocator->free == NULL))
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "ggld_allocator: alloc and free are both needed");
    return GGLD_OK;
}

static ggld_status fail_memory(ggld_error *err)
{
    return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                     "no memory for an edit");
}

/* O_NONBLOCK: opening a FIFO does not wait for someone to write to it. */
static ggld_status open_fd(ggld_edit *edit, const char *path, ggld_error *err)
{
    int how = (edit->flags & GGLD_EDIT_IN_PLACE) != 0 ? O_RDWR : O_RDONLY;
    /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): looked at. */
    size_t size = strlen(path) + 1;

    edit->path = ggld_alloc(&edit->allocator, size, 1);
    if (edit->path == NULL)
        return fail_memory(err);
    memcpy(edit->path, path, size);
    edit->fd = ggld_sys_open(AT_FDCWD, path, how | O_NONBLOCK, 0);
    if (edit->fd < 0)
        return ggld_fail_errno(
            err, errno, ggld_in_file(), "file: opening it%s%s",
            how == O_RDWR ? " to write in place" : "", ggld_open_hint(errno));
    return GGLD_OK;
}

static ggld_status refuse_pending(const char *path, ggld_error *err)
{
    ggld_edit_trace trace;
    ggld_error why;

    ggld_status status = ggld_edit_pending(path, &trace, &why, err);
    if (status != GGLD_OK || trace == GGLD_EDIT_CLEAN ||
        trace == GGLD_EDIT_REST)
        return status;
    return ggld_fail(err, GGLD_E_INVALID, ggld_in_file(), "%s", why.message);
}

/* Key-values and names as they are. */
static ggld_status take_records(ggld_edit *edit, ggld_error *err)
{
    const ggld_allocator *a = &edit->allocator;
    uint64_t n_kvs = ggld_kv_count(edit->file);
    uint64_t n_tensors = ggld_tensor_count(edit->file);

    edit->kvs = ggld_alloc(a, n_kvs, sizeof *edit->kvs);
    edit->names = ggld_alloc(a, n_tensors, sizeof *edit->names);
    if (edit->kvs == NULL || edit->names == NULL)
        return fail_memory(err);
    edit->n_kvs = edit->cap_kvs = n_kvs;
    edit->n_tensors = n_tensors;
    for (uint64_t i = 0; i < n_kvs; i++) {
        const ggld_kv *kv = ggld_kv_at(edit->file, i);
        edit->kvs[i].key = ggld_kv_key(kv);
        edit->kvs[i].type = ggld_kv_type(kv);
        edit->kvs[i].value = ggld_kv_raw(kv).bytes;
        edit->kvs[i].origin = i;
    }
    for (uint64_t i = 0; i < n_tensors; i++) {
        ggld_tensor_info info = { .struct_size = sizeof info };
        ggld_tensor_get_info(ggld_tensor_at(edit->file, i), &info);
        edit->names[i].name = info.name;
    }
    return GGLD_OK;
}

/* Mapped: nothing of it is read any more once it is written to. */
static ggld_status open_edit(ggld_edit *edit, const char *path, ggld_error *err)
{
    ggld_open_options options = ggld_open_options_init();

    ggld_status status = refuse_pending(path, err);
    if (status == GGLD_OK)
        status = open_fd(edit, path, err);
    if (status != GGLD_OK)
        return status;
    options.allocator = &edit->allocator;
    status = ggld_open_fd(&edit->file, edit->fd, &options, err);
    if (status != GGLD_OK)
        return status;
    edit->info.struct_size = sizeof edit->info;
    ggld_file_get_info(edit->file, &edit->info);
    status = take_records(edit, err);
    if (status == GGLD_OK)
        status = ggld_edit_measure_old(edit, err);
    return status;
}

ggld_status ggld_edit_open(ggld_edit **out, const char *path,
                           const ggld_edit_options *options, ggld_error *err)
{
    ggld_edit_options o = ggld_edit_options_init();
    ggld_status status = GGLD_OK;

    if (path == NULL)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "the path is NULL");
    if (options != NULL)
        status = ggld_struct_take("ggld_edit_options", options,
                                  offsetof(ggld_edit_options, progress), &o,
                                  sizeof o, err);
    if (status == GGLD_OK)
        status = check_options(&o, err);
    if (status != GGLD_OK)
        return status;
    ggld_allocator allocator = ggld_allocator_of(o.allocator);
    ggld_edit *edit = ggld_alloc(&allocator, 1, sizeof *edit);
    if (edit == NULL)
        return fail_memory(err);
    edit->allocator = allocator;
    edit->flags = o.flags;
    edit->reserve_bytes = o.reserve_bytes;
    edit->progress = o.progress;
    edit->progress_user = o.progress_user;
    edit->fd = -1;
    status = open_edit(edit, path, err);
    if (status == GGLD_OK)
        *out = edit;
    else
        ggld_edit_free(edit);
    return status;
}

void ggld_edit_free(ggld_edit *edit)
{
    if (edit == NULL)
        return;
    ggld_allocator allocator = edit->allocator;
    for (uint64_t i = 0; i < edit->n_kvs; i++) {
        ggld_free(&allocator, edit->kvs[i].own_key);
        ggld_free(&allocator, edit->kvs[i].own_value);
    }
    for (uint64_t i = 0; i < edit->n_tensors; i++)
        ggld_free(&allocator, edit->names[i].own);
    ggld_free(&allocator, edit->kvs);
    ggld_free(&allocator, edit->names);
    ggld_close(edit->file);
    if (edit->fd >= 0)
        close(edit->fd);
    ggld_free(&allocator, edit->path);
    ggld_free(&allocator, edit);
}

const ggld_file *ggld_edit_file(const ggld_edit *edit)
{
    return edit->file;
}

ggld_status ggld_edit_expect(const ggld_edit *edit, ggld_error *err)
{
    if (edit == NULL)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "the edit is NULL");
    if (edit->spent)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "edit: it was carried out: free it and open a new "
                         "one");
    return GGLD_OK;
}
