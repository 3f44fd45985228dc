"""Objects of other packages as inputs: arrays that are shared by DLPack, meshes, files with ways to read them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import diderot
import numpy as np
import pytest

from test_messages import SCALARS

FEM = """#version 2.0
input fem#1(3)[] g;
input vec3[] points;
field#1(3)[] G = toField(g);
strand s (vec3 p) { output real v = 0; output vec3 d = [0, 0, 0]; output bool is = false;
    update { is = inside(p, G); if (is) { v = G(p); d = ∇G(p); } stabilize; } }
create_array { s(p) | p in points }
"""


class Shared:
    """An array of another library: NumPy can take it by DLPack alone."""

    def __init__(self, array: np.ndarray, device: int = 1) -> None:
        self._array, self._device = array, device

    def __dlpack__(self, **options: Any) -> Any:
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._device, 0


def test_arrays_by_dlpack() -> None:
    program = diderot.compile(SCALARS)
    volume = np.arange(4 * 5 * 6, dtype="f4").reshape(4, 5, 6)
    assert program.run(v=Shared(volume))["x"][0] == volume[1, 2, 1]
    assert program.run(v=diderot.Image(Shared(volume), spacing=1))["x"][0] == volume[1, 2, 1]
    with pytest.raises(diderot.InputError, match="another device"):
        program.run(v=Shared(volume, device=2))

    class Unwilling:
        def __array__(self, *_: Any, **__: Any) -> np.ndarray:
            raise RuntimeError("use tensor.detach()")

    with pytest.raises(diderot.InputError, match="detach"):
        program.run(v=Unwilling())
    # Outputs go the same way, without a copy.
    made = program.run(v=volume)["x"]
    assert np.shares_memory(np.from_dlpack(made), made)


def linear(points: np.ndarray) -> np.ndarray:
    return 1 + points @ np.array([2.0, -3.0, 0.5])


def inner() -> np.ndarray:
    return np.random.default_rng(1).uniform(0.1, 0.9, (50, 3))


def assert_linear(mesh: Any) -> None:
    """A function of the first degree is exact on every mesh of the unit cube."""
    result = diderot.compile(FEM, double=True).run(g=mesh, points=inner())
    assert result["is"].all()
    # The points of pyvista have single precision.
    np.testing.assert_allclose(result["v"], linear(inner()), atol=1e-6)
    np.testing.assert_allclose(result["d"], np.tile([2.0, -3.0, 0.5], (50, 1)), atol=1e-5)


def corners() -> np.ndarray:
    return np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]], dtype=float)


def test_meshes_of_meshio(tmp_path: Path) -> None:
    meshio = pytest.importorskip("meshio")
    data = {"u": linear(corners())}
    hexahedron = meshio.Mesh(corners(), [("hexahedron", [[0, 1, 2, 3, 4, 5, 6, 7]])], point_data=data)
    assert_linear(hexahedron)
    # Two wedges: the order of their nodes is not VTK's. The files of meshio itself give the same bits.
    wedges = [[0, 1, 2, 4, 5, 6], [0, 2, 3, 4, 6, 7]]
    mesh = meshio.Mesh(corners(), [("wedge", wedges), ("line", [[0, 1]])], point_data=data)
    assert_linear(mesh)
    meshio.Mesh(corners(), [("wedge", wedges)], point_data=data).write(tmp_path / "w.vtu")
    program = diderot.compile(FEM, double=True)
    by_file, given = (program.run(g=g, points=inner()) for g in (tmp_path / "w.vtu", mesh))
    assert by_file["v"].tobytes() == given["v"].tobytes()
    several = meshio.Mesh(corners(), hexahedron.cells, point_data={"p": -data["u"], "u <&\"": data["u"]}, cell_data={"c": [[7.0]]})
    assert_linear((several, "u <&\""))
    assert (program.run(g=(several, "c"), points=inner())["v"] == 7).all()
    with pytest.raises(diderot.InputError, match="`g` the mesh: several arrays") as several_fit:
        program.run(g=several, points=inner())
    assert '`(mesh, "p")`' in str(several_fit.value) and "/" not in str(several_fit.value)
    with pytest.raises(diderot.InputError, match="polygon"):
        program.run(g=meshio.Mesh(corners(), [("polygon", [[0, 1, 2, 3, 4]])]), points=inner())


def test_meshes_of_pyvista() -> None:
    pyvista = pytest.importorskip("pyvista")
    grid = pyvista.ImageData(dimensions=(3, 4, 5), spacing=(1 / 2, 1 / 3, 1 / 4))
    grid.point_data["u"] = linear(np.asarray(grid.points))
    for mesh in (grid, grid.cast_to_structured_grid(), grid.cast_to_unstructured_grid(), grid.to_tetrahedra()):
        assert_linear(mesh)
    names = grid.cast_to_unstructured_grid()
    names.point_data["names"] = np.array(["a"] * names.n_points)
    assert_linear((names, "u"))


def test_images_of_the_real_pyvista() -> None:
    pyvista = pytest.importorskip("pyvista")
    volume = np.arange(4 * 5 * 6, dtype="f4").reshape(4, 5, 6)
    grid = pyvista.ImageData(dimensions=(6, 5, 4), spacing=(2.0, 1.0, 0.5), origin=(1.0, 0.0, 0.0))
    grid.point_data["t"] = volume.ravel()
    image = diderot.Image(grid)
    np.testing.assert_array_equal(image.world_box(), [[1, 11], [0, 4], [0, 1.5]])
    assert diderot.compile(SCALARS).run(v=image)["x"][0] == volume[2, 2, 0]


def test_what_is_not_a_mesh_is_refused() -> None:
    program = diderot.compile(FEM)
    for wrong in (np.zeros(3), 5, (3, 4)):
        with pytest.raises(diderot.InputError, match="`g`.*pyvista or meshio|the name of an array"):
            program.run(g=wrong, points=[[0, 0, 0]])


def test_a_view_keeps_its_mesh() -> None:
    meshio = pytest.importorskip("meshio")
    mesh = meshio.Mesh(corners(), [("hexahedron", [[0, 1, 2, 3, 4, 5, 6, 7]])], point_data={"u": linear(corners())})
    text = FEM.replace("input vec3[] points;", "input real z = 0.5;").replace("(vec3 p) {", "(int i) { vec3 p = [0.5, 0.5 + i, z];")
    text = text.replace("s(p) | p in points", "s(i) | i in 0..0")
    with diderot.compile(text, double=True).view(g=mesh) as view:
        view.set(z=0.25)
        assert view.wait(60)
        found = view._export("v", "txt")
    assert float(found) == pytest.approx(linear(np.array([0.5, 0.5, 0.25])))


def test_measurement_frames_of_files(tmp_path: Path) -> None:
    nrrd = pytest.importorskip("nrrd")
    vectors = np.random.default_rng(1).normal(size=(3, 6, 5, 4)).astype("f4")
    header = {
        "space": "right-anterior-superior",
        "space directions": np.vstack([[np.nan] * 3, np.eye(3)]),
        "space origin": [0, 0, 0],
        "kinds": ["vector", "domain", "domain", "domain"],
        "measurement frame": np.array([[0, 1, 0], [-1, 0, 0], [0, 0, 1]], dtype=float),
    }
    nrrd.write(str(tmp_path / "v.nrrd"), vectors, header)
    text = SCALARS.replace("[] v", "[3] v").replace("(3)[] F", "(3)[3] F").replace("real x = 0", "vec3 x = [0, 0, 0]")
    program = diderot.compile(text)
    stored = vectors[:, 1, 2, 1]
    ignored = program.run(v=diderot.Image(tmp_path / "v.nrrd", measurement_frame="ignore"))["x"][0]
    np.testing.assert_array_equal(ignored, stored)
    applied = program.run(v=diderot.Image(tmp_path / "v.nrrd"))["x"][0]
    # The rows of the header are the columns of the frame.
    np.testing.assert_allclose(applied, np.array(header["measurement frame"]).T @ stored, rtol=1e-6)
    with pytest.raises(ValueError, match="about files"):
        diderot.Image(np.zeros((4, 4, 4)), flip_components=True)


def test_choices_of_a_compilation(tmp_path: Path) -> None:
    text = """#version 2.0
    vec3 a = [1, 2, 3];
    vec3 b = [4, 5, 6];
    strand s (int n) { output real x = 0; tensor[3,3] t[i,j] = a[i]*b[j] + a[i]; update { x = t[1,2] + n; stabilize; } }
    create_array { s(n) | n in 0..99 }"""
    expected = diderot.compile(text).run()["x"].tobytes()
    for width in (1, 4, 8, 16):
        assert diderot.compile(text, width=width).run()["x"].tobytes() == expected  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="width 3"):
        diderot.compile(text, width=3)  # type: ignore[arg-type]
    for warn in ("broadcast", ["broadcast"]):
        with pytest.warns(diderot.DiderotWarning, match="broadcast"):
            assert [warning.code for warning in diderot.compile(text, warn=warn).warnings] == ["broadcast"]
    with pytest.raises(ValueError, match="no warning `thunder`"):
        diderot.compile(text, warn=["thunder"])
