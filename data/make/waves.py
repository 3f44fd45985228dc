"""Solves the Helmholtz equation in a disc with elements of degree 1 and 3 and writes both solutions.

    python3 data/make/waves.py FOLDER

-Δu = k²u in the unit disc, with the sum of five plane waves on its border, which is then the solution. Both meshes have the same triangles; those of degree 1
are straight, those of degree 3 follow the circle to second order. Needs scikit-fem.
"""

import pathlib
import sys

import numpy
from skfem import Basis, BilinearForm, ElementTriP1, ElementTriP3, MeshTri, MeshTri2, condense, solve
from skfem.helpers import dot, grad

import mesh

WAVE = 11.3


def exact(x):
    angles = numpy.pi * (0.05 + 2 * numpy.arange(5) / 5)
    return sum(numpy.cos(WAVE * (numpy.cos(a) * x[0] + numpy.sin(a) * x[1])) for a in angles)


@BilinearForm
def helmholtz(u, v, _):
    return dot(grad(u), grad(v)) - WAVE**2 * u * v


def solved(domain, element):
    """The solution of the discrete equations, and the functions that span it."""
    basis = Basis(domain, element, intorder=8)
    border = basis.get_dofs().all()
    u = basis.zeros()
    u[border] = exact(basis.doflocs[:, border])
    return solve(*condense(helmholtz.assemble(basis), x=u, D=border)), basis


def at_nodes(basis, u, degree):
    """Positions and values at the nodes of all cells."""
    reference = mesh.nodes("triangle", degree).T / degree
    points = numpy.moveaxis(basis.mapping.F(reference), 0, -1)
    values = numpy.zeros(points.shape[:2])
    for i in range(basis.Nbfun):
        phi = basis.elem.gbasis(basis.mapping, reference, i)[0].value
        values += u[basis.element_dofs[i]][:, None] * phi
    return points, values


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1])
    straight = MeshTri.init_circle(3)
    curved = MeshTri2.from_mesh(straight)
    doflocs = curved.doflocs.copy()
    border = Basis(curved, curved.elem()).get_dofs().all()
    doflocs[:, border] /= numpy.linalg.norm(doflocs[:, border], axis=0)
    curved = MeshTri2(doflocs, curved.t)
    for name, domain, element, degree in (("waves-1", straight.refined(2), ElementTriP1(), 1), ("waves-3", curved, ElementTriP3(), 3)):
        u, basis = solved(domain, element)
        points, values = at_nodes(basis, u, degree)
        print(name, len(u), "unknowns, largest error at nodes", abs(values - exact(numpy.moveaxis(points, -1, 0))).max())
        mesh.write(folder / f"{name}.vtu", "triangle", degree, points, {"u": values})
