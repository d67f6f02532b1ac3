/* SPDX-License-Identifier: MIT */
/* JSON with exact numbers and safe text, over json-c. What is made here and
 * put into an object or array belongs to that. Running out of memory ends the
 * program: half a document is worth nothing. */
#ifndef TOOLS_JS_H
#define TOOLS_JS_H

#include <json-c/json.h>
#include <stdint.h>

#include <ggld/types.h>

#include "out.h"

json_object *js_object(void);
json_object *js_array(void);
/* Text that is UTF-8 becomes a string, in which nothing is left that a
 * terminal would act on (\uNNNN); any other, which JSON has no form for, an
 * object {"hex": "c328ff"}. */
json_object *js_text(const char *data, size_t len);
json_object *js_u64(uint64_t value);
json_object *js_i64(int64_t value);
json_object *js_bool(bool value);
/* Shortest that reads back as the same; "NaN", "Infinity" and "-Infinity" as
 * strings. */
json_object *js_f32(float value);
json_object *js_f64(double value);
/* A measured value: four significant digits. */
json_object *js_measure(double value);

void js_set(json_object *object, const char *key, json_object *value);
void js_set_text(json_object *object, const char *key, const char *text);
void js_set_u64(json_object *object, const char *key, uint64_t value);
void js_append(json_object *array, json_object *value);
/* Prints it, and frees it. */
void js_print(output *o, json_object *object);

#endif /* TOOLS_JS_H */
