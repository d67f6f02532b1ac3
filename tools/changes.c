/* SPDX-License-Identifier: MIT */
/* See changes.h. Both ways to show it go through the same walk. */
#include "changes.h"

#include <inttypes.h>
#include <string.h>

#include <ggld/tensor.h>

#include "model.h"
#include "text.h"
#include "value.h"

#define SHOWN_ELEMS 8
#define SHOWN_CHARS 60

/* One change: of a key-value where there is a kv, otherwise of a tensor's
 * name. */
typedef struct change {
    const ggld_kv *then, *now;
    ggld_string old_name, new_name;
} change;

typedef void (*on_change)(void *user, const change *c);

static bool same_text(ggld_string a, ggld_string b)
{
    return a.len == b.len && memcmp(a.data, b.data, (size_t)a.len) == 0;
}

static bool same_value(const ggld_kv *a, const ggld_kv *b)
{
    return ggld_kv_type(a) == ggld_kv_type(b) &&
           same_text(ggld_kv_raw(a).bytes, ggld_kv_raw(b).bytes);
}

static bool is_padding(ggld_string key)
{
    const ggld_string padding = { "ggld.padding", 12 };
    return same_text(key, padding);
}

static void see_kv(const ggld_edit *edit, const ggld_kv *now, on_change tell,
                   void *user)
{
    ggld_string key = ggld_kv_key(now);
    uint64_t origin = ggld_edit_origin(edit, key.data, (size_t)key.len);
    change c = { .now = now, .old_name = key, .new_name = key };

    c.then = ggld_kv_at(ggld_edit_file(edit), origin);
    if (c.then != NULL)
        c.old_name = ggld_kv_key(c.then);
    if (is_padding(key) || (c.then != NULL && same_text(key, c.old_name) &&
                            same_value(c.then, now)))
        return;
    tell(user, &c);
}

/* Is old key-value number index still there, under whatever key? */
static bool is_left(const ggld_edit *edit, const ggld_file *now, uint64_t index)
{
    for (uint64_t i = 0; i < ggld_kv_count(now); i++) {
        ggld_string key = ggld_kv_key(ggld_kv_at(now, i));
        if (ggld_edit_origin(edit, key.data, (size_t)key.len) == index)
            return true;
    }
    return false;
}

static void see_old_kv(const ggld_edit *edit, const ggld_file *now,
                       uint64_t index, on_change tell, void *user)
{
    const ggld_file *old = ggld_edit_file(edit);
    change c = { .then = ggld_kv_at(old, index) };

    c.old_name = c.new_name = ggld_kv_key(c.then);
    /* Of a key that is there twice the first counts. */
    if (!is_padding(c.old_name) &&
        ggld_kv_find_n(old, c.old_name.data, (size_t)c.old_name.len) ==
            c.then &&
        !is_left(edit, now, index))
        tell(user, &c);
}

static void see_all(const ggld_edit *edit, const ggld_file *now, on_change tell,
                    void *user)
{
    const ggld_file *old = ggld_edit_file(edit);

    for (uint64_t i = 0; i < ggld_kv_count(old); i++)
        see_old_kv(edit, now, i, tell, user);
    for (uint64_t i = 0; i < ggld_kv_count(now); i++)
        see_kv(edit, ggld_kv_at(now, i), tell, user);
    for (uint64_t i = 0; i < ggld_tensor_count(old); i++) {
        change c = { .old_name = model_tensor_info(ggld_tensor_at(old, i)).name,
                     .new_name =
                         model_tensor_info(ggld_tensor_at(now, i)).name };
        if (!same_text(c.old_name, c.new_name))
            tell(user, &c);
    }
}

/* ---- as text ---- */

static void print_value(output *o, const ggld_kv *kv)
{
    const value_limits limits = { SHOWN_ELEMS, SHOWN_CHARS };

    out_printf(o, "%s ", value_type_text(kv).text);
    value_print(o, kv, limits);
}

static void print_names(output *o, const change *c)
{
    text_put_name(o, c->old_name.data, (size_t)c->old_name.len);
    if (same_text(c->old_name, c->new_name))
        return;
    out_text(o, " -> ");
    text_put_name(o, c->new_name.data, (size_t)c->new_name.len);
}

static void print_change(void *user, const change *c)
{
    output *o = user;
    bool renamed = !same_text(c->old_name, c->new_name);

    if (c->then == NULL && c->now == NULL) {
        out_text(o, "> tensor ");
        print_names(o, c);
        out_text(o, "\n");
        return;
    }
    out_text(o, c->then == NULL  ? "+ "
                : c->now == NULL ? "- "
                : renamed        ? "> "
                                 : "~ ");
    print_names(o, c);
    if (c->then == NULL || c->now == NULL) {
        out_text(o, ": ");
        print_value(o, c->now != NULL ? c->now : c->then);
    } else if (!same_value(c->then, c->now)) {
        out_text(o, ": ");
        print_value(o, c->then);
        out_text(o, " -> ");
        print_value(o, c->now);
    }
    out_text(o, "\n");
}

void changes_print(output *o, const ggld_edit *edit, const ggld_file *now)
{
    see_all(edit, now, print_change, o);
}

/* ---- as JSON ---- */

static void json_change(void *user, const change *c)
{
    const value_limits limits = { SHOWN_ELEMS, VALUE_SHORT_BYTES };
    js *w = user;
    bool renamed = !same_text(c->old_name, c->new_name);
    bool is_tensor = c->then == NULL && c->now == NULL;

    js_object(w, NULL);
    js_text(w, "change",
            renamed           ? "renamed"
            : c->then == NULL ? "added"
            : c->now == NULL  ? "removed"
                              : "changed");
    js_text(w, "what", is_tensor ? "tensor" : "kv");
    js_string(w, "name", c->new_name.data, (size_t)c->new_name.len);
    if (renamed)
        js_string(w, "old_name", c->old_name.data, (size_t)c->old_name.len);
    if (c->then != NULL)
        value_json_row(w, "old", c->then, limits);
    if (c->now != NULL)
        value_json_row(w, "new", c->now, limits);
    js_end(w);
}

void changes_json(js *w, const char *key, const ggld_edit *edit,
                  const ggld_file *now)
{
    js_array(w, key);
    see_all(edit, now, json_change, w);
    js_end(w);
}
