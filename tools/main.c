/* SPDX-License-Identifier: MIT */
/* ggld: the table of commands, and what is said before one of them runs and
 * after it has run. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <ggld/guard.h>
#include <ggld/version.h>

#include "command.h"
#include "halfmerged.h"
#include "nearest.h"
#include "opts.h"
#include "report.h"
#include "stop.h"

static const command_row *const commands[] = {
    &command_info,    &command_kv,       &command_tensors, &command_dump,
    &command_check,   &command_upgrade,  &command_diff,    &command_edit,
    &command_split,   &command_merge,    &command_sample,  &command_bench,
#ifdef GGLD_HAVE_UV
    &command_convert, &command_quantize, &command_warm,    &command_residency,
    &command_stream,  &command_window,   &command_hash,    &command_verify,
    &command_sign,
#endif
};
#define N_COMMANDS (sizeof commands / sizeof commands[0])

static const command_row *command_find(const char *name)
{
    for (size_t i = 0; i < N_COMMANDS; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

static void usage(output *o)
{
    out_text(o, "usage: ggld COMMAND [OPTION]... OPERAND...\n\n"
                "Looks into GGUF model files, checks them and makes them.\n\n"
                "Commands:\n");
    for (size_t i = 0; i < N_COMMANDS; i++)
        out_printf(o, "  %-10s%s\n", commands[i]->name, commands[i]->summary);
    out_text(o, "\n'ggld COMMAND --help' tells more of one; 'ggld --version' "
                "the version.\n"
                "Exit status: 0 good, 1 the file or the system is at fault, "
                "2 usage;\nof 'diff': 0 same, 1 different, 2 trouble.\n");
}

static void version(output *o)
{
    uint32_t v = ggld_version();

    out_printf(o, "ggld %u.%u.%u\n", (unsigned)(v >> 16),
               (unsigned)(v >> 8 & 0xFF), (unsigned)(v & 0xFF));
}

/* Nothing was asked for: that is no result, so it goes where diagnostics go. */
static int no_command(void)
{
    output o;

    out_init(&o, STDERR_FILENO);
    usage(&o);
    (void)out_flush(&o);
    return STATUS_USAGE;
}

static int unknown_command(args *a, const char *word)
{
    nearest near = nearest_begin(word);

    for (size_t i = 0; i < N_COMMANDS; i++)
        nearest_offer(&near, commands[i]->name, strlen(commands[i]->name));
    if (near.word[0] != '\0')
        return report_usage(a, "unknown command '%s' (did you mean '%s'?)",
                            word, near.word);
    return report_usage(a, "unknown command '%s'", word);
}

/* An option before the command: what it would look like behind it. */
static int misplaced_option(args *a, int argc, char **argv)
{
    for (int i = 2; i < argc; i++)
        if (command_find(argv[i]) != NULL)
            return report_usage(a,
                                "option '%s' stands before the command: "
                                "'ggld %s %s ...'",
                                argv[1], argv[i], argv[1]);
    return report_usage(a, "unknown option '%s'", argv[1]);
}

/* Merges that were interrupted where the command has looked. That of merges
 * knows best itself. */
static int run_command(const args *a)
{
    int status = a->command->run(a);

    for (int i = 0; i < a->n_operands && a->command != &command_merge; i++)
        if (halfmerged_note(a->operands[i]))
            break;
    return status;
}

static int run(args *a, int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : NULL;
    bool help = false;

    if (word == NULL)
        return no_command();
    if (strcmp(word, "help") == 0 && argc > 2) {
        word = argv[2];
        help = true;
    } else if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 ||
               strcmp(word, "help") == 0) {
        usage(a->out);
        return STATUS_GOOD;
    } else if (strcmp(word, "--version") == 0) {
        version(a->out);
        return STATUS_GOOD;
    }
    const command_row *command = command_find(word);
    if (command == NULL && word[0] == '-' && !help)
        return misplaced_option(a, argc, argv);
    if (command == NULL)
        return unknown_command(a, word);
    a->command = command;
    if (!help) {
        int status = opts_parse(a, argv + 2, argc - 2, &help);
        if (status != STATUS_GOOD)
            return status;
    }
    if (!help)
        return run_command(a);
    opts_help(a->out, command);
    return STATUS_GOOD;
}

/* Who read has seen enough, as `head` has: the command ends as others do, by
 * the signal and without a word. */
static void end_by_pipe(void)
{
    (void)signal(SIGPIPE, SIG_DFL);
    (void)raise(SIGPIPE);
}

/* Standard descriptors that the caller has closed would become those of the
 * next files, and messages would be written to them; libuv ends a program that
 * closes one. They are kept by what can be neither read nor written, so that
 * they stay closed to everybody who tries. */
static void keep_standard_fds(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            /* The lowest that is free. */
            /* cppcheck-suppress leakReturnValNotUsed; it stays open */
            (void)!open("/", O_PATH);
}

/* A set has a descriptor for each shard. Where more than the limit are allowed,
 * it is only there for programs that use select. */
static void allow_files(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
        limit.rlim_cur == limit.rlim_max)
        return;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

/* Of the stack: more than any command's way to its deepest call takes. */
#define STACK_BYTES ((size_t)512 << 10)

/* Not a part of its caller, whose calls would begin below the room. */
__attribute__((noinline)) static void stack_touch(void)
{
    volatile char room[STACK_BYTES];
    for (size_t i = STACK_BYTES; i > 0; i -= 1024)
        room[i - 1] = 0;
    (void)room[0];
}

/* Where addresses are limited, a stack that can't grow ends a process by a
 * signal, in the middle of saying that there is no memory: so it grows now. */
static bool stack_reserve(void)
{
    static const char words[] = "ggld: no memory for a stack\n";
    void *room = mmap(NULL, 2 * STACK_BYTES, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (room == MAP_FAILED) {
        (void)!write(STDERR_FILENO, words, sizeof words - 1);
        return false;
    }
    (void)munmap(room, 2 * STACK_BYTES);
    stack_touch();
    return true;
}

static int run_all(int argc, char **argv)
{
    output o;
    args a = { .out = &o };
    ggld_error err;

    keep_standard_fds();
    allow_files();

    /* A closed pipe and a limit of file size are errors that are met where they
     * come up, like a full disk. */
    bool quiet = signal(SIGPIPE, SIG_IGN) != SIG_IGN;
    (void)signal(SIGXFSZ, SIG_IGN);
    out_init(&o, STDOUT_FILENO);
    /* So is a file that is cut while it is read. */
    int status = ggld_guard_install(&err) == GGLD_OK
                     ? run(&a, argc, argv)
                     : report_error("ggld", &err);
    if (out_flush(&o) == EPIPE && quiet)
        end_by_pipe();
    if (o.spoiled && status == STATUS_GOOD)
        status = STATUS_FAULT;
    if (o.sys_errno != 0) {
        report_errno("standard output", o.sys_errno, "cannot write");
        status = status == STATUS_GOOD ? STATUS_FAULT : status;
    }
    stop_end();
    return status;
}

int main(int argc, char **argv)
{
    return stack_reserve() ? run_all(argc, argv) : STATUS_FAULT;
}
