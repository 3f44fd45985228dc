#!/usr/bin/env python3
"""A mesh of 10 million tetrahedra in 2 GB.

    python3 compiler/tests/mesh_size.py DIDEROTC [DIRECTORY]

Writes a box of 118 × 119 × 119 cubes, six tetrahedra each, with a linear function on its points, as raw appended arrays with integers of 32 and of
64 bits. A program probes value and gradient at 10,000 positions; both are known. The peak of the memory of its process is measured.
Needs numpy, and 1 GB of disk.
"""

import os
import subprocess
import sys
import tempfile
import time

import numpy as np

EDGES = (118, 119, 119)
MOST = 2_000_000_000
SLOPES = (1.0, 2.0, -1.0)

PROGRAM = """#version 2.0
input fem#1(3)[] g;
field#1(3)[] F = toField(g);
strand S (int i, int j) {
    vec3 x = [i + 0.37, j + 0.41, 53.0]/100.0;
    output tensor[4] found = [F(x), ∇F(x)[0], ∇F(x)[1], ∇F(x)[2]];
    update { stabilize; }
}
create_array { S(i, j) | j in 0..99, i in 0..99 }
"""


def box(path, ints):
    """Writes the file; inner points are moved, so that no cell is like another."""
    lines = [np.arange(edge + 1) / edge for edge in EDGES]
    z, y, x = np.meshgrid(*lines[::-1], indexing="ij")
    points = np.stack([x.ravel(), y.ravel(), z.ravel()], axis=1)
    inner = np.all((points > 0) & (points < 1), axis=1)
    points[inner] += (np.random.default_rng(1).random((inner.sum(), 3)) - 0.5) * 0.3 / max(EDGES)
    points = points.astype("<f4")
    values = points @ np.array(SLOPES, "<f4")
    k, j, i = np.meshgrid(*map(np.arange, EDGES[::-1]), indexing="ij")
    steps = [1, EDGES[0] + 1, (EDGES[0] + 1) * (EDGES[1] + 1)]
    first = (k * steps[2] + j * steps[1] + i).ravel()
    kind = {"Int32": "<i4", "Int64": "<i8"}[ints]
    cells = np.empty((first.size, 6, 4), kind)
    for n, (a, b) in enumerate([(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)]):
        cells[:, n, 0] = first
        cells[:, n, 1] = first + steps[a]
        cells[:, n, 2] = first + steps[a] + steps[b]
        cells[:, n, 3] = first + sum(steps)
    count = 6 * first.size
    ends = np.arange(4, 4 * count + 1, 4, dtype=kind)
    arrays = [values, points, cells, ends, np.full(count, 10, "u1")]
    begins = np.cumsum([0] + [array.nbytes + 8 for array in arrays])

    def tag(n, name, kind, more=""):
        return f'<DataArray type="{kind}" Name="{name}" {more}format="appended" offset="{begins[n]}"/>'

    with open(path, "wb") as file:
        file.write(
            f'<VTKFile type="UnstructuredGrid" version="1.0" byte_order="LittleEndian" header_type="UInt64">\n<UnstructuredGrid>'
            f'<Piece NumberOfPoints="{len(points)}" NumberOfCells="{count}">\n<PointData>{tag(0, "T", "Float32")}</PointData>\n'
            f'<Points>{tag(1, "Points", "Float32", "NumberOfComponents=" + chr(34) + "3" + chr(34) + " ")}</Points>\n'
            f'<Cells>{tag(2, "connectivity", ints)}{tag(3, "offsets", ints)}{tag(4, "types", "UInt8")}</Cells>\n'
            f'</Piece></UnstructuredGrid>\n<AppendedData encoding="raw">_'.encode()
        )
        for array in arrays:
            file.write(np.uint64(array.nbytes).tobytes())
            array.tofile(file)
        file.write(b"</AppendedData></VTKFile>\n")
    return count


def main():
    diderotc = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory(dir=sys.argv[2] if len(sys.argv) > 2 else None) as directory:
        program, mesh, out = (os.path.join(directory, name) for name in ("p.diderot", "box.vtu", "out.npy"))
        with open(program, "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        j, i = np.meshgrid(np.arange(100), np.arange(100), indexing="ij")
        value = (SLOPES[0] * (i + 0.37) + SLOPES[1] * (j + 0.41) + SLOPES[2] * 53.0) / 100
        for ints in ("Int32", "Int64"):
            count = box(mesh, ints)
            began = time.monotonic()
            process = subprocess.Popen([diderotc, program, "-g", mesh, "-o", out])
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode != 0:
                sys.exit(f"exit status {process.returncode}")
            peak = used.ru_maxrss * 1024
            print(
                f"{count} tetrahedra, {ints}: {peak / 1e9:.3f} GB, {peak / count:.0f} bytes per cell, "
                f"{time.monotonic() - began:.1f} s, {used.ru_utime + used.ru_stime:.1f} s of processors"
            )
            found = np.load(out)
            wrong = np.abs(found[..., 0] - value).max(), np.abs(found[..., 1:] - SLOPES).max()
            if wrong[0] > 1e-5 or wrong[1] > 1e-3:
                sys.exit(f"values and gradients differ by {wrong}")
            if peak > MOST:
                sys.exit("more than 2 GB")


main()
