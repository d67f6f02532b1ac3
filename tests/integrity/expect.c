/* SPDX-License-Identifier: MIT */
#include "expect.h"

#include <criterion/criterion.h>

#include <string.h>

ggld_manifest *hash_as(const char *path, const char *name, uint32_t algos,
                       uint32_t scopes)
{
    ggld_error err;
    ggld_manifest *m;
    ggld_hash_options options = hash_options(algos, scopes, name);
    cr_assert_eq(hash_path(path, &options, &m, &err), GGLD_OK, "%s",
                 err.message);
    return m;
}

void expect_good(const char *path, const ggld_manifest *m, const char *what)
{
    ggld_error err;
    ggld_verify_report *report;
    cr_assert_eq(verify_path(path, m, &report, &err), GGLD_OK, "%s: %s", what,
                 err.message);
    cr_expect(ggld_verify_report_good(report), "%s: expected good, got: %s",
              what, ggld_verify_report_summary(report));
    ggld_verify_report_free(report);
}

void expect_refused(const char *text, ggld_status code, const char *says)
{
    ggld_error err = { 0 };
    ggld_manifest *m = NULL;
    ggld_status status = parse_text(&m, text, strlen(text), 0, &err);
    cr_expect_eq(status, code, "expected %s of '%.40s', got %s: %s",
                 ggld_status_name(code), text, ggld_status_name(status),
                 err.message);
    cr_expect_not_null(strstr(err.message, says),
                       "of '%.40s': expected '%s' in '%s'", text, says,
                       err.message);
    if (status == GGLD_OK)
        ggld_manifest_free(m);
}
