"""Images: every dtype, stride and byte order gives the same samples, and every package's image the same place."""

from __future__ import annotations

import itertools
from typing import Any

import diderot
import numpy as np
import pytest

PROBE = """#version 2.0
input image(3)[] vol;
input vec3[] points;
field#1(3)[] F = ctmr ⊛ vol;
strand s (vec3 p) { output real v = 0; output bool is = false; update { is = inside(p, F); if (is) { v = F(p); } stabilize; } }
create_array { s(p) | p in points }
"""
DTYPES = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"]


def samples() -> np.ndarray:
    return np.random.default_rng(1).integers(0, 100, (6, 7, 8))


@pytest.fixture(scope="module")
def probe() -> diderot.Program:
    return diderot.compile(PROBE, double=True)


def ways(array: np.ndarray) -> dict[str, np.ndarray]:
    """The same numbers, stored in different ways."""
    wide = np.zeros(tuple(2 * n for n in array.shape), array.dtype)
    wide[::2, 1::2, ::2] = array
    back = array[::-1, ::-1, ::-1].copy()
    odd = np.zeros(array.nbytes + 1, "u1")
    odd[1:] = np.frombuffer(array.tobytes(), "u1")
    return {
        "C": array,
        "F": np.asfortranarray(array),
        "apart": wide[::2, 1::2, ::2],
        "negative": back[::-1, ::-1, ::-1],
        "unaligned": odd[1:].view(array.dtype).reshape(array.shape),
    }


@pytest.mark.parametrize("dtype,order", list(itertools.product(DTYPES, "<>")))
def test_every_dtype_stride_and_byte_order(probe: diderot.Program, dtype: str, order: str) -> None:
    points = np.random.default_rng(2).uniform(1.2, 4.5, (20, 3))
    expected = probe.run(vol=samples().astype("f8"), points=points)["v"]
    assert len(set(expected)) > 10
    for name, array in ways(samples().astype(order + dtype)).items():
        for given in (array, diderot.Image(array)):
            found = probe.run(vol=given, points=points)["v"]
            np.testing.assert_array_equal(found, expected, err_msg=name)


def test_axes_are_in_the_order_that_is_said(probe: diderot.Program) -> None:
    volume = samples().astype("f8")
    corner = [[4.0, 3.0, 2.0], [2.0, 4.0, 3.0]]
    found = probe.run(vol=volume, points=corner)["v"]
    # ctmr interpolates.
    assert list(found) == [volume[2, 3, 4], volume[3, 4, 2]]
    turned = diderot.Image(volume.transpose(), order="F")
    np.testing.assert_array_equal(probe.run(vol=turned, points=corner)["v"], found)
    np.testing.assert_array_equal(turned.world_box(), [[0, 7], [0, 6], [0, 5]])


def test_components_come_after_the_grid() -> None:
    text = """#version 2.0
    input image(2)[2,3] img;
    field#1(2)[2,3] F = ctmr ⊛ img;
    strand s (int i) { output tensor[2,3] v = zeros[2,3]; update { v = F([3.0, 4.0]); stabilize; } }
    create_array { s(i) | i in 0..0 }"""
    array = np.random.default_rng(3).uniform(size=(9, 8, 2, 3))
    program = diderot.compile(text, double=True)
    np.testing.assert_array_equal(program.run(img=array)["v"][0], array[4, 3])
    fortran = diderot.Image(array.transpose(1, 0, 2, 3), order="F")
    np.testing.assert_array_equal(program.run(img=fortran)["v"][0], array[4, 3])
    with pytest.raises(diderot.InputError, match="img"):
        program.run(img=array[..., 0])


def test_an_image_does_not_change_with_its_array(probe: diderot.Program) -> None:
    array = samples().astype("f4")
    image, points = diderot.Image(array), [[2.0, 3.0, 2.0]]
    array[:] = 0
    assert probe.run(vol=image, points=points)["v"][0] == samples()[2, 3, 2]


def oblique() -> np.ndarray:
    """Directions and origin in RAS, index first coordinate first."""
    turn = np.linalg.qr(np.random.default_rng(4).normal(size=(3, 3)))[0]
    affine = np.eye(4)
    affine[:3, :3] = turn * [1.5, 2.0, 2.5]
    affine[:3, 3] = [10, -20, 30]
    return affine


def inner_points(affine: np.ndarray) -> np.ndarray:
    index = np.random.default_rng(5).uniform(1.5, 4.0, (100, 3))
    return index @ affine[:3, :3].T + affine[:3, 3]


def test_images_of_nibabel_and_simple_itk_agree_at_physical_points(probe: diderot.Program) -> None:
    nib = pytest.importorskip("nibabel")
    sitk = pytest.importorskip("SimpleITK")
    affine = oblique()
    data = samples().transpose(2, 1, 0).astype("i2")
    of_nibabel = nib.Nifti1Image(data, affine)
    lps = np.diag([-1.0, -1, 1]) @ affine[:3, :3]
    of_itk = sitk.GetImageFromArray(data.transpose())
    steps = np.linalg.norm(lps, axis=0)
    of_itk.SetSpacing(steps.tolist())
    of_itk.SetDirection((lps / steps).ravel().tolist())
    of_itk.SetOrigin((np.array([-1, -1, 1]) * affine[:3, 3]).tolist())
    physical = np.array([of_itk.TransformIndexToPhysicalPoint((i, j, k)) for i, j, k in [(2, 3, 2), (5, 4, 3)]])
    index_values = probe.run(vol=of_itk, points=physical)["v"]
    np.testing.assert_allclose(index_values, [data[2, 3, 2], data[5, 4, 3]], atol=1e-8)
    points = inner_points(affine) * [-1, -1, 1]
    a = probe.run(vol=diderot.Image(of_nibabel, space="lps"), points=points)
    b = probe.run(vol=of_itk, points=points)
    assert a["is"].all() and b["is"].all()
    np.testing.assert_allclose(a["v"], b["v"], atol=1e-8)
    assert diderot.Image(of_nibabel).space == "right-anterior-superior"


def test_mixed_spaces_are_told() -> None:
    nib = pytest.importorskip("nibabel")
    text = PROBE.replace("input vec3[]", "input image(3)[] other;\nfield#1(3)[] G = ctmr ⊛ other;\ninput vec3[]").replace("F(p); }", "F(p) + G(p); }")
    program = diderot.compile(text)
    image = nib.Nifti1Image(samples().astype("i2"), oblique())
    result = program.run(vol=image, other=diderot.Image(image, space="lps"), points=inner_points(oblique()))
    assert any("right-anterior-superior" in note for note in result.report.notes), result.report


def test_an_image_that_no_position_is_inside_is_told(probe: diderot.Program) -> None:
    missed = probe.run(vol=samples(), points=[[100.0, 100.0, 100.0], [3.0, 3.0, -9.0]])
    where = "; the positions of the probes were in [3, 100] × [3, 100] × [-9, 100]"
    expected = "no probe was inside the image `vol`; its world box is [0, 7] × [0, 6] × [0, 5]" + where
    assert not missed["is"].any() and missed.report.warnings == (expected,), missed.report
    met = probe.run(vol=samples(), points=[[100.0, 100.0, 100.0], [3.0, 3.0, 2.0]])
    assert met["is"].any() and met.report.warnings == (), met.report


def test_images_of_pynrrd(probe: diderot.Program, tmp_path: Any) -> None:
    nrrd = pytest.importorskip("nrrd")
    affine = oblique()
    data = samples().transpose(2, 1, 0).astype("u2")
    header = {
        "space": "right-anterior-superior",
        "space directions": affine[:3, :3].T,
        "space origin": affine[:3, 3],
        "kinds": ["domain"] * 3,
    }
    file = str(tmp_path / "a.nrrd")
    nrrd.write(file, data, header)
    points = inner_points(affine)
    given = probe.run(vol=nrrd.read(file), points=points)
    read = probe.run(vol=file, points=points)
    assert given["is"].all()
    np.testing.assert_array_equal(given["v"], read["v"])


def test_images_of_xarray(probe: diderot.Program) -> None:
    xarray = pytest.importorskip("xarray")
    volume = samples().astype("f8")
    coords = {"z": 10 + 2.0 * np.arange(6), "y": -5 + 0.5 * np.arange(7), "x": 100 - 4.0 * np.arange(8)}
    image = diderot.Image(xarray.DataArray(volume, coords=coords, dims=("z", "y", "x")))
    np.testing.assert_array_equal(image.world_box(), [[72, 100], [-5, -2], [10, 20]])
    assert probe.run(vol=image, points=[[92.0, -3.5, 16.0]])["v"][0] == pytest.approx(volume[3, 3, 2], abs=1e-9)


def test_what_is_no_image_is_said(probe: diderot.Program) -> None:
    with pytest.raises(diderot.InputError, match="complex64"):
        probe.run(vol=np.zeros((4, 4, 4), "c8"), points=[[1, 1, 1]])
    with pytest.raises(diderot.InputError, match="`vol`"):
        probe.run(vol=np.zeros((4, 4)), points=[[1, 1, 1]])
    with pytest.raises(ValueError, match="affine"):
        diderot.Image(np.zeros((4, 4, 4)), affine=np.ones((3, 4)))
    outside = probe.run(vol=samples().astype("f4"), points=[[100, 100, 100]])
    assert not outside["is"][0]
