"""Solves for the steady flow around a cylinder in a channel and writes its velocity on a mesh of curved triangles.

    python3 data/make/cylinder.py FOLDER

Navier and Stokes at a Reynolds number of 40 by the elements of Taylor and Hood: velocity of degree 2, pressure of degree 1, by Newton's iteration.
Lengths are in diameters of the cylinder, which stands at the origin; velocity is 1 at the inlet, where the channel begins, and at its walls. The mesh is
that of Delaunay, symmetric in the axis, with points that push each other apart until they are evenly spread. Needs scikit-fem.
"""

import sys

import numpy
from scipy.spatial import Delaunay
from skfem import Basis, BilinearForm, ElementTriP1, ElementTriP2, ElementVector, LinearForm, MeshTri, MeshTri2, bmat, condense, solve
from skfem.helpers import ddot, div, dot, grad, mul

import mesh

LOW, HIGH = numpy.array([-3.0, -2.5]), numpy.array([9.0, 2.5])
RADIUS = 0.5
REYNOLDS = [5.0, 15.0, 40.0]


def wanted(p):
    """How long edges should be."""
    far = numpy.hypot(p[:, 0], p[:, 1]) - RADIUS
    wake = numpy.maximum(numpy.abs(p[:, 1]) - 0.8, 0) + numpy.maximum(-p[:, 0], 0) + numpy.maximum(p[:, 0] - 4.0, 0)
    return numpy.minimum(0.19 + 0.28 * far, 0.40 + 0.15 * wake)


def distance(p):
    """How far outside a point is of the upper half of the channel without the cylinder."""
    box = numpy.max([LOW[0] - p[:, 0], p[:, 0] - HIGH[0], -p[:, 1], p[:, 1] - HIGH[1]], axis=0)
    return numpy.maximum(box, RADIUS - numpy.hypot(p[:, 0], p[:, 1]))


def spread():
    """Points of the upper half: triangles whose edges are springs."""
    random = numpy.random.default_rng(7)
    grid = numpy.stack(numpy.meshgrid(numpy.arange(LOW[0], HIGH[0], 0.1), numpy.arange(0, HIGH[1], 0.1)), -1).reshape(-1, 2)
    keep = random.random(len(grid)) < (0.1 / wanted(grid)) ** 2 * 1.15
    p = grid[keep & (distance(grid) < -0.01)]
    angles = numpy.linspace(0, numpy.pi, 9)
    fixed = numpy.concatenate([RADIUS * numpy.stack([numpy.cos(angles), numpy.sin(angles)], -1), [[LOW[0], 0], [HIGH[0], 0], [LOW[0], HIGH[1]], HIGH]])
    p = numpy.concatenate([numpy.round(fixed, 12), p])
    for _ in range(400):
        t = Delaunay(p).simplices
        t = t[distance(p[t].mean(1)) < -1e-3]
        edges = numpy.unique(numpy.sort(t[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1), axis=0)
        along = p[edges[:, 0]] - p[edges[:, 1]]
        length = numpy.linalg.norm(along, axis=1)
        goal = wanted(p[edges].mean(1))
        goal *= 1.2 * numpy.sqrt((length**2).sum() / (goal**2).sum())
        push = (numpy.maximum(goal - length, 0) / length)[:, None] * along
        force = numpy.zeros_like(p)
        numpy.add.at(force, edges[:, 0], push)
        numpy.add.at(force, edges[:, 1], -push)
        force[: len(fixed)] = 0
        p = p + 0.15 * force
        # Back into the domain, along the distance's gradient.
        out = distance(p)
        out[: len(fixed)] = 0
        tip = 1e-7
        slope = numpy.stack([(distance(p + tip * e) - distance(p)) / tip for e in numpy.eye(2)], -1)
        p = numpy.where((out > 0)[:, None], p - out[:, None] * slope, p)
    p[numpy.abs(p[:, 1]) < 1e-6, 1] = 0
    return p


def triangles():
    """The mesh, both halves, with the edges at the cylinder curved."""
    upper = spread()
    t = Delaunay(upper).simplices
    t = t[distance(upper[t].mean(1)) < -1e-3]
    both = numpy.concatenate([upper, upper * [1, -1]])
    t = numpy.concatenate([t, t[:, ::-1] + len(upper)])
    p, number = numpy.unique(numpy.round(both, 9) + 0.0, axis=0, return_inverse=True)
    t = number.reshape(-1)[t]
    a, b, c = p[t[:, 0]], p[t[:, 1]], p[t[:, 2]]
    area = (b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0]
    assert numpy.abs(area).min() > 1e-4, "flat triangles"
    t[area < 0] = t[area < 0][:, ::-1]
    curved = MeshTri2.from_mesh(MeshTri(p.T, t.T))
    places = curved.doflocs.copy()
    far = numpy.linalg.norm(places, axis=0)
    border = Basis(curved, curved.elem()).get_dofs().all()
    border = border[far[border] < RADIUS * 1.001]
    places[:, border] *= RADIUS / far[border]
    return MeshTri2(places, curved.t)


@BilinearForm
def friction(u, v, _):
    return ddot(grad(u), grad(v))


@BilinearForm
def pressure(u, q, _):
    return -div(u) * q


@BilinearForm
def carried(u, v, w):
    return dot(mul(grad(u), w.flow), v) + dot(mul(grad(w.flow), u), v)


@LinearForm
def carries(v, w):
    return dot(mul(grad(w.flow), w.flow), v)


if __name__ == "__main__":
    domain = triangles()
    velocity = Basis(domain, ElementVector(ElementTriP2()), intorder=5)
    basis_p = velocity.with_element(ElementTriP1())
    a, b = friction.assemble(velocity), pressure.assemble(velocity, basis_p)
    x = numpy.zeros(velocity.N + basis_p.N)
    # Velocity is given everywhere on the border but at the outlet.
    border = velocity.get_dofs().all()
    place = velocity.doflocs[:, border]
    border = border[place[0] < HIGH[0] - 1e-9]
    place = velocity.doflocs[:, border]
    along = numpy.isin(border, velocity.get_dofs().all(["u^1"]))
    x[border] = numpy.where(along & (numpy.linalg.norm(place, axis=0) > RADIUS * 1.01), 1.0, 0.0)
    # Slow flow first, from which Newton's iteration finds the faster one.
    for reynolds in REYNOLDS:
        change = 1.0
        while change > 1e-9:
            flow = velocity.interpolate(x[: velocity.N])
            matrix = bmat([[a / reynolds + carried.assemble(velocity, flow=flow), b.T], [b, None]], "csr")
            right = numpy.concatenate([carries.assemble(velocity, flow=flow), numpy.zeros(basis_p.N)])
            new = solve(*condense(matrix, right, x=x, D=border))
            change = abs(new - x).max()
            x = new

    reference = mesh.nodes("triangle", 2).T / 2
    points = numpy.moveaxis(velocity.mapping.F(reference), 0, -1)
    values = numpy.zeros(points.shape)
    for i in range(velocity.Nbfun):
        phi = velocity.elem.gbasis(velocity.mapping, reference, i)[0].value
        values += numpy.moveaxis(x[velocity.element_dofs[i]][None, :, None] * phi, 0, -1)
    print(len(points), "triangles")
    mesh.write_both(sys.argv[1], "cylinder", "triangle", 2, points, {"v": values}, 0, 9)
