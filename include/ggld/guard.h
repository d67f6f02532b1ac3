/* SPDX-License-Identifier: MIT */
/* Reading through a map that may be gone. Someone who truncates a file while it
 * is mapped, or a disk or network that fails, makes reads through the map raise
 * SIGBUS, which ends the process. With the guard, the library's own reads fail
 * with GGLD_E_IO instead.
 *
 * Guarded are the calls that read data for the caller: ggld_view_read_f32,
 * _f16, ggld_view_gather_f32, ggld_tensor_read_bytes, ggld_file_read_bytes, and
 * so what writers copy. Not guarded: opening, and what the app reads itself
 * through pointers it was given (strings, arrays, ggld_tensor_map); for these
 * there are GGLD_OPEN_COPY and GGLD_OPEN_PREAD.
 *
 * Such a read also fails where the file was cut in the middle of a page, which
 * raises no signal and reads as zeros. It costs some system calls more.
 *
 * How it works. A handler of SIGBUS takes faults at addresses that the same
 * thread is just reading in a file's map; any other goes on to the handler that
 * was there before, or ends the process as it would have. It allocates nothing,
 * takes no lock, and calls nothing of the app's but that handler. */
#ifndef GGLD_GUARD_H
#define GGLD_GUARD_H

#include "error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Puts the handler in place, for the whole process: of all files, in all
 * threads. It is counted; each success needs a ggld_guard_remove(). An app with
 * a handler of its own sets that before, or passes on to ours what is not its.
 * GGLD_E_IO: the system refuses. Any thread. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_guard_install(ggld_error *err);
/* The last one restores the handler that was there before, unless somebody has
 * put another over ours, which may still call it: then ours stays, and passes
 * everything on. Any thread, while no other is reading. */
GGLD_API void ggld_guard_remove(void);

#ifdef __cplusplus
}
#endif
#endif /* GGLD_GUARD_H */
