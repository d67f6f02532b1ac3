/* SPDX-License-Identifier: MIT */
/* Opening strictly must mean: ggml takes the container, and nothing in it is
 * unsafe. Every file of some folders is given to both, and every small change
 * of the small files that both open.
 *
 * The peer runs in a child, which it may bring down: that counts as refused.
 * Where the peer opens, the child also asks what strict demands beyond it: that
 * every tensor's elements can be counted and its bytes lie inside the file. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ggld/ggld.h>

#include "peer.h"

/* A change is tried in files up to this size: it is as many opens as bytes. */
#define MAX_BASE_BYTES 2048
#define MAX_SECONDS    20
#define MAX_MEMORY     ((rlim_t)8 << 30)

typedef enum verdict {
    REFUSED,
    OPENED,
    UNSAFE /* opened by the peer, but strict demands more */
} verdict;

static const char *const verdict_text[] = {
    "refused", "opened", "opened though data lies outside or is uncountable"
};

typedef struct image {
    uint8_t *data;
    size_t size;
} image;

static bool image_read(image *out, const char *path)
{
    FILE *f = fopen(path, "rb");
    struct stat st;
    if (f == NULL || fstat(fileno(f), &st) != 0 || !S_ISREG(st.st_mode)) {
        if (f != NULL)
            fclose(f);
        return false;
    }
    out->size = (size_t)st.st_size;
    out->data = peer_alloc(out->size);
    bool whole = fread(out->data, 1, out->size, f) == out->size;
    fclose(f);
    if (!whole)
        free(out->data);
    return whole;
}

/* ---- the peer's verdict, in the child ---- */

static bool tensor_is_safe(const ggml_api *ggml, const gguf_context *gguf,
                           int64_t i, uint64_t file_bytes)
{
    const int64_t *dims = ggml->tensor_dims(gguf, i);
    uint64_t start, end;
    int64_t n_elems = 1;
    bool empty = false;

    for (int d = 0; d < 4; d++)
        empty = empty || dims[d] == 0;
    if (empty)
        return true;
    for (int d = 0; d < 4; d++)
        if (dims[d] < 0 || __builtin_mul_overflow(n_elems, dims[d], &n_elems))
            return false;
    return !__builtin_add_overflow(ggml->data_offset(gguf),
                                   ggml->tensor_offset(gguf, i), &start) &&
           !__builtin_add_overflow(start, ggml->tensor_size(gguf, i), &end) &&
           end <= file_bytes;
}

static verdict peer_verdict(const ggml_api *ggml, gguf_context *gguf,
                            uint64_t file_bytes)
{
    verdict found = OPENED;
    if (gguf == NULL)
        return REFUSED;
    for (int64_t i = 0; i < ggml->n_tensors(gguf); i++)
        if (!tensor_is_safe(ggml, gguf, i, file_bytes))
            found = UNSAFE;
    ggml->close(gguf);
    return found;
}

/* A changed image: one byte replaced, or the end cut off. */
typedef struct change {
    size_t offset;
    int byte; /* below 0: the file ends at offset */
} change;

static image image_changed(const image *base, change c)
{
    image changed = { peer_alloc(base->size), base->size };
    memcpy(changed.data, base->data, base->size);
    if (c.byte < 0)
        changed.size = c.offset;
    else
        changed.data[c.offset] = (uint8_t)c.byte;
    return changed;
}

static void child_prepare(void)
{
    struct rlimit none = { 0, 0 };
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

    setrlimit(RLIMIT_CORE, &none);
#ifndef __SANITIZE_ADDRESS__ /* which reserves terabytes */
    struct rlimit memory = { MAX_MEMORY, MAX_MEMORY };
    setrlimit(RLIMIT_AS, &memory);
#endif
    if (null >= 0)
        dup2(null, STDERR_FILENO);
}

/* Verdicts of all changes from first on, a byte each, into the pipe. */
static _Noreturn void child_run(const ggml_api *ggml, const image *base,
                                const change *changes, size_t first,
                                size_t n_changes, int pipe_out)
{
    const gguf_params metadata_only = { true, NULL };

    child_prepare();
    for (size_t i = first; i < n_changes; i++) {
        alarm(MAX_SECONDS);
        image changed = image_changed(base, changes[i]);
        uint8_t found = (uint8_t)peer_verdict(
            ggml, ggml->open_buffer(changed.data, changed.size, metadata_only),
            changed.size);
        free(changed.data);
        if (write(pipe_out, &found, 1) != 1)
            break;
    }
    _exit(0);
}

static size_t read_all(int fd, uint8_t *dst, size_t size)
{
    size_t done = 0;
    ssize_t n;
    while (done < size && (n = read(fd, dst + done, size - done)) > 0)
        done += (size_t)n;
    return done;
}

/* Where the child dies the change that it was at is refused, and a new child
 * goes on with the next. */
static void peer_verdicts(const ggml_api *ggml, const image *base,
                          const change *changes, size_t n_changes,
                          uint8_t *verdicts)
{
    for (size_t done = 0; done < n_changes;) {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0)
            exit(2);
        fflush(NULL);
        pid_t child = fork();
        if (child < 0)
            exit(2);
        if (child == 0)
            child_run(ggml, base, changes, done, n_changes, ends[1]);
        close(ends[1]);
        done += read_all(ends[0], verdicts + done, n_changes - done);
        close(ends[0]);
        waitpid(child, NULL, 0);
        if (done < n_changes)
            verdicts[done++] = REFUSED;
    }
}

static verdict peer_verdict_of_file(const ggml_api *ggml, const char *path)
{
    const gguf_params metadata_only = { true, NULL };
    struct stat st;
    int status;

    if (stat(path, &st) != 0)
        return REFUSED;
    fflush(NULL);
    pid_t child = fork();
    if (child < 0)
        exit(2);
    if (child == 0) {
        child_prepare();
        alarm(MAX_SECONDS);
        _exit((int)peer_verdict(ggml, ggml->open_file(path, metadata_only),
                                (uint64_t)st.st_size));
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? (verdict)WEXITSTATUS(status) : REFUSED;
}

/* ---- against ours ---- */

static bool same_verdict(tally *t, verdict theirs, bool opened,
                         const char *what, const char *message)
{
    if (opened == (theirs == OPENED))
        return true;
    return tally_tell(t, "%s: ggml: %s; ggld: %s", what, verdict_text[theirs],
                      opened ? "opened" : message);
}

/* Did ours open it? */
static bool check_file(const ggml_api *ggml, tally *t, const char *path)
{
    ggld_open_options strict = ggld_open_options_init();
    ggld_file *file = NULL;
    ggld_error err;

    strict.flags = GGLD_OPEN_STRICT;
    bool opened = ggld_open_path(&file, path, &strict, &err) == GGLD_OK;
    tally_case(t, same_verdict(t, peer_verdict_of_file(ggml, path), opened,
                               path, err.message));
    if (opened)
        ggld_close(file);
    return opened;
}

/* Bytes that matter in counts, lengths and types: ends, signs, neighbours. */
static size_t changes_of(const image *base, size_t metadata_bytes, change *out)
{
    size_t n = 0;
    for (size_t at = 0; at < metadata_bytes; at++) {
        int old = base->data[at];
        int bytes[] = { 0,       1,       old + 1,    old - 1,
                        old ^ 2, old ^ 8, old ^ 0x80, 0xFF };
        for (size_t i = 0; i < sizeof bytes / sizeof bytes[0]; i++)
            out[n++] = (change){ at, bytes[i] & 0xFF };
    }
    for (size_t at = 1; at < base->size; at++)
        out[n++] = (change){ at, -1 };
    return n;
}

static bool change_is_same(tally *t, const image *base, change c,
                           verdict theirs, const char *path)
{
    ggld_open_options strict = ggld_open_options_init();
    image changed = image_changed(base, c);
    ggld_file *file = NULL;
    char what[512];
    ggld_error err;

    strict.flags = GGLD_OPEN_STRICT;
    bool opened = ggld_open_memory(&file, changed.data, changed.size, &strict,
                                   &err) == GGLD_OK;
    if (c.byte < 0)
        snprintf(what, sizeof what, "%.400s cut to %zu bytes", path, c.offset);
    else
        snprintf(what, sizeof what, "%.400s, byte %zu made %d", path, c.offset,
                 c.byte);
    if (opened)
        ggld_close(file);
    free(changed.data);
    return same_verdict(t, theirs, opened, what, err.message);
}

static void check_changes(const ggml_api *ggml, tally *t, const char *path,
                          const image *base, size_t metadata_bytes)
{
    change *changes = peer_alloc(9 * base->size * sizeof *changes);
    size_t n = changes_of(base, metadata_bytes, changes);
    uint8_t *verdicts = peer_alloc(n);
    bool same = true;

    peer_verdicts(ggml, base, changes, n, verdicts);
    for (size_t i = 0; i < n; i++)
        same &= change_is_same(t, base, changes[i], (verdict)verdicts[i], path);
    tally_case(t, same);
    free(verdicts);
    free(changes);
}

/* The changes of a file that both open, where it is small. */
static void check_small(const ggml_api *ggml, tally *t, const char *path)
{
    ggld_file_info info = { .struct_size = sizeof info };
    ggld_file *file;
    image base;

    if (!image_read(&base, path))
        return;
    if (base.size <= MAX_BASE_BYTES &&
        ggld_open_memory(&file, base.data, base.size, NULL, NULL) == GGLD_OK) {
        ggld_file_get_info(file, &info);
        ggld_close(file);
        check_changes(ggml, t, path, &base,
                      info.metadata_bytes < base.size
                          ? (size_t)info.metadata_bytes
                          : base.size);
    }
    free(base.data);
}

static int is_model(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return dot != NULL &&
           (strcmp(dot, ".gguf") == 0 || strcmp(dot, ".bin") == 0);
}

void check_verdicts(const ggml_api *ggml, tally *t, const char *folder)
{
    struct dirent **entries;
    char path[4096];
    int n = scandir(folder, &entries, is_model, alphasort);

    if (n <= 0) {
        tally_skip(t, "%s: no files to open", folder);
        if (n == 0)
            free(entries);
        return;
    }
    for (int i = 0; i < n; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (check_file(ggml, t, path))
            check_small(ggml, t, path);
        free(entries[i]);
    }
    free(entries);
}
