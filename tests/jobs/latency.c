/* SPDX-License-Identifier: MIT */
/* The loop stays free while jobs work on it. What may make its thread wait is
 * work for the pool: reading, mapping and unmapping, advice, opening and
 * closing. Here the kernel refuses the loop's thread those calls, and tells.
 *
 * A timed test fails when the machine has other work: a virtual machine that
 * has used up its share of processors stands still for 10 ms and more, and its
 * clocks, of processor time too, go on. What always takes long does so always:
 * so that of the turns that hand out a chunk the median is judged, of those
 * that come once in an attempt (starting jobs, a job's end) the least of some
 * attempts, in processor time. The longest turn is printed and not judged. The
 * loop never sleeps here, so that what a turn takes is what callbacks take. */
#include "check.h"
#include "memory.h"
#include "model.h"

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <linux/filter.h>
#include <linux/seccomp.h>

#include <ggld/integrity.h>

#define N_ATTEMPTS 5
#define N_JOBS     6 /* at once, that the open starts */
#define MAX_CHUNKS 4096
#define LIMIT_NS   1000000u

/* ---- what the loop's thread must not do ---- */

static const struct {
    long number;
    const char *name;
} refused[] = {
#define CALL(name)        \
    {                     \
        SYS_##name, #name \
    }
    CALL(pread64),        CALL(preadv),   CALL(readv),   CALL(openat),
    CALL(close),          CALL(munmap),   CALL(madvise), CALL(mincore),
    CALL(mlock),          CALL(munlock),  CALL(fsync),   CALL(fdatasync),
    CALL(io_uring_enter), CALL(readlink), CALL(statx),
#ifdef SYS_open
    CALL(open),
#endif
#ifdef SYS_fadvise64
    CALL(fadvise64),
#endif
#ifdef SYS_fadvise64_64
    CALL(fadvise64_64),
#endif
#ifdef SYS_sendfile
    CALL(sendfile),
#endif
#ifdef SYS_sendfile64
    CALL(sendfile64),
#endif
#ifdef SYS_mmap
    CALL(mmap), /* of a file; memory may be had */
#endif
#ifdef SYS_mmap2
    CALL(mmap2),
#endif
#ifdef SYS_fstat
    CALL(fstat),
#endif
#ifdef SYS_newfstatat
    CALL(newfstatat),
#endif
#undef CALL
};
#define N_REFUSED (sizeof refused / sizeof refused[0])

static volatile sig_atomic_t n_refusals, last_refusal;

static void on_refusal(int number, siginfo_t *info, void *context)
{
    (void)number, (void)context;
    n_refusals++;
    last_refusal = info->si_syscall;
}

static bool is_map(const char *name)
{
    return strcmp(name, "mmap") == 0 || strcmp(name, "mmap2") == 0;
}

/* From now on, for this thread and no other. false: not to be had here. */
static bool refuse_calls(void)
{
    struct sock_filter code[4 * N_REFUSED + 2];
    struct sock_fprog program = { 0, code };
    unsigned short n = 0;
    code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                             offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < N_REFUSED; i++) {
        bool map = is_map(refused[i].name);
        code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
                                                 (uint32_t)refused[i].number, 0,
                                                 map ? 3 : 1);
        if (map) { /* no descriptor: memory, which malloc may need */
            code[n++] = (struct sock_filter)BPF_STMT(
                BPF_LD | BPF_W | BPF_ABS,
                offsetof(struct seccomp_data, args[4]) +
                    (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 4 : 0));
            code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
                                                     0xFFFFFFFFu, 1, 0);
        }
        code[n++] =
            (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
        if (map) /* the number again, for those that follow */
            code[n++] = (struct sock_filter)BPF_STMT(
                BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    }
    code[n++] =
        (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    program.len = n;
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static const char *refusal_name(void)
{
    for (size_t i = 0; i < N_REFUSED; i++)
        if (refused[i].number == last_refusal)
            return refused[i].name;
    return "?";
}

/* Is it so, and is it seen? */
static void try_refusal(void)
{
    char byte;
    n_refusals = 0;
    /* cppcheck-suppress invalidFunctionArg; it is refused all the same */
    (void)!pread(-1, &byte, 1, 0);
    CHECK(n_refusals == 1, "expected pread to be refused, got %d refusals",
          (int)n_refusals);
    n_refusals = 0;
}

/* ---- turns ---- */

/* What callbacks were made in a turn; the last of them that applies. */
typedef enum turn_kind {
    TURN_EMPTY,
    TURN_CHUNK,
    TURN_START,
    TURN_DONE,
    N_KINDS
} turn_kind;

typedef struct turns {
    uv_loop_t loop;
    uv_idle_t idle;
    uv_prepare_t prepare;
    uv_timer_t timer;
    uv_sem_t over;
    const char *path;
    bool refusing;
    turn_kind kind;
    uint64_t own_ns, wall_ns; /* when the last turn began */
    uint64_t longest_ns[N_KINDS];
    uint64_t longest_wall_ns;
    uint64_t chunk_ns[MAX_CHUNKS]; /* turns that handed one out */
    size_t n_chunk_turns;
    int n_turns, n_fired, n_jobs;
    long n_waited;
} turns;

/* Processor time of this thread. */
static uint64_t own_time(void)
{
    struct timespec own;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &own);
    return (uint64_t)own.tv_sec * 1000000000 + (uint64_t)own.tv_nsec;
}

/* Blocks that this thread had a disk read for, and faults that needed one. */
static long n_waits(void)
{
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_inblock + usage.ru_majflt;
}

static uint64_t longer(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void turn_is(turns *t, turn_kind kind)
{
    if (kind > t->kind)
        t->kind = kind;
}

static void turn_ended(turns *t, uint64_t own_ns, uint64_t wall_ns)
{
    t->longest_ns[t->kind] = longer(t->longest_ns[t->kind], own_ns);
    t->longest_wall_ns = longer(t->longest_wall_ns, wall_ns);
    if (t->kind == TURN_CHUNK && t->n_chunk_turns < MAX_CHUNKS)
        t->chunk_ns[t->n_chunk_turns++] = own_ns;
    t->kind = TURN_EMPTY;
}

static void on_prepare(uv_prepare_t *prepare)
{
    turns *t = prepare->data;
    uint64_t own_ns = own_time(), wall_ns = uv_hrtime();
    if (t->n_turns++ > 0)
        turn_ended(t, own_ns - t->own_ns, wall_ns - t->wall_ns);
    t->own_ns = own_ns;
    t->wall_ns = wall_ns;
}

static void on_idle(uv_idle_t *idle)
{
    (void)idle;
}

static void on_timer(uv_timer_t *timer)
{
    ((turns *)timer->data)->n_fired++;
}

/* ---- jobs ---- */

static int on_chunk(ggld_job *job, const ggld_chunk *chunk, void *user)
{
    (void)job, (void)chunk;
    turn_is(user, TURN_CHUNK);
    return 0;
}

static void stop_handles(turns *t)
{
    uv_idle_stop(&t->idle);
    uv_prepare_stop(&t->prepare);
    uv_timer_stop(&t->timer);
}

static void on_done(ggld_job *job, const ggld_error *result, void *user)
{
    turns *t = user;
    (void)job;
    CHECK(result->code == GGLD_OK, "expected GGLD_OK, got %s", result->message);
    turn_is(t, TURN_DONE);
    if (--t->n_jobs == 0)
        stop_handles(t);
}

static void on_hashed(ggld_job *job, ggld_manifest *manifest,
                      const ggld_error *result, void *user)
{
    ggld_manifest_free(manifest);
    on_done(job, result, user);
}

/* Streams of every engine, a prefetch and a hash, all at once; the last of them
 * closes the file. */
static void on_open(ggld_job *job, ggld_file *file, const ggld_error *result,
                    void *user)
{
    turns *t = user;
    ggld_error err = *result;
    ggld_view view;
    if (file == NULL) {
        t->n_jobs = 1;
        on_done(job, result, user);
        return;
    }
    turn_is(t, TURN_START);
    view = ggld_tensor_view(ggld_tensor_at(file, 1));
    t->n_jobs = N_JOBS;
    for (uint32_t io = GGLD_IO_AUTO; io <= GGLD_IO_DIRECT; io++) {
        ggld_stream_options options = ggld_stream_options_init();
        options.io = io;
        options.format = io % 2 == 0 ? GGLD_STREAM_BYTES : GGLD_STREAM_F32;
        options.max_resident_bytes = 32u << 20;
        MUST(ggld_stream_start(&job, &t->loop, file, NULL, 0, &options,
                               on_chunk, on_done, t, &err),
             err);
    }
    MUST(ggld_prefetch_start(&job, &t->loop, &view, 1, NULL, on_done, t, &err),
         err);
    MUST(ggld_hash_start(&job, &t->loop, file, NULL, on_hashed, t, &err), err);
    ggld_close(file);
}

/* The app's thread. It stays: to end it, its stack has to be given back, which
 * is refused to it. */
static void *run_loop(void *arg)
{
    turns *t = arg;
    ggld_error err;
    ggld_job *job;
    void *volatile any = malloc(1); /* the thread's own heap is mapped now */
    free(any);
    t->refusing = refuse_calls();
    if (t->refusing)
        try_refusal();
    long before = n_waits();
    if (ggld_open_start(&job, &t->loop, t->path, NULL, on_open, t, &err) !=
        GGLD_OK)
        CHECK(0, "expected the open to start, got %s", err.message);
    else
        uv_run(&t->loop, UV_RUN_DEFAULT);
    t->n_waited = n_waits() - before;
    uv_sem_post(&t->over);
    while (true)
        pause();
    return NULL;
}

static void nothing(uv_work_t *work)
{
    (void)work;
}

/* The pool's threads are made by the first that needs them, and would inherit
 * what is refused to it. */
static void make_pool(void)
{
    uv_loop_t loop;
    uv_work_t work;
    uv_loop_init(&loop);
    uv_queue_work(&loop, &work, nothing, NULL);
    loop_finish(&loop, "pool");
}

static void attempt(turns *t)
{
    pthread_t thread;
    uv_sem_init(&t->over, 0);
    uv_loop_init(&t->loop);
    uv_idle_init(&t->loop, &t->idle);
    uv_prepare_init(&t->loop, &t->prepare);
    uv_timer_init(&t->loop, &t->timer);
    t->prepare.data = t;
    t->timer.data = t;
    uv_idle_start(&t->idle, on_idle);
    uv_prepare_start(&t->prepare, on_prepare);
    uv_timer_start(&t->timer, on_timer, 1, 1);
    if (pthread_create(&thread, NULL, run_loop, t) != 0)
        abort();
    uv_sem_wait(&t->over);
    uv_close((uv_handle_t *)&t->idle, NULL);
    uv_close((uv_handle_t *)&t->prepare, NULL);
    uv_close((uv_handle_t *)&t->timer, NULL);
    loop_finish(&t->loop, "latency");
    uv_sem_destroy(&t->over);
}

/* ---- what is seen ---- */

static int by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static uint64_t median_chunk(turns *t)
{
    if (t->n_chunk_turns == 0)
        return 0;
    qsort(t->chunk_ns, t->n_chunk_turns, sizeof t->chunk_ns[0], by_size);
    return t->chunk_ns[t->n_chunk_turns / 2];
}

typedef struct least {
    uint64_t start_ns, done_ns, chunk_ns, n_waited;
} least;

static uint64_t lesser(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static void look(turns *t, least *all)
{
    uint64_t chunk_ns = median_chunk(t);
    uint64_t longest_ns = 0;
    for (int i = 0; i < N_KINDS; i++)
        longest_ns = longer(longest_ns, t->longest_ns[i]);
    uint64_t start_ns = t->longest_ns[TURN_START] / N_JOBS;
    all->start_ns = lesser(all->start_ns, start_ns);
    all->done_ns = lesser(all->done_ns, t->longest_ns[TURN_DONE]);
    all->chunk_ns = lesser(all->chunk_ns, chunk_ns);
    all->n_waited = lesser(all->n_waited, (uint64_t)t->n_waited);
    CHECK(n_refusals == 0,
          "expected the loop's thread to make no call that may wait, got %d, "
          "the last one %s",
          (int)n_refusals, refusal_name());
    CHECK(t->n_chunk_turns > 0, "expected turns that hand out chunks");
    printf(
        "of %d turns: starting a job %.3f ms, a chunk %.3f ms (median of %zu), "
        "ending %.3f ms; the longest %.3f ms, by the clock %.3f ms; the "
        "timer fired %d times\n",
        t->n_turns, (double)start_ns / 1e6, (double)chunk_ns / 1e6,
        t->n_chunk_turns, (double)t->longest_ns[TURN_DONE] / 1e6,
        (double)longest_ns / 1e6, (double)t->longest_wall_ns / 1e6, t->n_fired);
}

static void expect_short(const char *what, uint64_t ns)
{
    CHECK(ns < LIMIT_NS,
          "%s: expected less than 1 ms of processor time in one of %d "
          "attempts, got %.3f",
          what, N_ATTEMPTS, (double)ns / 1e6);
}

int main(void)
{
    struct sigaction action = { .sa_flags = SA_SIGINFO };
    char *path = model_write_layers(4, 16u << 20);
    least all = { UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX };
    int n_fired = 0;
    action.sa_sigaction = on_refusal;
    sigaction(SIGSYS, &action, NULL);
    make_pool();
    for (int i = 0; i < N_ATTEMPTS; i++) {
        static turns t;
        memset(&t, 0, sizeof t);
        t.path = path;
        memory_chill(path);
        attempt(&t);
        look(&t, &all);
        n_fired += t.n_fired;
        if (i == 0 && !t.refusing)
            printf("calls can't be refused here: they are not looked at\n");
    }
    CHECK(n_fired > 0, "expected the timer to fire");
    /* In one of them: the program's own pages may have been put out. */
    CHECK(all.n_waited == 0,
          "expected no read from disk on the loop's thread, got %" PRIu64
          " and more in each of %d attempts",
          all.n_waited, N_ATTEMPTS);
    expect_short("starting a job", all.start_ns);
    expect_short("handing out a chunk", all.chunk_ns);
    expect_short("ending a job", all.done_ns);
    model_remove(path);
    return n_failed != 0;
}
