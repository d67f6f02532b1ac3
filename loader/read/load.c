/* SPDX-License-Identifier: MIT */
/* The steps of opening, in order: bytes, records, rules, the verifier. Records
 * that are whole are judged even where a later one is broken, so that a check
 * tells all and an open fails with the first fault in the file. */
#include "load.h"

#include <string.h>

#include "../base/alloc.h"
#include "../base/cpu.h"
#include "../base/index.h"
#include "../spec/limits.h"
#include "metadata.h"
#include "parse.h"
#include "rules.h"

/* ggml's GGUF_MAX_STRING_LENGTH. */
#define GGML_MAX_STRING_BYTES (1u << 30)

static ggld_file *file_new(const ggld_load *load, ggld_report *report)
{
    const ggld_open_options *options = load->options;
    ggld_allocator allocator = ggld_allocator_of(options->allocator);
    ggld_file *file = ggld_alloc(&allocator, 1, sizeof *file);

    if (file == NULL) {
        ggld_report_nomem(report, "the file's record");
        return NULL;
    }
    atomic_init(&file->holders, 1);
    file->allocator = allocator;
    file->source = load->source;
    if (options->verifier != NULL)
        file->verifier = *options->verifier;
    file->flags = options->flags;
    file->cpu_features = ggld_cpu_features() & ~options->cpu_disable;
    file->alignment_bytes = GGLD_DEFAULT_ALIGNMENT;
    return file;
}

void ggld_load_discard(ggld_file *file)
{
    ggld_allocator allocator = file->allocator;
    ggld_free(&allocator, file->tensor_index);
    ggld_free(&allocator, file->kv_index);
    ggld_free(&allocator, file->tensors);
    ggld_free(&allocator, file->kvs);
    ggld_free(&allocator, file->private_metadata);
    ggld_free(&allocator, file);
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
    parse.hint = load->hint;
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

/* The rules in the order of the file; the records end where parsing did. */
static bool judge(ggld_file *file, ggld_report *report, const ggld_parse *parse,
                  ggld_parsed parsed)
{
    bool whole = parsed == GGLD_PARSED;
    ggld_rules rules = { file, report, parse->table_end,
                         (file->flags & GGLD_OPEN_METADATA) == 0 };

    if (file->version != 0 &&
        (!ggld_rules_header(&rules) || !ggld_rules_kvs(&rules)))
        return false;
    if (whole && report->finding != NULL && !ggld_content_model(&rules))
        return false;
    if (!ggld_rules_tensors(&rules))
        return false;
    if (!whole && !ggld_report_error(report, &parse->error))
        return false;
    if (whole && !ggld_rules_placement(&rules))
        return false;
    return (report->finding == NULL || ggld_content_zeros(&rules, whole)) &&
           whole;
}

static bool verify_metadata(ggld_file *file, ggld_report *report)
{
    ggld_error error = { .index = GGLD_NO_INDEX };
    if (file->verifier.check_metadata == NULL)
        return true;
    ggld_status status =
        file->verifier.check_metadata(file->verifier.ctx, file->metadata.data,
                                      (size_t)file->metadata.size, &error);
    error.code = status;
    return status == GGLD_OK || ggld_report_error(report, &error);
}

static uint64_t heap_bytes_of(const ggld_load *load, const ggld_parse *parse)
{
    const ggld_file *file = parse->file;
    uint64_t private_bytes =
        file->map.data != NULL ? file->map.size : file->metadata.size;
    return sizeof *file + load->source_heap_bytes +
           parse->kv_capacity * sizeof(ggld_kv) +
           parse->tensor_capacity * sizeof(ggld_tensor) +
           ggld_index_heap_bytes(file->kv_index) +
           ggld_index_heap_bytes(file->tensor_index) +
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
    file->heap_bytes = heap_bytes_of(load, &parse);
    return verify_metadata(file, report);
}

ggld_file *ggld_load_file(const ggld_load *load, ggld_report *report)
{
    ggld_file *file = file_new(load, report);
    if (file != NULL && !fill(load, file, report)) {
        ggld_load_discard(file);
        file = NULL;
    }
    return file;
}
