/* SPDX-License-Identifier: MIT */
/* ggld's own manifests: what they look like, that any name survives, that none
 * that was cut, changed or garbled passes, and that a huge one takes linear
 * time. */
#include <criterion/criterion.h>

#include <ctype.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "expect.h"

static char *path;
static ggld_error err;

static void make_path(void)
{
    path = model_path("ggsum.gguf");
}

static void remove_path(void)
{
    unlink(path);
    free(path);
}

TestSuite(ggsum, .init = make_path, .fini = remove_path);

static ggld_manifest *hash_model(const char *name, uint32_t algos,
                                 uint32_t scopes, uint64_t chunk_bytes)
{
    ggld_manifest *m;
    ggld_hash_options options = hash_options(algos, scopes, name);
    options.chunk_bytes = chunk_bytes;
    cr_assert_eq(hash_path(path, &options, &m, &err), GGLD_OK, "%s",
                 err.message);
    return m;
}

/* ---- the text ---- */

Test(ggsum, text_is_as_documented)
{
    static const char expected[] = "ggsum 1\n"
                                   "file my%20model.gguf\n"
                                   "size 256\n"
                                   "metadata 192 sha256:";
    static const char tensors[] =
        "tensors 3\n"
        "tensor t i8 3 sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb"
        "410ff61f20015ad\n"
        "tensor blk.0%20x i8 1 sha256:ca978112ca1bbdcafac231b39a23dc4da786eff81"
        "47c4e72b9807785afee48bb\n"
        "tensor e:f i8 0 sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934"
        "ca495991b7852b855\n"
        "chunks xxh3 65536 1\n";
    size_t size;
    model_write_abc(path);
    ggld_manifest *m = hash_model("dir/my model.gguf", 0, 0, 0);
    char *text = manifest_text(m, GGLD_MANIFEST_GGSUM, &size);
    cr_expect_eq(strncmp(text, expected, strlen(expected)), 0, "got\n%s", text);
    cr_expect_not_null(strstr(text, tensors), "expected\n%sin\n%s", tensors,
                       text);
    cr_expect_not_null(strstr(text, "\nroot sha256:"), "got\n%s", text);
    cr_expect_not_null(strstr(text, "\nend sha256:"), "got\n%s", text);
    free(text);
    ggld_manifest_free(m);
}

/* By sha256sum: what the last line closes, and what the root is of. */
Test(ggsum, digests_of_itself_fit_sha256sum)
{
    size_t size;
    ggld_manifest_info info = { .struct_size = sizeof info };
    char root[GGLD_DIGEST_TEXT_MAX];
    model_write_llama(path, 3 << 20);
    ggld_manifest *m = hash_model("m.gguf", BIT_SHA256, 0, 4096);
    char *text = manifest_text(m, GGLD_MANIFEST_GGSUM, &size);
    char *manifest_path = model_path("self.ggsum");
    model_save(manifest_path, text, size);
    char *end =
        output_of("head -n -1 '%s' | sha256sum | cut -c1-64", manifest_path);
    cr_expect_not_null(strstr(text, end), "expected the end %s in the text",
                       end);
    /* More than 256 chunks: two levels. */
    ggld_manifest_get_info(m, &info);
    cr_assert_gt(info.n_chunks, 256);
    char *expected = output_of(
        "f='%s'; "
        "hex() { perl -pe 'chomp; $_ = pack(\"H*\", $_)' | sha256sum | cut -c1-64; }; "
        "level() { xargs -n 256 | tr -d ' ' | while read -r l; do "
        "echo \"$l\" | hex; done; }; "
        "leaves=$(grep -E '^[0-9a-f]{16}$' $f); "
        "nodes=$(echo \"$leaves\" | level); "
        "top=$(echo \"$nodes\" | tr -d '\\n' | hex); "
        "data=$(($(sed -n 's/^size //p' $f) - "
        "$(sed -n 's/^metadata \\([0-9]*\\).*/\\1/p' $f))); "
        "{ echo 'ggsum root 1'; grep ^metadata $f; echo data $data; "
        "grep ^chunks $f; echo top sha256:$top; } | sha256sum | cut -c1-64",
        manifest_path);
    ggld_digest_text(&info.root, root);
    expected[strcspn(expected, "\n")] = '\0';
    cr_expect_str_eq(root, expected, "root: expected %s, got %s", expected,
                     root);
    unlink(manifest_path);
    free(manifest_path);
    free(expected);
    free(end);
    free(text);
    ggld_manifest_free(m);
}

static const model_tensor odd_names[] = {
    { .name = "with spaces  two",
      .type = GGLD_TYPE_I8,
      .n_dims = 1,
      .dims = { 5 } },
    { .name = "a:b::c", .type = GGLD_TYPE_I8, .n_dims = 1, .dims = { 6 } },
    { .name = "new\nline\rand\ttab",
      .type = GGLD_TYPE_I8,
      .n_dims = 1,
      .dims = { 7 } },
    { .name = "100%25 %", .type = GGLD_TYPE_I8, .n_dims = 1, .dims = { 8 } },
    { .name = "nul\0inside",
      .name_len = 10,
      .type = GGLD_TYPE_I8,
      .n_dims = 1,
      .dims = { 9 } },
    { .name = "\xc3\xa9\xe2\x96\x81",
      .type = GGLD_TYPE_I8,
      .n_dims = 1,
      .dims = { 10 } },
    { .name = "end sha256:0",
      .type = GGLD_TYPE_F32,
      .n_dims = 4,
      .dims = { 2, 3, 1, 4 } },
};

#define N_ODD (sizeof odd_names / sizeof odd_names[0])

Test(ggsum, any_name_survives)
{
    size_t size, again_size;
    ggld_manifest *read;
    model_write(path, odd_names, N_ODD, 0);
    ggld_manifest *m =
        hash_model("x\ny %.gguf", BIT_SHA256 | BIT_XXH64, GGLD_SCOPE_TENSOR, 0);
    char *text = manifest_text(m, GGLD_MANIFEST_GGSUM, &size);
    cr_assert_eq(parse_text(&read, text, size, 0, &err), GGLD_OK, "%s",
                 err.message);
    for (size_t i = 0; i < N_ODD; i++) {
        ggld_manifest_entry e = { .struct_size = sizeof e };
        size_t len = odd_names[i].name_len != 0 ? odd_names[i].name_len
                                                : strlen(odd_names[i].name);
        cr_assert(ggld_manifest_at(read, 2 * i, &e));
        cr_expect(e.name.len == len &&
                      memcmp(e.name.data, odd_names[i].name, len) == 0,
                  "name %zu: got '%.*s'", i, (int)e.name.len, e.name.data);
        cr_expect(e.has_shape && e.type == odd_names[i].type &&
                      e.n_dims == odd_names[i].n_dims &&
                      e.dims[0] == odd_names[i].dims[0],
                  "shape %zu", i);
    }
    char *again = manifest_text(read, GGLD_MANIFEST_GGSUM, &again_size);
    cr_expect(again_size == size && memcmp(again, text, size) == 0,
              "expected the same text again, got\n%s", again);
    free(again);
    free(text);
    ggld_manifest_free(read);
    ggld_manifest_free(m);
}

/* ---- what is refused ---- */

static char *good_text(size_t *size)
{
    model_write_abc(path);
    ggld_manifest *m =
        hash_model("m.gguf", BIT_SHA256 | BIT_XXH3,
                   GGLD_SCOPE_FILE | GGLD_SCOPE_METADATA | GGLD_SCOPE_TENSOR |
                       GGLD_SCOPE_TENSORS | GGLD_SCOPE_CHUNKS,
                   0);
    char *text = manifest_text(m, GGLD_MANIFEST_GGSUM, size);
    ggld_manifest_free(m);
    return text;
}

Test(ggsum, cut_anywhere_is_refused)
{
    size_t size;
    char *text = good_text(&size);
    for (size_t n = 0; n < size; n++) {
        ggld_manifest *m = NULL;
        ggld_status status = parse_text(&m, text, n, 0, &err);
        cr_expect(status != GGLD_OK && m == NULL,
                  "expected a refusal of the first %zu bytes", n);
        if (status == GGLD_OK)
            ggld_manifest_free(m);
    }
    free(text);
}

Test(ggsum, any_changed_byte_is_refused)
{
    size_t size;
    char *text = good_text(&size);
    for (size_t i = 0; i < size; i++) {
        for (int bit = 0; bit < 8; bit++) {
            ggld_manifest *m = NULL;
            text[i] = (char)(text[i] ^ 1 << bit);
            ggld_status status =
                parse_text(&m, text, size, GGLD_MANIFEST_GGSUM, &err);
            /* The case of a digest's hex says nothing. */
            bool only_case = bit == 5 && status == GGLD_OK &&
                             strstr(text + i, "\n") + 1 == text + size;
            cr_expect(status != GGLD_OK || only_case,
                      "expected a refusal with bit %d of byte %zu changed", bit,
                      i);
            if (status == GGLD_OK)
                ggld_manifest_free(m);
            text[i] = (char)(text[i] ^ 1 << bit);
        }
    }
    free(text);
}

/* A text closed anew, so that it is refused for what is in it. */
static ggld_status parse_closed(const char *body)
{
    unsigned char md[EVP_MAX_MD_SIZE];
    char text[8192];
    size_t len = strlen(body);
    ggld_manifest *m;
    memcpy(text, body, len);
    EVP_Digest(body, len, md, NULL, EVP_sha256(), NULL);
    len += (size_t)sprintf(text + len, "end sha256:");
    for (int i = 0; i < 32; i++)
        len += (size_t)sprintf(text + len, "%02x", md[i]);
    text[len++] = '\n';
    ggld_status status = ggld_manifest_parse(&m, "M.ggsum", text, len, 0, &err);
    if (status == GGLD_OK)
        ggld_manifest_free(m);
    return status;
}

#define X3   "xxh3:0123456789abcdef"
#define HEAD "ggsum 1\nfile m.gguf\nsize 9000\nmetadata 96 " X3 "\n"

static const struct {
    const char *what;
    const char *body;
    ggld_status code;
    const char *says;
} refused[] = {
    { "another version", "ggsum 2\n", GGLD_E_VERSION, "M.ggsum line 1: " },
    { "no file", "ggsum 1\nsize 1\n", GGLD_E_STRING, "line 2: 'size' too " },
    { "a line twice", "ggsum 1\nfile m\nfile m\n", GGLD_E_DUPLICATE,
      "line 3: 'file' again" },
    { "an unknown line", HEAD "owner me\n", GGLD_E_STRING,
      "line 5: unknown: 'owner me'" },
    { "an empty line", HEAD "\n", GGLD_E_STRING, "line 5: unknown: ''" },
    { "a path", "ggsum 1\nfile ../m.gguf\n", GGLD_E_STRING,
      "line 2: file '../m.gguf' is a path" },
    { "the folder above", "ggsum 1\nfile ..\n", GGLD_E_STRING, "line 2: " },
    { "an absolute path", "ggsum 1\nfile /etc/passwd\n", GGLD_E_STRING,
      "line 2: " },
    { "CR LF", "ggsum 1\r\nfile m.gguf\r\n", GGLD_E_STRING,
      "line 1: ends in CR LF" },
    { "a size that is none", "ggsum 1\nfile m\nsize 0x10\n", GGLD_E_STRING,
      "line 3: garbled" },
    { "a size with a zero before", "ggsum 1\nfile m\nsize 010\n", GGLD_E_STRING,
      "line 3: garbled" },
    { "a size of 2^64", "ggsum 1\nfile m\nsize 18446744073709551616\n",
      GGLD_E_STRING, "line 3: garbled" },
    { "metadata larger than the file",
      "ggsum 1\nfile m\nsize 10\nmetadata 11\n", GGLD_E_STRING,
      "line 4: metadata of 11 bytes in a file of 10" },
    { "a digest that is too short", HEAD "together xxh3:0123\n", GGLD_E_STRING,
      "line 5: 'xxh3:0123' is no digest" },
    { "a digest of an unknown kind", HEAD "together md5:00\n", GGLD_E_STRING,
      "line 5: " },
    { "one digest twice", HEAD "together " X3 " " X3 "\n", GGLD_E_DUPLICATE,
      "line 5: xxh3 of tensors together" },
    { "fewer tensors than counted", HEAD "tensors 3\ntensor a i8 3 " X3 "\n",
      GGLD_E_STRING, "line 7: garbled" },
    { "more tensors than counted",
      HEAD "tensors 1\ntensor a i8 3 " X3 "\ntensor b i8 3 " X3 "\n",
      GGLD_E_STRING, "line 7: unknown" },
    { "a count of 2^63", HEAD "tensors 9223372036854775808\n", GGLD_E_STRING,
      "line 6: garbled" },
    { "a tensor twice",
      HEAD "tensors 2\ntensor a i8 3 " X3 "\ntensor a i8 3 " X3 "\n",
      GGLD_E_DUPLICATE, "line 7: xxh3 of tensor 'a' again, which line 6" },
    { "a tensor without digest", HEAD "tensors 1\ntensor a i8 3\n",
      GGLD_E_STRING, "line 6: garbled" },
    { "an unknown type", HEAD "tensors 1\ntensor a q9_9 3 " X3 "\n",
      GGLD_E_STRING, "line 6: garbled" },
    { "a type's number where it has a name",
      HEAD "tensors 1\ntensor a 24 3 " X3 "\n", GGLD_E_STRING,
      "line 6: garbled" },
    { "five dimensions", HEAD "tensors 1\ntensor a i8 1x1x1x1x1 " X3 "\n",
      GGLD_E_STRING, "line 6: garbled" },
    { "a dimension missing", HEAD "tensors 1\ntensor a i8 3x " X3 "\n",
      GGLD_E_STRING, "line 6: garbled" },
    { "a name badly escaped", HEAD "tensors 1\ntensor a%2 i8 3 " X3 "\n",
      GGLD_E_STRING, "line 6: garbled" },
    { "chunks that do not fit the size", HEAD "chunks xxh3 4096 9\n",
      GGLD_E_STRING, "line 5: 9 chunks; 8904 bytes of data have 3" },
    { "chunks of an odd size", HEAD "chunks xxh3 5000 2\n", GGLD_E_STRING,
      "line 5: garbled" },
    { "a leaf that is none",
      HEAD "chunks xxh3 4096 3\n0123456789abcdef\n0123456789abcdeg\n"
           "0123456789abcdef\n",
      GGLD_E_STRING, "line 7: '0123456789abcdeg' is no xxh3 digest" },
    { "chunks without a root",
      HEAD "chunks xxh3 4096 3\n0123456789abcdef\n0123456789abcdef\n"
           "0123456789abcdef\n",
      GGLD_E_STRING, "line 9: the 'root' line" },
    { "a root that does not fit",
      HEAD "chunks xxh3 4096 3\n0123456789abcdef\n0123456789abcdef\n"
           "0123456789abcdef\nroot sha256:00000000000000000000000000000000"
           "00000000000000000000000000000000\n",
      GGLD_E_CHECKSUM, "line 9: the root does not fit" },
    { "a root without chunks", HEAD "root sha256:00\n", GGLD_E_STRING,
      "line 5: garbled" },
};

Test(ggsum, garbled_lines_are_named)
{
    cr_expect_eq(parse_closed(HEAD), GGLD_OK, "%s", err.message);
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        ggld_status status = parse_closed(refused[i].body);
        cr_expect_eq(status, refused[i].code, "%s: expected %s, got %s: %s",
                     refused[i].what, ggld_status_name(refused[i].code),
                     ggld_status_name(status), err.message);
        cr_expect_not_null(strstr(err.message, refused[i].says),
                           "%s: expected '%s' in '%s'", refused[i].what,
                           refused[i].says, err.message);
    }
}

Test(ggsum, the_end_of_a_cut_list_is_told_by_its_count)
{
    expect_refused(HEAD "tensors 2\ntensor a i8 3 " X3 "\n", GGLD_E_TRUNCATED,
                   "cut: the text ends after 1 of 2 entries");
    expect_refused(HEAD "tensors 1\n", GGLD_E_TRUNCATED,
                   "cut: the text ends after 0 of 1 entry");
}

Test(ggsum, text_behind_the_end_is_refused)
{
    size_t size;
    char *text = good_text(&size);
    char *more = malloc(size + 8);
    ggld_manifest *m;
    memcpy(more, text, size);
    memcpy(more + size, "size 1\n", 7);
    cr_expect_eq(parse_text(&m, more, size + 7, 0, &err), GGLD_E_STRING, "%s",
                 err.message);
    free(more);
    free(text);
}

/* ---- size ---- */

static char *huge_text(size_t n_lines, size_t *size)
{
    char *text = malloc(n_lines * 64);
    size_t len = 0;
    for (size_t i = 0; i < n_lines; i++)
        len += (size_t)sprintf(text + len, "xxh64     %016zx  m.gguf:blk.%zu\n",
                               i, i);
    *size = len;
    return text;
}

static double parse_seconds(size_t n_lines, size_t *size)
{
    ggld_manifest *m;
    char *text = huge_text(n_lines, size);
    clock_t start = clock();
    cr_assert_eq(parse_text(&m, text, *size, 0, &err), GGLD_OK, "%s",
                 err.message);
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    cr_expect_eq(ggld_manifest_count(m), n_lines);
    ggld_manifest_free(m);
    free(text);
    return seconds;
}

/* Quadratic work would take sixteen hundred times as long. */
Test(ggsum, hundred_megabytes_take_linear_time)
{
    size_t small, large;
    double one = parse_seconds(60000, &small);
    double forty = parse_seconds(2400000, &large);
    cr_expect_gt(large, 100u << 20, "got %zu bytes", large);
    cr_expect_lt(forty, 200 * (one + 0.01),
                 "expected about 40 times %f s, got %f s", one, forty);
}

/* Every byte in every place of a leaf: a digit or a refusal, which a fast way
 * through all leaves must not blur. */
Test(ggsum, leaves_take_hex_digits_alone)
{
    static const char leaf[] = "0123456789abcdef";
    char text[1000];
    for (int place = 0; place < 16; place++)
        for (int c = 1; c < 256; c++) {
            ggld_manifest *m;
            int n = snprintf(text, sizeof text,
                             HEAD "chunks xxh3 4096 3\n%s\n%s\n%s\n", leaf,
                             leaf, leaf);
            text[n - 34 + place] = (char)c;
            ggld_status got = parse_text(&m, text, (size_t)n, 0, &err);
            bool digit = isxdigit(c) != 0;
            bool refused_it = strstr(err.message, "is no xxh3") != NULL;
            cr_expect(got != GGLD_OK && refused_it != digit,
                      "byte %#x at %d: got %s", c, place, err.message);
        }
}
