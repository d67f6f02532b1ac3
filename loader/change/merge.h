/* SPDX-License-Identifier: MIT */
/* What both ways to merge ask first. */
#ifndef GGLD_CHANGE_MERGE_H
#define GGLD_CHANGE_MERGE_H

#include <ggld/shards.h>

ggld_status ggld_merge_take_options(const ggld_merge_options *options,
                                    ggld_merge_options *o, uint32_t known_flags,
                                    ggld_error *err);
/* GGLD_E_INVALID where the file is no set. */
ggld_status ggld_merge_check_set(const ggld_file *file, ggld_error *err);

#endif /* GGLD_CHANGE_MERGE_H */
