"""The meshes and points of `files.py`, each written by its own library."""

import gmsh
import meshio
import numpy as np
import pyvista
import vtk

from files_common import CHANCE, Probe


def function(x):
    """A polynomial of degree 2, at rows of positions."""
    x, y, z = np.asarray(x, float).T
    return 1 + x - 2 * y + 0.5 * z + x * y - z * z


def linear(x):
    x, y, z = np.asarray(x, float).T
    return 1 + x - 2 * y + 0.5 * z


def inside(grid, name, count=20):
    """Positions inside of cells, and the values that VTK interpolates there."""
    low, high = np.reshape(grid.bounds, (3, 2)).T
    points = pyvista.PolyData(CHANCE.uniform(low, high, (count * 4, 3)))
    sampled = points.sample(grid)
    valid = sampled["vtkValidPointMask"].astype(bool)
    assert valid.sum() >= count, name
    return points.points[valid][:count], sampled[name][valid][:count]


def box(cells=4):
    """Tetrahedra that fill a box, with a linear and a vector array."""
    grid = pyvista.ImageData(dimensions=(cells + 1, cells + 1, cells + 1), spacing=(1 / cells,) * 3)
    mesh = grid.to_tetrahedra(5)
    mesh.clear_data()
    mesh["T"] = linear(mesh.points)
    mesh["u"] = np.stack([linear(mesh.points), -mesh.points[:, 0], mesh.points[:, 2]], axis=-1)
    return mesh


def vtu():
    box().save("beam.vtu")
    back = pyvista.read("beam.vtu")
    return [Probe("beam.vtu#T", *inside(back, "T"), is_mesh=True), Probe("beam.vtu#u", *inside(back, "u"), "3", is_mesh=True)]


def pieces_and_times():
    """Two pieces, as a parallel solver writes them, and a collection of three times."""
    source, cells, writer = vtk.vtkRTAnalyticSource(), vtk.vtkDataSetTriangleFilter(), vtk.vtkXMLPUnstructuredGridWriter()
    source.SetWholeExtent(-4, 4, -4, 4, -4, 4)
    cells.SetInputConnection(source.GetOutputPort())
    writer.SetFileName("pieces.pvtu")
    writer.SetInputConnection(cells.GetOutputPort())
    writer.SetNumberOfPieces(2)
    writer.SetStartPiece(0)
    writer.SetEndPiece(1)
    writer.Write()
    entries = []
    for n, time in enumerate((0.0, 0.5, 1.0)):
        mesh = box()
        mesh["T"] = (1 + time) * linear(mesh.points)
        mesh.save(f"cooling_{n}.vtu")
        entries.append(f'<DataSet timestep="{time}" file="cooling_{n}.vtu"/>\n')
    with open("cooling.pvd", "w") as file:
        file.write(f'<VTKFile type="Collection" version="0.1"><Collection>\n{"".join(entries)}</Collection></VTKFile>\n')
    reader = pyvista.get_reader("cooling.pvd")
    reader.set_active_time_value(0.5)
    return [
        Probe("pieces.pvtu", *inside(pyvista.read("pieces.pvtu"), "RTData"), is_mesh=True),
        Probe("cooling.pvd@0.5#T", *inside(reader.read()[0], "T"), is_mesh=True),
    ]


def xdmf():
    mesh = box()
    cells = [("tetra", mesh.cells_dict[pyvista.CellType.TETRA])]
    with meshio.xdmf.TimeSeriesWriter("heat.xdmf") as writer:
        writer.write_points_cells(mesh.points, cells)
        for time in (0.0, 0.5, 1.0):
            writer.write_data(time, point_data={"T": (1 + time) * mesh["T"]})
    with meshio.xdmf.TimeSeriesReader("heat.xdmf") as reader:
        points, _ = reader.read_points_cells()
        _, data, _ = reader.read_data(1)
    mesh["T"] = data["T"]
    assert np.allclose(mesh.points, points)
    return [Probe("heat.xdmf@0.5#T", *inside(mesh, "T"), is_mesh=True)]


def gmsh_file():
    gmsh.initialize()
    gmsh.option.setNumber("General.Terminal", 0)
    gmsh.model.add("ball")
    gmsh.model.occ.addSphere(0, 0, 0, 1)
    gmsh.model.occ.synchronize()
    gmsh.option.setNumber("Mesh.MeshSizeMin", 0.4)
    gmsh.model.mesh.generate(3)
    gmsh.model.mesh.setOrder(2)
    tags, positions, _ = gmsh.model.mesh.getNodes()
    values = function(positions.reshape(-1, 3))
    view = gmsh.view.add("potential")
    gmsh.view.addHomogeneousModelData(view, 0, "ball", "NodeData", tags, values)
    gmsh.write("ball.msh")
    gmsh.option.setNumber("PostProcessing.SaveMesh", 0)
    gmsh.view.write(view, "ball.msh", True)
    # Quadratic elements hold the polynomial exactly where cells are straight, as in the middle.
    points = CHANCE.uniform(-0.3, 0.3, (20, 3))
    found = [gmsh.view.probe(view, *x)[0][0] for x in points]
    gmsh.finalize()
    assert np.allclose(found, function(points))
    return [Probe("ball.msh#potential", points, found, is_mesh=True)]


def structured():
    """A grid around a cylinder, and one whose steps grow."""
    r, a, z = np.meshgrid(np.linspace(1, 2, 9), np.linspace(0, np.pi, 17), np.linspace(0, 1, 5), indexing="ij")
    around = pyvista.StructuredGrid(r * np.cos(a), r * np.sin(a), z)
    around["p"] = linear(around.points)
    around.save("cylinder.vts")
    growing = pyvista.RectilinearGrid(np.linspace(0, 1, 5), np.linspace(0, 1, 5), np.linspace(0, 1, 6) ** 2)
    growing["p"] = linear(growing.points)
    growing.save("levels.vtr")
    return [Probe(f"{file}#p", *inside(pyvista.read(file), "p"), is_mesh=True) for file in ("cylinder.vts", "levels.vtr")]


def points():
    """Positions in text, and those of a mesh; the programs of the page write them again."""
    seeds = CHANCE.uniform(-1, 1, (7, 3))
    np.savetxt("seeds.csv", seeds, delimiter=",", header="x,y,z", comments="")
    meshio.Mesh(seeds, []).write("seeds.ply")

    def are_written_again():
        assert np.allclose(pyvista.read("seeds.vtp").points, seeds, atol=1e-6)
        rows = np.loadtxt("distances.csv", delimiter=",", skiprows=1)
        wanted = np.column_stack([seeds, np.linalg.norm(seeds, axis=1)])
        assert np.allclose(rows, wanted, atol=1e-6), (rows, wanted)

    return [are_written_again]
