"""Fields on a mesh, against VTK's probe filter in the same run: nanoseconds per probe on one thread.

    pip install numpy vtk
    python3 runtime/benches/fem_vtk.py [ROUNDS]

The mesh, the field and the positions are those of the benchmark `fem`, which this script builds and runs before and after every measurement of VTK, so
that what else the machine does meets both. VTK gives the value only, the benchmark value and gradient. The filter is measured as it comes, and with
the three locators of cells that VTK has; of each the best of the rounds counts.
"""

import subprocess
import sys
import time

import numpy
import vtk
from vtk.util.numpy_support import numpy_to_vtk, vtk_to_numpy

CUBES = 32
POINTS = 50_000
MULTIPLIER = 6_364_136_223_846_793_005
PATHS = [(0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 2, 1), (1, 0, 2), (2, 1, 0)]
STEPS = numpy.array([0.6180339887, 0.7548776662, 0.8191725134])


def corners():
    """The corners of the benchmark's mesh: inner ones are moved by up to 15 % of an edge."""
    at = numpy.stack(numpy.meshgrid(*[numpy.arange(CUBES + 1)] * 3, indexing="ij"), -1).reshape(-1, 3)
    seed = ((at[:, 0] * 1009 + at[:, 1]) * 1013 + at[:, 2]).astype(numpy.uint64)
    moved = at.astype(float)
    with numpy.errstate(over="ignore"):
        for axis in range(3):
            seed = seed * numpy.uint64(MULTIPLIER) + numpy.uint64(1)
            unit = (seed >> numpy.uint64(40)).astype(float) / (1 << 24)
            inner = (at[:, axis] > 0) & (at[:, axis] < CUBES)
            moved[:, axis] += numpy.where(inner, 0.3 * unit - 0.15, 0)
    return moved / CUBES


def number(at):
    return (at[..., 0] * (CUBES + 1) + at[..., 1]) * (CUBES + 1) + at[..., 2]


def tetrahedra():
    low = numpy.stack(numpy.meshgrid(*[numpy.arange(CUBES)] * 3, indexing="ij"), -1).reshape(-1, 3)
    cells = []
    for path in PATHS:
        at, nodes = low.copy(), [number(low)]
        for axis in path:
            at[:, axis] += 1
            nodes.append(number(at))
        cells.append(numpy.stack(nodes, 1))
    cells = numpy.concatenate(cells)
    # VTK wants them all turned one way.
    p = corners()
    a, b, c = (p[cells[:, n]] - p[cells[:, 0]] for n in (1, 2, 3))
    turned = numpy.einsum("ni,ni->n", a, numpy.cross(b, c)) < 0
    cells[turned, 1], cells[turned, 2] = cells[turned, 2].copy(), cells[turned, 1].copy()
    return p, cells


def bent(p, by):
    x, y, z = p.T
    return numpy.stack([x, y + by * x * x / 4, z + by * x * y / 4], 1)


def grid(degree, bend):
    points, cells = tetrahedra()
    kind = vtk.VTK_TETRA
    if degree == 2:
        edges = [(0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3)]
        pairs = numpy.sort(numpy.stack([cells[:, e] for e in edges], 1), 2).reshape(-1, 2)
        unique, place = numpy.unique(pairs, axis=0, return_inverse=True)
        middles = (points[unique[:, 0]] + points[unique[:, 1]]) / 2
        cells = numpy.concatenate([cells, len(points) + place.reshape(-1, 6)], 1)
        points = numpy.concatenate([points, middles])
        kind = vtk.VTK_QUADRATIC_TETRA
    points = bent(points, bend)
    out = vtk.vtkUnstructuredGrid()
    held = vtk.vtkPoints()
    held.SetData(numpy_to_vtk(points, deep=True))
    out.SetPoints(held)
    nodes = numpy.concatenate([numpy.full((len(cells), 1), cells.shape[1]), cells], 1).astype(numpy.int64)
    array = vtk.vtkCellArray()
    array.ImportLegacyFormat(numpy_to_vtk(nodes.ravel(), deep=True, array_type=vtk.VTK_ID_TYPE))
    out.SetCells(kind, array)
    u = numpy.sin(3 * points[:, 0]) * numpy.cos(2 * points[:, 1]) + points[:, 2] ** 2
    data = numpy_to_vtk(u, deep=True)
    data.SetName("u")
    out.GetPointData().SetScalars(data)
    return out


def positions(rays, bend):
    n = numpy.arange(POINTS)
    if rays:
        step, ray = n % 500, n // 500
        across = lambda k: 0.05 + 0.9 * numpy.modf(ray * k)[0]
        p = numpy.stack([0.0005 + 0.002 * step, across(STEPS[0]), across(STEPS[1])], 1)
    else:
        p = 0.001 + 0.998 * numpy.modf(n[:, None] * STEPS)[0]
    return bent(p, bend)


def probe(data, at, locator):
    where = vtk.vtkPolyData()
    held = vtk.vtkPoints()
    held.SetData(numpy_to_vtk(at, deep=True))
    where.SetPoints(held)
    probe = vtk.vtkProbeFilter()
    probe.SetSourceData(data)
    probe.SetInputData(where)
    if locator:
        prototype = locator()
        if hasattr(probe, "SetCellLocatorPrototype"):
            probe.SetCellLocatorPrototype(prototype)
        # The tree is built with the first positions.
        probe.SetInputData(where)
        probe.Update()
        where.Modified()
    start = time.process_time()
    probe.Update()
    spent = time.process_time() - start
    out = probe.GetOutput().GetPointData()
    valid = vtk_to_numpy(out.GetArray("vtkValidPointMask")).mean()
    return spent / len(at) * 1e9, valid


def ours():
    """The benchmark's lines: name, rays, random, milliseconds of loading."""
    run = subprocess.run(["cargo", "bench", "-q", "-p", "diderot-runtime", "--bench", "fem"], capture_output=True, text=True, check=True)
    rows = [line for line in run.stdout.splitlines() if line.startswith("P")]
    return {row[:12].strip(): [float(x) for x in row[12:].split()[:2]] for row in rows}


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    vtk.vtkSMPTools.SetBackend("Sequential")
    best = {}

    def note(case, way, rays, value):
        key = (case, way, rays)
        best[key] = min(best.get(key, float("inf")), value)

    grids = {"P1": (1, 0.0), "P2": (2, 0.0), "P2 curved": (2, 1.0)}
    ways = {"as it comes": None, "static": vtk.vtkStaticCellLocator, "octree": vtk.vtkCellLocator, "tree": vtk.vtkCellTreeLocator}
    for _ in range(rounds):
        for case, figures in ours().items():
            for rays, value in zip([True, False], figures):
                note(case, "this", rays, value)
        for case, (degree, bend) in grids.items():
            data = grid(degree, bend)
            for way, locator in ways.items():
                for rays in [True, False]:
                    spent, valid = probe(data, positions(rays, bend), locator)
                    note(case, way, rays, spent)
                    if valid < 1:
                        print(f"{case}, {way}: VTK finds {valid:.1%} of the positions", file=sys.stderr)
    print(f"{'ns per probe':14} {'':14} {'rays':>8} {'random':>8}")
    for case in grids:
        for way in ["this", *ways]:
            figures = " ".join(f"{best[case, way, rays]:8.0f}" for rays in [True, False])
            print(f"{case:14} {('VTK, ' if way != 'this' else '') + way:18} {figures}")


if __name__ == "__main__":
    main()
