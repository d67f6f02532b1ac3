/* SPDX-License-Identifier: MIT */
/* Windows where the system offers no faults, has run out of what they take, or
 * keeps all memory locked. */
#include "subject.h"

#include "child.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

/* ---- systems without faults ---- */

static int forbid_userfaultfd(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_userfaultfd, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { sizeof filter / sizeof filter[0], filter };
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0;
}

/* A file of q4_0 rows that nobody has written: its floats are some times as
 * many as fit into memory. */
static int64_t pread_huge(void *ctx, void *dst, size_t n, uint64_t offset)
{
    uint8_t *to = dst;
    const uint8_t *head = ctx;
    for (size_t i = 0; i < n; i++)
        to[i] = offset + i < 96 ? head[offset + i] : 0;
    return (int64_t)n;
}

static void put_number(uint8_t **to, uint64_t value, int n)
{
    for (int i = 0; i < n; i++)
        *(*to)++ = (uint8_t)(value >> 8 * i);
}

static ggld_file *open_huge(uint8_t head[96], uint64_t n_rows)
{
    ggld_source source = { .struct_size = sizeof source };
    ggld_file *huge;
    uint8_t *to = head + 4;
    memset(head, 0, 96);
    head[0] = head[1] = 'G', head[2] = 'U', head[3] = 'F';
    put_number(&to, 3, 4);
    put_number(&to, 1, 8); /* tensors */
    put_number(&to, 0, 8);
    put_number(&to, 1, 8); /* of its name */
    put_number(&to, 't', 1);
    put_number(&to, 2, 4);
    put_number(&to, (uint64_t)ROW_ELEMS, 8);
    put_number(&to, n_rows, 8);
    put_number(&to, GGLD_TYPE_Q4_0, 4);
    source.size_bytes = 96 + n_rows * ROW_ELEMS / 32 * 18;
    source.pread = pread_huge;
    source.ctx = head;
    return ggld_open_source(&huge, &source, NULL, &err) == GGLD_OK ? huge
                                                                   : NULL;
}

/* Twice the memory of the machine. */
static int refuse_more_than_memory(uint32_t flags)
{
    uint8_t head[96];
    uint64_t memory =
        (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    ggld_file *huge = open_huge(head, memory / (ROW_ELEMS * 4) * 2);
    ggld_window_options o = ggld_window_options_init();
    ggld_window *w = NULL;
    if (huge == NULL)
        return 10;
    ggld_view view = ggld_tensor_view(ggld_tensor_at(huge, 0));
    o.flags = flags;
    ggld_status status = ggld_window_open(&w, &view, &o, &err);
    ggld_close(huge);
    if (status == GGLD_E_LIMIT || status == GGLD_E_NOMEM)
        return 0; /* addresses don't reach */
    return status == GGLD_E_UNSUPPORTED && w == NULL &&
                   strstr(err.message, "do not fit the available memory of") !=
                       NULL &&
                   strstr(err.message, "give max_resident_bytes") != NULL
               ? 0
               : 11;
}

/* What has run out is the error: nothing is filled instead. */
static int open_without_descriptors(void *arg)
{
    int next = dup(0);
    struct rlimit limit = { (rlim_t)next, (rlim_t)next };
    ggld_window *w = NULL;
    (void)arg;
    if (next < 0 || close(next) != 0 || setrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 77;
    ggld_status status = ggld_window_open(&w, &whole, NULL, &err);
    return status == GGLD_E_IO && w == NULL && err.sys_errno == EMFILE &&
                   strstr(err.message, "(userfaultfd)") != NULL
               ? 0
               : 1;
}

static void test_no_descriptors(void)
{
    int code = child_run(open_without_descriptors, NULL);
    CHECK(code == 0 || code == 77,
          "no descriptors: expected GGLD_E_IO with EMFILE, got %s",
          child_text(code));
}

static int open_forbidden(void *arg)
{
    ggld_window_options o = options_of(0, 0);
    ggld_window *w = NULL;
    (void)arg;
    if (forbid_userfaultfd() != 0)
        return 77;
    if (ggld_window_open(&w, &whole, &o, &err) != GGLD_OK ||
        memcmp(ggld_window_data(w), expected, 4 * N_ELEMS) != 0 ||
        counts_of(w).lazy != 0 || counts_of(w).resident_bytes != 4 * N_ELEMS ||
        counts_of(w).sys_errno != EPERM || counts_of(w).read_ns == 0)
        return 1;
    ggld_window_close(w);
    w = NULL;
    o.max_resident_bytes = 4 * N_ELEMS - 1;
    if (ggld_window_open(&w, &whole, &o, &err) != GGLD_E_UNSUPPORTED ||
        w != NULL || err.sys_errno != EPERM)
        return 2;
    if (strstr(err.message, "Operation not permitted") == NULL ||
        strstr(err.message, "1048576 bytes do not fit the budget of "
                            "1048575: raise max_resident_bytes") == NULL)
        return 3;
    return refuse_more_than_memory(0);
}

static void test_without_faults(void)
{
    int code = child_run(open_forbidden, NULL);
    if (code == 77)
        printf("skipped: no seccomp filter can be set here\n");
    else
        CHECK(code == 0,
              "a filter forbids userfaultfd: expected the whole, "
              "then refusals, got %s",
              child_text(code));
    code = refuse_more_than_memory(GGLD_WINDOW_AT_ONCE);
    CHECK(code == 0,
          "at once, more than memory: expected GGLD_E_UNSUPPORTED, got: %s",
          err.message);

    ggld_window_options o = options_of(GGLD_WINDOW_AT_ONCE, 4 * N_ELEMS);
    ggld_window *w = window_open(GGLD_WINDOW_AT_ONCE, 4 * N_ELEMS);
    CHECK(memcmp(ggld_window_data(w), expected, 4 * N_ELEMS) == 0,
          "at once: expected the bits");
    MUST(ggld_window_fill(w, 0, N_ELEMS, &err), err);
    MUST(ggld_window_drop(w, 0, N_ELEMS, &err), err);
    CHECK(counts_of(w).resident_bytes == 4 * N_ELEMS,
          "at once: expected everything kept");
    int code_fork = child_run(touch_in_child, w);
    CHECK(code_fork == CHILD_SEGV, "at once, child: expected SIGSEGV, got %s",
          child_text(code_fork));
    ggld_window_close(w);
    o.max_resident_bytes = 4 * CHUNK;
    expect_code(ggld_window_open(&w, &whole, &o, &err), GGLD_E_UNSUPPORTED,
                "asked for all at once", "at once over the budget");
}

static int open_locked(void *arg)
{
    (void)arg;
    /* What is mapped from here on is populated, and kept. */
    if (mlockall(MCL_FUTURE) != 0)
        return 77;
    ggld_window *w = window_open(0, 4 * CHUNK);
    const float *data = ggld_window_data(w);
    bool right = memcmp(data, expected, 4 * N_ELEMS) == 0;
    right &= memcmp(data, expected, 4 * N_ELEMS) == 0;
    bool within = counts_of(w).peak_bytes <= 4 * CHUNK && !chunk_is_there(w, 0);
    ggld_window_close(w);
    return !right ? CHILD_WRONG : !within ? 2 : 0;
}

static void test_locked_memory(void)
{
    int code = child_run(open_locked, NULL);
    if (code == 77)
        printf("skipped: memory can't be locked here\n");
    else
        CHECK(code == 0,
              "all memory locked: expected the bits within the "
              "budget, got %s",
              child_text(code));
}

/* ---- main ---- */

int main(void)
{
    static const subject_test tests[] = {
        /* First that whose children have threads: while there are others the
         * thread sanitizer allows none in children. */
        { test_locked_memory, true },
        { test_no_descriptors, true },
        { test_without_faults, false },
    };
    return subject_run(tests, sizeof tests / sizeof tests[0]);
}
