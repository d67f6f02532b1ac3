/* SPDX-License-Identifier: MIT */
/* What killed writers have left, for apps. */
#include <ggld/write.h>

#include "../base/alloc.h"
#include "../base/leftover.h"
#include "../base/target.h"

void ggld_remove_leftovers(const char *path, ggld_leftover_removed removed,
                           void *user)
{
    ggld_allocator heap = ggld_allocator_of(NULL);
    ggld_target t;

    if (path == NULL || ggld_target_find(&t, path, &heap, NULL) != GGLD_OK)
        return;
    ggld_leftover_remove(&t, removed, user);
    ggld_target_close(&t);
}
