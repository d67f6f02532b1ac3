/* SPDX-License-Identifier: MIT */
/* Makes the inputs that fuzzing starts from where the malformed files have
 * none: a model of each tensor type in either byte order, blocks of each type,
 * manifests of each format, safetensors files, sets of shards, journals.
 *
 *     seeds FOLDER     makes FOLDER/gguf, and FOLDER/NAME of each fuzzer that
 *                      reads no model
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "../sets/shards.h"
#include "../views/model.h"
#include "fuzz.h"

#define TYPE_LIMIT 64

static void make_folder(const char *path)
{
    FUZZ_REQUIRE(mkdir(path, 0777) == 0 || errno == EEXIST, "%s: %s", path,
                 strerror(errno));
}

static void save(const char *folder, const char *kind, const char *name,
                 const void *data, size_t size)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, kind);
    make_folder(path);
    snprintf(path, sizeof path, "%s/%s/%s", folder, kind, name);
    FILE *f = fopen(path, "wb");
    FUZZ_REQUIRE(f != NULL && fwrite(data, 1, size, f) == size &&
                     fclose(f) == 0,
                 "%s", path);
}

/* Two rows of one block, and a float behind them. */
static void save_model(const char *folder, uint32_t type, bool big_endian)
{
    const ggld_type_traits *traits = ggld_type_traits_of(type);
    uint8_t data[1024];
    float one = 1;
    char name[64];
    model_tensor tensors[] = {
        { "a",
          type,
          2,
          { traits->block_elems, 2 },
          data,
          2 * (size_t)traits->block_bytes },
        { "b", GGLD_TYPE_F32, 0, { 0 }, &one, sizeof one },
    };

    fill_random(data, sizeof data, type);
    model m = model_encode(tensors, 2, big_endian);
    snprintf(name, sizeof name, "%s-%s.gguf", traits->name,
             big_endian ? "be" : "le");
    save(folder, "gguf", name, m.bytes, m.size);
    model_free(&m);
}

static void save_blocks(const char *folder, uint32_t type)
{
    const ggld_type_traits *traits = ggld_type_traits_of(type);
    uint8_t data[2 + 1024];

    fill_random(data, sizeof data, type);
    data[0] = (uint8_t)type;
    save(folder, "codec", traits->name, data,
         2 + 2 * (size_t)traits->block_bytes);
}

/* Floats to quantise, of every type that can be. */
static void save_floats(const char *folder, uint32_t type)
{
    uint8_t data[2 + 256 * sizeof(float)] = { (uint8_t)type, 0 };
    char name[64];

    for (int i = 0; i < 256; i++) {
        float value = (float)(i - 100) * 0.37f;
        memcpy(data + 2 + (size_t)i * sizeof value, &value, sizeof value);
    }
    snprintf(name, sizeof name, "%s-floats", ggld_type_traits_of(type)->name);
    save(folder, "codec", name, data, sizeof data);
}

#define HEX16 "0123456789abcdef"
#define HEX64 HEX16 HEX16 HEX16 HEX16

static const struct {
    uint8_t format; /* as ggld_manifest_format numbers them; 0: told apart */
    const char *name, *text;
} manifests[] = {
    { 1, "ggsum",
      "ggsum 1\nfile a%20b.gguf\nsize 256\nwhole sha256:" HEX64
      "\nmetadata 192 sha256:" HEX64 "\ntogether xxh64:" HEX16
      "\ntensors 2\ntensor t i8 3 sha256:" HEX64 " xxh3:" HEX16
      "\ntensor x q4_0 32x2 sha1:" HEX16 HEX16 "01234567\nend sha256:" HEX64
      "\n" },
    { 1, "ggsum-chunks",
      "ggsum 1\nfile m\nsize 9000\nmetadata 192 sha256:" HEX64
      "\nchunks xxh3 4096 3\n" HEX16 "\n" HEX16 "\n" HEX16
      "\nroot sha256:" HEX64 "\nend sha256:" HEX64 "\n" },
    { 2, "llama",
      "xxh64     " HEX16 "  dir/m.gguf:t\nsha1      " HEX16 HEX16
      "01234567  dir/m.gguf:t\nsha256    " HEX64
      "  dir/m.gguf:e:f\nuuid      01234567-89ab-5def-8123-456789abcdef"
      "  dir/m.gguf\n" },
    { 3, "sha256sum",
      HEX64 "  m.gguf\n" HEX64 " *dir/n.gguf\n\\" HEX64 "  a\\nb\\\\c\n" },
    { 4, "digest", "sha256:" HEX64 "\n" },
    { 5, "lfs",
      "version https://git-lfs.github.com/spec/v1\noid sha256:" HEX64
      "\nsize 12345\n" },
    { 6, "in-toto",
      "{\"_type\":\"https://in-toto.io/Statement/v1\",\"subject\":[{\"name\":"
      "\"m\",\"digest\":{\"sha256\":\"" HEX64 "\"}}],\"predicateType\":"
      "\"https://model_signing/signature/v1.0\",\"predicate\":{\"resources\":"
      "[{\"algorithm\":\"sha256\",\"digest\":\"" HEX64
      "\",\"name\":\"m.gguf\"}],\"serialization\":{\"method\":\"files\"}}}" },
    { 0, "any-sha256sum", HEX64 "  m.gguf\n" },
    { 0, "any-lfs",
      "version https://git-lfs.github.com/spec/v1\noid sha256:" HEX64
      "\nsize 1\n" },
};

static void save_manifests(const char *folder)
{
    uint8_t data[2048];
    for (size_t i = 0; i < sizeof manifests / sizeof manifests[0]; i++) {
        size_t size = strlen(manifests[i].text);
        data[0] = manifests[i].format;
        memcpy(data + 1, manifests[i].text, size);
        save(folder, "manifest", manifests[i].name, data, size + 1);
    }
}

static const struct {
    const char *name, *text;
} settings[] = {
    { "known-bool", "b=true" },
    { "known-colon", "f:32=-1.5e10" },
    { "known-text", "s=@@at" },
    { "known-list", "list=[1, -9223372036854775808]" },
    { "known-texts", "texts=[\"\", \"\\u00e9\\ud83d\\ude00\\n\"]" },
    { "u64", "x:u64=18446744073709551615" },
    { "f64", "x.y:f64=1e308" },
    { "string", "a:b:string=c=d" },
    { "bools", "x:bool[]=[true,false]" },
    { "floats", "x:f32[]=[1,2.5,-3e-9]" },
    { "empty", "x:i16[]= [ ] " },
    { "nested", "x:u8[]=[[1]]" },
    { "no-type", "x:u128=1" },
    { "no-value", "x:u8" },
};

static void save_settings(const char *folder)
{
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
        save(folder, "setting", settings[i].name, settings[i].text,
             strlen(settings[i].text));
}

#define ST_RAW    1u
#define ST_INDEX  2u
#define ST_MORE   12u
#define ST_PARTED 0xFFu

/* See safetensors.c. Of a header the data follows. */
static const struct {
    const char *name;
    uint8_t flags;
    const char *text[3]; /* up to NULL; of an index, the first */
    size_t data_bytes;   /* of each header */
} safetensors[] = {
    { "floats",
      0,
      { "{\"__metadata__\":{\"format\":\"pt\",\"general.name\":\"m\"},"
        "\"a\":{\"dtype\":\"F32\",\"shape\":[2,32],\"data_offsets\":[0,256]},"
        "\"b\":{\"dtype\":\"F16\",\"shape\":[3],\"data_offsets\":[256,262]},"
        "\"c\":{\"dtype\":\"BF16\",\"shape\":[],\"data_offsets\":[262,264]},"
        "\"d\":{\"dtype\":\"F64\",\"shape\":[1],\"data_offsets\":[264,272]}}" },
      272 },
    { "float8",
      ST_MORE,
      { "{\"a\":{\"dtype\":\"F8_E4M3\",\"shape\":[8],\"data_offsets\":[0,8]},"
        "\"b\":{\"dtype\":\"F8_E5M2\",\"shape\":[2,4],\"data_offsets\":[8,16]},"
        "\"c\":{\"dtype\":\"F8_E8M0\",\"shape\":[8],\"data_offsets\":[16,"
        "24]}}" },
      24 },
    { "integers",
      4,
      { "{\"a\":{\"dtype\":\"I64\",\"shape\":[1],\"data_offsets\":[0,8]},"
        "\"b\":{\"dtype\":\"I32\",\"shape\":[0,2],\"data_offsets\":[8,8]},"
        "\"c\":{\"dtype\":\"I16\",\"shape\":[1,1,1,2],\"data_offsets\":[8,12]},"
        "\"d\":{\"dtype\":\"I8\",\"shape\":[1],\"data_offsets\":[12,13]}}" },
      13 },
    { "chunks",
      8,
      { "{\"a\":{\"dtype\":\"F16\",\"shape\":[600],\"data_offsets\":[0,"
        "1200]}}" },
      1200 },
    { "no-type",
      0,
      { "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}" },
      1 },
    { "empty", 0, { "{}" }, 0 },
    { "raw", ST_RAW, { "\2\0\0\0\0\0\0\0{}" }, 0 },
    { "index-alone",
      ST_INDEX,
      { "{\"metadata\":{\"total_size\":4},\"weight_map\":{\"a\":"
        "\"1.safetensors\",\"b\":\"2.safetensors\"}}" },
      0 },
    { "index",
      ST_INDEX | 8u,
      { "{\"metadata\":{\"total_size\":16.0},\"weight_map\":{\"a\":"
        "\"1.safetensors\",\"b\":\"2.safetensors\"}}",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}",
        "{\"b\":{\"dtype\":\"BF16\",\"shape\":[2,2],\"data_offsets\":[0,8]}}" },
      8 },
};

/* A header, with its length in front and data behind it. */
static size_t put_header(uint8_t *to, const char *text, size_t data_bytes)
{
    size_t size = strlen(text);

    to[0] = (uint8_t)size;
    to[1] = (uint8_t)(size >> 8);
    memcpy(to + 2, text, size);
    for (size_t i = 0; i < data_bytes; i++)
        to[2 + size + i] = (uint8_t)(i * 7 % 0x3C);
    return 2 + size + data_bytes;
}

static void save_safetensors(const char *folder)
{
    uint8_t data[4096] = { 0 };

    for (size_t i = 0; i < sizeof safetensors / sizeof safetensors[0]; i++) {
        uint8_t flags = safetensors[i].flags;
        size_t n = 1, size;
        data[0] = flags;
        for (size_t k = 0; k < 3 && safetensors[i].text[k] != NULL; k++) {
            const char *text = safetensors[i].text[k];
            bool raw = (flags & (ST_RAW | ST_INDEX)) != 0 && k == 0;
            if (k != 0)
                data[n++] = ST_PARTED;
            size = (flags & ST_RAW) != 0 ? 10 : strlen(text);
            if (raw)
                memcpy(data + n, text, size);
            n += raw ? size
                     : put_header(data + n, text, safetensors[i].data_bytes);
        }
        save(folder, "safetensors", safetensors[i].name, data, n);
    }
}

static void save_set(const char *folder, const char *name, uint8_t flags,
                     const shards *set)
{
    uint8_t data[4096];
    size_t n = 1;

    data[0] = flags;
    for (uint32_t i = 0; i < set->n; i++) {
        image img = shards_image(set, i);
        FUZZ_REQUIRE(img.size <= sizeof data - n, "%s is too long", name);
        memcpy(data + n, img.data, img.size);
        n += img.size;
        image_free(&img);
    }
    save(folder, "set", name, data, n);
}

/* See set.c for the flags. */
static void save_sets(const char *folder)
{
    shards set = shards_mixed();

    save_set(folder, "mixed", 1, &set);
    save_set(folder, "mixed-from-last", 1 | 2 << 1, &set);
    save_set(folder, "absent", 1 | 8 | 1 << 4, &set);
    set.at[1].cut = 4;
    save_set(folder, "cut", 0, &set);
    set = shards_new(1);
    save_set(folder, "one", 0, &set);
    set = shards_new(4);
    save_set(folder, "four", 64 | 1 << 1, &set);
    set.at[2].names[0] = "t0";
    save_set(folder, "twice", 1, &set);
    set = shards_new(2);
    set.at[1].no.value = 0;
    save_set(folder, "number", 0, &set);
    set.at[1].count.type = NONE;
    save_set(folder, "no-count", 0, &set);
    set = shards_new(2);
    set.at[0].total = (shard_number){ U64, 3 };
    save_set(folder, "total", 1, &set);
}

/* See journal.c: flags, state, sizes; patches; bytes. */
static const struct {
    const char *name;
    uint8_t head[4];
    const char *patches;
} journals[] = {
    { "old", { 1, 0, 40, 0 }, "" },
    { "new", { 1, 1, 40, 0 }, "" },
    { "mixed", { 1, 2, 40, 0 }, "" },
    { "mixed-grown", { 1, 2, 40, 16 }, "" },
    { "room", { 1, 3, 40, 16 }, "" },
    { "new-grown", { 1, 1, 40, 16 }, "" },
    { "shifted", { 1 | 16, 4, 40, 1 }, "" },
    { "shifted-two", { 1 | 16, 4, 10, 2 }, "" },
    { "unsealed", { 0, 2, 40, 0 }, "" },
    { "data-digest", { 1 | 1 << 2, 2, 40, 0 }, "\x40\1\1" },
    { "image", { 1 | 2 << 2, 0, 40, 0 }, "\x50\1\1\x55\1\x80" },
    { "device", { 1 | 128, 2, 40, 0 }, "" },
    { "device-forced", { 1 | 2 | 128, 2, 40, 0 }, "" },
    { "rest", { 1 | 64, 0, 40, 0 }, "" },
    { "whole", { 1 | 32, 0, 40, 0 }, "ggldjrn1" },
};

static void save_journals(const char *folder)
{
    uint8_t data[4 + 8 + 200];

    for (size_t i = 0; i < sizeof journals / sizeof journals[0]; i++) {
        size_t n = strlen(journals[i].patches);
        memcpy(data, journals[i].head, 4);
        memcpy(data + 4, journals[i].patches, n);
        for (size_t k = 0; k < 200; k++)
            data[4 + n + k] = (uint8_t)(1 + k * 3);
        save(folder, "journal", journals[i].name, data, 4 + n + 200);
    }
}

/* See consume.c: flags, shards, what is in the part and done; patches. */
static const struct {
    const char *name;
    uint8_t head[3];
    const char *patches;
} consumed[] = {
    { "begun", { 1, 7, 0 }, "" },
    { "one-done", { 1, 6, 1 | 1 << 3 }, "" },
    { "marked-not-removed", { 1, 7, 1 | 1 << 3 }, "" },
    { "in-but-not-marked", { 1, 7, 3 | 1 << 3 }, "" },
    { "all-done", { 1, 0, 7 | 7 << 3 }, "" },
    { "named", { 1 | 32, 0, 7 | 7 << 3 }, "" },
    { "copied-part", { 1 | 64, 6, 1 | 1 << 3 }, "" },
    { "copied-and-named", { 1 | 32 | 64, 0, 7 | 7 << 3 }, "" },
    { "other-times", { 1, 6 | 32, 1 | 1 << 3 }, "" },
    { "other-data", { 1, 6 | 64, 1 | 1 << 3 }, "" },
    { "no-part", { 1 | 16 | 8, 7 | 1 << 3, 0 }, "" },
    { "no-journal-of-ours", { 128, 7, 0 }, "!GGLDMG3" },
    { "patched", { 1 | 1 << 1, 6, 1 | 1 << 3 }, "\x28\1\1" },
    { "unsealed", { 1 << 1, 6, 1 | 1 << 3 }, "\x28\1\1" },
};

static void save_consumed(const char *folder)
{
    uint8_t data[3 + 16];

    for (size_t i = 0; i < sizeof consumed / sizeof consumed[0]; i++) {
        size_t n = strlen(consumed[i].patches);
        memcpy(data, consumed[i].head, 3);
        memcpy(data + 3, consumed[i].patches, n);
        save(folder, "consume", consumed[i].name, data, 3 + n);
    }
}

static const struct {
    const char *kind, *name, *text;
} texts[] = {
    { "map", "two", "a b\nc\td\n" },
    { "map", "comment", "# new names\n\n a   b\r\n#c d\n" },
    { "map", "one-word", "a\n" },
    { "map", "three-words", "a b c" },
    { "map", "twice", "a b\nc d\na e\n" },
    { "map", "empty", "\n" },
    { "options", "size", "512M" },
    { "options", "size-zero", "0" },
    { "options", "size-zeros", "00000000000000000000000000000002G" },
    { "options", "size-most", "16777215T" },
    { "options", "size-too-great", "16777216T" },
    { "options", "size-wraps", "18446744073709551617K" },
    { "options", "size-unit-alone", "K" },
    { "options", "size-small-unit", "1k" },
    { "options", "number-most", "18446744073709551615" },
    { "options", "number-too-great", "18446744073709551616" },
    { "options", "number-ten-times-too-great", "30000000000000000000" },
    { "options", "number-signed", "+1" },
    { "options", "type", "Q8_0" },
    { "options", "type-not-written", "q4_K" },
    { "options", "keep", "blk.*.attn_[qk].weight=f16" },
    { "options", "keep-two", "a=b=bf16" },
    { "options", "keep-no-glob", "=f16" },
    { "options", "keep-no-type", "output.*=q9\n\342\200\213" },
    { "options", "order", "# first\n\noutput.weight\r\nblk.0.*" },
    { "options", "order-returns", "a\rb\n\r\n" },
    { "cache", "same", "\10" },
    { "cache", "cut", "\4" },
    { "cache", "shared", "\2" },
    { "cache", "patched", "\10\24\1\1" },
    { "cache", "whole", "\1ggld verified 1\ndevice 1\n" },
};

static void save_texts(const char *folder)
{
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        save(folder, texts[i].kind, texts[i].name, texts[i].text,
             strlen(texts[i].text));
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    make_folder(argv[1]);
    for (uint32_t type = 0; type < TYPE_LIMIT; type++) {
        if (ggld_type_traits_of(type) == NULL)
            continue;
        save_model(argv[1], type, false);
        save_model(argv[1], type, true);
        save_blocks(argv[1], type);
        if (ggld_type_traits_of(type)->can_quantize)
            save_floats(argv[1], type);
    }
    save_manifests(argv[1]);
    save_settings(argv[1]);
    save_safetensors(argv[1]);
    save_sets(argv[1]);
    save_journals(argv[1]);
    save_consumed(argv[1]);
    save_texts(argv[1]);
    return 0;
}
