"""Solves for how a link of a chain is stretched and writes its displacement on a mesh of curved hexahedra.

    python3 data/make/link.py FOLDER

Linear elasticity with 27 nodes in every cell. The link has an eye at both ends, lies in the plane of the first two axes and is pulled along the first by pins
in its eyes; by symmetry one eighth of it is computed, and mirrored. Half the link's width is 1; the mean stress at the waist is 1, Young's modulus 100. The
file has the link as it is when stretched, six times exaggerated, with the displacement `u` that has led there, not exaggerated, and `depth`: that is zero on the
surface, where its gradient is therefore the inner normal. Needs scipy.
"""

import itertools
import sys

import numpy
from scipy.sparse import coo_matrix
from scipy.sparse.linalg import spsolve

import mesh

HOLE, REACH, THICK, WAIST = 0.55, 4.2, 0.5, 0.62
MU, LAMBDA = 100 / 2.6, 100 * 0.3 / (1.3 * 0.4)
EXAGGERATED = 6
ALONG, AROUND, OUTWARDS = 6, 12, 3

REFERENCE = mesh.nodes("hexahedron", 2) / 2


def shank(s, t):
    """From the middle to the eye, and from the axis to the edge; the waist widens smoothly."""
    wide = WAIST + (1 - WAIST) * s**3 * (10 - 15 * s + 6 * s * s)
    return numpy.stack([(REACH - 1) * s, wide * t], -1)


def around(s, t):
    """Around the hole from the shank over the top to the end, and from the hole outwards to a square and a quarter of a circle."""
    turn = numpy.pi * (1 - s)
    inner = HOLE * numpy.stack([numpy.cos(turn), numpy.sin(turn)], -1)
    with numpy.errstate(all="ignore"):
        square = numpy.where((turn > 0.75 * numpy.pi - 1e-9)[..., None], numpy.stack([-numpy.ones_like(turn), -numpy.tan(turn)], -1), numpy.stack([1 / numpy.tan(turn), numpy.ones_like(turn)], -1))
    circle = numpy.stack([numpy.cos(turn), numpy.sin(turn)], -1)
    outer = numpy.where((turn > 0.5 * numpy.pi)[..., None], square, circle)
    return [REACH, 0] + inner + t[..., None] * (outer - inner)


def cells():
    """The nodes of the cells of one eighth. The shank's cells across are as wide as those around the hole at its end."""
    across = -numpy.tan(numpy.pi * (1 - numpy.linspace(0, 0.25, AROUND // 4 * 2 + 1)))
    for i, j in itertools.product(range(ALONG), range(AROUND // 4)):
        s = (i + REFERENCE[:, 0]) / ALONG
        steps = numpy.rint(2 * (j + REFERENCE[:, 1])).astype(int)
        yield numpy.column_stack([shank(s, across[steps]), THICK * REFERENCE[:, 2]])
    for i, j in itertools.product(range(AROUND), range(OUTWARDS)):
        plan = around((i + REFERENCE[:, 0]) / AROUND, ((j + REFERENCE[:, 1]) / OUTWARDS) ** 1.2)
        yield numpy.column_stack([plan, THICK * REFERENCE[:, 2]])


def shape_functions():
    """The 27 functions and their gradients at Gauss's points, and the weights of these."""
    places = 0.5 + numpy.array([-1, 0, 1]) * numpy.sqrt(0.15)
    weights = numpy.array([5, 8, 5]) / 18
    points = numpy.array(list(itertools.product(places, repeat=3)))
    weights = numpy.prod(list(itertools.product(weights, repeat=3)), axis=1)
    tip = 1e-3
    # Central differences of quadratics are exact.
    gradients = [(mesh.at("hexahedron", 2, points + tip * e) - mesh.at("hexahedron", 2, points - tip * e)) / (2 * tip) for e in numpy.eye(3)]
    return mesh.at("hexahedron", 2, points), numpy.stack(gradients, -1), weights


def solved(matrix, given, values):
    """The solution of the equations with some unknowns given."""
    x = numpy.zeros(matrix.shape[0])
    x[given] = values
    free = numpy.setdiff1d(numpy.arange(len(x)), given)
    right = -(matrix @ x)[free]
    x[free] = spsolve(matrix[free][:, free].tocsc(), right)
    return x


def assembled(blocks, numbers):
    """A sparse matrix from those of the cells."""
    rows = numpy.broadcast_to(numbers[:, :, None], blocks.shape)
    columns = numpy.broadcast_to(numbers[:, None, :], blocks.shape)
    size = numbers.max() + 1
    return coo_matrix((blocks.ravel(), (rows.ravel(), columns.ravel())), (size, size)).tocsr()


def stretched(points):
    """Displacement and depth at the nodes of an eighth of the link."""
    flat = numpy.round(points.reshape(-1, 3), 9) + 0.0
    place, numbers = numpy.unique(flat, axis=0, return_inverse=True)
    numbers = numbers.reshape(points.shape[:2])
    functions, gradients, weights = shape_functions()
    jacobian = numpy.einsum("cni,gna->cgia", points, gradients)
    volume = numpy.abs(numpy.linalg.det(jacobian)) * weights
    world = numpy.einsum("gna,cgai->cgni", gradients, numpy.linalg.inv(jacobian))
    products = numpy.einsum("cgni,cgmj,cg->cnimj", world, world, volume)
    same = numpy.einsum("cnimi->cnm", products)
    stiff = LAMBDA * products + MU * numpy.swapaxes(products, 2, 4) + MU * numpy.einsum("cnm,ij->cnimj", same, numpy.eye(3))
    unknowns = (3 * numbers[..., None] + numpy.arange(3)).reshape(len(points), -1)
    matrix = assembled(stiff.reshape(len(points), 81, 81), unknowns)

    x, y, z = place.T
    far = numpy.hypot(x - REACH, y)
    pin = numpy.flatnonzero((far < HOLE + 1e-6) & (x - REACH > 0.35 * HOLE))
    planes = [3 * numpy.flatnonzero(numpy.abs(place[:, a]) < 1e-9) + a for a in range(3)]
    given = numpy.unique(numpy.concatenate([3 * pin, *planes]))
    u = solved(matrix, given, numpy.isin(given, 3 * pin).astype(float))
    # The pull is what the middle plane answers.
    pull = -(matrix @ u)[planes[0]].sum()
    u *= WAIST * THICK / pull

    outside = (far < HOLE + 1e-6) | (z > THICK - 1e-6)
    outside |= (x > REACH - 1e-6) & (far > 1 - 1e-6) | (x > REACH - 1 - 1e-6) & (x < REACH + 1e-6) & (y > 1 - 1e-6)
    s = numpy.clip(x / (REACH - 1), 0, 1)
    outside |= (x < REACH - 1 + 1e-6) & (y > shank(s, 1.0)[:, 1] - 1e-6)
    laplace = assembled(same, numbers)
    # What warms up evenly and is kept cold outside.
    sources = numpy.bincount(numbers.ravel(), numpy.einsum("gn,cg->cn", functions, volume).ravel())
    inner = numpy.flatnonzero(~outside)
    depth = numpy.zeros(len(place))
    depth[inner] = spsolve(laplace[inner][:, inner].tocsc(), sources[inner])
    return u.reshape(-1, 3)[numbers], depth[numbers]


if __name__ == "__main__":
    eighth = numpy.array(list(cells()))
    u, depth = stretched(eighth)
    signs = [numpy.array(s) for s in itertools.product((1, -1), repeat=3)]
    points = numpy.concatenate([s * eighth for s in signs])
    u = numpy.concatenate([s * u for s in signs])
    depth = numpy.concatenate([depth] * 8)
    print(len(points), "cells; longer by", 2 * numpy.abs(u[..., 0]).max(), "; deepest", depth.max())
    mesh.write_both(sys.argv[1], "link", "hexahedron", 2, points + EXAGGERATED * u, {"u": u, "depth": depth}, 0, 9)
