/* SPDX-License-Identifier: MIT */
/* Changing a model's metadata: key-values set, removed and renamed, tensors
 * renamed. Tensor data stays as it is, byte for byte, whatever its type, and so
 * do the file's version and byte order.
 *
 * An edit is opened on a file, changes are made to it in memory, one after the
 * other, and then it is carried out, once: ggld_edit_write() makes a new file,
 * or puts one in the place of the old; ggld_edit_in_place() rewrites the
 * metadata alone, in time that does not depend on the model's size. What comes
 * out is judged, as an open would, before anything is written.
 *
 * In place the metadata has to end where the data begins. What it is shorter,
 * a string under the key ggld.padding makes up for; what it is longer, the file
 * system can make room for (ext4 and xfs: FALLOC_FL_INSERT_RANGE). Before the
 * file is touched a journal, NAME.ggld-journal, is written beside it. Should
 * the process or the system end in between, ggld_edit_pending() tells, and
 * ggld_edit_recover() finishes or undoes what was begun.
 *
 * An edit is one thread's at a time. After a failed change it is as it was
 * before; after it was carried out, or that failed, it can only be freed. */
#ifndef GGLD_EDIT_H
#define GGLD_EDIT_H

#include "error.h"
#include "file.h"
#include "progress.h"
#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ggld_edit ggld_edit;

/* The file is opened for writing too, for ggld_edit_in_place(). */
#define GGLD_EDIT_IN_PLACE (1u << 0)
/* In place even where the file has other names, or is open or mapped, by this
 * process or another, which then reads old and new bytes mixed. */
#define GGLD_EDIT_FORCE (1u << 1)

typedef struct ggld_edit_options {
    size_t struct_size; /* sizeof(ggld_edit_options) */
    uint32_t flags;     /* GGLD_EDIT_... */
    uint32_t reserved_flags;
    /* Room for later edits in place, up to 1 GiB: bytes of ggld.padding. 0: a
     * new file keeps the ggld.padding that is there. */
    uint64_t reserve_bytes;
    /* Of ggld_edit_write, in bytes. ggld_edit_in_place asks it before and after
     * it writes its journal, of bytes of that: until then it can be stopped,
     * and from then on it goes to its end. NULL: none. */
    ggld_progress progress;
    void *progress_user;
    const ggld_allocator *allocator; /* copied; NULL: malloc and free */
    uint64_t reserved[4];
} ggld_edit_options;

static inline ggld_edit_options ggld_edit_options_init(void)
{
    ggld_edit_options options = {
        sizeof(ggld_edit_options), 0, 0, 0, NULL, NULL, NULL, { 0, 0, 0, 0 }
    };
    return options;
}

/* Opens the file of that name, alone where it is a shard of a set. A set's
 * key-values are those of its first shard: those of another may be changed, but
 * nobody reads them. Only its metadata is read. options
 * may be NULL. What is refused by ggld_open_path is refused here.
 * GGLD_E_INVALID: an edit in place was interrupted, and is to be recovered. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_edit_open(ggld_edit **out, const char *path,
                           const ggld_edit_options *options, ggld_error *err);
/* edit may be NULL. */
GGLD_API void ggld_edit_free(ggld_edit *edit);
/* The file as it was opened. Mapped, as any file: not to be read any more once
 * it was edited in place. */
GGLD_API const ggld_file *ggld_edit_file(const ggld_edit *edit);

/* ---- changes, in the order of the calls ----
 *
 * Refused with GGLD_E_INVALID: split.no, split.count and split.tensors.count,
 * which say what a shard is, and ggld.padding, which may only be removed. With
 * GGLD_E_VALUE_TYPE: general.file_type, general.quantization_version and
 * general.alignment as anything but a u32. */

/* That rule, for whoever lets people set keys of models in another way: may a
 * key of that name have a value of that type (ggld_value_type)? Any thread. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_edit_check_key(const char *key, uint32_t type,
                                ggld_error *err);

/* A value to set. data, in this machine's order and of any alignment, is
 * copied:
 *   a number, a bool  size 1, its bytes (a bool is one byte, 0 or 1)
 *   a string          size in bytes, UTF-8, NULs allowed
 *   an array          size in elements of elem_type: numbers, bools, or one
 *                     ggld_string each; no arrays */
typedef struct ggld_edit_value {
    size_t struct_size; /* sizeof(ggld_edit_value) */
    uint32_t type;      /* ggld_value_type */
    uint32_t elem_type; /* of an array */
    const void *data;   /* may be NULL where size is 0 */
    uint64_t size;
    uint64_t reserved[2];
} ggld_edit_value;

/* A key that is there keeps its place; a new one comes last. Of a key that is
 * there twice, the first, which counts, is set. key: UTF-8, 1 to 65535 bytes.
 * GGLD_E_VALUE_TYPE, GGLD_E_VALUE, GGLD_E_STRING: what it is, for this type. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_edit_set(ggld_edit *edit, const char *key,
                          const ggld_edit_value *value, ggld_error *err);
/* Wherever the key stands. GGLD_E_INVALID: it is not there. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_edit_unset(ggld_edit *edit, const char *key, ggld_error *err);
/* Wherever the key stands. GGLD_E_INVALID: it is not there. GGLD_E_DUPLICATE:
 * the new one is. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_edit_rename(ggld_edit *edit, const char *old_key,
                             const char *new_key, ggld_error *err);
/* new_name: UTF-8, 1 to 63 bytes (what ggml's buffer holds). Of a shard, the
 * plan and the carrying out refuse (GGLD_E_DUPLICATE) a name that another shard
 * of its set has, as far as those are there to be opened. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_edit_rename_tensor(ggld_edit *edit, const char *old_name,
                                    const char *new_name, ggld_error *err);

/* Type of a key's value as the changes have left it, and of an array's elements
 * (else untouched; both may be NULL). false: it is not there. */
GGLD_API bool ggld_edit_type_of(const ggld_edit *edit, const char *key,
                                uint32_t *type, uint32_t *elem_type);

/* ---- what would come of it ---- */

typedef enum ggld_edit_way {
    GGLD_EDIT_NOTHING = 0, /* the metadata is what it was */
    GGLD_EDIT_FITS,        /* it ends where the data begins, or is padded */
    GGLD_EDIT_INSERTS,     /* room is to be made, where the file system can */
    GGLD_EDIT_NO_ROOM      /* not in place; the message of reason says why */
} ggld_edit_way;

typedef struct ggld_edit_plan {
    size_t struct_size;      /* set by the caller: sizeof(ggld_edit_plan) */
    ggld_edit_way in_place;  /* how ggld_edit_in_place would go about it */
    uint64_t n_changed;      /* key-values and tensor records */
    uint64_t old_data_bytes; /* where data begins */
    uint64_t new_data_bytes; /* where it would, in place */
    uint64_t needed_bytes;   /* of metadata, without padding */
    uint64_t padding_bytes;  /* in ggld.padding, in place */
    ggld_error reason;       /* of NO_ROOM; code GGLD_OK otherwise */
    /* Of a shard whose tensors get new names: the shards of its set that could
     * not be opened, so that a name may be in them too. */
    uint64_t n_unseen_shards;
    /* Of a new file; where its blocks are shared, ggld.padding may be longer. */
    uint64_t new_file_bytes;
} ggld_edit_plan;

/* Judges the changes and plans them; touches nothing. Fills the fields that the
 * caller's struct_size covers. The error is that of a change that would make a
 * model that is refused (code and place are the reader's), or that ggml would
 * refuse where it takes the old one, or whose data would be elsewhere. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_edit_plan_of(ggld_edit *edit, ggld_edit_plan *out,
                              ggld_error *err);
/* Would ggld_edit_in_place be refused, as things are now? The same refusals, as
 * far as they can be had without writing: other names, others who have it open
 * (the lease is taken, and given back), another edit, a folder that takes no
 * journal, no room. Whether room can be inserted is tried on a file without a
 * name in the same folder. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_edit_try_in_place(ggld_edit *edit, ggld_error *err);
/* The model as it would be, with the data of the file; in_place: as
 * ggld_edit_in_place would leave it, which has to have room. It stays open
 * until its own ggld_close, and is not to be read after the edit was carried
 * out. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_edit_preview(const ggld_edit *edit, bool in_place,
                              ggld_file **out, ggld_error *err);
/* Which key-value of the old file the one of that key was, whatever has become
 * of it; GGLD_NO_INDEX: it is new, or not there. */
GGLD_API uint64_t ggld_edit_origin(const ggld_edit *edit, const char *key,
                                   size_t len);

/* ---- carrying it out ---- */

/* Writes a new file: changed metadata, and the data section as it is, by
 * copy_file_range, or sharing its blocks where the file system can (then
 * ggld.padding is made such that blocks fall on blocks). As ggld_writer_begin
 * and finish make one: it appears only whole, and synced. path NULL: in the
 * place of the file that was opened; mode and, as far as this process may,
 * owner are kept; other names of it keep the old one.
 *
 * GGLD_E_INVALID: path is the file that was opened. GGLD_E_CHANGED: that was
 * changed meanwhile. GGLD_E_IO: the system. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_edit_write(ggld_edit *edit, const char *path, ggld_error *err);

/* Rewrites the file's metadata where it is. Nothing is written where nothing
 * was changed. GGLD_E_UNSUPPORTED: there is no room and none can be made, the
 * file has other names, or others have it open (a write lease tells; the
 * signal of one that is broken meanwhile, SIGURG, is blocked on this thread):
 * the message says what to do. GGLD_E_CHANGED: it was changed since it was
 * opened. GGLD_E_IO: the system; the file is as it was, or, where that could
 * not be written either, the message says that the journal remains. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_edit_in_place(ggld_edit *edit, ggld_error *err);

/* ---- after a crash ---- */

typedef enum ggld_edit_trace {
    GGLD_EDIT_CLEAN = 0, /* there is no journal */
    GGLD_EDIT_UNTOUCHED, /* the file is still the old one, whole */
    GGLD_EDIT_HALFWAY,   /* neither old nor new; can be finished */
    GGLD_EDIT_DONE,      /* the file is the new one, whole */
    GGLD_EDIT_SHIFTED,   /* the system went down while room was being made */
    GGLD_EDIT_STRANGE,   /* the journal is damaged, or of another file */
    GGLD_EDIT_REST       /* of a journal that was not whole yet: the file is the
                            old one, and may be edited all the same */
} ggld_edit_trace;

/* What an interrupted edit in place has left of the file of that name. Reads
 * only. On success *why, where it is not NULL and *out is neither CLEAN, has
 * the message that tells a person. GGLD_E_IO: it can't be told. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_edit_pending(const char *path, ggld_edit_trace *out,
                              ggld_error *why, ggld_error *err);
/* Finishes it (HALFWAY), undoes it (SHIFTED), or only removes the journal
 * (UNTOUCHED, DONE), or what there is of it (REST); *found, which may be NULL, is what there was. A journal
 * that does not fit the file is never applied: GGLD_E_CHECKSUM where it is
 * damaged, GGLD_E_CHANGED where the file is not the one that it is of. flags:
 * GGLD_EDIT_FORCE takes one that has the file's inode, size and bytes but the
 * number of another device, as after disks have changed places, and works on a
 * file that others have open. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_edit_recover(const char *path, uint32_t flags,
                              ggld_edit_trace *found, ggld_error *err);

#ifdef __cplusplus
}
#endif
#endif /* GGLD_EDIT_H */
