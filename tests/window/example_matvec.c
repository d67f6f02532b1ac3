/* SPDX-License-Identifier: MIT */
/* A matrix-vector product by code that knows nothing of quantisation: over a
 * window of the matrix, which fills itself, and over a buffer that holds all of
 * it. Sums are taken in one order, so that the results are equal to the bit. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ggld/ggld.h>
#include <ggld/window.h>

/* y = A x, A of n_rows rows; any const float * will do. */
static void matvec(const float *a, const float *x, float *y, size_t n_rows,
                   size_t n_columns)
{
    for (size_t row = 0; row < n_rows; row++) {
        float sum = 0;
        for (size_t i = 0; i < n_columns; i++)
            sum += a[row * n_columns + i] * x[i];
        y[row] = sum;
    }
}

static int compare(const ggld_view *view, ggld_window *window, size_t n_rows,
                   size_t n_columns)
{
    ggld_error err;
    float *x = malloc(n_columns * sizeof *x);
    float *y = malloc(n_rows * sizeof *y);
    float *y2 = malloc(n_rows * sizeof *y2);
    float *all = malloc(n_rows * n_columns * sizeof *all);
    int rc = 1;
    for (size_t i = 0; x != NULL && i < n_columns; i++)
        x[i] = (float)((double)(i % 31) / 31 - 0.5);
    if (x == NULL || y == NULL || y2 == NULL || all == NULL) {
        puts("no memory");
    } else if (ggld_view_read_f32(view, all, view->n_elems, &err) != GGLD_OK) {
        puts(err.message);
    } else {
        matvec(ggld_window_data(window), x, y, n_rows, n_columns);
        matvec(all, x, y2, n_rows, n_columns);
        rc = memcmp(y, y2, n_rows * sizeof *y) != 0;
        printf("y[0] = %g, y[%zu] = %g: %s\n", (double)y[0], n_rows - 1,
               (double)y[n_rows - 1], rc == 0 ? "equal" : "different");
        /* NaNs, too, are equal to the bit: has anything not been read? */
        if (ggld_window_status(window, &err) != GGLD_OK) {
            puts(err.message);
            rc = 1;
        }
    }
    free(x);
    free(y);
    free(y2);
    free(all);
    return rc;
}

int main(int argc, char **argv)
{
    ggld_window_options options = ggld_window_options_init();
    ggld_window_counts counts = { sizeof counts };
    ggld_tensor_info info = { sizeof info };
    ggld_window *window = NULL;
    ggld_file *file = NULL;
    ggld_error err;
    int rc = 1;

    if (argc != 3)
        return 2;
    options.max_resident_bytes = 16u << 20;
    if (ggld_open_path(&file, argv[1], NULL, &err) != GGLD_OK) {
        puts(err.message);
        return 1;
    }
    const ggld_tensor *tensor = ggld_tensor_find(file, argv[2]);
    if (tensor == NULL) {
        printf("no tensor %s\n", argv[2]);
        ggld_close(file);
        return 1;
    }
    ggld_view view = ggld_tensor_view(tensor);
    ggld_tensor_get_info(tensor, &info);
    if (ggld_window_open(&window, &view, &options, &err) != GGLD_OK) {
        puts(err.message);
    } else {
        rc = compare(&view, window, (size_t)(info.n_elems / info.dims[0]),
                     (size_t)info.dims[0]);
        ggld_window_stats(window, &counts);
        printf("%.0f MiB of floats, at most %.0f MiB of them in memory\n",
               (double)counts.size_bytes / 1048576,
               (double)counts.peak_bytes / 1048576);
    }
    ggld_window_close(window);
    ggld_close(file);
    return rc;
}
