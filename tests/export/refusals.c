/* SPDX-License-Identifier: MIT */
/* safetensors files that are wrong in one way each, or odd and right: what is
 * said of them, and in which words. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support.h"

#define F32(name, begin, end)                        \
    "\"" name "\":{\"dtype\":\"F32\",\"shape\":[4]," \
    "\"data_offsets\":[" #begin "," #end "]}"

static const struct {
    const char *what;
    const char *json;
    size_t data_bytes;
    ggld_status code;
    const char *message; /* a part of it */
} rows[] = {
    { "one tensor", "{" F32("a", 0, 16) "}", 16, GGLD_OK, "" },
    { "nothing", "{}", 0, GGLD_OK, "" },
    { "white space",
      " \n{ \"a\" : {\"dtype\":\"F32\",\t\"shape\":[ 4 ],"
      "\"data_offsets\":[0, 16] } } \r\n  ",
      16, GGLD_OK, "" },
    { "in another order than the data",
      "{" F32("a", 16, 32) "," F32("b", 0, 16) "}", 32, GGLD_OK, "" },
    { "no dimensions",
      "{\"a\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]}}", 4,
      GGLD_OK, "" },
    { "no elements",
      "{\"a\":{\"dtype\":\"F32\",\"shape\":[0,9],\"data_offsets\":[0,0]},"
      "\"b\":{\"dtype\":\"F32\",\"shape\":[4611686018427387904,0,8],"
      "\"data_offsets\":[0,0]}}",
      0, GGLD_OK, "" },
    { "metadata", "{\"__metadata__\":{\"format\":\"pt\",\"a\":\"\"}}", 0,
      GGLD_OK, "" },
    { "no metadata", "{\"__metadata__\":null}", 0, GGLD_OK, "" },
    { "an unknown field",
      "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1],"
      "\"more\":{\"x\":[1,{}]}}}",
      1, GGLD_OK, "" },

    { "no JSON", "{\"a\"", 0, GGLD_E_STRING, "header: not JSON, at byte 12" },
    { "no object", "[]", 0, GGLD_E_STRING, "header: not JSON, at byte 8" },
    { "cut", "{" F32("a", 0, 16), 16, GGLD_E_STRING, "header: not JSON" },
    { "something behind it", "{} x", 0, GGLD_E_STRING, "header: not JSON" },
    { "a comma too many", "{" F32("a", 0, 16) ",}", 16, GGLD_E_STRING,
      "header: not JSON" },
    { "no comma", "{" F32("a", 0, 16) F32("b", 16, 32) "}", 32, GGLD_E_STRING,
      "header: not JSON" },
    { "a broken escape", "{\"\\x\":1}", 0, GGLD_E_STRING, "header: not JSON" },
    { "a name that is not UTF-8", "{\"\xff\":{}}", 0, GGLD_E_STRING,
      "header: not JSON" },
    { "a line end in a name", "{\"\n\":{}}", 0, GGLD_E_STRING,
      "header: not JSON" },
    { "a NUL in a name", "{\"a\\u0000b\":{}}", 0, GGLD_E_STRING,
      "tensor 'a\\x00b': the name has a NUL" },
    { "the wrong bracket",
      "{\"a\":{\"dtype\":\"U8\",\"shape\":[1},\"data_offsets\":[0,1]}}", 1,
      GGLD_E_STRING, "tensor 'a': is not described by a JSON object" },
    { "a comment", "{\"a\":{/* */}}", 0, GGLD_E_STRING,
      "tensor 'a': is not described by a JSON object" },
    { "a number for a tensor", "{\"a\":1}", 0, GGLD_E_STRING,
      "tensor 'a': is not described by a JSON object" },
    { "a list for a tensor", "{\"a\":[]}", 0, GGLD_E_STRING,
      "tensor 'a': is not described by a JSON object" },
    { "deep", "{\"a\":{\"x\":[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]}}", 0,
      GGLD_E_STRING, "tensor 'a': is not described by a JSON object" },

    { "a name twice", "{" F32("a", 0, 16) "," F32("a", 16, 32) "}", 32,
      GGLD_E_DUPLICATE, "tensor 'a': the name is there twice" },
    { "a name twice, written in two ways",
      "{" F32("a", 0, 16) "," F32("\\u0061", 16, 32) "}", 32, GGLD_E_DUPLICATE,
      "tensor 'a': the name is there twice" },
    { "a field twice",
      "{\"a\":{\"dtype\":\"U8\",\"dtype\":\"I8\",\"shape\":[1],"
      "\"data_offsets\":[0,1]}}",
      1, GGLD_E_DUPLICATE, "tensor 'a': a field is there twice" },
    { "metadata twice", "{\"__metadata__\":{},\"__metadata__\":{}}", 0,
      GGLD_E_DUPLICATE, "__metadata__ is there twice" },
    { "a key of metadata twice", "{\"__metadata__\":{\"k\":\"1\",\"k\":\"2\"}}",
      0, GGLD_E_DUPLICATE, "__metadata__: 'k' is there twice" },
    { "metadata that is a number", "{\"__metadata__\":{\"k\":1}}", 0,
      GGLD_E_VALUE_TYPE, "__metadata__: the value of 'k' is no text" },
    { "metadata that is an object", "{\"__metadata__\":{\"k\":{}}}", 0,
      GGLD_E_VALUE_TYPE, "__metadata__: the value of 'k' is no text" },
    { "metadata that is a list", "{\"__metadata__\":[]}", 0, GGLD_E_STRING,
      "__metadata__ is no object of texts" },
    { "metadata that is text", "{\"__metadata__\":\"x\"}", 0, GGLD_E_STRING,
      "__metadata__ is no object of texts" },

    { "no dtype", "{\"a\":{\"shape\":[1],\"data_offsets\":[0,1]}}", 1,
      GGLD_E_STRING, "tensor 'a': it has no dtype" },
    { "an unknown dtype",
      "{\"a\":{\"dtype\":\"F7\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1,
      GGLD_E_TENSOR_TYPE, "tensor 'a': dtype 'F7' is unknown" },
    { "a dtype in lower case",
      "{\"a\":{\"dtype\":\"f32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4,
      GGLD_E_TENSOR_TYPE, "tensor 'a': dtype 'f32' is unknown" },
    { "no shape", "{\"a\":{\"dtype\":\"U8\",\"data_offsets\":[0,1]}}", 1,
      GGLD_E_SHAPE, "tensor 'a': it has no shape" },
    { "a negative dimension",
      "{\"a\":{\"dtype\":\"U8\",\"shape\":[-1],\"data_offsets\":[0,1]}}", 1,
      GGLD_E_SHAPE, "tensor 'a': shape has what is no size" },
    { "a dimension with a fraction",
      "{\"a\":{\"dtype\":\"U8\",\"shape\":[1.0],\"data_offsets\":[0,1]}}", 1,
      GGLD_E_SHAPE, "tensor 'a': shape has what is no size" },
    { "a dimension that is text",
      "{\"a\":{\"dtype\":\"U8\",\"shape\":[\"1\"],\"data_offsets\":[0,1]}}", 1,
      GGLD_E_SHAPE, "tensor 'a': shape has what is no size" },
    { "five dimensions",
      "{\"a\":{\"dtype\":\"U8\",\"shape\":[1,1,1,1,1],\"data_offsets\":[0,1]}}",
      1, GGLD_E_SHAPE, "tensor 'a': 5 dimensions; GGUF has at most 4" },
    { "a shape that overflows",
      "{\"a\":{\"dtype\":\"U8\",\"shape\":[4294967296,4294967296],"
      "\"data_offsets\":[0,1]}}",
      1, GGLD_E_OVERFLOW, "tensor 'a': its shape is larger than any file" },
    { "a dimension that overflows",
      "{\"a\":{\"dtype\":\"U8\",\"shape\":[99999999999999999999],"
      "\"data_offsets\":[0,1]}}",
      1, GGLD_E_SHAPE, "tensor 'a': shape has what is no size" },

    { "no offsets", "{\"a\":{\"dtype\":\"U8\",\"shape\":[1]}}", 1,
      GGLD_E_STRING, "tensor 'a': it has no data_offsets" },
    { "an offset past 64 bits",
      "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],"
      "\"data_offsets\":[0,18446744073709551616]}}",
      1, GGLD_E_STRING,
      "tensor 'a': data_offsets has what is no valid offset" },
    { "half of a surrogate pair in a name", "{\"\\ud800\":{}}", 0,
      GGLD_E_STRING,
      "header: no valid text: half of a surrogate pair stands alone" },
    { "the second half of a surrogate pair", "{\"\\udc00x\":{}}", 0,
      GGLD_E_STRING,
      "header: no valid text: half of a surrogate pair stands alone" },
    { "two first halves", "{\"\\ud800\\ud800\\udc00\":{}}", 0, GGLD_E_STRING,
      "header: no valid text: half of a surrogate pair stands alone" },
    { "a whole surrogate pair, and what only looks like half of one",
      "{\"\\\\ud800\\ud83d\\ude00\":{}}", 0, GGLD_E_STRING, "it has no dtype" },
    { "half of a surrogate pair in metadata",
      "{\"__metadata__\":{\"k\":\"\\udfff\"}}", 0, GGLD_E_STRING,
      "header: no valid text: half of a surrogate pair stands alone" },
    { "one offset",
      "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0]}}", 1,
      GGLD_E_STRING, "tensor 'a': data_offsets is not a list of two offsets" },
    { "a negative offset",
      "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[-1,0]}}", 1,
      GGLD_E_STRING, "tensor 'a': data_offsets has what is no valid offset" },
    { "an end before the begin", "{" F32("a", 16, 0) "}", 16, GGLD_E_OVERFLOW,
      "tensor 'a': its data ends at 0, before it begins at 16" },
    { "size and shape differ", "{" F32("a", 0, 12) "}", 12, GGLD_E_SHAPE,
      "tensor 'a': 4 elements of F32 are 16 bytes, but its data has 12" },
    { "half a byte",
      "{\"a\":{\"dtype\":\"F4\",\"shape\":[3],\"data_offsets\":[0,1]}}", 1,
      GGLD_E_SHAPE, "tensor 'a': 3 elements of F4 are 1 bytes" },
    { "past the end", "{" F32("a", 0, 16) "}", 15, GGLD_E_TRUNCATED,
      "tensor 'a': data at 63 + 16 bytes ends at 79, past the end of the file "
      "(78 bytes)" },
    { "far past the end",
      "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],"
      "\"data_offsets\":[18446744073709551613,18446744073709551614]}}",
      1, GGLD_E_TRUNCATED, "past the end of the file" },
    { "overlap", "{" F32("a", 0, 16) "," F32("b", 12, 28) "}", 28,
      GGLD_E_OVERLAP,
      "tensor 'b': its data begins at 12, but that of 'a' ends at 16" },
    { "the same bytes twice", "{" F32("a", 0, 16) "," F32("b", 0, 16) "}", 16,
      GGLD_E_OVERLAP,
      "tensor 'b': its data begins at 0, but that of 'a' ends at 16" },
    { "a hole", "{" F32("a", 0, 16) "," F32("b", 24, 40) "}", 40, GGLD_E_SHAPE,
      "the data's bytes 16 to 24 belong to no tensor" },
    { "a hole in front", "{" F32("a", 8, 24) "}", 24, GGLD_E_SHAPE,
      "the data's bytes 0 to 8 belong to no tensor" },
    { "a tail", "{" F32("a", 0, 16) "}", 20, GGLD_E_SHAPE,
      "the data's bytes 16 to 20 belong to no tensor" },
};

static void check_open(const char *what, const char *const *paths, size_t n,
                       ggld_status code, const char *message)
{
    ggld_export_source *untouched = (ggld_export_source *)&n_failed;
    ggld_export_source *source = untouched;
    ggld_error err = { 0 };

    ggld_status got = ggld_export_source_open(&source, paths, n, &err);
    CHECK(got == code && strstr(err.message, message) != NULL &&
              strchr(err.message, '\n') == NULL,
          "%s: expected %s, '%s'; got %s, '%s'", what, ggld_status_name(code),
          message, ggld_status_name(got), err.message);
    if (got == GGLD_OK)
        ggld_export_source_close(source);
    else
        CHECK(source == untouched && err.code == got,
              "%s: expected *out untouched and code %d; got code %d", what, got,
              err.code);
}

static void test_headers(void)
{
    const char *path = in_folder("t.safetensors");

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        save_safetensors(path, rows[i].json, NULL, rows[i].data_bytes);
        check_open(rows[i].what, &path, 1, rows[i].code, rows[i].message);
    }
    unlink(path);
}

static void test_lengths(void)
{
    const char *path = in_folder("t.safetensors");

    save(path, "1234567", 7);
    check_open("a short file", &path, 1, GGLD_E_TRUNCATED,
               "a file of 7 bytes is no safetensors file");
    save(path, "", 0);
    check_open("an empty file", &path, 1, GGLD_E_TRUNCATED,
               "a file of 0 bytes is no safetensors file");
    save_raw(path, 3, "{}", 2, NULL, 0);
    check_open("a header that is cut", &path, 1, GGLD_E_TRUNCATED,
               "its length of 3 bytes goes past the end of the file (10 "
               "bytes)");
    save_raw(path, UINT64_MAX, "{}", 2, NULL, 0);
    check_open("a header of all there is", &path, 1, GGLD_E_LIMIT,
               "its length of 18446744073709551615 bytes is more than "
               "100000000");
    save_raw(path, 100000001, "{}", 2, NULL, 0);
    check_open("a header past the limit", &path, 1, GGLD_E_LIMIT,
               "more than 100000000");
    save_raw(path, 0, "", 0, NULL, 0);
    check_open("no header", &path, 1, GGLD_E_STRING, "header: not JSON");
    unlink(path);
    check_open("no file", &path, 1, GGLD_E_IO, "can't open");
    mkdir(path, 0777);
    check_open("a folder", &path, 1, GGLD_E_MAGIC, "is no regular file");
    rmdir(path);
    mkfifo(path, 0666);
    check_open("a FIFO", &path, 1, GGLD_E_MAGIC, "is no regular file");
    unlink(path);
    check_open("no paths", &path, 0, GGLD_E_INVALID, "no path");
}

/* ---- several files ---- */

static const struct {
    const char *what;
    const char *json;
    ggld_status code;
    const char *message;
} indexes[] = {
    { "an index",
      "{\"metadata\":{\"total_size\":32},\"weight_map\":{"
      "\"b\":\"2.safetensors\",\"a\":\"1.safetensors\"}}",
      GGLD_OK, "" },
    { "no weight_map", "{\"metadata\":{}}", GGLD_E_STRING,
      "index: no weight_map" },
    { "a list", "[1]", GGLD_E_STRING, "index: not a JSON object" },
    { "cut", "{\"weight_map\":{\"a\":\"1.safeten", GGLD_E_STRING,
      "index: not a JSON object" },
    { "empty", "{\"weight_map\":{}}", GGLD_E_STRING,
      "index: weight_map is empty" },
    { "weight_map twice", "{\"weight_map\":{},\"weight_map\":{}}",
      GGLD_E_DUPLICATE, "index: weight_map is there twice" },
    { "numbers", "{\"weight_map\":{\"a\":1}}", GGLD_E_STRING,
      "index: weight_map has what is no pair of texts" },
    { "another folder", "{\"weight_map\":{\"a\":\"../1.safetensors\"}}",
      GGLD_E_STRING, "index: '../1.safetensors' is no name of a file" },
    { "an absolute path", "{\"weight_map\":{\"a\":\"/1.safetensors\"}}",
      GGLD_E_STRING, "index: '/1.safetensors' is no name of a file" },
    { "shards that are missing",
      "{\"weight_map\":{\"a\":\"1.safetensors\",\"c\":\"3.safetensors\","
      "\"d\":\"4.safetensors\"}}",
      GGLD_E_TRUNCATED,
      "2 of 3 shards are not there: '3.safetensors', '4.safetensors'" },
    { "a tensor in another shard",
      "{\"weight_map\":{\"a\":\"2.safetensors\",\"b\":\"1.safetensors\"}}",
      GGLD_E_SHARD, "index: tensor 'a' is not in shard '2.safetensors'" },
    { "a tensor that is nowhere",
      "{\"weight_map\":{\"a\":\"1.safetensors\",\"b\":\"2.safetensors\","
      "\"c\":\"2.safetensors\"}}",
      GGLD_E_SHARD, "index: tensor 'c' is not in shard '2.safetensors'" },
    { "a tensor that it does not name",
      "{\"weight_map\":{\"a\":\"1.safetensors\"},\"x\":1}", GGLD_OK, "" },
    { "a tensor twice",
      "{\"weight_map\":{\"a\":\"1.safetensors\",\"a\":\"1.safetensors\"}}",
      GGLD_E_DUPLICATE, "index: tensor 'a' is there twice" },
};

static void test_several(void)
{
    const char *one = in_folder("1.safetensors");
    const char *two = in_folder("2.safetensors");
    const char *index = in_folder("m.safetensors.index.json");
    const char *both[] = { one, two };

    save_safetensors(one, "{" F32("a", 0, 16) "}", NULL, 16);
    save_safetensors(two, "{" F32("b", 0, 16) "}", NULL, 16);
    check_open("two files", both, 2, GGLD_OK, "");
    for (size_t i = 0; i < sizeof indexes / sizeof indexes[0]; i++) {
        save(index, indexes[i].json, strlen(indexes[i].json));
        check_open(indexes[i].what, &index, 1, indexes[i].code,
                   indexes[i].message);
    }
    save_safetensors(one, "{" F32("a", 0, 16) "," F32("c", 16, 32) "}", NULL,
                     32);
    save(index, indexes[0].json, strlen(indexes[0].json));
    check_open(
        "a tensor that the index does not name", &index, 1, GGLD_E_SHARD,
        "tensor 'c' is in a shard, '1.safetensors', but not in the index");
    save_safetensors(two, "{" F32("a", 0, 16) "}", NULL, 16);
    check_open("a tensor in two files", both, 2, GGLD_E_DUPLICATE,
               "tensor 'a' is in '1.safetensors' and in '2.safetensors'");
    save_safetensors(two, "{" F32("b", 0, 16) "}", NULL, 15);
    check_open("a shard that is cut", both, 2, GGLD_E_TRUNCATED,
               "'2.safetensors': tensor 'b': data at");
    unlink(one);
    unlink(two);
    unlink(index);
}

static void test_one_shard(void)
{
    const char *path = in_folder("m-00001-of-00002.safetensors");
    const char *alone = in_folder("m-00001-of-00001.safetensors");

    save_safetensors(path, "{}", NULL, 0);
    save_safetensors(alone, "{}", NULL, 0);
    check_open("one shard of two", &path, 1, GGLD_E_INVALID,
               "is one of 2 shards, and 1 were given");
    check_open("one shard of one", &alone, 1, GGLD_OK, "");
    unlink(path);
    unlink(alone);
}

/* Names that are no .safetensors are told by what is in them. */
static void test_recognised(void)
{
    const char *path = in_folder("model");
    ggld_export_source *source;
    ggld_export_source_info info = { .struct_size = sizeof info };

    save_safetensors(path, "{" F32("a", 0, 16) "}", NULL, 16);
    check_open("by content", &path, 1, GGLD_OK, "");
    if (ggld_export_source_open(&source, &path, 1, NULL) == GGLD_OK) {
        ggld_export_source_get_info(source, &info);
        CHECK(strcmp(info.format, "safetensors") == 0 && info.n_files == 1 &&
                  info.n_tensors == 1 && info.n_elems == 4 &&
                  info.file_bytes == 79,
              "expected safetensors, 1 file of 79 bytes, 1 tensor of 4; got "
              "%s, %u of %d, %d of %d",
              info.format, (unsigned)info.n_files, (int)info.file_bytes,
              (int)info.n_tensors, (int)info.n_elems);
        ggld_export_source_close(source);
    }
    save(path, "<html>", 6);
    check_open("a web page", &path, 1, GGLD_E_MAGIC, "file");
    unlink(path);
}

int main(void)
{
    make_folder();
    test_headers();
    test_lengths();
    test_several();
    test_one_shard();
    test_recognised();
    CHECK(count_files() == 0, "expected no files left; got %d", count_files());
    remove_folder();
    return finish();
}
