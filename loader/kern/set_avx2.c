/* SPDX-License-Identifier: MIT */
/* The kernels with AVX2 and F16C. Nothing of this file may run before the
 * processor was asked. */
#include "vec_avx2.h"

#define KERN_SET      ggld_kern_avx2
#define KERN_SET_NAME "avx2"
#include "set.h"
