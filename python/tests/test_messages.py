"""What Python is told: warnings as warnings, messages in NumPy's terms, and never a panic."""

from __future__ import annotations

import os
import pickle
import warnings
from pathlib import Path
from typing import Any

import diderot
import numpy as np
import pytest
from diderot import _native

from conftest import EDGES

COLOURS = """#version 2.0
input image(2)[3] v;
field#0(2)[3] F = tent ⊛ v;
strand s (int i) { output vec3 c = [0, 0, 0]; update { c = F([1.0 + i, 2.0]); stabilize; } }
create_array { s(i) | i in 0..0 }
"""
TENSORS = """#version 2.0
input image(3)[3,3] v;
field#0(3)[3,3] F = tent ⊛ v;
strand s (int i) { output tensor[3,3] t = zeros[3,3]; update { t = F([1.0, 2.0, 1.0 + i]); stabilize; } }
create_array { s(i) | i in 0..0 }
"""
SCALARS = """#version 2.0
input image(3)[] v;
field#0(3)[] F = tent ⊛ v;
strand s (int i) { output real x = 0; update { x = F([1.0, 2.0, 1.0 + i]); stabilize; } }
create_array { s(i) | i in 0..0 }
"""
NUMBERS = """#version 2.0
input int k = 1;
input vec3 w = [1, 2, 3];
input real x = 1;
strand s (int i) { output real y = k + w[0] + x + i; update { stabilize; } }
create_array { s(i) | i in 0..0 }
"""


def message(program: diderot.Program, **inputs: Any) -> str:
    with pytest.raises(diderot.InputError) as error:
        program.run(**inputs)
    text = str(error.value)
    assert "-v" not in text and "--" not in text and "FILE" not in text and "([" not in text, text
    return text


def test_warnings_of_the_compiler_are_warnings_of_python() -> None:
    text = NUMBERS.replace("k + w[0]", "k/2 + w[0]")
    with pytest.warns(diderot.DiderotWarning, match="integer-division|division") as caught:
        program = diderot.compile(text, name="half.diderot")
    assert len(caught) == len(program.warnings) == 1 and "half.diderot:" in str(caught[0].message)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        diderot.compile(NUMBERS)


def test_warnings_of_a_run_are_warnings_of_python() -> None:
    program = diderot.compile(SCALARS)
    far = diderot.Image(np.zeros((4, 4, 4)), origin=(100, 100, 100))
    with pytest.warns(diderot.DiderotWarning, match="no probe was inside") as caught:
        result = program.run(v=far)
    assert [str(w.message) for w in caught] == list(result.report.warnings) and caught[0].filename == __file__
    with pytest.warns(diderot.DiderotWarning, match="no probe was inside"), program.start(v=far) as run:
        run.step()
        run.outputs()


def test_shapes_are_told_as_numpy_counts_axes() -> None:
    colours = diderot.compile(COLOURS)
    first = np.arange(3 * 4 * 5, dtype="f4").reshape(3, 4, 5)
    text = message(colours, v=first)
    assert "(3, 4, 5)" in text and "(y, x, 3)" in text and "numpy.moveaxis(array, 0, -1)" in text
    moved = colours.run(v=np.moveaxis(first, 0, -1))["c"][0]
    np.testing.assert_array_equal(moved, first[:, 2, 1])
    assert "1 axis" in message(colours, v=np.zeros(5))
    scalars = diderot.compile(SCALARS)
    text = message(scalars, v=np.zeros((5, 4, 4, 4)))
    assert "array[n]" in text and "axis 0" in text and "array[..., n]" in text and "axis 3" in text
    text = message(diderot.compile(TENSORS), v=np.zeros((4, 4, 4, 6)))
    assert 'symmetric="upper"' in text and "xx xy xz yy yz zz" in text


def symmetric() -> np.ndarray:
    half = np.random.default_rng(1).normal(size=(4, 5, 6, 3, 3))
    return half + half.swapaxes(-1, -2)


def test_halves_of_symmetric_matrices(tmp_path: Path) -> None:
    program, whole = diderot.compile(TENSORS, double=True), symmetric()
    expected = whole[1, 2, 1]
    rows, columns = np.triu_indices(3)
    upper = whole[..., rows, columns]
    lower = whole[..., columns[[0, 1, 3, 2, 4, 5]], rows[[0, 1, 3, 2, 4, 5]]]
    for stored, name in ((upper, "upper"), (lower, "lower")):
        image = diderot.Image(stored, symmetric=name)  # type: ignore[arg-type]
        np.testing.assert_array_equal(program.run(v=image)["t"][0], expected)
    np.save(tmp_path / "t.npy", upper)
    of_file = diderot.Image(tmp_path / "t.npy", symmetric="upper")
    np.testing.assert_array_equal(program.run(v=of_file)["t"][0], expected)
    with pytest.raises(ValueError, match="'upper' or 'lower'"):
        diderot.Image(upper, symmetric="left")  # type: ignore[arg-type]


def test_intents_of_nibabel_hold_as_those_of_files(tmp_path: Path) -> None:
    nib = pytest.importorskip("nibabel")
    program, whole = diderot.compile(TENSORS), symmetric()
    rows, columns = np.tril_indices(3)
    stored = whole.transpose(2, 1, 0, 3, 4)[..., rows, columns][:, :, :, None, :].astype("f4")
    image = nib.Nifti1Image(stored, np.eye(4))
    image.header.set_intent(1005)
    nib.save(image, tmp_path / "t.nii.gz")
    by_path = program.run(v=str(tmp_path / "t.nii.gz"))["t"]
    np.testing.assert_array_equal(program.run(v=nib.load(tmp_path / "t.nii.gz"))["t"], by_path)
    np.testing.assert_array_equal(program.run(v=image)["t"], by_path)
    np.testing.assert_allclose(by_path[0], whole[1, 2, 1], rtol=1e-6)
    vectors = diderot.compile(SCALARS.replace("[] v", "[3] v").replace("(3)[] F", "(3)[3] F").replace(
        "real x = 0", "vec3 x = [0, 0, 0]"))
    stored = np.arange(4 * 5 * 6 * 3, dtype="f4").reshape(4, 5, 6, 1, 3)
    image = nib.Nifti1Image(stored, np.eye(4))
    image.header.set_intent(1007)
    nib.save(image, tmp_path / "v.nii")
    by_path = vectors.run(v=str(tmp_path / "v.nii"))["x"]
    np.testing.assert_array_equal(vectors.run(v=image)["x"], by_path)
    np.testing.assert_array_equal(by_path[0], stored[1, 2, 1, 0])


def test_an_image_may_be_a_file(tmp_path: Path) -> None:
    program = diderot.compile(SCALARS)
    volume = np.arange(4 * 5 * 6, dtype="i2").reshape(4, 5, 6)
    np.save(tmp_path / "v.npy", volume)
    for path in (str(tmp_path / "v.npy"), tmp_path / "v.npy"):
        image = diderot.Image(path)
        assert image.shape == (4, 5, 6) and "int16" in repr(image)
        np.testing.assert_array_equal(image.world_box(), [[0, 5], [0, 4], [0, 3]])
        assert program.run(v=image)["x"][0] == volume[1, 2, 1]
    with pytest.raises(ValueError, match="spacing"):
        diderot.Image(tmp_path / "v.npy", spacing=2)
    with pytest.raises(diderot.InputError, match="nothing.npy"):
        diderot.Image(tmp_path / "nothing.npy")
    name = os.fsencode(tmp_path) + b"/\xff.npy"
    os.rename(tmp_path / "v.npy", name)
    assert program.run(v=os.fsdecode(name))["x"][0] == volume[1, 2, 1]


class Grid:
    """What an ImageData of pyvista has."""

    dimensions = (6, 5, 4)
    spacing = (2.0, 1.0, 0.5)
    origin = (1.0, 0.0, 0.0)
    active_scalars_name = "t"

    def __init__(self, arrays: dict[str, np.ndarray]) -> None:
        self.point_data = arrays


def test_images_of_pyvista() -> None:
    volume = np.arange(4 * 5 * 6, dtype="f4").reshape(4, 5, 6)
    image = diderot.Image(Grid({"p": -volume.ravel(), "t": volume.ravel()}))
    np.testing.assert_array_equal(image.world_box(), [[1, 11], [0, 4], [0, 1.5]])
    # The position (1, 2, 1) is sample 0, 2, 2 of x, y, z.
    assert diderot.compile(SCALARS).run(v=image)["x"][0] == volume[2, 2, 0]
    with pytest.raises(ValueError, match="`p`, `q`"):
        diderot.Image(Grid({"p": volume.ravel(), "q": volume.ravel()}))


def test_values_that_cannot_be_taken_are_said() -> None:
    scalars, numbers = diderot.compile(SCALARS), diderot.compile(NUMBERS)
    assert "None" in message(scalars, v=None)
    assert str(2**40) in message(numbers, k=2**40) and "2147483647" in message(numbers, k=2**40)
    assert "shape (2,)" in message(numbers, w=[4.0, 9.0])
    assert "1e+39" in message(numbers, x=1e39) or "1e39" in message(numbers, x=1e39)
    assert diderot.compile(NUMBERS, double=True).run(x=1e39)["y"][0] == 1e39
    large = np.full((4, 4, 4), 1e300)
    assert "1e+300" in message(scalars, v=large) and "double=True" in message(scalars, v=diderot.Image(large))
    assert diderot.compile(SCALARS, double=True).run(v=large)["x"][0] == 1e300
    assert not np.isfinite(scalars.run(v=np.full((4, 4, 4), np.inf))["x"][0])
    masked = np.ma.masked_less(np.arange(64.0).reshape(4, 4, 4), 3)
    assert "3 of 64" in message(scalars, v=masked) and "filled" in message(scalars, v=masked)
    assert scalars.run(v=np.ma.masked_array(np.ones((4, 4, 4))))["x"][0] == 1
    assert scalars.run(v=masked.filled(7))["x"][0] == 16 + 2 * 4 + 1
    assert "masked" in message(numbers, w=np.ma.masked_equal([1.0, 2.0, 3.0], 2))


def test_constants_are_values_of_python() -> None:
    text = """#version 2.0
    const vec3 v = [1, 2, 3];
    const tensor[2,2] m = identity[2];
    const bool is = true;
    const int n = 3;
    const string word = "a";
    strand s (int i) { output vec3 x = v; output tensor[2,2] t = m; output bool b = is && word == "b"; update { x += [i, 0, 0]; stabilize; } }
    create_array { s(i) | i in 0..n-1 }"""
    for v in ([4, 5, 6], (4, 5.0, 6), np.array([4, 5, 6], "f4"), "[4, 5, 6]"):
        given = {"v": v, "m": np.array([[1.5, 2], [3, 4]]), "is": np.bool_(True), "n": np.int16(2), "word": "b"}
        result = diderot.compile(text, constants=given).run()
        np.testing.assert_array_equal(result["x"], [[4, 5, 6], [5, 5, 6]])
        np.testing.assert_array_equal(result["t"][0], [[1.5, 2], [3, 4]])
        assert result["b"].all()
    with pytest.raises(diderot.CompileError, match="`v=high`") as error:
        diderot.compile(text, constants={"v": "high"})
    assert "--C" not in str(error.value)


def test_half_precision_is_taken_exactly() -> None:
    half = np.random.default_rng(1).normal(size=(4, 4, 4)).astype("f2")
    program = diderot.compile(SCALARS)
    for given in (half, diderot.Image(half)):
        assert program.run(v=given)["x"][0] == np.float32(half[1, 2, 1])


def test_programs_results_and_images_can_be_pickled(tmp_path: Path) -> None:
    (tmp_path / "lib.diderot").write_text("#version 2.0\nfunction real twice (real x) = 2*x;\n")
    text = SCALARS.replace("input image", 'import "lib.diderot";\ninput image').replace("x = F(", "x = twice(F(").replace("i]);", "i]));")
    (tmp_path / "p.diderot").write_text(text, encoding="utf-8")
    program = diderot.compile(tmp_path / "p.diderot", double=True)
    (tmp_path / "lib.diderot").unlink()
    image = diderot.Image(np.arange(64.0).reshape(4, 4, 4), spacing=(0.5, 1, 1))
    result = program.run(v=image)
    program2, image2, result2 = pickle.loads(pickle.dumps((program, image, result)))
    assert repr(program2) == repr(program) and image2.shape == image.shape
    np.testing.assert_array_equal(image2.affine, image.affine)
    assert program2.run(v=image2)["x"].tobytes() == result["x"].tobytes() == result2["x"].tobytes()
    assert result2.report == result.report
    result2.save(tmp_path / "x.nrrd")
    failed = pickle.loads(pickle.dumps(diderot.RunError("text", "", "input", 1, [2], 3)))
    assert isinstance(failed, diderot.RunError) and (failed.strand, failed.step) == (1, 3)


def test_a_panic_is_an_exception_that_asks_for_a_report(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(diderot.InternalError, match="on purpose") as error:
        _native.fault("on purpose")
    assert isinstance(error.value, Exception) and "report" in str(error.value)
    capfd.readouterr()
    assert diderot.compile(EDGES).outputs["edge"].type == "real"
