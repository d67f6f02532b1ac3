/* SPDX-License-Identifier: MIT */
/* ggld_merge_consume: whatever system call fails or is the last, the same call
 * goes on from there, and the model is whole in the end. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../views/check.h"
#include "consuming.h"
#include "models.h"

static void test_crashes(void)
{
    unsigned n = 0;
    bool killed = true;

    for (; killed; n++) {
        ggld_error err = { .message = "" };
        set_scene();
        killed = run_killed(n);
        if (is_whole() && n_shards() == 0 && !file_exists(journal_path))
            continue; /* only the last sync was left */
        CHECK_OK(run(&err), err, "the next run");
        expect_done("killed before call", n);
    }
    CHECK(n > 25, "only %u calls", n);
}

/* And again, while it goes on. */
static void test_crashes_twice(void)
{
    for (unsigned n = 4; n < 40; n += 5)
        for (unsigned m = 0; m < 40; m += 7) {
            ggld_error err = { .message = "" };
            set_scene();
            run_killed(n);
            run_killed(m);
            if (!is_whole() || file_exists(journal_path))
                CHECK_OK(run(&err), err, "the next run");
            expect_done("killed twice before call", n * 100 + m);
        }
}

static bool may_fail_unseen(const char *name)
{
    return strcmp(name, "copy_file_range") == 0;
}

static bool run_fault(unsigned n, int sys_errno)
{
    ggld_error err = { .message = "" };
    char what[64];

    set_scene();
    calls_reset();
    calls.fault_at = n;
    calls.fault_errno = sys_errno;
    calls.armed = true;
    ggld_status status = run(&err);
    const char *name = calls.faulted;
    calls_reset();
    if (name == NULL)
        return false;
    snprintf(what, sizeof what, "%s, call", name);
    if (status == GGLD_OK) {
        CHECK(may_fail_unseen(name), "%s %u: not noticed", what, n);
        expect_done(what, n);
        return true;
    }
    CHECK(status == GGLD_E_IO && err.sys_errno == sys_errno, "%s %u: %s", what,
          n, err.message);
    check_between(what, n);
    if (!file_exists(journal_path) && n_shards() == N_SHARDS) {
        expect_untouched(what, n);
        return true;
    }
    if (file_exists(journal_path))
        CHECK_OK(run(&err), err, "the next run");
    expect_done(what, n);
    return true;
}

static void test_faults(void)
{
    unsigned n = 0;
    while (run_fault(n, EIO))
        n++;
    CHECK(n > 25, "only %u calls", n);
    n = 0;
    while (run_fault(n, ENOSPC))
        n++;
}

int main(void)
{
    consuming_begin();
    test_crashes();
    test_crashes_twice();
    test_faults();
    return consuming_end();
}
