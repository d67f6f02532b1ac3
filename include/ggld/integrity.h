/* SPDX-License-Identifier: MIT */
/* Is this the file that its maker published, and is it still? Digests of a
 * model, manifests that hold them, and their check: as a job, or whenever a
 * view is read (libggld-uv).
 *
 * What a check means. Bytes are verified as they were read then. A mapped page
 * that is dropped from memory and read from the disk again later is not
 * checked again; where that matters, open with GGLD_OPEN_COPY, which verifies
 * and uses one private copy. Where bytes have no place of their own, verifying
 * and reading are two reads: by GGLD_OPEN_PREAD and GGLD_VIEW_PREAD, from an app's
 * source, and of a mapped file, whose chunks are verified by pread. Who can change
 * the file between the two is not found out. Digests prove what the manifest's own trust is
 * worth: sha256 under a signature or a pinned root stands against a forger;
 * xxh64 and xxh3 find damage only, and anybody can make a file that has a
 * given one; sha1 and uuid (which is made of it) no longer stand against a
 * forger. Nothing here is a test of what a model does. */
#ifndef GGLD_INTEGRITY_H
#define GGLD_INTEGRITY_H

#include "async.h"
#include "error.h"
#include "file.h"
#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- digests ---- */

/* Numbers are permanent; the order is the one in which lines are written. */
typedef enum ggld_algo {
    GGLD_ALGO_XXH64 = 1, /* seed 0 */
    GGLD_ALGO_XXH3 = 2,  /* 64 bits, no seed */
    GGLD_ALGO_SHA1 = 3,
    GGLD_ALGO_SHA256 = 4,
    GGLD_ALGO_UUID = 5 /* version 5: of the SHA-1 of the namespace
                          ef001206-dadc-5f6d-a15f-3359e577d4e5 and the bytes */
} ggld_algo;
#define GGLD_ALGO_BIT(algo) (1u << (algo))

#define GGLD_DIGEST_MAX      32
#define GGLD_DIGEST_TEXT_MAX 65 /* with its NUL */

typedef struct ggld_digest {
    uint32_t algo; /* ggld_algo; 0: there is none */
    uint32_t size; /* bytes that count; the rest is zero */
    uint8_t bytes[GGLD_DIGEST_MAX];
} ggld_digest;

/* "sha256" and so on; NULL for a number that is none. Static. Any thread. */
GGLD_API const char *ggld_algo_name(uint32_t algo);
/* false, *out untouched, where there is none of that name. Any thread. */
GGLD_API bool ggld_algo_from_name(const char *name, uint32_t *out);
/* Lower-case hex (of a uuid: 8-4-4-4-12), NUL-terminated. Any thread. */
GGLD_API void ggld_digest_text(const ggld_digest *digest,
                               char out[GGLD_DIGEST_TEXT_MAX]);

/* ---- manifests ---- */

/* What a digest is of. Bits, so that a hash can ask for several. */
typedef enum ggld_scope {
    GGLD_SCOPE_FILE = 1,     /* every byte */
    GGLD_SCOPE_METADATA = 2, /* from 0 to the data section */
    GGLD_SCOPE_TENSORS = 4,  /* the bytes of all tensors, in table order */
    GGLD_SCOPE_TENSOR = 8,   /* one tensor's bytes as stored, no padding */
    GGLD_SCOPE_CHUNKS = 16   /* fixed-size chunks from the data section to the
                                end of the file, as a tree with a root */
} ggld_scope;

typedef enum ggld_manifest_format {
    GGLD_MANIFEST_ANY = 0,       /* on reading: told from its first line */
    GGLD_MANIFEST_GGSUM = 1,     /* ggld's own, see ggld-ggsum(5) */
    GGLD_MANIFEST_LLAMA = 2,     /* what llama-gguf-hash prints and checks */
    GGLD_MANIFEST_SHA256SUM = 3, /* lines with a tag are read too:
                                    "SHA1 (FILE) = HEX" */
    GGLD_MANIFEST_DIGEST = 4,    /* one "sha256:HEX", as registries give; when
                                 read also HEX alone, with its newline */
    GGLD_MANIFEST_LFS = 5,       /* a Git LFS pointer, for the real file */
    /* The OpenSSF model-signing statement. Its files are named from the folder
     * that all are in by the names that they were hashed under, and its subject
     * is called as that folder is. */
    GGLD_MANIFEST_IN_TOTO = 6
} ggld_manifest_format;

/* "ggsum", "llama", "sha256sum", "digest", "lfs", "in-toto"; NULL for a number
 * that is none; static. And back: false where there is none. Any thread. */
GGLD_API const char *ggld_manifest_format_name(uint32_t format);
GGLD_API bool ggld_manifest_format_from_name(const char *name, uint32_t *out);

/* Digests with what they are of. Immutable once it is there: any number of
 * threads may use it. */
typedef struct ggld_manifest ggld_manifest;

/* Reads size bytes of text, which need not outlive the call; name stands in
 * messages ("MODEL.gguf.ggsum line 12: ...", or with the format behind it where
 * it does not end in that). Nothing is skipped: a line that is cut, unknown,
 * garbled or there twice is refused. The formats, how their lines end, how a
 * text that was cut is known, and which names are taken for a file's are in
 * ggld-manifests(5).
 *
 * GGLD_E_STRING: a line that is not as it must be; offset is the line's first
 * byte, index its number less one. GGLD_E_DUPLICATE: a line that says what
 * another one said. GGLD_E_TRUNCATED: the end is missing. GGLD_E_CHECKSUM: its
 * own digest does not fit. GGLD_E_MAGIC: in no format that is known.
 * GGLD_E_VERSION, GGLD_E_LIMIT, GGLD_E_UNSUPPORTED: as they say. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_manifest_parse(ggld_manifest **out, const char *name,
                                const void *text, size_t size, uint32_t format,
                                ggld_error *err);
/* The same of a file. GGLD_E_IO: it can't be read. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_manifest_read(ggld_manifest **out, const char *path,
                               uint32_t format, ggld_error *err);
/* manifest may be NULL. */
GGLD_API void ggld_manifest_free(ggld_manifest *manifest);

/* *text is to be given to free(); it has a NUL behind its *size bytes.
 * GGLD_E_INVALID: it holds nothing that this format can say, or more files than
 * it can speak of. GGLD_E_STRING: a name that the format can't write. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_manifest_write(const ggld_manifest *manifest, uint32_t format,
                                char **text, size_t *size, ggld_error *err);
/* Takes the next part of a text; false: it can't. */
typedef bool (*ggld_manifest_sink)(void *user, const char *text, size_t size);
/* The same part by part, in memory that does not grow with it; the last part has
 * a newline at its end. GGLD_E_CANCELLED: sink has refused one (or there was no
 * memory). Of what was refused for other reasons sink may have got a part. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_manifest_write_to(const ggld_manifest *manifest,
                                   uint32_t format, ggld_manifest_sink sink,
                                   void *user, ggld_error *err);
/* Adds what the other one has, so that one manifest speaks of many files; each
 * keeps its chunks and their root, by which a set is verified on access. Of a
 * manifest of many ggld_manifest_info tells of no chunks and no root: compare a
 * known root with that of each before it is added. Lines are then told apart by
 * path, those of a ggsum too. On failure (GGLD_E_NOMEM, GGLD_E_DUPLICATE) *into
 * is as it was. Costs in proportion to what is added. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_manifest_append(ggld_manifest *into, const ggld_manifest *from,
                                 ggld_error *err);

typedef struct ggld_manifest_entry {
    size_t struct_size; /* set by the caller: sizeof(ggld_manifest_entry) */
    uint32_t scope;     /* ggld_scope; 0: of a llama line, whose name may be a
                           file's, or a file's and a tensor's */
    bool has_shape;     /* type to dims are known */
    ggld_string file;   /* as the manifest has it; empty: it names none */
    ggld_string name;   /* of the tensor */
    uint32_t type;
    uint32_t n_dims;
    uint64_t dims[4]; /* 1 past n_dims */
    uint64_t line;    /* in the text, from 1; 0: it was never text */
    ggld_digest digest;
    uint64_t reserved[2];
} ggld_manifest_entry;

GGLD_API uint64_t ggld_manifest_count(const ggld_manifest *manifest);
/* false, *out untouched, past the end. Strings live as long as the manifest. */
GGLD_API bool ggld_manifest_at(const ggld_manifest *manifest, uint64_t index,
                               ggld_manifest_entry *out);

typedef struct ggld_manifest_info {
    size_t struct_size;  /* set by the caller: sizeof(ggld_manifest_info) */
    uint32_t format;     /* that it was read from; 0: it was never text */
    uint32_t chunk_algo; /* 0: it has no chunks */
    uint64_t n_files;
    uint64_t n_chunks;
    uint64_t chunk_bytes;
    ggld_digest root;   /* of chunks and metadata: what may be pinned */
    uint32_t forgeable; /* ggld_scope bits of what it has digests of, but none
                           that stands against a forger (sha256) */
    uint32_t reserved32;
    uint64_t reserved[1];
} ggld_manifest_info;
GGLD_API void ggld_manifest_get_info(const ggld_manifest *manifest,
                                     ggld_manifest_info *out);

/* ---- hash: making a manifest of a file ---- */

/* Pages that were not in the page cache before are not left there. */
#define GGLD_HASH_KEEP_CACHE (1u << 0)

typedef struct ggld_hash_options {
    size_t struct_size;   /* sizeof(ggld_hash_options) */
    uint32_t flags;       /* GGLD_HASH_... */
    uint32_t algos;       /* GGLD_ALGO_BIT()s; 0: sha256. A uuid is of
                            GGLD_SCOPE_TENSORS only */
    uint32_t scopes;      /* ggld_scope bits; 0: metadata, tensor, chunks */
    uint32_t chunk_algo;  /* 0: xxh3, for speed; sha256 for trust */
    uint64_t chunk_bytes; /* 0: chosen (64 KiB and up); a power of two from 4
                             KiB to 1 GiB */
    const char *name;     /* of the file, for the manifest; copied. NULL: "" */
    ggld_job_progress progress; /* on the loop's thread; may be NULL */
    uint64_t reserved[4];
} ggld_hash_options;

static inline ggld_hash_options ggld_hash_options_init(void)
{
    ggld_hash_options options = {
        sizeof(ggld_hash_options), 0, 0, 0, 0, 0, NULL, NULL, { 0, 0, 0, 0 }
    };
    return options;
}

/* manifest is NULL unless result->code is GGLD_OK; then it is the app's. */
typedef void (*ggld_hash_done)(ggld_job *job, ggld_manifest *manifest,
                               const ggld_error *result, void *user);

/* Every digest asked for in one pass over the data, on libuv's pool. Tensors
 * and chunks are worked on in parallel; digests of the whole file and of the
 * tensors together are one long chain each, so that asking for them bounds the
 * speed to one core's. (Tensors together, in a file whose table is in another
 * order than its data, take a pass of their own.) Bytes are read, not mapped: a
 * file that shrinks is GGLD_E_TRUNCATED. The verifier is not asked. Memory: some
 * 7 MiB (less than 64 MiB on any machine), and of each tensor about 150 bytes, of
 * each chunk the 8 (xxh3) or 32 (sha256) of its digest. Verifying takes the
 * manifest's text besides, and twice as much of each tensor.
 *
 * Of a set the manifest speaks of each shard as a file: under the shard's own
 * name, in the folder that name has. It has chunks for each, which no format can
 * write; to have them in files, hash each ggld_file_shard() by itself. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_hash_start(ggld_job **out, struct uv_loop_s *loop,
                            ggld_file *file, const ggld_hash_options *options,
                            ggld_hash_done done, void *user, ggld_error *err);

/* The same of a file that need be no model: its size, and digests of all of it.
 * Of the options scopes is 0 or GGLD_SCOPE_FILE, flags and what is said of chunks
 * 0, and a uuid is none of algos. fd, a regular file, is read with pread and must
 * stay open until done. On one thread of the pool, in bounded memory. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_hash_whole_start(ggld_job **out, struct uv_loop_s *loop,
                                  int fd, const ggld_hash_options *options,
                                  ggld_hash_done done, void *user,
                                  ggld_error *err);

/* What the manifest says of the file at path (as in ggld_verify_options), as
 * ggld_scope bits: what a good verification will have covered. 0: nothing, or
 * of several that it could be, or no memory. Any thread. */
GGLD_API uint32_t ggld_manifest_scopes(const ggld_manifest *manifest,
                                       const char *path);

/* ---- verify: comparing a file with a manifest ---- */

typedef enum ggld_verdict {
    GGLD_VERDICT_SAME = 0,
    GGLD_VERDICT_DIFFERS = 1,
    GGLD_VERDICT_MISSING = 2,  /* in the manifest, not in the file */
    GGLD_VERDICT_EXTRA = 3,    /* in the file, not in the manifest */
    GGLD_VERDICT_RENAMED = 4,  /* a missing and an extra one with one digest */
    GGLD_VERDICT_RETYPED = 5,  /* it has another type now */
    GGLD_VERDICT_RESHAPED = 6, /* the same type, other dimensions */
    GGLD_VERDICT_RESIZED = 7,  /* the file, or its metadata */
    GGLD_VERDICT_UNCOVERED = 8 /* a note, no failure: what the manifest has
                                  nothing to say of */
} ggld_verdict;

/* "same", "differs", "missing" and so on. Static. */
GGLD_API const char *ggld_verdict_name(uint32_t verdict);

typedef struct ggld_verify_item {
    size_t struct_size; /* set by the caller: sizeof(ggld_verify_item) */
    uint32_t verdict;
    uint32_t scope;
    ggld_string name;     /* of the tensor, in the manifest where it is there */
    ggld_string new_name; /* RENAMED: in the file */
    ggld_digest expected; /* algo 0: there is none */
    ggld_digest actual;
    /* The first chunk that differs, as a range of the file, cut to the tensor
     * for a tensor's item. bad_bytes 0: not known. */
    uint64_t bad_offset_bytes;
    uint64_t bad_bytes;
    uint32_t shard; /* of a set: the one that it is about. Otherwise 0 */
    uint32_t reserved32;
    uint64_t reserved[1];
    char message[GGLD_MESSAGE_MAX]; /* one line; "" for SAME */
} ggld_verify_item;

typedef struct ggld_verify_report ggld_verify_report;
/* Items in the order of the manifest, SAME ones too (unless
 * GGLD_VERIFY_NO_SAME); then what is only in the
 * file. A tensor may have several: of each of its digests, and of its shape. Of
 * what is wrong the first 10000 are kept, and the rest counted. Tensors without
 * bytes all have one digest: a renamed one is MISSING, and EXTRA. */
GGLD_API uint64_t ggld_verify_report_count(const ggld_verify_report *report);
GGLD_API bool ggld_verify_report_at(const ggld_verify_report *report,
                                    uint64_t index, ggld_verify_item *out);
/* Did something get compared, and was everything as the manifest says? A
 * manifest that says nothing of the file is a failure. */
GGLD_API bool ggld_verify_report_good(const ggld_verify_report *report);
/* Good, and nothing UNCOVERED: of the whole file, or of the metadata and of the
 * tensors (together, each, or by chunks) there was a digest. What `ggld verify
 * --complete` wants. */
GGLD_API bool ggld_verify_report_complete(const ggld_verify_report *report);

typedef struct ggld_verify_info {
    size_t struct_size;  /* set by the caller: sizeof(ggld_verify_info) */
    uint64_t n_compared; /* digests */
    uint64_t n_bad;      /* items that are neither SAME nor UNCOVERED */
    uint64_t n_left_out; /* of those, that are not among the items */
    uint64_t n_by_verdict[16];
    uint64_t reserved[4];
} ggld_verify_info;
GGLD_API void ggld_verify_report_get_info(const ggld_verify_report *report,
                                          ggld_verify_info *out);
/* One line: what was covered, and what was not, or the first thing that is
 * wrong. */
GGLD_API const char *
ggld_verify_report_summary(const ggld_verify_report *report);
GGLD_API void ggld_verify_report_free(ggld_verify_report *report);

/* Items that are SAME are counted and not kept: of a million tensors they are
 * most of a report's memory. */
#define GGLD_VERIFY_NO_SAME (1u << 1)

typedef struct ggld_verify_options {
    size_t struct_size; /* sizeof(ggld_verify_options) */
    uint32_t flags;     /* GGLD_HASH_KEEP_CACHE, GGLD_VERIFY_NO_SAME */
    const char *path;   /* of the file: which lines are about it, by full path
                             or else by base name; copied. NULL: all are */
    ggld_job_progress progress;
    uint64_t reserved[4];
} ggld_verify_options;

static inline ggld_verify_options ggld_verify_options_init(void)
{
    ggld_verify_options options = {
        sizeof(ggld_verify_options), 0, NULL, NULL, { 0, 0, 0, 0 }
    };
    return options;
}

/* report is NULL unless result->code is GGLD_OK, which says only that the file
 * could be read and compared; then it is the app's. */
typedef void (*ggld_verify_done)(ggld_job *job, ggld_verify_report *report,
                                 const ggld_error *result, void *user);

/* Everything that the manifest says of the file, as a hash job. The manifest
 * must stay until done; the report does not need it.
 *
 * GGLD_E_INVALID: the manifest says nothing of the file, or is of another model:
 * it has tensors, of which none is in the file, and not as many.
 *
 * Of a set each shard is compared with what the manifest says of it, by the
 * shard's own path, in one report. GGLD_E_INVALID: it says nothing of a shard,
 * or was read from a ggsum, which speaks of one file: compare each
 * ggld_file_shard() with its own, or append them to a manifest of all. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_verify_start(ggld_job **out, struct uv_loop_s *loop,
                              ggld_file *file, const ggld_manifest *manifest,
                              const ggld_verify_options *options,
                              ggld_verify_done done, void *user,
                              ggld_error *err);

/* For a file that does not open as a model, being cut or damaged: what the
 * manifest says of its size, of all of its bytes and, where it tells how long
 * they were, of those of its metadata. The rest is one UNCOVERED item. A report
 * may be good: then the file is what its maker published, and that is no model.
 * fd, a regular file, is read with pread and must stay open until done, as must
 * the manifest. No flags. On one thread of the pool, in bounded memory. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_verify_whole_start(ggld_job **out, struct uv_loop_s *loop,
                                    int fd, const ggld_manifest *manifest,
                                    const ggld_verify_options *options,
                                    ggld_verify_done done, void *user,
                                    ggld_error *err);

/* ---- on load: a verifier for ggld_open_options ---- */

typedef enum ggld_verify_mode {
    /* Metadata at open; of data the chunks that a read touches, before it gets
     * a single value, once each. Of a manifest without chunks: tensors. */
    GGLD_VERIFY_ON_ACCESS = 0,
    GGLD_VERIFY_METADATA = 1, /* metadata only, at open */
    /* Metadata at open; all of the data before the first read gets a value, in
     * threads of the verifier's own that end with it. */
    GGLD_VERIFY_FULL = 2
} ggld_verify_mode;

typedef struct ggld_verifier_options {
    size_t struct_size; /* sizeof(ggld_verifier_options) */
    uint32_t mode;      /* ggld_verify_mode */
    uint32_t n_threads; /* FULL: 0: one for each processor */
    const char *path;   /* as in ggld_verify_options */
    /* The root that the manifest must have, known from elsewhere. NULL: whatever
     * it has. Metadata and chunks then need no other trust, as far as their
     * digests stand against a forger (ggld_manifest_info.forgeable): those of
     * chunks are xxh3 unless asked for otherwise, and that finds damage only. The
     * root is of nothing else that the manifest says: not of the digests of
     * tensors, which FULL compares too. */
    const ggld_digest *root;
    uint64_t flags; /* GGLD_VERIFIER_... */
    uint64_t reserved[3];
} ggld_verifier_options;

/* A manifest by which a forger could pass, for all that the mode checks, is
 * refused: GGLD_E_UNSUPPORTED. */
#define GGLD_VERIFIER_UNFORGEABLE (UINT64_C(1) << 0)

static inline ggld_verifier_options ggld_verifier_options_init(void)
{
    ggld_verifier_options options = {
        sizeof(ggld_verifier_options), 0, 0, NULL, NULL, 0, { 0, 0, 0 }
    };
    return options;
}

/* Fills *out, for one open: ggld_open_options.verifier. The manifest may be
 * freed at once. The open file releases it; where the open failed, or there
 * was none, call out->release(out->ctx).
 *
 * It may be given to the open of a set, too: each shard is then held against
 * what the manifest says of it, by the shard's own path. The manifest must speak
 * of several files (ggld_hash_start() of the set, or ggld_manifest_append()).
 *
 * What it finds wrong is GGLD_E_CHECKSUM, from open or from the read, with the
 * tensor, the range in the file, and both digests. A failed range is read and
 * checked anew when it is asked for again.
 *
 * GGLD_E_INVALID: the manifest says nothing of the file, or of what the mode
 * is to check. GGLD_E_CHECKSUM: its root is not the one that is pinned.
 * GGLD_E_UNSUPPORTED: on access, of a manifest with digests of the whole file
 * only; verify such a file in full. And at the open of a set, where a root is
 * pinned, which is of one file. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_verifier_from_manifest(ggld_verifier *out,
                                        const ggld_manifest *manifest,
                                        const ggld_verifier_options *options,
                                        ggld_error *err);

/* ---- verify once ---- */

/* Remembers that a file was verified, so that the next start need not do it
 * again. Off unless asked for. One small file for each in a folder, put there
 * by rename: any number of processes may use it at once.
 *
 * A record is found by device, inode, size, the times of the last change of
 * content and of inode in nanoseconds, the digest of the metadata, and what it
 * was verified against: the manifest's text and, where that may speak of several
 * files, the path by which it has lines for this one. It holds as long as nobody changes the file by means
 * that leave those as they are: damage on the disk below the file system goes
 * unseen, and whoever can write the cache, or set the clock, can make it say
 * anything. It finds replaced and rewritten files; it is no defence against an
 * attacker on the same account. Whatever is doubtful is a miss: times that are
 * so fresh that a change might hide behind them, a folder or record that
 * others may write, a record that is not exactly as expected. A look-up reads the
 * metadata once, by xxh3: it costs the more the more there are of them, about 0.05
 * ms and 0.1 ms for each MB. */
typedef struct ggld_verify_cache ggld_verify_cache;

/* folder NULL: "ggld/verified" in $XDG_CACHE_HOME, or in ~/.cache. Nothing is
 * touched yet. GGLD_E_INVALID: neither is set. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_verify_cache_new(ggld_verify_cache **out, const char *folder,
                                  ggld_error *err);
GGLD_API void ggld_verify_cache_free(ggld_verify_cache *cache);

/* Who a file is at one moment: take one before it is opened and verified, of
 * the descriptor that is opened, and give it to the calls below. */
typedef struct ggld_file_identity {
    uint64_t opaque[8];
} ggld_file_identity;
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_file_identity_of_fd(ggld_file_identity *out, int fd,
                                     ggld_error *err);

/* Are they of one file that was not changed between? */
GGLD_API bool ggld_file_identity_same(const ggld_file_identity *a,
                                      const ggld_file_identity *b);

/* Was this file verified against this manifest, and is it still the same? path:
 * that of ggld_verify_options or ggld_verifier_options, by which it was. */
GGLD_API bool ggld_verify_cache_has(const ggld_verify_cache *cache,
                                    const ggld_file_identity *identity,
                                    const ggld_file *file,
                                    const ggld_manifest *manifest,
                                    const char *path);
/* Records it, after a verification that found everything good. *stored (may be
 * NULL) is false where that would be doubtful. fd: the file's, to see that it
 * is still the one that identity was taken of. GGLD_E_IO: the folder can't be
 * written; nothing is lost but time. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_verify_cache_put(const ggld_verify_cache *cache,
                                  const ggld_file_identity *identity, int fd,
                                  const ggld_file *file,
                                  const ggld_manifest *manifest,
                                  const char *path, bool *stored,
                                  ggld_error *err);

/* ---- open, verified ---- */

/* ggld_open_path() with a verifier of the manifest, and the cache where one is
 * given (may be NULL). Mode FULL verifies here, not at the first read, and is
 * then recorded; a file that is found in the cache is not verified again but
 * for its metadata. Of a set each shard has a record, and the manifest must be
 * one that was text. options may be NULL; its verifier must be. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_open_verified(ggld_file **out, const char *path,
                               const ggld_manifest *manifest,
                               const ggld_verifier_options *verifier,
                               const ggld_verify_cache *cache,
                               const ggld_open_options *options,
                               ggld_error *err);

/* ---- signatures: Ed25519, detached, of a manifest's text ---- */

#define GGLD_SIGNATURE_BYTES 64

/* key_pem: a PEM file's text, PKCS #8, without a passphrase. The signature is
 * the raw 64 bytes, as `openssl pkeyutl -sign -rawin` makes them.
 * GGLD_E_INVALID: it is no such key; the message says what it is. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_sign(const void *text, size_t size, const char *key_pem,
                      uint8_t signature[GGLD_SIGNATURE_BYTES], ggld_error *err);
/* GGLD_E_CHECKSUM: it is not this key's signature of this text.
 * GGLD_E_INVALID: as above, of the public key. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_sign_check(const void *text, size_t size,
                            const char *public_key_pem,
                            const uint8_t signature[GGLD_SIGNATURE_BYTES],
                            ggld_error *err);

#ifdef __cplusplus
}
#endif
#endif /* GGLD_INTEGRITY_H */
