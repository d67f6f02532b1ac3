/* SPDX-License-Identifier: MIT */
/* What hash, verify and sign share: files of text, names of algorithms, and
 * digests as JSON. */
#ifndef TOOLS_DIGESTS_H
#define TOOLS_DIGESTS_H

#include <ggld/integrity.h>

#include "command.h"
#include "js.h"

/* Room for a path with an ending. */
#define DIGESTS_PATH_MAX 4200

/* All of a regular file of up to 1 GiB, a NUL behind it; to be freed. Exit
 * status; what is wrong has been reported. */
int text_read(const char *path, char **text, size_t *size);
/* The same of a file that others read: is it one? */
int text_check(const char *path);

/* path with ending behind it. Exit status. */
int path_with(const char *path, const char *ending, char out[DIGESTS_PATH_MAX]);

/* --algo: names with commas between, as bits; NULL leaves *out. Exit status. */
int algos_parse(const args *a, const char *text, uint32_t *out);
/* --format: NULL leaves *out. Exit status. */
int format_parse(const args *a, const char *text, uint32_t *out);

/* Who relies on fast chunks is told what they are not worth. */
void digests_note_chunks(const char *path, uint32_t chunk_algo);

/* "file", "metadata" and so on. */
const char *scope_text(uint32_t scope);
/* "sha256:HEX", or null where there is none. */
void js_digest(js *w, const char *key, const ggld_digest *digest);

#endif /* TOOLS_DIGESTS_H */
