/* SPDX-License-Identifier: MIT */
/* The kernels with NEON, on AArch64. */
#include "vec_neon.h"

#define KERN_SET      ggld_kern_neon
#define KERN_SET_NAME "neon"
#include "set.h"
