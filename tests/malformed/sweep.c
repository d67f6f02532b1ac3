/* SPDX-License-Identifier: MIT */
/* Small good images, cut at every byte, and changed in every byte to every
 * value: nothing may crash, a prefix opens only where it is whole, and all
 * modes agree. To be run under sanitizers. An argument: of the changes of a byte
 * that are opened one way only, one of so many (for emulators). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <ggld/ggld.h>

#include "image.h"
#include "outcome.h"

/* Of image_sample: the last tensor's data is 6 bytes, then there is padding. */
#define LAST_PADDING 26

static int image_fd(const image *img)
{
    int fd = memfd_create("image", MFD_CLOEXEC);
    if (fd < 0 || write(fd, img->data, img->size) != (ssize_t)img->size) {
        perror("memfd");
        _exit(1);
    }
    return fd;
}

static void expect_prefixes(const char *name, const image *img)
{
    int fd = image_fd(img);
    ggld_error err;
    for (size_t size = img->size; size > 0; size--) {
        bool whole = size >= img->size - LAST_PADDING;
        if (ftruncate(fd, (off_t)size) != 0)
            outcome_fault(name, "can't be cut");
        if (outcome_agreed(name, fd, 0, &err) != whole)
            outcome_fault(name, "%zu of %zu bytes: %s", size, img->size,
                          whole ? err.message : "it opens");
        (void)outcome_agreed(name, fd, GGLD_OPEN_STRICT, &err);
        (void)outcome_agreed(name, fd, GGLD_OPEN_METADATA, &err);
    }
    close(fd);
}

/* What strict takes default takes, and what that takes METADATA takes. */
static void expect_order(const char *name, const uint8_t *data, size_t size)
{
    ggld_error err;
    bool strict =
        outcome_opens_memory(name, data, size, GGLD_OPEN_STRICT, &err);
    bool standard = outcome_opens_memory(name, data, size, 0, &err);
    bool metadata =
        outcome_opens_memory(name, data, size, GGLD_OPEN_METADATA, &err);
    if ((strict && !standard) || (standard && !metadata))
        outcome_fault(name, "strict %d, default %d, metadata %d: %s", strict,
                      standard, metadata, err.message);
}

static void expect_agreement(const char *name, int fd, size_t at, uint8_t byte)
{
    ggld_error err;
    if (pwrite(fd, &byte, 1, (off_t)at) != 1)
        outcome_fault(name, "can't be changed");
    (void)outcome_agreed(name, fd, 0, &err);
    (void)outcome_agreed(name, fd, GGLD_OPEN_STRICT, &err);
    (void)outcome_agreed(name, fd, GGLD_OPEN_METADATA, &err);
}

static bool opened_all_ways(unsigned change)
{
    return change == 1 || change == 0x80 || change == 0xFF;
}

/* All values of a byte, but by steps; all ways to open for some. */
static void expect_changes(const char *name, const image *img, unsigned step)
{
    int fd = image_fd(img);
    /* As large as the image is, so that sanitizers see the byte behind it. */
    uint8_t *data = malloc(img->size);
    if (data == NULL)
        abort();
    memcpy(data, img->data, img->size);
    for (size_t at = 0; at < img->size; at++) {
        char what[64];
        for (unsigned change = 1; change < 256; change++) {
            bool all_ways = opened_all_ways(change);
            if (change % step != 0 && !all_ways)
                continue;
            data[at] = (uint8_t)(img->data[at] ^ change);
            snprintf(what, sizeof what, "%s: byte %zu made %02x", name, at,
                     data[at]);
            expect_order(what, data, img->size);
            if (all_ways)
                expect_agreement(what, fd, at, data[at]);
        }
        data[at] = img->data[at];
        if (pwrite(fd, data + at, 1, (off_t)at) != 1)
            outcome_fault(name, "can't be changed");
    }
    free(data);
    close(fd);
}

int main(int argc, char **argv)
{
    unsigned step = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
    static const struct {
        const char *name;
        uint32_t version;
        bool big_endian;
    } forms[] = { { "version 3", 3, false },
                  { "version 2", 2, false },
                  { "version 1", 1, false },
                  { "version 3, big-endian", 3, true } };
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        image img = image_sample(forms[i].version, forms[i].big_endian);
        expect_prefixes(forms[i].name, &img);
        if (i != 1)
            expect_changes(forms[i].name, &img, step == 0 ? 1 : step);
        image_free(&img);
    }
    printf("%d faults\n", outcome_faults);
    return outcome_faults != 0;
}
