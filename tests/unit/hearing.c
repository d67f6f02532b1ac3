/* SPDX-License-Identifier: MIT */
#include "hearing.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void findings_hear(ggld_severity severity, const ggld_error *finding,
                   void *user)
{
    findings *f = user;
    if (severity == GGLD_NOTE &&
        strstr(finding->message, "'general.architecture'") != NULL) {
        f->no_architecture = true;
    } else if (f->count == MAX_FINDINGS) {
        f->overfull = true;
    } else {
        f->severity[f->count] = severity;
        f->error[f->count++] = *finding;
    }
}

ggld_status findings_of(const image *img, uint32_t flags, findings *out)
{
    ggld_open_options options = ggld_open_options_init();
    int fd = memfd_create("image", MFD_CLOEXEC);
    options.flags = flags;
    memset(out, 0, sizeof *out);
    if (fd < 0 || write(fd, img->data, img->size) != (ssize_t)img->size)
        abort();
    ggld_status status = ggld_check_fd(fd, &options, findings_hear, out, NULL);
    close(fd);
    return status;
}

const ggld_error *findings_first_error(const findings *f)
{
    for (size_t i = 0; i < f->count; i++)
        if (f->severity[i] == GGLD_ERROR)
            return &f->error[i];
    return NULL;
}

ggld_status image_opens(const image *img, uint32_t flags, ggld_error *err)
{
    ggld_open_options options = ggld_open_options_init();
    ggld_file *file;
    options.flags = flags;
    ggld_status status =
        ggld_open_memory(&file, img->data, img->size, &options, err);
    if (status == GGLD_OK)
        ggld_close(file);
    return status;
}
