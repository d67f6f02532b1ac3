/* SPDX-License-Identifier: MIT */
/* The types that tensors are written in, as --type and --keep say them. Text
 * alone: nothing is reported from here. */
#ifndef TOOLS_KEEP_H
#define TOOLS_KEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KEEP_WHY_MAX 256

/* A type's name. false, and why: there is no such type, or models are not
 * written in it. */
bool keep_read_type(const char *name, uint32_t *out,
                    char why[static KEEP_WHY_MAX]);
/* GLOB=TYPE; the last '=' parts them. *glob_bytes: of text, from its start.
 * false, and why: it is none, or its type is none. */
bool keep_read(const char *text, size_t *glob_bytes, uint32_t *type,
               char why[static KEEP_WHY_MAX]);

#endif /* TOOLS_KEEP_H */
