/* SPDX-License-Identifier: MIT */
/* Begins an edit in place, and is killed on the way, like a process that a
 * system which runs out of memory ends.
 *
 *     halfway FILE KEY TEXT CALLS     dies before write number CALLS, from 0
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include <ggld/edit.h>

static long n_left = -1; /* writes to come; negative: none is counted */

ssize_t __real_pwrite64(int fd, const void *data, size_t n, off_t offset);
ssize_t __wrap_pwrite64(int fd, const void *data, size_t n, off_t offset);
ssize_t __wrap_pwrite64(int fd, const void *data, size_t n, off_t offset)
{
    if (n_left == 0)
        raise(SIGKILL);
    n_left--;
    /* In pieces, so that some are written and some are not. */
    return __real_pwrite64(fd, data, n > 4096 ? 4096 : n, offset);
}

int main(int argc, char **argv)
{
    ggld_edit_options options = ggld_edit_options_init();
    ggld_edit *edit = NULL;
    ggld_error err;

    if (argc != 5)
        return 2;
    ggld_edit_value v = { .struct_size = sizeof v,
                          .type = GGLD_VALUE_STRING,
                          .data = argv[3],
                          .size = strlen(argv[3]) };
    options.flags = GGLD_EDIT_IN_PLACE;
    n_left = strtol(argv[4], NULL, 10);
    if (ggld_edit_open(&edit, argv[1], &options, &err) == GGLD_OK &&
        ggld_edit_set(edit, argv[2], &v, &err) == GGLD_OK &&
        ggld_edit_in_place(edit, &err) == GGLD_OK)
        return 0;
    puts(err.message);
    return 1;
}
