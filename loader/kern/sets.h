/* SPDX-License-Identifier: MIT */
/* The tables that exist; which of them are built depends on the processor. */
#ifndef GGLD_KERN_SETS_H
#define GGLD_KERN_SETS_H

#include "kern.h"

extern const ggld_kern_set ggld_kern_scalar;
extern const ggld_kern_set ggld_kern_avx2;
extern const ggld_kern_set ggld_kern_neon;

#endif /* GGLD_KERN_SETS_H */
