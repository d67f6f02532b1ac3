/* SPDX-License-Identifier: MIT */
/* kcheck [--seed N] [--type NAME] [--set NAME] [--step N]
 * kcheck --bench [--json] [--type NAME] [--set NAME]
 *
 * Every kernel of every instruction set that is here against the scalar one:
 * types x counts of blocks x misalignments x guard pages on both sides x
 * patterns; or how fast they are. */
#include "kcheck.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const kernel_names[KERNELS] = { "to_f32", "to_f32_stream",
                                            "from_f32" };

bool kernel_exists(const ggld_kern_set *set, uint32_t type, kernel which)
{
    const ggld_kern_row *row = &set->rows[type];
    return which == KERNEL_FROM_F32 ? row->from_f32 != NULL
                                    : row->to_f32 != NULL;
}

uint64_t kernel_run(const ggld_kern_set *set, uint32_t type, kernel which,
                    const void *src, void *dst, uint64_t n_blocks)
{
    const ggld_kern_row *row = &set->rows[type];
    if (which == KERNEL_FROM_F32)
        return row->from_f32(src, dst, n_blocks);
    (which == KERNEL_TO_F32 ? row->to_f32 : row->to_f32_stream)(src, dst,
                                                                n_blocks);
    return GGLD_NO_ELEM;
}

static bool parse_number(const char *text, uint64_t *out)
{
    char *end;
    errno = 0;
    *out = strtoull(text, &end, 0);
    return errno == 0 && end != text && *end == '\0';
}

static bool parse_options(int argc, char **argv, options *o)
{
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(argv[i], "--bench") == 0)
            o->bench = true;
        else if (strcmp(argv[i], "--json") == 0)
            o->json = true;
        else if (value == NULL)
            return false; /* NOLINT(bugprone-branch-clone): two errors */
        else if (strcmp(argv[i], "--type") == 0)
            o->type = argv[++i];
        else if (strcmp(argv[i], "--set") == 0)
            o->set = argv[++i];
        else if ((strcmp(argv[i], "--seed") == 0 &&
                  parse_number(value, &o->seed)) ||
                 (strcmp(argv[i], "--step") == 0 &&
                  parse_number(value, &o->step)))
            i++;
        else
            return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    options o = { .seed = 1, .step = 1 };
    if (!parse_options(argc, argv, &o) || o.step == 0) {
        fprintf(stderr, "usage: kcheck [--seed N] [--type NAME] [--set NAME] "
                        "[--step N] [--bench [--json]]\n");
        return 2;
    }
    sets all = sets_here();
    if (o.bench) {
        bench_kernels(&all, &o);
        return 0;
    }
    return check_kernels(&all, &o) != 0 || check_f32_to_f16(&all, &o) != 0;
}
