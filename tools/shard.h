/* SPDX-License-Identifier: MIT */
/* One shard of a set, looked at alone. */
#ifndef TOOLS_SHARD_H
#define TOOLS_SHARD_H

#include <stdbool.h>
#include <stdint.h>

#include <ggld/file.h>

typedef struct shard_place {
    uint32_t no; /* from 0 */
    uint32_t count;
} shard_place;

/* By its keys. false: it is a whole model. */
bool shard_place_of(const ggld_file *file, shard_place *out);
/* Is that a path of shard no of count? */
bool shard_is_named(const char *path, const shard_place *at);
/* By its name. false: it is not named as shards are. */
bool shard_place_named(const char *path, shard_place *out);
/* Shard no of the set, in the same folder; path is named as a shard. To be
 * freed, or NULL. */
char *shard_beside(const char *path, uint32_t no, uint32_t count);
/* Is path named as a shard, and is any of that set not there, itself or another?
 */
bool shard_lacks_some(const char *path);
/* "m" of "m.gguf" and of "m-00001-of-00003.gguf". */
void shard_cut_name(char *name);
/* The name, without folder, that shard no of the set has that path belongs to,
 * or would belong to, were it named as shards are. To be freed, or NULL. */
char *shard_name(const char *path, uint32_t no, uint32_t count);

#endif /* TOOLS_SHARD_H */
