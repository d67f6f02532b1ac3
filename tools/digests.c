/* SPDX-License-Identifier: MIT */
/* See digests.h. */
#include "digests.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report.h"

#define TEXT_MAX_BYTES (1 << 30)

static int check_fd(const char *path, int fd, size_t *size)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return report_errno(path, errno, "cannot read");
    if (!S_ISREG(st.st_mode))
        return report(path,
                      "%s, where a regular file is wanted; write its "
                      "text to one first",
                      S_ISDIR(st.st_mode)    ? "a directory"
                      : S_ISFIFO(st.st_mode) ? "a FIFO"
                                             : "a device or socket");
    if (st.st_size > TEXT_MAX_BYTES)
        return report(path, "%lld bytes; a manifest or key has at most %d",
                      (long long)st.st_size, TEXT_MAX_BYTES);
    *size = (size_t)st.st_size;
    return STATUS_GOOD;
}

/* Not waiting for a FIFO's other end. */
static int open_text(const char *path, int *fd, size_t *size)
{
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*fd < 0)
        return report_errno(path, errno, "cannot open");
    int status = check_fd(path, *fd, size);
    if (status != STATUS_GOOD)
        close(*fd);
    return status;
}

static int read_fd(const char *path, int fd, size_t wanted, char **text,
                   size_t *size)
{
    size_t done = 0;
    char *data = malloc(wanted + 1);
    if (data == NULL)
        return report(path, "no memory for %zu bytes", wanted);
    while (done < wanted) {
        ssize_t n = read(fd, data + done, wanted - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            free(data);
            return report_errno(path, errno, "cannot read");
        }
        if (n == 0)
            break;
        done += (size_t)n;
    }
    data[done] = '\0';
    *text = data;
    *size = done;
    return STATUS_GOOD;
}

int text_read(const char *path, char **text, size_t *size)
{
    int fd;
    size_t wanted = 0;
    int status = open_text(path, &fd, &wanted);
    if (status != STATUS_GOOD)
        return status;
    status = read_fd(path, fd, wanted, text, size);
    close(fd);
    return status;
}

int text_check(const char *path)
{
    int fd;
    size_t size = 0;
    int status = open_text(path, &fd, &size);
    if (status == STATUS_GOOD)
        close(fd);
    return status;
}

int path_with(const char *path, const char *ending, char out[DIGESTS_PATH_MAX])
{
    int n = snprintf(out, DIGESTS_PATH_MAX, "%s%s", path, ending);
    if (n >= 0 && n < DIGESTS_PATH_MAX)
        return STATUS_GOOD;
    return report_errno(path, ENAMETOOLONG, "cannot name a file beside it");
}

int algos_parse(const args *a, const char *text, uint32_t *out)
{
    char words[LIST_MAX];
    char *rest = words, *word;
    uint32_t algos = 0, algo;
    if (text == NULL)
        return STATUS_GOOD;
    snprintf(words, sizeof words, "%s", text);
    while ((word = strsep(&rest, ",")) != NULL) {
        if (!ggld_algo_from_name(word, &algo))
            return report_usage(
                a, "--algo is '%s': sha256, sha1, xxh64, xxh3 or uuid", word);
        algos |= GGLD_ALGO_BIT(algo);
    }
    *out = algos;
    return STATUS_GOOD;
}

int format_parse(const args *a, const char *text, uint32_t *out)
{
    if (text == NULL || ggld_manifest_format_from_name(text, out))
        return STATUS_GOOD;
    return report_usage(a,
                        "--format is '%s': ggsum, llama, sha256sum, digest, "
                        "lfs or in-toto",
                        text);
}

const char *scope_text(uint32_t scope)
{
    switch (scope) {
    case GGLD_SCOPE_FILE:
        return "file";
    case GGLD_SCOPE_METADATA:
        return "metadata";
    case GGLD_SCOPE_TENSORS:
        return "tensors";
    case GGLD_SCOPE_TENSOR:
        return "tensor";
    case GGLD_SCOPE_CHUNKS:
        return "chunks";
    default:
        return "?";
    }
}

void js_digest(js *w, const char *key, const ggld_digest *digest)
{
    char hex[GGLD_DIGEST_TEXT_MAX], text[GGLD_DIGEST_TEXT_MAX + 8];
    if (digest->algo == 0) {
        js_null(w, key);
        return;
    }
    ggld_digest_text(digest, hex);
    snprintf(text, sizeof text, "%s:%s", ggld_algo_name(digest->algo), hex);
    js_text(w, key, text);
}

void digests_note_chunks(const char *path, uint32_t chunk_algo)
{
    if (chunk_algo != 0 && chunk_algo != GGLD_ALGO_SHA256)
        report_note(path,
                    "its chunks have %s digests, which a forger can match: "
                    "verification on access will find damage only (see "
                    "ggld hash --chunks sha256)",
                    ggld_algo_name(chunk_algo));
}
