"""Inputs, outputs and errors; values are those of the command, bit for bit, or known from mathematics."""

from __future__ import annotations

import pickle
import subprocess
import warnings
from pathlib import Path

import diderot
import numpy as np
import pytest

from conftest import EDGES

WALK = """#version 2.0
input vec2[] seeds ("starts");
input tensor[2,2] turn ("one step") = [[0,-1],[1,0]];
input real[3] weights = {1, 1, 1};
input bool keep = true;
input int turns = 6;
input int[] offsets = {0};
input string label = "done";
strand walk (vec2 seed) {
    output vec2 at = seed;
    output vec2[] path = {};
    output int n = offsets[0];
    output bool even = true;
    output real[3] w = weights;
    update {
        at = turn • at * weights[n % 3];
        if (keep) { path = path @ at; }
        n += 1;
        even = n % 2 == 0;
        if (n == turns) { print(label, " "); stabilize; }
    }
}
create_array { walk(s) | s in seeds }
"""


@pytest.mark.parametrize("workers", [1, 2, 7])
def test_the_picture_is_that_of_the_command_bit_for_bit(command: str, tmp_path: Path, workers: int) -> None:
    img = (np.hypot(*np.mgrid[-1:1:64j, -1:1:64j]) < 0.7).astype("f4")
    np.save(tmp_path / "img.npy", img)
    (tmp_path / "edges.diderot").write_text(EDGES, encoding="utf-8")
    for output in ("edge.npy", "edge.png"):
        words = [command, "edges.diderot", "-img", "img.npy", "-o", output, "--range", "0,0.5", "--nworkers", str(workers)]
        subprocess.run(words, cwd=tmp_path, check=True, capture_output=True)
    result = diderot.compile(EDGES).run(img=img, workers=workers)
    expected = np.load(tmp_path / "edge.npy")
    assert result["edge"].dtype == np.float32 and result["edge"].shape == (200, 200)
    assert result["edge"].tobytes() == expected.tobytes() and expected.max() > 0.1
    assert result.to_image(range=(0, 0.5)) == (tmp_path / "edge.png").read_bytes()
    result.save(tmp_path / "mine.png", range=(0, 0.5))
    assert (tmp_path / "mine.png").read_bytes() == (tmp_path / "edge.png").read_bytes()


def test_inputs_and_outputs_of_every_type() -> None:
    program = diderot.compile(WALK, double=True)
    assert program.inputs["turn"].default == [[0.0, -1.0], [1.0, 0.0]] and program.inputs["seeds"].required
    assert program.inputs["turn"].description == "one step" and program.outputs["path"].ragged
    assert program.inputs["turn"].range is None and program.outputs["at"].grid == ("s",)
    printed: list[str] = []
    result = program.run(
        seeds=[[1, 0], [2, 1]], weights=(1, 2, 0.5), turn=np.array([[0, 1], [-1, 0]]), label="yes", printer=printed.append
    )
    # Six quarter turns are half a turn; the weights multiply to one, twice.
    np.testing.assert_array_equal(result["at"], [[-1, 0], [-2, -1]])
    assert result["at"].dtype == np.float64 and result["n"].dtype == np.int32 and result["even"].dtype == np.bool_
    assert result["even"].all() and result["w"].shape == (2, 3) and "".join(printed) == "yes yes "
    path = result["path"]
    assert isinstance(path, diderot.Ragged) and len(path) == 2 and path[1].shape == (6, 2)
    np.testing.assert_array_equal(path[0][:2], [[0, -1], [-2, 0]])
    assert np.shares_memory(path[1], path.data) and list(path.offsets) == [0, 6, 12]
    assert result.stopped == "stable" and result.steps == 6 and result.report.stable == 2
    early = program.run(seeds=np.zeros((3, 2)), turns=10**6, keep=False, limit=5)
    assert early.stopped == "limit" and early.steps == 5 and early.report.active == 3 and len(early["path"].data) == 0
    wide = diderot.compile(WALK, long_int=True).run(seeds=[[0, 0]], offsets=np.array([2**40]), turns=2**40 + 2, printer=printed.append)
    assert wide["n"].dtype == np.int64 and wide["n"][0] == 2**40 + 2


def test_wrong_inputs_are_named() -> None:
    program = diderot.compile(WALK)
    rows = [
        ({"seed": 1}, "no input `seed`"),
        ({}, "seeds: vec2"),
        ({"seeds": [1, 2, 3]}, "shape (3,)"),
        ({"seeds": [[1, 2]], "turns": 1.5}, "`turns`"),
        ({"seeds": [[1, 2]], "turns": 2**40}, "`turns`"),
        ({"seeds": [[1, 2]], "weights": [1, 2]}, "`weights`"),
        ({"seeds": "/nowhere/seeds.txt"}, "/nowhere/seeds.txt"),
        ({"seeds": [[1, 2]], "keep": 1}, "`keep`"),
    ]
    for inputs, part in rows:
        with pytest.raises(diderot.InputError) as error:
            program.run(inputs=inputs)
        assert part in str(error.value) and isinstance(error.value, ValueError), (inputs, str(error.value))


def test_errors_have_excerpts_and_places(tmp_path: Path) -> None:
    with pytest.raises(diderot.CompileError) as error:
        diderot.compile("#version 2.0\nint n = 1.5;\n", name="bad.diderot")
    assert "bad.diderot:2:" in str(error.value) and "1.5" in str(error.value)
    first = error.value.diagnostics[0]
    assert (first.line, first.severity) == (2, "error") and first.code and first.message
    assert "Traceback" not in "".join(error.value._render_traceback_())
    text = "#version 2.0\nstrand s (int i) { output int n = 0; update { n = 10/i; stabilize; } }\ncreate_array { s(i) | i in -2..3 }\n"
    (tmp_path / "division.diderot").write_text(text)
    program = diderot.compile(tmp_path / "division.diderot")
    with pytest.raises(diderot.RunError) as failed:
        program.run()
    found = failed.value
    assert (found.strand, found.coordinates, found.step, found.line) == (2, (0,), 1, 2), vars(found)
    assert "division.diderot:2:" in str(found)


def test_programs_say_what_became_of_them() -> None:
    program = diderot.compile(EDGES)
    assert repr(program) == "Program(img: image(2)[], res: int = 200) -> edge: real"
    assert "bspln3 ⊛ img" in program.explain() and "strand" in program.emit("ast")
    with pytest.raises(ValueError, match="no stage"):
        program.emit("nothing")
    assert diderot.compile("#version 2.0\nconst real c = 1;\nstrand s (int i) { output real x = c; update { stabilize; } }\n"
                           "create_array { s(i) | i in 0..1 }", constants={"c": 3.5}).run()["x"][0] == 3.5


def test_a_run_step_by_step() -> None:
    program = diderot.compile(WALK)
    with program.start(seeds=[[1, 0]], printer=lambda text: None) as run:
        assert (run.steps, run.active, run.done) == (0, 1, False)
        states = list(run.snapshots(every=2))
        assert [state.steps for state in states] == [0, 2, 4, 6] and run.done and not run.step()
    np.testing.assert_array_equal([state["at"][0] for state in states], [[1, 0], [-1, 0], [1, 0], [-1, 0]])
    with program.start(seeds=[[1, 0]]) as run:
        assert [state.steps for state in run.snapshots(every=2, limit=3)] == [0, 2, 3]


def test_a_resampled_grid_knows_its_place(tmp_path: Path) -> None:
    text = """#version 2.0
    input image(2)[] img;
    field#1(2)[] F = ctmr ⊛ img;
    strand s (int j, int i) {
        vec2 pos = [0.5*i - 3.0, 0.25*j + 10.0];
        output real v = 0;
        update { v = F(pos); stabilize; }
    }
    create_array { s(j, i) | j in 0..6, i in 0..8 }"""
    y, x = np.mgrid[0:20, 0:20]
    image = diderot.Image((3 * x + 5 * y).astype("f8"), origin=(-6, 5))
    result = diderot.compile(text, double=True).run(img=image)
    np.testing.assert_allclose(result.affine(), [[0.5, 0, -3], [0, 0.25, 10], [0, 0, 1]])
    j, i = np.mgrid[0:7, 0:9]
    np.testing.assert_allclose(result["v"], 3 * (0.5 * i - 3 + 6) + 5 * (0.25 * j + 10 - 5), atol=1e-9)
    assert result.save(tmp_path / "v.nrrd") == [str(tmp_path / "v.nrrd")]
    head = (tmp_path / "v.nrrd").read_bytes()[:500]
    assert b"space directions: (0.5,0) (0,0.25)" in head and b"space origin: (-3,10)" in head


def test_ranges_come_from_descriptions() -> None:
    program = diderot.compile("""#version 2.0
        input real iso ("isovalue [0, 255]") = 1;
        input int n ("how many [1, 8, 1]") = 2;
        input string shape ("what to draw {sphere|torus}") = "torus";
        input real odd ("of [a, b]") = 0;
        strand s (int row, int col) { output real v = iso + n + odd; update { if (shape == "torus") { v = 0; } stabilize; } }
        create_array { s(row, col) | row in 0..1, col in 0..2 }""")
    ranges = {name: about.range for name, about in program.inputs.items()}
    assert ranges == {"iso": (0, 255), "n": (1, 8, 1), "shape": ("sphere", "torus"), "odd": None}
    assert program.outputs["v"].grid == ("row", "col") and program.run()["v"].shape == (2, 3)


def test_a_gpu_or_the_cpu_with_a_reason() -> None:
    text = """#version 2.0
strand s (int i) { output real r = 0; update { r += 0.5*i; if (r >= 0.5*i) { stabilize; } } }
create_array { s(i) | i in 0..9 }"""
    on_cpu = diderot.compile(text).run()
    program = diderot.compile(text, target="cuda")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        result = program.run()
    assert np.array_equal(result["r"], on_cpu["r"])
    assert not told or "runs on the CPU" in str(told[0].message)
    assert np.array_equal(pickle.loads(pickle.dumps(program)).run()["r"], on_cpu["r"])
    with pytest.raises(ValueError, match="cuda-only"):
        diderot.compile(text, target="opencl")  # type: ignore[arg-type]


def test_fixes_are_edits_that_remove_the_error() -> None:
    text = "#version 2.0\ninput real half = 0.5;\nstrand s (int i) { output real x = hlaf; update { stabilize; } }\ncreate_array { s(i) | i in 0..0 }\n"
    with pytest.raises(diderot.CompileError) as error:
        diderot.compile(text)
    (fix,) = error.value.diagnostics[0].fixes
    (edit,) = fix.edits
    lines = text.split("\n")
    line = lines[edit.line - 1]
    lines[edit.line - 1] = line[: edit.column - 1] + edit.text + line[edit.end_column - 1 :]
    assert diderot.compile("\n".join(lines)).run()["x"] == [0.5]


FILM = """#version 2.0
strand s (int row, int col) {
    output real v = (row + col)/16.0;
    int n = 0;
    update { v += 0.1; n += 1; if (n == 4) { stabilize; } }
}
create_array { s(row, col) | row in 0..4, col in 0..5 }
"""


def test_files_are_written_while_a_run_goes_on(command: str, tmp_path: Path) -> None:
    (tmp_path / "film.diderot").write_text(FILM, encoding="utf-8")
    words = [command, "film.diderot", "-s", "2", "-o", "theirs.apng", "--fps", "5"]
    subprocess.run(words, cwd=tmp_path, check=True, capture_output=True)
    program = diderot.compile(FILM)
    result = program.run(record=diderot.Record(tmp_path / "mine.apng", snapshot=2, fps=5))
    assert result.report.files == (str(tmp_path / "mine.apng"),)
    assert (tmp_path / "mine.apng").read_bytes() == (tmp_path / "theirs.apng").read_bytes()
    # A grid that is streamed to its file can be read, too.
    result = program.run(record=diderot.Record({"v": tmp_path / "v.npy"}))
    assert (np.load(tmp_path / "v.npy") == result["v"]).all()
    # A limit ends the recording, as it ends that of the command.
    words = [command, "film.diderot", "-l", "3", "-s", "2", "-o", "theirs.nrrd"]
    subprocess.run(words, cwd=tmp_path, check=True, capture_output=True)
    program.run(limit=3, record=diderot.Record(tmp_path / "mine.nrrd", snapshot=2))
    for name in (".nrrd", "-0000.nrrd", "-0002.nrrd", "-0003.nrrd"):
        assert (tmp_path / f"mine{name}").read_bytes() == (tmp_path / f"theirs{name}").read_bytes()
    with pytest.raises(OSError, match="no/such/folder"):
        program.run(record=diderot.Record("no/such/folder/v.nrrd"))


BALL = """#version 2.0
import "std/contour";
input real radius = 0.75;
field#1(3)[] F(x) = radius - |x|;
strand tile (int row, int column) {
    output tensor[3,3][] triangles = contourTile(F, 0, row, column);
    output tensor[3,3][] normals = contourNormals(∇F, triangles);
    update { stabilize; }
}
create_collection { tile(row, column) | row in 0..contourRows-1, column in 0..contourColumns-1 }
"""


def test_triangles_become_a_closed_mesh() -> None:
    result = diderot.compile(BALL, double=True).run(contourCell=0.2)
    mesh = result.mesh()
    assert mesh.points.dtype == np.float64 and mesh.points.shape[1] == 3
    assert np.allclose(np.linalg.norm(mesh.points, axis=1), 0.75, atol=1e-12)
    edges = np.sort(mesh.triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    kinds, counts = np.unique(edges, axis=0, return_counts=True)
    assert (counts == 2).all()
    assert len(mesh.points) - len(kinds) + len(mesh.triangles) == 2
    normals = mesh.point_data["normals"]
    assert np.allclose(normals, mesh.points / 0.75, atol=1e-9)


def test_computed_defaults_can_be_asked_for() -> None:
    text = """#version 2.0
    input image(2)[] img;
    input real sigma ("scale") = 2*spacing(img);
    input vec2 middle = 0.5*(bounds(img)[0] + bounds(img)[1]);
    field#2(2)[] F = bspln3 ⊛ blur(img, sigma);
    strand S (int i) { output real y = F(middle) + i; update { stabilize; } }
    create_array { S(i) | i in 0..3 }
    """
    program = diderot.compile(text)
    assert program.inputs["sigma"].computed == ("img",)
    assert not program.inputs["sigma"].required
    image = np.zeros((5, 9), dtype=np.float32)
    assert program.defaults(img=image) == {"sigma": 2.0, "middle": [4.0, 2.0]}
    assert program.defaults(img=image, sigma=0.5)["sigma"] == 0.5
    assert program.run(img=image + 3)["y"][0] == pytest.approx(3)


def test_pictures_are_plotted_where_they_are() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    text = """#version 2.0
    strand S (int row, int col) {
        vec2 pos = [10 + 0.5*col, 3 - 0.25*row];
        output real y = pos[0];
        update { stabilize; }
    }
    create_array { S(row, col) | row in 0..3, col in 0..7 }
    """
    ax = diderot.compile(text).run().plot(cmap="viridis")
    assert ax.images[0].get_extent() == [9.75, 13.75, 2.125, 3.125]
