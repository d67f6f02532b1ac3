/* SPDX-License-Identifier: MIT */
/* The kernels in plain C. */
#include "vec_scalar.h"

#define KERN_SET      ggld_kern_scalar
#define KERN_SET_NAME "scalar"
#include "set.h"
