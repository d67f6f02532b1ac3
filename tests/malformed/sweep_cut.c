/* SPDX-License-Identifier: MIT */
/* Files shaped as real ones are, cut at every byte: what is said of each must
 * name the record in which the file ends, or else how many bytes are missing
 * and how many tensors are whole. What is expected is worked out from how the
 * file was made. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "outcome.h"
#include "shaped.h"

static int n_cuts;

/* Where in the table the byte at size is, which is the first that is gone. */
static void expect_in_records(const char *what, const shaped *s, size_t size,
                              const ggld_error *err)
{
    size_t r = 0;
    if (err->code != (size == 0 ? GGLD_E_MAGIC : GGLD_E_TRUNCATED))
        outcome_fault(what, "is refused as %s: %s", ggld_status_name(err->code),
                      err->message);
    /* The counts are too much for what is left, wherever that ends. */
    if (err->section == GGLD_IN_HEADER || size == 0)
        return;
    while (size >= s->records[r].end)
        r++;
    bool kv = r < s->n_kvs;
    if (err->section != (kv ? GGLD_IN_KV : GGLD_IN_TENSOR_INFO) ||
        err->index != (kv ? r : r - s->n_kvs) ||
        err->offset < s->records[r].begin || err->offset > size)
        outcome_fault(what, "ends in record %zu: %s", r, err->message);
}

static void expect_in_data(const char *what, const shaped *s, size_t size,
                           const ggld_error *err)
{
    char says[128];
    size_t whole = 0, first = s->n_tensors;
    for (size_t i = 0; i < s->n_tensors; i++) {
        if (s->data[i].end <= size || s->data[i].begin == s->data[i].end)
            whole++;
        else if (first == s->n_tensors)
            first = i;
    }
    snprintf(says, sizeof says, "missing: %zu bytes, tensors whole: %zu of %zu",
             s->data[s->n_tensors - 1].end - size, whole, s->n_tensors);
    if (err->code != GGLD_E_TRUNCATED || err->section != GGLD_IN_TENSOR_DATA ||
        err->index != first || strstr(err->message, says) == NULL)
        outcome_fault(what, "expected tensor %zu, %s: %s", first, says,
                      err->message);
}

static void expect_cut(const shaped *s, int fd, size_t size)
{
    char what[96];
    ggld_error err;
    size_t end =
        s->n_tensors == 0 ? s->table_end : s->data[s->n_tensors - 1].end;
    snprintf(what, sizeof what, "%s: %zu of %zu bytes", s->name, size,
             s->img.size);
    bool opens = outcome_agreed(what, fd, 0, &err);
    n_cuts++;
    if (opens != (size >= end))
        outcome_fault(what, "%s", opens ? "opens" : err.message);
    else if (size < s->table_end)
        expect_in_records(what, s, size, &err);
    else if (!opens)
        expect_in_data(what, s, size, &err);
}

static void sweep(shaped *s)
{
    ggld_error err;
    int fd = memfd_create("cut", MFD_CLOEXEC);
    if (fd < 0 || write(fd, s->img.data, s->img.size) != (ssize_t)s->img.size) {
        perror("memfd");
        exit(1);
    }
    if (outcome_agreed(s->name, fd, GGLD_OPEN_STRICT, &err) != s->strict)
        outcome_fault(s->name, "strictly: %s", err.message);
    for (size_t size = s->img.size + 1; size-- > 0;) {
        if (ftruncate(fd, (off_t)size) != 0)
            outcome_fault(s->name, "can't be cut");
        expect_cut(s, fd, size);
    }
    close(fd);
    shaped_free(s);
}

int main(void)
{
    static shaped s;
    shaped_language(&s, 3, false);
    sweep(&s);
    shaped_language(&s, 1, false);
    sweep(&s);
    shaped_language(&s, 3, true);
    sweep(&s);
    shaped_diffusion(&s);
    sweep(&s);
    shaped_vocabulary(&s);
    sweep(&s);
    printf("%d passed, %d failed, 0 skipped\n", n_cuts - outcome_faults,
           outcome_faults);
    return outcome_faults != 0;
}
