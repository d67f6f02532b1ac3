/* SPDX-License-Identifier: MIT */
/* Every file of the folder given, in every mode, by its expect.tsv. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <ggld/ggld.h>

#include "outcome.h"

/* Refused for where data lies, which GGLD_OPEN_METADATA has no word on. */
static const char *const open_without_data[] = {
    "A20_align_1048576.gguf",    "A21_align_1073741824.gguf",
    "A22_align_2147483648.gguf", "D02_one_byte_short.gguf",
    "D03_no_data.gguf",          "O01_off_minus16.gguf",
    "O03_off_past_eof.gguf",     "Z5_two_huge_i8.gguf",
};

static bool opens_without_data(const char *name)
{
    size_t n = sizeof open_without_data / sizeof open_without_data[0];
    for (size_t i = 0; i < n; i++)
        if (strcmp(open_without_data[i], name) == 0)
            return true;
    return false;
}

static void expect(const char *name, int fd, uint32_t flags, bool expected)
{
    ggld_error err;
    bool opens = outcome_agreed(name, fd, flags, &err);
    if (opens != expected)
        outcome_fault(name, "flags %u: expected to %s: %s", flags,
                      expected ? "open" : "be refused",
                      opens ? "it opens" : err.message);
}

static void expect_row(const char *folder, const char *name,
                       const char *in_default, const char *in_strict)
{
    char path[512];
    bool opens = strcmp(in_default, "open") == 0;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        outcome_fault(name, "is not there");
        return;
    }
    expect(name, fd, 0, opens);
    expect(name, fd, GGLD_OPEN_STRICT, strcmp(in_strict, "open") == 0);
    expect(name, fd, GGLD_OPEN_METADATA, opens || opens_without_data(name));
    close(fd);
}

/* D07: not at the file's start, but whole as a range. */
static void expect_range(const char *folder)
{
    char path[512];
    ggld_file *file;
    ggld_error err;
    snprintf(path, sizeof path, "%s/D07_prefix7.gguf", folder);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    uint64_t size = (uint64_t)lseek(fd, 0, SEEK_END);
    if (ggld_open_range(&file, fd, 7, size - 7, NULL, &err) != GGLD_OK)
        outcome_fault("D07 as a range", "%s", err.message);
    else
        ggld_close(file);
    close(fd);
}

int main(int argc, char **argv)
{
    char path[512], line[512], name[128], in_default[16], in_strict[16];
    int n_rows = 0;
    if (argc != 2)
        return 2;
    snprintf(path, sizeof path, "%s/expect.tsv", argv[1]);
    FILE *table = fopen(path, "r");
    if (table == NULL || fgets(line, sizeof line, table) == NULL) {
        perror(path);
        return 1;
    }
    while (fgets(line, sizeof line, table) != NULL) {
        if (sscanf(line, "%127[^\t]\t%15[^\t]\t%15[^\t]", name, in_default,
                   in_strict) != 3) {
            outcome_fault(path, "a row that is none: %s", line);
            continue;
        }
        expect_row(argv[1], name, in_default, in_strict);
        n_rows++;
    }
    fclose(table);
    expect_range(argv[1]);
    printf("%d files, %d faults\n", n_rows, outcome_faults);
    return outcome_faults != 0 || n_rows == 0;
}
