"""Writes the packages below a folder to standard output, so that they can be kept.

The format is that of packer.cjs. The modules are compiled first, for the folder that they will be imported from, and so
that the result stays valid whatever the times of the sources are: the folder will be read-only, and each run would
otherwise compile them again.
"""

import compileall
import importlib.metadata
import json
import os
import py_compile
import stat
import sys

root, shown_as = os.path.realpath(sys.argv[1]), sys.argv[2]
out = sys.stdout.buffer
files = 0


def write_line(value):
    out.write(json.dumps(value).encode() + b"\n")


def write_file(path, relative):
    global files
    with open(path, "rb") as source:
        status = os.fstat(source.fileno())
        write_line({"path": relative, "size": status.st_size, "executable": status.st_mode & 0o111 != 0})
        left = status.st_size
        while left > 0:
            piece = source.read(min(left, 1 << 20))
            if not piece:
                raise ValueError(relative + " became shorter")
            out.write(piece)
            left -= len(piece)
    files += 1


def is_file_of_ours(link):
    target = os.path.realpath(link)
    return target.startswith(root + os.sep) and os.path.isfile(target)


def walk(folder, prefix):
    for entry in os.scandir(folder):
        relative = prefix + entry.name
        if entry.is_dir(follow_symlinks=False):
            walk(entry.path, relative + "/")
        elif stat.S_ISREG(entry.stat(follow_symlinks=False).st_mode) or is_file_of_ours(entry.path):
            write_file(entry.path, relative)


compileall.compile_dir(
    root,
    quiet=2,
    stripdir=root,
    prependdir=shown_as,
    invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
)
found = importlib.metadata.distributions(path=[root])
write_line({"packages": sorted((each.metadata["Name"], each.version) for each in found)})
walk(root, "")
write_line({"files": files})
out.flush()
