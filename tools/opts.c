/* SPDX-License-Identifier: MIT */
/* See opts.h. getopt_long is not used: it takes abbreviations, whose meaning
 * changes when options are added, prints its own messages and keeps state. */
#include "opts.h"

#include <stdio.h>
#include <string.h>

#include "nearest.h"
#include "report.h"

/* word begins with "--" and a name of name_len bytes. */
static int report_unknown(const args *a, const char *word, size_t name_len)
{
    char name[NEAREST_MAX];

    snprintf(name, sizeof name, "%.*s", (int)name_len, word + 2);
    nearest near = nearest_begin(name);
    for (const option_row *row = a->command->options; row->name != NULL; row++)
        nearest_offer(&near, row->name, strlen(row->name));
    if (near.word[0] != '\0')
        return report_usage(a, "unknown option '--%s' (did you mean '--%s'?)",
                            name, near.word);
    return report_usage(a, "unknown option '--%s'", name);
}

static int set_value(args *a, int option, const char *value)
{
    const option_row *row = &a->command->options[option];
    if (row->is_repeated) {
        if (a->n_given == GIVEN_MAX)
            return report_usage(a, "option '--%s' is given too often: %d "
                                "values are taken",
                                row->name, GIVEN_MAX);
        a->given[a->n_given++] = (given_option){ option, value };
    }
    if (!row->is_list) {
        a->values[option] = value;
        return STATUS_GOOD;
    }
    size_t used = strlen(a->list);
    int n = snprintf(a->list + used, sizeof a->list - used, "%s%s",
                     used != 0 ? "," : "", value);
    if (n < 0 || (size_t)n >= sizeof a->list - used)
        return report_usage(a, "option '--%s' is too long", row->name);
    a->values[option] = a->list;
    return STATUS_GOOD;
}

/* One word that starts with "--" and more. */
static int parse_long(args *a, char *const *words, int n_words, int *at)
{
    const option_row *options = a->command->options;
    const char *name = words[*at] + 2;
    size_t len = strcspn(name, "=");
    bool joined = name[len] == '=';

    for (int i = 0; options[i].name != NULL; i++) {
        if (strlen(options[i].name) != len ||
            strncmp(options[i].name, name, len) != 0)
            continue;
        if (options[i].value == NULL && joined)
            return report_usage(a, "option '--%s' takes no value",
                                options[i].name);
        if (options[i].value != NULL && !joined && *at + 1 >= n_words)
            return report_usage(a, "option '--%s' needs a value: %s",
                                options[i].name, options[i].value);
        return set_value(a, i,
                         options[i].value == NULL ? ""
                         : joined                 ? name + len + 1
                                                  : words[++*at]);
    }
    return report_unknown(a, words[*at], len);
}

/* One word of "-" and letters; the last may take the rest, or the next word,
 * as its value. */
static int parse_short(args *a, char *const *words, int n_words, int *at)
{
    const option_row *options = a->command->options;

    for (const char *p = words[*at] + 1; *p != '\0'; p++) {
        int i = 0;
        while (options[i].name != NULL && options[i].letter != *p)
            i++;
        if (options[i].name == NULL)
            return report_usage(a, "unknown option '%s'", words[*at]);
        if (options[i].value == NULL) {
            a->values[i] = "";
            continue;
        }
        if (p[1] == '\0' && *at + 1 >= n_words)
            return report_usage(a, "option '-%c' needs a value: %s", *p,
                                options[i].value);
        return set_value(a, i, p[1] != '\0' ? p + 1 : words[++*at]);
    }
    return STATUS_GOOD;
}

static int check_count(const args *a)
{
    if (a->n_operands < a->command->min_operands)
        return report_usage(a, "operand missing: ggld %s %s", a->command->name,
                            a->command->operands);
    return STATUS_GOOD;
}

int opts_parse(args *a, char **words, int n_words, bool *help)
{
    bool options_over = false;
    int status = STATUS_GOOD;

    for (int i = 0; i < n_words && !options_over; i++) {
        options_over = strcmp(words[i], "--") == 0;
        *help = *help || strcmp(words[i], "--help") == 0 ||
                strcmp(words[i], "-h") == 0;
    }
    if (*help)
        return STATUS_GOOD;
    options_over = false;
    a->operands = words; /* there are never more of them than words read */
    for (int i = 0; i < n_words && status == STATUS_GOOD; i++) {
        char *word = words[i];
        if (!options_over && strcmp(word, "--") == 0)
            options_over = true;
        else if (!options_over && word[0] == '-' && word[1] == '-')
            status = parse_long(a, words, n_words, &i);
        else if (!options_over && word[0] == '-' && word[1] != '\0')
            status = parse_short(a, words, n_words, &i);
        else if (a->n_operands < a->command->max_operands)
            a->operands[a->n_operands++] = word;
        else
            status = report_usage(a, "operand too many: '%s'", word);
    }
    return status == STATUS_GOOD ? check_count(a) : status;
}

static void help_option(output *o, const option_row *option)
{
    char left[64];
    int n = snprintf(
        left, sizeof left, "%c%c%s--%s%s%s", option->letter ? '-' : ' ',
        option->letter ? option->letter : ' ', option->letter ? ", " : "  ",
        option->name, option->value ? " " : "",
        option->value ? option->value : "");

    out_printf(o, "  %s", left);
    out_pad(o, n < 22 ? (size_t)(22 - n) : 0);
    out_printf(o, "  %s\n", option->help);
}

void opts_help(output *o, const command_row *command)
{
    static const option_row help = { "help", 'h', NULL, "print this help" };

    out_printf(o, "usage: ggld %s [OPTION]... %s\n\n%s.\n", command->name,
               command->operands, command->summary);
    out_text(o, command->about);
    out_text(o, "\nOptions:\n");
    for (const option_row *row = command->options; row->name != NULL; row++)
        help_option(o, row);
    help_option(o, &help);
    out_printf(o, "\nMore: man ggld-%s\n", command->name);
}

const char *opts_given(const args *a, int option, int *at)
{
    while (*at < a->n_given) {
        const given_option *given = &a->given[(*at)++];
        if (given->option == option)
            return given->value;
    }
    return NULL;
}
