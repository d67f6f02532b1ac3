/* SPDX-License-Identifier: MIT */
/* Page-aligned anonymous memory for reads that pass the page cache by. */
#ifndef GGLD_JOBS_BUFFER_H
#define GGLD_JOBS_BUFFER_H

#include <stddef.h>
#include <stdint.h>

/* Devices want addresses, offsets and sizes in multiples of their sector; a
 * page is one on all that were met. */
#define GGLD_DIRECT_ALIGN 4096u

typedef struct ggld_buffer {
    uint8_t *data; /* NULL: none */
    size_t size;
    void *mapping;
    size_t mapping_bytes;
} ggld_buffer;

/* From 2 MiB on in huge pages where the system gives them: a device's request
 * has room for so many pieces of memory, so that with small pages large reads
 * are cut up (2 GB/s instead of 7 on a virtio disk). 0 or an errno. */
int ggld_buffer_make(ggld_buffer *out, size_t size);
void ggld_buffer_free(ggld_buffer *buffer);

#endif /* GGLD_JOBS_BUFFER_H */
