/* SPDX-License-Identifier: MIT */
/* Joining manifests of several files: in place, so that the cost is that of
 * what is added. Each file keeps its chunks. */
#include <string.h>

#include "../base/error.h"
#include "manifest.h"
#include "names.h"

static ggld_status no_memory(ggld_error *err)
{
    return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                     "manifest: no memory to add another one");
}

/* From here on from may be the manifest that is added to, whose arrays move as
 * they grow. */

/* Copied to the end of the room. */
static ggld_string keep(char **room, ggld_string text)
{
    ggld_string kept = { *room, text.len };
    memcpy(*room, text.data, (size_t)text.len);
    *room += text.len;
    return kept;
}

static ggld_status copy_subject(ggld_manifest *to, const ggld_subject *from,
                                char **room, ggld_error *err)
{
    uint32_t number;
    ggld_subject subject = *from;
    const ggld_tree tree = from->tree;
    subject.path = keep(room, subject.path);
    memset(&subject.tree, 0, sizeof subject.tree);
    ggld_status status =
        ggld_manifest_add_subject(to, subject.path, &number, err);
    if (status != GGLD_OK)
        return status;
    to->subjects[number] = subject;
    return tree.algo != 0
               ? ggld_tree_copy(&to->subjects[number].tree, &tree, err)
               : GGLD_OK;
}

static ggld_status copy_entry(ggld_manifest *to, const ggld_manifest *from,
                              const ggld_entry *entry, uint64_t first_subject,
                              char **room, ggld_error *err)
{
    ggld_entry copy = *entry;
    ggld_status status = GGLD_OK;
    copy.subject += (uint32_t)first_subject;
    copy.name = keep(room, entry->name);
    if (copy.shape != GGLD_NO_SHAPE) {
        ggld_shape shape = from->shapes[copy.shape];
        status = ggld_manifest_add_shape(to, &shape, &copy.shape, err);
    }
    return status == GGLD_OK ? ggld_manifest_add(to, &copy, err) : status;
}

static ggld_status copy_all(ggld_manifest *to, const ggld_manifest *from,
                            char *room, ggld_error *err)
{
    uint64_t first_subject = to->n_subjects;
    uint64_t n_subjects = from->n_subjects, n_entries = from->n_entries;
    ggld_status status = GGLD_OK;
    for (uint64_t i = 0; i < n_subjects && status == GGLD_OK; i++)
        status = copy_subject(to, &from->subjects[i], &room, err);
    for (uint64_t i = 0; i < n_entries && status == GGLD_OK; i++)
        status =
            copy_entry(to, from, &from->entries[i], first_subject, &room, err);
    return status;
}

/* What was added is taken away again. */
static void cut_back(ggld_manifest *m, const ggld_manifest *old)
{
    for (uint64_t i = old->n_subjects; i < m->n_subjects; i++)
        ggld_tree_free(&m->subjects[i].tree);
    m->n_subjects = old->n_subjects;
    m->n_shapes = old->n_shapes;
    m->n_entries = old->n_entries;
    ggld_manifest_drop_block(m);
}

ggld_status ggld_manifest_append(ggld_manifest *into, const ggld_manifest *from,
                                 ggld_error *err)
{
    const ggld_manifest old = *into;
    char *room = ggld_manifest_block(into, ggld_manifest_strings_bytes(from));
    if (room == NULL)
        return no_memory(err);
    ggld_status status = copy_all(into, from, room, err);
    if (status == GGLD_OK)
        status = ggld_manifest_index(into, old.n_entries, "manifest", err);
    if (status != GGLD_OK) {
        cut_back(into, &old);
        return status;
    }
    /* It is no text's any more, and of no one format. */
    into->format = 0;
    memset(&into->identity, 0, sizeof into->identity);
    return GGLD_OK;
}
