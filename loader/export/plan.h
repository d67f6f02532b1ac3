/* SPDX-License-Identifier: MIT */
/* What is to be made of a source: for each tensor its new name and type, and
 * its values in chunks that are numbered through. */
#ifndef GGLD_EXPORT_PLAN_H
#define GGLD_EXPORT_PLAN_H

#include "source.h"

/* Of a chunk; a multiple of every block. Fuzzers have a small one. */
#ifndef GGLD_CHUNK_ELEMS
#define GGLD_CHUNK_ELEMS (1u << 17)
#endif

typedef struct ggld_output_format ggld_output_format;

typedef struct ggld_planned {
    uint64_t tensor; /* of the source */
    ggld_string name;
    uint32_t type;
    bool fed;     /* its data is put; else the writer copies it */
    uint64_t end; /* chunks up to its last one */
} ggld_planned;

typedef struct ggld_export_plan {
    const ggld_export_source *source;
    ggld_export_options options;
    const ggld_output_format *output;
    ggld_planned *tensors; /* in the order of the output */
    uint64_t n_tensors;
    uint64_t n_chunks;
    uint64_t total_bytes; /* stored ones, of what is fed */
    uint64_t done_bytes;  /* of them */
    void *state;          /* the output's own */
} ggld_export_plan;

/* Part of one tensor. */
typedef struct ggld_planned_chunk {
    const ggld_planned *planned;
    const ggld_source_tensor *tensor;
    uint64_t first_elem;
    uint64_t n_elems;
} ggld_planned_chunk;

/* Of options that have been checked. On failure there is nothing to free. */
ggld_status ggld_plan_make_export(ggld_export_plan *p, ggld_error *err);
void ggld_plan_free_export(ggld_export_plan *p);
/* number is below n_chunks. */
ggld_planned_chunk ggld_plan_chunk(const ggld_export_plan *p, uint64_t number);

/* Stored bytes of that many elements, whole blocks. */
uint64_t ggld_bytes_of(uint32_t type, uint64_t n_elems);
/* The same of a source's tensor, whose type GGUF may not have. */
uint64_t ggld_stored_bytes(const ggld_source_tensor *t, uint64_t n_elems);
bool ggld_is_integer(uint32_t type);
/* F64, F32, F16, BF16. */
bool ggld_is_float(uint32_t type);

/* Tells how far it is; GGLD_E_CANCELLED where whoever hears it wants no more. */
ggld_status ggld_plan_progress(const ggld_export_plan *p, ggld_error *err);
/* Passes a line on to whoever listens. */
void ggld_plan_note(const ggld_export_plan *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif /* GGLD_EXPORT_PLAN_H */
