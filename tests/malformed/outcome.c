/* SPDX-License-Identifier: MIT */
#include "outcome.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <ggld/ggld.h>

#include "read/file.h"

int outcome_faults;

void outcome_fault(const char *name, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "%s: ", name);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    outcome_faults++;
}

/* So that the reads below are not left out. */
static volatile uint64_t sink;

static void read_string(ggld_string s)
{
    for (uint64_t i = 0; i < s.len; i++)
        sink += (uint8_t)s.data[i];
}

/* Elements until nothing goes on; nested arrays by a stack. */
static void read_array(ggld_array_iter it)
{
    ggld_array_iter stack[8];
    size_t depth = 1;
    stack[0] = it;
    while (depth > 0) {
        ggld_array_iter *top = &stack[depth - 1];
        ggld_array_iter inner;
        ggld_string s;
        uint64_t u;
        int64_t i;
        double d;
        bool b;
        if (depth < 8 && ggld_array_next_array(top, &inner))
            stack[depth++] = inner;
        else if (ggld_array_next_string(top, &s))
            read_string(s);
        else if (ggld_array_next_bool(top, &b))
            sink += b;
        else if (ggld_array_next_u64(top, &u) || ggld_array_next_i64(top, &i) ||
                 ggld_array_next_f64(top, &d))
            sink++;
        else
            depth--;
    }
}

static void read_kv(const char *name, const ggld_file *file, const ggld_kv *kv)
{
    ggld_string key = ggld_kv_key(kv), s;
    ggld_array_iter it;
    uint64_t u;
    int64_t i;
    double d;
    bool b;

    read_string(key);
    read_string(ggld_kv_raw(kv).bytes);
    (void)ggld_kv_get_u64(kv, &u);
    (void)ggld_kv_get_i64(kv, &i);
    (void)ggld_kv_get_f64(kv, &d);
    (void)ggld_kv_get_bool(kv, &b);
    if (ggld_kv_get_string(kv, &s))
        read_string(s);
    if (ggld_kv_get_array(kv, &it))
        read_array(it);
    if (ggld_kv_find_n(file, key.data, (size_t)key.len) == NULL)
        outcome_fault(name, "a key is not found by itself");
}

static void read_tensor(const char *name, const ggld_file *file,
                        const ggld_tensor *t, bool placed)
{
    ggld_tensor_info info = { .struct_size = sizeof info };
    uint8_t piece[4096];
    ggld_tensor_get_info(t, &info);
    read_string(info.name);
    if (ggld_tensor_find_n(file, info.name.data, (size_t)info.name.len) != t)
        outcome_fault(name, "a tensor is not found by its name");
    for (uint64_t at = 0; at < info.size_bytes; at += sizeof piece) {
        uint64_t left = info.size_bytes - at;
        uint64_t size = left < sizeof piece ? left : sizeof piece;
        ggld_error err;
        if (ggld_file_read(file, info.file_offset_bytes + at, piece, size,
                           ggld_nowhere(), &err) != GGLD_OK) {
            if (placed)
                outcome_fault(name, "%s", err.message);
            return;
        }
        sink += piece[size - 1];
    }
}

static void read_all(const char *name, const ggld_file *file, uint32_t flags)
{
    for (uint64_t i = 0; i < ggld_kv_count(file); i++)
        read_kv(name, file, ggld_kv_at(file, i));
    for (uint64_t i = 0; i < ggld_tensor_count(file); i++)
        read_tensor(name, file, ggld_tensor_at(file, i),
                    (flags & GGLD_OPEN_METADATA) == 0);
}

static void check_refusal(const char *name, uint64_t file_bytes,
                          ggld_status status, const ggld_error *err)
{
    if (err->code != status)
        outcome_fault(name, "returned %d, error has %d", status, err->code);
    if (status < GGLD_E_MAGIC || err->section == GGLD_IN_NONE)
        outcome_fault(name, "code %s, section %d: %s", ggld_status_name(status),
                      err->section, err->message);
    if (err->offset > file_bytes)
        outcome_fault(name, "offset %" PRIu64 " is past the end", err->offset);
    if (err->message[0] == '\0')
        outcome_fault(name, "no message");
    for (const char *p = err->message; *p != '\0'; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7F)
            outcome_fault(name, "a control byte in: %s", err->message);
}

/* Looks at what an open gave, and closes it. */
static bool judge(const char *name, uint64_t file_bytes, uint32_t flags,
                  ggld_status status, ggld_file *file, const ggld_error *err)
{
    if (status != GGLD_OK) {
        check_refusal(name, file_bytes, status, err);
        if (file != NULL)
            outcome_fault(name, "refused, and *out was set");
        return false;
    }
    if (err->code != GGLD_OK)
        outcome_fault(name, "opens, and *err was set");
    read_all(name, file, flags);
    ggld_close(file);
    return true;
}

bool outcome_opens(const char *name, int fd, uint32_t flags, ggld_error *err)
{
    ggld_open_options options = ggld_open_options_init();
    ggld_file *file = NULL;
    struct stat st;
    options.flags = flags;
    memset(err, 0, sizeof *err);
    if (fstat(fd, &st) != 0)
        outcome_fault(name, "has no size");
    ggld_status status = ggld_open_fd(&file, fd, &options, err);
    return judge(name, (uint64_t)st.st_size, flags, status, file, err);
}

bool outcome_opens_memory(const char *name, const void *data, size_t size,
                          uint32_t flags, ggld_error *err)
{
    ggld_open_options options = ggld_open_options_init();
    ggld_file *file = NULL;
    options.flags = flags;
    memset(err, 0, sizeof *err);
    ggld_status status = ggld_open_memory(&file, data, size, &options, err);
    return judge(name, size, flags, status, file, err);
}

/* The first error that a check hears. */
static void hear(ggld_severity severity, const ggld_error *finding, void *user)
{
    ggld_error *first = user;
    if (severity == GGLD_ERROR && first->code == GGLD_OK)
        *first = *finding;
}

bool outcome_agreed(const char *name, int fd, uint32_t flags, ggld_error *err)
{
    static const uint32_t ways[] = { GGLD_OPEN_COPY, GGLD_OPEN_PREAD };
    ggld_open_options options = ggld_open_options_init();
    ggld_error other;
    bool opens = outcome_opens(name, fd, flags, err);

    for (size_t i = 0; i < 2; i++) {
        (void)outcome_opens(name, fd, flags | ways[i], &other);
        if (memcmp(&other, err, sizeof other) != 0)
            outcome_fault(name, "by map: \"%s\", in another way: \"%s\"",
                          err->message, other.message);
    }
    memset(&other, 0, sizeof other);
    options.flags = flags;
    if (ggld_check_fd(fd, &options, hear, &other, NULL) != GGLD_OK)
        outcome_fault(name, "could not be checked");
    if (memcmp(&other, err, sizeof other) != 0)
        outcome_fault(name, "open: \"%s\", check: \"%s\"", err->message,
                      other.message);
    return opens;
}
