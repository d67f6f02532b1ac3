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

static void compare(const ggml_api *ggml, tally *t, const gguf_context *gguf,
                    const ggld_file *file, const char *what)
{
    uint64_t n_kv = ggld_kv_count(file);
    uint64_t n_tensors = ggld_tensor_count(file);
    bool same = n_kv == (uint64_t)ggml->n_kv(gguf) &&
                n_tensors == (uint64_t)ggml->n_tensors(gguf);

    tally_case(t, same,
               "%s: ggml counts %lld key-values, %lld tensors; ggld "
               "%llu, %llu",
               what, (long long)ggml->n_kv(gguf),
               (long long)ggml->n_tensors(gguf), (unsigned long long)n_kv,
               (unsigned long long)n_tensors);
    if (!same)
        return;
    for (uint64_t i = 0; i < n_kv; i++) {
        const ggld_kv *kv = ggld_kv_at(file, i);
        const char *key = ggml->key(gguf, (int64_t)i);
        tally_case(t,
                   text_is(ggld_kv_key(kv), key) &&
                       (uint32_t)ggml->kv_type(gguf, (int64_t)i) ==
                           ggld_kv_type(kv),
                   "%s: kv %llu '%s' is another to ggld", what,
                   (unsigned long long)i, key);
    }
    for (uint64_t i = 0; i < n_tensors; i++)
        tally_case(t, tensor_is_same(ggml, gguf, file, i),
                   "%s: tensor %llu '%s' is another to ggld", what,
                   (unsigned long long)i, ggml->tensor_name(gguf, (int64_t)i));
}

static void check_output(const ggml_api *ggml, tally *t, const char *path,
                         const char *what)
{
    ggml_context *tensors = NULL;
    const gguf_params whole = { false, &tensors };
    ggld_file *file;
    ggld_error err;

    gguf_context *gguf = ggml->open_file(path, whole);
    tally_case(t, gguf != NULL, "%s: ggml refuses the file", what);
    if (gguf == NULL)
        return;
    if (ggld_open_path(&file, path, NULL, &err) == GGLD_OK) {
        compare(ggml, t, gguf, file, what);
        ggld_close(file);
    } else {
        tally_case(t, false, "%s: %s", what, err.message);
    }
    ggml->close(gguf);
    ggml->free(tensors);
}

static void check_type(const ggml_api *ggml, tally *t, const char *tool,
                       const char *type)
{
    char dir[] = "/tmp/ggld-peer-XXXXXX";
    char sample[64], quantised[64], what[64];

    if (mkdtemp(dir) == NULL) {
        tally_case(t, false, "cannot make a folder in /tmp");
        return;
    }
    snprintf(sample, sizeof sample, "%s/sample.gguf", dir);
    snprintf(quantised, sizeof quantised, "%s/quantised.gguf", dir);
    const char *const make[] = { tool, "sample", sample, "--type", type, NULL };
    const char *const quantise[] = { tool,     "quantize", sample, quantised,
                                     "--type", type,       NULL };

    snprintf(what, sizeof what, "ggld sample --type %s", type);
    if (run(make))
        check_output(ggml, t, sample, what);
    else
        tally_case(t, false, "%s failed", what);
    snprintf(what, sizeof what, "ggld quantize --type %s", type);
    if (run(quantise))
        check_output(ggml, t, quantised, what);
    else
        tally_case(t, false, "%s failed", what);
    unlink(sample);
    unlink(quantised);
    rmdir(dir);
}

void check_written(const ggml_api *ggml, tally *t, const char *tool)
{
    for (uint32_t type = 0; type < GGML_N_TYPES; type++) {
        const ggld_type_traits *traits = ggld_type_traits_of(type);
        if (traits != NULL && traits->can_quantize)
            check_type(ggml, t, tool, traits->name);
    }
}
