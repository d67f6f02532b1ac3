/* SPDX-License-Identifier: MIT */
/* What of a model an export takes, and what it says of what is missing. */
#include <string.h>

#include "support.h"

#define IN   "in.safetensors"
#define OUT  "out.gguf"
#define BACK "back.safetensors"

static void on_note(const char *text, void *user)
{
    snprintf(user, 256, "%s", text);
}

/* A model without the one key that llama.cpp wants first is told of. */
static ggld_status set_architecture(ggld_writer *w, void *user, ggld_error *err)
{
    (void)user;
    return ggld_writer_set_string(w, "general.architecture", "a", 1, err);
}

static void test_no_architecture(void)
{
    const struct {
        const char *what;
        const char *out;
        ggld_export_options options;
        bool noted;
    } rows[] = {
        { "none", OUT, { .note = on_note }, true },
        { "by an option",
          OUT,
          { .note = on_note, .architecture = "a" },
          false },
        { "by a key",
          OUT,
          { .note = on_note, .set_metadata = set_architecture },
          false },
        { "safetensors", BACK, { .note = on_note }, false },
    };
    ggld_error err = { 0 };

    save_safetensors(in_folder(IN),
                     "{\"w\":{\"dtype\":\"I32\",\"shape\":[2],"
                     "\"data_offsets\":[0,8]}}",
                     NULL, 8);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ggld_export_options options = rows[i].options;
        char note[256] = "";
        options.struct_size = sizeof options;
        options.user = note;
        ggld_status status =
            export_file(in_folder(IN), in_folder(rows[i].out), &options, &err);
        bool noted = strstr(note, "no general.architecture is set") != NULL;
        CHECK(status == GGLD_OK && noted == rows[i].noted,
              "architecture, %s: expected %s; got %s, '%s'", rows[i].what,
              rows[i].noted ? "a note" : "none", ggld_status_name(status),
              note);
    }
}

/* Those that are left out are not even looked at: one may be of any type. */
static void test_skips(void)
{
    static const char *const bools[] = { "*.mask", "flags" };
    const char *header =
        "{\"flags\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},"
        "\"h.0.mask\":{\"dtype\":\"BOOL\",\"shape\":[3],\"data_offsets\":[1,4]},"
        "\"w\":{\"dtype\":\"I32\",\"shape\":[2],\"data_offsets\":[4,12]}}";
    ggld_export_options options = ggld_export_options_init();
    ggld_error err = { 0 };
    char note[256] = "";

    save_safetensors(in_folder(IN), header, NULL, 12);
    options.architecture = "a";
    options.skips = bools;
    options.n_skips = 2;
    options.note = on_note;
    options.user = note;
    for (int back = 0; back <= 1; back++) {
        ggld_status status = export_file(
            in_folder(IN), in_folder(back ? BACK : OUT), &options, &err);
        CHECK(status == GGLD_OK && note[0] == '\0',
              "skips: expected GGLD_OK and no note; got %s, '%s'",
              status == GGLD_OK ? "that" : err.message, note);
        options.architecture = NULL; /* for GGUF only */
    }
    ggld_file *file = must_open(in_folder(OUT));
    CHECK(ggld_tensor_count(file) == 1 && ggld_tensor_find(file, "w") != NULL,
          "skips: expected 'w' alone; got %d tensors",
          (int)ggld_tensor_count(file));
    ggld_close(file);
}

int main(void)
{
    make_folder();
    test_no_architecture();
    test_skips();
    remove_folder();
    return finish();
}
