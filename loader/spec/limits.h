/* SPDX-License-Identifier: MIT */
/* The format's numbers: limits, sizes of the smallest records. */
#ifndef GGLD_SPEC_LIMITS_H
#define GGLD_SPEC_LIMITS_H

#define GGLD_MAGIC         "GGUF"
#define GGLD_MAGIC_BYTES   4
#define GGLD_KEY_ALIGNMENT "general.alignment"
/* Room for edits: a string that no reader asks for. */
#define GGLD_KEY_PADDING "ggld.padding"
/* Beside a file while it is edited in place. */
#define GGLD_JOURNAL_SUFFIX    ".ggld-journal"
#define GGLD_DEFAULT_ALIGNMENT 32
#define GGLD_WRITTEN_VERSION   3
#define GGLD_MAX_DIMS          4
#define GGLD_MAX_KEY_BYTES     65535
/* The format allows 64 bytes; ggml's buffer holds 63 and a NUL. */
#define GGLD_MAX_NAME_BYTES  64
#define GGLD_GGML_NAME_BYTES 63
#define GGLD_MAX_ARRAY_DEPTH 8

/* An empty key, a type and a value of one byte; an empty name, no dimensions,
 * type and offset. Version 1 has lengths of 4 bytes instead of 8. */
#define GGLD_MIN_KV_BYTES(narrow)     ((narrow) ? 9 : 13)
#define GGLD_MIN_TENSOR_BYTES(narrow) ((narrow) ? 20 : 24)

#endif /* GGLD_SPEC_LIMITS_H */
