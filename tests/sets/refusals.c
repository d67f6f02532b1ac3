/* SPDX-License-Identifier: MIT */
/* Sets that are wrong in one way each: what opens, what is refused and with
 * which words, by default and in strict mode, and that a check says the same.
 * A word as the argument tries only the rows with it in their names. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ggld/ggld.h>

#include "hearing.h"
#include "shards.h"

enum { OPENS, REFUSED };
#define NO GGLD_NO_INDEX

typedef struct row {
    const char *name;
    void (*change)(shards *set);
    uint32_t n;      /* shards to begin with; 0: the mixed three */
    uint32_t opened; /* the shard whose path is given */
    int standard, strict;
    /* Of the refusal by default, or else of the strict one. */
    ggld_status code;
    uint32_t shard;
    ggld_section section;
    uint64_t index, offset;
    const char *message;
} row;

#define CHANGE(name) static void name(shards *set)

CHANGE(nothing)
{
    (void)set;
}
CHANGE(second_absent)
{
    set->at[1].absent = true;
}
CHANGE(many_absent)
{
    set->base = "a-model-with-a-name-that-is-long";
    for (uint32_t s = 1; s < set->n; s++)
        set->at[s].absent = true;
}
CHANGE(very_long_names_absent)
{
    set->base = "a-model-with-a-name-that-is-so-long-that-it-does-not-fit-into-"
                "any-message-at-all-\xc3\xa4-and-so-on-and-on";
    set->at[0].absent = set->at[1].absent = true;
}
CHANGE(wrong_no)
{
    set->at[2].no.value = 0;
}
CHANGE(wrong_no_of_the_opened)
{
    set->at[1].no.value = 2;
}
CHANGE(no_past_the_count)
{
    set->at[1].no.value = 9;
}
CHANGE(other_count)
{
    set->at[1].count.value = 4;
}
CHANGE(no_number)
{
    set->at[1].no.type = NONE;
}
CHANGE(no_number_in_the_first)
{
    set->at[0].no.type = NONE;
}
CHANGE(no_count_in_the_second)
{
    set->at[1].count.type = NONE;
}
CHANGE(no_keys)
{
    for (uint32_t s = 0; s < set->n; s++)
        set->at[s].no.type = set->at[s].count.type = set->at[s].total.type =
            NONE;
}
CHANGE(count_of_zero)
{
    set->at[0].count.value = 0;
}
CHANGE(count_of_one)
{
    set->at[0].count.value = 1;
}
CHANGE(count_of_one_in_the_second)
{
    set->at[1].count.value = 1;
}
CHANGE(renamed)
{
    set->at[1].name = "other.gguf";
}
CHANGE(renamed_without_ending)
{
    set->at[1].name = "other.bin";
}
CHANGE(renamed_to_too_few)
{
    set->at[1].name = "m-00002-of-00002.gguf";
}
CHANGE(renamed_and_unnumbered)
{
    set->at[1].name = "other.gguf";
    set->at[1].no.type = NONE;
}
CHANGE(wide_numbers)
{
    for (uint32_t s = 0; s < set->n; s++) {
        set->at[s].no.type = U64;
        set->at[s].count.type = S32;
        set->at[s].total.type = U16;
    }
}
CHANGE(wide_no)
{
    set->at[1].no.type = U8;
}
CHANGE(wide_total)
{
    set->at[0].total.type = U32;
}
CHANGE(count_is_text)
{
    set->at[0].count.type = TEXT;
}
CHANGE(no_is_a_bool)
{
    set->at[1].no.type = BOOL;
}
CHANGE(count_is_negative)
{
    set->at[0].count = (shard_number){ S32, (uint64_t)-3 };
}
CHANGE(count_is_huge)
{
    set->at[0].count = (shard_number){ U32, 70000 };
}
CHANGE(total_is_a_float)
{
    set->at[0].total.type = F32;
}
CHANGE(total_is_wrong)
{
    set->at[0].total.value = 4;
}
CHANGE(total_of_the_last_is_wrong)
{
    set->at[2].total.value = 1;
}
CHANGE(no_total_in_the_first)
{
    set->at[0].total.type = NONE;
}
CHANGE(no_total_in_the_last)
{
    set->at[2].total.type = NONE;
}
CHANGE(one_name_twice)
{
    set->at[2].names[0] = "t0";
}
CHANGE(a_second_of_other_things)
{
    set->at[1].cut = 32;
}
CHANGE(the_opened_is_cut)
{
    set->at[0].cut = 1;
}
CHANGE(no_tensors_anywhere)
{
    for (uint32_t s = 0; s < set->n; s++) {
        set->at[s].n_tensors = 0;
        set->at[s].total.value = 0;
    }
}
CHANGE(alignment_of_the_second_is_odd)
{
    set->at[1].alignment = 24;
}

#define ABSENT "; one alone opens with GGLD_OPEN_SINGLE"

#define ALONE                                                                    \
    "file: by its name it is shard 1 of 3, by its keys a whole model: it opens " \
    "alone"

static const row rows[] = {
    { "good", nothing, 3, 0, OPENS, OPENS, 0, 0, 0, 0, 0, "" },
    { "good, of the last", nothing, 3, 2, OPENS, OPENS, 0, 0, 0, 0, 0, "" },
    { "no tensors", no_tensors_anywhere, 2, 0, OPENS, OPENS, 0, 0, 0, 0, 0,
      "" },
    { "mixed", nothing, 0, 1, OPENS, REFUSED, GGLD_E_VERSION, 2, GGLD_IN_HEADER,
      NO, 4,
      "'m-00003-of-00003.gguf': header: version 1, big-endian: ggml reads "
      "files in this machine's order only" },

    { "one is missing", second_absent, 3, 2, REFUSED, REFUSED, GGLD_E_IO, 1,
      GGLD_IN_FILE, NO, 0,
      "file: 1 of 3 shards missing: 'm-00002-of-00003.gguf'" ABSENT },
    { "many are missing", many_absent, 12, 0, REFUSED, REFUSED, GGLD_E_IO, 1,
      GGLD_IN_FILE, NO, 0,
      "file: 11 of 12 shards missing: "
      "'a-model-with-a-name-that-is-long-00002-of-00012.gguf', "
      "'a-model-with-a-name-that-is-long-00003-of-00012.gguf' and 9 "
      "more" ABSENT },
    { "long names", very_long_names_absent, 3, 2, REFUSED, REFUSED, GGLD_E_IO,
      0, GGLD_IN_FILE, NO, 0,
      "file: 2 of 3 shards missing: "
      "'a-model-with-a-name-that-is-so-long-that...-00001-of-00003.gguf', "
      "'a-model-with-a-name-that-is-so-long-that...-00002-of-00003.gguf'" ABSENT },

    { "another number", wrong_no, 3, 0, REFUSED, REFUSED, GGLD_E_SHARD, 2,
      GGLD_IN_KV, 0, 44,
      "'m-00003-of-00003.gguf': kv 0 'split.no': value 0 should be 2: by its "
      "name it is shard 3" },
    { "another number, opened", wrong_no_of_the_opened, 3, 1, REFUSED, REFUSED,
      GGLD_E_SHARD, 1, GGLD_IN_KV, 0, 44,
      "'m-00002-of-00003.gguf': kv 0 'split.no': value 2 should be 1: by its "
      "name it is shard 2" },
    { "number past the count", no_past_the_count, 3, 1, REFUSED, REFUSED,
      GGLD_E_SHARD, 1, GGLD_IN_KV, 0, 44,
      "'m-00002-of-00003.gguf': kv 0 'split.no': value 9 should be 1: by its "
      "name it is shard 2" },
    { "another count", other_count, 3, 0, REFUSED, REFUSED, GGLD_E_SHARD, 1,
      GGLD_IN_KV, 1, 69,
      "'m-00002-of-00003.gguf': kv 1 'split.count': value 4 should be 3: by "
      "its name it is one of 3" },
    { "no number", no_number, 3, 0, REFUSED, REFUSED, GGLD_E_SHARD, 1,
      GGLD_IN_FILE, NO, 0,
      "'m-00002-of-00003.gguf': file: it has no split.no, so it is no shard of "
      "a set" },
    { "no number, first", no_number_in_the_first, 3, 1, REFUSED, REFUSED,
      GGLD_E_SHARD, 0, GGLD_IN_FILE, NO, 0,
      "'m-00001-of-00003.gguf': file: it has no split.no, so it is no shard of "
      "a set" },
    { "no count", no_count_in_the_second, 3, 0, REFUSED, REFUSED, GGLD_E_SHARD,
      1, GGLD_IN_FILE, NO, 0,
      "'m-00002-of-00003.gguf': file: it has no split.count, so it is no shard "
      "of a set" },
    { "count of one in another", count_of_one_in_the_second, 3, 0, REFUSED,
      REFUSED, GGLD_E_SHARD, 1, GGLD_IN_KV, 1, 69,
      "'m-00002-of-00003.gguf': kv 1 'split.count': value 1 should be 3: by "
      "its name it is one of 3" },

    /* Not sets by what they say of themselves. */
    { "no keys", no_keys, 3, 0, OPENS, OPENS, 0, 0, 0, 0, 0, ALONE },
    { "a count of 0", count_of_zero, 3, 0, OPENS, OPENS, 0, 0, 0, 0, 0, ALONE },
    { "a count of 1", count_of_one, 3, 0, OPENS, OPENS, 0, 0, 0, 0, 0, ALONE },

    { "renamed", renamed, 3, 1, REFUSED, REFUSED, GGLD_E_SHARD, 1, GGLD_IN_FILE,
      NO, 0,
      "'other.gguf': file: by its keys it is shard 2 of 3, named "
      "'other-00002-of-00003.gguf': rename it, or open it alone with GGLD_OPEN_SINGLE" },
    { "renamed, no ending", renamed_without_ending, 3, 1, REFUSED, REFUSED,
      GGLD_E_SHARD, 1, GGLD_IN_FILE, NO, 0,
      "'other.bin': file: by its keys it is shard 2 of 3, named "
      "'other.bin-00002-of-00003.gguf': rename it, or open it alone with "
      "GGLD_OPEN_SINGLE" },
    { "renamed, one of two", renamed_to_too_few, 3, 1, REFUSED, REFUSED,
      GGLD_E_SHARD, 1, GGLD_IN_FILE, NO, 0,
      "'m-00002-of-00002.gguf': file: by its keys it is shard 2 of 3, named "
      "'m-00002-of-00003.gguf': rename it, or open it alone with GGLD_OPEN_SINGLE" },
    { "renamed, no number", renamed_and_unnumbered, 3, 1, REFUSED, REFUSED,
      GGLD_E_SHARD, 0, GGLD_IN_FILE, NO, 0,
      "file: by its keys it is shard 1 of 3, named "
      "'other-00001-of-00003.gguf': rename it, or open it alone with GGLD_OPEN_SINGLE" },

    { "other integers", wide_numbers, 3, 0, OPENS, REFUSED, GGLD_E_VALUE_TYPE,
      0, GGLD_IN_KV, 3, 146,
      "'m-00001-of-00003.gguf': kv 3 'split.count': the value is of type i32; "
      "llama.cpp takes u16 only" },
    { "a number that is u8", wide_no, 3, 0, OPENS, REFUSED, GGLD_E_VALUE_TYPE,
      1, GGLD_IN_KV, 0, 44,
      "'m-00002-of-00003.gguf': kv 0 'split.no': the value is of type u8; "
      "llama.cpp takes u16 only" },
    { "a total that is u32", wide_total, 3, 0, OPENS, REFUSED,
      GGLD_E_VALUE_TYPE, 0, GGLD_IN_KV, 4, 173,
      "'m-00001-of-00003.gguf': kv 4 'split.tensors.count': the value is of "
      "type u32; llama.cpp takes i32 only" },
    { "a count that is text", count_is_text, 3, 0, REFUSED, REFUSED,
      GGLD_E_VALUE_TYPE, 0, GGLD_IN_KV, 3, 140,
      "kv 3 'split.count': the value is of type string, not u16; a "
      "shard opens alone with GGLD_OPEN_SINGLE" },
    { "a number that is a bool", no_is_a_bool, 3, 0, REFUSED, REFUSED,
      GGLD_E_VALUE_TYPE, 1, GGLD_IN_KV, 0, 44,
      "'m-00002-of-00003.gguf': kv 0 'split.no': the value is of type bool, not "
      "u16; a shard opens alone with GGLD_OPEN_SINGLE" },
    { "a count below zero", count_is_negative, 3, 0, REFUSED, REFUSED,
      GGLD_E_VALUE_TYPE, 0, GGLD_IN_KV, 3, 140,
      "kv 3 'split.count': the value is negative; a shard opens alone with "
      "GGLD_OPEN_SINGLE" },
    { "a count that is huge", count_is_huge, 3, 0, REFUSED, REFUSED,
      GGLD_E_SHARD, 0, GGLD_IN_KV, 3, 140,
      "kv 3 'split.count': value 70000: a set has at most 65535 shards" },
    { "a total that is a float", total_is_a_float, 3, 0, REFUSED, REFUSED,
      GGLD_E_VALUE_TYPE, 0, GGLD_IN_KV, 4, 173,
      "'m-00001-of-00003.gguf': kv 4 'split.tensors.count': the value is of "
      "type f32, not i32; a shard opens alone with GGLD_OPEN_SINGLE" },

    { "another total", total_is_wrong, 3, 1, REFUSED, REFUSED, GGLD_E_SHARD, 0,
      GGLD_IN_KV, 4, 173,
      "'m-00001-of-00003.gguf': kv 4 'split.tensors.count': value 4, but the "
      "shards have 3 tensors together" },
    { "another total, last", total_of_the_last_is_wrong, 3, 1, REFUSED, REFUSED,
      GGLD_E_SHARD, 2, GGLD_IN_KV, 2, 102,
      "'m-00003-of-00003.gguf': kv 2 'split.tensors.count': value 1, but the "
      "shards have 3 tensors together" },
    { "no total", no_total_in_the_first, 3, 0, OPENS, REFUSED, GGLD_E_SHARD, 0,
      GGLD_IN_FILE, NO, 0,
      "'m-00001-of-00003.gguf': file: it has no split.tensors.count, which "
      "llama.cpp asks of the first shard" },
    { "no total, last", no_total_in_the_last, 3, 0, OPENS, OPENS, 0, 0, 0, 0, 0,
      "" },

    { "one name twice", one_name_twice, 3, 1, REFUSED, REFUSED,
      GGLD_E_DUPLICATE, 2, GGLD_IN_TENSOR_INFO, 0, 106,
      "'m-00003-of-00003.gguf': tensor 0 't0': the name is that of tensor 0 of "
      "'m-00001-of-00003.gguf' too" },
    { "the second is cut", a_second_of_other_things, 3, 0, REFUSED, REFUSED,
      GGLD_E_TRUNCATED, 1, GGLD_IN_TENSOR_DATA, 0, 160,
      "'m-00002-of-00003.gguf': tensor 0 't1': data at 160 + 32 bytes ends at "
      "192, past the end of the file (160 bytes); missing: 32 bytes, tensors "
      "whole: 0 of 1" },
    { "the opened is cut", the_opened_is_cut, 3, 0, REFUSED, REFUSED,
      GGLD_E_TRUNCATED, 0, GGLD_IN_TENSOR_DATA, 0, 224,
      "'m-00001-of-00003.gguf': tensor 0 't0': data at 224 + 32 bytes ends at "
      "256, past the end of the file (255 bytes); missing: 1 bytes, tensors "
      "whole: 0 of 1" },
    { "alignment no power", alignment_of_the_second_is_odd, 3, 2, OPENS,
      REFUSED, GGLD_E_ALIGNMENT, 1, GGLD_IN_KV, 0, 53,
      "'m-00002-of-00003.gguf': kv 0 'general.alignment': value 24 is no power "
      "of two; ggml refuses that" },
};

static int n_failed;

static void expect_error(const row *r, const char *way, const ggld_error *err)
{
    if (err->code == r->code && err->shard == r->shard &&
        err->section == r->section && err->index == r->index &&
        err->offset == r->offset && strcmp(err->message, r->message) == 0 &&
        (err->sys_errno == ENOENT) == (r->code == GGLD_E_IO))
        return;
    n_failed++;
    printf("%s, %s:\n expected %s, shard %" PRIu32 ", section %d, index "
           "%" PRIu64 ", offset %" PRIu64 ": %s\n got      %s, shard "
           "%" PRIu32 ", section %d, index %" PRIu64 ", offset %" PRIu64
           ", errno %d: %s\n",
           r->name, way, ggld_status_name(r->code), r->shard, r->section,
           r->index, r->offset, r->message, ggld_status_name(err->code),
           err->shard, err->section, err->index, err->offset, err->sys_errno,
           err->message);
}

static void expect_open(const row *r, const char *path, uint32_t flags,
                        bool describes)
{
    int expected = (flags & GGLD_OPEN_STRICT) != 0 ? r->strict : r->standard;
    ggld_open_options options = ggld_open_options_init();
    ggld_file *untouched = (ggld_file *)(uintptr_t)r, *file = untouched;
    ggld_error err;
    char way[32];

    snprintf(way, sizeof way, "open with flags %" PRIu32, flags);
    options.flags = flags;
    ggld_status status = ggld_open_path(&file, path, &options, &err);
    if ((status == GGLD_OK) != (expected == OPENS)) {
        n_failed++;
        printf("%s, %s: expected it to be %s; %s\n", r->name, way,
               expected == OPENS ? "opened" : "refused",
               status == GGLD_OK ? "it opens" : err.message);
    } else if (status != GGLD_OK && describes) {
        expect_error(r, way, &err);
    }
    if (status != GGLD_OK && file != untouched) {
        n_failed++;
        printf("%s, %s: *out was touched\n", r->name, way);
    }
    if (status == GGLD_OK)
        ggld_close(file);
}

static bool is_found(const findings *found, const char *message)
{
    for (size_t i = 0; i < found->count; i++)
        if (strcmp(found->error[i].message, message) == 0)
            return true;
    return false;
}

/* A check finds an error where open refuses, and that one among others. Where
 * all opens do, a row's message is that of a finding. */
static void expect_check(const row *r, const char *path, bool strict)
{
    int expected = strict ? r->strict : r->standard;
    bool describes = expected == REFUSED && (!strict || r->standard == OPENS);
    ggld_open_options options = ggld_open_options_init();
    findings found;

    memset(&found, 0, sizeof found);
    options.flags = strict ? GGLD_OPEN_STRICT : 0;
    ggld_status status =
        ggld_check_path(path, &options, findings_hear, &found, NULL);
    const ggld_error *error = findings_first_error(&found);
    if (status != GGLD_OK || (error == NULL) != (expected == OPENS)) {
        n_failed++;
        printf("%s, check%s: status %d, expected %s; found: %s\n", r->name,
               strict ? ", strict" : "", status,
               expected == OPENS ? "no error" : "an error",
               error != NULL ? error->message : "none");
    } else if (r->strict == OPENS && r->message[0] != '\0' &&
               !is_found(&found, r->message)) {
        n_failed++;
        printf("%s, check%s: expected the finding: %s\n among %zu, the first "
               "of which is: %s\n",
               r->name, strict ? ", strict" : "", r->message, found.count,
               found.count != 0 ? found.error[0].message : "none");
    } else if (describes && r->code != GGLD_E_IO) {
        for (size_t i = 0; i < found.count; i++)
            if (found.severity[i] == GGLD_ERROR &&
                strcmp(found.error[i].message, r->message) == 0)
                error = &found.error[i];
        expect_error(r, strict ? "check, strict" : "check", error);
    }
}

static void try_row(const row *r)
{
    static const uint32_t modes[] = { 0, GGLD_OPEN_COPY, GGLD_OPEN_PREAD,
                                      GGLD_OPEN_STRICT };
    shards set = r->n == 0 ? shards_mixed() : shards_new(r->n);
    r->change(&set);
    shards_write(&set);
    const char *path = shards_path(&set, r->opened);
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
        expect_open(r, path, modes[i],
                    modes[i] != GGLD_OPEN_STRICT || r->standard == OPENS);
    expect_check(r, path, false);
    expect_check(r, path, true);
    shards_remove(&set);
}

int main(int argc, char **argv)
{
    size_t n = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (argc > 1 && strstr(rows[i].name, argv[1]) == NULL)
            continue;
        n++;
        try_row(&rows[i]);
    }
    printf("%zu rows, %d failures\n", n, n_failed);
    return n == 0 || n_failed != 0;
}
