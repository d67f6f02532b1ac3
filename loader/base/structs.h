/* SPDX-License-Identifier: MIT */
/* Structs that cross the border, whose first member is struct_size: between
 * the caller's version of one and this library's. */
#ifndef GGLD_BASE_STRUCTS_H
#define GGLD_BASE_STRUCTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

/* *theirs, of which at least min_size bytes are there, in our_size bytes at
 * out. what is the struct's name, for the message of GGLD_E_ABI. */
ggld_status ggld_struct_take(const char *what, const void *theirs,
                             size_t min_size, void *out, size_t our_size,
                             ggld_error *err);
/* What was taken asks for nothing that is not known: unknown_flags is 0, and
 * what is reserved is zero. */
ggld_status ggld_struct_check(const char *what, uint32_t unknown_flags,
                              bool reserved_is_zero, ggld_error *err);
/* Copies what both sides know of a struct that the library fills in, and sets
 * the rest of the caller's to zero. */
void ggld_struct_give(void *out, const void *ours, size_t our_size);

bool ggld_all_zero(const void *data, size_t size);

#endif /* GGLD_BASE_STRUCTS_H */
