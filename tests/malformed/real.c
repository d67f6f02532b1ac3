/* SPDX-License-Identifier: MIT */
/* Files that other programs wrote, which stay outside the tree: the folder is
 * models/ in what GGLD_SHARED names, or else in the argument. Exit 77 where it
 * is not there. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ggld/ggld.h>

#include "outcome.h"

typedef struct real_row {
    const char *name;
    bool opens, opens_strict;
    const char *says; /* the refusal, or, of what opens, a finding */
    uint64_t n_tensors;
} real_row;

static const real_row rows[] = {
    { "stories260k-f32.v1.gguf", true, false, "version 1", 48 },
    { "llama2-tiny-random-f16.gguf", true, true, NULL, 12 },
    { "taesd-decoder.gguf", true, true, NULL, 67 },
    { "llama-20tensors-f32.gguf", true, true, NULL, 20 },
    { "dupkey-align64.v3.gguf", true, false, "is there already", 3 },
    { "dupkey-align64.v2.gguf", true, false, "is there already", 3 },
    { "big-endian.v3.gguf", true, false, "big-endian", 3 },
    { "align64-strings.gguf", true, true, NULL, 3 },
    { "one-element-align64.gguf", true, true, NULL, 1 },
    { "vocab-llama.v1.gguf", true, false, "version 1", 0 },
    { "vocab-falcon.v2.gguf", true, true, NULL, 0 },
    { "vocab-llama-spm.gguf", true, true, NULL, 0 },
    { "utf8-mangled.gguf", false, false, "text filter", 0 },
    { "no-data.gguf", false, false, "missing: 32774 bytes", 0 },
    { "fugg-prerelease.gguf", false, false, "FUGG", 0 },
    { "ggjt.bin", false, false, "GGJT version 1", 0 },
    { "ggmf.bin", false, false, "GGMF version 1", 0 },
    { "whisper-ggml.bin", false, false, "GGML", 0 },
    { "lfs-pointer.gguf", false, false,
      "61888 bytes (sha256:"
      "002876d888b0a12c7fe0906a64c34786ca9415d597bd35c5822549fc91e7488e)",
      0 },
};

static void expect(const real_row *row, int fd, uint32_t flags, bool expected)
{
    ggld_error err;
    bool opens = outcome_agreed(row->name, fd, flags, &err);
    if (opens != expected)
        outcome_fault(row->name, "flags %u: expected to %s: %s", flags,
                      expected ? "open" : "be refused",
                      opens ? "it opens" : err.message);
    if (!opens && (row->says == NULL || !strstr(err.message, row->says)))
        outcome_fault(row->name, "flags %u: says: %s", flags, err.message);
}

typedef struct heard {
    const char *says;
    bool said;
} heard;

static void hear(ggld_severity severity, const ggld_error *finding, void *user)
{
    heard *h = user;
    (void)severity;
    h->said |= strstr(finding->message, h->says) != NULL;
}

static void expect_row(const char *folder, const real_row *row)
{
    char path[1024];
    ggld_file *file;
    snprintf(path, sizeof path, "%s/models/%s", folder, row->name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        outcome_fault(row->name, "is not there");
        return;
    }
    expect(row, fd, 0, row->opens);
    expect(row, fd, GGLD_OPEN_STRICT, row->opens_strict);
    if (row->says != NULL) {
        heard h = { row->says, false };
        if (ggld_check_fd(fd, NULL, hear, &h, NULL) != GGLD_OK || !h.said)
            outcome_fault(row->name, "a check does not say: %s", row->says);
    }
    if (row->opens && ggld_open_fd(&file, fd, NULL, NULL) == GGLD_OK) {
        if (ggld_tensor_count(file) != row->n_tensors)
            outcome_fault(row->name, "has %llu tensors",
                          (unsigned long long)ggld_tensor_count(file));
        ggld_close(file);
    }
    close(fd);
}

int main(int argc, char **argv)
{
    const char *folder = getenv("GGLD_SHARED");
    char path[1024];
    if (folder == NULL)
        folder = argc > 1 ? argv[1] : "../shared";
    snprintf(path, sizeof path, "%s/models", folder);
    if (access(path, R_OK) != 0) {
        printf("skipped: no real files at %s (GGLD_SHARED names the folder)\n",
               path);
        return 77;
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        expect_row(folder, &rows[i]);
    printf("%zu files, %d faults\n", sizeof rows / sizeof rows[0],
           outcome_faults);
    return outcome_faults != 0;
}
