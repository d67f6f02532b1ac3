/* SPDX-License-Identifier: MIT */
/* Runs the example over a q4_0 matrix of 64 MiB of floats, made for it. */
#include "../jobs/check.h"
#include "../jobs/model.h"

#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    char command[8192], said[4096];
    model_tensor tensors[] = { { GGLD_TYPE_F32, 1, 64 },
                               { GGLD_TYPE_Q4_0, 4096, 4096 } };
    if (argc != 2)
        return 99;
    char *path = model_write(tensors, 2);
    snprintf(command, sizeof command, "'%s' '%s' t1", argv[1], path);
    FILE *out = popen(command, "r");
    size_t n = out != NULL ? fread(said, 1, sizeof said - 1, out) : 0;
    said[n] = 0;
    int rc = out != NULL ? pclose(out) : -1;
    printf("%s", said);
    model_remove(path);
    if (strstr(said, "userfaultfd") != NULL && rc != 0) {
        printf("skipped: this system offers none\n");
        return 77;
    }
    CHECK(rc == 0, "expected exit 0, got %d", rc);
    CHECK(strstr(said, ": equal\n") != NULL && strstr(said, "nan") == NULL,
          "expected equal results");
    CHECK(strstr(said, "64 MiB of floats, at most 16 MiB") != NULL,
          "expected the budget to hold");
    return n_failed != 0;
}
