/* SPDX-License-Identifier: MIT */
/* The README's example of jobs, on a model made for it: what it prints, and
 * that the first values come before the rest is warm. */
#include "check.h"
#include "memory.h"
#include "model.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* Exit status of the program, and what it says. */
static int run(const char *program, const char *path, char *said, size_t size)
{
    char command[8192];
    snprintf(command, sizeof command, "'%s' '%s' 2>&1", program, path);
    FILE *out = popen(command, "r");
    size_t n = out != NULL ? fread(said, 1, size - 1, out) : 0;
    said[n] = 0;
    int rc = out != NULL ? pclose(out) : -1;
    return WIFEXITED(rc) ? WEXITSTATUS(rc) : -1;
}

static void test_failures(const char *program)
{
    static const struct {
        const char *path, *says;
    } wrong[] = { { "/nowhere/at/all.gguf", "No such file" },
                  { "/proc/self/exe", "not opened: " } };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char said[4096];
        int rc = run(program, wrong[i].path, said, sizeof said);
        CHECK(rc == 1 && strstr(said, wrong[i].says) != NULL,
              "%s: expected exit 1 and '%s', got %d: %s", wrong[i].path,
              wrong[i].says, rc, said);
    }
}

int main(int argc, char **argv)
{
    char said[65536];
    model_tensor tensors[] = { { GGLD_TYPE_F32, 1, 64 },
                               { GGLD_TYPE_Q4_0, 30000, 4096 } };
    if (argc != 2)
        return 99;
    char *path = model_write(tensors, 2);
    memory_chill(path);
    int rc = run(argv[1], path, said, sizeof said);
    const char *first = strstr(said, "first values: ");
    const char *all = strstr(said, "all is warm\n");
    CHECK(rc == 0, "expected exit 0, got %d", rc);
    CHECK(first != NULL && all != NULL && first < all &&
              strstr(said, "100 % of the rest is warm\n") != NULL,
          "expected the first values before all is warm, got:\n%s", said);
    model_remove(path);
    test_failures(argv[1]);
    return n_failed != 0;
}
