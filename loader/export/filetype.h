/* SPDX-License-Identifier: MIT */
/* Numbers of general.file_type. */
#ifndef GGLD_EXPORT_FILETYPE_H
#define GGLD_EXPORT_FILETYPE_H

#include <stdbool.h>
#include <stdint.h>

/* Of a model that is mostly of one tensor type that can be written; false where
 * there is none. */
bool ggld_file_type_of(uint32_t tensor_type, uint32_t *out);

#endif /* GGLD_EXPORT_FILETYPE_H */
