"""Writes two polynomials on a few cells, and beside each what a viewer shows of it.

    python3 data/make/polynomials.py FOLDER

`cubic.vtu` is x²(1-x) on eight triangles of degree 3; its counterpart has the values at their corners only. `tangle.vtu` is a surface of degree 4 in 48
tetrahedra that are bent by a polynomial map: nodes are moved, values are not, so the field is exactly the bent one; every edge of its counterpart is
halved once.
"""

import itertools
import sys

import numpy

import mesh


def cells(kind, degree, corners):
    """The nodes of cells with these corners."""
    return numpy.einsum("nk,ck...->cn...", mesh.at(kind, 1, mesh.nodes(kind, degree) / degree), corners)


def squares(n):
    """The unit square in n × n squares of two triangles."""
    for i, j in itertools.product(range(n), repeat=2):
        a, b, c, d = (numpy.array(p) / n for p in ((i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)))
        yield from ((a, b, d), (c, d, b))


def cubes(n):
    """The cube from -1 to 1 in n³ cubes of six tetrahedra, mirrored so that faces fit."""
    for corner in itertools.product(range(n), repeat=3):
        flip = numpy.array([(-1) ** i for i in corner])
        origin = numpy.array([i + (1 - f) / 2 for i, f in zip(corner, flip)])
        for axes in itertools.permutations(range(3)):
            steps = numpy.cumsum([flip * (numpy.arange(3) == a) for a in axes], axis=0)
            cell = numpy.array([origin, *(origin + steps)]) * 2 / n - 1
            if numpy.linalg.det(cell[1:] - cell[0]) < 0:
                cell = cell[[0, 2, 1, 3]]
            yield cell


if __name__ == "__main__":
    folder = sys.argv[1]
    points = cells("triangle", 3, numpy.array(list(squares(2))))
    x = points[..., 0]
    mesh.write_both(folder, "cubic", "triangle", 3, points, {"u": x**2 * (1 - x)}, 0)

    points = cells("tetrahedron", 4, 2.4 * numpy.array(list(cubes(2))))
    x, y, z = numpy.moveaxis(points, -1, 0)
    tangle = x**4 + y**4 + z**4 - 5 * (x**2 + y**2 + z**2)
    bent = numpy.stack([x + 0.10 * z * z, y - 0.07 * x * z, z + 0.06 * x * x], axis=-1)
    mesh.write_both(folder, "tangle", "tetrahedron", 4, bent, {"f": tangle}, 1)
