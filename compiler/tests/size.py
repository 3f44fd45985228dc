#!/usr/bin/env python3
"""A file that need not fit into memory: a window of 256³ samples in one of 1024 × 1024 × 2048.

    python3 compiler/tests/size.py DIDEROTC [DIRECTORY]

The window is probed with a limit on memory below the size of the file, first with nothing of the file in memory and then again. Its
outputs are compared, bit by bit, with those of the same window in a small file that is read. Needs 2 GiB of disk: the file has
contents in the slices around the window, and holes elsewhere.
"""

import array
import os
import subprocess
import sys
import tempfile
import time

SIZES = (1024, 1024, 2048)
CORNER = (400, 400, 900)
EDGE = 256
# Samples that kernels reach around the window.
MARGIN = 8

PROGRAM = """#version 2.0
input image(3)[] img;
field#2(3)[] F = bspln3 ⊛ img;
strand ray (int i, int j) {
    output vec2 found = [0, 0];
    int n = 0;
    update {
        vec3 x = [400 + 1.0*i, 400 + 1.0*j, 900 + 0.5*n];
        found = [max(found[0], F(x)), found[1] + ∇F(x)[0]];
        n += 1;
        if (n == 511) { stabilize; }
    }
}
create_array { ray(i, j) | j in 0..255, i in 0..255 }
"""


def header(sizes, origin):
    words = " ".join(map(str, sizes))
    place = ",".join(map(str, origin))
    return (
        f"NRRD0004\ntype: float\ndimension: 3\nsizes: {words}\nspace dimension: 3\nspace directions: (1,0,0) (0,1,0) (0,0,1)\n"
        f"space origin: ({place})\nencoding: raw\nendian: little\n\n"
    ).encode()


def contents():
    """The bytes of one slice; others are the same numbers in another order."""
    state, numbers = 1, array.array("f")
    for _ in range(SIZES[0] * SIZES[1]):
        state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
        numbers.append((state >> 8) / 65536)
    if sys.byteorder != "little":
        numbers.byteswap()
    return numbers.tobytes()


def write(directory):
    """The large file and the window of it."""
    pattern = contents()
    large, small = os.path.join(directory, "large.nrrd"), os.path.join(directory, "window.nrrd")
    low = [n - MARGIN for n in CORNER]
    edge = EDGE + 2 * MARGIN
    with open(large, "wb") as whole, open(small, "wb") as window:
        head = header(SIZES, (0, 0, 0))
        whole.write(head)
        window.write(header((edge,) * 3, low))
        for z in range(low[2], low[2] + edge):
            turn = 4 * (z * 7919 % (SIZES[0] * SIZES[1]))
            slice_ = pattern[turn:] + pattern[:turn]
            whole.seek(len(head) + z * len(pattern))
            whole.write(slice_)
            for y in range(low[1], low[1] + edge):
                start = 4 * (y * SIZES[0] + low[0])
                window.write(slice_[start : start + 4 * edge])
        whole.truncate(len(head) + SIZES[2] * len(pattern))
        whole.flush()
        os.fsync(whole.fileno())
        os.posix_fadvise(whole.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return large, small


def run(diderotc, directory, words):
    """The output of a run, its seconds, the most bytes resident and the bytes read."""
    began = time.monotonic()
    process = subprocess.Popen([diderotc, "p.diderot", "-o", "out.nrrd", *words], cwd=directory)
    _, status, used = os.wait4(process.pid, 0)
    seconds = time.monotonic() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{words}: exit status {process.returncode}")
    with open(os.path.join(directory, "out.nrrd"), "rb") as file:
        data = file.read().split(b"\n\n", 1)[1]
    return data, seconds, used.ru_maxrss * 1024, used.ru_inblock * 512


def main():
    diderotc = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory(dir=sys.argv[2] if len(sys.argv) > 2 else None) as directory:
        with open(os.path.join(directory, "p.diderot"), "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        large, small = write(directory)
        size = os.path.getsize(large)
        wanted, *_ = run(diderotc, directory, ["-img", small, "--map", "never"])
        for state in ("cold", "warm"):
            found, seconds, resident, read = run(diderotc, directory, ["-img", large, "--memory", "2GB"])
            mib = 1 << 20
            print(
                f"{size / (1 << 30):.1f} GiB, window of {EDGE}³, {state}: {seconds:.2f} s, "
                f"{resident / mib:.0f} MiB resident, {read / mib:.0f} MiB read"
            )
            if found != wanted:
                sys.exit("the outputs differ from those of the window that is read")
            if resident > size / 4:
                sys.exit("more than a quarter of the file was resident")
        print("the outputs are those of the window that is read, to the bit")


main()
