/* SPDX-License-Identifier: MIT */
/* Joining manifests of several files. The other one's chunks stay behind: they
 * are of one file, and no format of many files has any. */
#include <string.h>

#include "../base/error.h"
#include "manifest.h"

static ggld_status no_memory(ggld_error *err)
{
    return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                     "manifest: no memory to add another one");
}

static ggld_status keep(ggld_manifest *m, ggld_string *string, ggld_error *err)
{
    char *copy = ggld_manifest_block(m, string->len);
    if (copy == NULL)
        return no_memory(err);
    memcpy(copy, string->data, (size_t)string->len);
    string->data = copy;
    return GGLD_OK;
}

static ggld_status copy_entry(ggld_manifest *to, const ggld_manifest *from,
                              const ggld_entry *entry, uint64_t first_subject,
                              ggld_error *err)
{
    ggld_entry copy = *entry;
    copy.subject += (uint32_t)first_subject;
    ggld_status status = keep(to, &copy.name, err);
    if (status == GGLD_OK && entry->shape != GGLD_NO_SHAPE)
        status = ggld_manifest_add_shape(to, &from->shapes[entry->shape],
                                         &copy.shape, err);
    return status == GGLD_OK ? ggld_manifest_add(to, &copy, err) : status;
}

static ggld_status copy_all(ggld_manifest *to, const ggld_manifest *from,
                            ggld_error *err)
{
    uint64_t first_subject = to->n_subjects;
    ggld_status status = GGLD_OK;
    for (uint64_t i = 0; i < from->n_subjects && status == GGLD_OK; i++) {
        ggld_string path = from->subjects[i].path;
        uint32_t subject;
        status = keep(to, &path, err);
        if (status == GGLD_OK)
            status = ggld_manifest_add_subject(to, path, &subject, err);
        if (status == GGLD_OK) {
            to->subjects[subject] = from->subjects[i];
            to->subjects[subject].path = path;
        }
    }
    for (uint64_t i = 0; i < from->n_entries && status == GGLD_OK; i++)
        status = copy_entry(to, from, &from->entries[i], first_subject, err);
    return status;
}

ggld_status ggld_manifest_append(ggld_manifest *into, const ggld_manifest *from,
                                 ggld_error *err)
{
    ggld_manifest *both = ggld_manifest_new();
    if (both == NULL)
        return no_memory(err);
    ggld_status status = copy_all(both, into, err);
    if (status == GGLD_OK)
        status = copy_all(both, from, err);
    if (status == GGLD_OK)
        status = ggld_manifest_seal(both, "manifest", err);
    if (status == GGLD_OK) {
        ggld_manifest old = *into;
        *into = *both;
        *both = old;
    }
    ggld_manifest_free(both);
    return status;
}
