#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes grids.inc: the codebooks of the IQ types as C tables of bytes.

usage: grids.py FOLDER > grids.inc    (FOLDER has iq2xxs.bin and so on)
"""
import sys

TABLES = [("iq2xxs", 8), ("iq2xs", 8), ("iq2s", 8), ("iq3xxs", 4),
          ("iq3s", 4), ("iq1s", 8)]


def lines(data, row, width=79):
    line = ""
    for at in range(0, len(data), row):
        numbers = [b - 256 if b > 127 else b for b in data[at:at + row]]
        item = "{%s}," % ",".join(map(str, numbers))
        if len(line) + len(item) > width:
            yield line
            line = ""
        line += item
    yield line


print("/* SPDX-License-Identifier: MIT */")
print("/* Codebooks, made by grids.py. clang-format off */")
for name, row in TABLES:
    with open("%s/%s.bin" % (sys.argv[1], name), "rb") as f:
        data = f.read()
    print("TABLE(%s, %d, %d,\n%s)" %
          (name, len(data) // row, row, "\n".join(lines(data, row))))
