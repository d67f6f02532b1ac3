/* SPDX-License-Identifier: MIT */
/* Begins a merge that consumes its shards, and is killed on the way.
 *
 *     halfway_merge SHARD OUT N     dies once N shards are removed
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ggld/shards.h>

static long n_left; /* shards to be removed yet */

int __real_unlinkat(int folder_fd, const char *name, int flags);
int __wrap_unlinkat(int folder_fd, const char *name, int flags);
int __wrap_unlinkat(int folder_fd, const char *name, int flags)
{
    int result = __real_unlinkat(folder_fd, name, flags);

    if (result == 0 && strstr(name, "-of-") != NULL && --n_left == 0)
        raise(SIGKILL);
    return result;
}

int main(int argc, char **argv)
{
    ggld_error err;

    if (argc != 4)
        return 2;
    n_left = strtol(argv[3], NULL, 10);
    if (ggld_merge_consume(argv[1], argv[2], NULL, &err) == GGLD_OK)
        return 0;
    puts(err.message);
    return 1;
}
