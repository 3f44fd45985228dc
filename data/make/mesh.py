"""Meshes of polynomial cells: their nodes in VTK's order, what viewers make of them, and writing them as VTU files."""

import base64
import itertools
import pathlib
import struct
import zlib

import numpy

# VTK's numbers of cells: with straight edges, and of any degree.
STRAIGHT = {"triangle": 5, "tetrahedron": 10, "hexahedron": 12}
LAGRANGE = {"triangle": 69, "tetrahedron": 71, "hexahedron": 72}
CORNERS = {
    "triangle": [(0, 0), (1, 0), (0, 1)],
    "tetrahedron": [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)],
    "hexahedron": [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)],
}


def triangle(corners, degree):
    """The lattice of a triangle: corners, then edges, then the same of the smaller triangle within."""
    a, b, c = (numpy.array(x) for x in corners)
    if degree == 0:
        return [(a + b + c) // 3]
    nodes = [a, b, c]
    for p, q in ((a, b), (b, c), (c, a)):
        nodes += [p + (q - p) // degree * i for i in range(1, degree)]
    if degree >= 3:
        d, e = (b - a) // degree, (c - a) // degree
        nodes += triangle((a + d + e, b - 2 * d + e, c + d - 2 * e), degree - 3)
    return nodes


def nodes(kind, degree):
    """The nodes of a cell in VTK's order, in units of 1/degree; hexahedra to degree 2."""
    corners = [degree * numpy.array(x) for x in CORNERS[kind]]
    if kind == "triangle":
        return numpy.array(triangle(corners, degree))
    if kind == "hexahedron":
        found = {tuple(x) for x in corners}
        order = list(map(tuple, corners))
        rings = [(0, 1), (1, 2), (3, 2), (0, 3), (4, 5), (5, 6), (7, 6), (4, 7), (0, 4), (1, 5), (2, 6), (3, 7)]
        if degree == 2:
            order += [tuple((corners[p] + corners[q]) // 2) for p, q in rings]
            order += [(0, 1, 1), (2, 1, 1), (1, 0, 1), (1, 2, 1), (1, 1, 0), (1, 1, 2), (1, 1, 1)]
        assert found <= set(order)
        return numpy.array(order)
    order = list(corners)
    for p, q in ((0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3)):
        order += [corners[p] + (corners[q] - corners[p]) // degree * i for i in range(1, degree)]
    if degree >= 3:
        for face in ((0, 1, 3), (2, 3, 1), (0, 3, 2), (0, 2, 1)):
            a, b, c = (corners[i] for i in face)
            d, e = (b - a) // degree, (c - a) // degree
            order += triangle((a + d + e, b - 2 * d + e, c + d - 2 * e), degree - 3)
    if degree >= 4:
        order.append(numpy.array((1, 1, 1)))
    return numpy.array(order)


def monomials(kind, degree, x):
    """The products of powers that span a cell's polynomials, at reference positions."""
    powers = itertools.product(range(degree + 1), repeat=x.shape[-1])
    powers = [p for p in powers if kind == "hexahedron" or sum(p) <= degree]
    return numpy.stack([numpy.prod(x ** numpy.array(p), axis=-1) for p in powers], axis=-1)


def at(kind, degree, reference):
    """The matrix that takes what is given at the nodes to other reference positions."""
    lattice = nodes(kind, degree) / degree
    return monomials(kind, degree, numpy.asarray(reference, float)) @ numpy.linalg.inv(monomials(kind, degree, lattice))


def bisected(kind, levels):
    """The corners of the straight cells that a viewer makes of one: every edge is halved so many times."""
    cells = [numpy.array(CORNERS[kind], float)]
    for _ in range(levels):
        parts = []
        for cell in cells:
            if kind == "hexahedron":
                origin, axes = cell[0], cell[[1, 3, 4]] - cell[0]
                for shift in itertools.product((0, 0.5), repeat=3):
                    parts.append(origin + (numpy.array(CORNERS[kind]) / 2 + shift) @ axes)
                continue
            middle = {(i, j): (cell[i] + cell[j]) / 2 for i in range(len(cell)) for j in range(len(cell))}
            for i in range(len(cell)):
                parts.append(numpy.array([middle[i, j] for j in range(len(cell))]))
            if kind == "triangle":
                parts.append(numpy.array([middle[0, 1], middle[1, 2], middle[2, 0]]))
            else:
                ring = [middle[0, 1], middle[1, 2], middle[2, 3], middle[3, 0]]
                for i in range(4):
                    parts.append(numpy.array([middle[0, 2], middle[1, 3], ring[i], ring[i - 3]]))
        cells = parts
    return numpy.array(cells)


def subdivided(kind, degree, points, arrays, levels):
    """What a viewer shows of cells: values and places at the corners of smaller ones, and straight lines in between."""
    small = bisected(kind, levels)
    matrix = at(kind, degree, small.reshape(-1, small.shape[-1]))

    def taken(values):
        return numpy.einsum("sn,cn...->cs...", matrix, values).reshape((-1, small.shape[1]) + values.shape[2:])

    return taken(points), {name: taken(values) for name, values in arrays.items()}


def packed(array):
    """An array as VTK keeps it: one block, compressed, in base64."""
    raw = numpy.ascontiguousarray(array).tobytes()
    body = zlib.compress(raw, 9)
    header = struct.pack("<4I", 1, len(raw), 0, len(body))
    return (base64.b64encode(header) + base64.b64encode(body)).decode()


def write(path, kind, degree, points, arrays, digits=12):
    """Writes cells, given by the positions and values of their nodes; nodes at the same place become one."""
    cells, count = points.shape[:2]
    flat = points.reshape(cells * count, -1)
    keys = numpy.round(flat, 9) + 0.0
    _, first, numbers = numpy.unique(keys, axis=0, return_index=True, return_inverse=True)
    flat = numpy.round(flat[first], digits) + 0.0
    place = numpy.zeros((len(flat), 3))
    place[:, : flat.shape[1]] = flat
    number = STRAIGHT[kind] if degree == 1 else LAGRANGE[kind]

    def data(name, type_name, array):
        width = f' NumberOfComponents="{array.shape[1]}"' if array.ndim == 2 else ""
        return f'<DataArray type="{type_name}" Name="{name}"{width} format="binary">{packed(array)}</DataArray>\n'

    values = ""
    for name, array in arrays.items():
        array = array.reshape((cells * count,) + array.shape[2:])[first]
        values += data(name, "Float64", numpy.round(array, digits) + 0.0)
    text = f"""<?xml version="1.0"?>
<VTKFile type="UnstructuredGrid" version="2.1" byte_order="LittleEndian" header_type="UInt32" compressor="vtkZLibDataCompressor">
<UnstructuredGrid>
<Piece NumberOfPoints="{len(flat)}" NumberOfCells="{cells}">
<Points>
{data("Points", "Float64", place)}</Points>
<Cells>
{data("connectivity", "Int32", numbers.reshape(-1).astype(numpy.int32))}{data("offsets", "Int32", numpy.arange(1, cells + 1, dtype=numpy.int32) * count)}{data("types", "UInt8", numpy.full(cells, number, numpy.uint8))}</Cells>
<PointData>
{values}</PointData>
</Piece>
</UnstructuredGrid>
</VTKFile>
"""
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def write_both(folder, name, kind, degree, points, arrays, levels, digits=12):
    """Writes cells, and beside them what a viewer shows of them."""
    folder = pathlib.Path(folder)
    write(folder / f"{name}.vtu", kind, degree, points, arrays, digits)
    flat, values = subdivided(kind, degree, points, arrays, levels)
    write(folder / f"{name}-linear.vtu", kind, 1, flat, values, digits)
