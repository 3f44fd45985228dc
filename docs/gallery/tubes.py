"""Compares the triangles of programs/gallery/tubes.diderot with those that VTK makes of samples of the same field.

    python3 docs/gallery/tubes.py [FLOW LEVEL]

Needs numpy and pyvista, and `diderotc` on the path. Prints the table in the head of the program: the number of triangles, the distances of their corners to the
surface in cells of the grid, to first order, the angles between their normals and the gradient, and the edges inside the box that do not have two triangles.
"""

import pathlib
import subprocess
import sys
import tempfile
from collections import Counter

import numpy
import pyvista
import vtk

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIELD = """#version 2.0
input image(3)[3] flow;
field#2(3)[3] V = bspln3 ⊛ wrap(flow);
field#1(3)[] Q = -0.5*(∇⊗V : transpose(∇⊗V));
"""
PROBE = """input vec3[] points;
strand probe (vec3 x) {
    output vec4 found = [Q(x), ∇Q(x)[0], ∇Q(x)[1], ∇Q(x)[2]];
    update { stabilize; }
}
create_array { probe(x) | x in points }
"""
SAMPLE = """input int dense;
int n = (size(flow)[0] - 1)*dense + 1;
strand sample (int k, int j, int i) {
    output real q = Q(bounds(flow)[0] + spacing(flow)/dense*[i, j, k]);
    update { stabilize; }
}
create_array { sample(k, j, i) | k in 0..n-1, j in 0..n-1, i in 0..n-1 }
"""


def array(folder, program, *words):
    """The output of a program."""
    (folder / "program.diderot").write_text(FIELD + program)
    subprocess.run(["diderotc", "program.diderot", *words, "--double", "-q", "-o", "out.npy"], cwd=folder, check=True)
    return numpy.load(folder / "out.npy")


def compare(folder, flow, level, name, surface, normals):
    """Prints a row of the table."""
    points = numpy.asarray(surface.points, dtype=float)
    triangles = surface.faces.reshape(-1, 4)[:, 1:]
    numpy.save(folder / "points.npy", points)
    found = array(folder, PROBE, "-flow", flow, "-points", "points.npy").reshape(-1, 4)
    gradient = found[:, 1:]
    steep = numpy.linalg.norm(gradient, axis=1)
    cell, low, high = box(flow)
    away = abs(found[:, 0] - level) / steep / cell
    angle = numpy.degrees(numpy.arccos(numpy.clip(-(normals * gradient).sum(1) / steep, -1, 1)))
    edges = Counter(tuple(sorted((t[a], t[b]))) for t in triangles for a, b in ((0, 1), (1, 2), (2, 0)))
    on_low, on_high = abs(points - low) < cell / 1000, abs(points - high) < cell / 1000
    on_face = lambda a, b: (on_low[a] & on_low[b]).any() or (on_high[a] & on_high[b]).any()
    open_edges = sum(count != 2 and not on_face(*edge) for edge, count in edges.items())
    print(f"| {name} | {len(triangles)} | {away.mean():.1g} | {numpy.percentile(away, 99):.1g} | {away.max():.1g} | {angle.mean():.1f}° | {open_edges} |")


def box(flow):
    """The edge of a cell, and the least and the greatest coordinate: the grid begins at 0 and has cubic cells."""
    header = flow.open("rb").read(2000).decode("latin1")
    field = lambda key: next(line.split(": ")[1] for line in header.splitlines() if line.startswith(key))
    cell = float(field("space directions").split("(")[1].split(",")[0])
    return cell, 0.0, cell * (int(field("sizes").split()[-1]) - 1)


def main(flow, level):
    print("| triangles of | number | corners off, mean | 99 % | largest | normals off, mean | open edges |\n|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program = str(ROOT / "programs/gallery/tubes.diderot")
        subprocess.run(["diderotc", program, "-flow", flow, "-level", str(level), "-q", "-o", folder / "tubes.vtp"], check=True)
        surface = pyvista.read(folder / "tubes.vtp")
        compare(folder, flow, level, "the field, cells of the grid", surface, surface["normals"])
        for dense in (1, 2, 4):
            samples = array(folder, SAMPLE, "-flow", flow, "-dense", str(dense)).astype(numpy.float32)
            image = pyvista.ImageData(dimensions=samples.shape[::-1], spacing=(box(flow)[0] / dense,) * 3)
            image.point_data["q"] = samples.ravel()
            contour = vtk.vtkFlyingEdges3D()
            contour.SetInputData(image)
            contour.SetInputArrayToProcess(0, 0, 0, 0, "q")
            contour.SetValue(0, level)
            contour.ComputeNormalsOn()
            contour.Update()
            surface = pyvista.wrap(contour.GetOutput())
            compare(folder, flow, level, f"samples {dense} times as dense", surface, surface["Normals"])


if __name__ == "__main__":
    given = sys.argv[1:] or [str(ROOT / "data/gallery/turbulence.nrrd"), "4"]
    main(pathlib.Path(given[0]).resolve(), float(given[1]))
