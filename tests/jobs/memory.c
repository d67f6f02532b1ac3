/* SPDX-License-Identifier: MIT */
#include "memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static void must(bool good, const char *what)
{
    if (good)
        return;
    perror(what);
    exit(99);
}

void memory_chill(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    must(fd >= 0 && fdatasync(fd) == 0 &&
             posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) == 0,
         path);
    close(fd);
}

bool *memory_pages(const char *path, size_t *n)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    must(fd >= 0 && fstat(fd, &st) == 0, path);
    size_t size = (size_t)st.st_size;
    *n = (size + page - 1) / page;
    bool *cached = calloc(*n + 1, sizeof *cached);
    unsigned char *pages = malloc(*n + 1);
    void *map = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    must(cached != NULL && pages != NULL && map != MAP_FAILED &&
             mincore(map, size, pages) == 0,
         path);
    for (size_t i = 0; i < *n; i++)
        cached[i] = (pages[i] & 1) != 0;
    munmap(map, size);
    free(pages);
    close(fd);
    return cached;
}

uint64_t memory_cached(const char *path)
{
    size_t n, n_cached = 0;
    bool *cached = memory_pages(path, &n);
    for (size_t i = 0; i < n; i++)
        n_cached += cached[i];
    free(cached);
    return (uint64_t)n_cached * (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t memory_mapped(const char *path)
{
    const char *name = strrchr(path, '/');
    FILE *f = fopen("/proc/self/smaps", "r");
    char line[4096];
    unsigned long long kib, sum = 0;
    bool ours = false;
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        if (sscanf(line, "Rss: %llu kB", &kib) == 1)
            sum += ours ? kib * 1024 : 0;
        else if (strchr(line, '/') != NULL)
            ours = strstr(line, name) != NULL;
        else if (strstr(line, " kB") == NULL)
            ours = false;
    }
    if (f != NULL)
        fclose(f);
    return sum;
}

uint64_t memory_anon(void)
{
    FILE *f = fopen("/proc/self/status", "r");
    char line[256];
    unsigned long long kib = 0;
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        if (sscanf(line, "RssAnon: %llu kB", &kib) == 1)
            break;
    if (f != NULL)
        fclose(f);
    return kib * 1024;
}

uint64_t memory_readahead(const char *path)
{
    struct stat st;
    char name[80];
    unsigned long long kib = 8192;
    must(stat(path, &st) == 0, path);
    snprintf(name, sizeof name, "/sys/class/bdi/%u:%u/read_ahead_kb",
             major(st.st_dev), minor(st.st_dev));
    FILE *f = fopen(name, "r");
    if (f != NULL && fscanf(f, "%llu", &kib) != 1)
        kib = 8192;
    if (f != NULL)
        fclose(f);
    return kib * 1024;
}
