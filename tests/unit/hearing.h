/* SPDX-License-Identifier: MIT */
/* What a check has to say of an image, and what open does with it. */
#ifndef TESTS_UNIT_HEARING_H
#define TESTS_UNIT_HEARING_H

#include <ggld/file.h>

#include "image.h"

#define MAX_FINDINGS 32

typedef struct findings {
    size_t count;
    /* That is left out of the others: images here are as small as can be. */
    bool no_architecture;
    bool overfull;
    ggld_severity severity[MAX_FINDINGS];
    ggld_error error[MAX_FINDINGS];
} findings;

/* For ggld_check_fd; user is a findings. */
void findings_hear(ggld_severity severity, const ggld_error *finding,
                   void *user);
/* status is what ggld_check_fd returned. */
ggld_status findings_of(const image *img, uint32_t flags, findings *out);
/* The first that is an error, or NULL. */
const ggld_error *findings_first_error(const findings *f);

/* Opens it in memory, and closes it again. */
ggld_status image_opens(const image *img, uint32_t flags, ggld_error *err);

#endif /* TESTS_UNIT_HEARING_H */
