/* SPDX-License-Identifier: MIT */
/* Any text as KEY:TYPE=VALUE, with the types of a model that has a key of each:
 * what is taken is set in that model, which then says the same. */
#include <string.h>

#include <ggld/edit.h>
#include <ggld/ggld.h>

#include "../../tools/setting.h"
#include "folder.h"
#include "fuzz.h"

static const struct {
    const char *key;
    uint32_t type, elem_type;
} known_keys[] = {
    { "b", GGLD_VALUE_BOOL, 0 },
    { "f:32", GGLD_VALUE_F32, 0 },
    { "i8", GGLD_VALUE_I8, 0 },
    { "s", GGLD_VALUE_STRING, 0 },
    { "list", GGLD_VALUE_ARRAY, GGLD_VALUE_I64 },
    { "texts", GGLD_VALUE_ARRAY, GGLD_VALUE_STRING },
};

static bool known(const void *user, const char *key, uint32_t *type,
                  uint32_t *elem_type)
{
    (void)user;
    for (size_t i = 0; i < sizeof known_keys / sizeof known_keys[0]; i++)
        if (strcmp(known_keys[i].key, key) == 0) {
            *type = known_keys[i].type;
            *elem_type = known_keys[i].elem_type;
            return true;
        }
    return false;
}

/* Touches all that a setting says it has. */
static void go_through(const setting *s)
{
    volatile uint8_t sink = 0;

    FUZZ_REQUIRE(s->key != NULL, "no key");
    FUZZ_REQUIRE(ggld_value_type_name(s->type) != NULL, "type %u", s->type);
    if (s->type == GGLD_VALUE_STRING)
        for (uint64_t i = 0; i < s->n; i++)
            sink = (uint8_t)(sink + ((const uint8_t *)s->data)[i]);
    if (s->type != GGLD_VALUE_ARRAY || s->elem_type != GGLD_VALUE_STRING)
        return;
    for (uint64_t i = 0; i < s->n; i++) {
        ggld_string text = ((const ggld_string *)s->data)[i];
        for (uint64_t k = 0; k < text.len; k++)
            sink = (uint8_t)(sink + (uint8_t)text.data[k]);
    }
}

/* Into a file: 24 bytes of a header, 8 of padding, and nothing else. */
static void set(const setting *s)
{
    static const uint8_t empty[32] = "GGUF\3";
    static const char *path;
    ggld_edit_value value = { .struct_size = sizeof value,
                              .type = s->type,
                              .elem_type = s->elem_type,
                              .data = s->data,
                              .size = s->n };
    ggld_edit *edit = NULL;
    ggld_file *now = NULL;
    ggld_error err;

    if (path == NULL) {
        path = folder_file("m.gguf");
        file_put(path, empty, sizeof empty);
    }
    FUZZ_REQUIRE(ggld_edit_open(&edit, path, NULL, &err) == GGLD_OK, "%s",
                 err.message);
    if (ggld_edit_set(edit, s->key, &value, &err) == GGLD_OK &&
        strcmp(s->key, "general.alignment") != 0) {
        FUZZ_REQUIRE(ggld_edit_preview(edit, false, &now, &err) == GGLD_OK,
                     "%s", err.message);
        const ggld_kv *kv = ggld_kv_find(now, s->key);
        FUZZ_REQUIRE(kv != NULL && ggld_kv_type(kv) == s->type, "key %s",
                     s->key);
        ggld_close(now);
    }
    ggld_edit_free(edit);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char why[SETTING_WHY_MAX] = "";
    setting s;
    char *text = fuzz_alloc(size + 1);

    if (size != 0)
        memcpy(text, data, size);
    text[size] = '\0';
    if (setting_read(text, known, NULL, false, &s, why)) {
        go_through(&s);
        set(&s);
    } else {
        FUZZ_REQUIRE(why[0] != '\0' && strlen(why) < SETTING_WHY_MAX,
                     "no reason: %s", text);
    }
    setting_free(&s);
    free(text);
    return 0;
}
