"""Meshes of pyvista and meshio as inputs: known by what they have, and passed as a file of VTK, which every mesh is read from."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ._sources import plain

#: The names of meshio for cells, and the numbers of VTK.
_CELLS = {
    "vertex": 1,
    "line": 3,
    "triangle": 5,
    "quad": 9,
    "tetra": 10,
    "hexahedron": 12,
    "wedge": 13,
    "pyramid": 14,
    "line3": 21,
    "triangle6": 22,
    "quad8": 23,
    "tetra10": 24,
    "hexahedron20": 25,
    "wedge15": 26,
    "pyramid13": 27,
    "quad9": 28,
    "hexahedron27": 29,
    "wedge18": 32,
}
#: Orders of nodes that differ: the first triangle of a wedge is seen from inside in VTK, from outside in meshio.
_ORDERS = {"wedge": [0, 2, 1, 3, 5, 4]}
_TYPES = {"f": "Float", "i": "Int", "u": "UInt"}


class MeshFile:
    """A mesh of pyvista or meshio, or a pair of one and the name of its array, in a file that lasts as long as this object.

    Values over time are a mapping of times, in seconds, to meshes, which become a collection of files.
    """

    #: What an input takes: the path, and the name of the array if there is one.
    path: str

    def __init__(self, name: str, given: Any) -> None:
        mesh, array = given if isinstance(given, tuple) and len(given) == 2 else (given, None)
        if not (array is None or isinstance(array, str)):
            raise ValueError(f"found {array!r}, expected the name of an array beside the mesh")
        self._folder = tempfile.TemporaryDirectory(prefix="diderot-")
        if isinstance(mesh, Mapping):
            self.path = self._write(f"{name}.pvd", _pvd(list(self._frames(name, mesh))))
        else:
            self.path = self._write(f"{name}.vtu", _vtu(*_parts(mesh)))
        self._file = self.path
        if array is not None:
            self.path += f"#{array}"

    def _write(self, name: str, contents: bytes) -> str:
        path = os.path.join(self._folder.name, name)
        with open(path, "wb") as file:
            file.write(contents)
        return path

    def _frames(self, name: str, meshes: Mapping[Any, Any]) -> Iterator[tuple[float, str]]:
        """Writes the meshes of all times; gives the times and the names of the files."""
        if not meshes:
            raise ValueError("found no meshes, expected one for each time")
        for n, (time, mesh) in enumerate(meshes.items()):
            if not isinstance(time, (int, float, np.integer, np.floating)):
                raise ValueError(f"found {time!r}, expected a time in seconds for each mesh")
            self._write(f"{name}{n}.vtu", _vtu(*_parts(mesh)))
            yield float(time), f"{name}{n}.vtu"

    def named(self, message: str) -> str:
        """A message about the file, in terms of the mesh."""
        message = message.replace(f"{self._file}: ", "the mesh: ").replace(self._file, "the mesh")
        return re.sub(r"`FILE#([^`]*)`, or the second argument of `load_fem`", r'`(mesh, "\1")`', message)


#: Points, their numbers in all cells, the ends of cells among these, the types of cells, arrays at points and at cells.
_Parts = tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any], dict[str, Any], dict[str, Any]]


def _parts(mesh: Any) -> _Parts:
    if hasattr(mesh, "cast_to_unstructured_grid") and not hasattr(mesh, "celltypes"):
        mesh = mesh.cast_to_unstructured_grid()
    if hasattr(mesh, "celltypes") and hasattr(mesh, "cell_connectivity"):
        # The name of the offsets in older versions.
        offsets = mesh.cell_offsets if hasattr(mesh, "cell_offsets") else mesh.offset
        points, cells = dict(mesh.point_data.items()), dict(mesh.cell_data.items())
        return mesh.points, mesh.cell_connectivity, offsets[1:], mesh.celltypes, points, cells
    if hasattr(mesh, "points") and hasattr(mesh, "cells") and hasattr(mesh, "cell_data"):
        return _parts_of_meshio(mesh)
    raise ValueError(f"found {type(mesh).__name__}, expected the path of a file, a mesh of pyvista or meshio, or one for each time")


def _parts_of_meshio(mesh: Any) -> _Parts:
    connectivity, sizes, types = [], [], []
    for block in mesh.cells:
        if block.type not in _CELLS:
            raise ValueError(f"cells of the type `{block.type}` cannot be passed in memory; meshio.write makes a file of them")
        nodes = np.asarray(block.data, dtype=np.int64)
        nodes = nodes[:, _ORDERS[block.type]] if block.type in _ORDERS else nodes
        connectivity.append(nodes.ravel())
        sizes.append(np.full(len(nodes), nodes.shape[1], dtype=np.int64))
        types.append(np.full(len(nodes), _CELLS[block.type], dtype=np.uint8))
    if not sizes:
        raise ValueError("the mesh has no cells")
    cells = {name: np.concatenate([np.asarray(part) for part in parts]) for name, parts in mesh.cell_data.items()}
    offsets = np.cumsum(np.concatenate(sizes))
    return mesh.points, np.concatenate(connectivity), offsets, np.concatenate(types), dict(mesh.point_data), cells


def _pvd(frames: list[tuple[float, str]]) -> bytes:
    """A collection of files at times."""
    sets = "".join(f'<DataSet timestep="{time!r}" file="{name}"/>' for time, name in frames)
    return f'<?xml version="1.0"?><VTKFile type="Collection" version="0.1"><Collection>{sets}</Collection></VTKFile>'.encode()


def _vtu(
    points: npt.NDArray[Any],
    connectivity: npt.NDArray[Any],
    offsets: npt.NDArray[Any],
    types: npt.NDArray[Any],
    point_data: dict[str, Any],
    cell_data: dict[str, Any],
) -> bytes:
    """A file of VTK with its arrays as they are in memory."""
    blocks: list[bytes] = []

    def array(name: str, values: Any) -> str:
        values = plain(values)
        if values.dtype.kind not in _TYPES or values.dtype == np.float16:
            values = values.astype(np.float64)
        values = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<"))
        at = sum(map(len, blocks))
        blocks.append(np.uint64(values.nbytes).tobytes() + values.tobytes())
        kind = f"{_TYPES[values.dtype.kind]}{8 * values.dtype.itemsize}"
        components = int(np.prod(values.shape[1:], dtype=int))
        quoted = name.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
        return f'<DataArray type="{kind}" Name="{quoted}" NumberOfComponents="{components}" format="appended" offset="{at}"/>'

    def numbers(data: dict[str, Any]) -> str:
        # Texts are not fields, nor are the numbers that filters of VTK leave.
        fields = {name: values for name, values in data.items() if np.asarray(values).dtype.kind in "biuf" and not name.startswith("vtk")}
        return "".join(array(name, values) for name, values in fields.items())

    flat = np.asarray(points, dtype=np.float64)
    space = np.zeros((len(flat), 3))
    space[:, : flat.shape[1]] = flat
    parts = [
        '<?xml version="1.0"?><VTKFile type="UnstructuredGrid" version="1.0" byte_order="LittleEndian" header_type="UInt64">',
        f'<UnstructuredGrid><Piece NumberOfPoints="{len(space)}" NumberOfCells="{len(types)}">',
        f"<PointData>{numbers(point_data)}</PointData><CellData>{numbers(cell_data)}</CellData>",
        f"<Points>{array('Points', space)}</Points><Cells>",
        array("connectivity", np.asarray(connectivity, dtype=np.int64)),
        array("offsets", np.asarray(offsets, dtype=np.int64)),
        array("types", np.asarray(types, dtype=np.uint8)),
        '</Cells></Piece></UnstructuredGrid><AppendedData encoding="raw">_',
    ]
    return "".join(parts).encode() + b"".join(blocks) + b"</AppendedData></VTKFile>"
