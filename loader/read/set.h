/* SPDX-License-Identifier: MIT */
/* Shards together: from one of them to the open set. */
#ifndef GGLD_READ_SET_H
#define GGLD_READ_SET_H

#include "load.h"
#include "split.h"

/* Is the file, which was opened by a path, one of a set's by its keys, and by
 * its name? out->count is 0 where it is not. true: the work goes on. */
bool ggld_set_judge(const ggld_file *file, ggld_report *report,
                    ggld_split_name *out);

/* The file, which was opened by a path, or the set that it is a shard of. NULL
 * and report->status on failure, with everything released, file too. */
ggld_file *ggld_set_complete(ggld_file *file, const ggld_load *load,
                             ggld_report *report);

/* Lets a check hear of each shard of the set, and then of the set. name is a
 * shard's; load has no source. */
void ggld_set_check(const ggld_split_name *name, const ggld_load *load,
                    ggld_report *report);

/* Shows the verifier, where there is one, the metadata of the file or of each
 * shard. */
bool ggld_set_verify(const ggld_file *file, ggld_report *report);

/* Puts a shard's name before a message that is about it, and its number into
 * the error (err may be NULL). Of a file that is no shard nothing is done. */
void ggld_set_blame(const ggld_file *file, ggld_error *err);

#endif /* GGLD_READ_SET_H */
