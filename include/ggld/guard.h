/* SPDX-License-Identifier: MIT */
/* Reading through a map that may be gone. Someone who truncates a file while it
 * is mapped, or a disk or network that fails, makes reads through the map raise
 * SIGBUS, which ends the process. With the guard, the library's own reads fail
 * with GGLD_E_IO instead.
 *
 * Calls that read data for the caller fail: ggld_view_read_f32, _f16,
 * ggld_view_gather_f32, ggld_tensor_read_bytes, ggld_file_read_bytes, and so
 * what writers copy; opening and checking too. They also fail where the file was
 * cut in the middle of a page, which raises no signal and reads as zeros. It
 * costs some system calls more.
 *
 * What the app reads itself through pointers it was given (strings, arrays,
 * names, ggld_tensor_map) can't fail: pages that are gone read as zeros from
 * then on. ggld_file_intact() tells: what was read before it said GGLD_OK was
 * the file's. Or open with GGLD_OPEN_COPY or GGLD_OPEN_PREAD.
 *
 * How it works. A handler of SIGBUS takes faults at addresses in maps that the
 * library has made; any other goes on to the handler that was there before, or
 * ends the process as it would have. It allocates nothing, waits for no lock
 * that is held for long, and calls nothing of the app's but that handler. */
#ifndef GGLD_GUARD_H
#define GGLD_GUARD_H

#include "error.h"
#include "file.h"

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

/* GGLD_OK: the file (of a set, each shard) is as long as it was when it was
 * opened, and no page of its map was found gone outside of guarded reads: what
 * has been read of it so far was its own bytes. Else GGLD_E_IO, which is of what
 * has been read, and stays so where pages were lost. It costs one system call
 * for each shard. That of memory and of the app's own sources is always GGLD_OK.
 * Whether bytes were changed that are there, ggld_file_changed() tells. Any
 * thread. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_file_intact(const ggld_file *file, ggld_error *err);

#ifdef __cplusplus
}
#endif
#endif /* GGLD_GUARD_H */
