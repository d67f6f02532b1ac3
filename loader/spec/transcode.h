/* SPDX-License-Identifier: MIT */
/* Values as any version and byte order stores them, brought to version 3, in
 * the encoder's order. */
#ifndef GGLD_SPEC_TRANSCODE_H
#define GGLD_SPEC_TRANSCODE_H

#include <ggld/file.h>

#include "cursor.h"
#include "decode.h"
#include "encode.h"

/* One value of that type from the cursor to the encoder: once to a counting
 * one for the size, once more for the bytes. Odd bools and text stay as they
 * are. false and *fault where the bytes are no value; the encoder, which may
 * also be full, then holds part of it. */
bool ggld_transcode_value(ggld_cursor *c, uint32_t value_type, ggld_encoder *e,
                          ggld_fault *fault);

/* The same of a value as the public interface hands it out. false: its bytes
 * are not, or no more, those that the file had when it was opened, or the
 * encoder is full. */
bool ggld_transcode_raw(const ggld_raw_value *raw, uint32_t value_type,
                        ggld_encoder *e);

#endif /* GGLD_SPEC_TRANSCODE_H */
