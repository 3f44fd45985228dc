"""Writes the files beside it: small meshes as VTK, meshio, scikit-fem and Gmsh write them, in every encoding that these have.

    pip install numpy vtk meshio scikit-fem gmsh
    python3 runtime/tests/fem/files/make.py

Every file has an array `u` with the values of a polynomial of its name's degree (`-pK`, `-qK`, `-sK`) at the nodes, as `polynomial` states it; the
test `foreign.rs` states it again. Nodes are where the writing program says that its own cells have them, so a wrong order of nodes is a wrong value.
Cells are straight, but for the disc, whose array is linear: cells of any shape reproduce that.
"""

import pathlib
import sys

import gmsh
import meshio
import numpy
import skfem
import vtk
from vtk.util.numpy_support import numpy_to_vtk

HERE = pathlib.Path(__file__).resolve().parent


def polynomial(p, degree):
    """What is at the nodes: a polynomial of a total degree."""
    x, y, z = p
    u = 1 + x - 2 * y + z / 2
    if degree >= 2:
        u = u + x * x - x * y + y * z / 2
    if degree >= 3:
        u = u + x**3 - 2 * x * y * y + x * y * z
    if degree >= 4:
        u = u + x * x * y * y - z**4 / 2 + x * y * z * z
    return u


# --- VTK ---------------------------------------------------------------------------------------------------------------------

LAGRANGE = {
    "tri": vtk.vtkLagrangeTriangle,
    "tet": vtk.vtkLagrangeTetra,
    "quad": vtk.vtkLagrangeQuadrilateral,
    "hex": vtk.vtkLagrangeHexahedron,
    "wedge": vtk.vtkLagrangeWedge,
}
FIXED = {
    "tri-p1": vtk.vtkTriangle,
    "tri-p2": vtk.vtkQuadraticTriangle,
    "quad-q1": vtk.vtkQuad,
    "quad-q2": vtk.vtkBiQuadraticQuad,
    "quad-s2": vtk.vtkQuadraticQuad,
    "tet-p1": vtk.vtkTetra,
    "tet-p2": vtk.vtkQuadraticTetra,
    "hex-q1": vtk.vtkHexahedron,
    "hex-q2": vtk.vtkTriQuadraticHexahedron,
    "hex-s2": vtk.vtkQuadraticHexahedron,
    "wedge-p1": vtk.vtkWedge,
    "wedge-p2": vtk.vtkBiQuadraticQuadraticWedge,
    "wedge-s2": vtk.vtkQuadraticWedge,
    "pyramid-p1": vtk.vtkPyramid,
    "pyramid-s2": vtk.vtkQuadraticPyramid,
}
# Two cells that share a face, by their corners.
CORNERS = {
    "tri": [[(0, 0), (1, 0.2), (0.1, 1)], [(1, 0.2), (1.2, 1.1), (0.1, 1)]],
    "quad": [[(0, 0), (1, 0), (1.2, 1), (0, 0.8)], [(1, 0), (2, 0.1), (2, 1), (1.2, 1)]],
    # Cells with eight or twenty nodes hold polynomials exactly where they are parallelepipeds.
    "quad-s2": [[(0, 0), (1, 0), (1.2, 1), (0.2, 1)], [(1, 0), (2, 0), (2.2, 1), (1.2, 1)]],
    "hex-s2": [
        [(x, y, 0) for x, y in [(n, 0), (n + 1, 0), (n + 1.2, 1), (n + 0.2, 1)]]
        + [(x, y, 1) for x, y in [(n, 0.1), (n + 1, 0.1), (n + 1.2, 1.1), (n + 0.2, 1.1)]]
        for n in range(2)
    ],
    "tet": [
        [(0, 0, 0), (1, 0, 0.1), (0.1, 1, 0), (0, 0.2, 1)],
        [(1, 0, 0.1), (1, 1, 1), (0.1, 1, 0), (0, 0.2, 1)],
    ],
    "hex": [
        [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1.2, 0, 1), (1, 1, 1.1), (0, 1, 1)],
        [(1, 0, 0), (2, 0, 0), (2, 1, 0), (1, 1, 0), (1.2, 0, 1), (2, 0, 1), (2, 1, 1), (1, 1, 1.1)],
    ],
    "wedge": [
        [(0, 0, 0), (1, 0, 0), (0.1, 1, 0), (0, 0, 1), (1.2, 0, 1), (0, 1, 1.1)],
        [(1, 0, 0), (1.1, 1, 0), (0.1, 1, 0), (1.2, 0, 1), (1.1, 1.1, 1), (0, 1, 1.1)],
    ],
    "wedge-s2": [
        [(0, 0, 0), (1, 0, 0), (0.1, 1, 0), (0.1, 0.2, 1), (1.1, 0.2, 1), (0.2, 1.2, 1)],
        [(1, 0, 0), (1.1, 1, 0), (0.1, 1, 0), (1.1, 0.2, 1), (1.2, 1.2, 1), (0.2, 1.2, 1)],
    ],
    "pyramid": [
        [(0, 0, 0), (1, 0, 0.1), (1.2, 1, 0.1), (0.2, 1, 0), (0.5, 0.6, 1)],
        [(0.2, 1, 0), (1.2, 1, 0.1), (1, 0, 0.1), (0, 0, 0), (0.6, 0.4, -1)],
    ],
}


def cell_of(name, lagrange):
    """VTK's own cell, which knows where its nodes are."""
    kind, degree = name.split("-")[0], int(name[-1])
    if not lagrange:
        return FIXED[name]()
    counts = {"tri": (degree + 1) * (degree + 2) // 2, "tet": (degree + 1) * (degree + 2) * (degree + 3) // 6}
    counts["wedge"] = counts["tri"] * (degree + 1)
    n = counts.get(kind, (degree + 1) ** (2 if kind == "quad" else 3))
    cell = LAGRANGE[kind]()
    cell.GetPoints().SetNumberOfPoints(n)
    cell.GetPointIds().SetNumberOfIds(n)
    if kind in ("tri", "tet"):
        cell.Initialize()
    else:
        cell.SetUniformOrderFromNumPoints(n)
    return cell


def image(kind, corners, r):
    """Where the (multi)linear map of the corners takes a reference position."""
    c = numpy.array([tuple(p) + (0,) * (3 - len(p)) for p in corners], float)
    if kind in ("tri", "tet"):
        dim = len(corners) - 1
        weights = [1 - sum(r[:dim]), *r[:dim]]
    elif kind == "wedge":
        low = [1 - r[0] - r[1], r[0], r[1]]
        weights = [w * (1 - r[2]) for w in low] + [w * r[2] for w in low]
    elif kind == "pyramid":
        x, y, z = r[0], r[1], r[2]
        low = [(1 - x) * (1 - y), x * (1 - y), x * y, (1 - x) * y]
        weights = [w * (1 - z) for w in low] + [z]
    else:
        x, y, z = r[0], r[1], r[2]
        low = [(1 - x) * (1 - y), x * (1 - y), x * y, (1 - x) * y]
        weights = low if kind == "quad" else [w * (1 - z) for w in low] + [w * z for w in low]
    return tuple(numpy.dot(weights, c))


def grid(name, lagrange=False):
    """An unstructured grid with arrays."""
    kind, degree = name.split("-")[0], int(name[-1])
    cell = cell_of(name, lagrange)
    at = cell.GetParametricCoords()
    count = cell.GetNumberOfPoints()
    numbers, points, cells = {}, [], []
    for corners in CORNERS.get(name, CORNERS[kind]):
        cells.append([])
        for n in range(count):
            p = image(kind, corners, at[3 * n : 3 * n + 3])
            number = numbers.setdefault(tuple(round(x, 9) + 0.0 for x in p), len(points))
            if number == len(points):
                points.append(p)
            cells[-1].append(number)
    out = vtk.vtkUnstructuredGrid()
    held = vtk.vtkPoints()
    held.SetDataTypeToDouble()
    for p in points:
        held.InsertNextPoint(p)
    out.SetPoints(held)
    for nodes in cells:
        out.InsertNextCell(cell.GetCellType(), len(nodes), nodes)
    p = numpy.array(points).T
    u = polynomial(p, degree)
    for array, values in [("u", u), ("v", numpy.array([u, 2 * u - p[0], p[1] - u]).T)]:
        data = numpy_to_vtk(numpy.ascontiguousarray(values), deep=True)
        data.SetName(array)
        out.GetPointData().AddArray(data)
    data = numpy_to_vtk(numpy.arange(len(cells)) * 10.0, deep=True)
    data.SetName("c")
    out.GetCellData().AddArray(data)
    return out


def write_vtu(name, data, mode="appended", raw=True, compressor=None, header=64, big=False, pieces=1):
    w = vtk.vtkXMLUnstructuredGridWriter()
    w.SetFileName(str(HERE / name))
    w.SetInputData(data)
    {"ascii": w.SetDataModeToAscii, "binary": w.SetDataModeToBinary, "appended": w.SetDataModeToAppended}[mode]()
    w.SetEncodeAppendedData(0 if raw else 1)
    w.SetCompressor(compressor() if compressor else None)
    w.SetHeaderTypeToUInt64() if header == 64 else w.SetHeaderTypeToUInt32()
    w.SetByteOrderToBigEndian() if big else w.SetByteOrderToLittleEndian()
    w.SetNumberOfPieces(pieces)
    w.Write()


def write_vtk(name, data, binary, version):
    w = vtk.vtkUnstructuredGridWriter()
    w.SetFileName(str(HERE / name))
    w.SetInputData(data)
    w.SetFileTypeToBinary() if binary else w.SetFileTypeToASCII()
    w.SetFileVersion(version)
    w.Write()


def with_vtk():
    zlib, lz4, lzma = vtk.vtkZLibDataCompressor, vtk.vtkLZ4DataCompressor, vtk.vtkLZMADataCompressor
    for name in FIXED:
        write_vtu(f"vtk-{name}.vtu", grid(name), mode="binary", compressor=zlib, header=32)
    for name in ["tri-p3", "tri-p4", "tet-p3", "tet-p4", "quad-q3", "hex-q2", "hex-q3", "wedge-p1", "wedge-p2", "wedge-p3"]:
        write_vtu(f"vtk-lagrange-{name}.vtu", grid(name, True), compressor=lz4)
    data = grid("tet-p2")
    write_vtu("vtk-ascii-tet-p2.vtu", data, mode="ascii")
    write_vtu("vtk-base64-tet-p2.vtu", data, mode="binary")
    write_vtu("vtk-base64-lz4-tet-p2.vtu", data, mode="binary", compressor=lz4)
    write_vtu("vtk-appended-tet-p2.vtu", data, raw=False)
    write_vtu("vtk-appended-zlib-tet-p2.vtu", data, raw=False, compressor=zlib)
    write_vtu("vtk-raw-tet-p2.vtu", data, header=32)
    write_vtu("vtk-raw-zlib-tet-p2.vtu", data, compressor=zlib)
    write_vtu("vtk-raw-big-tet-p2.vtu", data, big=True)
    write_vtu("vtk-lzma-tet-p2.vtu", data, compressor=lzma)
    write_vtu("vtk-pieces-tet-p2.vtu", data, mode="ascii", pieces=2)
    old, new = vtk.vtkUnstructuredGridWriter.VTK_LEGACY_READER_VERSION_4_2, vtk.vtkUnstructuredGridWriter.VTK_LEGACY_READER_VERSION_5_1
    for version, digits in [(old, 42), (new, 51)]:
        write_vtk(f"vtk-legacy{digits}-tet-p2.vtk", data, False, version)
        write_vtk(f"vtk-legacy{digits}-binary-tet-p2.vtk", data, True, version)
    write_vtk("vtk-legacy51-hex-q3.vtk", grid("hex-q3", True), True, new)


# --- meshio and scikit-fem ---------------------------------------------------------------------------------------------------


def with_meshio():
    for name, cells in [("tri-p2", "triangle6"), ("tet-p2", "tetra10"), ("hex-q2", "hexahedron27"), ("hex-s2", "hexahedron20")]:
        data = grid(name)
        points = numpy.array([data.GetPoint(n) for n in range(data.GetNumberOfPoints())])
        ids = [data.GetCell(n).GetPointIds() for n in range(data.GetNumberOfCells())]
        nodes = numpy.array([[i.GetId(k) for k in range(i.GetNumberOfIds())] for i in ids])
        mesh = meshio.Mesh(points, [(cells, nodes)], point_data={"u": polynomial(points.T, int(name[-1]))})
        mesh.write(HERE / f"meshio-{name}.vtu")
        if name != "tet-p2":
            continue
        meshio.vtu.write(HERE / f"meshio-ascii-{name}.vtu", mesh, binary=False)
        meshio.vtu.write(HERE / f"meshio-plain-{name}.vtu", mesh, compression=None)
        for binary in [False, True]:
            form = "binary" if binary else "ascii"
            meshio.vtk.write(HERE / f"meshio-{form}42-{name}.vtk", mesh, fmt_version="4.2", binary=binary)
            meshio.vtk.write(HERE / f"meshio-{form}51-{name}.vtk", mesh, fmt_version="5.1", binary=binary)
            meshio.gmsh.write(HERE / f"meshio-{form}22-{name}.msh", mesh, fmt_version="2.2", binary=binary)
            meshio.gmsh.write(HERE / f"meshio-{form}41-{name}.msh", mesh, fmt_version="4.1", binary=binary)
    points = numpy.array([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (2, 0.5, 0)], float)
    cells = [("line", [[0, 1]]), ("triangle", [[1, 4, 2]]), ("quad", [[0, 1, 2, 3]])]
    u = polynomial(points.T, 1)
    meshio.Mesh(points, cells, point_data={"u": u}).write(HERE / "meshio-mixed-p1.vtu")


def with_scikit_fem():
    straight = skfem.MeshTri().refined(1)
    curved = skfem.MeshTri2.from_mesh(straight)
    at = numpy.vstack([curved.doflocs, numpy.zeros(curved.doflocs.shape[1])])
    curved.save(str(HERE / "skfem-tri-p2.vtu"), point_data={"u": polynomial(at, 2)})
    tets = skfem.MeshTet2.from_mesh(skfem.MeshTet())
    tets.save(str(HERE / "skfem-tet-p2.vtk"), point_data={"u": polynomial(tets.doflocs, 2)})
    cubes = skfem.MeshHex().refined(1)
    cubes.save(str(HERE / "skfem-hex-q1.msh"), point_data={"u": polynomial(cubes.p, 1)})


# --- Gmsh ----------------------------------------------------------------------------------------------------------------------


def write_gmsh(name, degree, version, binary, places=("NodeData",), linear=False):
    """Saves the current model and adds the polynomial as data."""
    path = str(HERE / name)
    gmsh.option.setNumber("Mesh.MshFileVersion", version)
    gmsh.option.setNumber("Mesh.Binary", binary)
    tags, at, _ = gmsh.model.mesh.getNodes()
    p = dict(zip(tags, at.reshape(-1, 3)))
    value = lambda tag: [float(polynomial(p[tag], 1 if linear else degree))]
    dim = gmsh.model.getDimension()
    types, elements, nodes = gmsh.model.mesh.getElements(dim)
    # By itself Gmsh writes the mesh again with every array.
    gmsh.option.setNumber("PostProcessing.SaveMesh", int("text" in name))
    gmsh.write(path)
    for place in places:
        view = gmsh.view.add({"NodeData": "u", "ElementNodeData": "w", "ElementData": "c"}[place])
        if place == "NodeData":
            gmsh.view.addModelData(view, 0, gmsh.model.getCurrent(), place, tags, [value(t) for t in tags])
        elif place == "ElementNodeData":
            own = [t.reshape(len(e), -1) for e, t in zip(elements, nodes)]
            data = [[x for t in row for x in value(t)] for rows in own for row in rows]
            gmsh.view.addModelData(view, 0, gmsh.model.getCurrent(), place, numpy.concatenate(elements), data)
        else:
            every = numpy.concatenate(elements)
            gmsh.view.addModelData(view, 0, gmsh.model.getCurrent(), place, every, [[10.0 * n] for n in range(len(every))])
        gmsh.view.write(view, path, append=True)
        gmsh.view.remove(view)


def pyramid(degree):
    """A model with one pyramid, whose nodes are where Gmsh says that its own have them."""
    kind = {1: 7, 2: 19}[degree]
    at = gmsh.model.mesh.getElementProperties(kind)[4].reshape(-1, 3)
    corners = CORNERS["pyramid"][0]
    volume = gmsh.model.addDiscreteEntity(3)
    # Gmsh's base has coordinates from -1 to 1, which shrink towards the apex.
    wide = [(x / max(1 - z, 1e-9), y / max(1 - z, 1e-9), z) for x, y, z in at]
    nodes = [image("pyramid", corners, ((x + 1) / 2, (y + 1) / 2, z)) for x, y, z in wide]
    tags = list(range(1, len(nodes) + 1))
    gmsh.model.mesh.addNodes(3, volume, tags, [x for p in nodes for x in p])
    gmsh.model.mesh.addElementsByType(volume, kind, [1], tags)


def with_gmsh():
    gmsh.initialize()
    gmsh.option.setNumber("General.Terminal", 0)
    gmsh.option.setNumber("Mesh.SaveAll", 1)
    for space in [2, 3]:
        for cubes in [False, True]:
            for degree in range(1, (3 if cubes else 4) + 1):
                gmsh.clear()
                if space == 2:
                    gmsh.model.occ.addRectangle(0, 0, 0, 1, 1)
                else:
                    gmsh.model.occ.addBox(0, 0, 0, 1, 1, 1)
                gmsh.model.occ.synchronize()
                for _, line in gmsh.model.getEntities(1):
                    gmsh.model.mesh.setTransfiniteCurve(line, 2)
                for _, face in gmsh.model.getEntities(2):
                    gmsh.model.mesh.setTransfiniteSurface(face)
                    if cubes:
                        gmsh.model.mesh.setRecombine(2, face)
                if space == 3:
                    gmsh.model.mesh.setTransfiniteVolume(1)
                gmsh.model.mesh.generate(space)
                gmsh.model.mesh.setOrder(degree)
                kind = ("quad" if cubes else "tri") if space == 2 else ("hex" if cubes else "tet")
                name = f"{kind}-{'q' if cubes else 'p'}{degree}"
                binary = int(degree == 1 or name == "tet-p3")
                write_gmsh(f"gmsh41-{name}.msh", degree, 4.1, binary)
                if name == "tet-p2":
                    places = ("NodeData", "ElementNodeData", "ElementData")
                    for version, digits in [(2.2, 22), (4.1, 41)]:
                        write_gmsh(f"gmsh{digits}-text-{name}.msh", degree, version, 0, places)
                        write_gmsh(f"gmsh{digits}-binary-{name}.msh", degree, version, 1, places)
    for degree in range(1, 4):
        gmsh.clear()
        face = gmsh.model.occ.addRectangle(0, 0, 0, 1, 1)
        gmsh.model.occ.extrude([(2, face)], 0.1, 0.2, 1, numElements=[1], recombine=True)
        gmsh.model.occ.synchronize()
        for _, line in gmsh.model.getEntities(1):
            gmsh.model.mesh.setTransfiniteCurve(line, 2)
        gmsh.model.mesh.generate(3)
        gmsh.model.mesh.setOrder(degree)
        # Gmsh writes wedges of degree 3, but no data on them.
        places = ("NodeData", "ElementNodeData") if degree < 3 else ()
        write_gmsh(f"gmsh41-wedge-p{degree}.msh", degree, 4.1, 0, places)
        if degree == 3:
            tags, at, _ = gmsh.model.mesh.getNodes()
            lines = [f"{tag} {float(polynomial(p, 3))!r}" for tag, p in zip(tags, at.reshape(-1, 3))]
            with open(HERE / "gmsh41-wedge-p3.msh", "a") as file:
                file.write("\n".join(["$NodeData", "1", '"u"', "1", "0", "3", "0", "1", str(len(lines)), *lines, "$EndNodeData", ""]))
    for incomplete, degree in [(0, 1), (1, 2)]:
        gmsh.clear()
        pyramid(degree)
        places = ("NodeData", "ElementNodeData")
        write_gmsh(f"gmsh41-pyramid-{'s' if incomplete else 'p'}{degree}.msh", degree, 4.1, 0, places)
    gmsh.clear()
    gmsh.model.occ.addDisk(0, 0, 0, 1, 1)
    gmsh.model.occ.synchronize()
    gmsh.option.setNumber("Mesh.MeshSizeMin", 0.8)
    gmsh.model.mesh.generate(2)
    gmsh.model.mesh.setOrder(2)
    write_gmsh("gmsh41-disc-tri-p2.msh", 2, 4.1, 0, linear=True)
    gmsh.finalize()


if __name__ == "__main__":
    numpy.set_printoptions(legacy="1.25")
    with_vtk()
    with_meshio()
    with_scikit_fem()
    with_gmsh()
    size = sum(f.stat().st_size for f in HERE.iterdir())
    print(len(list(HERE.iterdir())), "files,", size, "bytes", file=sys.stderr)
