/* SPDX-License-Identifier: MIT */
/* JSON with exact numbers and safe text, written as it is made: it takes no
 * memory, whatever the length of lists and texts. Keys are given in an object,
 * and are NULL in a list and for the outermost value. */
#ifndef TOOLS_JS_H
#define TOOLS_JS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "out.h"

#define JS_DEPTH_MAX 32

typedef struct js {
    output *out;
    unsigned depth;
    bool is_empty[JS_DEPTH_MAX]; /* by depth, so far */
    bool is_list[JS_DEPTH_MAX];
} js;

js js_begin(output *o);

/* Both are ended by js_end; the outermost one's ends the document. */
void js_object(js *w, const char *key);
void js_array(js *w, const char *key);
void js_end(js *w);

/* Text that is UTF-8 becomes a string, in which nothing is left that a
 * terminal would act on (\uNNNN); any other, which JSON has no form for, an
 * object {"hex": "c328ff"}. */
void js_string(js *w, const char *key, const char *data, size_t len);
void js_text(js *w, const char *key, const char *text); /* NULL: null */
void js_u64(js *w, const char *key, uint64_t value);
void js_i64(js *w, const char *key, int64_t value);
void js_bool(js *w, const char *key, bool value);
void js_null(js *w, const char *key);
/* Shortest that reads back as the same; "NaN", "Infinity" and "-Infinity" as
 * strings. */
void js_f32(js *w, const char *key, float value);
void js_f64(js *w, const char *key, double value);
/* A measured value: four significant digits. */
void js_measure(js *w, const char *key, double value);

/* null where it is not known. */
void js_u64_if(js *w, const char *key, bool known, uint64_t value);
void js_measure_if(js *w, const char *key, bool known, double value);

#endif /* TOOLS_JS_H */
