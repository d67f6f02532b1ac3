/* SPDX-License-Identifier: MIT */
/* Files that change while they are open: what ggld_file_changed and
 * ggld_file_intact say of them, and that guarded reads fail where others die.
 * Whatever may end a process is tried in a child. A plain main, for emulators
 * and sanitizers. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../views/model.h"

#define N_ELEMS   (1u << 18)
#define ROW_ELEMS 1024u
#define N_THREADS 8

static int n_passed, n_failed;
static char path[64], other[64];

static void expect(bool holds, const char *what, const char *got)
{
    if (holds) {
        n_passed++;
    } else {
        printf("failed: %s; got: %s\n", what, got);
        n_failed++;
    }
}

/* ---- a model of two tensors, 1 MiB of floats each ---- */

static model bytes;

static void make_model(void)
{
    static float values[N_ELEMS];
    model_tensor tensors[] = {
        { "a",
          GGLD_TYPE_F32,
          2,
          { ROW_ELEMS, N_ELEMS / ROW_ELEMS },
          values,
          sizeof values },
        { "b", GGLD_TYPE_F32, 1, { N_ELEMS }, values, sizeof values },
    };
    for (uint32_t i = 0; i < N_ELEMS; i++)
        values[i] = (float)i;
    bytes = model_encode(tensors, 2, false);
}

/* Of yesterday, so that a change has another time, whatever the clock's tick. */
static void save(const char *name)
{
    struct timespec times[2] = { { 1000000000, 0 }, { 1000000000, 0 } };
    int fd = open(name, O_CREAT | O_TRUNC | O_WRONLY, 0644);
    if (fd < 0 || write(fd, bytes.bytes, bytes.size) != (ssize_t)bytes.size ||
        futimens(fd, times) != 0 || close(fd) != 0) {
        perror(name);
        exit(99);
    }
}

static ggld_file *open_saved(uint32_t flags)
{
    ggld_open_options options = ggld_open_options_init();
    ggld_file *file = NULL;
    ggld_error err;

    save(path);
    options.flags = flags;
    if (ggld_open_path(&file, path, &options, &err) != GGLD_OK) {
        puts(err.message);
        exit(99);
    }
    return file;
}

/* ---- what has become of it ---- */

static void leave(void)
{
}

static void truncate_it(void)
{
    if (truncate(path, 5000) != 0)
        exit(99);
}

static void grow_it(void)
{
    if (truncate(path, (off_t)bytes.size + 1) != 0)
        exit(99);
}

static void write_in_place(void)
{
    int fd = open(path, O_WRONLY);
    if (fd < 0 || pwrite(fd, "x", 1, 6000) != 1 || close(fd) != 0)
        exit(99);
}

static void replace_it(void)
{
    save(other);
    if (rename(other, path) != 0)
        exit(99);
}

static void remove_it(void)
{
    unlink(path);
}

static void chmod_it(void)
{
    if (chmod(path, 0600) != 0)
        exit(99);
}

static const struct {
    const char *says; /* NULL: it is unchanged */
    void (*change)(void);
} changes[] = {
    { NULL, leave },
    { "truncated since it was opened: it has 5000 bytes now", truncate_it },
    { "has grown", grow_it },
    { "written to", write_in_place },
    { "replaced under its name", replace_it },
    { "removed", remove_it },
    { "inode was changed", chmod_it },
};

static void test_changed(uint32_t flags)
{
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        ggld_file *file = open_saved(flags);
        ggld_error err = { .message = "unchanged" };
        changes[i].change();
        ggld_status status = ggld_file_changed(file, &err);
        if (changes[i].says == NULL)
            expect(status == GGLD_OK, "unchanged", err.message);
        else
            expect(status == GGLD_E_CHANGED &&
                       strstr(err.message, changes[i].says) != NULL,
                   changes[i].says, err.message);
        ggld_close(file);
    }
}

static void test_not_a_file(void)
{
    ggld_file *file = NULL;
    ggld_error err = { .message = "no error" };
    if (ggld_open_memory(&file, bytes.bytes, bytes.size, NULL, NULL) != GGLD_OK)
        exit(99);
    expect(ggld_file_changed(file, &err) == GGLD_E_UNSUPPORTED,
           "memory can't be asked", err.message);
    ggld_close(file);
}

/* ---- guarded reads ---- */

static float values[N_ELEMS];

static ggld_status read_f32(const ggld_tensor *t, ggld_error *err)
{
    ggld_view view = ggld_tensor_view(t);
    return ggld_view_read_f32(&view, values, N_ELEMS, err);
}

static ggld_status read_part(const ggld_tensor *t, ggld_error *err)
{
    ggld_view view = ggld_tensor_view(t), part;
    ggld_status status = ggld_view_elems(&part, &view, N_ELEMS - 3, 1, err);
    return status == GGLD_OK ? ggld_view_read_f32(&part, values, 1, err)
                             : status;
}

static ggld_status read_f16(const ggld_tensor *t, ggld_error *err)
{
    static uint16_t halves[N_ELEMS];
    ggld_view view = ggld_tensor_view(t);
    return ggld_view_read_f16(&view, halves, N_ELEMS, err);
}

static ggld_status gather(const ggld_tensor *t, ggld_error *err)
{
    static const uint64_t rows[] = { 0, 255, 3 };
    ggld_view view = ggld_tensor_view(t);
    return ggld_view_gather_f32(&view, rows, 3, values, N_ELEMS, err);
}

static ggld_status read_stored(const ggld_tensor *t, ggld_error *err)
{
    return ggld_tensor_read_bytes(t, 0, values, sizeof values, err);
}

static ggld_status read_of_file(const ggld_tensor *t, ggld_error *err)
{
    return ggld_file_read_bytes(ggld_tensor_file(t), bytes.size - 64, values,
                                64, err);
}

static ggld_status (*const reads[])(const ggld_tensor *, ggld_error *) = {
    read_f32, read_part, read_f16, gather, read_stored, read_of_file,
};

#define N_READS (sizeof reads / sizeof reads[0])

static void expect_cut(ggld_status status, const ggld_error *err)
{
    expect(status == GGLD_E_IO &&
               strstr(err->message, "truncated while it was read") != NULL,
           "a read of what is gone is GGLD_E_IO, truncated", err->message);
}

/* All kinds of reads, twice each: a fault must not leave the signal blocked.
 * What is in front of the cut is still there. */
static void test_truncated(off_t size)
{
    ggld_file *file = open_saved(0);
    ggld_view view = ggld_tensor_view(ggld_tensor_find(file, "a")), row;
    ggld_error err = { .message = "no error" };

    if (truncate(path, size) != 0 ||
        ggld_view_index(&row, &view, 0, NULL) != GGLD_OK)
        exit(99);
    for (size_t i = 0; i < 2 * N_READS; i++) {
        memset(&err, 0, sizeof err);
        expect_cut(reads[i / 2](ggld_tensor_find(file, "a"), &err), &err);
    }
    expect(ggld_view_read_f32(&row, values, ROW_ELEMS, &err) == GGLD_OK &&
               values[ROW_ELEMS - 1] == ROW_ELEMS - 1,
           "row 0 is still there", err.message);
    ggld_close(file);
}

/* The name that the message would have is gone too. */
static void test_metadata_gone(off_t size)
{
    ggld_file *file = open_saved(0);
    const ggld_tensor *t = ggld_tensor_find(file, "a");
    ggld_error err = { .message = "no error" };
    if (truncate(path, size) != 0)
        exit(99);
    expect_cut(read_f32(t, &err), &err);
    expect(strncmp(err.message, "tensor 0 (its name is gone) (f32): ", 35) == 0,
           "a message without the name", err.message);
    ggld_close(file);
}

/* No signal comes of a cut in the middle of a page, and zeros are read. */
static void test_cut_in_page(void)
{
    ggld_file *file = open_saved(0);
    ggld_error err = { .message = "no error" };
    if (truncate(path, (off_t)bytes.size - 8) != 0)
        exit(99);
    expect_cut(read_of_file(ggld_tensor_find(file, "b"), &err), &err);
    expect_cut(read_f32(ggld_tensor_find(file, "b"), &err), &err);
    ggld_close(file);
}

/* A file that is replaced or removed stays readable to who has it open. */
static void test_replaced(void (*change)(void))
{
    ggld_file *file = open_saved(0);
    ggld_error err = { .message = "no error" };
    change();
    expect(read_f32(ggld_tensor_find(file, "b"), &err) == GGLD_OK &&
               values[77] == 77,
           "the old file's values", err.message);
    ggld_close(file);
}

/* ---- pointers that the app has ---- */

/* Reads what it can of everything that it has a pointer to. */
static unsigned read_pointers(const ggld_file *file)
{
    unsigned sum = 0;
    for (uint64_t i = 0; i < ggld_tensor_count(file); i++) {
        ggld_tensor_info info = { .struct_size = sizeof info };
        const ggld_tensor *t = ggld_tensor_at(file, i);
        ggld_tensor_get_info(t, &info);
        for (uint64_t c = 0; c < info.name.len; c++)
            sum += (unsigned char)info.name.data[c];
    }
    for (uint64_t i = 0; i < ggld_kv_count(file); i++) {
        ggld_string key = ggld_kv_key(ggld_kv_at(file, i));
        for (uint64_t c = 0; c < key.len; c++)
            sum += (unsigned char)key.data[c];
    }
    return sum + (ggld_tensor_find(file, "b") != NULL);
}

static unsigned read_map(const ggld_file *file)
{
    ggld_backing backing = { .struct_size = sizeof backing };
    unsigned sum = 0;
    ggld_file_get_backing(file, &backing);
    for (size_t i = 0; i < bytes.size; i += 512)
        sum += ((const volatile uint8_t *)backing.map)[i];
    return sum;
}

static void cut_to_nothing(void)
{
    if (truncate(path, 0) != 0)
        exit(99);
}

static void cut_and_fill(void)
{
    cut_to_nothing();
    if (truncate(path, (off_t)bytes.size) != 0)
        exit(99);
}

static const struct {
    const char *what;
    void (*change)(void);
    unsigned (*read)(const ggld_file *);
    void (*then)(void); /* after the first reading; or NULL */
    bool intact;
} pointers[] = {
    { "names, left alone", leave, read_pointers, NULL, true },
    { "map, left alone", leave, read_map, NULL, true },
    { "map, grown", grow_it, read_map, NULL, true },
    { "map, replaced", replace_it, read_map, NULL, true },
    { "names, cut to nothing", cut_to_nothing, read_pointers, NULL, false },
    { "map, cut to nothing", cut_to_nothing, read_map, NULL, false },
    { "map, cut", truncate_it, read_map, NULL, false },
    { "map, cut, and long again", cut_to_nothing, read_map, cut_and_fill,
      false },
};

/* Nothing dies, and the file says whether what was read was its own. */
static void test_pointers(void)
{
    for (size_t i = 0; i < sizeof pointers / sizeof pointers[0]; i++) {
        ggld_file *file = open_saved(0);
        ggld_error err = { .message = "intact" };
        pointers[i].change();
        (void)pointers[i].read(file);
        if (pointers[i].then != NULL)
            pointers[i].then();
        (void)pointers[i].read(file);
        ggld_status status = ggld_file_intact(file, &err);
        expect(status == (pointers[i].intact ? GGLD_OK : GGLD_E_IO),
               pointers[i].what, err.message);
        ggld_close(file);
    }
}

/* What was found gone once stays an error, though the file is long again: the
 * map has zeros there. What was not is read. */
static void test_lost_stays_lost(void)
{
    ggld_file *file = open_saved(0);
    ggld_error err = { .message = "no error" };
    truncate_it();
    (void)read_map(file);
    save(path); /* the same inode, whole */
    expect(read_f32(ggld_tensor_find(file, "b"), &err) == GGLD_E_IO,
           "a guarded read of pages that were lost", err.message);
    expect(ggld_file_intact(file, &err) == GGLD_E_IO, "a file that lost pages",
           err.message);
    ggld_close(file);
}

static ggld_file *shared_file;
static atomic_int n_good, n_cut, n_else;

static void *read_until_cut(void *unused)
{
    float *mine = malloc(N_ELEMS * sizeof *mine);
    ggld_view view = ggld_tensor_view(ggld_tensor_find(shared_file, "b"));
    ggld_status status = GGLD_OK;
    (void)unused;
    while (mine != NULL && status == GGLD_OK) {
        status = ggld_view_read_f32(&view, mine, N_ELEMS, NULL);
        if (status == GGLD_OK)
            atomic_fetch_add(&n_good, 1);
    }
    atomic_fetch_add(status == GGLD_E_IO ? &n_cut : &n_else, 1);
    free(mine);
    return NULL;
}

static void test_threads(void)
{
    pthread_t threads[N_THREADS];
    shared_file = open_saved(0);
    for (int i = 0; i < N_THREADS; i++)
        if (pthread_create(&threads[i], NULL, read_until_cut, NULL) != 0)
            exit(99);
    while (atomic_load(&n_good) < N_THREADS)
        usleep(1000);
    truncate_it();
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
    expect(n_cut == N_THREADS && n_else == 0,
           "every thread's read is GGLD_E_IO", "something else");
    ggld_close(shared_file);
}

/* ---- signals that are not ours, in children ---- */

static void app_handler(int signal)
{
    (void)signal;
    _exit(42);
}

static void app_action(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    _exit(info->si_addr != NULL && context != NULL ? 43 : 1);
}

static void set_plain(void)
{
    signal(SIGBUS, app_handler);
}

static void set_action(void)
{
    struct sigaction action = { .sa_sigaction = app_action,
                                .sa_flags = SA_SIGINFO };
    sigaction(SIGBUS, &action, NULL);
}

static void set_default(void)
{
    signal(SIGBUS, SIG_DFL);
}

static void set_ignored(void)
{
    signal(SIGBUS, SIG_IGN);
}

static char *gone(size_t size)
{
    int fd;
    save(other);
    fd = open(other, O_RDWR);
    char *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd < 0 || map == MAP_FAILED || ftruncate(fd, 0) != 0)
        _exit(99);
    close(fd);
    return map;
}

static void fault_of_app(void)
{
    _exit(*(volatile char *)gone(4096) != 0 ? 1 : 0);
}

/* The caller's buffer is what is gone, while we read. */
static void fault_in_dst(void)
{
    ggld_file *file = open_saved(0);
    ggld_view view = ggld_tensor_view(ggld_tensor_find(file, "a"));
    float *dst = (float *)(void *)gone(bytes.size);
    _exit(ggld_view_read_f32(&view, dst, N_ELEMS, NULL) == GGLD_OK ? 0 : 98);
}

static void send_it(void)
{
    raise(SIGBUS);
    _exit(44);
}

static void read_cut(void)
{
    ggld_file *file = open_saved(0);
    truncate_it();
    _exit(read_f32(ggld_tensor_find(file, "a"), NULL) == GGLD_E_IO ? 45 : 98);
}

static void read_cut_unguarded(void)
{
    ggld_guard_remove();
    read_cut();
}

static struct sigaction chained;

static void chaining_handler(int signal, siginfo_t *info, void *context)
{
    chained.sa_sigaction(signal, info, context);
}

/* The app's handler is put over ours and calls it; ours is removed there, where
 * it stays, and installed again over the app's. */
static void chain_and_install_again(void)
{
    struct sigaction over = { .sa_sigaction = chaining_handler,
                              .sa_flags = SA_SIGINFO };
    sigaction(SIGBUS, &over, &chained);
    ggld_guard_remove();
    if (ggld_guard_install(NULL) != GGLD_OK)
        _exit(97);
}

static void fault_through_chain(void)
{
    chain_and_install_again();
    fault_of_app();
}

static void read_cut_through_chain(void)
{
    chain_and_install_again();
    read_cut();
}

enum { KILLED = -1 };

static const struct {
    const char *what;
    void (*before)(void); /* the guard */
    void (*act)(void);
    int exit_code;
} others[] = {
    { "app's fault, default", set_default, fault_of_app, KILLED },
    { "app's fault, ignored", set_ignored, fault_of_app, KILLED },
    { "app's fault, handler", set_plain, fault_of_app, 42 },
    { "app's fault, sigaction", set_action, fault_of_app, 43 },
    { "buffer's fault, default", set_default, fault_in_dst, KILLED },
    { "buffer's fault, sigaction", set_action, fault_in_dst, 43 },
    { "sent, default", set_default, send_it, KILLED },
    { "sent, ignored", set_ignored, send_it, 44 },
    { "sent, handler", set_plain, send_it, 42 },
    { "ours, default", set_default, read_cut, 45 },
    { "ours, ignored", set_ignored, read_cut, 45 },
    { "ours, sigaction", set_action, read_cut, 45 },
    { "chained twice, default", set_default, fault_through_chain, KILLED },
    { "chained twice, sigaction", set_action, fault_through_chain, 43 },
    { "chained twice, ours", set_default, read_cut_through_chain, 45 },
    { "guard removed, default", set_default, read_cut_unguarded, KILLED },
    { "guard removed, sigaction", set_action, read_cut_unguarded, 43 },
};

static void run_child(void (*before)(void), void (*act)(void))
{
    before();
    if (ggld_guard_install(NULL) != GGLD_OK)
        _exit(97);
    act();
    _exit(96);
}

static void test_others(void)
{
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        char got[32];
        int status = 0;
        fflush(stdout);
        pid_t child = fork();
        if (child == 0)
            run_child(others[i].before, others[i].act);
        if (child < 0 || waitpid(child, &status, 0) != child)
            exit(99);
        snprintf(got, sizeof got, "wait status %#x", (unsigned)status);
        expect(others[i].exit_code == KILLED
                   ? WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS
                   : WIFEXITED(status) &&
                         WEXITSTATUS(status) == others[i].exit_code,
               others[i].what, got);
    }
}

/* Counted, and what was there is there again. */
static void test_remove(void)
{
    struct sigaction now;
    set_plain();
    for (int i = 0; i < 2; i++)
        if (ggld_guard_install(NULL) != GGLD_OK)
            exit(99);
    ggld_guard_remove();
    sigaction(SIGBUS, NULL, &now);
    expect(now.sa_handler != app_handler, "one guard is left", "none");
    ggld_guard_remove();
    sigaction(SIGBUS, NULL, &now);
    expect(now.sa_handler == app_handler, "the app's handler is back", "not");
    set_default();
}

int main(void)
{
    char folder[] = "/tmp/ggld-guard-XXXXXX";
    if (mkdtemp(folder) == NULL)
        return 99;
    snprintf(path, sizeof path, "%s/model.gguf", folder);
    snprintf(other, sizeof other, "%s/other.gguf", folder);
    make_model();

    test_changed(0);
    test_changed(GGLD_OPEN_PREAD);
    test_changed(GGLD_OPEN_COPY);
    test_not_a_file();
    test_others();
    test_remove();
    if (ggld_guard_install(NULL) != GGLD_OK)
        return 99;
    test_truncated(16384);
    test_truncated((off_t)bytes.size - 3 * (1 << 20) / 2 - 100);
    test_metadata_gone(0);
    test_metadata_gone(30);
    test_cut_in_page();
    test_replaced(replace_it);
    test_replaced(remove_it);
    test_pointers();
    test_lost_stays_lost();
    test_threads();
    ggld_guard_remove();

    unlink(path);
    unlink(other);
    rmdir(folder);
    model_free(&bytes);
    printf("%d passed, %d failed, 0 skipped\n", n_passed, n_failed);
    return n_failed != 0;
}
