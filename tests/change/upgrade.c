/* SPDX-License-Identifier: MIT */
/* ggld_upgrade: every version and order to every other, what can't stay, and
 * that nothing is published that was not compared. */
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../views/check.h"
#include "models.h"

int n_failed;

static char *folder;
static const char *in_path, *out_path;

static ggld_file *open_path(const char *path)
{
    ggld_file *file = NULL;
    ggld_error err = { .message = "" };
    CHECK_OK(ggld_open_path(&file, path, NULL, &err), err, path);
    if (file == NULL)
        exit(1);
    return file;
}

static ggld_file *open_model(const model_made *m)
{
    image im = model_image(m);
    file_save(in_path, im.data, im.size);
    image_free(&im);
    return open_path(in_path);
}

static ggld_file_info info_of(const ggld_file *file)
{
    ggld_file_info info = { .struct_size = sizeof info };
    ggld_file_get_info(file, &info);
    return info;
}

static int count_difference(const ggld_difference *d, void *user)
{
    (void)d;
    ++*(unsigned *)user;
    return 0;
}

static unsigned n_differences(const ggld_file *a, const ggld_file *b)
{
    unsigned n = 0;
    ggld_error err;
    CHECK_OK(ggld_diff(a, b, NULL, count_difference, &n, &err), err, "diff");
    return n;
}

static void expect_bytes(const char *path, const image *want)
{
    image got = file_load(path);
    const char *differ =
        bytes_differ(got.data, got.size, want->data, want->size);
    CHECK(differ == NULL, "%s", differ);
    image_free(&got);
}

static void expect_no_output(const char *what)
{
    CHECK(folder_count(folder) == 1 && !file_exists(out_path),
          "%s: %d entries are there", what, folder_count(folder));
}

static void test_every_version_and_order(void)
{
    for (uint32_t version = 1; version <= 3; version++)
        for (int orders = 0; orders < 4; orders++) {
            model_made m = { .version = version,
                             .big_endian = orders & 1,
                             .alignment = 64 };
            model_made w = { .big_endian = orders >> 1, .alignment = 64 };
            ggld_upgrade_options options = ggld_upgrade_options_init();
            ggld_upgrade_result result = { .struct_size = sizeof result };
            ggld_file *in = open_model(&m);
            image want = model_image(&w);
            ggld_error err;

            options.flags = w.big_endian ? GGLD_UPGRADE_BIG_ENDIAN : 0;
            CHECK_OK(ggld_upgrade(in, out_path, &options, &result, &err), err,
                     "upgrade");
            CHECK(result.alignment_bytes == 64 && result.n_kvs_left_out == 0,
                  "the result");
            expect_bytes(out_path, &want);
            ggld_file *out = open_path(out_path);
            CHECK(info_of(out).version == 3 &&
                      info_of(out).big_endian == w.big_endian,
                  "version %" PRIu32, info_of(out).version);
            CHECK(n_differences(in, out) == 0, "the models differ");
            ggld_close(out);
            ggld_close(in);
            image_free(&want);
        }
    remove(out_path);
}

static void test_what_can_not_stay(void)
{
    model_made m = { .alignment = 24, .key_again = true, .other_order = true };
    ggld_upgrade_result result = { .struct_size = sizeof result };
    ggld_file *in = open_model(&m);
    ggld_error err;

    CHECK_OK(ggld_upgrade(in, out_path, NULL, &result, &err), err, "upgrade");
    CHECK(result.alignment_bytes == 32 && result.n_kvs_left_out == 1,
          "alignment %" PRIu64 ", left out %" PRIu64, result.alignment_bytes,
          result.n_kvs_left_out);
    ggld_file *out = open_path(out_path);
    CHECK(n_differences(in, out) == 1, "but for the alignment's own key");
    CHECK(ggld_kv_count(out) == ggld_kv_count(in) - 1, "the second name");
    ggld_close(out);
    ggld_close(in);
    remove(out_path);
}

static void test_unknown_types(void)
{
    for (int big_endian = 0; big_endian <= 1; big_endian++) {
        model_made m = { .version = 2,
                         .big_endian = big_endian,
                         .unknown = true };
        ggld_upgrade_options options = ggld_upgrade_options_init();
        ggld_file *in = open_model(&m);
        ggld_error err;
        char want[160];

        options.flags = big_endian ? 0 : GGLD_UPGRADE_BIG_ENDIAN;
        snprintf(want, sizeof want,
                 "tensor 2 'u': type 99 is unknown, so its bytes can't be "
                 "brought from %s-endian to %s-endian",
                 big_endian ? "big" : "little", big_endian ? "little" : "big");
        CHECK(ggld_upgrade(in, out_path, &options, NULL, &err) ==
                      GGLD_E_UNSUPPORTED &&
                  strcmp(err.message, want) == 0,
              "%s", err.message);
        expect_no_output("unknown, turned");
        options.flags ^= GGLD_UPGRADE_BIG_ENDIAN;
        CHECK_OK(ggld_upgrade(in, out_path, &options, NULL, &err), err,
                 "in its own order");
        ggld_file *out = open_path(out_path);
        CHECK(n_differences(in, out) == 0, "the models differ");
        ggld_close(out);
        ggld_close(in);
        remove(out_path);
    }
}

static void test_onto_itself(void)
{
    model_made m = { .version = 1 };
    ggld_file *in = open_model(&m);
    image old = file_load(in_path);
    ggld_error err;
    CHECK(ggld_upgrade(in, in_path, NULL, NULL, &err) == GGLD_E_INVALID &&
              strstr(err.message, "is the input") != NULL,
          "%s", err.message);
    expect_bytes(in_path, &old);
    image_free(&old);
    ggld_close(in);
}

/* ---- what happens meanwhile ---- */

static void flip_byte(const char *path, off_t at)
{
    int fd = open(path, O_RDWR);
    uint8_t byte = 0;
    if (fd < 0 || pread(fd, &byte, 1, at) != 1)
        exit(99);
    byte ^= 1;
    if (pwrite(fd, &byte, 1, at) != 1)
        exit(99);
    close(fd);
}

typedef enum deed { SPOIL_OUTPUT, SPOIL_INPUT, CANCEL } deed;

typedef struct meanwhile {
    deed what;
    bool done;
} meanwhile;

#define BIG_BYTES (12u << 20)

static void spoil_output(void)
{
    char pattern[300];
    glob_t found;

    snprintf(pattern, sizeof pattern, "%s.tmp.*", out_path);
    if (glob(pattern, 0, NULL, &found) != 0)
        exit(99);
    flip_byte(found.gl_pathv[0], BIG_BYTES);
    globfree(&found);
}

/* Once, when some of what was written has been compared. */
static int act(uint64_t done, uint64_t total, void *user)
{
    meanwhile *m = user;

    if (m->done || done <= total / 2)
        return 0;
    m->done = true;
    if (m->what == SPOIL_OUTPUT) {
        spoil_output();
    } else if (m->what == SPOIL_INPUT) {
        usleep(20000); /* a time of the file's that can be told */
        flip_byte(in_path, 100);
    }
    return m->what == CANCEL;
}

static ggld_file *open_big(void)
{
    const uint64_t dims[] = { BIG_BYTES };
    image im = image_new(2, false);

    image_header(&im, 1, 0);
    image_tensor(&im, "big", 1, dims, GGLD_TYPE_I8, 0);
    image_pad(&im, 32);
    size_t start = im.size;
    uint8_t *zeros = calloc(1, BIG_BYTES);
    image_bytes(&im, zeros, BIG_BYTES);
    free(zeros);
    for (size_t i = start; i < im.size; i += 999)
        im.data[i] = (uint8_t)i;
    file_save(in_path, im.data, im.size);
    image_free(&im);
    return open_path(in_path);
}

static void expect_meanwhile(deed what, ggld_status want, const char *message)
{
    ggld_upgrade_options options = ggld_upgrade_options_init();
    meanwhile state = { .what = what };
    ggld_file *in = open_big();
    ggld_error err;

    options.progress = act;
    options.progress_user = &state;
    ggld_status status = ggld_upgrade(in, out_path, &options, NULL, &err);
    CHECK(state.done, "it was not called");
    CHECK(status == want && strstr(err.message, message) != NULL, "%s: %s",
          ggld_status_name(status), err.message);
    expect_no_output(message);
    ggld_close(in);
}

static void test_changes_meanwhile(void)
{
    expect_meanwhile(SPOIL_OUTPUT, GGLD_E_CHECKSUM,
                     "tensor 0 'big': read back, its byte 12582848 of "
                     "12582912 is not what it was");
    expect_meanwhile(SPOIL_INPUT, GGLD_E_CHANGED, "written to");
    expect_meanwhile(CANCEL, GGLD_E_CANCELLED, "cancelled after");
}

static void test_no_room_and_no_folder(void)
{
    model_made m = { 0 };
    ggld_file *in = open_model(&m);
    ggld_error err;
    char path[256];

    snprintf(path, sizeof path, "%s/x", in_path); /* a file is no folder */
    CHECK(ggld_upgrade(in, path, NULL, NULL, &err) == GGLD_E_IO, "%s",
          err.message);
    expect_no_output("no folder");
    ggld_close(in);
}

static void test_refusals(void)
{
    model_made m = { 0 };
    ggld_upgrade_options options = ggld_upgrade_options_init();
    ggld_file *in = open_model(&m);
    ggld_error err;

    CHECK(ggld_upgrade(NULL, out_path, NULL, NULL, &err) == GGLD_E_INVALID,
          "no file");
    CHECK(ggld_upgrade(in, NULL, NULL, NULL, &err) == GGLD_E_INVALID,
          "no path");
    options.flags = 2;
    CHECK(ggld_upgrade(in, out_path, &options, NULL, &err) == GGLD_E_ABI,
          "flags");
    options = ggld_upgrade_options_init();
    options.reserved32 = 1;
    CHECK(ggld_upgrade(in, out_path, &options, NULL, &err) == GGLD_E_ABI,
          "reserved");
    expect_no_output("refusals");
    ggld_close(in);
}

int main(void)
{
    static char in_buffer[256], out_buffer[256];

    folder = folder_new();
    snprintf(in_buffer, sizeof in_buffer, "%s", folder_path(folder, "in.gguf"));
    snprintf(out_buffer, sizeof out_buffer, "%s",
             folder_path(folder, "out.gguf"));
    in_path = in_buffer;
    out_path = out_buffer;
    test_every_version_and_order();
    test_what_can_not_stay();
    test_unknown_types();
    test_onto_itself();
    test_changes_meanwhile();
    test_no_room_and_no_folder();
    test_refusals();
    folder_remove(folder);
    printf("%d failures\n", n_failed);
    return n_failed != 0;
}
