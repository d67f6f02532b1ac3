/* SPDX-License-Identifier: MIT */
/* What is refused, what is odd: the rules over records that are parsed. Open
 * and check go through the same ones. Each returns true where the work goes
 * on, as the report says. */
#ifndef GGLD_READ_RULES_H
#define GGLD_READ_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "file.h"
#include "parse.h"
#include "report.h"

/* What a tensor's size_bytes is once its shape was found wrong: it is left out
 * of what follows. Only a check gets that far. */
#define GGLD_NO_SIZE UINT64_MAX

typedef struct ggld_rules {
    ggld_file *file;
    ggld_report *report;
    uint64_t table_end; /* of the tensor table, where padding starts */
    bool placed;        /* say where data lies, too */
} ggld_rules;

/* Version and byte order. */
bool ggld_rules_header(ggld_rules *r);
/* Each key-value; fills the index, and sets alignment_bytes. */
bool ggld_rules_kvs(ggld_rules *r);
/* Each tensor's record; fills the index, n_elems and size_bytes. */
bool ggld_rules_tensors(ggld_rules *r);
/* From where to where data lies; sets data_offset, makes the tensors' offsets
 * absolute, and gives tensors of unknown types their extents. */
bool ggld_rules_placement(ggld_rules *r);

/* ---- what only a check looks at (content.c) ---- */

/* Text and bools of a key-value; a tensor's name. */
bool ggld_content_kv(ggld_rules *r, uint64_t index);
bool ggld_content_name(ggld_rules *r, uint64_t index);
/* What a model has, and a file need not. */
bool ggld_content_model(ggld_rules *r);
/* The padding from offset to end, as far as the file goes. */
bool ggld_content_padding(ggld_rules *r, uint64_t offset, uint64_t end);
/* The file's end, where tensors end at data_end. */
bool ggld_content_tail(ggld_rules *r, uint64_t data_end);
/* Zeros that the file ends with (zeros.c); whole: its records were read to
 * their end. */
bool ggld_content_zeros(ggld_rules *r, bool whole);
/* Line ends that a transfer as text has changed (lines.c), of a file that has
 * some other fault; likewise. */
bool ggld_content_lines(ggld_rules *r, bool whole);

/* After all others: a file that ends too early and for no other reason that
 * was told (cutoff.c), in its data or in its records. */
bool ggld_content_cut(ggld_rules *r);
bool ggld_content_cut_records(ggld_rules *r, const ggld_parse *parse);

#endif /* GGLD_READ_RULES_H */
