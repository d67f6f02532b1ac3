/* SPDX-License-Identifier: MIT */
/* See merge_journal.h. Numbers of eight bytes, little-endian: magic, n, device,
 * inode and birth of the part, digest of the prefix, five a shard, digest of
 * these; then a byte a shard. */
#include "merge_journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "../base/bytes.h"
#include "content.h"
#include "sys.h"

#define MAGIC      UINT64_C(0x34474D444C474721) /* "!GGLDMG4" */
#define N_HEAD     6u
#define N_SHARD    5u
#define MAX_SHARDS 65535u

ggld_shard_identity ggld_shard_identity_of(const struct stat *st)
{
    ggld_shard_identity id = { (uint64_t)st->st_size,
                               (uint64_t)st->st_ctim.tv_sec,
                               (uint64_t)st->st_ctim.tv_nsec, 0, 0 };
    return id;
}

bool ggld_shard_identity_same(const ggld_shard_identity *a,
                              const ggld_shard_identity *b)
{
    return a->size_bytes == b->size_bytes && a->seconds == b->seconds &&
           a->nanoseconds == b->nanoseconds;
}

bool ggld_part_identity_of(int folder_fd, const char *name,
                           ggld_part_identity *out)
{
    struct statx st;

    if (statx(folder_fd, name, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH,
              STATX_INO | STATX_BTIME, &st) != 0)
        return false;
    out->device = makedev(st.stx_dev_major, st.stx_dev_minor);
    out->inode = st.stx_ino;
    out->born = (st.stx_mask & STATX_BTIME) == 0
                    ? 0
                    : (uint64_t)st.stx_btime.tv_sec * 1000000000u +
                          st.stx_btime.tv_nsec;
    return true;
}

bool ggld_part_identity_same(const ggld_part_identity *a,
                             const ggld_part_identity *b)
{
    return a->born != 0 && a->born == b->born && a->inode == b->inode &&
           a->device == b->device;
}

bool ggld_merge_journal_init(ggld_merge_journal *j, const ggld_allocator *a,
                             uint32_t n_shards)
{
    memset(j, 0, sizeof *j);
    j->n_shards = n_shards;
    j->shards = ggld_alloc(a, n_shards, sizeof *j->shards);
    j->done = ggld_alloc(a, n_shards, 1);
    j->done_offset = 8 * (N_HEAD + N_SHARD * (uint64_t)n_shards + 1);
    return j->shards != NULL && j->done != NULL;
}

void ggld_merge_journal_free(ggld_merge_journal *j, const ggld_allocator *a)
{
    ggld_free(a, j->shards);
    ggld_free(a, j->done);
    memset(j, 0, sizeof *j);
}

static uint8_t *put(uint8_t *at, uint64_t number)
{
    ggld_store_le64(at, number);
    return at + 8;
}

static void encode(const ggld_merge_journal *j, uint8_t *image)
{
    uint8_t *at = put(image, MAGIC);

    at = put(at, j->n_shards);
    at = put(at, j->part.device);
    at = put(at, j->part.inode);
    at = put(at, j->part.born);
    at = put(at, j->prefix_digest);
    for (uint32_t i = 0; i < j->n_shards; i++) {
        at = put(at, j->shards[i].size_bytes);
        at = put(at, j->shards[i].seconds);
        at = put(at, j->shards[i].nanoseconds);
        at = put(at, j->shards[i].n_tensors);
        at = put(at, j->shards[i].digest);
    }
    at = put(at, ggld_content_number(image, (size_t)(at - image)));
    memcpy(at, j->done, j->n_shards);
}

/* What a save that was killed has left: nothing, or a journal's beginning. */
static int check_fresh(int fd)
{
    uint8_t magic[8], found[8];
    struct stat st;

    if (fstat(fd, &st) != 0)
        return errno;
    if (!S_ISREG(st.st_mode))
        return EEXIST;
    size_t n = st.st_size < 8 ? (size_t)st.st_size : 8;
    ggld_store_le64(magic, MAGIC);
    int result = ggld_sys_read(fd, found, n, 0);
    return result != 0 ? result : memcmp(found, magic, n) == 0 ? 0 : EEXIST;
}

static int write_fresh(int fd, int folder_fd, const char *name,
                       const char *fresh_name, const void *image, uint64_t size,
                       bool replace)
{
    int result = ggld_sys_cut(fd, 0);
    if (result == 0)
        result = ggld_sys_write(fd, image, size, 0);
    if (result == 0)
        result = ggld_sys_sync(fd);
    if (result == 0 && !replace)
        result = ggld_sys_rename_to_free(folder_fd, fresh_name, name);
    else if (result == 0 &&
             renameat(folder_fd, fresh_name, folder_fd, name) != 0)
        result = errno;
    if (result != 0)
        unlinkat(folder_fd, fresh_name, 0);
    return result;
}

static int save(const void *image, uint64_t size, int folder_fd,
                const char *name, const char *fresh_name, int *lock_fd)
{
    int fd = ggld_sys_open(folder_fd, fresh_name,
                           O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (fd < 0)
        return errno;
    int result = ggld_sys_lock(folder_fd, fresh_name, fd);
    if (result == 0)
        result = check_fresh(fd);
    if (result == 0)
        result = write_fresh(fd, folder_fd, name, fresh_name, image, size,
                             *lock_fd >= 0);
    if (result != 0) {
        close(fd);
        return result;
    }
    if (*lock_fd >= 0)
        close(*lock_fd);
    *lock_fd = fd;
    return 0;
}

int ggld_merge_journal_save(ggld_merge_journal *j, const ggld_allocator *a,
                            int folder_fd, const char *name,
                            const char *fresh_name, int *lock_fd)
{
    uint64_t size = j->done_offset + j->n_shards;
    uint8_t *image = ggld_alloc_bytes(a, size);
    if (image == NULL)
        return ENOMEM;
    encode(j, image);
    int result = save(image, size, folder_fd, name, fresh_name, lock_fd);
    ggld_free(a, image);
    return result;
}

static uint64_t number_at(const uint8_t *image, uint64_t index)
{
    return ggld_load_le64(image + 8 * index);
}

/* The image's own words agree with one another, and with its size. */
static bool is_whole(const uint8_t *image, uint64_t size)
{
    if (size < UINT64_C(8) * (N_HEAD + 1) || number_at(image, 0) != MAGIC)
        return false;
    uint64_t n = number_at(image, 1);
    if (n == 0 || n > MAX_SHARDS || size != 8 * (N_HEAD + N_SHARD * n + 1) + n)
        return false;
    uint64_t digested = N_HEAD + N_SHARD * n;
    for (uint64_t i = 8 * (digested + 1); i < size; i++)
        if (image[i] > 1)
            return false;
    return number_at(image, digested) ==
           ggld_content_number(image, (size_t)(8 * digested));
}

static int decode(ggld_merge_journal *j, const ggld_allocator *a,
                  const uint8_t *image, uint64_t size)
{
    if (!is_whole(image, size))
        return EBADMSG;
    if (!ggld_merge_journal_init(j, a, (uint32_t)number_at(image, 1)))
        return ENOMEM;
    j->part.device = number_at(image, 2);
    j->part.inode = number_at(image, 3);
    j->part.born = number_at(image, 4);
    j->prefix_digest = number_at(image, 5);
    for (uint32_t i = 0; i < j->n_shards; i++) {
        uint64_t at = N_HEAD + N_SHARD * (uint64_t)i;
        j->shards[i].size_bytes = number_at(image, at);
        j->shards[i].seconds = number_at(image, at + 1);
        j->shards[i].nanoseconds = number_at(image, at + 2);
        j->shards[i].n_tensors = number_at(image, at + 3);
        j->shards[i].digest = number_at(image, at + 4);
    }
    memcpy(j->done, image + j->done_offset, j->n_shards);
    return 0;
}

static int load(ggld_merge_journal *j, const ggld_allocator *a, int fd)
{
    struct stat st;
    int result = fstat(fd, &st) != 0 ? errno : 0;
    uint64_t size = result == 0 ? (uint64_t)st.st_size : 0;
    if (size > 8 * (N_HEAD + N_SHARD * (uint64_t)MAX_SHARDS + 1) + MAX_SHARDS)
        result = EBADMSG;
    uint8_t *image = result == 0 ? ggld_alloc_bytes(a, size) : NULL;
    if (result == 0)
        result = image != NULL ? ggld_sys_read(fd, image, size, 0) : ENOMEM;
    if (result == 0)
        result = decode(j, a, image, size);
    ggld_free(a, image);
    return result;
}

int ggld_merge_journal_load(ggld_merge_journal *j, const ggld_allocator *a,
                            int folder_fd, const char *name, int *lock_fd)
{
    int fd =
        ggld_sys_open(folder_fd, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK, 0);
    if (fd < 0)
        return errno;
    int result = ggld_sys_lock(folder_fd, name, fd);
    if (result == 0)
        result = load(j, a, fd);
    if (result == 0)
        *lock_fd = fd;
    else
        close(fd);
    return result;
}

int ggld_merge_journal_mark(ggld_merge_journal *j, int folder_fd,
                            const char *name, uint32_t no)
{
    const uint8_t one = 1;
    int fd = ggld_sys_open(folder_fd, name, O_WRONLY | O_NOFOLLOW, 0);
    if (fd < 0)
        return errno;
    int result = ggld_sys_write(fd, &one, 1, j->done_offset + no);
    if (result == 0)
        result = ggld_sys_sync(fd);
    close(fd);
    if (result == 0)
        j->done[no] = 1;
    return result;
}
