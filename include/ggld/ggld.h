/* SPDX-License-Identifier: MIT */
/* All of libggld. */
#ifndef GGLD_GGLD_H
#define GGLD_GGLD_H

#include "codec.h"
#include "diff.h"
#include "edit.h"
#include "error.h"
#include "file.h"
#include "guard.h"
#include "progress.h"
#include "residency.h"
#include "shards.h"
#include "tensor.h"
#include "types.h"
#include "upgrade.h"
#include "version.h"
#include "write.h"

#endif /* GGLD_GGLD_H */
