"""Images over time: arrays with frames, their times, and messages about both."""

from __future__ import annotations

import pickle

import diderot
import numpy as np
import pytest

PROBE = """#version 2.0
input image(2,time)[] film;
input vec2[] points;
input real t = 0;
field#1(2,time)[] F = ctmr ⊛ film;
strand s (vec2 p) {
    output real v = 0;
    output real first = startTime(film);
    output real last = endTime(film);
    output int count = frames(film);
    update { v = F(p, t); stabilize; }
}
create_array { s(p) | p in points }
"""
POINTS = [(2.25, 3.5), (4.0, 2.125)]


def plane(t: float) -> np.ndarray:
    """(1 + 2x + 3y)(1 + t), as `a[y, x]`."""
    y, x = np.mgrid[0:7, 0:8]
    return (1 + 2 * x + 3 * y) * (1 + t)


def value(p: tuple[float, float], t: float) -> float:
    return (1 + 2 * p[0] + 3 * p[1]) * (1 + t)


@pytest.fixture(scope="module")
def probe() -> diderot.Program:
    return diderot.compile(PROBE, double=True)


def test_times_of_frames(probe: diderot.Program) -> None:
    for times in ([0.5, 1.0, 1.5, 2.0], [0.5, 0.75, 1.5, 2.5]):
        film = diderot.Image(np.stack([plane(t) for t in times]), times=times)
        for t in (0.5, 0.6, 1.4, times[-1]):
            result = probe.run(film=film, points=POINTS, t=t)
            assert np.allclose(result["v"], [value(p, t) for p in POINTS], rtol=1e-12)
            assert (result["first"] == times[0]).all() and (result["last"] == times[-1]).all()
            assert (result["count"] == 4).all()


def test_frames_without_times_are_counted(probe: diderot.Program) -> None:
    film = np.stack([plane(t) for t in range(5)])
    result = probe.run(film=film, points=POINTS, t=2.5)
    assert np.allclose(result["v"], [value(p, 2.5) for p in POINTS], rtol=1e-12)


def test_order_and_place(probe: diderot.Program) -> None:
    times = [0.0, 0.5, 1.0]
    film = np.stack([plane(t) for t in times])
    wanted = probe.run(film=diderot.Image(film, times=times), points=POINTS, t=0.3)["v"]
    # a[x, y, t]
    turned = diderot.Image(film.transpose(2, 1, 0), times=times, order="F")
    assert (probe.run(film=turned, points=POINTS, t=0.3)["v"] == wanted).all()
    placed = diderot.Image(film, times=times, spacing=(0.5, 0.25), origin=(10, 20))
    points = [(10 + 0.5 * x, 20 + 0.25 * y) for x, y in POINTS]
    assert np.allclose(probe.run(film=placed, points=points, t=0.3)["v"], wanted, rtol=1e-12)
    assert placed.world_box().tolist() == [[10, 13.5], [20, 21.5]]
    again = pickle.loads(pickle.dumps(placed))
    assert np.allclose(probe.run(film=again, points=points, t=0.3)["v"], wanted, rtol=1e-12)


def test_messages(probe: diderot.Program) -> None:
    film = np.stack([plane(t) for t in range(3)])
    with pytest.raises(ValueError, match="not later"):
        diderot.Image(film, times=[0, 2, 1])
    with pytest.raises(diderot.InputError, match="times"):
        probe.run(film=diderot.Image(film, times=[0, 1]), points=POINTS)
    with pytest.raises(diderot.InputError, match="frames"):
        probe.run(film=plane(0)[0], points=POINTS)
    still = diderot.compile(PROBE.replace(",time", "").replace("F(p, t)", "F(p)").replace("startTime(film)", "0").replace("endTime(film)", "0").replace("frames(film)", "1"))
    with pytest.raises(diderot.InputError, match="over time"):
        still.run(film=diderot.Image(film, times=[0, 1, 2]), points=POINTS)
    smooth = diderot.compile(PROBE.replace("ctmr ⊛ film", "KRNS(ctmr, ctmr) ⊛ film"))
    with pytest.raises(diderot.InputError, match="irregular times"):
        smooth.run(film=diderot.Image(film, times=[0, 1, 3]), points=POINTS)


MESH = """#version 2.0
input fem#1(3,time)[] g;
input vec3[] points;
input real t = 0;
field#1(3,time)[] F = toField(g);
strand s (vec3 p) {
    output real v = F(p, t);
    output vec3 slope = ∇F(p, t);
    output int count = frames(g);
    update { stabilize; }
}
create_array { s(p) | p in points }
"""


def test_meshes_over_time() -> None:
    meshio = pytest.importorskip("meshio")
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=float)
    points = np.array([[0.2, 0.3, 0.1], [0.6, 0.1, 0.2]])
    slope = np.array([1.0, -2.0, 3.0])
    times = [0.5, 1.0, 2.0]
    meshes = {t: meshio.Mesh(corners, [("tetra", [[0, 1, 2, 3]])], point_data={"u": (1 + t) * (corners @ slope)}) for t in times}
    program = diderot.compile(MESH, double=True)
    for given in (meshes, (meshes, "u")):
        for t in (0.5, 0.7, 1.5, 2.0):
            result = program.run(g=given, points=points, t=t)
            assert np.allclose(result["v"], (1 + t) * (points @ slope), rtol=1e-12)
            assert np.allclose(result["slope"], (1 + t) * slope, rtol=1e-12)
            assert (result["count"] == 3).all()
    moved = dict(meshes)
    moved[3.0] = meshio.Mesh(2 * corners, [("tetra", [[0, 1, 2, 3]])], point_data={"u": corners @ slope})
    with pytest.raises(diderot.InputError, match="the mesh changes at time 3"):
        program.run(g=moved, points=points)
    with pytest.raises(diderot.InputError, match="expected a time in seconds"):
        program.run(g={"early": meshes[0.5]}, points=points)
