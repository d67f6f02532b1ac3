/* SPDX-License-Identifier: MIT */
/* Makes the inputs that fuzzing starts from where the malformed files have
 * none: a model of each tensor type in either byte order, blocks of each type,
 * manifests of each format, safetensors files.
 *
 *     seeds FOLDER     makes FOLDER/gguf, FOLDER/codec, FOLDER/manifest,
 *                      FOLDER/setting, FOLDER/safetensors
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

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

/* A length of the header that is put right, the header, data; or a whole file
 * or index behind an odd byte. */
static const struct {
    const char *name, *json;
    size_t data_bytes;
} safetensors[] = {
    { "floats",
      "{\"__metadata__\":{\"format\":\"pt\",\"general.name\":\"m\"},"
      "\"a\":{\"dtype\":\"F32\",\"shape\":[2,32],\"data_offsets\":[0,256]},"
      "\"b\":{\"dtype\":\"F16\",\"shape\":[3],\"data_offsets\":[256,262]},"
      "\"c\":{\"dtype\":\"BF16\",\"shape\":[],\"data_offsets\":[262,264]},"
      "\"d\":{\"dtype\":\"F64\",\"shape\":[1],\"data_offsets\":[264,272]}}",
      272 },
    { "float8",
      "{\"a\":{\"dtype\":\"F8_E4M3\",\"shape\":[8],\"data_offsets\":[0,8]},"
      "\"b\":{\"dtype\":\"F8_E5M2\",\"shape\":[2,4],\"data_offsets\":[8,16]},"
      "\"c\":{\"dtype\":\"F8_E8M0\",\"shape\":[8],\"data_offsets\":[16,24]}}",
      24 },
    { "integers",
      "{\"a\":{\"dtype\":\"I64\",\"shape\":[1],\"data_offsets\":[0,8]},"
      "\"b\":{\"dtype\":\"I32\",\"shape\":[0,2],\"data_offsets\":[8,8]},"
      "\"c\":{\"dtype\":\"I16\",\"shape\":[1,1,1,2],\"data_offsets\":[8,12]},"
      "\"d\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[12,13]}}",
      13 },
    { "empty", "{}", 0 },
    { "index",
      "{\"metadata\":{\"total_size\":4},\"weight_map\":{\"a\":"
      "\"1.safetensors\",\"b\":\"2.safetensors\"}}",
      0 },
};

static void save_safetensors(const char *folder)
{
    uint8_t data[2048] = { 0 };
    for (size_t i = 0; i < sizeof safetensors / sizeof safetensors[0]; i++) {
        size_t size = strlen(safetensors[i].json);
        bool is_index = strcmp(safetensors[i].name, "index") == 0;
        size_t front = is_index ? 1 : 3;
        data[0] = is_index ? 1 : 0;
        data[1] = (uint8_t)size;
        data[2] = (uint8_t)(size >> 8);
        memcpy(data + front, safetensors[i].json, size);
        for (size_t k = 0; k < safetensors[i].data_bytes; k++)
            data[front + size + k] = (uint8_t)(k * 7);
        save(folder, "safetensors", safetensors[i].name, data,
             front + size + safetensors[i].data_bytes);
    }
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
    return 0;
}
