/* SPDX-License-Identifier: MIT */
/* What can go wrong: one error to the completion call, the right one, nothing
 * left open, and the loop runs on. */
#include "check.h"
#include "model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *path;

static int ignore_chunk(ggld_job *job, const ggld_chunk *chunk, void *user)
{
    (void)job, (void)chunk, (void)user;
    return 0;
}

/* ---- a start that fails has started nothing ---- */

static void test_starts_refused(void)
{
    ggld_file *file = model_open(path, 0);
    ggld_prefetch_options warm = ggld_prefetch_options_init();
    ggld_stream_options stream = ggld_stream_options_init();
    ggld_open_options open = ggld_open_options_init();
    ggld_job *job = NULL;
    ggld_error err;
    outcome o = { 0 };
    uv_loop_t loop;
    uv_loop_init(&loop);
#define REFUSED(call, code)                                         \
    do {                                                            \
        ggld_status got = (call);                                   \
        CHECK(got == code, "%s: expected " #code ", got %s", #call, \
              ggld_status_name(got));                               \
    } while (0)
    REFUSED(ggld_open_start(&job, &loop, NULL, NULL, outcome_opened, &o, &err),
            GGLD_E_INVALID);
    REFUSED(ggld_open_start(&job, NULL, path, NULL, outcome_opened, &o, &err),
            GGLD_E_INVALID);
    open.struct_size = 8;
    REFUSED(ggld_open_start(&job, &loop, path, &open, outcome_opened, &o, &err),
            GGLD_E_ABI);
    REFUSED(
        ggld_prefetch_start(&job, &loop, NULL, 1, NULL, outcome_done, &o, &err),
        GGLD_E_INVALID);
    warm.reserved[2] = 1;
    REFUSED(ggld_prefetch_start(&job, &loop, NULL, 0, &warm, outcome_done, &o,
                                &err),
            GGLD_E_ABI);
    warm = ggld_prefetch_options_init();
    warm.flags = 1;
    REFUSED(ggld_prefetch_start(&job, &loop, NULL, 0, &warm, outcome_done, &o,
                                NULL),
            GGLD_E_ABI);
    REFUSED(ggld_stream_start(&job, &loop, NULL, NULL, 0, NULL, ignore_chunk,
                              outcome_done, &o, &err),
            GGLD_E_INVALID);
    stream.n_parallel = 17;
    REFUSED(ggld_stream_start(&job, &loop, file, NULL, 0, &stream, ignore_chunk,
                              outcome_done, &o, &err),
            GGLD_E_INVALID);
    stream.n_parallel = 0;
    stream.flags = 1u << 7;
    REFUSED(ggld_stream_start(&job, &loop, file, NULL, 0, &stream, ignore_chunk,
                              outcome_done, &o, &err),
            GGLD_E_ABI);
    CHECK(job == NULL, "expected *out untouched by starts that fail");
    loop_finish(&loop, "refused starts");
    CHECK(o.n_calls == 0, "expected no completion call, got %d", o.n_calls);
    ggld_close(file);
}

/* ---- arguments that the job finds wrong ---- */

typedef struct fault {
    const char *name;
    ggld_status code;
    enum { WARM, STREAM } kind;
    enum { ALL, NO_TENSOR, OTHER_FILE, PAST_THE_END, UNKNOWN_PART } views;
    uint32_t open_flags, io, format, flags;
    uint64_t budget, chunk;
    const char *says; /* part of the message */
} fault;

static const fault faults[] = {
    { "warm, no tensor", GGLD_E_INVALID, WARM, NO_TENSOR, .says = "view 0" },
    { "stream, no tensor", GGLD_E_INVALID, STREAM, NO_TENSOR,
      .says = "view 0" },
    { "stream, another file's tensor", GGLD_E_INVALID, STREAM, OTHER_FILE,
      .says = "another file" },
    { "warm, past the tensor", GGLD_E_INVALID, WARM, PAST_THE_END,
      .says = "tensor 1 't1': elements" },
    { "stream, past the tensor", GGLD_E_INVALID, STREAM, PAST_THE_END,
      .says = "tensor 1 't1': elements" },
    { "warm, budget", GGLD_E_INVALID, WARM, ALL, .budget = 4095,
      .says = "4095 bytes is smaller than one chunk (4096): raise it" },
    { "warm, budget and chunk", GGLD_E_INVALID, WARM, ALL, .budget = 65536,
      .chunk = 65537,
      .says = "(65537): raise it to that or more, or ask for smaller" },
    { "warm, chunk", GGLD_E_INVALID, WARM, ALL, .chunk = 1,
      .says = "give 4096 or more" },
    { "warm, direct", GGLD_E_INVALID, WARM, ALL, .io = GGLD_IO_DIRECT,
      .says = "direct" },
    { "warm, no such io", GGLD_E_INVALID, WARM, ALL, .io = 5, .says = "io 5" },
    { "stream, budget", GGLD_E_INVALID, STREAM, ALL, .budget = 1000,
      .says = "a budget of 1000 bytes is less than one chunk needs" },
    { "stream on workers, budget", GGLD_E_INVALID, STREAM, ALL, .budget = 5000,
      .flags = GGLD_STREAM_ON_WORKERS, .says = "raise it to that or more" },
    { "stream, budget and chunk", GGLD_E_INVALID, STREAM, ALL,
      .budget = 1 << 20, .chunk = 1 << 21,
      .says = "or ask for smaller chunks" },
    { "stream, chunk", GGLD_E_INVALID, STREAM, ALL, .chunk = 100,
      .says = "give from 4096" },
    { "stream, map of a file that is not mapped", GGLD_E_UNSUPPORTED, STREAM,
      ALL, .open_flags = GGLD_OPEN_PREAD, .io = GGLD_IO_MAP, .says = "map" },
    { "stream, direct from private memory", GGLD_E_UNSUPPORTED, STREAM, ALL,
      .open_flags = GGLD_OPEN_COPY, .io = GGLD_IO_DIRECT, .says = "direct" },
    { "stream, values of an unknown type", GGLD_E_TENSOR_TYPE, STREAM, ALL,
      .format = GGLD_STREAM_F32, .says = "type 99" },
    { "warm, part of an unknown type", GGLD_E_TENSOR_TYPE, WARM, UNKNOWN_PART,
      .says = "type 99" },
};

static ggld_view fault_view(const fault *f, ggld_file *file, ggld_file *other)
{
    ggld_view view = { 0 };
    if (f->views == OTHER_FILE)
        view = ggld_tensor_view(ggld_tensor_at(other, 0));
    if (f->views == PAST_THE_END) {
        view = ggld_tensor_view(ggld_tensor_at(file, 1));
        view.n_elems++;
    }
    if (f->views == UNKNOWN_PART) {
        view =
            ggld_tensor_view(ggld_tensor_at(file, ggld_tensor_count(file) - 1));
        view.n_elems = 1;
    }
    return view;
}

static void start_fault(const fault *f, uv_loop_t *loop, ggld_file *file,
                        ggld_file *other, outcome *o)
{
    ggld_view all[8];
    ggld_view view = fault_view(f, file, other);
    ggld_job *job;
    ggld_error err;
    size_t n = (size_t)ggld_tensor_count(file);
    for (size_t i = 0; i < n; i++)
        all[i] = ggld_tensor_view(ggld_tensor_at(file, i));
    if (f->kind == WARM) {
        ggld_prefetch_options options = ggld_prefetch_options_init();
        options.io = f->io;
        options.max_resident_bytes = f->budget;
        options.chunk_bytes = f->chunk;
        MUST(ggld_prefetch_start(&job, loop, f->views == ALL ? all : &view,
                                 f->views == ALL ? n : 1, &options,
                                 outcome_done, o, &err),
             err);
        return;
    }
    ggld_stream_options options = ggld_stream_options_init();
    options.io = f->io;
    options.flags = f->flags;
    options.format = f->format;
    options.max_resident_bytes = f->budget;
    options.chunk_bytes = f->chunk;
    MUST(ggld_stream_start(&job, loop, file, f->views == ALL ? NULL : &view, 1,
                           &options, ignore_chunk, outcome_done, o, &err),
         err);
}

static void fired(uv_timer_t *timer)
{
    ++*(int *)timer->data;
    uv_close((uv_handle_t *)timer, NULL);
}

static void test_arguments(void)
{
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        const fault *f = &faults[i];
        ggld_file *file = model_open(path, f->open_flags);
        ggld_file *other = model_open(path, 0);
        outcome o = { 0 };
        uv_timer_t timer;
        uv_loop_t loop;
        int n_fired = 0;
        uv_loop_init(&loop);
        start_fault(f, &loop, file, other, &o);
        ggld_close(file);
        uv_timer_init(&loop, &timer);
        timer.data = &n_fired;
        uv_timer_start(&timer, fired, 1, 0);
        loop_finish(&loop, f->name);
        outcome_check(&o, f->code, f->name);
        CHECK(strstr(o.result.message, f->says) != NULL,
              "%s: expected '%s' in the message, got: %s", f->name, f->says,
              o.result.message);
        CHECK(n_fired == 1, "%s: expected the loop to run on", f->name);
        ggld_close(other);
    }
}

/* ---- opening ---- */

static void test_open_faults(void)
{
    static const struct {
        const char *path;
        ggld_status code;
    } opens[] = { { "/nowhere/at/all.gguf", GGLD_E_IO },
                  { "/", GGLD_E_MAGIC },
                  { "/proc/self/exe", GGLD_E_MAGIC } };
    for (size_t i = 0; i < sizeof opens / sizeof opens[0]; i++) {
        outcome o = { 0 };
        uv_loop_t loop;
        ggld_job *job;
        ggld_error err;
        uv_loop_init(&loop);
        MUST(ggld_open_start(&job, &loop, opens[i].path, NULL, outcome_opened,
                             &o, &err),
             err);
        loop_finish(&loop, opens[i].path);
        outcome_check(&o, opens[i].code, opens[i].path);
        CHECK(o.file == NULL, "%s: expected no file", opens[i].path);
    }
}

/* ---- sources and verifiers that refuse ---- */

typedef struct sick_source {
    int fd;
    _Atomic uint64_t sick_from;
} sick_source;

static int64_t sick_pread(void *ctx, void *dst, size_t n, uint64_t offset)
{
    sick_source *s = ctx;
    if (offset + n > s->sick_from)
        return -EIO;
    ssize_t got = pread(s->fd, dst, n, (off_t)offset);
    return got < 0 ? -errno : got;
}

static void test_source_that_fails(void)
{
    ggld_file *real = model_open(path, 0);
    ggld_file_info info = { sizeof info };
    ggld_backing backing = { sizeof backing };
    ggld_file_get_info(real, &info);
    ggld_file_get_backing(real, &backing);
    sick_source sick = { backing.fd, UINT64_MAX };
    ggld_source source = { sizeof source, info.file_bytes,
                           sick_pread,    NULL,
                           NULL,          &sick };
    outcome o = { 0 };
    ggld_file *file;
    ggld_job *job;
    uv_loop_t loop;
    ggld_error err;
    uv_loop_init(&loop);
    MUST(ggld_open_source(&file, &source, NULL, &err), err);
    sick.sick_from = info.file_bytes - 1000;
    MUST(ggld_stream_start(&job, &loop, file, NULL, 0, NULL, ignore_chunk,
                           outcome_done, &o, &err),
         err);
    ggld_close(file);
    loop_finish(&loop, "sick source");
    outcome_check(&o, GGLD_E_IO, "sick source");
    CHECK(o.result.sys_errno == EIO, "sick source: expected EIO, got %d",
          o.result.sys_errno);
    ggld_close(real);
}

typedef struct bad_range {
    uint64_t from;
    _Atomic int n_asked;
} bad_range;

static ggld_status refuse_range(void *ctx, const ggld_file *file,
                                uint64_t offset, uint64_t size, ggld_error *err)
{
    bad_range *bad = ctx;
    (void)file;
    bad->n_asked++;
    if (offset + size <= bad->from)
        return GGLD_OK;
    memset(err, 0, sizeof *err);
    err->code = GGLD_E_CHECKSUM;
    snprintf(err->message, sizeof err->message, "bad");
    return GGLD_E_CHECKSUM;
}

static int before_bad(ggld_job *job, const ggld_chunk *chunk, void *user)
{
    ggld_tensor_info info = { sizeof info };
    (void)job, (void)user;
    ggld_tensor_get_info(chunk->tensor, &info);
    CHECK(info.index <= 1,
          "expected no chunk of what was refused, got one of "
          "tensor %llu",
          (unsigned long long)info.index);
    return 0;
}

static void test_verifier_that_refuses(uint32_t flags)
{
    ggld_file *plain = model_open(path, 0);
    ggld_tensor_info third = { sizeof third };
    ggld_tensor_get_info(ggld_tensor_at(plain, 2), &third);
    bad_range bad = { .from = third.file_offset_bytes };
    ggld_verifier verifier = { sizeof verifier, NULL, refuse_range, NULL,
                               &bad };
    ggld_open_options open = ggld_open_options_init();
    ggld_stream_options options = ggld_stream_options_init();
    outcome o = { 0 }, opened = { 0 };
    ggld_job *job;
    uv_loop_t loop;
    ggld_error err;
    uv_loop_init(&loop);
    open.verifier = &verifier;
    MUST(ggld_open_start(&job, &loop, path, &open, outcome_opened, &opened,
                         &err),
         err);
    uv_run(&loop, UV_RUN_DEFAULT);
    options.flags = flags;
    options.chunk_bytes = 4096;
    options.n_parallel = 1;
    MUST(ggld_stream_start(&job, &loop, opened.file, NULL, 0, &options,
                           before_bad, outcome_done, &o, &err),
         err);
    ggld_close(opened.file);
    loop_finish(&loop, "verifier");
    outcome_check(&o, GGLD_E_CHECKSUM, "verifier");
    CHECK(bad.n_asked > 0, "expected the verifier to be asked");
    ggld_close(plain);
}

/* ---- data that is not there yet ---- */

static void test_metadata_only(void)
{
    char *made = model_write_layers(2, 100000);
    CHECK(truncate(made, 60000) == 0, "truncate: %s", strerror(errno));
    ggld_file *file = model_open(made, GGLD_OPEN_METADATA);
    outcome o = { 0 };
    uv_loop_t loop;
    ggld_job *job;
    ggld_error err;
    uv_loop_init(&loop);
    MUST(ggld_stream_start(&job, &loop, file, NULL, 0, NULL, ignore_chunk,
                           outcome_done, &o, &err),
         err);
    loop_finish(&loop, "metadata only");
    outcome_check(&o, GGLD_E_TRUNCATED, "metadata only");
    ggld_close(file);
    model_remove(made);
}

int main(void)
{
    model_tensor tensors[] = {
        { GGLD_TYPE_F32, 100, 32 },
        { GGLD_TYPE_Q4_0, 100, 256 },
        { GGLD_TYPE_Q8_0, 100, 256 },
        { 99, 1, 64 },
    };
    char *made = model_write(tensors, 4);
    path = made;
    loop_warm_up();
    int fds = count_fds();
    test_starts_refused();
    test_arguments();
    test_open_faults();
    test_source_that_fails();
    test_verifier_that_refuses(0);
    test_verifier_that_refuses(GGLD_STREAM_ON_WORKERS);
    test_metadata_only();
    CHECK(count_fds() == fds, "descriptors: expected %d, got %d", fds,
          count_fds());
    model_remove(made);
    printf("%d failed\n", n_failed);
    return n_failed != 0;
}
