/* SPDX-License-Identifier: MIT */
/* Tensors that are copied, from file to file by the system. Those that lie
 * behind one another alike in both files go as one range, the zeros between
 * them included, so that there are few calls, and blocks that the file system
 * can share. Only an attempt: what can't be done this way is read instead,
 * which also tells what is wrong. */
#include <inttypes.h>
#include <sys/stat.h>

#include "../base/checked.h"
#include "../base/quote.h"
#include "writer.h"

/* Less is quicker through the buffer. */
#define MIN_RANGE_BYTES (256u << 10)
/* Copied between two calls of progress; a multiple of any block. */
#define PIECE_BYTES (16u << 20)
/* Of file systems that share blocks. */
#define BLOCK_BYTES 4096u
/* A gap of zeros that is worth looking at. */
#define MAX_GAP_BYTES 4096u

typedef struct range {
    int fd;
    uint64_t from; /* in fd's file */
    uint64_t to;   /* in the output */
    uint64_t size;
    uint32_t last; /* of the tensors that it holds, from current on */
} range;

/* The file that a tensor's bytes are in: of a set, one of its shards. */
static const ggld_file *file_of(const ggld_tensor *tensor,
                                const ggld_tensor_info *info)
{
    return ggld_file_shard(ggld_tensor_file(tensor), info->shard);
}

/* Where the bytes of a tensor are, as the file that they are in sees them, and
 * where that file begins in its descriptor's. false: there is no descriptor. */
static bool find_source(const ggld_out_tensor *t, ggld_tensor_info *info,
                        ggld_backing *backing)
{
    info->struct_size = sizeof *info;
    backing->struct_size = sizeof *backing;
    ggld_tensor_get_info(t->source, info);
    ggld_file_get_backing(file_of(t->source, info), backing);
    return backing->fd >= 0;
}

static bool is_zero(const ggld_file *file, uint64_t offset, uint64_t size)
{
    uint8_t bytes[MAX_GAP_BYTES];
    uint64_t i = 0;

    if (size > sizeof bytes ||
        ggld_file_read_bytes(file, offset, bytes, (size_t)size, NULL) !=
            GGLD_OK)
        return false;
    while (i < size && bytes[i] == 0)
        i++;
    return i == size;
}

/* Does tensor i of the output follow its neighbour as it does in the same
 * source, with zeros between? */
static bool follows(const ggld_writer *w, const ggld_tensor_info *before,
                    uint32_t i)
{
    const ggld_out_tensor *a = &w->tensors[i - 1], *b = &w->tensors[i];
    ggld_tensor_info info = { .struct_size = sizeof info };

    if (b->source == NULL ||
        ggld_tensor_file(b->source) != ggld_tensor_file(a->source))
        return false;
    ggld_tensor_get_info(b->source, &info);
    uint64_t end = before->file_offset_bytes + a->size_bytes;
    return info.shard == before->shard && info.file_offset_bytes >= end &&
           info.file_offset_bytes - before->file_offset_bytes ==
               b->offset - a->offset &&
           is_zero(file_of(b->source, &info), end,
                   info.file_offset_bytes - end);
}

static bool find_range(const ggld_writer *w, range *r)
{
    const ggld_out_tensor *first = &w->tensors[w->current];
    ggld_tensor_info info;
    ggld_backing backing;

    if (!find_source(first, &info, &backing))
        return false;
    r->fd = backing.fd;
    r->from = backing.fd_offset_bytes + info.file_offset_bytes;
    r->to = w->plan.data_offset + first->offset;
    r->last = w->current;
    while (r->last + 1 < w->tensor_names.n && follows(w, &info, r->last + 1)) {
        r->last++;
        ggld_tensor_get_info(w->tensors[r->last].source, &info);
    }
    const ggld_out_tensor *last = &w->tensors[r->last];
    r->size = last->offset + last->size_bytes - first->offset;
    return r->size >= MIN_RANGE_BYTES;
}

/* The verifier is asked about whole tensors, as many as the range has. */
static ggld_status verify_range(const ggld_writer *w, const range *r,
                                ggld_error *err)
{
    ggld_status status = GGLD_OK;
    for (uint32_t i = w->current; i <= r->last && status == GGLD_OK; i++)
        status = ggld_tensor_verify(w->tensors[i].source, 0,
                                    w->tensors[i].size_bytes, err);
    return status;
}

/* How much of the range, of which done bytes are copied, is next: up to the
 * next block that could be shared, then whole blocks. */
static uint64_t next_piece(const range *r, uint64_t done)
{
    uint64_t from = r->from + done;
    uint64_t until = PIECE_BYTES - from % PIECE_BYTES;

    if (done == 0 && (r->from - r->to) % BLOCK_BYTES == 0 &&
        from % BLOCK_BYTES != 0)
        until = BLOCK_BYTES - from % BLOCK_BYTES;
    return ggld_min_u64(until, r->size - done);
}

/* current and current_bytes where done bytes of the range are there. */
static void set_place(ggld_writer *w, const range *r, uint64_t start,
                      uint64_t done)
{
    uint64_t at = start + done;
    while (w->current < r->last && w->tensors[w->current + 1].offset <= at)
        w->current++;
    const ggld_out_tensor *t = &w->tensors[w->current];
    w->current_bytes = ggld_min_u64(at - t->offset, t->size_bytes);
}

/* Tensors' bytes among the n of the range from done on: no gaps. */
static uint64_t tensor_bytes(const ggld_writer *w, const range *r,
                             uint64_t start, uint64_t done, uint64_t n)
{
    uint64_t bytes = 0, begin = start + done, end = begin + n;
    for (uint32_t i = w->current; i <= r->last; i++) {
        const ggld_out_tensor *t = &w->tensors[i];
        if (t->offset >= end)
            break;
        uint64_t from = t->offset > begin ? t->offset : begin;
        uint64_t to = ggld_min_u64(t->offset + t->size_bytes, end);
        bytes += to > from ? to - from : 0;
    }
    return bytes;
}

/* Nothing was copied. Where that is the source's end, which is not where it
 * was, reading it through a map would be the end of the process. */
static ggld_status check_end(const ggld_writer *w, const range *r,
                             ggld_error *err)
{
    const ggld_out_tensor *t = &w->tensors[w->current];
    uint64_t end = r->from + r->size;
    struct stat now;

    if (fstat(r->fd, &now) != 0 || (uint64_t)now.st_size >= end)
        return GGLD_OK;
    return ggld_fail(err, GGLD_E_TRUNCATED,
                     ggld_in_tensor_data(w->current, w->current_bytes),
                     "tensor %" PRIu32 " %s: its file has been cut to %" PRIu64
                     " bytes; what is copied ends at %" PRIu64,
                     w->current, ggld_quote(t->name.data, t->name.len).text,
                     (uint64_t)now.st_size, end);
}

static ggld_status copy_pieces(ggld_writer *w, const range *r, ggld_error *err)
{
    uint64_t start = w->tensors[w->current].offset;
    uint64_t done = 0, n;

    while (done < r->size) {
        ggld_status status = ggld_sink_copy(&w->sink, r->fd, r->from + done,
                                            next_piece(r, done), &n, err);
        if (status != GGLD_OK)
            return status;
        if (n == 0) {
            w->no_ranges = true;
            return check_end(w, r, err);
        }
        uint64_t of_tensors = tensor_bytes(w, r, start, done, n);
        done += n;
        set_place(w, r, start, done);
        status = ggld_writer_copied(w, of_tensors, err);
        if (status != GGLD_OK)
            return status;
    }
    return GGLD_OK;
}

ggld_status ggld_writer_copy_range(ggld_writer *w, ggld_error *err)
{
    range r;

    if (w->no_ranges || !find_range(w, &r))
        return GGLD_OK;
    ggld_status status = verify_range(w, &r, err);
    return status == GGLD_OK ? copy_pieces(w, &r, err) : status;
}
