/* SPDX-License-Identifier: MIT */
#include "folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"

static char folder[256];

static void folder_remove(void)
{
    (void)folder_empty();
    rmdir(folder);
}

const char *folder_path(void)
{
    const char *base = getenv("TMPDIR");

    if (folder[0] != '\0')
        return folder;
    if (base == NULL || base[0] == '\0')
        base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(folder, sizeof folder, "%s/ggld-fuzz-XXXXXX", base);
    FUZZ_REQUIRE(mkdtemp(folder) != NULL, "%s: %s", folder, strerror(errno));
    atexit(folder_remove);
    return folder;
}

char *folder_file(const char *name)
{
    size_t size = strlen(folder_path()) + strlen(name) + 2;
    char *path = fuzz_alloc(size);

    snprintf(path, size, "%s/%s", folder, name);
    return path;
}

unsigned folder_empty(void)
{
    DIR *d = opendir(folder_path());
    const struct dirent *entry;
    unsigned n = 0;

    FUZZ_REQUIRE(d != NULL, "%s: %s", folder, strerror(errno));
    while ((entry = readdir(d)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        FUZZ_REQUIRE(unlinkat(dirfd(d), entry->d_name, 0) == 0, "%s: %s",
                     entry->d_name, strerror(errno));
        n++;
    }
    closedir(d);
    return n;
}

void file_put(const char *path, const void *data, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    FUZZ_REQUIRE(fd >= 0, "%s: %s", path, strerror(errno));
    FUZZ_REQUIRE(size == 0 || write(fd, data, size) == (ssize_t)size, "%s: %s",
                 path, strerror(errno));
    FUZZ_REQUIRE(close(fd) == 0, "%s: %s", path, strerror(errno));
}

uint8_t *file_get(const char *path, size_t *size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;

    *size = 0;
    if (fd < 0)
        return NULL;
    FUZZ_REQUIRE(fstat(fd, &st) == 0, "%s: %s", path, strerror(errno));
    *size = (size_t)st.st_size;
    uint8_t *bytes = fuzz_alloc(*size + 1);
    FUZZ_REQUIRE(read(fd, bytes, *size + 1) == (ssize_t)*size, "%s: %s", path,
                 strerror(errno));
    close(fd);
    return bytes;
}

bool file_has(const char *path, const void *data, size_t size)
{
    size_t n;
    uint8_t *bytes = file_get(path, &n);
    bool same =
        bytes != NULL && n == size && (n == 0 || memcmp(bytes, data, n) == 0);

    free(bytes);
    return same;
}
