# SPDX-License-Identifier: MIT
# Reads sources (paths relative to the root of the tree) and prints a line for
# every #include that goes against the direction of layers. -v existing=FILE
# lists all files of the tree, one a line.

BEGIN {
    may["base"] = " base "
    may["spec"] = may["base"] "spec "
    may["read"] = may["spec"] "read "
    may["write"] = may["spec"] "write "
    may["kern"] = may["spec"] "kern "
    may["lazy"] = may["spec"] "read write kern lazy "
    may["change"] = may["lazy"] "change "
    # Of libggld-uv, which has of libggld what is public, and base/.
    may["export"] = may["base"] "export "
    may["integrity"] = may["base"] "integrity "
    may["jobs"] = may["integrity"] "jobs "
    may["window"] = may["base"] "window "

    n = split("assert complex ctype errno fenv float inttypes iso646 limits " \
              "locale math setjmp signal stdalign stdarg stdatomic stdbool " \
              "stddef stdint stdio stdlib stdnoreturn string tgmath threads " \
              "time uchar wchar wctype", names, " ")
    for (i = 1; i <= n; i++)
        standard[names[i] ".h"] = 1
    while ((getline path < existing) > 0) {
        exists[path] = 1
        sub(/^.*\//, "", path)
        named[path] = 1
    }
}

# "a/b/../c.h" to "a/c.h"
function resolve(path,    parts, n, i, out, used) {
    n = split(path, parts, "/")
    used = 0
    for (i = 1; i <= n; i++) {
        if (parts[i] == ".." && used > 0)
            used--
        else if (parts[i] != ".")
            out[++used] = parts[i]
    }
    path = out[1]
    for (i = 2; i <= used; i++)
        path = path "/" out[i]
    return path
}

function refuse(why) {
    printf "%s:%d: includes %s: %s\n", FILENAME, FNR, shown, why
    bad = 1
}

# A file of the library: its own layer and those below, the public headers,
# and of the system's headers all but those of other libraries.
function check_loader(layer, quoted,    target, other) {
    if (!(layer in may))
        return refuse("folder loader/" layer "/ has no place among the layers")
    if (!quoted) {
        if (name ~ /^ggld\// && !("include/" name in exists))
            refuse("there is no such public header")
        if (name ~ /^(uv|liburing)(\.h$|\/)/ && layer != "jobs")
            refuse("only loader/jobs/ stands on libuv and liburing")
        if (name ~ /^(openssl\/|xxh)/ && layer != "integrity")
            refuse("only loader/integrity/ stands on libraries of hashes")
        if (name == "linux/userfaultfd.h" && layer != "window")
            refuse("only loader/window/ waits for faults")
        if (name ~ /^json-c\// && layer != "integrity" && layer != "export")
            refuse("only integrity/ and export/ stand on json-c")
        return
    }
    target = resolve(dir "/" name)
    if (!(target in exists)) {
        # What the build makes is nowhere in the tree.
        if (name ~ /\// || name in named)
            refuse("it is not beside it, and not ../layer/file")
        return
    }
    split(target, parts, "/")
    other = parts[2]
    if (parts[1] != "loader")
        refuse("the library's files include <ggld/...> and each other")
    else if (index(may[layer], " " other " ") == 0)
        refuse(layer "/ stands on" may[layer] "and not on " other "/")
}

function check_public(quoted) {
    if (quoted && !("include/ggld/" name in exists))
        refuse("public headers include each other by \"x.h\"")
    if (!quoted && !(name in standard))
        refuse("public headers need C's own headers only")
}

# Tools, and tests of the public interface: as an app would.
function check_outside(home, quoted,    target) {
    if (!quoted)
        return
    target = resolve(dir "/" name)
    if (!(target in exists) || index(target, home "/") != 1)
        refuse("only <ggld/...> of the library is for it")
}

/^[ \t]*#[ \t]*include[ \t]*["<]/ {
    shown = $0
    sub(/^[^"<]*/, "", shown)
    sub(/[">][^">]*$/, "", shown)
    quoted = substr(shown, 1, 1) == "\""
    name = substr(shown, 2)
    shown = shown (quoted ? "\"" : ">")
    dir = FILENAME
    sub(/\/[^\/]*$/, "", dir)
    split(FILENAME, parts, "/")
    seen++

    if (parts[1] == "loader")
        check_loader(parts[2], quoted)
    else if (parts[1] == "include")
        check_public(quoted)
    else
        check_outside(parts[1], quoted)
}

END {
    if (seen == 0) {
        print "no #include was found at all"
        bad = 1
    }
    exit bad
}
