/* SPDX-License-Identifier: MIT */
/* The text of a setting's value, before it is made a value. */
#ifndef TOOLS_SETTING_TEXT_H
#define TOOLS_SETTING_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* The longest string that ggml reads, and more than any JSON list is good
 * for. */
#define SETTING_TEXT_MAX (1u << 30)

/* What text says, or, where files are read, what the file of @FILE holds. To be
 * freed, with a NUL behind it; NULL, and why (SETTING_WHY_MAX): the system. */
char *setting_load_text(const char *text, bool files, size_t *size, char *why);

/* Whether there is in JSON an escaped half of a surrogate pair without the
 * other: no character, for which json-c puts U+FFFD, and says nothing. *at: its
 * backslash. */
bool setting_has_lone_surrogate(const char *json, size_t len, size_t *at);

#endif /* TOOLS_SETTING_TEXT_H */
