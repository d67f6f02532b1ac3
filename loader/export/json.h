/* SPDX-License-Identifier: MIT */
/* JSON objects too large to be had as one: their members one by one, each
 * value handed to json-c by itself. So memory is that of one member, and a key
 * that is there twice, of which json-c would keep the last, is seen. */
#ifndef GGLD_EXPORT_JSON_H
#define GGLD_EXPORT_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <json-c/json.h>

#include <ggld/types.h>

typedef struct ggld_json_members {
    const char *text;
    size_t size;
    size_t pos; /* of what comes next; where it is wrong, after a failure */
    bool begun;
} ggld_json_members;

/* Pieces of the text, as they stand there. */
typedef struct ggld_json_member {
    ggld_string key; /* with its quotes */
    ggld_string value;
} ggld_json_member;

typedef enum ggld_json_step {
    GGLD_JSON_MEMBER,
    GGLD_JSON_END,   /* of the object; only white space is behind it */
    GGLD_JSON_BROKEN /* no object, or cut */
} ggld_json_step;

/* The members of an object that is all of the text, but for white space. */
static inline ggld_json_members ggld_json_members_of(const char *text,
                                                     uint64_t size)
{
    ggld_json_members m = { text, (size_t)size, 0, false };
    return m;
}
ggld_json_step ggld_json_next(ggld_json_members *m, ggld_json_member *out);
/* Members that are there, whatever their keys; false where it is broken. */
bool ggld_json_count(const char *text, uint64_t size, uint64_t *out);

/* A parser that is strict, and to be given to json_tokener_free(). */
struct json_tokener *ggld_json_tokener(void);
/* Has a string in it half of a surrogate pair, which no UTF-8 can say? json-c
 * would put another character in its place. */
bool ggld_json_has_lone_half(ggld_string text);
/* The value that is all of the text: to be given to json_object_put(). NULL
 * where it is no JSON, has half of a surrogate pair, or is a number or word. */
struct json_object *ggld_json_parse(struct json_tokener *tokener,
                                    ggld_string text);
/* What a string is: within the object. false: it is none. */
bool ggld_json_string(struct json_object *value, ggld_string *out);
/* A whole number that is not negative, below 2^64 - 1. */
bool ggld_json_u64(struct json_object *value, uint64_t *out);

#endif /* GGLD_EXPORT_JSON_H */
