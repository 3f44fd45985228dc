"""Views without a browser: inputs, pictures, pages of notebooks, and their end."""

from __future__ import annotations

import builtins
import gc
import json
import os
import socket
import subprocess
import sys
import threading
import time
import urllib.parse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import diderot
import numpy as np
import pytest
from diderot import _view

from conftest import EDGES

MANY = """#version 2.0
input real gain = 0.1;
input int n = 3;
input bool flag = true;
input string word = "a";
input vec2 v = [1, 2];
input tensor[2,2] m = [[1, 2], [3, 4]];
input real[3] s = {1, 2, 3};
input real[] any = {1, 2};
input real twice = 2*gain;
strand p (int i) { output real x = 0; update { x = gain*i + v[0] + m[1,0] + s[2] + twice + any[0]; stabilize; } }
create_array { p(i) | i in 0..n }
"""

PLANE = """#version 2.0
input real gain ("brightness [0, 4]") = 1;
input int res = 40;
strand p (int j, int i) { output real x = gain*(i + j)/80; output vec2[2] pair = {[0, 0], [1, 1]}; update { stabilize; } }
create_array { p(j, i) | j in 0..res-1, i in 0..res-1 }
"""

SLOW = """#version 2.0
input int steps = 1000000000;
strand p (int j, int i) { int n = 0; output real x = 0; update { n += 1; x += i + j; if (n > steps) stabilize; } }
create_array { p(j, i) | j in 0..99, i in 0..99 }
"""


@pytest.fixture(scope="module")
def plane() -> diderot.Program:
    return diderot.compile(PLANE)


def threads() -> int:
    return len(os.listdir("/proc/self/task")) if sys.platform == "linux" else threading.active_count()


def soon(condition: Callable[[], bool]) -> bool:
    """Whether a condition holds within some seconds."""
    end = time.monotonic() + 10
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


def test_inputs_are_those_of_defaults_and_can_be_set() -> None:
    program = diderot.compile(MANY)
    with program.view(gain=0.25) as view:
        assert view.inputs == program.defaults(gain=0.25)
        assert view.wait()
        assert view.inputs == program.defaults(gain=0.25)
        values = {"gain": 0.1, "n": 5, "flag": False, "word": "two words", "v": [3.0, 1e-30], "m": [[0.0, 1.0], [2.0, 3.0]], "s": [4.0, 5.0, 6.0]}
        view.set(**values)
        assert view.inputs == {**values, "twice": pytest.approx(0.2)}
        view.set(v=np.array([7, 8]), any=[0.5, 1.5, 2.5], gain=None, m=None, twice=3)
        expected = {**values, "v": [7.0, 8.0], "gain": pytest.approx(0.1), "m": [[1.0, 2.0], [3.0, 4.0]], "twice": 3.0}
        assert view.inputs == expected
        view.set(twice=None)
        assert view.wait() and view.inputs == {**expected, "twice": pytest.approx(0.2)}
        assert "n=5" in repr(view)
    assert repr(view) == "View(closed)" and view.inputs["n"] == 5
    with pytest.raises(ValueError, match="closed"):
        view.picture()


def test_a_picture_is_that_of_a_run(plane: diderot.Program, tmp_path: Path) -> None:
    with plane.view(gain=0.5) as view:
        assert view.picture() == plane.run(gain=0.5).to_image("x")
        view.set(gain=0.75, res=300)
        result = plane.run(gain=0.75, res=300)
        assert view.picture("x") == result.to_image("x")
        view.save(tmp_path / "x.png")
        assert (tmp_path / "x.png").read_bytes() == result.to_image("x")
        view.save(tmp_path / "pair.npy", "pair")
        assert (np.load(tmp_path / "pair.npy") == result["pair"]).all()
        with pytest.raises(KeyError, match="there are x, pair"):
            view.picture("y")
        with pytest.raises(ValueError):
            view.save(tmp_path / "x.unknown")
        with pytest.raises(ValueError, match="no suffix"):
            view.save(tmp_path / "x")


def test_images_are_inputs_as_in_runs() -> None:
    edges, image = diderot.compile(EDGES), np.eye(64, dtype="f4")
    with edges.view(img=image, res=50) as view:
        assert view.inputs == {"res": 50}
        assert view.picture() == edges.run(img=image, res=50).to_image()
        with pytest.raises(diderot.InputError, match="make another view"):
            view.set(img=image)


@pytest.mark.parametrize(
    "wrong",
    [{}, {"img": "missing.nrrd"}, {"img": np.zeros((4, 4, 4))}, {"res": 1.5}, {"res": None}, {"rest": 1}, {"workers": 0}],
    ids=repr,
)
def test_wrong_inputs_raise_before_anything_starts(wrong: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_view._native, "View", lambda *_: pytest.fail("it has started"))
    edges = diderot.compile(EDGES)
    given = {"img": np.eye(64, dtype="f4"), **wrong} if wrong else {}
    with pytest.raises(ValueError):
        edges.view(**given)


@pytest.mark.parametrize("wrong", [{"gain": "a"}, {"gain": [1, 2]}, {"res": 1.5}, {"other": 1}], ids=repr)
def test_wrong_values_are_not_set(wrong: dict[str, Any], plane: diderot.Program) -> None:
    with plane.view() as view:
        with pytest.raises(diderot.InputError):
            view.set(**{"gain": 2.0, **wrong})
        assert view.inputs == {"gain": 1.0, "res": 40}


def test_closing_frees_the_port_and_threads(plane: diderot.Program) -> None:
    plane.run()
    before = threads()
    view = plane.view()
    port = urllib.parse.urlsplit(view.url).port
    assert port is not None and view.url == view.url
    socket.create_connection(("127.0.0.1", port)).close()
    view.wait()
    view.close()
    view.close()
    assert soon(lambda: threads() <= before)
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", port))


def test_a_long_run_ends_with_its_view() -> None:
    program = diderot.compile(SLOW)
    before = threads()
    view = program.view()
    assert not view.wait(0.3)
    start = time.monotonic()
    view.close()
    assert time.monotonic() - start < 3 and soon(lambda: threads() <= before)


def test_a_view_that_is_forgotten_ends(plane: diderot.Program) -> None:
    plane.run()
    before = threads()
    view = plane.view()
    view.wait()
    assert threads() > before
    del view
    gc.collect()
    assert soon(lambda: threads() <= before)


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_many_views_leave_nothing_behind() -> None:
    program, image = diderot.compile(EDGES), diderot.Image(np.zeros((256, 256), dtype="f4"))

    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def use(count: int) -> None:
        for _ in range(count):
            with program.view(img=image, res=300) as view:
                view.wait()
                view.inputs

    use(10)
    before, files = resident(), len(os.listdir("/proc/self/fd"))
    use(60)
    assert resident() - before < 20e6 and len(os.listdir("/proc/self/fd")) <= files


def test_python_ends_while_a_view_runs() -> None:
    code = f"import diderot, time; view = diderot.compile({SLOW!r}).view(); view.url; time.sleep(0.2)"
    done = subprocess.run([sys.executable, "-c", code], timeout=60, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


class Widget:
    """A widget that keeps the messages to its pages."""

    def __init__(self, height: int) -> None:
        self.height = height
        self.texts: list[dict[str, Any]] = []
        self.frames: list[dict[str, Any]] = []
        self.states: list[str] = []
        self.handlers: list[Any] = []

    def on_msg(self, handler: Any, remove: bool = False) -> None:
        self.handlers.remove(handler) if remove else self.handlers.append(handler)

    def send(self, content: dict[str, Any], buffers: list[bytes] | None = None) -> None:
        if buffers is not None:
            length = int.from_bytes(buffers[0][:4], "little")
            self.frames.append({**json.loads(buffers[0][4 : 4 + length]), "is_file": content["file"]})
        elif "state" in content:
            self.states.append(content["state"])
        else:
            self.texts.append(json.loads(content["text"]))

    def _repr_mimebundle_(self) -> tuple[dict[str, Any], dict[str, Any]]:
        return {"application/vnd.jupyter.widget-view+json": {"model_id": "1"}, "text/plain": "Widget()"}, {}

    def say(self, display: str, **message: Any) -> None:
        content = {"display": display, **({"bye": True} if not message else {"text": json.dumps(message)})}
        for handler in list(self.handlers):
            handler(self, content, [])

    def values(self, name: str) -> list[Any]:
        return [text["inputs"][name] for text in self.texts if text["type"] == "values"]


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_view, "_is_notebook", lambda: True)
    monkeypatch.setattr(_view, "_widget_class", lambda: Widget)


def test_a_page_in_a_notebook_shows_pictures_and_sets_inputs(notebook: None, plane: diderot.Program) -> None:
    view = plane.view(height=500)
    bundle, _ = view._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "image/png", "application/vnd.jupyter.widget-view+json"}
    assert bundle["text/plain"] == repr(view)
    widget = view._widget
    assert widget.height == 500 and not widget.texts
    widget.say("a.0", type="hello", token="")
    assert soon(lambda: any(frame["final"] for frame in widget.frames))
    assert widget.texts[0]["type"] == "welcome" and any(text["type"] == "interface" for text in widget.texts)
    widget.say("a.0", type="set", id=1, inputs={"gain": 2.5}, dragging=False)
    assert soon(lambda: any(frame["set"] == 1 for frame in widget.frames))
    assert view.inputs["gain"] == 2.5 and view.picture() == plane.run(gain=2.5).to_image("x")
    view.set(gain=3)
    assert soon(lambda: 3.0 in widget.values("gain"))
    widget.say("a.0", type="export", output="x", format="png")
    assert soon(lambda: any(frame["is_file"] for frame in widget.frames))
    # A second display of the same view learns everything.
    known = len(widget.texts)
    widget.say("a.1", type="hello", token="")
    assert soon(lambda: any(text["type"] == "interface" for text in widget.texts[known:]))
    view.close()
    assert widget.states == ["closed"]
    widget.say("a.0", type="rest")
    assert widget.states == ["closed", "closed"]


def test_a_view_without_a_display_sleeps_and_keeps_its_inputs(
    notebook: None, plane: diderot.Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_view, "_UNSEEN", 0.1)
    plane.run()
    before = threads()
    with plane.view() as view:
        view._repr_mimebundle_()
        widget = view._widget
        widget.say("a.0", type="hello", token="")
        widget.say("a.0", type="set", id=1, inputs={"gain": 2.5}, dragging=False)
        assert soon(lambda: 2.5 in widget.values("gain"))
        # The notebook is loaded again, and then the output of the cell is removed.
        widget.say("b.0", type="hello", token="")
        time.sleep(0.8)
        assert threads() > before
        widget.say("b.0")
        assert soon(lambda: threads() <= before)
        assert view.inputs["gain"] == 2.5
        known = len(widget.texts)
        widget.say("b.1", type="hello", token="")
        assert soon(lambda: any(text["type"] == "values" and text["inputs"]["gain"] == 2.5 for text in widget.texts[known:]))
        assert view.picture() == plane.run(gain=2.5).to_image("x")


def test_outputs_that_are_not_pictures_have_none(notebook: None) -> None:
    with diderot.compile(MANY).view() as view:
        bundle, _ = view._repr_mimebundle_()
        assert "image/png" not in bundle


def test_a_cell_does_not_wait_long_for_a_picture(notebook: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_view, "_PICTURE", 0.1)
    with diderot.compile(SLOW).view() as view:
        start = time.monotonic()
        bundle, _ = view._repr_mimebundle_()
        assert "image/png" not in bundle and time.monotonic() - start < 3


def test_without_anywidget_a_frame_shows_the_page(plane: diderot.Program, monkeypatch: pytest.MonkeyPatch) -> None:
    original = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name == "anywidget":
            raise ImportError(name)
        return original(name, *rest)

    monkeypatch.setattr(_view, "_is_notebook", lambda: True)
    monkeypatch.setattr(builtins, "__import__", without)
    _view._made_class.cache_clear()
    with plane.view(height=321) as view:
        bundle, _ = view._repr_mimebundle_()
        assert view.url in bundle["text/html"] and "height:321px" in bundle["text/html"]
        assert "pip install anywidget" in bundle["text/html"] and "image/png" in bundle


def test_outside_of_notebooks_a_view_is_a_text(plane: diderot.Program) -> None:
    with plane.view() as view:
        assert view._repr_mimebundle_() == ({"text/plain": "View(gain=1.0, res=40)"}, {})


def test_a_widget_has_the_script_of_the_page(plane: diderot.Program, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("anywidget")
    monkeypatch.setattr(_view, "_is_notebook", lambda: True)
    with plane.view() as view:
        bundle, _ = view._repr_mimebundle_()
        assert bundle["application/vnd.jupyter.widget-view+json"]["model_id"] == view._widget.model_id
        assert "function mount(" in view._widget._esm and "export default" in view._widget._esm
        # Another display is of the same widget.
        assert view._repr_mimebundle_()[0]["application/vnd.jupyter.widget-view+json"]["model_id"] == view._widget.model_id
