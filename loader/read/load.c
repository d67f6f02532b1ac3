/* SPDX-License-Identifier: MIT */
/* The steps of opening, in order: bytes, records, rules, the verifier. Records
 * that are whole are judged even where a later one is broken, so that a check
 * tells all and an open fails with the first fault in the file. */
#include "load.h"

#include <string.h>

#include <ggld/guard.h>

#include "../base/alloc.h"
#include "../base/cpu.h"
#include "../base/index.h"
#include "../spec/limits.h"
#include "hints.h"
#include "metadata.h"
#include "parse.h"
#include "rules.h"
#include "split.h"

/* ggml's GGUF_MAX_STRING_LENGTH. */
#define GGML_MAX_STRING_BYTES (1u << 30)

static void release_source(const ggld_source *source)
{
    if (source->release != NULL)
        source->release(source->ctx);
}

ggld_status ggld_load_source(ggld_load *load, int fd, ggld_range range,
                             ggld_error *err)
{
    const ggld_open_options *options = load->options;
    ggld_allocator allocator = ggld_allocator_of(options->allocator);
    bool map = (options->flags & (GGLD_OPEN_COPY | GGLD_OPEN_PREAD)) == 0;

    load->source_heap_bytes = GGLD_FD_SOURCE_BYTES;
    ggld_status status =
        ggld_source_of_fd(&load->source, &allocator, fd, range, map, err);
    if (status == GGLD_OK && range.whole)
        load->part.file_bytes = load->source.size_bytes;
    return status;
}

static size_t path_bytes(const char *path)
{
    return path == NULL ? 0 : strlen(path) + 1;
}

ggld_file *ggld_load_new(const ggld_load *load, const char *path)
{
    const ggld_open_options *options = load->options;
    ggld_allocator allocator = ggld_allocator_of(options->allocator);
    ggld_file *file = ggld_alloc(&allocator, 1, sizeof *file);
    char *copy = NULL;

    if (file != NULL && path != NULL) {
        copy = ggld_alloc_bytes(&allocator, path_bytes(path));
        if (copy == NULL) {
            ggld_free(&allocator, file);
            return NULL;
        }
        memcpy(copy, path, path_bytes(path));
    }
    if (file == NULL)
        return NULL;
    atomic_init(&file->holders, 1);
    file->path = copy;
    file->n_shards = 1;
    file->allocator = allocator;
    if (options->verifier != NULL)
        file->verifier = *options->verifier;
    file->flags = options->flags;
    file->cpu_features = ggld_cpu_features() & ~options->cpu_disable;
    file->alignment_bytes = GGLD_DEFAULT_ALIGNMENT;
    return file;
}

/* A shard's tensors are in the set's table; a set's key-values are the first
 * shard's. */
static void discard(ggld_file *file)
{
    ggld_allocator allocator = file->allocator;
    if (file->set == NULL) {
        ggld_free(&allocator, file->tensor_index);
        ggld_free(&allocator, file->tensors);
    }
    if (file->shards == NULL) {
        ggld_free(&allocator, file->kv_index);
        ggld_free(&allocator, file->kvs);
    }
    ggld_free(&allocator, file->private_metadata);
    ggld_free(&allocator, file->shards);
    ggld_free(&allocator, file->path);
    ggld_free(&allocator, file);
}

static void release_one(ggld_file *file)
{
    ggld_source source = file->source;
    discard(file);
    release_source(&source);
}

void ggld_load_release(ggld_file *file)
{
    for (uint32_t i = 0; file->shards != NULL && i < file->n_shards; i++)
        if (file->shards[i] != NULL)
            release_one(file->shards[i]);
    release_one(file);
}

static ggld_parse parse_new(const ggld_load *load, ggld_file *file)
{
    const ggld_open_options *options = load->options;
    ggld_parse parse;

    memset(&parse, 0, sizeof parse);
    parse.file = file;
    parse.max_kv = options->max_kv;
    parse.max_tensors = options->max_tensors;
    parse.max_string_bytes = options->max_string_bytes;
    parse.part = load->part;
    if ((options->flags & GGLD_OPEN_STRICT) != 0 &&
        (parse.max_string_bytes == 0 ||
         parse.max_string_bytes > GGML_MAX_STRING_BYTES))
        parse.max_string_bytes = GGML_MAX_STRING_BYTES;
    return parse;
}

/* The records, from as many of the file's bytes as it takes. */
static bool parse_all(ggld_parse *parse, ggld_report *report,
                      ggld_parsed *parsed)
{
    ggld_status status = ggld_metadata_begin(parse->file, report->err);
    while (status == GGLD_OK) {
        *parsed = ggld_parse_run(parse);
        if (*parsed == GGLD_PARSE_NOMEM)
            return ggld_report_nomem(report, "the table of records");
        if (*parsed != GGLD_PARSE_MORE)
            return true;
        status =
            ggld_metadata_more(parse->file, parse->span_needed, report->err);
    }
    report->status = status;
    return false;
}

static bool make_indexes(ggld_file *file, ggld_report *report)
{
    file->kv_index = ggld_index_new(&file->allocator, file->n_kvs);
    file->tensor_index = ggld_index_new(&file->allocator, file->n_tensors);
    return (file->kv_index != NULL && file->tensor_index != NULL) ||
           ggld_report_nomem(report, "the index of names");
}

/* What describes a model stands in the first shard of a set. */
static bool is_first(const ggld_report *report)
{
    return report->shard_path == NULL || report->shard == 0;
}

/* The rules in the order of the file; the records end where parsing did. */
static bool judge(ggld_file *file, ggld_report *report, const ggld_parse *parse,
                  ggld_parsed parsed)
{
    bool whole = parsed == GGLD_PARSED;
    ggld_rules rules = { file, report, parse->table_end,
                         (file->flags & GGLD_OPEN_METADATA) == 0 };

    report->broken = false;
    report->hinted = 0;
    if (file->version != 0 &&
        (!ggld_rules_header(&rules) || !ggld_rules_kvs(&rules)))
        return false;
    if (whole && report->finding != NULL && is_first(report) &&
        !ggld_content_model(&rules))
        return false;
    if (!ggld_rules_tensors(&rules))
        return false;
    if (!whole && !ggld_report_error(report, &parse->error))
        return false;
    if (whole && !ggld_rules_placement(&rules))
        return false;
    return (report->finding == NULL ||
            (ggld_content_zeros(&rules, whole) &&
             ggld_content_lines(&rules, whole) &&
             (whole ? ggld_content_cut(&rules)
                    : ggld_content_cut_records(&rules, parse)))) &&
           whole;
}

bool ggld_load_verify(const ggld_file *file, ggld_report *report)
{
    const ggld_verifier *v = &file->verifier;
    const uint8_t *data = file->metadata.data;
    size_t size = (size_t)file->metadata.size;
    ggld_error error = { .index = GGLD_NO_INDEX };
    ggld_status status = GGLD_OK;

    if (file->set != NULL && v->check_shard != NULL)
        status = v->check_shard(v->ctx, file, data, size, &error);
    else if (v->check_metadata != NULL)
        status = v->check_metadata(v->ctx, data, size, &error);
    error.code = status;
    return status == GGLD_OK || ggld_report_error(report, &error);
}

static uint64_t heap_bytes_of(const ggld_load *load, const ggld_parse *parse)
{
    const ggld_file *file = parse->file;
    uint64_t private_bytes =
        file->map.data != NULL ? file->map.size : file->metadata.size;
    return sizeof *file + path_bytes(file->path) + load->source_heap_bytes +
           parse->kv_capacity * sizeof(ggld_kv) +
           ggld_index_heap_bytes(file->kv_index) + file->table_heap_bytes +
           (file->private_metadata != NULL ? private_bytes : 0);
}

static bool fill(const ggld_load *load, ggld_file *file, ggld_report *report)
{
    ggld_parse parse = parse_new(load, file);
    ggld_parsed parsed;

    if (!parse_all(&parse, report, &parsed) || !make_indexes(file, report) ||
        !judge(file, report, &parse, parsed))
        return false;
    ggld_status status = ggld_metadata_settle(file, report->err);
    if (status != GGLD_OK) {
        report->status = status;
        return false;
    }
    file->table_heap_bytes = parse.tensor_capacity * sizeof(ggld_tensor) +
                             ggld_index_heap_bytes(file->tensor_index);
    file->heap_bytes = heap_bytes_of(load, &parse);
    return true;
}

bool ggld_load_intact(const ggld_file *file, ggld_report *report)
{
    ggld_error cut;
    ggld_status status = ggld_file_intact(file, &cut);

    if (status == GGLD_OK || report->status == GGLD_E_NOMEM)
        return status == GGLD_OK;
    if (report->err != NULL)
        *report->err = cut;
    report->status = status;
    return false;
}

void ggld_load_blame(const ggld_file *file, ggld_report *report)
{
    ggld_split split = ggld_split_of(file);
    if (file->path != NULL && report->finding == NULL &&
        report->shard_path == NULL && split.no < split.count &&
        split.count <= GGLD_MAX_SHARDS && (file->flags & GGLD_OPEN_SINGLE) == 0)
        ggld_report_blame(report->err, (uint32_t)split.no, file->path);
}

ggld_file *ggld_load_file(const ggld_load *load, ggld_report *report)
{
    ggld_file *file = ggld_load_new(load, load->path);
    if (file == NULL) {
        ggld_report_nomem(report, "the file's record");
        release_source(&load->source);
        return NULL;
    }
    file->source = load->source;
    report->source = &file->source;
    bool good = fill(load, file, report);
    good = ggld_load_intact(file, report) && good;
    report->source = NULL;
    if (load->split != NULL)
        *load->split = ggld_split_of(file);
    if (good)
        return file;
    ggld_load_blame(file, report);
    ggld_load_release(file);
    return NULL;
}
