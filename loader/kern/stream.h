/* SPDX-License-Identifier: MIT */
/* Output past the caches: a few blocks into a buffer that stays in the first
 * cache, from there to memory in whole cache lines, whatever dst's alignment
 * is. Only the first and the last line are written through the caches. */
#ifndef GGLD_KERN_STREAM_H
#define GGLD_KERN_STREAM_H

#define LINE         64
#define STREAM_BYTES 4096

/* Has the page that p is on looked up. A store past the caches waits for that
 * when it retires, and all behind it wait too: without this the rate is little
 * more than half. The address may be outside the buffer: nothing is read. */
static inline void touch_page(const void *p, size_t ahead)
{
    __builtin_prefetch((const void *)((uintptr_t)p + ahead), 0, 0);
}

static void stream_all(ggld_to_f32 to_f32, size_t elems, size_t bytes,
                       const void *src, void *dst, uint64_t n_blocks)
{
    _Alignas(LINE) uint8_t buffer[STREAM_BYTES + 2 * LINE];
    const uint8_t *in = src;
    uint8_t *out = dst;
    size_t head = -(uintptr_t)dst % LINE; /* up to the first whole line */
    size_t held = 0;                      /* bytes in the buffer */

    while (n_blocks != 0) {
        touch_page(out, 2 * STREAM_BYTES);
        touch_page(in, STREAM_BYTES);
        uint64_t n =
            ggld_min_u64(n_blocks, STREAM_BYTES / (elems * sizeof(float)));
        to_f32(in, buffer + held, n);
        in += n * bytes;
        held += (size_t)n * elems * sizeof(float);
        n_blocks -= n;
        size_t done = held < head ? held : head;
        memcpy(out, buffer, done);
        head -= done;
        size_t lines = (held - done) / LINE * LINE;
        vf_stream(out + done, buffer + done, lines);
        done += lines;
        out += done;
        held -= done;
        memmove(buffer, buffer + done, held);
    }
    memcpy(out, buffer, held);
    vf_stream_end();
}

#endif /* GGLD_KERN_STREAM_H */
