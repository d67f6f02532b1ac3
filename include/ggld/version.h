/* SPDX-License-Identifier: MIT */
/* Version of the library, and the attributes that its headers use. */
#ifndef GGLD_VERSION_H
#define GGLD_VERSION_H

#include <stdint.h>

#if defined(__GNUC__)
#define GGLD_API        __attribute__((visibility("default")))
#define GGLD_MUST_CHECK __attribute__((warn_unused_result))
#else
#define GGLD_API
#define GGLD_MUST_CHECK
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Of these headers. meson.build takes the project's version from here. */
#define GGLD_VERSION_MAJOR 0
#define GGLD_VERSION_MINOR 1
#define GGLD_VERSION_PATCH 0

/* 0x00MMmmpp of the library that is linked, which may differ from the headers
 * that the app was built with. Any thread. */
GGLD_API uint32_t ggld_version(void);

#ifdef __cplusplus
}
#endif
#endif /* GGLD_VERSION_H */
