/* SPDX-License-Identifier: MIT */
/* The edit's inside, for the files of this folder. */
#ifndef GGLD_CHANGE_EDIT_H
#define GGLD_CHANGE_EDIT_H

#include <ggld/edit.h>
#include <ggld/tensor.h>

#include "../base/alloc.h"
#include "../base/error.h"
#include "../spec/encode.h"

/* A key-value as it is to be. */
typedef struct ggld_edit_kv {
    ggld_string key;
    uint32_t type;
    ggld_string value; /* as the file stores it: its version and order */
    uint64_t origin;   /* number in the old file, or GGLD_NO_INDEX */
    void *own_key;     /* where key and value are not the file's, or NULL */
    void *own_value;
} ggld_edit_kv;

/* A tensor's name as it is to be; the rest of its record stays. */
typedef struct ggld_edit_name {
    ggld_string name;
    void *own;
} ggld_edit_name;

struct ggld_edit {
    ggld_allocator allocator;
    uint32_t flags; /* GGLD_EDIT_... */
    uint64_t reserve_bytes;
    ggld_progress progress;
    void *progress_user;

    char *path;
    int fd; /* the file's own duplicates this one: they are one open file */
    ggld_file *file;
    ggld_file_info info;
    uint64_t data_offset; /* where data begins, or would begin: it may lie past
                             the end where there is none */

    ggld_edit_kv *kvs;
    uint64_t n_kvs;
    uint64_t cap_kvs;
    ggld_edit_name *names; /* of each tensor, in table order */
    uint64_t n_tensors;
    bool judged; /* and found good, as it is now */
    uint64_t n_unseen; /* shards of the set, that could not be judged with */
    bool spent;  /* carried out, or that failed */
};

static inline ggld_string ggld_text_of(const char *text)
{
    ggld_string s = { text, __builtin_strlen(text) };
    return s;
}

bool ggld_text_same(ggld_string a, ggld_string b);

/* Number of the first entry with that key, or n_kvs. */
uint64_t ggld_edit_find(const ggld_edit *edit, ggld_string key);
/* The value in the file's form, in memory of its own. */
ggld_status ggld_edit_encode_value(const ggld_edit *edit, ggld_string key,
                                   const ggld_edit_value *value,
                                   ggld_string *out, ggld_error *err);
/* An encoder of the file's version and byte order. */
ggld_encoder ggld_edit_encoder(const ggld_edit *edit, void *data, uint64_t cap);
/* Key-values and tensor records that are not what they were. */
uint64_t ggld_edit_n_changed(const ggld_edit *edit);

/* ---- layout ---- */

/* Where the new metadata ends and its data begins. */
typedef struct ggld_edit_layout {
    uint64_t base_bytes; /* of metadata without padding */
    bool padded;         /* there is a ggld.padding */
    uint64_t padding_bytes;
    uint64_t end;            /* of the metadata */
    uint64_t data_offset;    /* where data begins */
    uint64_t image_bytes;    /* what is written of metadata and zeros */
    uint64_t inserted_bytes; /* in place: how far data moves */
} ggld_edit_layout;

/* Of a new file. false: it would be longer than any file can be. */
bool ggld_edit_layout_new(const ggld_edit *edit, ggld_edit_layout *out);
/* Of a new file whose data begins as far behind a multiple of block_bytes as it
 * does in the old one. */
bool ggld_edit_layout_shared(const ggld_edit *edit, uint64_t block_bytes,
                             ggld_edit_layout *out);
/* In place. may_insert: a multiple of block_bytes can be inserted. false, and
 * out->base_bytes set: there is no room. */
bool ggld_edit_layout_in_place(const ggld_edit *edit, bool may_insert,
                               uint64_t block_bytes, ggld_edit_layout *out);
/* Sets data_offset, and sees that the old file's records come out where they
 * are. */
ggld_status ggld_edit_measure_old(ggld_edit *edit, ggld_error *err);
/* image_bytes of it in memory of its own, or NULL. */
uint8_t *ggld_edit_image(const ggld_edit *edit, const ggld_edit_layout *layout);

/* Bytes of the ggld.padding that is there; false: none is. */
bool ggld_edit_old_padding(const ggld_edit *edit, uint64_t *bytes);
/* Where the old file's data begins, or its end where that is before. */
uint64_t ggld_edit_old_end(const ggld_edit *edit);

/* ---- judging ---- */

/* Is it a model that may be written? Padding is no matter: what was judged once
 * is not judged again before it is changed. */
ggld_status ggld_edit_judge(ggld_edit *edit, const uint8_t *image,
                            const ggld_edit_layout *layout, ggld_error *err);
/* And with the other shards of its set; sets n_unseen. */
ggld_status ggld_edit_judge_set(ggld_edit *edit, ggld_error *err);
/* The same as judge, of an image that nobody else needs. */
ggld_status ggld_edit_judge_layout(ggld_edit *edit,
                                   const ggld_edit_layout *layout,
                                   ggld_error *err);
/* GGLD_E_INVALID where it was carried out already. */
ggld_status ggld_edit_expect(const ggld_edit *edit, ggld_error *err);

/* The layout in place, as far as can be told before it is tried, or of a new
 * file, or why there is none. */
ggld_status ggld_edit_settle(const ggld_edit *edit, bool in_place,
                             ggld_edit_layout *layout, ggld_error *err);
ggld_status ggld_edit_fail_room(const ggld_edit *edit,
                                const ggld_edit_layout *layout,
                                ggld_error *err);
ggld_status ggld_edit_fail_memory(uint64_t size, ggld_error *err);
/* Is the file already as it is to be? */
bool ggld_edit_is_nothing(const ggld_edit *edit);
/* Blocks of the file's file system. */
uint64_t ggld_edit_block_bytes(const ggld_edit *edit);

#endif /* GGLD_CHANGE_EDIT_H */
