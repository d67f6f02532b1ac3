/* SPDX-License-Identifier: MIT */
/* What an export takes for each tensor of a model, in memory that is there: a
 * process that converts a model of few tensors, and one that converts many. */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

#define FEW        1000u
#define MANY       60000u
#define NAME_BYTES 24 /* of each */

/* Sanitizers have memory of their own beside each block. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define OTHER_HEAP 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#define OTHER_HEAP 1
#endif
#endif

/* Tensors that hold nothing, so that all there is is their description. */
static void make_model(const char *path, unsigned n)
{
    char entry[128];
    size_t used = 0, room = (size_t)n * 100 + 3;
    char *json = malloc(room);

    if (json == NULL)
        abort();
    for (unsigned i = 0; i < n; i++) {
        int len = snprintf(entry, sizeof entry,
                           "%c\"model.layers.w%010u\":{\"dtype\":\"F32\","
                           "\"shape\":[1,0],\"data_offsets\":[0,0]}",
                           i == 0 ? '{' : ',', i);
        memcpy(json + used, entry, (size_t)len);
        used += (size_t)len;
    }
    json[used++] = '}';
    json[used] = '\0';
    save_safetensors(path, json, NULL, 0);
    free(json);
}

/* KiB that the conversion had at most. */
static long peak_of(const char *in, const char *out, uint64_t shard_bytes)
{
    ggld_export_options options = ggld_export_options_init();
    struct rusage use = { .ru_maxrss = 0 };
    int how = 0;

    options.n_threads = 1;
    options.max_shard_bytes = shard_bytes;
    options.flags = GGLD_EXPORT_REPLACE_SHARDS;
    pid_t child = fork();
    if (child == 0)
        _exit(export_file(in, out, &options, NULL) == GGLD_OK ? 0 : 1);
    CHECK(wait4(child, &how, 0, &use) == child && how == 0,
          "%s: expected an export, got status %d", out, how);
    return use.ru_maxrss;
}

int main(void)
{
    static const struct {
        const char *out;
        uint64_t shard_bytes;
        long most_bytes; /* a tensor */
    } rows[] = {
        { "out.gguf", 0, 420 },
        { "out.safetensors", 0, 420 },
        { "set", 1u << 30, 680 },
    };

#ifdef OTHER_HEAP
    printf("skipped: this build has another heap\n");
    return 77;
#endif
    make_folder();
    make_model(in_folder("few.safetensors"), FEW);
    make_model(in_folder("many.safetensors"), MANY);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        long few = peak_of(in_folder("few.safetensors"), in_folder(rows[i].out),
                           rows[i].shard_bytes);
        long many = peak_of(in_folder("many.safetensors"),
                            in_folder(rows[i].out), rows[i].shard_bytes);
        long bytes = (many - few) * 1024 / (long)(MANY - FEW);
        CHECK(bytes <= rows[i].most_bytes,
              "%s: expected at most %ld bytes a tensor of a name of %d, got "
              "%ld",
              rows[i].out, rows[i].most_bytes, NAME_BYTES, bytes);
        printf("%s: %ld bytes a tensor, %ld KiB without\n", rows[i].out, bytes,
               few);
    }
    remove_folder();
    return finish();
}
