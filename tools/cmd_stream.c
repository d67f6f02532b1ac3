/* SPDX-License-Identifier: MIT */
/* ggld stream: reads all tensor data within a budget of memory, and says what
 * that took. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include <ggld/residency.h>

#include "command.h"
#include "jobs.h"
#include "js.h"
#include "model.h"
#include "report.h"
#include "text.h"

enum { OPT_BUDGET, OPT_F32, OPT_IO, OPT_SINGLE, OPT_JSON };

#define BUDGET_DEFAULT (UINT64_C(512) << 20)
/* Looking at the page cache takes milliseconds for a large file. */
#define LOOK_EVERY_SECONDS 0.2

typedef struct stream_run {
    job_run run; /* first: the job's user */
    const model *m;
    double looked;
    uint64_t peak_anon_bytes;
    uint64_t peak_cache_bytes;    /* or GGLD_RESIDENT_UNKNOWN */
    uint64_t cached_before_bytes; /* the same, before anything was read */
} stream_run;

/* Anonymous memory of this process. */
static uint64_t anon_bytes(void)
{
    static const char field[] = "RssAnon:";
    uint64_t kib = 0;
    char line[128];
    FILE *f = fopen("/proc/self/status", "r");
    if (f == NULL)
        return 0;
    while (kib == 0 && fgets(line, sizeof line, f) != NULL)
        if (strncmp(line, field, sizeof field - 1) == 0)
            kib = strtoull(line + sizeof field - 1, NULL, 10);
    (void)fclose(f);
    return kib * 1024;
}

static uint64_t cache_bytes(const model *m)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < ggld_tensor_count(m->file); i++) {
        ggld_view view = ggld_tensor_view(ggld_tensor_at(m->file, i));
        uint64_t bytes;
        if (ggld_residency(&view, &bytes, NULL) != GGLD_OK ||
            bytes == GGLD_RESIDENT_UNKNOWN)
            return GGLD_RESIDENT_UNKNOWN;
        sum += bytes;
    }
    return sum;
}

static void look(stream_run *s)
{
    uint64_t anon = anon_bytes();
    uint64_t cache = cache_bytes(s->m);
    s->looked = progress_clock();
    if (anon > s->peak_anon_bytes)
        s->peak_anon_bytes = anon;
    /* "unknown" is the largest number, and stays. */
    if (cache > s->peak_cache_bytes)
        s->peak_cache_bytes = cache;
}

static void on_progress(ggld_job *job, uint64_t done_bytes,
                        uint64_t total_bytes, void *user)
{
    stream_run *s = user;
    if (progress_clock() - s->looked >= LOOK_EVERY_SECONDS)
        look(s);
    job_run_progress(job, done_bytes, total_bytes, user);
}

static int on_chunk(ggld_job *job, const ggld_chunk *chunk, void *user)
{
    (void)job, (void)chunk, (void)user;
    return 0;
}

static int stream(const model *m, const ggld_stream_options *options,
                  stream_run *s)
{
    uv_loop_t loop;
    ggld_job *job;
    ggld_error err;
    memset(s, 0, sizeof *s);
    int status = job_run_begin(&s->run, &loop, m->path, "streaming");
    if (status != STATUS_GOOD)
        return status;
    s->m = m;
    s->cached_before_bytes = cache_bytes(m);
    if (ggld_stream_start(&job, &loop, m->file, NULL, 0, options, on_chunk,
                          job_run_done, s, &err) != GGLD_OK)
        return job_run_failed(&s->run, &loop, &err);
    status = job_run_finish(&s->run, &loop);
    look(s);
    return status;
}

static void print_json(output *o, const stream_run *s, uint64_t budget)
{
    js w = js_begin(o);
    bool known = s->peak_cache_bytes != GGLD_RESIDENT_UNKNOWN;
    js_object(&w, NULL);
    js_text(&w, "file", s->run.path);
    js_u64(&w, "budget_bytes", budget);
    js_u64(&w, "read_bytes", s->run.done_bytes);
    js_measure(&w, "seconds", s->run.seconds);
    js_measure(&w, "bytes_per_s", job_rate(&s->run));
    js_u64(&w, "peak_rss_anon_bytes", s->peak_anon_bytes);
    js_u64_if(&w, "peak_page_cache_bytes", known, s->peak_cache_bytes);
    js_u64_if(&w, "page_cache_before_bytes", known, s->cached_before_bytes);
    js_end(&w);
}

static void print_text(output *o, const stream_run *s)
{
    bool known = s->peak_cache_bytes != GGLD_RESIDENT_UNKNOWN;
    out_printf(o, "read        %s in %.2f s, %s/s\n",
               text_size(s->run.done_bytes).text, s->run.seconds,
               text_size((uint64_t)job_rate(&s->run)).text);
    out_printf(o, "peak RSS    %s anonymous\n",
               text_size(s->peak_anon_bytes).text);
    if (known)
        out_printf(o, "page cache  %s (%s were there before)\n",
                   text_size(s->peak_cache_bytes).text,
                   text_size(s->cached_before_bytes).text);
    else
        out_text(o, "page cache  unknown: the file is somebody else's\n");
}

static int stream_run_command(const args *a)
{
    ggld_stream_options options = ggld_stream_options_init();
    stream_run s = { 0 };
    model m;

    options.max_resident_bytes = BUDGET_DEFAULT;
    options.progress = on_progress;
    if (a->values[OPT_F32] != NULL) {
        options.format = GGLD_STREAM_F32;
        options.flags = GGLD_STREAM_ON_WORKERS;
    }
    int status = job_open(a, a->values[OPT_IO], a->values[OPT_BUDGET],
                          a->values[OPT_SINGLE], true, &options.io,
                          &options.max_resident_bytes, &m);
    if (status != STATUS_GOOD)
        return status;
    status = stream(&m, &options, &s);
    if (status == STATUS_GOOD && a->values[OPT_JSON] != NULL)
        print_json(a->out, &s, options.max_resident_bytes);
    else if (status == STATUS_GOOD)
        print_text(a->out, &s);
    model_close(&m);
    return status;
}

static const option_row options[] = {
    [OPT_BUDGET] = { "budget", 0, "SIZE",
                     "memory for buffers and file pages (default 512M)" },
    [OPT_F32] = { "f32", 0, NULL, "dequantise everything on the way" },
    [OPT_IO] = { "io", 0, "WAY",
                 "how to read: auto, map, pread, direct, uring" },
    [OPT_SINGLE] = OPTION_SINGLE,
    [OPT_JSON] = { "json", 0, NULL, "print JSON" },
    { NULL, 0, NULL, NULL },
};

const command_row command_stream = {
    "stream",
    "FILE",
    "Reads all tensors within a budget of memory, and measures that",
    "For models larger than memory: reads ahead, and drops what is behind,\n"
    "out of the page cache too. Prints the rate and the memory it took.\n",
    1,
    1,
    options,
    stream_run_command,
};
