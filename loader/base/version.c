/* SPDX-License-Identifier: MIT */
#include <ggld/version.h>

uint32_t ggld_version(void)
{
    return GGLD_VERSION_MAJOR << 16 | GGLD_VERSION_MINOR << 8 |
           GGLD_VERSION_PATCH;
}
