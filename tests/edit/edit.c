/* SPDX-License-Identifier: MIT */
/* Edits into new files, in every version and byte order of the format, against
 * models built by hand; what is refused; what a plan says. A plain main, which
 * runs on emulated processors too. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ggld/edit.h>

#include "model.h"

static unsigned n_passed, n_failed;
static ggld_error err;
static char *folder;

#define CHECK(condition, ...)                      \
    do {                                           \
        if (!(condition)) {                        \
            printf("%s:%d: ", __FILE__, __LINE__); \
            printf(__VA_ARGS__);                   \
            printf("\n");                          \
            n_failed++;                            \
        } else {                                   \
            n_passed++;                            \
        }                                          \
    } while (0)

static void ok_at(ggld_status status, int line)
{
    if (status != GGLD_OK)
        printf("line %d: %s\n", line, err.message);
    CHECK(status == GGLD_OK, "expected GGLD_OK, got %s",
          ggld_status_name(status));
}
#define OK(call) ok_at(call, __LINE__)

static void refused_at(ggld_status status, ggld_status want, const char *text,
                       int line)
{
    CHECK(status == want, "line %d: expected %s, got %s", line,
          ggld_status_name(want), ggld_status_name(status));
    CHECK(status == GGLD_OK || strstr(err.message, text) != NULL,
          "line %d: expected '%s' in '%s'", line, text, err.message);
}
#define REFUSED(call, want, text) refused_at(call, want, text, __LINE__)

static ggld_edit_value text_value(const char *text)
{
    ggld_edit_value v = { .struct_size = sizeof v,
                          .type = GGLD_VALUE_STRING,
                          .data = text,
                          .size = strlen(text) };
    return v;
}

static ggld_edit_value number_value(uint32_t type, const void *data)
{
    ggld_edit_value v = {
        .struct_size = sizeof v, .type = type, .data = data, .size = 1
    };
    return v;
}

static ggld_edit *open_form(const model_form *form, const char **path)
{
    ggld_edit *edit = NULL;
    image im = model_build(form);
    *path = folder_path(folder, "in.gguf");
    file_save(*path, im.data, im.size);
    image_free(&im);
    OK(ggld_edit_open(&edit, *path, NULL, &err));
    return edit;
}

static void check_file(const char *path, const model_form *want,
                       const char *what)
{
    image im = model_build(want), got = file_load(path);
    const char *differ = bytes_differ(got.data, got.size, im.data, im.size);
    CHECK(differ == NULL, "%s, version %u, %s-endian: %s", what,
          (unsigned)want->version, want->big_endian ? "big" : "little", differ);
    image_free(&im);
    image_free(&got);
}

/* ---- new files ---- */

static void change_all(ggld_edit *edit)
{
    const uint32_t count = 0x01020304;
    ggld_edit_value name = text_value("another name");
    ggld_edit_value number = number_value(GGLD_VALUE_U32, &count);
    ggld_edit_value extra = text_value("more");

    OK(ggld_edit_set(edit, "general.name", &name, &err));
    OK(ggld_edit_rename(edit, "count", "number", &err));
    OK(ggld_edit_set(edit, "number", &number, &err));
    OK(ggld_edit_set(edit, "gone", &extra, &err));
    OK(ggld_edit_unset(edit, "gone", &err));
    OK(ggld_edit_set(edit, "extra", &extra, &err));
    OK(ggld_edit_rename_tensor(edit, "a", "blk.0.a.weight", &err));
}

static void new_file_is_the_old_one_changed(uint32_t version, bool big_endian)
{
    model_form form = model_plain(version, big_endian), want = form;
    const char *path, *out = folder_path(folder, "new/out.gguf");
    ggld_edit *edit = open_form(&form, &path);

    change_all(edit);
    OK(ggld_edit_write(edit, out, &err));
    REFUSED(ggld_edit_write(edit, out, &err), GGLD_E_INVALID, "carried out");
    ggld_edit_free(edit);
    want.name = "another name";
    want.count_key = "number";
    want.count = 0x01020304;
    want.extra = "more";
    want.tensor = "blk.0.a.weight";
    check_file(out, &want, "changed");
    check_file(path, &form, "the old one");
    remove(out);
    CHECK(folder_count(folder_path(folder, "new")) == 0, "something is left");
}

static void nothing_changed_is_the_same_file(uint32_t version, bool big_endian)
{
    model_form form = model_plain(version, big_endian);
    const char *path, *out = folder_path(folder, "same.gguf");
    form.padding = 50;
    ggld_edit *edit = open_form(&form, &path);
    OK(ggld_edit_write(edit, out, &err));
    ggld_edit_free(edit);
    check_file(out, &form, "unchanged");
}

static void replacing_keeps_the_mode(void)
{
    model_form form = model_plain(3, false), want = form;
    ggld_edit_value name = text_value("x");
    struct stat st;
    const char *path;
    ggld_edit *edit = open_form(&form, &path);

    chmod(path, 0640);
    ggld_edit_free(edit);
    OK(ggld_edit_open(&edit, path, NULL, &err));
    OK(ggld_edit_set(edit, "general.name", &name, &err));
    OK(ggld_edit_write(edit, NULL, &err));
    ggld_edit_free(edit);
    want.name = "x";
    check_file(path, &want, "replaced");
    CHECK(stat(path, &st) == 0 && (st.st_mode & 0777) == 0640,
          "expected mode 640, got %o", st.st_mode & 0777u);
    chmod(path, 0644);
}

static void reserve_makes_padding(uint32_t version, bool big_endian)
{
    model_form form = model_plain(version, big_endian), want = form;
    const char *path, *out = folder_path(folder, "reserved.gguf");
    ggld_edit_options options = ggld_edit_options_init();
    ggld_edit *edit = open_form(&form, &path);

    ggld_edit_free(edit);
    options.reserve_bytes = 1000;
    OK(ggld_edit_open(&edit, path, &options, &err));
    OK(ggld_edit_write(edit, out, &err));
    ggld_edit_free(edit);
    want.padding = 1000;
    check_file(out, &want, "reserved");
    /* And away again. */
    OK(ggld_edit_open(&edit, out, NULL, &err));
    OK(ggld_edit_unset(edit, "ggld.padding", &err));
    OK(ggld_edit_write(edit, NULL, &err));
    ggld_edit_free(edit);
    check_file(out, &form, "padding removed");
}

/* ---- values ---- */

static void check_value(const char *path)
{
    ggld_file *f = NULL;
    ggld_array_iter it;
    ggld_string s;
    uint64_t u = 0;
    int64_t i = 0;
    double d = 0;
    bool b = false;

    OK(ggld_open_path(&f, path, NULL, &err));
    if (f == NULL)
        return;
    CHECK(ggld_kv_get_i64(ggld_kv_find(f, "i16"), &i) && i == -2, "i16");
    CHECK(ggld_kv_get_f64(ggld_kv_find(f, "f64"), &d) && d == -0.1, "f64");
    CHECK(ggld_kv_get_bool(ggld_kv_find(f, "bool"), &b) && b, "bool");
    CHECK(ggld_kv_get_array(ggld_kv_find(f, "u64s"), &it) && it.n_elems == 2 &&
              ggld_array_next_u64(&it, &u) && u == 1 &&
              ggld_array_next_u64(&it, &u) && u == UINT64_MAX,
          "u64s");
    CHECK(ggld_kv_get_array(ggld_kv_find(f, "texts"), &it) && it.n_elems == 2 &&
              ggld_array_next_string(&it, &s) && s.len == 0 &&
              ggld_array_next_string(&it, &s) && s.len == 2 &&
              memcmp(s.data, "ab", 2) == 0,
          "texts");
    CHECK(ggld_kv_get_array(ggld_kv_find(f, "none"), &it) && it.n_elems == 0 &&
              it.elem_type == GGLD_VALUE_F32,
          "none");
    ggld_close(f);
}

static void values_of_every_kind(uint32_t version, bool big_endian)
{
    model_form form = model_plain(version, big_endian);
    const char *path, *out = folder_path(folder, "values.gguf");
    ggld_edit *edit = open_form(&form, &path);
    const int16_t i16 = -2;
    const double f64 = -0.1;
    const uint8_t yes = 1;
    const uint64_t u64s[] = { 1, UINT64_MAX };
    const ggld_string texts[] = { { "", 0 }, { "ab", 2 } };
    uint32_t type = 99, elem_type = 99;
    ggld_edit_value v;

    v = number_value(GGLD_VALUE_I16, &i16);
    OK(ggld_edit_set(edit, "i16", &v, &err));
    v = number_value(GGLD_VALUE_F64, &f64);
    OK(ggld_edit_set(edit, "f64", &v, &err));
    v = number_value(GGLD_VALUE_BOOL, &yes);
    OK(ggld_edit_set(edit, "bool", &v, &err));
    v = number_value(GGLD_VALUE_ARRAY, u64s);
    v.elem_type = GGLD_VALUE_U64;
    v.size = 2;
    OK(ggld_edit_set(edit, "u64s", &v, &err));
    v.elem_type = GGLD_VALUE_STRING;
    v.data = texts;
    OK(ggld_edit_set(edit, "texts", &v, &err));
    v.elem_type = GGLD_VALUE_F32;
    v.data = NULL;
    v.size = 0;
    OK(ggld_edit_set(edit, "none", &v, &err));
    CHECK(ggld_edit_type_of(edit, "texts", &type, &elem_type) &&
              type == GGLD_VALUE_ARRAY && elem_type == GGLD_VALUE_STRING,
          "types %u, %u", type, elem_type);
    CHECK(ggld_edit_type_of(edit, "words", NULL, &elem_type) &&
              elem_type == GGLD_VALUE_STRING,
          "a type that was there: %u", elem_type);
    CHECK(!ggld_edit_type_of(edit, "nowhere", &type, NULL), "nowhere");
    CHECK(ggld_edit_origin(edit, "words", 5) == 2 &&
              ggld_edit_origin(edit, "texts", 5) == GGLD_NO_INDEX,
          "origins");
    OK(ggld_edit_write(edit, out, &err));
    ggld_edit_free(edit);
    check_value(out);
}

/* ---- what is refused ---- */

static void refusals(void)
{
    model_form form = model_plain(3, false);
    const char *path;
    ggld_edit *edit = open_form(&form, &path);
    const uint32_t number = 64;
    const uint8_t two = 2;
    ggld_edit_value u32 = number_value(GGLD_VALUE_U32, &number);
    ggld_edit_value bad = number_value(GGLD_VALUE_BOOL, &two);
    ggld_edit_value text = text_value("\xff");
    ggld_edit_value array = number_value(GGLD_VALUE_ARRAY, &number);
    char name[65];

    REFUSED(ggld_edit_set(edit, "split.no", &u32, &err), GGLD_E_INVALID,
            "split or merge");
    REFUSED(ggld_edit_rename(edit, "count", "split.count", &err),
            GGLD_E_INVALID, "split or merge");
    REFUSED(ggld_edit_set(edit, "ggld.padding", &u32, &err), GGLD_E_INVALID,
            "reserve");
    REFUSED(ggld_edit_set(edit, "", &u32, &err), GGLD_E_STRING, "empty");
    REFUSED(ggld_edit_set(edit, "\xff", &u32, &err), GGLD_E_STRING, "UTF-8");
    REFUSED(ggld_edit_set(edit, "b", &bad, &err), GGLD_E_VALUE, "is 2");
    REFUSED(ggld_edit_set(edit, "b", &text, &err), GGLD_E_STRING, "UTF-8");
    array.elem_type = GGLD_VALUE_ARRAY;
    REFUSED(ggld_edit_set(edit, "b", &array, &err), GGLD_E_VALUE_TYPE,
            "can't be set");
    bad.type = 13;
    REFUSED(ggld_edit_set(edit, "b", &bad, &err), GGLD_E_VALUE_TYPE, "13");
    REFUSED(ggld_edit_unset(edit, "nowhere", &err), GGLD_E_INVALID,
            "'nowhere' is not there");
    REFUSED(ggld_edit_rename(edit, "nowhere", "x", &err), GGLD_E_INVALID,
            "'nowhere' is not there");
    REFUSED(ggld_edit_rename(edit, "count", "words", &err), GGLD_E_DUPLICATE,
            "'words' is there already");
    REFUSED(ggld_edit_rename_tensor(edit, "b", "c", &err), GGLD_E_INVALID,
            "'b' is not there");
    REFUSED(ggld_edit_rename_tensor(edit, "a", "odd", &err), GGLD_E_DUPLICATE,
            "that of tensor 1");
    memset(name, 'n', sizeof name);
    name[64] = '\0';
    REFUSED(ggld_edit_rename_tensor(edit, "a", name, &err), GGLD_E_STRING,
            "64 bytes, more than 63");
    REFUSED(ggld_edit_write(edit, path, &err), GGLD_E_INVALID,
            "the output is the file");
    REFUSED(ggld_edit_in_place(edit, &err), GGLD_E_INVALID,
            "GGLD_EDIT_IN_PLACE");

    /* Each alone is good, what comes of it is not. */
    ggld_edit_plan plan = { .struct_size = sizeof plan };
    OK(ggld_edit_set(edit, "general.alignment", &u32, &err));
    REFUSED(ggld_edit_plan_of(edit, &plan, &err), GGLD_E_ALIGNMENT,
            "would become 64 where it is 32");
    REFUSED(ggld_edit_write(edit, folder_path(folder, "no.gguf"), &err),
            GGLD_E_ALIGNMENT, "would become 64");
    CHECK(!file_exists(folder_path(folder, "no.gguf")), "a file is left");
    ggld_edit_free(edit);
    check_file(path, &form, "after refusals");
}

static void an_alignment_of_the_same_value_may_be_said(void)
{
    model_form form = model_plain(3, false);
    const char *path;
    ggld_edit *edit = open_form(&form, &path);
    const uint32_t number = 32;
    ggld_edit_value u32 = number_value(GGLD_VALUE_U32, &number);
    ggld_edit_plan plan = { .struct_size = sizeof plan };

    OK(ggld_edit_set(edit, "general.alignment", &u32, &err));
    OK(ggld_edit_plan_of(edit, &plan, &err));
    CHECK(plan.n_changed == 1, "expected 1 change, got %llu",
          (unsigned long long)plan.n_changed);
    ggld_edit_free(edit);
}

/* ---- what goes wrong while a new file is written ---- */

typedef struct trouble {
    const char *path;
    void (*make)(const char *path);
    int answer;
} trouble;

static void write_to(const char *path)
{
    int fd = open(path, O_WRONLY);
    usleep(20000); /* the file's times are only so fine */
    CHECK(fd >= 0, "can't open it");
    if (fd < 0)
        return;
    CHECK(pwrite(fd, "!", 1, 400) == 1, "can't write to it");
    close(fd);
}

static void cut(const char *path)
{
    usleep(20000);
    CHECK(truncate(path, 380) == 0, "can't cut it");
}

static void replace(const char *path)
{
    CHECK(remove(path) == 0, "can't remove it");
    file_save(path, "other", 5);
}

static void leave(const char *path)
{
    (void)path;
}

static int on_progress(uint64_t done_bytes, uint64_t total_bytes, void *user)
{
    trouble *t = user;
    CHECK(done_bytes <= total_bytes && total_bytes == MODEL_DATA_BYTES,
          "progress: %llu of %llu", (unsigned long long)done_bytes,
          (unsigned long long)total_bytes);
    t->make(t->path);
    return t->answer;
}

static void trouble_leaves_nothing(void)
{
    static const struct {
        void (*make)(const char *path);
        int answer;
        ggld_status want;
    } cases[] = { { write_to, 0, GGLD_E_CHANGED },
                  { cut, 0, GGLD_E_CHANGED },
                  { replace, 0, GGLD_E_CHANGED },
                  { leave, 1, GGLD_E_CANCELLED } };
    const char *out = folder_path(folder, "trouble.gguf");

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        model_form form = model_plain(3, false);
        ggld_edit_options options = ggld_edit_options_init();
        trouble t = { .make = cases[i].make, .answer = cases[i].answer };
        ggld_edit *edit = open_form(&form, &t.path);
        ggld_edit_free(edit);
        int before = folder_count(folder);
        options.progress = on_progress;
        options.progress_user = &t;
        OK(ggld_edit_open(&edit, t.path, &options, &err));
        REFUSED(ggld_edit_write(edit, out, &err), cases[i].want, "");
        ggld_edit_free(edit);
        CHECK(folder_count(folder) == before, "case %zu: something is left", i);
    }
}

/* Every allocation in turn fails. */
static ggld_status edit_with(const ggld_allocator *allocator, const char *path,
                             const char *out)
{
    ggld_edit_options options = ggld_edit_options_init();
    ggld_edit_plan plan = { .struct_size = sizeof plan };
    ggld_edit_value v = text_value("no memory for it");
    ggld_edit *edit = NULL;
    ggld_file *now = NULL;

    options.allocator = allocator;
    ggld_status status = ggld_edit_open(&edit, path, &options, &err);
    if (status == GGLD_OK)
        status = ggld_edit_set(edit, "general.name", &v, &err);
    if (status == GGLD_OK)
        status = ggld_edit_set(edit, "new", &v, &err);
    if (status == GGLD_OK)
        status = ggld_edit_rename(edit, "new", "newer", &err);
    if (status == GGLD_OK)
        status = ggld_edit_rename_tensor(edit, "a", "b", &err);
    if (status == GGLD_OK)
        status = ggld_edit_plan_of(edit, &plan, &err);
    if (status == GGLD_OK)
        status = ggld_edit_preview(edit, false, &now, &err);
    if (status == GGLD_OK)
        ggld_close(now);
    if (status == GGLD_OK)
        status = ggld_edit_write(edit, out, &err);
    ggld_edit_free(edit);
    return status;
}

static void no_memory_anywhere(void)
{
    model_form form = model_plain(3, false);
    const char *path, *out = folder_path(folder, "memory.gguf");
    ggld_edit_free(open_form(&form, &path));
    ggld_status status = GGLD_E_NOMEM;
    long n = 0;

    for (; status != GGLD_OK && n < 200; n++) {
        faulty f;
        faulty_init(&f, n);
        status = edit_with(&f.allocator, path, out);
        CHECK(f.live == 0, "allocation %ld: %ld are left", n, f.live);
        CHECK(status == GGLD_OK || status == GGLD_E_NOMEM,
              "allocation %ld: %s: %s", n, ggld_status_name(status),
              err.message);
        CHECK(file_exists(out) == (status == GGLD_OK), "allocation %ld", n);
    }
    CHECK(status == GGLD_OK && n > 15, "%ld allocations", n);
    check_file(path, &form, "after no memory");
}

/* ---- plans ---- */

static void plan_tells_how(void)
{
    model_form form = model_plain(3, false);
    const char *path;
    ggld_edit_plan plan = { .struct_size = sizeof plan };
    ggld_file *now = NULL;
    ggld_string s;
    char text[600];

    form.padding = 100;
    ggld_edit *edit = open_form(&form, &path);
    OK(ggld_edit_plan_of(edit, &plan, &err));
    CHECK(plan.in_place == GGLD_EDIT_NOTHING && plan.n_changed == 0,
          "nothing: got %d, %llu", (int)plan.in_place,
          (unsigned long long)plan.n_changed);
    ggld_edit_value v = text_value("a name that is a bit longer");
    OK(ggld_edit_set(edit, "general.name", &v, &err));
    OK(ggld_edit_plan_of(edit, &plan, &err));
    CHECK(plan.in_place == GGLD_EDIT_FITS && plan.n_changed == 1 &&
              plan.new_data_bytes == plan.old_data_bytes,
          "fits: got %d", (int)plan.in_place);
    memset(text, 'y', sizeof text);
    text[sizeof text - 1] = '\0';
    v = text_value(text);
    OK(ggld_edit_set(edit, "general.name", &v, &err));
    OK(ggld_edit_plan_of(edit, &plan, &err));
    CHECK(plan.in_place == GGLD_EDIT_INSERTS &&
              plan.new_data_bytes > plan.old_data_bytes,
          "inserts: got %d", (int)plan.in_place);
    OK(ggld_edit_preview(edit, true, &now, &err));
    ggld_edit_free(edit);
    CHECK(now != NULL &&
              ggld_kv_get_string(ggld_kv_find(now, "general.name"), &s) &&
              s.len == sizeof text - 1,
          "preview");
    ggld_close(now);
    check_file(path, &form, "after plans");
}

int main(void)
{
    static const struct {
        uint32_t version;
        bool big_endian;
    } forms[] = {
        { 3, false }, { 3, true }, { 2, false }, { 1, false }, { 1, true }
    };

    folder = folder_new();
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        new_file_is_the_old_one_changed(forms[i].version, forms[i].big_endian);
        nothing_changed_is_the_same_file(forms[i].version, forms[i].big_endian);
        reserve_makes_padding(forms[i].version, forms[i].big_endian);
        values_of_every_kind(forms[i].version, forms[i].big_endian);
    }
    replacing_keeps_the_mode();
    refusals();
    an_alignment_of_the_same_value_may_be_said();
    plan_tells_how();
    trouble_leaves_nothing();
    no_memory_anywhere();
    folder_remove(folder);
    printf("%u passed, %u failed, 0 skipped\n", n_passed, n_failed);
    return n_failed == 0 ? 0 : 1;
}
