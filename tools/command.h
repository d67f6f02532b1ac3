/* SPDX-License-Identifier: MIT */
/* What a command of ggld is: a row of the table in main.c, a table of options,
 * and a function. Everything else (help, parsing, suggestions, exit codes) is
 * common to all. */
#ifndef TOOLS_COMMAND_H
#define TOOLS_COMMAND_H

#include <limits.h>
#include <stdbool.h>

#include "out.h"

enum {
    STATUS_GOOD = 0,
    STATUS_FAULT = 1, /* the file or the system is at fault */
    STATUS_USAGE = 2
};

#define OPTIONS_MAX 16
#define LIST_MAX    256 /* characters of a list that is given in pieces */
#define ANY_NUMBER  INT_MAX
#define GIVEN_MAX   256 /* times that repeated options are given, together */

typedef struct option_row {
    const char *name;  /* without dashes */
    char letter;       /* or 0 */
    const char *value; /* what help calls its value; NULL: it takes none */
    const char *help;
    bool is_list; /* given again, it adds to what it has, with a comma; one
                     option of a command may be so */
    bool is_repeated; /* each time counts by itself: opts_given */
} option_row;

/* One time that an option is_repeated was given. */
typedef struct given_option {
    int option;
    const char *value;
} given_option;

typedef struct args {
    const struct command_row *command;
    output *out; /* standard output */
    /* By place in the command's table; NULL where the option is not given. */
    const char *values[OPTIONS_MAX];
    char **operands; /* in main's argv */
    int n_operands;
    char list[LIST_MAX]; /* where the list option's value is put together */
    given_option given[GIVEN_MAX];
    int n_given;
} args;

typedef struct command_row {
    const char *name;
    const char *operands; /* as usage shows them */
    const char *summary;  /* one line */
    const char *about;    /* the rest of --help */
    int min_operands;
    int max_operands;
    const option_row *options; /* ends with a name of NULL */
    int (*run)(const args *a);
} command_row;

extern const command_row command_info;
extern const command_row command_kv;
extern const command_row command_tensors;
extern const command_row command_dump;
extern const command_row command_check;
extern const command_row command_upgrade;
extern const command_row command_diff;
extern const command_row command_edit;
extern const command_row command_split;
extern const command_row command_merge;
extern const command_row command_sample;
extern const command_row command_bench;
/* With libggld-uv only. */
extern const command_row command_convert;
extern const command_row command_quantize;
extern const command_row command_warm;
extern const command_row command_residency;
extern const command_row command_stream;
extern const command_row command_window;
extern const command_row command_hash;
extern const command_row command_verify;
extern const command_row command_sign;

#endif /* TOOLS_COMMAND_H */
