"""Writes the files of `pieces/`: meshes in several files and at several times, as VTK and meshio write them.

    pip install numpy vtk pyvista meshio h5py
    python3 runtime/tests/fem/files/pieces.py

Every file has arrays `u`, linear in space plus the time, on points, and `c`, numbers of cells.
"""

import os
import pathlib

import meshio
import numpy
import pyvista

HERE = pathlib.Path(__file__).resolve().parent / "pieces"


def linear(p):
    return 0.7 + p[:, 0] + 2 * p[:, 1] + 3 * p[:, 2]


def grid(time=0.0):
    """Sixteen voxels."""
    out = pyvista.ImageData(dimensions=(5, 3, 3)).cast_to_unstructured_grid()
    out.point_data["u"] = linear(out.points) + time
    out.cell_data["c"] = numpy.arange(out.n_cells, dtype=float)
    return out


def part(whole, low, high, ghosts=()):
    """The cells whose least x is from one number to another; some of them belong to other parts."""
    x = numpy.round(whole.cell_centers().points[:, 0] - 0.5)
    out = whole.extract_cells(numpy.where((x >= low) & (x <= high))[0])
    for name in ("vtkOriginalCellIds", "vtkOriginalPointIds"):
        for data in (out.cell_data, out.point_data):
            if name in data:
                data.remove(name)
    if ghosts:
        own = numpy.round(out.cell_centers().points[:, 0] - 0.5)
        out.cell_data["vtkGhostType"] = numpy.isin(own, ghosts).astype(numpy.uint8)
    return out


def parallel(name, sources):
    arrays = '<PPointData><PDataArray type="Float64" Name="u"/></PPointData><PCellData><PDataArray type="Float64" Name="c"/></PCellData>'
    points = '<PPoints><PDataArray type="Float64" Name="Points" NumberOfComponents="3"/></PPoints>'
    pieces = "".join(f'<Piece Source="{source}"/>' for source in sources)
    head = '<?xml version="1.0"?>\n<VTKFile type="PUnstructuredGrid" version="0.1" byte_order="LittleEndian">\n'
    text = f'{head}<PUnstructuredGrid GhostLevel="1">{arrays}{points}{pieces}</PUnstructuredGrid>\n</VTKFile>\n'
    (HERE / name).write_text(text)


def collection(name, rows):
    rows = "\n".join(f'<DataSet timestep="{time}" group="" part="{part}" file="{file}"/>' for time, part, file in rows)
    head = '<?xml version="1.0"?>\n<VTKFile type="Collection" version="0.1" byte_order="LittleEndian">\n'
    (HERE / name).write_text(f"{head}<Collection>\n{rows}\n</Collection>\n</VTKFile>\n")


def cubes():
    """Two hexahedra and a wedge on top of one."""
    points = [(x, y, z) for z in (0, 1) for y in (0, 1) for x in (0, 1, 2)] + [(0, 0.5, 2), (1, 0.5, 2)]
    cells = [
        ("hexahedron", numpy.array([[0, 1, 4, 3, 6, 7, 10, 9], [1, 2, 5, 4, 7, 8, 11, 10]])),
        ("wedge", numpy.array([[6, 9, 12, 7, 10, 13]])),
    ]
    return numpy.array(points, float), cells


if __name__ == "__main__":
    HERE.mkdir(exist_ok=True)
    os.chdir(HERE)
    whole = grid()
    part(whole, 0, 2, ghosts=(2,)).save("ghosts_0.vtu", binary=False)
    part(whole, 1, 3, ghosts=(1,)).save("ghosts_1.vtu", binary=True)
    parallel("ghosts.pvtu", ["ghosts_0.vtu", "ghosts_1.vtu"])
    rows = []
    for n, time in enumerate([0, 0.5, 1]):
        part(grid(time), 0, 1).save(f"t{n}_0.vtu")
        part(grid(time), 2, 3).save(f"t{n}_1.vtu")
        rows += [(time, k, f"t{n}_{k}.vtu") for k in range(2)]
    collection("times.pvd", rows)
    collection("one.pvd", [(0, 0, "ghosts.pvtu")])
    # A grid whose cells are not along the axes, and one along them.
    x, y, z = numpy.meshgrid(numpy.arange(4.0), numpy.arange(3.0), numpy.arange(3.0), indexing="ij")
    curved = pyvista.StructuredGrid(x + 0.1 * y * z, y + 0.1 * x, z - 0.05 * x)
    flat = pyvista.StructuredGrid(x[:, :, :1] + 0.1 * y[:, :, :1], y[:, :, :1], 0 * z[:, :, :1])
    along = pyvista.RectilinearGrid(numpy.array([0, 0.5, 2, 3]), numpy.array([0, 1, 1.5]), numpy.array([-1.0, 0, 2]))
    for name, data in [("curved.vts", curved), ("flat.vts", flat), ("along.vtr", along)]:
        data.point_data["u"] = linear(data.points)
        data.cell_data["c"] = numpy.arange(data.n_cells, dtype=float)
        data.save(name)
    points, cells = cubes()
    data = {"u": linear(points), "v": numpy.stack([linear(points), points[:, 0], points[:, 1]], 1)}
    mesh = meshio.Mesh(points, cells, point_data=data, cell_data={"c": [numpy.array([0.0, 1.0]), numpy.array([2.0])]})
    meshio.xdmf.write("mixed-xml.xdmf", mesh, data_format="XML")
    meshio.xdmf.write("mixed-hdf.xdmf", mesh, data_format="HDF")
    with meshio.xdmf.TimeSeriesWriter("series.xdmf") as writer:
        writer.write_points_cells(points, cells)
        for time in (0.0, 0.5):
            writer.write_data(time, point_data={"u": linear(points) + time})
