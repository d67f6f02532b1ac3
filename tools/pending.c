/* SPDX-License-Identifier: MIT */
/* See pending.h. */
#include "pending.h"

#include "report.h"

const char *pending_name(ggld_edit_trace trace)
{
    static const char *const names[] = { "clean", "untouched", "halfway",
                                         "done",  "shifted",   "strange",
                                         "rest" };
    return names[trace];
}

ggld_edit_trace pending_of(const char *path, ggld_error *why)
{
    ggld_edit_trace trace = GGLD_EDIT_CLEAN;

    if (ggld_edit_pending(path, &trace, why, NULL) != GGLD_OK)
        return GGLD_EDIT_CLEAN;
    return trace;
}

bool pending_is_between(ggld_edit_trace trace)
{
    return trace == GGLD_EDIT_HALFWAY || trace == GGLD_EDIT_SHIFTED;
}

static const char *ending(ggld_edit_trace trace)
{
    switch (trace) {
    case GGLD_EDIT_UNTOUCHED:
        return "an edit in place had been interrupted before it changed "
               "anything; its journal is removed";
    case GGLD_EDIT_REST:
        return "an edit in place had been interrupted before it changed "
               "anything; the rest of its journal is removed";
    case GGLD_EDIT_HALFWAY:
        return "an edit in place had been interrupted halfway; it is finished";
    case GGLD_EDIT_SHIFTED:
        return "an edit in place had been interrupted while data was moved; it "
               "is undone";
    default:
        return "an edit in place had been interrupted when all was written; its "
               "journal is removed";
    }
}

int pending_end(const char *path, bool force, output *o)
{
    ggld_edit_trace found;
    ggld_error err;

    if (ggld_edit_recover(path, force ? GGLD_EDIT_FORCE : 0, &found, &err) !=
        GGLD_OK) {
        /* Who does not edit in place need not be able to remove it. */
        if (o == NULL && pending_of(path, NULL) == GGLD_EDIT_REST)
            return STATUS_GOOD;
        return report_error(path, &err);
    }
    if (found != GGLD_EDIT_CLEAN && o == NULL)
        report_note(path, "%s", ending(found));
    else if (o != NULL)
        out_printf(o, "%s\n",
                   found != GGLD_EDIT_CLEAN ? ending(found)
                                            : "nothing to recover");
    return STATUS_GOOD;
}
