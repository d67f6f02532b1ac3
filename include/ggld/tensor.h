/* SPDX-License-Identifier: MIT */
/* Tensors and views of them. Nothing of a tensor's data is touched before it
 * is read; what is read is dequantised on the way. All of these may be called
 * from many threads on one file. */
#ifndef GGLD_TENSOR_H
#define GGLD_TENSOR_H

#include "error.h"
#include "file.h"
#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ggld_tensor_info {
    size_t struct_size; /* set by the caller: sizeof(ggld_tensor_info) */
    ggld_string name;
    uint32_t type; /* ggld_tensor_type, or a number that is none */
    uint32_t n_dims;
    uint64_t dims[4]; /* dims[0] is the row length; 1 past n_dims */
    uint64_t n_elems;
    uint64_t file_offset_bytes; /* of the first byte, in the shard's file */
    uint64_t size_bytes;        /* of an unknown type: its extent */
    uint64_t index;             /* in the table; of a set, in the set's */
    uint32_t shard;             /* of a set: the one it lies in. Otherwise 0 */
    bool supported;             /* the type is known, and its size with it */
    bool big_endian;
    uint64_t reserved[2];
} ggld_tensor_info;

/* Fills the fields that the caller's struct_size covers. */
GGLD_API void ggld_tensor_get_info(const ggld_tensor *tensor,
                                   ggld_tensor_info *out);
/* The file that was opened: of a set the set, not the shard. */
GGLD_API const ggld_file *ggld_tensor_file(const ggld_tensor *tensor);

/* The stored bytes, in the file's byte order, at any alignment; valid until
 * the last close. Asks the verifier first. GGLD_E_UNSUPPORTED where the source
 * is not mapped: use ggld_tensor_read_bytes. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_tensor_map(const ggld_tensor *tensor, const void **out,
                            size_t *out_size, ggld_error *err);

/* Copies size_bytes stored bytes, from first_byte of the tensor's extent on,
 * to dst; of any type, mapped or not. Asks the verifier first.
 * GGLD_E_INVALID: outside the extent. GGLD_E_IO, GGLD_E_TRUNCATED: they can't
 * be read; dst is then undefined. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_tensor_read_bytes(const ggld_tensor *tensor,
                                   uint64_t first_byte, void *dst,
                                   size_t size_bytes, ggld_error *err);

/* Asks the file's verifier, if it has one, about size_bytes stored bytes from
 * first_byte of the tensor's extent on, as the reads above do by themselves:
 * for bytes that came another way (ggld_file_get_backing). GGLD_E_INVALID:
 * outside the extent. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_tensor_verify(const ggld_tensor *tensor, uint64_t first_byte,
                               uint64_t size_bytes, ggld_error *err);

/* For a view's flags. Of a file that is mapped and has a descriptor
 * (ggld_file_get_backing) the bytes are read by pread all the same, some KiB at
 * a time on the stack: where the file has been cut that is an error
 * (GGLD_E_TRUNCATED), and never a signal, nor the zeros of a page's end. It
 * costs a copy of what is stored. Of other files it changes nothing. */
#define GGLD_VIEW_PREAD (1u << 0)

/* A view is a value: part of one tensor, to be copied and kept like a number
 * while the file is open. Making one touches no data; reading it dequantises
 * into the caller's buffer, and checks the view anew. */
typedef struct ggld_view {
    const ggld_tensor *tensor;
    uint64_t first_elem; /* in the tensor; anywhere, inside a block too */
    uint64_t n_elems;
    uint32_t n_dims; /* that are left to index; a range of elements has 1 */
    uint32_t flags;  /* GGLD_VIEW_..., which what is made of it inherits */
    uint64_t reserved[2];
} ggld_view;

/* The whole tensor. */
GGLD_API ggld_view ggld_tensor_view(const ggld_tensor *tensor);

/* n_rows rows of dims[0] elements, from first_row of the view on; *out has two
 * dimensions left, the row's number and the element's. A view that does not
 * begin and end with a row, or whose rows have no elements, is refused. *out
 * may be *view. GGLD_E_INVALID: outside the view; the message has both
 * numbers. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_view_rows(ggld_view *out, const ggld_view *view,
                           uint64_t first_row, uint64_t n_rows,
                           ggld_error *err);
/* One index of the outermost dimension left: of a [dims0, dims1, dims2] tensor
 * the dims0 x dims1 matrix number index; of that, row number index; of that,
 * one element. *out may be *view. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_view_index(ggld_view *out, const ggld_view *view,
                            uint64_t index, ggld_error *err);
/* n_elems elements in storage order from first_elem of the view on. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_view_elems(ggld_view *out, const ggld_view *view,
                            uint64_t first_elem, uint64_t n_elems,
                            ggld_error *err);

/* The view's elements into dst, which has room for dst_elems >= n_elems of
 * them and needs the alignment of its type only. Bit for bit what ggml's
 * to_float gives (codec.h). Asks the verifier about the blocks that the view
 * touches before it reads them.
 *
 * GGLD_E_INVALID: dst is too small or the view is not inside its tensor.
 * GGLD_E_TENSOR_TYPE: the type is unknown or was removed. GGLD_E_TRUNCATED,
 * GGLD_E_IO: the bytes are not there. dst is undefined after a failure.
 * Allocates nothing. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_view_read_f32(const ggld_view *view, float *dst,
                               uint64_t dst_elems, ggld_error *err);
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_view_read_f16(const ggld_view *view, uint16_t *dst,
                               uint64_t dst_elems, ggld_error *err);

/* Rows of the view by number, in the order given (the same one twice too), one
 * behind the other: n_rows x dims[0] floats. The view is made of whole rows. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_view_gather_f32(const ggld_view *view, const uint64_t *rows,
                                 uint64_t n_rows, float *dst,
                                 uint64_t dst_elems, ggld_error *err);

#ifdef __cplusplus
}
#endif
#endif /* GGLD_TENSOR_H */
