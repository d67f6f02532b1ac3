/* SPDX-License-Identifier: MIT */
/* Files that the ggld command writes, given to the peer whole: it must take
 * them with their data, and see the keys, names, types, shapes and places that
 * ggld sees. */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ggld/ggld.h>

#include "peer.h"

extern char **environ;

static bool run(const char *const *argv)
{
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null",
                                     O_WRONLY, 0);
    int rc = posix_spawn(&child, argv[0], &actions, NULL,
                         (char *const *)(uintptr_t)argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return rc == 0 && waitpid(child, &status, 0) == child &&
           WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool text_is(ggld_string ours, const char *theirs)
{
    return strlen(theirs) == ours.len &&
           memcmp(theirs, ours.data, ours.len) == 0;
}

static bool tensor_is_same(const ggml_api *ggml, const gguf_context *gguf,
                           const ggld_file *file, uint64_t i)
{
    ggld_tensor_info ours = { .struct_size = sizeof ours };
    int64_t id = (int64_t)i;

    ggld_tensor_get_info(ggld_tensor_at(file, i), &ours);
    const int64_t *dims = ggml->tensor_dims(gguf, id);
    for (int d = 0; d < 4; d++)
        if ((uint64_t)dims[d] != ours.dims[d])
            return false;
    return text_is(ours.name, ggml->tensor_name(gguf, id)) &&
           (uint32_t)ggml->tensor_type(gguf, id) == ours.type &&
           ggml->tensor_size(gguf, id) == ours.size_bytes &&
           ggml->data_offset(gguf) + ggml->tensor_offset(gguf, id) ==
               ours.file_offset_bytes;
}

static bool same_keys(const ggml_api *ggml, tally *t, const gguf_context *gguf,
                      const ggld_file *file, const char *what)
{
    uint64_t n = ggld_kv_count(file);

    if (n != (uint64_t)ggml->n_kv(gguf))
        return tally_tell(t, "%s: ggml has %lld key-values, ggld %llu", what,
                          (long long)ggml->n_kv(gguf), (unsigned long long)n);
    for (uint64_t i = 0; i < n; i++) {
        const ggld_kv *kv = ggld_kv_at(file, i);
        const char *key = ggml->key(gguf, (int64_t)i);
        if (!text_is(ggld_kv_key(kv), key) ||
            (uint32_t)ggml->kv_type(gguf, (int64_t)i) != ggld_kv_type(kv))
            return tally_tell(t, "%s: kv %llu '%s' is another to ggld", what,
                              (unsigned long long)i, key);
    }
    return true;
}

static bool same_tensors(const ggml_api *ggml, tally *t,
                         const gguf_context *gguf, const ggld_file *file,
                         const char *what)
{
    uint64_t n = ggld_tensor_count(file);

    if (n != (uint64_t)ggml->n_tensors(gguf))
        return tally_tell(t, "%s: ggml has %lld tensors, ggld %llu", what,
                          (long long)ggml->n_tensors(gguf),
                          (unsigned long long)n);
    for (uint64_t i = 0; i < n; i++)
        if (!tensor_is_same(ggml, gguf, file, i))
            return tally_tell(t, "%s: tensor %llu '%s' is another to ggld",
                              what, (unsigned long long)i,
                              ggml->tensor_name(gguf, (int64_t)i));
    return true;
}

static bool output_is_same(const ggml_api *ggml, tally *t, const char *path,
                           const char *what)
{
    ggml_context *tensors = NULL;
    const gguf_params whole = { false, &tensors };
    bool same = false;
    ggld_file *file;
    ggld_error err;

    gguf_context *gguf = ggml->open_file(path, whole);
    if (gguf == NULL)
        return tally_tell(t, "%s: ggml refuses the file", what);
    if (ggld_open_path(&file, path, NULL, &err) == GGLD_OK) {
        same = same_keys(ggml, t, gguf, file, what) &&
               same_tensors(ggml, t, gguf, file, what);
        ggld_close(file);
    } else {
        tally_tell(t, "%s: %s", what, err.message);
    }
    ggml->close(gguf);
    ggml->free(tensors);
    return same;
}

/* Runs the command, which makes the file at path. */
static void check_command(const ggml_api *ggml, tally *t,
                          const char *const *argv, const char *path)
{
    char what[64];

    snprintf(what, sizeof what, "ggld %s of %s", argv[1], argv[3]);
    if (!run(argv))
        tally_case(t, tally_tell(t, "%s failed", what));
    else
        tally_case(t, output_is_same(ggml, t, path, what));
}

static void check_type(const ggml_api *ggml, tally *t, const char *tool,
                       const char *type)
{
    char dir[] = "/tmp/ggld-peer-XXXXXX";
    char sample[64], quantised[64];

    if (mkdtemp(dir) == NULL) {
        tally_case(t, tally_tell(t, "no folder can be made in /tmp"));
        return;
    }
    snprintf(sample, sizeof sample, "%s/sample.gguf", dir);
    snprintf(quantised, sizeof quantised, "%s/quantised.gguf", dir);
    const char *const make[] = { tool, "sample", "--type", type, sample, NULL };
    const char *const quantise[] = { tool,   "quantize", "--type", type,
                                     sample, quantised,  NULL };
    check_command(ggml, t, make, sample);
    check_command(ggml, t, quantise, quantised);
    unlink(sample);
    unlink(quantised);
    rmdir(dir);
}

/* A model of a version that ggml no longer reads becomes one that it does. */
static void check_upgrade(const ggml_api *ggml, tally *t, const char *tool,
                          const char *shared)
{
    static const gguf_params metadata_only = { true, NULL };
    char dir[] = "/tmp/ggld-peer-XXXXXX";
    char old[4096], quantised[64];

    snprintf(old, sizeof old, "%s/models/stories260k-f32.v1.gguf",
             shared != NULL ? shared : "");
    if (access(old, R_OK) != 0) {
        tally_skip(t, "ggld quantize of version 1: no %s", old);
        return;
    }
    gguf_context *gguf = ggml->open_file(old, metadata_only);
    tally_case(t, gguf == NULL || tally_tell(t, "ggml takes %s", old));
    if (gguf != NULL)
        ggml->close(gguf);
    if (mkdtemp(dir) == NULL) {
        tally_case(t, tally_tell(t, "no folder can be made in /tmp"));
        return;
    }
    snprintf(quantised, sizeof quantised, "%s/quantised.gguf", dir);
    const char *const quantise[] = { tool, "quantize", "--type", "q8_0",
                                     old,  quantised,  NULL };
    check_command(ggml, t, quantise, quantised);
    unlink(quantised);
    rmdir(dir);
}

void check_written(const ggml_api *ggml, tally *t, const char *tool,
                   const char *shared)
{
    check_upgrade(ggml, t, tool, shared);
    for (uint32_t type = 0; type < GGML_N_TYPES; type++) {
        const ggld_type_traits *traits = ggld_type_traits_of(type);
        if (traits != NULL && traits->can_quantize)
            check_type(ggml, t, tool, traits->name);
    }
}
