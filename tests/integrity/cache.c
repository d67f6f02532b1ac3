/* SPDX-License-Identifier: MIT */
/* Verify once: when a file is known, and all the ways in which it is not. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../jobs/check.h"
#include "support.h"

static const model_tensor tensors[] = {
    { .name = "a", .type = GGLD_TYPE_I8, .n_dims = 1, .dims = { 500000 } },
};

static char *path, *folder;
static ggld_error err;
static ggld_manifest *manifest, *other_manifest;

static ggld_manifest *make_manifest(uint32_t algos)
{
    ggld_manifest *m = NULL, *read = NULL;
    size_t size;
    ggld_hash_options options = hash_options(algos, 0, "m");
    CHECK(hash_path(path, &options, &m, &err) == GGLD_OK, "%s", err.message);
    char *text = manifest_text(m, GGLD_MANIFEST_GGSUM, &size);
    CHECK(parse_text(&read, text, size, 0, &err) == GGLD_OK, "%s", err.message);
    free(text);
    ggld_manifest_free(m);
    return read;
}

/* Older than what the cache calls fresh. */
static void age(void)
{
    struct timespec pause = { 0, 150 * 1000 * 1000 };
    nanosleep(&pause, NULL);
}

typedef struct visit {
    int fd;
    ggld_file *file;
    ggld_file_identity identity;
    ggld_verify_cache *cache;
} visit;

static visit begin(const char *in)
{
    visit v;
    v.fd = open(path, O_RDONLY | O_CLOEXEC);
    if (v.fd < 0 ||
        ggld_file_identity_of_fd(&v.identity, v.fd, &err) != GGLD_OK ||
        ggld_open_fd(&v.file, v.fd, NULL, &err) != GGLD_OK ||
        ggld_verify_cache_new(&v.cache, in, &err) != GGLD_OK) {
        printf("%s\n", err.message);
        exit(1);
    }
    return v;
}

static void end(visit *v)
{
    ggld_verify_cache_free(v->cache);
    ggld_close(v->file);
    close(v->fd);
}

static bool known_as(const ggld_manifest *m)
{
    visit v = begin(folder);
    bool has = ggld_verify_cache_has(v.cache, &v.identity, v.file, m, path);
    end(&v);
    return has;
}

static bool remember(void)
{
    bool stored = false;
    visit v = begin(folder);
    ggld_status status = ggld_verify_cache_put(
        v.cache, &v.identity, v.fd, v.file, manifest, path, &stored, &err);
    CHECK(status == GGLD_OK, "put: %s", err.message);
    end(&v);
    return stored;
}

/* The one record's path. */
static char *record_path(void)
{
    char *name = output_of("ls -d '%s'/* | tr -d '\\n'", folder);
    return name;
}

static void test_hit_and_miss(void)
{
    CHECK(!known_as(manifest), "expected a miss in a cache that is not there");
    age();
    CHECK(remember(), "expected it to be stored");
    CHECK(known_as(manifest), "expected a hit");
    CHECK(!known_as(other_manifest), "expected a miss of another manifest");
    char *name = record_path();
    struct stat st;
    CHECK(stat(folder, &st) == 0 && (st.st_mode & 0777) == 0700,
          "expected a folder of mode 700, got %o", st.st_mode & 0777);
    free(name);
}

static void test_touched(void)
{
    age();
    CHECK(utimensat(AT_FDCWD, path, NULL, 0) == 0, "utimensat");
    age();
    CHECK(!known_as(manifest), "expected a miss after touching");
    CHECK(remember() && known_as(manifest), "expected a hit again");
}

/* The same size, and the old time of change put back: the inode's time is
 * nobody's to set. */
static void test_rewritten_with_old_times(void)
{
    struct stat st;
    CHECK(stat(path, &st) == 0, "stat");
    model_flip(path, 300000);
    const struct timespec times[] = { st.st_atim, st.st_mtim };
    CHECK(utimensat(AT_FDCWD, path, times, 0) == 0, "utimensat");
    age();
    CHECK(!known_as(manifest), "expected a miss after a change");
    model_flip(path, 300000);
    age();
    CHECK(remember() && known_as(manifest), "expected a hit again");
}

static void test_replaced(void)
{
    size_t size;
    char *other = model_path("cache-other.gguf");
    char *data = model_read(path, &size);
    model_save(other, data, size);
    CHECK(rename(other, path) == 0, "rename");
    age();
    CHECK(!known_as(manifest), "expected a miss of another inode");
    CHECK(remember() && known_as(manifest), "expected a hit again");
    free(data);
    free(other);
}

/* Just written: a write in the same tick would not be seen. */
static void test_fresh_is_doubtful(void)
{
    CHECK(utimensat(AT_FDCWD, path, NULL, 0) == 0, "utimensat");
    CHECK(!remember(), "expected nothing to be stored of a fresh file");
    age();
    CHECK(!known_as(manifest), "expected a miss");
    /* As is a time that is yet to come. */
    struct timespec future[2];
    clock_gettime(CLOCK_REALTIME, &future[0]);
    future[0].tv_sec += 3600;
    future[1] = future[0];
    CHECK(utimensat(AT_FDCWD, path, future, 0) == 0, "utimensat");
    age();
    CHECK(!remember(), "expected nothing to be stored of a file from the "
                       "future");
    CHECK(utimensat(AT_FDCWD, path, NULL, 0) == 0, "utimensat");
    age();
    CHECK(remember(), "expected it to be stored");
}

static void test_changed_while_verified(void)
{
    bool stored = true;
    free(output_of("rm -rf '%s'", folder));
    visit v = begin(folder);
    model_flip(path, 300000);
    model_flip(path, 300000);
    ggld_status status = ggld_verify_cache_put(
        v.cache, &v.identity, v.fd, v.file, manifest, path, &stored, &err);
    CHECK(status == GGLD_OK && !stored, "expected nothing to be stored");
    end(&v);
    age();
    CHECK(remember() && known_as(manifest), "expected a hit again");
}

static void test_doubtful_records(void)
{
    size_t size;
    char *record = record_path();
    char *text = model_read(record, &size);
    model_save(record, text, size - 1);
    CHECK(!known_as(manifest), "expected a miss of a cut record");
    model_save(record, "", 0);
    CHECK(!known_as(manifest), "expected a miss of an empty record");
    text[size / 2] ^= 1;
    model_save(record, text, size);
    CHECK(!known_as(manifest), "expected a miss of a changed record");
    text[size / 2] ^= 1;
    model_save(record, text, size);
    CHECK(known_as(manifest), "expected a hit");
    chmod(record, 0666);
    CHECK(!known_as(manifest), "expected a miss of a record for all to write");
    chmod(record, 0600);
    chmod(folder, 0777);
    CHECK(!known_as(manifest), "expected a miss in a folder for all to write");
    CHECK(!remember(), "expected nothing to be stored there");
    chmod(folder, 0700);
    CHECK(known_as(manifest), "expected a hit");
    char *aside = output_of("mv '%s' '%s.x' && ln -s '%s.x' '%s'", record,
                            record, record, record);
    CHECK(!known_as(manifest), "expected a miss of a symbolic link");
    free(aside);
    free(output_of("mv '%s.x' '%s'", record, record));
    CHECK(known_as(manifest), "expected a hit");
    free(text);
    free(record);
}

static void test_no_place(void)
{
    bool stored = true;
    visit v = begin("/proc/nowhere/at/all");
    ggld_status status = ggld_verify_cache_put(
        v.cache, &v.identity, v.fd, v.file, manifest, path, &stored, &err);
    CHECK(status == GGLD_E_IO && !stored, "expected GGLD_E_IO, got %s",
          ggld_status_name(status));
    end(&v);
}

/* Many processes: whoever looks finds all of a record or none, and nothing is
 * left over. */
static void test_processes(void)
{
    enum { N = 8 };
    pid_t children[N];
    for (int i = 0; i < N; i++) {
        children[i] = fork();
        if (children[i] != 0)
            continue;
        bool good = true;
        for (int j = 0; j < 50; j++)
            good = good && remember() && known_as(manifest) &&
                   !known_as(other_manifest);
        _exit(good ? 0 : 1);
    }
    for (int i = 0; i < N; i++) {
        int status;
        waitpid(children[i], &status, 0);
        CHECK(status == 0, "process %d found something wrong", i);
    }
    char *left = output_of("ls '%s' | grep -c new- || true", folder);
    CHECK(atoi(left) == 0, "expected no temporary files, got %s", left);
    free(left);
}

static void test_open_verified(void)
{
    ggld_file *file;
    ggld_verify_cache *cache;
    ggld_verifier_options how = ggld_verifier_options_init();
    how.mode = GGLD_VERIFY_FULL;
    free(output_of("rm -rf '%s'", folder));
    MUST(ggld_verify_cache_new(&cache, folder, &err), err);
    MUST(ggld_open_verified(&file, path, manifest, &how, cache, NULL, &err),
         err);
    ggld_close(file);
    CHECK(known_as(manifest), "expected a full verification to be recorded");
    model_flip(path, 400000);
    age();
    ggld_status status =
        ggld_open_verified(&file, path, manifest, &how, cache, NULL, &err);
    CHECK(status == GGLD_E_CHECKSUM && strstr(err.message, "tensor 'a'"),
          "expected GGLD_E_CHECKSUM, got %s: %s", ggld_status_name(status),
          err.message);
    CHECK(!known_as(manifest), "expected a bad file not to be recorded");
    model_flip(path, 400000);
    status = ggld_open_verified(&file, "/nowhere", manifest, &how, cache, NULL,
                                &err);
    CHECK(status == GGLD_E_IO, "expected GGLD_E_IO, got %s",
          ggld_status_name(status));
    ggld_verify_cache_free(cache);
}

/* ---- one file under several names ---- */

static char *dir; /* with x.gguf and links to it */

static const struct {
    const char *what;
    const char *name; /* that it is opened by */
    const char *as;   /* whose lines are meant */
    ggld_status code;
} names[] = {
    { "its good lines", "x.gguf", "x.gguf", GGLD_OK },
    { "a symbolic link's bad lines", "y.gguf", "y.gguf", GGLD_E_CHECKSUM },
    { "a hard link's bad lines", "z.gguf", "z.gguf", GGLD_E_CHECKSUM },
    { "another path's bad lines", "x.gguf", "y.gguf", GGLD_E_CHECKSUM },
    { "a link that has no lines", "w.gguf", "w.gguf", GGLD_E_INVALID },
    { "a link with the good lines", "y.gguf", "x.gguf", GGLD_OK },
};

/* Lines of x that are right, and such of y and z that are not. */
static ggld_manifest *manifest_of_names(uint32_t format)
{
    const char *digest =
        digest_in(manifest, GGLD_SCOPE_TENSOR, GGLD_ALGO_SHA256, "a");
    char *text = NULL, *whole = output_of("sha256sum <'%s' | cut -c1-64 | "
                                          "tr -d '\\n'",
                                          path);
    ggld_manifest *m = NULL;
    int n = format == GGLD_MANIFEST_LLAMA
                ? asprintf(&text,
                           "sha256    %s  x.gguf:a\nsha256    %064d  y.gguf:a\n"
                           "sha256    %064d  z.gguf:a\n",
                           digest, 0, 0)
                : asprintf(&text, "%s  x.gguf\n%064d  y.gguf\n%064d  z.gguf\n",
                           whole, 0, 0);
    CHECK(n > 0 && parse_text(&m, text, (size_t)n, format, &err) == GGLD_OK,
          "%s", err.message);
    free(text);
    free(whole);
    return m;
}

static ggld_status open_as(const char *name, const char *as,
                           const ggld_manifest *m,
                           const ggld_verify_cache *cache)
{
    char opened[200], meant[200];
    ggld_file *file = NULL;
    ggld_verifier_options how = ggld_verifier_options_init();
    snprintf(opened, sizeof opened, "%s/%s", dir, name);
    snprintf(meant, sizeof meant, "%s/%s", dir, as);
    how.mode = GGLD_VERIFY_FULL;
    how.path = meant;
    ggld_status status =
        ggld_open_verified(&file, opened, m, &how, cache, NULL, &err);
    ggld_close(file);
    return status;
}

/* Whatever was remembered before. */
static void test_names_are_apart(uint32_t format)
{
    const size_t n = sizeof names / sizeof names[0];
    ggld_verify_cache *cache;
    ggld_manifest *m = manifest_of_names(format);
    free(output_of("rm -rf '%s'", folder));
    MUST(ggld_verify_cache_new(&cache, folder, &err), err);
    for (size_t i = 0; i < n * n; i++) {
        const size_t k = i % 2 != 0 ? i / n : i % n;
        ggld_status got = open_as(names[k].name, names[k].as, m, cache);
        CHECK(got == names[k].code, "format %u, %s: expected %s, got %s: %s",
              format, names[k].what, ggld_status_name(names[k].code),
              ggld_status_name(got), got == GGLD_OK ? "opened" : err.message);
    }
    char *records = output_of("ls '%s' | wc -l", folder);
    CHECK(atoi(records) == 1, "format %u: expected one record, got %s", format,
          records);
    free(records);
    ggld_verify_cache_free(cache);
    ggld_manifest_free(m);
}

/* Formats that speak of one file, whatever it is called, need no record for
 * each of its names. */
static void test_names_of_a_ggsum(void)
{
    visit v = begin(folder);
    bool stored = false;
    MUST(ggld_verify_cache_put(v.cache, &v.identity, v.fd, v.file, manifest,
                               "x.gguf", &stored, &err),
         err);
    CHECK(stored && ggld_verify_cache_has(v.cache, &v.identity, v.file,
                                          manifest, "y.gguf"),
          "expected a hit under another name");
    end(&v);
}

static void test_names(void)
{
    char *original = path;
    dir = model_path("cache-names");
    free(output_of("mkdir '%s' && cp '%s' '%s/x.gguf' && cd '%s' && "
                   "ln -s x.gguf y.gguf && ln x.gguf z.gguf && "
                   "ln -s x.gguf w.gguf",
                   dir, path, dir, dir));
    path = output_of("printf %%s '%s/x.gguf'", dir);
    age();
    test_names_are_apart(GGLD_MANIFEST_SHA256SUM);
    test_names_are_apart(GGLD_MANIFEST_LLAMA);
    test_names_of_a_ggsum();
    free(output_of("rm -rf '%s'", dir));
    free(path);
    free(dir);
    path = original;
}

static void test_default_folder(void)
{
    ggld_verify_cache *cache;
    unsetenv("HOME");
    setenv("XDG_CACHE_HOME", "relative", 1);
    ggld_status status = ggld_verify_cache_new(&cache, NULL, &err);
    CHECK(status == GGLD_E_INVALID, "expected GGLD_E_INVALID, got %s",
          ggld_status_name(status));
    setenv("XDG_CACHE_HOME", folder, 1);
    MUST(ggld_verify_cache_new(&cache, NULL, &err), err);
    ggld_verify_cache_free(cache);
    age();
    visit v = begin(NULL);
    bool stored = false;
    MUST(ggld_verify_cache_put(v.cache, &v.identity, v.fd, v.file, manifest,
                               path, &stored, &err),
         err);
    end(&v);
    char *found = output_of("ls '%s/ggld/verified' | wc -l", folder);
    CHECK(stored && atoi(found) == 1, "expected one record, got %s", found);
    free(found);
}

int main(void)
{
    umask(022);
    path = model_path("cache.gguf");
    folder = model_path("cache");
    model_write(path, tensors, 1, 0);
    manifest = make_manifest(BIT_SHA256);
    other_manifest = make_manifest(BIT_XXH3);
    test_hit_and_miss();
    test_touched();
    test_rewritten_with_old_times();
    test_replaced();
    test_fresh_is_doubtful();
    test_changed_while_verified();
    test_doubtful_records();
    test_no_place();
    test_processes();
    test_open_verified();
    test_names();
    test_default_folder();
    ggld_manifest_free(manifest);
    ggld_manifest_free(other_manifest);
    free(output_of("rm -rf '%s' '%s'", folder, path));
    free(folder);
    free(path);
    return n_failed == 0 ? 0 : 1;
}
