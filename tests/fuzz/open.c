/* SPDX-License-Identifier: MIT */
/* Any bytes as a file: opened by map, private copy and pread, in each mode, and
 * checked. All ways must agree, what opens is read to its last byte, what is
 * refused is refused in one clean line, and strict takes nothing more. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "outcome.h"

/* One file for all inputs, as to make one takes longer than to open it. */
static int file_of(const uint8_t *data, size_t size)
{
    static int fd = -1;
    if (fd < 0)
        fd = memfd_create("fuzz", MFD_CLOEXEC);
    FUZZ_REQUIRE(fd >= 0, "no memory file");
    FUZZ_REQUIRE(ftruncate(fd, (off_t)size) == 0, "can't be resized");
    FUZZ_REQUIRE(pwrite(fd, data, size, 0) == (ssize_t)size, "can't write");
    return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int fd = file_of(data, size);
    ggld_error err;

    bool opens = outcome_agreed("default", fd, 0, &err);
    bool strict = outcome_agreed("strict", fd, GGLD_OPEN_STRICT, &err);
    bool metadata = outcome_agreed("metadata", fd, GGLD_OPEN_METADATA, &err);
    FUZZ_REQUIRE(opens || !strict, "strict takes what is refused by default");
    FUZZ_REQUIRE(metadata || !opens, "metadata alone is refused: %s",
                 err.message);
    FUZZ_REQUIRE(outcome_opens_memory("memory", data, size, 0, &err) == opens,
                 "memory and file: %s", err.message);
    FUZZ_REQUIRE(outcome_faults == 0, "%d faults, see above", outcome_faults);
    return 0;
}
