/* SPDX-License-Identifier: MIT */
/* ggld dump: values of one tensor. What is asked for is checked here, before
 * anything is written; dump.c writes. */
#include <inttypes.h>
#include <string.h>

#include "command.h"
#include "dump.h"
#include "model.h"
#include "opts.h"
#include "outfile.h"
#include "paths.h"
#include "report.h"
#include "stop.h"

enum { OPT_FORMAT, OPT_ROWS, OPT_OUTPUT, OPT_SINGLE };

static int parse_format(const args *a, dump_format *out)
{
    static const char *const names[] = { "text", "f32", "f16", "npy", "raw" };
    const char *text = a->values[OPT_FORMAT];

    *out = DUMP_TEXT;
    if (text == NULL)
        return STATUS_GOOD;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(names[i], text) == 0) {
            *out = (dump_format)i;
            return STATUS_GOOD;
        }
    }
    return report_usage(a, "unknown format '%s': text, f32, f16, npy or raw",
                        text);
}

/* A:B, where either may be left out. */
static bool parse_range(const char *text, uint64_t n_rows, uint64_t *first,
                        uint64_t *end)
{
    char left[24];
    const char *colon = strchr(text, ':');

    if (colon == NULL || (size_t)(colon - text) >= sizeof left)
        return false;
    memcpy(left, text, (size_t)(colon - text));
    left[colon - text] = '\0';
    *first = 0;
    *end = n_rows;
    return (left[0] == '\0' || opts_number(left, 0, UINT64_MAX, first)) &&
           (colon[1] == '\0' || opts_number(colon + 1, 0, UINT64_MAX, end));
}

static int parse_rows(const args *a, dump_job *job)
{
    const char *text = a->values[OPT_ROWS];

    job->first_row = 0;
    job->end_row = job->n_rows;
    if (text == NULL)
        return STATUS_GOOD;
    if (!parse_range(text, job->n_rows, &job->first_row, &job->end_row))
        return report_usage(a, "rows '%s' are not of the form A:B", text);
    if (job->first_row > job->end_row && text[strlen(text) - 1] != ':')
        return report_usage(a, "rows '%s' end before they begin", text);
    if (job->first_row > job->end_row || job->end_row > job->n_rows)
        return report(job->m->path,
                      "rows %" PRIu64 ":%" PRIu64 " of '%s' are not within "
                      "0:%" PRIu64 " (%" PRIu64 " elements each)",
                      job->first_row, job->end_row, a->operands[1], job->n_rows,
                      job->row_elems);
    return STATUS_GOOD;
}

static int job_make(const args *a, model *m, dump_job *job)
{
    const char *name = a->operands[1];
    const ggld_type_traits *traits;

    job->m = m;
    job->tensor = ggld_tensor_find(m->file, name);
    if (job->tensor == NULL)
        return model_no_tensor(m, name);
    job->info = model_tensor_info(job->tensor);
    job->row_elems = job->info.n_dims > 0 ? job->info.dims[0] : 1;
    job->n_rows = job->row_elems > 0 ? job->info.n_elems / job->row_elems : 0;
    traits = ggld_type_traits_of(job->info.type);
    if (traits == NULL && (job->format != DUMP_RAW || a->values[OPT_ROWS]))
        return report(m->path,
                      "tensor '%s' is of %s, which is unknown: only all of its "
                      "bytes can be dumped (--format raw)",
                      name, model_type_text(job->info.type).text);
    return parse_rows(a, job);
}

static int dump_to_file(const args *a, const model *m, const dump_job *job,
                        const char *path)
{
    outfile f;

    if (model_has(m, path))
        return report_usage(a, "OUT is FILE itself, or a shard of it");
    int status = outfile_begin(&f, path);
    if (status != STATUS_GOOD)
        return status;
    return outfile_finish(&f, dump_run_job(job, &f.out));
}

static int dump_run(const args *a)
{
    const char *path = a->values[OPT_OUTPUT];
    dump_job job = { 0 };
    model m;
    int status = parse_format(a, &job.format);

    if (status != STATUS_GOOD)
        return status;
    if (paths_is_stdout(path))
        path = NULL;
    if (job.format != DUMP_TEXT && path == NULL && a->out->terminal)
        return report_usage(a, "binary data is not for a terminal: give "
                               "-o OUT or redirect");
    status =
        model_open_with(&m, a->operands[0], single_flag(a->values[OPT_SINGLE]));
    if (status != STATUS_GOOD)
        return status;
    status = job_make(a, &m, &job);
    if (status == STATUS_GOOD && path != NULL) {
        stop_watch();
        status = dump_to_file(a, &m, &job, path);
    } else if (status == STATUS_GOOD) {
        status = dump_run_job(&job, a->out);
    }
    model_close(&m);
    return status;
}

static const option_row options[] = {
    [OPT_FORMAT] = { "format", 'f', "FORMAT",
                     "text (default), f32, f16, npy or raw" },
    [OPT_ROWS] = { "rows", 'r', "A:B", "rows A up to, not with, B" },
    [OPT_OUTPUT] = { "output", 'o', "OUT",
                     "write to OUT, which appears only complete" },
    [OPT_SINGLE] = OPTION_SINGLE,
    { NULL, 0, NULL, NULL },
};

const command_row command_dump = {
    "dump",
    "FILE TENSOR",
    "Prints the values of a tensor",
    "text: a row a line, shortest numbers that read back the same; integers\n"
    "and f64 exactly. f32, f16: values in little-endian. npy: NumPy's format.\n"
    "raw: bytes as the file stores them. A row is the first dimension; all\n"
    "others count through its rows.\n",
    2,
    2,
    options,
    dump_run,
};
