# What the scripts of this folder share; they source it. They run on Debian 12,
# as root or as a user with sudo, and again when run again, then without a
# network.

if [ -t 1 ]; then
    bold=$'\e[1m' dim=$'\e[2m' plain=$'\e[0m'
else
    bold='' dim='' plain=''
fi

say() {
    printf '\n%s== %s%s\n' "$bold" "$*" "$plain"
}

die() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

# Shows a command and runs it.
show() {
    printf '%s$ %s%s\n' "$dim" "$*" "$plain"
    "$@"
}

# The same, but what the command says is shown only where it fails.
show_quietly() {
    local log rc=0
    log=$(mktemp) || return
    show "$@" </dev/null >"$log" 2>&1 || rc=$?
    [ "$rc" = 0 ] || cat "$log"
    rm -f "$log"
    return "$rc"
}

# Of the libraries and the command.
build_packages=(
    gcc libc6-dev meson ninja-build pkg-config libjson-c-dev
    libuv1-dev liburing-dev libssl-dev libxxhash-dev
)

is_installed() {
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# Installs those of the packages that are missing.
need_packages() {
    local package missing=() root=()
    for package in "$@"; do
        is_installed "$package" || missing+=("$package")
    done
    [ ${#missing[@]} = 0 ] && return 0
    command -v apt-get >/dev/null ||
        die "no apt-get here; the packages of Debian 12 are ${missing[*]}"
    if [ "$(id -u)" != 0 ]; then
        command -v sudo >/dev/null ||
            die "not root, and no sudo here; missing packages: ${missing[*]}"
        root=(sudo)
    fi
    show_quietly "${root[@]}" apt-get update &&
        show_quietly "${root[@]}" env DEBIAN_FRONTEND=noninteractive \
            apt-get -y --no-install-recommends install "${missing[@]}"
}

# Configures a build folder where it is not yet; options of meson follow.
configure() {
    [ -f "$1/build.ninja" ] || show_quietly meson setup "$@"
}

# The library, the command and what else is named, for use rather than tests.
build_release() {
    configure build --buildtype release && show ninja -C build "$@"
}
