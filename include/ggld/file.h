/* SPDX-License-Identifier: MIT */
/* Opening a GGUF file, its key-values and the list of its tensors.
 *
 * A ggld_file is immutable once it is open: any number of threads may read it
 * without a lock. Key-values, tensors and strings are borrowed from it and
 * valid until its last ggld_close().
 *
 * The file is mapped, not read: opening touches the metadata's pages only.
 * Someone who truncates the file while it is mapped makes later reads through
 * the map fail with SIGBUS, as with any map. Where that must not happen, open
 * with GGLD_OPEN_COPY (private memory) or GGLD_OPEN_PREAD (read on demand, an
 * error instead of a signal), or install the guard (guard.h). Where the system
 * can't map a file (some network file systems; a large file on a 32-bit
 * processor) it is opened as with GGLD_OPEN_PREAD. */
#ifndef GGLD_FILE_H
#define GGLD_FILE_H

#include "error.h"
#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ggld_file ggld_file;
typedef struct ggld_kv ggld_kv;
typedef struct ggld_tensor ggld_tensor;

/* Where the library's own heap memory comes from. alloc returns memory aligned
 * for any type, or NULL; free is never given NULL. Called from the thread that
 * opens or closes. */
typedef struct ggld_allocator {
    void *(*alloc)(void *ctx, size_t size);
    void (*free)(void *ctx, void *ptr);
    void *ctx;
} ggld_allocator;

/* Where bytes come from. Every open goes through one of these: the library's
 * own (map, pread, memory) or the app's (an archive, a network, a fault). */
typedef struct ggld_source {
    size_t struct_size;  /* sizeof(ggld_source) */
    uint64_t size_bytes; /* of the GGUF; fixed while it is open */
    /* Reads up to n bytes at offset_bytes: bytes read (fewer than n is not
     * the end), 0 at the end, negative errno. Called from many threads. May be
     * NULL where there is a map. */
    int64_t (*pread)(void *ctx, void *dst, size_t n, uint64_t offset_bytes);
    const void *map; /* size_bytes readable bytes, or NULL: not mapped */
    /* Called once, by the last ggld_close(). May be NULL. */
    void (*release)(void *ctx);
    void *ctx;
} ggld_source;

/* Asked before the first use of bytes; any status but GGLD_OK makes the call
 * that asked fail with it and with the error that it set. Both checks are
 * called from many threads and may be NULL; err never is. */
typedef struct ggld_verifier {
    size_t struct_size; /* sizeof(ggld_verifier) */
    /* At open: the file's bytes from 0 to the data section. */
    ggld_status (*check_metadata)(void *ctx, const void *data, size_t size,
                                  ggld_error *err);
    /* Before tensor data is read: a range of the file (of a set, of the shard
     * that file then is). It is asked at every read, and remembers itself what
     * it has checked. */
    ggld_status (*check_range)(void *ctx, const ggld_file *file,
                               uint64_t offset_bytes, uint64_t size_bytes,
                               ggld_error *err);
    /* Called once, by the last ggld_close(). May be NULL. */
    void (*release)(void *ctx);
    void *ctx;
    /* At open of a set, in place of check_metadata: each shard in order, which
     * may be asked for its path and number, and for its bytes. NULL:
     * check_metadata is called, without being told which shard it is. */
    ggld_status (*check_shard)(void *ctx, const ggld_file *shard,
                               const void *data, size_t size, ggld_error *err);
} ggld_verifier;

/* Refuses what ggml's gguf_init_from_file refuses, so that a file that opens
 * is one that ggml takes as a container. */
#define GGLD_OPEN_STRICT (1u << 0)
/* Private memory instead of a map: the whole file is read at open. For files
 * in untrusted places, that others may change while they are open. */
#define GGLD_OPEN_COPY (1u << 1)
/* No map: metadata is read into private memory, tensor data by pread when it
 * is asked for. For network and FUSE mounts. */
#define GGLD_OPEN_PREAD (1u << 2)
/* Metadata only, no verdict on where tensor data lies: opens files whose data
 * is not whole yet, or is not there. Reads of data past the end fail. */
#define GGLD_OPEN_METADATA (1u << 3)
/* One shard of a set alone, as a file of its own: its siblings are not looked
 * for. */
#define GGLD_OPEN_SINGLE (1u << 4)

/* For cpu_disable: sets of instructions that must not be used. */
#define GGLD_CPU_AVX2 (1u << 0)
#define GGLD_CPU_NEON (1u << 1)

/* Zero means the default, everywhere. A reserved field that is not zero, or a
 * flag that is not known, is refused with GGLD_E_ABI. */
typedef struct ggld_open_options {
    size_t struct_size;              /* sizeof(ggld_open_options) */
    uint32_t flags;                  /* GGLD_OPEN_... */
    uint32_t cpu_disable;            /* GGLD_CPU_... */
    uint64_t max_kv;                 /* 0: as many as the file's size allows */
    uint64_t max_tensors;            /* likewise */
    uint64_t max_string_bytes;       /* of one key, name or text; likewise */
    const ggld_allocator *allocator; /* copied; NULL: malloc and free */
    const ggld_verifier *verifier;   /* copied; NULL: nothing is verified */
    uint64_t reserved[4];
} ggld_open_options;

static inline ggld_open_options ggld_open_options_init(void)
{
    ggld_open_options options = {
        sizeof(ggld_open_options), 0, 0, 0, 0, 0, NULL, NULL, { 0, 0, 0, 0 }
    };
    return options;
}

/* The five ways to open. options may be NULL. On success *out is the file,
 * counted once, to be given to ggld_close(). On failure *out is untouched and
 * nothing is kept.
 *
 * A model that is split into shards (its split.count is 2 or more) opens as one
 * file from the path of any of them: see "sets". The other ways know of no
 * siblings, and open the one shard.
 *
 * A path whose file has a lease on it, as while it is edited in place, is tried
 * again for two seconds; then it is GGLD_E_IO, EAGAIN.
 *
 * What the errors mean: GGLD_E_IO: the system (sys_errno). GGLD_E_MAGIC: it is
 * something else, which the message names (a Git LFS pointer, a web page,
 * safetensors, an older format, an empty file, a directory, a FIFO), with what
 * to do. Codes from 31 on: the file is broken; section, index and offset say
 * where. Any thread. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_open_path(ggld_file **out, const char *path,
                           const ggld_open_options *options, ggld_error *err);
/* The descriptor stays the caller's and may be closed at once. Its position is
 * neither used nor moved. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_open_fd(ggld_file **out, int fd,
                         const ggld_open_options *options, ggld_error *err);
/* A GGUF inside another file: size_bytes from offset_bytes on, which need not
 * be aligned. Offsets in errors and infos count from offset_bytes. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_open_range(ggld_file **out, int fd, uint64_t offset_bytes,
                            uint64_t size_bytes,
                            const ggld_open_options *options, ggld_error *err);
/* Not copied (unless GGLD_OPEN_COPY says so): data must stay as it is until
 * the last close. It needs no alignment. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_open_memory(ggld_file **out, const void *data, size_t size,
                             const ggld_open_options *options, ggld_error *err);
/* The struct is copied. On success its release is called at the last close, on
 * failure never: it is still the caller's. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_open_source(ggld_file **out, const ggld_source *source,
                             const ggld_open_options *options, ggld_error *err);

/* Counts one more holder and returns file. Any thread. */
GGLD_API ggld_file *ggld_file_ref(ggld_file *file);
/* Counts one holder less; the last one releases everything. file may be NULL.
 * Any thread. */
GGLD_API void ggld_close(ggld_file *file);

typedef struct ggld_file_info {
    size_t struct_size; /* set by the caller: sizeof(ggld_file_info) */
    uint32_t version;   /* 1, 2 or 3 */
    bool big_endian;    /* mapped bytes are in the file's order */
    uint32_t n_shards;  /* files that it is made of: 1, or a set's */
    uint64_t alignment_bytes;
    uint64_t metadata_bytes; /* from 0 to the data section, padding included */
    uint64_t data_bytes;     /* from there to the file's end */
    uint64_t n_elems;        /* of all tensors of known types */
    uint64_t file_bytes;     /* of the GGUF as it was opened */
    uint64_t heap_bytes;     /* that the open file holds */
    uint32_t shard;          /* of ggld_file_shard(): its number */
    bool verifies_data;      /* the verifier it was opened with has check_range */
    uint8_t reserved8[3];
    uint64_t reserved[1];
} ggld_file_info;

/* Fills the fields that the caller's struct_size covers. Of a set version,
 * big_endian and alignment_bytes are the first shard's, and bytes and elements
 * those of all shards together. Any thread. */
GGLD_API void ggld_file_get_info(const ggld_file *file, ggld_file_info *out);

/* Where the bytes come from, for who reads them past the library: with reads of
 * his own, or advice to the system. Such reads ask no verifier (see
 * ggld_tensor_verify). */
typedef struct ggld_backing {
    size_t struct_size;       /* set by the caller: sizeof(ggld_backing) */
    int fd;                   /* the file's, not to be closed; -1: none */
    uint64_t fd_offset_bytes; /* where in it the GGUF begins */
    const void *map;          /* file_bytes of it; NULL: not mapped */
    uint64_t reserved[2];
} ggld_backing;

/* fd is -1 and map NULL where bytes are in private memory (GGLD_OPEN_COPY), the
 * app's memory, or come from the app's own source; and of a set, whose shards
 * have one each (ggld_file_shard). Both are valid until the last close. Any
 * thread. */
GGLD_API void ggld_file_get_backing(const ggld_file *file, ggld_backing *out);

/* Copies size bytes of the file from offset_bytes on, metadata and padding too:
 * out of the map or the private copy where there is one, else as the source
 * reads them. Asks no verifier: it is there for verifiers. GGLD_E_TRUNCATED:
 * past the end, or the end has moved; GGLD_E_IO. dst is then undefined.
 * GGLD_E_UNSUPPORTED: of a set, whose shards have the bytes. Any thread. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_file_read_bytes(const ggld_file *file, uint64_t offset_bytes,
                                 void *dst, size_t size, ggld_error *err);

/* Is the file still what was opened? GGLD_OK, or GGLD_E_CHANGED, and the message
 * says what has become of it: truncated, grown, written to, removed or replaced
 * under its name, or its inode (names, owner, mode, times) changed. Told by size
 * and times of the descriptor, to the nanosecond; who writes through a map of
 * his own, or sets times back and has the right to, may go unseen. Of a set
 * each shard is looked at.
 *
 * GGLD_E_UNSUPPORTED: the bytes are the app's (memory, its own source). Of a
 * private copy (GGLD_OPEN_COPY) it speaks of the file that was copied.
 * GGLD_E_IO: the system. Any thread. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_file_changed(const ggld_file *file, ggld_error *err);

/* ---- sets ---- */

/* A model in several files, as llama.cpp splits it: NAME-00001-of-00003.gguf to
 * NAME-00003-of-00003.gguf in one folder. Each shard is a GGUF file, with
 * split.no (u16, from 0), split.count (u16) and split.tensors.count (i32, of
 * the set). ggld_open_path() of any of them, whose split.count is 2 or more,
 * finds the others by name and opens each with the same options; GGLD_OPEN_SINGLE
 * opens the one alone.
 *
 * What is open then is one file with the tensors of all shards, in the order of
 * shards, and the key-values of the first shard. Versions, byte orders and
 * alignments may differ between shards. max_kv and max_string_bytes are limits
 * of each shard, max_tensors of the set too.
 *
 * GGLD_E_IO: shards are missing (sys_errno is ENOENT; the message has their
 * names, as many as there is room for). GGLD_E_SHARD: names, split.no and
 * split.count don't fit one another, or there are not split.tensors.count
 * tensors. GGLD_E_DUPLICATE: two shards have a tensor of one name. Every error
 * about a shard has its number in ggld_error.shard and its name in the message;
 * offset is in its file, and index, where it comes from opening or checking, in
 * its own table. */

/* Shard number shard, from 0, as a file of its own: with its own path, size,
 * backing, bytes and key-values, and those tensors of the set that lie in it.
 * Of a file that is no set, shard 0 is the file. NULL past the end. It is
 * borrowed from file; ggld_file_ref() of it counts a holder of the set. Any
 * thread. */
GGLD_API const ggld_file *ggld_file_shard(const ggld_file *file,
                                          uint32_t shard);
/* The path that it was opened by, as it was given; of a shard, its own, in the
 * same folder. NULL where it was opened in another way. Any thread. */
GGLD_API const char *ggld_file_path(const ggld_file *file);

/* ---- findings ---- */

typedef enum ggld_severity {
    GGLD_NOTE,    /* worth knowing; every loader takes it */
    GGLD_WARNING, /* open takes it; strict, or ggml, may not */
    GGLD_ERROR    /* open refuses it */
} ggld_severity;
typedef void (*ggld_finding)(ggld_severity severity, const ggld_error *finding,
                             void *user);

/* Goes through the file's structure and calls finding for everything that is
 * to be said of it, in file order, whatever open would say. A finding's code,
 * section, index, offset and message are those that open would fail with, or
 * would in strict mode.
 *
 * GGLD_OK: it was gone through (findings may still be errors; what comes after
 * an error that can't be passed over is not looked at). GGLD_E_IO,
 * GGLD_E_NOMEM: it could not be. options as for open; GGLD_OPEN_STRICT makes
 * errors of the warnings that strict refuses.
 *
 * Metadata is read, padding, and the last 4096 bytes. Where those are zero,
 * holes are passed over and zeros that were written are read once, from the end
 * back to where they start, at most 1 MiB at a time, and dropped from the page
 * cache; of a file with an error, or longer than its tensors, the last 16 MiB
 * of data are read. Any thread. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_check_fd(int fd, const ggld_open_options *options,
                          ggld_finding finding, void *user, ggld_error *err);
/* The same of the file of that name; the name, too, may tell what became of a
 * broken one. Of a shard all of the set are gone through, one after the other,
 * and then whether they fit one another (unless GGLD_OPEN_SINGLE); each that is
 * missing is a finding. GGLD_E_IO where it can't be opened. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_check_path(const char *path, const ggld_open_options *options,
                            ggld_finding finding, void *user, ggld_error *err);

/* What an error, or a finding, guesses of how the file came to be so: the rest
 * of its message from where it says that the file is one of several parts,
 * passed through a text filter, ends in room that was never filled, or is a
 * download that stopped (a finding's only). It points into the error. NULL: nothing. Any thread. */
GGLD_API const char *ggld_error_hint(const ggld_error *error);

/* A quick look for the zeros that an interrupted download leaves where its room
 * was set aside before: with how many, at least, does the file end? It reads
 * the last 4096 bytes, and asks the file system for a hole there. 0: those are
 * not all zero, or no tensor's, or can't be read; and of a set, whose shards
 * are to be asked. From which byte on there are zeros ggld_check_path() tells.
 * Any thread. */
GGLD_API uint64_t ggld_file_zero_tail(const ggld_file *file);

/* ---- key-values ---- */

GGLD_API uint64_t ggld_kv_count(const ggld_file *file);
/* In file order; NULL past the end. */
GGLD_API const ggld_kv *ggld_kv_at(const ggld_file *file, uint64_t index);
/* By key; NULL where there is none. Of a key that is there twice, the first.
 * Lengths count: "a" does not find a key of "a", a NUL and more. */
GGLD_API const ggld_kv *ggld_kv_find(const ggld_file *file, const char *key);
GGLD_API const ggld_kv *ggld_kv_find_n(const ggld_file *file, const char *key,
                                       size_t len);
GGLD_API ggld_string ggld_kv_key(const ggld_kv *kv);
GGLD_API uint32_t ggld_kv_type(const ggld_kv *kv); /* ggld_value_type */

/* Widening: any stored number whose value *out holds exactly (get_f64 takes
 * every integer up to 2^53 either way, and f32). false, *out untouched, where
 * the stored type or value does not fit. get_bool takes bools only, and
 * get_string strings only. */
GGLD_API bool ggld_kv_get_u64(const ggld_kv *kv, uint64_t *out);
GGLD_API bool ggld_kv_get_i64(const ggld_kv *kv, int64_t *out);
GGLD_API bool ggld_kv_get_f64(const ggld_kv *kv, double *out);
GGLD_API bool ggld_kv_get_bool(const ggld_kv *kv, bool *out);
GGLD_API bool ggld_kv_get_string(const ggld_kv *kv, ggld_string *out);

/* Walks an array in order; the iterator is the caller's, borrows from the
 * file, and may be copied to remember a place. */
typedef struct ggld_array_iter {
    uint32_t elem_type; /* ggld_value_type */
    uint64_t n_elems;
    uint64_t next; /* index of the element that comes next */
    uint64_t opaque[4];
} ggld_array_iter;

/* false where the value is no array. */
GGLD_API bool ggld_kv_get_array(const ggld_kv *kv, ggld_array_iter *out);
/* The next element, and one step on; false, *out untouched and no step, at the
 * end or where the element type or value does not fit (the getters' rules). */
GGLD_API bool ggld_array_next_u64(ggld_array_iter *it, uint64_t *out);
GGLD_API bool ggld_array_next_i64(ggld_array_iter *it, int64_t *out);
GGLD_API bool ggld_array_next_f64(ggld_array_iter *it, double *out);
GGLD_API bool ggld_array_next_bool(ggld_array_iter *it, bool *out);
GGLD_API bool ggld_array_next_string(ggld_array_iter *it, ggld_string *out);
GGLD_API bool ggld_array_next_array(ggld_array_iter *it, ggld_array_iter *out);

/* Random access to a long array of strings, built once and kept by the caller:
 * 8 bytes an element. kv must be an array of strings (else GGLD_E_VALUE_TYPE)
 * and its file stay open. */
typedef struct ggld_string_index ggld_string_index;
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_string_index_new(ggld_string_index **out, const ggld_kv *kv,
                                  ggld_error *err);
GGLD_API uint64_t ggld_string_index_count(const ggld_string_index *index);
/* Empty past the end. */
GGLD_API ggld_string ggld_string_index_at(const ggld_string_index *index,
                                          uint64_t i);
GGLD_API void ggld_string_index_free(ggld_string_index *index);

/* A value as it is stored (what follows its type in the file; of an array:
 * element type, count, elements). Lengths in it are as wide as the file's
 * version has them, and numbers in the file's order. */
typedef struct ggld_raw_value {
    ggld_string bytes;
    uint32_t version;
    bool big_endian;
    uint64_t file_offset_bytes;
} ggld_raw_value;
GGLD_API ggld_raw_value ggld_kv_raw(const ggld_kv *kv);

/* ---- tensors ---- */

GGLD_API uint64_t ggld_tensor_count(const ggld_file *file);
/* In table order, of a set shard by shard; NULL past the end. */
GGLD_API const ggld_tensor *ggld_tensor_at(const ggld_file *file,
                                           uint64_t index);
/* By name; NULL where there is none. Lengths count, as for keys. */
GGLD_API const ggld_tensor *ggld_tensor_find(const ggld_file *file,
                                             const char *name);
GGLD_API const ggld_tensor *ggld_tensor_find_n(const ggld_file *file,
                                               const char *name, size_t len);

#ifdef __cplusplus
}
#endif
#endif /* GGLD_FILE_H */
