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

#include "report.h"
#include "shard.h"
#include "stop.h"
#include "verifying.h"

/* ---- the manifest ---- */

/* What has a signature and what is parsed are the same bytes. */
static int take_text(verifying *v, uint32_t format, const char *text,
                     size_t size)
{
    ggld_error err;
    int status = STATUS_GOOD;
    if (v->a->values[VERIFY_PUBKEY] != NULL)
        status = verify_check_signature(v, text, size);
    if (status == STATUS_GOOD &&
        ggld_manifest_parse(&v->manifest, v->manifest_path, text, size, format,
                            &err) != GGLD_OK)
        status = report_error(v->path, &err);
    return status;
}

/* The manifest holds the text. Only where its signature is to be checked is
 * there a second one, meanwhile. */
static int take_file(verifying *v, uint32_t format)
{
    char *text;
    size_t size;
    ggld_error err;
    int status;
    if (v->a->values[VERIFY_PUBKEY] == NULL) {
        status = text_check(v->manifest_path);
        if (status == STATUS_GOOD &&
            ggld_manifest_read(&v->manifest, v->manifest_path, format, &err) !=
                GGLD_OK)
            status = report_error(v->path, &err);
        return status;
    }
    status = text_read(v->manifest_path, &text, &size);
    if (status != STATUS_GOOD)
        return status;
    status = take_text(v, format, text, size);
    free(text);
    return status;
}

/* Given, or beside the file; or itself a digest. */
static int take_manifest(verifying *v, uint32_t format)
{
    const char *given = v->a->n_operands > 1 ? v->a->operands[1] : NULL;
    bool bare = given != NULL && verify_is_bare_digest(given);
    int status;
    if (bare || (given != NULL && strncmp(given, "sha256:", 7) == 0)) {
        status = path_with(bare ? "sha256:" : "", given, v->manifest_path);
        return status != STATUS_GOOD ? status
                                     : take_text(v, format, v->manifest_path,
                                                 strlen(v->manifest_path));
    }
    status = given != NULL ? path_with(given, "", v->manifest_path)
                           : path_with(v->path, ".ggsum", v->manifest_path);
    return status == STATUS_GOOD ? take_file(v, format) : status;
}

static int read_manifest(verifying *v)
{
    uint32_t format = GGLD_MANIFEST_ANY;
    int status = format_parse(v->a, v->a->values[VERIFY_FORMAT], &format);
    if (status == STATUS_GOOD)
        status = take_manifest(v, format);
    if (status == STATUS_GOOD && v->a->values[VERIFY_ROOT] != NULL)
        status = verify_check_root(v);
    if (status == STATUS_GOOD)
        verify_note_chunks(v);
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
    if (v->a->values[VERIFY_ONCE] == NULL &&
        v->a->values[VERIFY_FOLDER] == NULL)
        return STATUS_GOOD;
    if (ggld_verify_cache_new(&v->cache, v->a->values[VERIFY_FOLDER], &err) !=
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
    if (v->a->values[VERIFY_UNCACHED] != NULL)
        options.flags |= GGLD_HASH_KEEP_CACHE;
    if (v->a->values[VERIFY_ALL] == NULL)
        options.flags |= GGLD_VERIFY_NO_SAME;
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

/* Of a file that was verified before the manifest tells what was covered. */
static bool is_complete(const verifying *v, const ggld_verify_report *report)
{
    const uint32_t data =
        GGLD_SCOPE_TENSOR | GGLD_SCOPE_TENSORS | GGLD_SCOPE_CHUNKS;
    if (report != NULL)
        return ggld_verify_report_complete(report);
    uint32_t scopes = ggld_manifest_scopes(v->manifest, v->path);
    return (scopes & GGLD_SCOPE_FILE) != 0 ||
           ((scopes & GGLD_SCOPE_METADATA) != 0 && (scopes & data) != 0);
}

static int verify(verifying *v)
{
    verify_run r = { .report = NULL };
    bool good = v->from_cache;
    int status = STATUS_GOOD;
    if (!v->from_cache)
        status = compare(v, &r);
    if (status != STATUS_GOOD) {
        ggld_verify_report_free(r.report);
        verify_print_failed(v);
        return status;
    }
    if (r.report != NULL)
        good = is_good(v, r.report);
    v->complete = is_complete(v, r.report);
    if (v->cache != NULL && good && !v->from_cache)
        remember(v);
    if (!v->complete && v->a->values[VERIFY_COMPLETE] != NULL)
        good = false;
    verify_print(v, &r, good);
    if (v->unopened.code != GGLD_OK)
        report_note(v->path, "does not open: %s", v->unopened.message);
    ggld_verify_report_free(r.report);
    return good ? STATUS_GOOD : STATUS_FAULT;
}

static int verify_file(const args *a, const char *path, bool of_set, js *all)
{
    verifying v = {
        .a = a, .path = path, .fd = -1, .of_set = of_set, .all = all
    };
    int status = read_manifest(&v);
    if (status == STATUS_GOOD)
        status = open_file(&v);
    if (status != STATUS_GOOD)
        verify_print_failed(&v);
    else
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

/* Each shard as a file of its own, to the last one; set is NULL where there is
 * none, as one of them is missing or damaged. */
static int verify_set(const args *a, const ggld_file *set, uint32_t n_shards)
{
    js w = js_begin(a->out), *all = a->values[VERIFY_JSON] != NULL ? &w : NULL;
    int worst = refuse_ggsum(a);

    if (worst == STATUS_USAGE)
        return worst;
    if (all != NULL)
        js_array(all, NULL);
    for (uint32_t i = 0; i < n_shards && worst != STATUS_USAGE && !stop_asked();
         i++) {
        char *named =
            set == NULL ? shard_beside(a->operands[0], i, n_shards) : NULL;
        const char *path =
            set == NULL ? named : ggld_file_path(ggld_file_shard(set, i));
        int status = path == NULL ? report(a->operands[0], "no memory")
                                  : verify_file(a, path, true, all);
        worst = status != STATUS_GOOD ? status : worst;
        free(named);
    }
    if (worst == STATUS_USAGE)
        out_drop(a->out);
    else if (all != NULL)
        js_end(all);
    return worst;
}

/* What does not open, as a set or at all: what can be compared is. */
static int verify_broken(const args *a, const ggld_error *err)
{
    const char *path = a->operands[0];
    shard_place at;
    if (a->values[VERIFY_SINGLE] == NULL && shard_place_named(path, &at) &&
        at.count > 1) {
        int status = report_error_single(path, err);
        int worst = verify_set(a, NULL, at.count);
        return worst == STATUS_USAGE ? worst : status;
    }
    return err->sys_errno == ENOENT || model_opens_alone(path)
               ? report_error(path, err)
               : verify_file(a, path, false, NULL);
}

static int verify_run_command(const args *a)
{
    ggld_open_options how = ggld_open_options_init();
    ggld_file_info info = { .struct_size = sizeof info };
    ggld_file *set;
    ggld_error err;
    int worst;

    if (verify_check_root_text(a) != STATUS_GOOD ||
        verify_check_digest_text(a) != STATUS_GOOD)
        return STATUS_USAGE;
    how.flags = GGLD_OPEN_METADATA | single_flag(a->values[VERIFY_SINGLE]);
    if (ggld_open_path(&set, a->operands[0], &how, &err) != GGLD_OK)
        return verify_broken(a, &err);
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
    [VERIFY_FORMAT] = { "format", 'f', "FORMAT",
                        "the manifest's; told from its text if not given" },
    [VERIFY_PUBKEY] = { "pubkey", 0, "PEM",
                        "MANIFEST.sig must be this key's signature" },
    [VERIFY_ROOT] = { "root", 0, "HEX",
                      "the root that the manifest must have" },
    [VERIFY_ONCE] = { "once", 0, NULL,
                      "remember it, and do not read a file known as good again" },
    [VERIFY_FOLDER] = { "folder", 0, "DIR", "where --once remembers" },
    [VERIFY_ALL] = { "all", 0, NULL,
                     "list what is as it should be too, and without a limit" },
    [VERIFY_COMPLETE] = { "complete", 0, NULL,
                          "what the manifest does not cover is a failure" },
    [VERIFY_UNCACHED] = { "uncached", 0, NULL,
                          "leave the page cache as it is found" },
    [VERIFY_SINGLE] = OPTION_SINGLE,
    [VERIFY_JSON] = { "json", 0, NULL, "print JSON" },
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
