/* SPDX-License-Identifier: MIT */
/* What "auto" stands for: by the file system that a file is on, and by what the
 * bytes are wanted for. Looks inside. */
#include "check.h"

#include <fcntl.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "jobs/io.h"

static const char *const names[] = { "auto", "map", "pread", "direct",
                                     "uring" };

static void expect(const char *what, uint32_t expected, uint32_t got)
{
    CHECK(got == expected, "%s: expected %s, got %s", what, names[expected],
          got < 5 ? names[got] : "?");
}

static void test_file_systems(void)
{
    /* f_type as statfs(2) lists them. */
    static const struct {
        const char *name;
        uint32_t fs_type, passing_by;
    } systems[] = {
        { "ext4", 0xEF53, GGLD_IO_DIRECT },
        { "xfs", 0x58465342, GGLD_IO_DIRECT },
        { "btrfs", 0x9123683E, GGLD_IO_DIRECT },
        { "overlayfs", 0x794C7630, GGLD_IO_DIRECT },
        { "nfs", 0x6969, GGLD_IO_PREAD },
        { "smb2", 0xFE534D42, GGLD_IO_PREAD },
        { "cifs", 0xFF534D42, GGLD_IO_PREAD },
        { "fuse", 0x65735546, GGLD_IO_PREAD },
        { "9p", 0x01021997, GGLD_IO_PREAD },
        { "ceph", 0x00C36400, GGLD_IO_PREAD },
        { "tmpfs", 0x01021994, GGLD_IO_PREAD },
        { "one that is not known", 0x12345678, GGLD_IO_DIRECT },
    };
    for (size_t i = 0; i < sizeof systems / sizeof systems[0]; i++) {
        uint32_t type = systems[i].fs_type;
        expect(systems[i].name, systems[i].passing_by,
               ggld_io_choose_on(type, GGLD_TO_PASS_BY));
        for (ggld_purpose p = GGLD_TO_WARM; p <= GGLD_TO_KEEP; p++)
            expect(systems[i].name, GGLD_IO_PREAD, ggld_io_choose_on(type, p));
    }
}

static void test_files(void)
{
    static const char *const paths[] = { "/proc/self/exe", "/dev/shm", "/tmp",
                                         "." };
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        struct statfs fs;
        int fd = open(paths[i], O_RDONLY | O_CLOEXEC);
        if (fd < 0 || fstatfs(fd, &fs) != 0)
            continue;
        expect(paths[i],
               ggld_io_choose_on((uint32_t)fs.f_type, GGLD_TO_PASS_BY),
               ggld_io_choose(fd, GGLD_TO_PASS_BY));
        close(fd);
    }
    expect("no file", GGLD_IO_PREAD, ggld_io_choose(-1, GGLD_TO_PASS_BY));
}

int main(void)
{
    test_file_systems();
    test_files();
    printf("%d failed\n", n_failed);
    return n_failed != 0;
}
