/* SPDX-License-Identifier: MIT */
/* A shard that is edited alone stays one of a set: the new names of its tensors
 * must not be those of its siblings' tensors. Siblings are what is there under
 * their names now; those that can't be opened can't be asked, and are counted. */
#include <inttypes.h>

#include "../base/quote.h"
#include "../read/split.h"
#include "edit.h"

static bool is_renamed(const ggld_edit *edit, uint64_t i)
{
    ggld_tensor_info info = { .struct_size = sizeof info };
    ggld_tensor_get_info(ggld_tensor_at(edit->file, i), &info);
    return !ggld_text_same(edit->names[i].name, info.name);
}

static bool renames_any(const ggld_edit *edit)
{
    uint64_t i = 0;
    while (i < edit->n_tensors && !is_renamed(edit, i))
        i++;
    return i < edit->n_tensors;
}

static ggld_status compare_names(const ggld_edit *edit,
                                 const ggld_file *sibling, const char *path,
                                 const ggld_split_name *at, ggld_error *err)
{
    for (uint64_t i = 0; i < edit->n_tensors; i++) {
        ggld_string name = edit->names[i].name;
        if (!is_renamed(edit, i) ||
            ggld_tensor_find_n(sibling, name.data, (size_t)name.len) == NULL)
            continue;
        return ggld_fail(err, GGLD_E_DUPLICATE,
                         ggld_place_of(GGLD_IN_TENSOR_INFO, i, 0),
                         "tensor %" PRIu64 ": the new name %s is that of a "
                         "tensor in shard %" PRIu32 " of the set, %s",
                         i, ggld_quote(name.data, name.len).text, at->no + 1,
                         ggld_split_label(path).text);
    }
    return GGLD_OK;
}

static ggld_status ask_sibling(ggld_edit *edit, const char *path,
                               const ggld_split_name *at, ggld_error *err)
{
    ggld_open_options options = ggld_open_options_init();
    ggld_file *sibling = NULL;

    options.flags = GGLD_OPEN_METADATA | GGLD_OPEN_SINGLE;
    options.allocator = &edit->allocator;
    ggld_status status = ggld_open_path(&sibling, path, &options, err);
    if (status == GGLD_E_NOMEM)
        return status;
    if (status != GGLD_OK) {
        edit->n_unseen++;
        return GGLD_OK;
    }
    status = compare_names(edit, sibling, path, at, err);
    ggld_close(sibling);
    return status;
}

ggld_status ggld_edit_judge_set(ggld_edit *edit, ggld_error *err)
{
    ggld_split split = ggld_split_of(edit->file);
    ggld_split_name own, at;
    ggld_error why;
    ggld_status status = GGLD_OK;

    edit->n_unseen = 0;
    if (split.count < 2 || split.count > GGLD_MAX_SHARDS || !renames_any(edit))
        return GGLD_OK;
    /* Under another name it is no shard of any set that could be found. */
    if (!ggld_split_name_of(edit->path, &own) || own.count != split.count) {
        edit->n_unseen = split.count - 1;
        return GGLD_OK;
    }
    char *path =
        ggld_alloc_bytes(&edit->allocator, ggld_split_path_bytes(&own));
    if (path == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "no memory for the names of a set");
    at = own;
    for (at.no = 0; at.no < own.count && status == GGLD_OK; at.no++) {
        if (at.no == own.no)
            continue;
        ggld_split_path(path, &at);
        status = ask_sibling(edit, path, &at, &why);
    }
    ggld_free(&edit->allocator, path);
    if (status != GGLD_OK && err != NULL)
        *err = why;
    return status;
}
