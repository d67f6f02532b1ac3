/* SPDX-License-Identifier: MIT */
/* Writing a GGUF file: version 3, little-endian where nothing else is asked
 * for.
 *
 * Key-values are set and tensors declared first, so that the whole layout is
 * known; ggld_writer_begin() writes the metadata; data comes in any chunks, in
 * table order; ggld_writer_finish() makes the file appear under its name. Until
 * then an old file of that name is as it was, and afterwards the new one is
 * whole: a temporary file in the same folder is written, synced, renamed, and
 * the folder synced. Any failure, and free before finish, leaves nothing.
 *
 * A writer is one thread's at a time. After a failed set or declare the writer
 * is as it was before the call; after a failed put, begin or finish it can
 * only be freed. */
#ifndef GGLD_WRITE_H
#define GGLD_WRITE_H

#include "error.h"
#include "file.h"
#include "progress.h"
#include "tensor.h"
#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ggld_writer ggld_writer;

/* No padding behind the last tensor (or, without tensors, behind the
 * metadata), as some writers leave it. */
#define GGLD_WRITE_UNPADDED_END (1u << 0)
/* Long runs given to ggld_writer_put_zeros() take no room on the disk. Without
 * this flag begin takes the whole file's room, where the file system can do
 * that, so that a full disk shows there and not hours later. */
#define GGLD_WRITE_SPARSE (1u << 1)
/* Metadata and data in big-endian order, for machines that have it. ggml takes
 * such files only there. */
#define GGLD_WRITE_BIG_ENDIAN (1u << 2)

typedef struct ggld_writer_options {
    size_t struct_size;       /* sizeof(ggld_writer_options) */
    uint32_t flags;           /* GGLD_WRITE_... */
    uint32_t alignment_bytes; /* 0: 32; else a power of two up to 1 MiB */
    /* 0; up to 1 GiB: room for later edits of the metadata, as a string of
     * that many spaces under the key ggld.padding, in the place where the
     * caller sets it, or else last. */
    uint64_t reserve_bytes;
    const ggld_allocator *allocator; /* copied; NULL: malloc and free */
    /* Of the bytes of tensors that are copied (ggld_writer_copy_tensor), from
     * inside begin and the puts. NULL: none. */
    ggld_progress progress;
    void *progress_user;
    uint64_t reserved[4];
} ggld_writer_options;

static inline ggld_writer_options ggld_writer_options_init(void)
{
    ggld_writer_options options = {
        sizeof(ggld_writer_options), 0, 0, 0, NULL, NULL, NULL, { 0, 0, 0, 0 }
    };
    return options;
}

/* options may be NULL. An alignment other than 32 also becomes the key
 * general.alignment, in the place where the caller sets it, or else last. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_writer_new(ggld_writer **out,
                            const ggld_writer_options *options,
                            ggld_error *err);
/* Before finish: removes what was written. w may be NULL. */
GGLD_API void ggld_writer_free(ggld_writer *w);

/* Has that key been set, or taken over? No memory, no error. */
GGLD_API bool ggld_writer_has(const ggld_writer *w, const char *key);

/* ---- key-values: in the order of the calls; a key set again keeps its place
 * and takes the new type and value. Keys are UTF-8, 1 to 65535 bytes. Data is
 * copied. general.alignment must be a u32 that fits the options. ---- */

GGLD_API GGLD_MUST_CHECK
ggld_status ggld_writer_set_u8(ggld_writer *w, const char *key, uint8_t value,
                               ggld_error *err);
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_writer_set_i8(ggld_writer *w, const char *key, int8_t value,
                               ggld_error *err);
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_writer_set_u16(ggld_writer *w, const char *key, uint16_t value,
                                ggld_error *err);
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_writer_set_i16(ggld_writer *w, const char *key, int16_t value,
                                ggld_error *err);
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_writer_set_u32(ggld_writer *w, const char *key, uint32_t value,
                                ggld_error *err);
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_writer_set_i32(ggld_writer *w, const char *key, int32_t value,
                                ggld_error *err);
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_writer_set_u64(ggld_writer *w, const char *key, uint64_t value,
                                ggld_error *err);
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_writer_set_i64(ggld_writer *w, const char *key, int64_t value,
                                ggld_error *err);
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_writer_set_f32(ggld_writer *w, const char *key, float value,
                                ggld_error *err);
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_writer_set_f64(ggld_writer *w, const char *key, double value,
                                ggld_error *err);
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_writer_set_bool(ggld_writer *w, const char *key, bool value,
                                 ggld_error *err);
/* len bytes of UTF-8; NULs are allowed. (Text that is not UTF-8 can only be
 * taken over from a file.) */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_writer_set_string(ggld_writer *w, const char *key,
                                   const char *data, size_t len,
                                   ggld_error *err);
/* n_elems numbers in this machine's order, of elem_type u8 to f64 or bool (one
 * byte each, 0 or 1). data may be NULL where n_elems is 0; then elem_type may
 * be string too. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_writer_set_array(ggld_writer *w, const char *key,
                                  uint32_t elem_type, const void *data,
                                  uint64_t n_elems, ggld_error *err);
/* An array of strings, each as set_string takes it. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_writer_set_strings(ggld_writer *w, const char *key,
                                    const ggld_string *strings,
                                    uint64_t n_strings, ggld_error *err);
/* Unchanged, whatever its type: nested arrays, odd bools, text that is not
 * UTF-8, an empty key. From a version 1 or big-endian file lengths and numbers
 * are brought to version 3's form. general.alignment is taken over only where
 * it is the writer's own, otherwise refused. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_writer_copy_kv(ggld_writer *w, const ggld_kv *kv,
                                ggld_error *err);

/* ---- tensors ---- */

/* name: UTF-8, 1 to 63 bytes (what ggml's buffer holds), not there yet. n_dims
 * 0 to 4; dims[0] a multiple of the type's block. Data follows begin. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_writer_declare_tensor(ggld_writer *w, const char *name,
                                       size_t name_len, uint32_t type,
                                       const uint64_t *dims, uint32_t n_dims,
                                       ggld_error *err);
/* Declares a tensor of an open file, whatever its name's length and its type;
 * begin and the puts then copy its stored extent, brought to the file's order.
 * Its file must stay open until finish or free. No data is to be put for it.
 * Where the system can (copy_file_range), bytes that need no change go from
 * file to file without passing through this process, and neighbours in one
 * piece, so that a file system that can share blocks may do so.
 * GGLD_E_UNSUPPORTED: an unknown type in a file of the other order. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_writer_copy_tensor(ggld_writer *w, const ggld_tensor *tensor,
                                    ggld_error *err);

/* ---- output ---- */

/* Folders on the way to path are made (and removed again on failure). A path
 * that is a symbolic link is followed: its target is replaced. GGLD_E_INVALID:
 * path is a folder, or something else that is no regular file. Mode of the new
 * file, and owner as far as this process may set it: the old one's; or, where
 * there is none, 0666 less the umask.
 *
 * GGLD_E_IO: the system (sys_errno). Past a limit of file size (RLIMIT_FSIZE)
 * the system also sends SIGXFSZ, which ends a process that does not ignore
 * it. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_writer_begin(ggld_writer *w, const char *path,
                              ggld_error *err);
/* Stored bytes of the current tensor, in the order of the file that is written;
 * may end one and go on in the next. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_writer_put_bytes(ggld_writer *w, const void *data, size_t size,
                                  ggld_error *err);
/* The same for size_bytes zeros. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_writer_put_zeros(ggld_writer *w, uint64_t size_bytes,
                                  ggld_error *err);
/* Values of the current tensor, quantised to its type; any count up to what is
 * left of it, a block may be finished by a later call. NaN, infinity, and
 * values that the type can't hold are refused: GGLD_E_VALUE, index the tensor,
 * offset the element. GGLD_E_UNSUPPORTED: no quantiser for the type. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_writer_put_f32(ggld_writer *w, const float *src,
                                uint64_t n_elems, ggld_error *err);
/* Everything but the name: what is left is written and the temporary file
 * synced, so that it can be looked at (ggld_writer_reopen), or others be
 * written, before finish makes it appear. Afterwards only reopen, finish and
 * free are left to be called. GGLD_E_INVALID: data of a tensor is missing; the
 * message names it and both numbers. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_writer_seal(ggld_writer *w, ggld_error *err);
/* Opens what was sealed, as ggld_open_fd does; it stays open whatever becomes
 * of the writer. options may be NULL. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_writer_reopen(const ggld_writer *w, ggld_file **out,
                               const ggld_open_options *options,
                               ggld_error *err);
/* Seals, where that has not been done, and gives the file its name. On
 * success the file is there and synced; free the writer. GGLD_E_IO
 * from the sync of the folder, the last step, is the one failure after which
 * the new file is there: whole, but it may be the old one again should the
 * system go down. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_writer_finish(ggld_writer *w, ggld_error *err);

/* A process that is killed leaves the temporary file that it was writing, as
 * path.tmp. and 16 hexadecimal digits. Begin, and whatever else here makes a
 * file of that path, removes such leftovers without a word; this does it
 * alone, for who wants to tell of it. Only regular files of this user's, or of
 * the owner of the file that is at path, which no process that lives has
 * locked. Where the file system has no locks, or is a network's (NFS, SMB,
 * FUSE, 9P), or the file's name has more than 234 bytes, all stay. removed is
 * called for each, with its name in the folder; it may be NULL. */
typedef void (*ggld_leftover_removed)(const char *name, uint64_t size_bytes,
                                      void *user);
GGLD_API void ggld_remove_leftovers(const char *path,
                                    ggld_leftover_removed removed, void *user);

#ifdef __cplusplus
}
#endif
#endif /* GGLD_WRITE_H */
