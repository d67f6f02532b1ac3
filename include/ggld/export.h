/* SPDX-License-Identifier: MIT */
/* Models from one format or tensor type to another (libggld-uv): GGUF and
 * safetensors in, GGUF or safetensors out. Values are read, converted and
 * written in chunks on all cores. Memory: 64 MiB at most for chunks, what
 * metadata takes, and some 300 bytes and twice its name for each tensor (550 for
 * each where a set is written). */
#ifndef GGLD_EXPORT_H
#define GGLD_EXPORT_H

#include "error.h"
#include "file.h"
#include "progress.h"
#include "tensor.h"
#include "types.h"
#include "write.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- where a model comes from ---- */

/* An open model of any format. Immutable once it is open: any number of
 * exports, on any threads, may use it at one time. */
typedef struct ggld_export_source ggld_export_source;

/* One path: a GGUF file, a safetensors file, or the index of safetensors
 * shards (model.safetensors.index.json), which lie beside it. Several paths:
 * safetensors files that are one model together. Formats are told by names and
 * first bytes. Headers are read and judged, tensor data is not touched. Tensors
 * come in the order of their data; of several files, in the order of paths, or
 * of the shards' names.
 *
 * A safetensors file must be whole and exactly filled: data that overlaps, lies
 * outside, leaves holes, or is not of the size of type and shape is refused,
 * and so are names and keys that are there twice, more than 4 dimensions, a
 * header of more than 100 MB, one shard alone, and an index that does not agree
 * with its shards (GGLD_E_SHARD).
 *
 * Errors: those of ggld_open_path(); section GGLD_IN_HEADER or
 * GGLD_IN_TENSOR_INFO says where. Of several files, the message names the one
 * and shard is its number. *out is to be given to
 * ggld_export_source_close(). */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_export_source_open(ggld_export_source **out,
                                    const char *const *paths, size_t n_paths,
                                    ggld_error *err);
/* Of a GGUF file that is open, of which the source becomes a holder. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_export_source_of_file(ggld_export_source **out,
                                       ggld_file *file, ggld_error *err);
/* source may be NULL. No export may be using it. */
GGLD_API void ggld_export_source_close(ggld_export_source *source);

typedef struct ggld_export_source_info {
    size_t struct_size; /* set by the caller */
    const char *format; /* "gguf", "safetensors", "safetensors index" */
    uint32_t n_files;
    uint32_t reserved32;
    uint64_t file_bytes; /* of all files that hold tensors */
    uint64_t n_tensors;
    uint64_t n_elems;
    uint64_t reserved[2];
} ggld_export_source_info;

/* Fills the fields that the caller's struct_size covers. */
GGLD_API void ggld_export_source_get_info(const ggld_export_source *source,
                                          ggld_export_source_info *out);

/* Is that the name of one of its files, by whatever links? Any thread. */
GGLD_API bool ggld_export_source_has(const ggld_export_source *source,
                                     const char *path);

/* ---- what is made of it ---- */

/* Tensors of one dimension become F16, not F32. GGUF output only. */
#define GGLD_EXPORT_PURE (1u << 0)
/* NaN and infinities are let through into float tensors. */
#define GGLD_EXPORT_ALLOW_NONFINITE (1u << 1)
/* Shards that are there under the names of new ones are replaced. */
#define GGLD_EXPORT_REPLACE_SHARDS (1u << 2)
/* Floats keep the type that they have in the source: type is for what
 * safetensors has no type for (quantised tensors), or what GGUF has none for
 * (floats of 8 bits). Safetensors output only; ignored with GGUF output. */
#define GGLD_EXPORT_KEEP_TYPES (1u << 3)

typedef enum ggld_export_format {
    GGLD_EXPORT_BY_NAME = 0, /* safetensors where the path ends so, else GGUF */
    GGLD_EXPORT_GGUF = 1,
    GGLD_EXPORT_SAFETENSORS = 2
} ggld_export_format;

/* Tensors whose new name fits the pattern (fnmatch: *, ?, [...]) take this
 * type. GGLD_E_INVALID where no tensor's does, GGLD_E_SHAPE where the rows of
 * one are no whole blocks. */
typedef struct ggld_export_keep {
    const char *glob;
    uint32_t type;
    uint32_t reserved; /* 0 */
} ggld_export_keep;

typedef struct ggld_export_rename {
    const char *from; /* the whole name in the source; once in a table */
    const char *to;
} ggld_export_rename;

typedef struct ggld_export_options {
    size_t struct_size; /* sizeof(ggld_export_options) */
    uint32_t flags;     /* GGLD_EXPORT_... */
    uint32_t format;    /* ggld_export_format */
    /* GGLD_TYPE_F32 (which is 0), F16 (what init sets), BF16; to GGUF any other
     * that has a quantiser. */
    uint32_t type;
    uint32_t n_threads; /* 0: as many as there are processors, at least 4 */
    /* general.architecture and general.name, or NULL: the source's, if it has
     * them. GGUF output only, as is set_metadata. */
    const char *architecture;
    const char *name;
    /* Called once, when all keys but the caller's are set: what it sets with
     * ggld_writer_set_... wins. Not for tensors, nor for keys that
     * ggld_edit_check_key (edit.h) refuses: who reads the file goes by them. */
    ggld_status (*set_metadata)(ggld_writer *w, void *user, ggld_error *err);
    const ggld_export_rename *renames;
    size_t n_renames;
    const ggld_export_keep *keeps; /* the first that fits counts */
    size_t n_keeps;
    /* Of stored bytes of the source. Not 0: cancelled. */
    ggld_progress progress;
    /* Something worth knowing, one line, nothing is wrong: a key that is there
     * twice, an alignment that ggml does not take, renames that nothing has,
     * metadata that is not carried over, a total in an index that is not that
     * of the tensors, no general.architecture in a GGUF output. */
    void (*note)(const char *text, void *user);
    void *user; /* for these calls */
    /* Not 0: a set of shards of so many bytes at most, as ggld_split_write
     * makes it (shards.h). GGUF output only. */
    uint64_t max_shard_bytes;
    /* Of each shard, in order, when all are there. May be NULL. */
    void (*shard)(const char *path, uint64_t n_tensors, uint64_t file_bytes,
                  void *user);
    /* Patterns (fnmatch); tensors whose name in the source fits one are left
     * out. GGLD_E_INVALID where no tensor's fits a pattern. */
    const char *const *skips;
    size_t n_skips;
    uint64_t reserved[2];
} ggld_export_options;

static inline ggld_export_options ggld_export_options_init(void)
{
    ggld_export_options options = { sizeof(ggld_export_options),
                                    0,
                                    0,
                                    GGLD_TYPE_F16,
                                    0,
                                    NULL,
                                    NULL,
                                    NULL,
                                    NULL,
                                    0,
                                    NULL,
                                    0,
                                    NULL,
                                    NULL,
                                    NULL,
                                    0,
                                    NULL,
                                    NULL,
                                    0,
                                    { 0, 0 } };
    return options;
}

/* Writes the model to path, which appears only complete, as with a writer
 * (write.h): folders on the way are made; until the end, and on any failure, an
 * old file is as it was, and nothing else is left.
 *
 * To GGUF: tensors of two or more dimensions take options->type where their rows
 * are whole blocks of it, and F16 where not; those of one dimension or none
 * F32; integers keep their type. Dimensions are in GGUF's order. Key-values of
 * a GGUF source are carried over, the first where a key is there twice; of a
 * safetensors source the general.* texts of its metadata are, and general.type
 * is "model" unless they say otherwise.
 * general.file_type and general.quantization_version are set.
 *
 * With max_shard_bytes, path less a ".gguf" at its end is the prefix of the
 * shards' names, and nothing is at path itself. All shards appear, or none.
 * GGLD_E_INVALID where one is there already, unless
 * GGLD_EXPORT_REPLACE_SHARDS is said, or is a file of the source.
 *
 * To safetensors: tensors take options->type, integers keep theirs, and
 * general.* texts become metadata; how many key-values do not is noted.
 *
 * GGLD_E_VALUE: NaN, an infinity or a value that the type can't hold; index is
 * the source's tensor, offset the element. GGLD_E_TENSOR_TYPE: a tensor of a
 * type that can't be read, or that the output's format does not have.
 * GGLD_E_CHANGED: a file of the source is not as it was when it was opened.
 * GGLD_E_INVALID: path is a file of the source, or an option, as an architecture
 * that is empty. GGLD_E_CANCELLED:
 * progress said so. Section GGLD_IN_TENSOR_INFO or GGLD_IN_TENSOR_DATA:
 * the source is at fault. options may be NULL. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_export(const ggld_export_source *source, const char *path,
                        const ggld_export_options *options, ggld_error *err);

#ifdef __cplusplus
}
#endif
#endif /* GGLD_EXPORT_H */
