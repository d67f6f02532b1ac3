/* SPDX-License-Identifier: MIT */
/* ggld verify: is a model what its manifest says? */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

#include "command.h"
#include "digests.h"
#include "jobs.h"
#include "report.h"
#include "text.h"

enum {
    OPT_FORMAT,
    OPT_PUBKEY,
    OPT_ROOT,
    OPT_ONCE,
    OPT_FOLDER,
    OPT_ALL,
    OPT_UNCACHED,
    OPT_SINGLE,
    OPT_JSON
};

typedef struct verifying {
    const args *a;
    const char *path;
    char manifest_path[DIGESTS_PATH_MAX];
    ggld_manifest *manifest;
    int fd;
    ggld_file *file;
    ggld_file_identity identity;
    ggld_verify_cache *cache; /* NULL: not asked for */
    ggld_error unopened; /* why it is no model; its code is GGLD_OK if it is */
    bool is_signed;
    bool from_cache;
    bool of_set;      /* the file is a shard, which lines then name */
    json_object *all; /* of a set: an array, to which each shard is added */
} verifying;

typedef struct verify_run {
    job_run run;
    ggld_verify_report *report;
} verify_run;

/* ---- the manifest ---- */

static int check_signature(verifying *v, const char *text, size_t size)
{
    char path[DIGESTS_PATH_MAX];
    char *key = NULL, *signature = NULL;
    size_t key_size, signature_size;
    ggld_error err;
    int status = path_with(v->manifest_path, ".sig", path);
    if (status == STATUS_GOOD)
        status = text_read(path, &signature, &signature_size);
    if (status == STATUS_GOOD && signature_size != GGLD_SIGNATURE_BYTES)
        status = report(path, "no Ed25519 signature: it has %zu bytes, not %d",
                        signature_size, GGLD_SIGNATURE_BYTES);
    if (status == STATUS_GOOD)
        status = text_read(v->a->values[OPT_PUBKEY], &key, &key_size);
    if (status == STATUS_GOOD &&
        ggld_sign_check(text, size, key, (const uint8_t *)signature, &err) !=
            GGLD_OK)
        status = report_error(path, &err);
    v->is_signed = status == STATUS_GOOD;
    free(key);
    free(signature);
    return status;
}

/* As --root has it, with or without "sha256:" before. */
static const char *root_hex(const char *given)
{
    return strncmp(given, "sha256:", 7) == 0 ? given + 7 : given;
}

static int check_root(const verifying *v)
{
    char is[GGLD_DIGEST_TEXT_MAX];
    const char *wanted = root_hex(v->a->values[OPT_ROOT]);
    ggld_manifest_info info = { .struct_size = sizeof info };
    ggld_manifest_get_info(v->manifest, &info);
    ggld_digest_text(&info.root, is);
    if (info.root.algo == 0)
        return report(v->manifest_path, "it has no chunks, and so no root");
    if (strcasecmp(is, wanted) == 0)
        return STATUS_GOOD;
    return report(v->manifest_path, "its root is %s, not the one given", is);
}

static bool is_sha256_hex(const char *hex)
{
    return strspn(hex, "0123456789abcdefABCDEF") == 64 && hex[64] == '\0';
}

/* A digest that stands in the manifest's place. */
static int check_digest_text(const args *a)
{
    const char *given = a->n_operands > 1 ? a->operands[1] : "";
    if (strncmp(given, "sha256:", 7) != 0 || is_sha256_hex(given + 7))
        return STATUS_GOOD;
    return report_usage(a,
                        "'%.120s' is no digest: sha256: and 64 hex digits "
                        "are wanted",
                        given);
}

static int check_root_text(const args *a)
{
    const char *given = a->values[OPT_ROOT];
    const char *hex = given != NULL ? root_hex(given) : NULL;
    if (hex == NULL || is_sha256_hex(hex))
        return STATUS_GOOD;
    return report_usage(a,
                        "--root is '%s': the 64 hex digits of a manifest's "
                        "root are wanted (its line \"root sha256:HEX\")",
                        given);
}

/* What is checked and what is parsed are the same bytes. */
static int take_manifest(verifying *v, const char *text, size_t size)
{
    uint32_t format = GGLD_MANIFEST_ANY;
    ggld_error err;
    const char *slash = strrchr(v->manifest_path, '/');
    const char *name = slash != NULL ? slash + 1 : v->manifest_path;
    int status = format_parse(v->a, v->a->values[OPT_FORMAT], &format);
    if (status == STATUS_GOOD && v->a->values[OPT_PUBKEY] != NULL)
        status = check_signature(v, text, size);
    if (status == STATUS_GOOD &&
        ggld_manifest_parse(&v->manifest, name, text, size, format, &err) !=
            GGLD_OK)
        status = report_error(v->path, &err);
    if (status == STATUS_GOOD && v->a->values[OPT_ROOT] != NULL)
        status = check_root(v);
    return status;
}

/* Given, or beside the file; or itself a digest. */
static int read_manifest(verifying *v)
{
    const char *given = v->a->n_operands > 1 ? v->a->operands[1] : NULL;
    char *text;
    size_t size;
    if (given != NULL && strncmp(given, "sha256:", 7) == 0) {
        int long_name = path_with(given, "", v->manifest_path);
        return long_name != STATUS_GOOD
                   ? long_name
                   : take_manifest(v, given, strlen(given));
    }
    int status = given != NULL ? path_with(given, "", v->manifest_path)
                               : path_with(v->path, ".ggsum", v->manifest_path);
    if (status == STATUS_GOOD)
        status = text_read(v->manifest_path, &text, &size);
    if (status != STATUS_GOOD)
        return status;
    status = take_manifest(v, text, size);
    free(text);
    return status;
}

/* ---- the file ---- */

static int open_file(verifying *v)
{
    struct stat st;
    ggld_error err;
    v->fd = open(v->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (v->fd < 0)
        return report_errno(v->path, errno, "cannot open");
    if (ggld_file_identity_of_fd(&v->identity, v->fd, &err) != GGLD_OK)
        return report_error(v->path, &err);
    if (fstat(v->fd, &st) != 0)
        return report_errno(v->path, errno, "cannot read");
    if (ggld_open_fd(&v->file, v->fd, NULL, &err) != GGLD_OK) {
        if (!S_ISREG(st.st_mode) || err.sys_errno != 0 ||
            err.code == GGLD_E_NOMEM)
            return report_error(v->path, &err);
        v->unopened = err; /* but its bytes can be compared */
        return STATUS_GOOD;
    }
    if (v->a->values[OPT_ONCE] == NULL && v->a->values[OPT_FOLDER] == NULL)
        return STATUS_GOOD;
    if (ggld_verify_cache_new(&v->cache, v->a->values[OPT_FOLDER], &err) !=
        GGLD_OK)
        return report_error(v->path, &err);
    v->from_cache = ggld_verify_cache_has(v->cache, &v->identity, v->file,
                                          v->manifest, v->path);
    return STATUS_GOOD;
}

static void take_report(ggld_job *job, ggld_verify_report *result_report,
                        const ggld_error *result, void *user)
{
    verify_run *r = user;
    r->report = result_report;
    job_run_done(job, result, &r->run);
}

static ggld_status start(verifying *v, uv_loop_t *loop, verify_run *r,
                         ggld_error *err)
{
    ggld_job *job;
    ggld_verify_options options = ggld_verify_options_init();
    options.path = v->path;
    options.progress = job_run_progress;
    if (v->file == NULL)
        return ggld_verify_whole_start(&job, loop, v->fd, v->manifest, &options,
                                       take_report, r, err);
    if (v->a->values[OPT_UNCACHED] != NULL)
        options.flags = GGLD_HASH_KEEP_CACHE;
    return ggld_verify_start(&job, loop, v->file, v->manifest, &options,
                             take_report, r, err);
}

static int compare(verifying *v, verify_run *r)
{
    uv_loop_t loop;
    ggld_error err;
    int status = job_run_begin(&r->run, &loop, v->path, "verifying");
    if (status != STATUS_GOOD)
        return status;
    if (start(v, &loop, r, &err) != GGLD_OK)
        return job_run_failed(&r->run, &loop, &err);
    return job_run_finish(&r->run, &loop);
}

static void remember(const verifying *v)
{
    ggld_error err;
    bool stored = false;
    if (ggld_verify_cache_put(v->cache, &v->identity, v->fd, v->file,
                              v->manifest, v->path, &stored, &err) != GGLD_OK)
        report_note(v->path, "not remembered: %s", err.message);
    else if (!stored)
        report_note(v->path, "not remembered: it was changed a moment ago, or "
                             "the folder is not ours alone");
}

/* ---- what is said ---- */

static json_object *json_item(const ggld_verify_item *item)
{
    json_object *row = js_object();
    bool renamed = item->verdict == GGLD_VERDICT_RENAMED;
    js_set_text(row, "verdict", ggld_verdict_name(item->verdict));
    js_set_text(row, "of", scope_text(item->scope));
    js_set(row, "name",
           item->scope == GGLD_SCOPE_TENSOR
               ? js_text(item->name.data, (size_t)item->name.len)
               : NULL);
    js_set(row, "new_name",
           renamed ? js_text(item->new_name.data, (size_t)item->new_name.len)
                   : NULL);
    js_set(row, "expected", js_digest(&item->expected));
    js_set(row, "actual", js_digest(&item->actual));
    js_set(row, "bad_offset",
           item->bad_bytes != 0 ? js_u64(item->bad_offset_bytes) : NULL);
    js_set(row, "bad_bytes",
           item->bad_bytes != 0 ? js_u64(item->bad_bytes) : NULL);
    js_set_text(row, "message", item->message);
    return row;
}

static void print_json(const verifying *v, const verify_run *r, bool good)
{
    json_object *object = js_object(), *items = js_array();
    ggld_verify_item item = { .struct_size = sizeof item };
    for (uint64_t i = 0;
         r->report != NULL && ggld_verify_report_at(r->report, i, &item); i++)
        if (v->a->values[OPT_ALL] != NULL || item.verdict != GGLD_VERDICT_SAME)
            js_append(items, json_item(&item));
    js_set_text(object, "file", v->path);
    js_set_text(object, "manifest", v->manifest_path);
    js_set(object, "good", js_bool(good));
    js_set(object, "signed", js_bool(v->is_signed));
    js_set(object, "from_cache", js_bool(v->from_cache));
    js_set(object, "unreadable",
           v->unopened.code != GGLD_OK
               ? js_text(v->unopened.message, strlen(v->unopened.message))
               : NULL);
    js_set_text(object, "summary",
                r->report != NULL ? ggld_verify_report_summary(r->report)
                                  : "good: verified before");
    js_set(object, "items", items);
    js_set_u64(object, "read_bytes", r->run.done_bytes);
    js_set(object, "seconds", js_measure(r->run.seconds));
    js_set(object, "bytes_per_s", js_measure(job_rate(&r->run)));
    if (v->all != NULL)
        js_append(v->all, object);
    else
        js_print(v->a->out, object);
}

static void print_shard(const verifying *v)
{
    const char *slash = strrchr(v->path, '/');
    const char *name = slash != NULL ? slash + 1 : v->path;
    if (!v->of_set)
        return;
    text_put_name(v->a->out, name, strlen(name));
    out_text(v->a->out, ": ");
}

static void print_item(output *o, const ggld_verify_item *item)
{
    out_printf(o, "%-9s  ", ggld_verdict_name(item->verdict));
    if (item->verdict != GGLD_VERDICT_SAME) {
        out_text(o, item->message); /* names in it are safe already */
    } else {
        out_printf(o, "%s of ", ggld_algo_name(item->expected.algo));
        out_text(o, scope_text(item->scope));
        out_text(o, item->name.len != 0 ? " " : "");
        text_put_name(o, item->name.data, (size_t)item->name.len);
    }
    out_text(o, "\n");
}

static void print_report(const verifying *v, const ggld_verify_report *report)
{
    output *o = v->a->out;
    ggld_verify_item item = { .struct_size = sizeof item };
    uint64_t n_bad = 0;
    for (uint64_t i = 0; ggld_verify_report_at(report, i, &item); i++) {
        bool same = item.verdict == GGLD_VERDICT_SAME;
        n_bad += !same && item.verdict != GGLD_VERDICT_UNCOVERED;
        if (!same || v->a->values[OPT_ALL] != NULL) {
            print_shard(v);
            print_item(o, &item);
        }
    }
    print_shard(v);
    if (n_bad != 0)
        out_printf(o, "bad: %" PRIu64 " of %" PRIu64 " items", n_bad,
                   ggld_verify_report_count(report));
    else
        out_text(o, ggld_verify_report_summary(report));
}

static void print_text(const verifying *v, const verify_run *r)
{
    if (r->report != NULL)
        print_report(v, r->report);
    else {
        print_shard(v);
        out_text(v->a->out, "good: verified before, and not changed since");
    }
    out_text(v->a->out, v->is_signed ? " (signed)\n" : "\n");
    if (r->report != NULL)
        job_note(&r->run);
}

/* Of what does not open the whole must be known, and the same, for it to be
 * called good. */
static bool is_good(const verifying *v, const ggld_verify_report *report)
{
    ggld_verify_item item = { .struct_size = sizeof item };
    if (!ggld_verify_report_good(report))
        return false;
    for (uint64_t i = 0; ggld_verify_report_at(report, i, &item); i++)
        if (item.scope == GGLD_SCOPE_FILE && item.verdict == GGLD_VERDICT_SAME)
            return true;
    return v->unopened.code == GGLD_OK;
}

static int verify(verifying *v)
{
    verify_run r = { .report = NULL };
    bool good = v->from_cache;
    int status = STATUS_GOOD;
    if (!v->from_cache)
        status = compare(v, &r);
    if (status != STATUS_GOOD)
        return status;
    if (r.report != NULL)
        good = is_good(v, r.report);
    if (v->cache != NULL && good && !v->from_cache)
        remember(v);
    if (v->a->values[OPT_JSON] != NULL)
        print_json(v, &r, good);
    else
        print_text(v, &r);
    if (v->unopened.code != GGLD_OK)
        report_note(v->path, "does not open: %s", v->unopened.message);
    ggld_verify_report_free(r.report);
    return good ? STATUS_GOOD : STATUS_FAULT;
}

static int verify_file(const args *a, const char *path, bool of_set,
                       json_object *all)
{
    verifying v = {
        .a = a, .path = path, .fd = -1, .of_set = of_set, .all = all
    };
    int status = read_manifest(&v);
    if (status == STATUS_GOOD)
        status = open_file(&v);
    if (status == STATUS_GOOD)
        status = verify(&v);
    ggld_verify_cache_free(v.cache);
    ggld_close(v.file);
    if (v.fd >= 0)
        close(v.fd);
    ggld_manifest_free(v.manifest);
    return status;
}

/* A ggsum is taken to be about whatever file it is given for. */
static int refuse_ggsum(const args *a)
{
    ggld_manifest_info info = { .struct_size = sizeof info };
    ggld_manifest *manifest = NULL;
    if (a->n_operands < 2 || strncmp(a->operands[1], "sha256:", 7) == 0 ||
        ggld_manifest_read(&manifest, a->operands[1], GGLD_MANIFEST_ANY,
                           NULL) != GGLD_OK)
        return STATUS_GOOD;
    ggld_manifest_get_info(manifest, &info);
    ggld_manifest_free(manifest);
    if (info.format != GGLD_MANIFEST_GGSUM)
        return STATUS_GOOD;
    return report_usage(a, "a ggsum speaks of one file, and FILE is a shard of "
                           "a set: --single compares that one, and without "
                           "MANIFEST each is compared with its own");
}

/* If so and no set can be made of it, what is wrong is elsewhere in the set; if
 * not, the file's own bytes are still there to be compared. */
static bool opens_alone(const char *path)
{
    ggld_open_options how = ggld_open_options_init();
    ggld_file *file;
    how.flags = GGLD_OPEN_METADATA | GGLD_OPEN_SINGLE;
    if (ggld_open_path(&file, path, &how, NULL) != GGLD_OK)
        return false;
    ggld_close(file);
    return true;
}

/* Each shard as a file of its own, to the last one. */
static int verify_set(const args *a, const ggld_file *set, uint32_t n_shards)
{
    json_object *all = a->values[OPT_JSON] != NULL ? js_array() : NULL;
    int worst = refuse_ggsum(a);

    for (uint32_t i = 0; i < n_shards && worst != STATUS_USAGE; i++) {
        const char *path = ggld_file_path(ggld_file_shard(set, i));
        int status = verify_file(a, path, true, all);
        worst = status != STATUS_GOOD ? status : worst;
    }
    if (all != NULL && worst != STATUS_USAGE)
        js_print(a->out, all);
    else
        json_object_put(all);
    return worst;
}

static int verify_run_command(const args *a)
{
    ggld_open_options how = ggld_open_options_init();
    ggld_file_info info = { .struct_size = sizeof info };
    ggld_file *set;
    ggld_error err;
    int worst;

    if (check_root_text(a) != STATUS_GOOD ||
        check_digest_text(a) != STATUS_GOOD)
        return STATUS_USAGE;
    how.flags = GGLD_OPEN_METADATA | single_flag(a->values[OPT_SINGLE]);
    if (ggld_open_path(&set, a->operands[0], &how, &err) != GGLD_OK)
        return err.sys_errno == ENOENT || opens_alone(a->operands[0])
                   ? report_error(a->operands[0], &err)
                   : verify_file(a, a->operands[0], false, NULL);
    ggld_file_get_info(set, &info);
    if (info.n_shards == 1) {
        ggld_close(set);
        return verify_file(a, a->operands[0], false, NULL);
    }
    worst = verify_set(a, set, info.n_shards);
    ggld_close(set);
    return worst;
}

static const option_row options[] = {
    [OPT_FORMAT] = { "format", 'f', "FORMAT",
                     "the manifest's; told from its text if not given" },
    [OPT_PUBKEY] = { "pubkey", 0, "PEM",
                     "MANIFEST.sig must be this key's signature" },
    [OPT_ROOT] = { "root", 0, "HEX", "the root that the manifest must have" },
    [OPT_ONCE] = { "once", 0, NULL,
                   "remember it, and do not read a file known as good again" },
    [OPT_FOLDER] = { "folder", 0, "DIR", "where --once remembers" },
    [OPT_ALL] = { "all", 0, NULL, "list what is as it should be too" },
    [OPT_UNCACHED] = { "uncached", 0, NULL,
                       "leave the page cache as it is found" },
    [OPT_SINGLE] = OPTION_SINGLE,
    [OPT_JSON] = { "json", 0, NULL, "print JSON" },
    { NULL, 0, NULL, NULL },
};

const command_row command_verify = {
    "verify",
    "FILE [MANIFEST]",
    "Compares a model with its manifest and names what differs",
    "MANIFEST is FILE.ggsum if not given; it may be any that ggld hash\n"
    "writes, or just sha256:HEX. Exit status 1 where anything differs, and\n"
    "where the manifest says nothing of FILE.\n",
    1,
    2,
    options,
    verify_run_command,
};
