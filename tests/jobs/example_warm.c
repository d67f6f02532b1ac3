/* SPDX-License-Identifier: MIT */
/* Opens a model on a libuv loop, and reads its first tensor while the rest is
 * still on its way into memory. */
#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

#include <ggld/async.h>

typedef struct app {
    uv_loop_t *loop;
    ggld_file *file;
    ggld_view *views; /* of all tensors, in the order in which to warm them */
    int status;       /* of the program: 1 where anything failed */
} app;

static void on_progress(ggld_job *job, uint64_t done, uint64_t total, void *_)
{
    (void)job, (void)_;
    printf("%3.0f %% of the rest is warm\n",
           total != 0 ? 100.0 * (double)done / (double)total : 100.0);
}

static void failed(app *a, const char *what, const ggld_error *err)
{
    fprintf(stderr, "%s: %s\n", what, err->message);
    a->status = 1;
}

static void on_first(ggld_job *job, const ggld_error *result, void *user)
{
    app *a = user;
    ggld_view view;
    ggld_error err = *result;
    float x[4];
    (void)job;
    if (err.code == GGLD_OK &&
        ggld_view_elems(&view, &a->views[0], 0, 4, &err) == GGLD_OK &&
        ggld_view_read_f32(&view, x, 4, &err) == GGLD_OK)
        printf("first values: %g %g %g %g\n", (double)x[0], (double)x[1],
               (double)x[2], (double)x[3]);
    else
        failed(a, "first values", &err);
}

static void on_rest(ggld_job *job, const ggld_error *result, void *user)
{
    (void)job;
    if (result->code == GGLD_OK)
        puts("all is warm");
    else
        failed(user, "the rest", result);
}

static void on_open(ggld_job *job, ggld_file *file, const ggld_error *result,
                    void *user)
{
    app *a = user;
    ggld_error err = *result;
    ggld_prefetch_options options = ggld_prefetch_options_init();
    options.progress = on_progress;
    a->file = file;
    uint64_t n = file != NULL ? ggld_tensor_count(file) : 0;
    a->views = calloc(n + 1, sizeof *a->views);
    if (file == NULL || a->views == NULL || n == 0) {
        failed(a, file == NULL ? "not opened" : "nothing to warm", &err);
        return;
    }
    for (uint64_t i = 0; i < n; i++)
        a->views[i] = ggld_tensor_view(ggld_tensor_at(file, i));
    if (ggld_prefetch_start(&job, a->loop, a->views, 1, NULL, on_first, a,
                            &err) != GGLD_OK ||
        ggld_prefetch_start(&job, a->loop, a->views + 1, n - 1, &options,
                            on_rest, a, &err) != GGLD_OK)
        failed(a, "not warmed", &err);
}

int main(int argc, char **argv)
{
    app a = { uv_default_loop(), NULL, NULL, 0 };
    ggld_job *job;
    if (argc != 2 || ggld_open_start(&job, a.loop, argv[1], NULL, on_open, &a,
                                     NULL) != GGLD_OK)
        return 2;
    uv_run(a.loop, UV_RUN_DEFAULT);
    free(a.views);
    ggld_close(a.file);
    return uv_loop_close(a.loop) != 0 ? 1 : a.status;
}
