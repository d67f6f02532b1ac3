/* SPDX-License-Identifier: MIT */
/* Values as they lie in the metadata. */
#ifndef GGLD_READ_KV_H
#define GGLD_READ_KV_H

#include <stdbool.h>
#include <stdint.h>

#include "../spec/cursor.h"
#include "file.h"

/* u8 to i64, bool not. */
bool ggld_value_is_integer(uint32_t value_type);

/* A cursor on the file's metadata, at offset. */
ggld_cursor ggld_cursor_at(const ggld_file *file, uint64_t offset);

/* A number at p, by the getters' rules. p has the type's bytes. */
bool ggld_number_u64(const uint8_t *p, uint32_t type, bool big_endian,
                     uint64_t *out);
bool ggld_number_i64(const uint8_t *p, uint32_t type, bool big_endian,
                     int64_t *out);
bool ggld_number_f64(const uint8_t *p, uint32_t type, bool big_endian,
                     double *out);

#endif /* GGLD_READ_KV_H */
