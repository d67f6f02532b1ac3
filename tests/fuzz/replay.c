/* SPDX-License-Identifier: MIT */
/* A fuzzer without libFuzzer: every file of the folders given, once. A plain
 * main, so that it runs under emulators and sanitizers, with any compiler.
 *
 *     replay FOLDER...     one that is not there is left out
 */
#include <dirent.h>
#include <errno.h>
#include <string.h>

#include "fuzz.h"

#define MAX_BYTES (1u << 20)

static char name[4096];

static void replay_file(const char *path)
{
    static uint8_t data[MAX_BYTES];
    FILE *f = fopen(path, "rb");
    FUZZ_REQUIRE(f != NULL, "%s: %s", path, strerror(errno));
    size_t size = fread(data, 1, sizeof data, f);
    fclose(f);
    /* Of just its size, as libFuzzer has it. */
    uint8_t *copy = fuzz_alloc(size != 0 ? size : 1);
    memcpy(copy, data, size);
    (void)LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

/* Says which file it was that a crash comes from: printed before it is tried,
 * as a process that is killed prints nothing any more. */
static unsigned replay_folder(const char *folder)
{
    const struct dirent *entry;
    unsigned n = 0;
    DIR *d = opendir(folder);
    if (d == NULL) {
        printf("%s is not there: left out\n", folder);
        return 0;
    }
    while ((entry = readdir(d)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(name, sizeof name, "%s/%s", folder, entry->d_name);
        printf("%s\n", name);
        fflush(stdout);
        replay_file(name);
        n++;
    }
    closedir(d);
    return n;
}

int main(int argc, char **argv)
{
    unsigned n = 0;
    for (int i = 1; i < argc; i++)
        n += replay_folder(argv[i]);
    printf("%u passed, %d failed, 0 skipped\n", n, n == 0);
    return n == 0;
}
