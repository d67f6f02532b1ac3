/* SPDX-License-Identifier: MIT */
/* The journal as a file: a header and the two images, under a digest. A new one
 * is written under another name and renamed, so that what stands under its own
 * name is whole; a rest of one that was never finished is written over.
 *
 * FNV-1a finds what a disk or a half-written file does to it. It is no seal: to
 * make a journal that passes takes the right to write beside the file, and what
 * is in it is compared with the file byte by byte before it is applied. */
#include "journal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/bytes.h"
#include "../base/checked.h"
#include "../base/folder.h"
#include "../base/quote.h"
#include "edit.h"
#include "sys.h"

/* Magic, digest of all that follows, seven numbers. */
#define MAGIC_BYTES  8
#define DIGEST_AT    8
#define NUMBERS_AT   16
#define N_NUMBERS    7
#define HEADER_BYTES (NUMBERS_AT + 8 * N_NUMBERS)
#define SAMPLE_BYTES (64u << 10)
#define COPY_BYTES   (16u << 10) /* on the stack; a multiple of 8 */
#define FNV_START    14695981039346656037u
#define FNV_PRIME    1099511628211u

static const uint8_t magic[MAGIC_BYTES] = { 'g', 'g', 'l', 'd',
                                            'j', 'r', 'n', '1' };

/* FNV-1a, of words of 8 bytes: each step can be undone, so that a change of one
 * word never passes. What is left of a part is taken by bytes. */
static uint64_t fnv(uint64_t digest, const void *data, size_t size)
{
    const uint8_t *p = data;
    size_t i = 0;

    for (; size - i >= 8; i += 8)
        digest = (digest ^ ggld_load_le64(p + i)) * FNV_PRIME;
    for (; i < size; i++)
        digest = (digest ^ p[i]) * FNV_PRIME;
    return digest;
}

/* ---- the place ---- */

static void set_names(ggld_beside *b, const char *name)
{
    snprintf(b->name, sizeof b->name, "%s", name);
    int n = snprintf(b->journal, sizeof b->journal, "%s%s", name,
                     GGLD_JOURNAL_SUFFIX);
    int m =
        snprintf(b->fresh, sizeof b->fresh, "%s%s", name, GGLD_JOURNAL_FRESH);
    b->has_room = n > 0 && m > 0 && (size_t)m < sizeof b->fresh;
}

ggld_status ggld_beside_expect_room(const ggld_beside *b, ggld_error *err)
{
    if (b->has_room)
        return GGLD_OK;
    return ggld_fail_errno(err, ENAMETOOLONG, ggld_in_file(),
                           "file: in place there has to be a journal beside "
                           "it, %s%s",
                           ggld_quote(b->name, strlen(b->name)).text,
                           GGLD_JOURNAL_FRESH);
}

ggld_status ggld_beside_open(ggld_beside *b, const char *path,
                             const struct stat *st, ggld_error *err)
{
    char real[PATH_MAX];
    struct stat now;

    b->folder_fd = -1;
    if (realpath(path, real) == NULL)
        return ggld_fail_errno(err, errno, ggld_in_file(),
                               "file: finding its folder");
    char *slash = strrchr(real, '/'); /* it is absolute */
    set_names(b, slash + 1);
    slash[1] = '\0';
    b->folder_fd = ggld_sys_open(AT_FDCWD, real, O_RDONLY | O_DIRECTORY, 0);
    if (b->folder_fd < 0)
        return ggld_fail_errno(err, errno, ggld_in_file(),
                               "file: opening its folder");
    if (fstatat(b->folder_fd, b->name, &now, AT_SYMLINK_NOFOLLOW) == 0 &&
        now.st_dev == st->st_dev && now.st_ino == st->st_ino)
        return GGLD_OK;
    ggld_beside_close(b);
    return ggld_fail(err, GGLD_E_CHANGED, ggld_in_file(),
                     "file: it was replaced or removed under its name");
}

void ggld_beside_close(ggld_beside *b)
{
    if (b->folder_fd >= 0)
        close(b->folder_fd);
    b->folder_fd = -1;
}

int ggld_journal_read(int fd, void *dst, uint64_t size, uint64_t offset,
                      const ggld_gap *gap)
{
    uint64_t before = 0;
    uint8_t *to = dst;

    if (offset < gap->start)
        before = ggld_min_u64(size, gap->start - offset);
    int result = ggld_sys_read(fd, to, before, offset);
    if (result != 0)
        return result;
    return ggld_sys_read(fd, to + before, size - before,
                         offset + before + gap->size);
}

int ggld_journal_sample(int fd, uint64_t start, uint64_t file_bytes,
                        const ggld_gap *gap, uint64_t *digest)
{
    uint8_t sample[4096];
    uint64_t size = file_bytes - start;

    /* From the start, and up to the end. */
    *digest = FNV_START;
    for (uint64_t at = 0; at < size; at += sizeof sample) {
        if (at == SAMPLE_BYTES && size > UINT64_C(2) * SAMPLE_BYTES)
            at = size - SAMPLE_BYTES;
        uint64_t n = ggld_min_u64(sizeof sample, size - at);
        int result = ggld_journal_read(fd, sample, n, start + at, gap);
        if (result != 0)
            return result;
        *digest = fnv(*digest, sample, (size_t)n);
    }
    return 0;
}

/* ---- saving ---- */

static void fill_header(const ggld_journal *j,
                        uint8_t header[static HEADER_BYTES])
{
    const uint64_t numbers[N_NUMBERS] = { j->device,     j->inode,
                                          j->file_bytes, j->inserted_bytes,
                                          j->old_bytes,  j->new_bytes,
                                          j->data_digest };

    memset(header, 0, HEADER_BYTES);
    for (size_t i = 0; i < N_NUMBERS; i++)
        ggld_store_le64(header + NUMBERS_AT + 8u * i, numbers[i]);
}

/* From the file into the journal; *digest goes on over it. */
static int copy_old(const ggld_journal *j, int from, int to, uint64_t *digest)
{
    uint8_t chunk[COPY_BYTES];

    for (uint64_t at = 0; at < j->old_bytes; at += sizeof chunk) {
        uint64_t n = ggld_min_u64(sizeof chunk, j->old_bytes - at);
        int result = ggld_sys_read(from, chunk, n, at);
        if (result == 0)
            result = ggld_sys_write(to, chunk, n, HEADER_BYTES + at);
        if (result != 0)
            return result;
        *digest = fnv(*digest, chunk, (size_t)n);
    }
    return 0;
}

/* The header last, as it has the digest. */
static int write_fresh(const ggld_journal *j, int from, int to)
{
    uint8_t header[HEADER_BYTES];
    uint64_t digest;

    fill_header(j, header);
    digest = fnv(FNV_START, header + NUMBERS_AT, HEADER_BYTES - NUMBERS_AT);
    int result = copy_old(j, from, to, &digest);
    if (result == 0)
        result = ggld_sys_write(to, j->new_image, j->new_bytes,
                                HEADER_BYTES + j->old_bytes);
    if (result != 0)
        return result;
    memcpy(header, magic, MAGIC_BYTES);
    ggld_store_le64(header + DIGEST_AT,
                    fnv(digest, j->new_image, (size_t)j->new_bytes));
    result = ggld_sys_write(to, header, HEADER_BYTES, 0);
    return result != 0 ? result : ggld_sys_sync(to);
}

static int make_fresh(const ggld_journal *j, const ggld_beside *b, int from,
                      const struct stat *st)
{
    mode_t mode = (st->st_mode & 0666) | S_IRUSR | S_IWUSR;

    if (unlinkat(b->folder_fd, b->fresh, 0) != 0 && errno != ENOENT)
        return errno;
    int fd = ggld_sys_open(b->folder_fd, b->fresh,
                           O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
    if (fd < 0)
        return errno;
    int result = write_fresh(j, from, fd);
    if (close(fd) != 0 && errno != EINTR && result == 0)
        result = errno;
    return result;
}

static ggld_status fail_save(const ggld_beside *b, int sys_errno,
                             ggld_error *err)
{
    return ggld_fail_errno(err, sys_errno, ggld_in_file(),
                           "journal %s: it can't be written, and nothing was "
                           "changed",
                           ggld_quote(b->journal, strlen(b->journal)).text);
}

ggld_status ggld_journal_try(const ggld_journal *j, const ggld_beside *b,
                             ggld_error *err)
{
    int result = 0;

    if (faccessat(b->folder_fd, ".", W_OK | X_OK, AT_EACCESS) != 0)
        result = errno;
    if (result == 0)
        result = ggld_sys_try_room(b->folder_fd, HEADER_BYTES + j->old_bytes +
                                                     j->new_bytes +
                                                     j->inserted_bytes);
    return result == 0 ? GGLD_OK : fail_save(b, result, err);
}

ggld_status ggld_journal_write(const ggld_journal *j, const ggld_beside *b,
                               int fd, const struct stat *st, ggld_error *err)
{
    int result = make_fresh(j, b, fd, st);
    if (result == 0)
        return GGLD_OK;
    ggld_journal_forget(b);
    return fail_save(b, result, err);
}

void ggld_journal_forget(const ggld_beside *b)
{
    (void)unlinkat(b->folder_fd, b->fresh, 0);
}

ggld_status ggld_journal_name(const ggld_beside *b, ggld_error *err)
{
    int result = 0;

    if (renameat(b->folder_fd, b->fresh, b->folder_fd, b->journal) != 0) {
        result = errno;
        ggld_journal_forget(b);
    } else if (!ggld_folder_sync(b->folder_fd)) {
        result = errno;
        unlinkat(b->folder_fd, b->journal, 0);
    }
    return result == 0 ? GGLD_OK : fail_save(b, result, err);
}

bool ggld_journal_has_rest(const ggld_beside *b)
{
    struct stat st;
    return fstatat(b->folder_fd, b->fresh, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISREG(st.st_mode);
}

ggld_status ggld_journal_drop_rest(const ggld_beside *b, ggld_error *err)
{
    if (unlinkat(b->folder_fd, b->fresh, 0) == 0 || errno == ENOENT)
        return GGLD_OK;
    return ggld_fail_errno(err, errno, ggld_in_file(),
                           "journal %s: a rest that never was whole, and can't "
                           "be removed",
                           ggld_quote(b->fresh, strlen(b->fresh)).text);
}

ggld_status ggld_journal_drop(const ggld_beside *b, const char *state,
                              ggld_error *err)
{
    ggld_quoted name = ggld_quote(b->journal, strlen(b->journal));

    ggld_journal_forget(b);
    if (unlinkat(b->folder_fd, b->journal, 0) != 0 && errno != ENOENT)
        return ggld_fail_errno(err, errno, ggld_in_file(),
                               "journal %s: %s, but it can't be removed",
                               name.text, state);
    if (ggld_folder_sync(b->folder_fd))
        return GGLD_OK;
    return ggld_fail_errno(err, errno, ggld_in_file(),
                           "journal %s: %s, and it is removed, but the folder "
                           "can't be brought to disk: after a power cut it may "
                           "be there again (ggld edit --recover)",
                           name.text, state);
}

/* ---- loading ---- */

static ggld_status fail_damaged(const ggld_beside *b, const char *what,
                                ggld_error *err)
{
    return ggld_fail(err, GGLD_E_CHECKSUM, ggld_in_file(),
                     "journal %s: %s; it is not applied: check the file, and "
                     "remove the journal if the file is as it should be",
                     ggld_quote(b->journal, strlen(b->journal)).text, what);
}

/* false: such a journal is not written. */
static bool take_header(ggld_journal *j, const uint8_t *header, uint64_t size)
{
    uint64_t n[N_NUMBERS], images;

    for (size_t i = 0; i < N_NUMBERS; i++)
        n[i] = ggld_load_le64(header + NUMBERS_AT + 8u * i);
    j->device = n[0];
    j->inode = n[1];
    j->file_bytes = n[2];
    j->inserted_bytes = n[3];
    j->old_bytes = n[4];
    j->new_bytes = n[5];
    j->data_digest = n[6];
    return memcmp(header, magic, MAGIC_BYTES) == 0 &&
           ggld_add_u64(j->old_bytes, j->new_bytes, &images) &&
           images == size - HEADER_BYTES && j->new_bytes >= j->old_bytes &&
           j->new_bytes - j->old_bytes == j->inserted_bytes &&
           j->old_bytes <= j->file_bytes && j->file_bytes <= INT64_MAX &&
           j->inserted_bytes <= INT64_MAX - j->file_bytes;
}

/* In the parts that it was made of. */
static uint64_t digest_of(const ggld_journal *j, const uint8_t *bytes)
{
    uint64_t digest =
        fnv(FNV_START, bytes + NUMBERS_AT, HEADER_BYTES - NUMBERS_AT);

    digest = fnv(digest, j->old_image, (size_t)j->old_bytes);
    return fnv(digest, j->new_image, (size_t)j->new_bytes);
}

static ggld_status take_journal(ggld_journal *j, const ggld_beside *b,
                                uint64_t size, ggld_error *err)
{
    const uint8_t *bytes = j->memory;

    if (size < HEADER_BYTES || !take_header(j, bytes, size))
        return fail_damaged(b, "it is no journal of ggld's, or damaged", err);
    j->old_image = bytes + HEADER_BYTES;
    j->new_image = j->old_image + j->old_bytes;
    if (digest_of(j, bytes) != ggld_load_le64(bytes + DIGEST_AT))
        return fail_damaged(b, "it is damaged: its digest does not fit", err);
    return GGLD_OK;
}

static ggld_status load_fd(ggld_journal *j, const ggld_beside *b, int fd,
                           const ggld_allocator *a, ggld_error *err)
{
    ggld_quoted name = ggld_quote(b->journal, strlen(b->journal));
    struct stat st;

    if (fstat(fd, &st) != 0)
        return ggld_fail_errno(err, errno, ggld_in_file(), "journal %s: fstat",
                               name.text);
    if (!S_ISREG(st.st_mode))
        return fail_damaged(b, "it is no regular file", err);
    uint64_t size = (uint64_t)st.st_size;
    j->memory = ggld_alloc_bytes(a, size);
    if (j->memory == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "no memory for a journal of %" PRIu64 " bytes", size);
    int result = ggld_sys_read(fd, j->memory, size, 0);
    if (result != 0)
        return ggld_fail_errno(err, result, ggld_in_file(),
                               "journal %s: reading it", name.text);
    return take_journal(j, b, size, err);
}

ggld_status ggld_journal_load(ggld_journal *j, const ggld_beside *b,
                              const ggld_allocator *a, bool *found,
                              ggld_error *err)
{
    memset(j, 0, sizeof *j);
    int fd = ggld_sys_open(b->folder_fd, b->journal,
                           O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
    *found = fd >= 0 || errno != ENOENT;
    if (!*found)
        return GGLD_OK;
    if (fd < 0)
        return ggld_fail_errno(
            err, errno, ggld_in_file(),
            "journal %s: it can't be opened, and so can't be "
            "told whether an edit was interrupted",
            ggld_quote(b->journal, strlen(b->journal)).text);
    ggld_status status = load_fd(j, b, fd, a, err);
    close(fd);
    if (status != GGLD_OK)
        ggld_journal_free(j, a);
    return status;
}

void ggld_journal_free(ggld_journal *j, const ggld_allocator *a)
{
    ggld_free(a, j->memory);
    j->memory = NULL;
}
