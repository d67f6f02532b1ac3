/* SPDX-License-Identifier: MIT */
/* Edits that end before their last call, and what a new run makes of it. */
#ifndef TESTS_EDIT_KILLING_H
#define TESTS_EDIT_KILLING_H

#include "harness.h"
#include "scene.h"

/* As a new run finds it: recovered, it is old or new, and can be edited. */
void expect_recovery(const scene *s, const char *what);
/* Killed before each call in turn, of which there are so many at least. */
void kill_everywhere(const scene *s, size_t max_write, unsigned least);
/* Number of the first such call of an edit that succeeds. */
unsigned call_number(const scene *s, call what, size_t max_write);

#endif /* TESTS_EDIT_KILLING_H */
