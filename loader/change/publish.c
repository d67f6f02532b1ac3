/* SPDX-License-Identifier: MIT */
/* See publish.h. Old files are put aside first, and the folder synced before a
 * new one gets a name: whenever the system goes down, old and new ones do not
 * stand together as if they were one set. The first file is named last. */
#include "publish.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/folder.h"
#include "../base/quote.h"
#include "sys.h"

static ggld_status fail_file(const ggld_new_file *f, int sys_errno,
                             const char *what, ggld_error *err)
{
    ggld_place place = ggld_place_of(GGLD_IN_FILE, GGLD_NO_INDEX, 0);
    ggld_quoted name = ggld_quote(f->name, strlen(f->name));

    if (sys_errno == 0)
        return ggld_fail(err, GGLD_E_INVALID, place, "output %s %s", name.text,
                         what);
    return ggld_fail_errno(err, sys_errno, place, "output %s: %s", name.text,
                           what);
}

ggld_status ggld_publication_open(ggld_publication *p, const char *path,
                                  uint32_t n_files, bool replace,
                                  ggld_error *err)
{
    struct stat old;

    memset(p, 0, sizeof *p);
    p->allocator = ggld_allocator_of(NULL);
    p->replace = replace;
    /* The others are to lie beside it, and not beside what it points to. */
    if (lstat(path, &old) == 0 && S_ISLNK(old.st_mode))
        return ggld_fail(err, GGLD_E_INVALID,
                         ggld_place_of(GGLD_IN_FILE, GGLD_NO_INDEX, 0),
                         "output %s is there and is a link",
                         ggld_quote(path, strlen(path)).text);
    ggld_status status = ggld_target_open(&p->folder, path, &p->allocator, err);
    if (status != GGLD_OK)
        return status;
    p->files = ggld_alloc(&p->allocator, n_files, sizeof *p->files);
    if (p->files == NULL) {
        ggld_target_close(&p->folder);
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "no memory for names of files");
    }
    p->n_files = n_files;
    for (uint32_t i = 0; i < n_files; i++)
        p->files[i].lock_fd = -1;
    return GGLD_OK;
}

ggld_status ggld_publication_name(ggld_publication *p, uint32_t i,
                                  const char *path, ggld_error *err)
{
    ggld_new_file *f = &p->files[i];
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    size_t size = strlen(name) + 1;
    struct stat old;

    f->name = ggld_alloc(&p->allocator, size, 1);
    if (f->name == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "no memory for names of files");
    memcpy(f->name, name, size);
    if (fstatat(p->folder.folder_fd, name, &old, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? GGLD_OK
                               : fail_file(f, errno, "can't look at it", err);
    if (!p->replace)
        return ggld_fail(err, GGLD_E_INVALID, ggld_in_file(),
                         "output %s is there already",
                         ggld_quote(path, strlen(path)).text);
    if (!S_ISREG(old.st_mode))
        return fail_file(f, 0, "is there and is no regular file", err);
    return GGLD_OK;
}

/* There may be more files than this process may have open. Half of what it may
 * is left for other things: without its lock a file is lost only to somebody
 * who writes the same shard at the same time, and then nothing is published. */
static bool may_hold(int fd)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
           (rlim_t)fd < limit.rlim_cur / 2;
}

void ggld_publication_hold(ggld_publication *p, uint32_t i, int lock_fd)
{
    if (lock_fd >= 0 && !may_hold(lock_fd)) {
        close(lock_fd);
        lock_fd = -1;
    }
    p->files[i].lock_fd = lock_fd;
}

/* A file that is there under the name, to NAME.old.*, with the number of its
 * successor's temporary name. */
static ggld_status put_aside(const ggld_publication *p, ggld_new_file *f,
                             ggld_error *err)
{
    char old[GGLD_TEMP_NAME_MAX];
    char *suffix;

    memcpy(old, f->temp, sizeof old);
    suffix = strstr(old, ".tmp.");
    for (char *next = suffix; next != NULL; next = strstr(next + 1, ".tmp."))
        suffix = next; /* a name may hold it too: the last one counts */
    if (suffix == NULL)
        return fail_file(f, 0, "has no temporary name", err);
    memcpy(suffix, ".old.", 5);
    int result = ggld_sys_rename_to_free(p->folder.folder_fd, f->name, old);
    if (result == 0)
        memcpy(f->old, old, sizeof old);
    return result == 0 || result == ENOENT
               ? GGLD_OK
               : fail_file(f, result, "can't put the old one aside", err);
}

static ggld_status put_all_aside(ggld_publication *p, ggld_error *err)
{
    ggld_status status = GGLD_OK;
    bool any = false;

    for (uint32_t i = 0; i < p->n_files && status == GGLD_OK; i++) {
        status = put_aside(p, &p->files[i], err);
        any = any || p->files[i].old[0] != '\0';
    }
    if (status == GGLD_OK && any && !ggld_folder_sync(p->folder.folder_fd))
        status = ggld_target_fail(&p->folder, errno,
                                  "its folder can't be synced", err);
    return status;
}

static ggld_status name_all(ggld_publication *p, ggld_error *err)
{
    for (uint32_t i = p->n_files; i-- > 0;) {
        ggld_new_file *f = &p->files[i];
        int result =
            ggld_sys_rename_to_free(p->folder.folder_fd, f->temp, f->name);
        if (result != 0)
            return fail_file(f, result == EEXIST ? 0 : result,
                             result == EEXIST
                                 ? "has appeared meanwhile"
                                 : "can't give the new file its name",
                             err);
        f->named = true;
    }
    return GGLD_OK;
}

/* Back to what was there. */
static void undo(ggld_publication *p)
{
    int fd = p->folder.folder_fd;

    for (uint32_t i = 0; i < p->n_files; i++) {
        ggld_new_file *f = &p->files[i];
        if (f->named && unlinkat(fd, f->name, 0) == 0)
            f->temp[0] = '\0';
        f->named = false;
    }
    for (uint32_t i = 0; i < p->n_files; i++) {
        ggld_new_file *f = &p->files[i];
        if (f->old[0] != '\0')
            (void)ggld_sys_rename_to_free(fd, f->old, f->name);
        f->old[0] = '\0';
    }
}

ggld_status ggld_publication_commit(ggld_publication *p, ggld_error *err)
{
    int fd = p->folder.folder_fd;
    ggld_status status = GGLD_OK;

    if (p->replace)
        status = put_all_aside(p, err);
    if (status == GGLD_OK)
        status = name_all(p, err);
    if (status != GGLD_OK) {
        undo(p);
        return status;
    }
    ggld_folder_keep(&p->folder);
    if (!ggld_folder_sync(fd))
        status = ggld_target_fail(&p->folder, errno,
                                  "it is there, but its folder can't be synced",
                                  err);
    for (uint32_t i = 0; i < p->n_files; i++) {
        p->files[i].temp[0] = '\0';
        if (p->files[i].old[0] != '\0')
            unlinkat(fd, p->files[i].old, 0);
    }
    return status;
}

void ggld_publication_close(ggld_publication *p)
{
    for (uint32_t i = 0; i < p->n_files; i++) {
        if (p->files[i].temp[0] != '\0')
            unlinkat(p->folder.folder_fd, p->files[i].temp, 0);
        if (p->files[i].lock_fd >= 0)
            close(p->files[i].lock_fd);
        ggld_free(&p->allocator, p->files[i].name);
    }
    ggld_free(&p->allocator, p->files);
    ggld_target_close(&p->folder);
    memset(p, 0, sizeof *p);
}
