# SPDX-License-Identifier: MIT
# Checks a ggsum by what ggld-ggsum(5) says and nothing of ggld's but where
# tensors lie: ggsum.py MODEL GGSUM <(ggld tensors --json MODEL). Says what is
# wrong and exits with 1, or prints the root.
import ctypes
import hashlib
import json
import re
import sys
import uuid

xxhash = ctypes.CDLL("libxxhash.so.0")
NAMESPACE = uuid.UUID("ef001206-dadc-5f6d-a15f-3359e577d4e5").bytes


def xxh(function, *seed):
    def digest(data):
        function.restype = ctypes.c_uint64
        size = ctypes.c_size_t(len(data))
        return function(data, size, *seed).to_bytes(8, "big")
    return digest


def uuid5(data):
    sha1 = hashlib.sha1(NAMESPACE + data).digest()
    return uuid.UUID(bytes=sha1[:16], version=5).bytes


ALGOS = {
    "xxh64": xxh(xxhash.XXH64, ctypes.c_uint64(0)),
    "xxh3": xxh(xxhash.XXH3_64bits),
    "sha1": lambda data: hashlib.sha1(data).digest(),
    "sha256": lambda data: hashlib.sha256(data).digest(),
    "uuid": uuid5,
}
BEST = ["sha256", "sha1", "xxh3", "xxh64"]


def must(good, *what):
    if not good:
        sys.exit("ggsum.py: " + " ".join(map(str, what)))


def check(what, data, words):
    seen = set()
    for word in words:
        algo, digits = word.split(":")
        must(algo not in seen, what, algo, "twice")
        seen.add(algo)
        is_ = ALGOS[algo](data).hex()
        must(digits.replace("-", "") == is_, what, word, "is", is_)


def plain(name):
    return b"" if name == "%" else re.sub(
        rb"%([0-9A-F]{2})", lambda m: bytes([int(m[1], 16)]), name.encode())


model, text = (open(path, "rb").read() for path in sys.argv[1:3])
tensors = json.load(open(sys.argv[3]))["tensors"]
must(text.endswith(b"\n") and b"\r" not in text, "line ends")
body = text[:text.rindex(b"\n", 0, -1) + 1]
lines = iter([line.split(" ") for line in text.decode().split("\n")[:-1]])
word = next(lines)


def line(keyword, optional=False):
    """The words of that line, or None."""
    global word
    if optional and word[0] != keyword:
        return None
    must(word[0] == keyword, "expected", keyword, "got", word)
    words, word = word[1:], next(lines, [None])
    return words


must(line("ggsum") == ["1"], "version")
line("file")
must(int(line("size")[0]) == len(model), "size")
check("whole", model, line("whole", True) or [])
metadata = line("metadata")
n_metadata = int(metadata[0])
check("metadata", model[:n_metadata], metadata[1:])
runs = [model[t["file_offset_bytes"]:t["file_offset_bytes"] + t["size_bytes"]]
        for t in tensors]
check("together", b"".join(runs), line("together", True) or [])
count = line("tensors", True)
for t, run in zip(tensors, runs) if count else []:
    name, type_, shape, *digests = line("tensor")
    must(plain(name) == t["name"].encode(), "name", name)
    must(type_ == t["type"], name, type_)
    must(shape == ("x".join(map(str, t["dims"])) or "scalar"), name, shape)
    check(name, run, digests)
must(not count or int(count[0]) == len(tensors), "count of tensors")
chunks = line("chunks", True)
if chunks:
    algo, size, n = chunks[0], int(chunks[1]), int(chunks[2])
    data = model[n_metadata:]
    pieces = [data[at:at + size] for at in range(0, len(data), size)]
    must(n == len(pieces), "chunks", n, len(pieces))
    level = []
    for i, piece in enumerate(pieces):
        level.append(bytes.fromhex(word[0]))
        must(level[-1] == ALGOS[algo](piece), "chunk", i, word)
        word = next(lines)
    while True: # at least one level above the chunks
        level = [hashlib.sha256(b"".join(level[at:at + 256])).digest()
                 for at in range(0, len(level) or 1, 256)]
        if len(level) == 1:
            break
    best = min(metadata[1:], key=lambda d: BEST.index(d.split(":")[0]))
    root = hashlib.sha256(
        f"ggsum root 1\nmetadata {n_metadata} {best}\ndata {len(data)}\n"
        f"chunks {algo} {size} {n}\ntop sha256:{level[0].hex()}\n".encode())
    must(line("root") == ["sha256:" + root.hexdigest()], "root")
    print(root.hexdigest())
must(line("end") == ["sha256:" + hashlib.sha256(body).hexdigest()], "end")
must(word == [None], "more text")
