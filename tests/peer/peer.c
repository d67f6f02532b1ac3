/* SPDX-License-Identifier: MIT */
/* ggld beside ggml's own library, which is loaded from the path in GGLD_PEER:
 * equality of values, bytes and verdicts, and speed of both in one run.
 * Optional: without the library it says so and skips, but for CI, where a
 * check that nobody ran must not look like one that passed. */
#include "peer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TOLD 40

#define EXIT_SKIPPED 77

void tally_case(tally *t, bool ok)
{
    if (ok)
        t->passed++;
    else
        t->failed++;
}

bool tally_tell(tally *t, const char *format, ...)
{
    va_list args;

    if (t->n_told++ < MAX_TOLD) {
        va_start(args, format);
        vprintf(format, args);
        va_end(args);
        putchar('\n');
    }
    return false;
}

void tally_skip(tally *t, const char *format, ...)
{
    va_list args;

    t->skipped++;
    printf("skipped: ");
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
}

void *peer_alloc(size_t size)
{
    void *memory = malloc(size != 0 ? size : 1);
    if (memory == NULL) {
        fprintf(stderr, "peer: no memory for %zu bytes\n", size);
        exit(2);
    }
    return memory;
}

static int usage(void)
{
    fputs("usage: peer check [--tool GGLD] [--shared FOLDER] [FOLDER...]\n"
          "       peer bench [--json] [--type NAME] [FILE]\n"
          "check: FOLDERs hold files to open, as do models/ and malformed/ of\n"
          "GGLD_SHARED, or else of --shared; GGLD is the command.\n"
          "GGLD_PEER names libggml-base.so.\n",
          stderr);
    return 2;
}

static const char *choose_shared(const char *shared)
{
    const char *elsewhere = getenv("GGLD_SHARED");
    return elsewhere != NULL && elsewhere[0] != '\0' ? elsewhere : shared;
}

static void check_shared(const ggml_api *ggml, tally *t, const char *shared)
{
    static const char *const folders[] = { "models", "malformed" };
    char path[4096];

    for (int i = 0; i < 2 && shared != NULL; i++) {
        snprintf(path, sizeof path, "%s/%s", shared, folders[i]);
        check_verdicts(ggml, t, path);
    }
}

static int check(const ggml_api *ggml, int argc, char **argv)
{
    const char *tool = NULL, *shared = NULL;
    tally t = { 0, 0, 0, 0 };

    for (int i = 0; i < argc; i++) {
        if (strcmp(argv[i], "--tool") == 0 && i + 1 < argc)
            tool = argv[++i];
        else if (strcmp(argv[i], "--shared") == 0 && i + 1 < argc)
            shared = argv[++i];
        else if (argv[i][0] == '-')
            return usage();
        else
            check_verdicts(ggml, &t, argv[i]);
    }
    shared = choose_shared(shared);
    check_shared(ggml, &t, shared);
    if (tool != NULL)
        check_written(ggml, &t, tool, shared);
    check_blocks(ggml, &t);
    check_quantisers(ggml, &t);
    printf("%llu passed, %llu failed, %llu skipped\n",
           (unsigned long long)t.passed, (unsigned long long)t.failed,
           (unsigned long long)t.skipped);
    return t.failed != 0;
}

static int bench(const ggml_api *ggml, int argc, char **argv)
{
    bench_options options = { false, NULL, NULL };

    for (int i = 0; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0)
            options.json = true;
        else if (strcmp(argv[i], "--type") == 0 && i + 1 < argc)
            options.type = argv[++i];
        else if (argv[i][0] != '-' && options.file == NULL)
            options.file = argv[i];
        else
            return usage();
    }
    if (options.file != NULL && !bench_open(ggml, &options))
        return 1;
    return !(bench_dequantise(ggml, &options) &&
             bench_quantise(ggml, &options));
}

static int skip(void)
{
    const char *ci = getenv("CI");
    bool required = ci != NULL && strcmp(ci, "true") == 0;

    puts("GGLD_PEER does not name ggml's library: nothing was compared");
    printf("0 passed, %d failed, %d skipped\n", required, !required);
    return required ? 1 : EXIT_SKIPPED;
}

int main(int argc, char **argv)
{
    const char *library = getenv("GGLD_PEER");
    ggml_api ggml;

    if (argc < 2)
        return usage();
    if (library == NULL || library[0] == '\0')
        return skip();
    if (!ggml_load(&ggml, library))
        return 1;
    if (strcmp(argv[1], "check") == 0)
        return check(&ggml, argc - 2, argv + 2);
    if (strcmp(argv[1], "bench") == 0)
        return bench(&ggml, argc - 2, argv + 2);
    return usage();
}
