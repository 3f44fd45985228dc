#!/usr/bin/env python3
"""Images that need not fit into memory.

    python3 compiler/tests/size.py DIDEROTC [DIRECTORY]

1. A window of 256³ samples in a file of 1024 × 1024 × 2048 is probed with a limit on memory below the size of the file, first with nothing
   of the file in memory and then again: mapped, and in the other byte order, so that it is loaded on demand.
2. An array of 512³ samples in chunks of 64³ is probed everywhere, with a cache for an eighth of it and with one for all of it.
3. Where this process may make control groups, both are repeated in one with little memory.

The outputs are compared, bit by bit, with those of a small file that is read, or of the same array that is read. Needs 6 GiB of disk: the large file
has contents in the slices around the window, and holes elsewhere.
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


EVERYWHERE = """#version 2.0
input image(3)[] img;
field#1(3)[] F = ctmr ⊛ img;
strand ray (int i, int j) {
    output vec2 found = [0, 0];
    int n = 0;
    update {
        vec3 x = [0.5*n + 1, 2.0*i + 1, 2.0*j + 1];
        found = [max(found[0], F(x)), found[1] + ∇F(x)[2]];
        n += 1;
        if (n == 1018) { stabilize; }
    }
}
create_array { ray(i, j) | j in 0..253, i in 0..253 }
"""

ARRAY = 512
CHUNK = 64


def header(sizes, origin, endian="little"):
    words = " ".join(map(str, sizes))
    place = ",".join(map(str, origin))
    return (
        f"NRRD0004\ntype: float\ndimension: 3\nsizes: {words}\nspace dimension: 3\nspace directions: (1,0,0) (0,1,0) (0,0,1)\n"
        f"space origin: ({place})\nencoding: raw\nendian: {endian}\n\n"
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


def forget(file):
    """Writes a file to the disk, and lets the system forget its pages."""
    file.flush()
    os.fsync(file.fileno())
    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def write(directory, pattern):
    """The large file in both byte orders, and the window of it."""
    large, small = os.path.join(directory, "large.nrrd"), os.path.join(directory, "window.nrrd")
    swapped_file = os.path.join(directory, "swapped.nrrd")
    swapped = array.array("f", pattern)
    swapped.byteswap()
    swapped = swapped.tobytes()
    low = [n - MARGIN for n in CORNER]
    edge = EDGE + 2 * MARGIN
    with open(large, "wb") as whole, open(swapped_file, "wb") as other, open(small, "wb") as window:
        heads = [(whole, header(SIZES, (0, 0, 0)), pattern), (other, header(SIZES, (0, 0, 0), "big"), swapped)]
        for file, head, _ in heads:
            file.write(head)
        window.write(header((edge,) * 3, low))
        for z in range(low[2], low[2] + edge):
            turn = 4 * (z * 7919 % (SIZES[0] * SIZES[1]))
            slice_ = pattern[turn:] + pattern[:turn]
            for file, head, numbers in heads:
                file.seek(len(head) + z * len(pattern))
                file.write(numbers[turn:])
                file.write(numbers[:turn])
            for y in range(low[1], low[1] + edge):
                start = 4 * (y * SIZES[0] + low[0])
                window.write(slice_[start : start + 4 * edge])
        for file, head, _ in heads:
            file.truncate(len(head) + SIZES[2] * len(pattern))
            forget(file)
    return large, swapped_file, small


def write_chunks(directory, pattern):
    """An array in chunks, as Zarr has it."""
    path = os.path.join(directory, "chunks.zarr")
    os.mkdir(path)
    with open(os.path.join(path, ".zarray"), "w", encoding="utf-8") as file:
        sizes, chunks = [ARRAY] * 3, [CHUNK] * 3
        file.write(
            f'{{"zarr_format": 2, "shape": {sizes}, "chunks": {chunks}, "dtype": "<f4", '
            '"compressor": null, "fill_value": 0, "order": "C", "filters": null}'
        )
    row = 4 * CHUNK
    for number in range((ARRAY // CHUNK) ** 3):
        k, j, i = number // 64, number // 8 % 8, number % 8
        starts = ((number * 104729 + n * 7919) % (SIZES[0] * SIZES[1] - CHUNK) * 4 for n in range(CHUNK * CHUNK))
        with open(os.path.join(path, f"{k}.{j}.{i}"), "wb") as file:
            file.write(b"".join(pattern[start : start + row] for start in starts))
            forget(file)
    return path


class Group:
    """A control group with a limit on memory, or nothing where there can be none."""

    def __init__(self, bytes_):
        self.path = None
        for root, limit in (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")):
            path = os.path.join(root, f"diderot-size-{os.getpid()}")
            try:
                os.mkdir(path)
                with open(os.path.join(path, limit), "w") as file:
                    file.write(str(bytes_))
                self.path = path
                return
            except OSError:
                if os.path.isdir(path):
                    os.rmdir(path)

    def enter(self):
        with open(os.path.join(self.path, "cgroup.procs"), "w") as file:
            file.write(str(os.getpid()))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.path:
            os.rmdir(self.path)


MIB = 1 << 20


def run(diderotc, directory, program, words, group=None):
    """The output of a run, its seconds, the most bytes resident and the bytes read."""
    began = time.monotonic()
    enter = group.enter if group else None
    process = subprocess.Popen(
        [diderotc, program, "-o", "out.nrrd", *words], cwd=directory, preexec_fn=enter, stderr=subprocess.PIPE
    )
    _, status, used = os.wait4(process.pid, 0)
    seconds = time.monotonic() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{words}: exit status {process.returncode}: {process.stderr.read().decode()}")
    with open(os.path.join(directory, "out.nrrd"), "rb") as file:
        data = file.read().split(b"\n\n", 1)[1]
    return data, seconds, used.ru_maxrss * 1024, used.ru_inblock * 512


def compare(what, wanted, measured, most=None):
    found, seconds, resident, read = measured
    print(f"{what}: {seconds:.2f} s, {resident / MIB:.0f} MiB resident, {read / MIB:.0f} MiB read", flush=True)
    if found != wanted:
        sys.exit("the outputs differ from those of samples that are read")
    if most and resident > most:
        sys.exit(f"more than {most / MIB:.0f} MiB were resident")


def main():
    diderotc = os.path.abspath(sys.argv[1])
    place = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else None
    with tempfile.TemporaryDirectory(dir=place) as directory:
        for name, text in (("p.diderot", PROGRAM), ("q.diderot", EVERYWHERE)):
            with open(os.path.join(directory, name), "w", encoding="utf-8") as file:
                file.write(text)
        pattern = contents()
        large, swapped, small = write(directory, pattern)
        size = os.path.getsize(large)
        window, *_ = run(diderotc, directory, "p.diderot", ["-img", small, "--map", "never"])
        for file, way in ((large, "mapped"), (swapped, "on demand")):
            for state in ("cold", "warm"):
                words = ["-img", file, "--memory", "2GB"]
                measured = run(diderotc, directory, "p.diderot", words)
                compare(f"{size / (1 << 30):.1f} GiB, window of {EDGE}³, {way}, {state}", window, measured, size / 4)
        chunks = write_chunks(directory, pattern)
        whole = 4 * ARRAY**3
        words = ["-img", chunks, "--map", "never"]
        everywhere, *rest = run(diderotc, directory, "q.diderot", words)
        compare("512³ in chunks of 64³, read", everywhere, (everywhere, *rest))
        for cache in (whole, whole // 8):
            words = ["-img", chunks, "--map", "always", "--cache", f"{cache // MIB}M"]
            measured = run(diderotc, directory, "q.diderot", words)
            compare(f"512³ in chunks of 64³, {cache / MIB:.0f} MiB kept", everywhere, measured, cache + 300 * MIB)
        with Group(400 * MIB) as group:
            if group.path is None:
                print("no control group can be made: memory pressure was not tried")
                return
            for file, way in ((large, "mapped"), (swapped, "on demand")):
                measured = run(diderotc, directory, "p.diderot", ["-img", file], group)
                compare(f"window in a group of 400 MiB, {way}", window, measured)
            measured = run(diderotc, directory, "q.diderot", ["-img", chunks], group)
            compare("chunks in a group of 400 MiB", everywhere, measured)
        print("all outputs are those of samples that are read, to the bit")


if __name__ == "__main__":
    main()
