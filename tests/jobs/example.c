/* SPDX-License-Identifier: MIT */
/* The README's example of jobs, on a model made for it: what it prints, and
 * that the first values come before the rest is warm. */
#include "check.h"
#include "model.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

int main(int argc, char **argv)
{
    char command[8192], said[65536];
    model_tensor tensors[] = { { GGLD_TYPE_F32, 1, 64 },
                               { GGLD_TYPE_Q4_0, 30000, 4096 } };
    if (argc != 2)
        return 99;
    char *path = model_write(tensors, 2);
    model_chill(path);
    snprintf(command, sizeof command, "'%s' '%s'", argv[1], path);
    FILE *out = popen(command, "r");
    size_t n = out != NULL ? fread(said, 1, sizeof said - 1, out) : 0;
    said[n] = 0;
    int rc = out != NULL ? pclose(out) : -1;
    const char *first = strstr(said, "first values: ");
    const char *all = strstr(said, "all is warm\n");
    CHECK(rc == 0, "expected exit 0, got %d", rc);
    CHECK(first != NULL && all != NULL && first < all &&
              strstr(said, "100 % of the rest is warm\n") != NULL,
          "expected the first values before all is warm, got:\n%s", said);
    model_remove(path);
    return n_failed != 0;
}
