/* SPDX-License-Identifier: MIT */
/* Merges that consume their shards and were interrupted, or are at work: said by
 * every command that is given one of their files. */
#ifndef TOOLS_HALFMERGED_H
#define TOOLS_HALFMERGED_H

#include <stdbool.h>

#include <ggld/error.h>

/* A note, if path is a shard of a set of which some are gone and there is a
 * journal in its folder, or the output or the part that a journal is beside;
 * which command goes on, or that it is at work, as the journal's lock tells. Of whose shards a journal speaks is not looked at.
 * true: there was something to note. */
bool halfmerged_note(const char *path);

/* The same question without a note, of what such a merge still needs as it is: a
 * shard that is left, or the part. */
bool halfmerged_needs(const char *path);

/* Of a merge into out that has failed just now: what is to be done. */
void halfmerged_note_failure(const char *out, const ggld_error *err);
/* Is a journal beside out? */
bool halfmerged_into(const char *out);

#endif /* TOOLS_HALFMERGED_H */
