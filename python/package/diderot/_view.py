"""Programs in a viewer: controls for the inputs beside a picture that follows them, in a notebook or a browser.

A page in a notebook is a widget of anywidget: messages between it and the native module go through the kernel, so that no port has
to be reached. They are those of a page in a browser."""

from __future__ import annotations

import base64
import copy
import functools
import html
import json
import math
import os
import sys
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from . import _native
from ._errors import InputError
from ._files import PathLike
from ._sources import plain
from ._meshes import MeshFile
from ._program import Program, _is_path, _set

#: The seconds that a cell waits for the picture that is saved with it.
_PICTURE = 3.0
#: The seconds until values that were set should be in use.
_SETTLED = 1.0
#: The seconds that a program keeps its state without a display.
_UNSEEN = 20.0
#: The seconds after which a page that draws nothing is taken for closed.
_ASLEEP = 120.0


class View:
    """A program that runs again whenever an input changes. Shown by a notebook, it has controls for the inputs beside the picture;
    `url` is the same in a browser. It ends with `close`, at the end of a `with`, or when it is neither shown nor referred to."""

    def __init__(self, program: Program, values: Mapping[str, Any], workers: int | None, height: int) -> None:
        self._program = program
        self._workers = workers
        self._height = height
        #: The files of meshes, which every run reads.
        self._files: list[MeshFile] = []
        self._given: _native.Inputs | None = program._given(workers, values, self._files)
        # A run that does not start finds all faults of the inputs, and the defaults that are computed.
        self._values: dict[str, Any] = program._native.begin(self._given, workers).inputs()
        #: Inputs that were set since, as pages send them.
        self._changes: dict[str, Any] = {}
        #: Those that may not be in use yet, with their values.
        self._unsettled: dict[str, Any] = {}
        self._lock = threading.RLock()
        self._native: _native.View | None = None
        self._work = _Work()
        self._end: Callable[[], object] = _nothing
        self._is_served = False
        self._widget: Any = None
        #: The pages in cells of notebooks.
        self._displays: set[str] = set()
        #: Since when there is none.
        self._unseen = 0.0
        #: Since when a picture waits to be drawn.
        self._undrawn: float | None = None
        self._started()

    @property
    def inputs(self) -> dict[str, Any]:
        """The values of the inputs in the present picture. As in `Program.defaults`, files and sequences of varying length are left
        out."""
        end = time.monotonic() + _SETTLED
        while self._update() and time.monotonic() < end:
            time.sleep(0.002)
        with self._lock:
            self._unsettled.clear()
            return copy.deepcopy(self._values)

    def _update(self) -> bool:
        """Reads the values of inputs; whether some that were set are not in use yet."""
        with self._lock:
            if self._native is not None:
                found = json.loads(self._native.inputs())
                known = [name for name in self._values if name in found]
                self._values.update({name: _nested(self._program._about[name], found[name]) for name in known})
            return any(self._values.get(name, value) != value for name, value in self._unsettled.items())

    def set(self, /, **inputs: Any) -> None:
        """Sets inputs as controls do; None is the default again."""
        changes = {name: self._change(name, value) for name, value in inputs.items()}
        with self._lock:
            native = self._started()
            self._changes.update(changes)
            native.set(json.dumps(changes))
            for name, change in changes.items():
                about = self._program.inputs[name]
                if change is not None:
                    self._unsettled[name] = _nested(self._program._about[name], change)
                elif about.computed is None:
                    self._unsettled[name] = about.default

    def _change(self, name: str, value: Any) -> Any:
        """A value of an input as pages send it: numbers of tensors in one list."""
        about = self._program._described(name)
        kind, shape, ty = about["kind"], about["shape"], about["type"]
        if value is None:
            if about["required"]:
                raise InputError(f"the input `{name}` of type {ty} has no default")
            return None
        if kind in ("image", "mesh") or (shape and kind != "string" and _is_path(value)):
            raise InputError(f"the input `{name}` of type {ty} cannot change in a view; make another view")
        _set(self._program._native.new_inputs(), about, value, self._program._native.is_double(), [])
        if kind == "string":
            return value if isinstance(value, str) else list(value)
        array = plain(value)
        numbers = (array.astype(np.float64) if kind == "real" else array).ravel().tolist()
        # JSON has no infinities.
        numbers = [x if math.isfinite(x) else repr(x) for x in numbers]
        if shape and shape[0] is None:
            if not numbers:
                raise InputError(f"the input `{name}` of type {ty} cannot become empty in a view; make another view")
            rows = np.array([str(x).lower() for x in numbers]).reshape(array.shape[0], -1)
            return ";".join(",".join(row) for row in rows)
        return numbers if shape else numbers[0]

    @property
    def url(self) -> str:
        """The address of the page for browsers on this machine."""
        with self._lock:
            self._is_served = True
            return self._started().address()

    def wait(self, seconds: float = 60.0) -> bool:
        """Waits until the picture is final; False if it is not after so long."""
        native = self._started()
        end = time.monotonic() + seconds
        # In pieces, so that Ctrl-C is noticed.
        while not native.wait(max(0.0, min(0.2, end - time.monotonic()))):
            if time.monotonic() >= end:
                return False
        return True

    def picture(self, output: str | None = None) -> bytes:
        """The bytes of a PNG of an output, usually the first that is a picture, once it is final."""
        return self._export(output, "png")

    def save(self, path: PathLike, output: str | None = None) -> None:
        """Writes an output to a file, usually the first that the format suits; the suffix chooses the format."""
        name = os.path.basename(os.fspath(path)).lower()
        parts = name.split(".")
        if len(parts) < 2:
            raise ValueError(f"the name `{name}` has no suffix that chooses a format")
        compressed = len(parts) > 2 and parts[-1] == "gz"
        made = self._export(output, ".".join(parts[-2:] if compressed else parts[-1:]))
        Path(path).write_bytes(made)

    def _export(self, output: str | None, format: str, seconds: float = math.inf) -> bytes:
        if output is not None and output not in self._program.outputs:
            raise KeyError(f"there is no output `{output}`; there are {', '.join(self._program.outputs)}")
        native = self._started()
        names = [output] if output is not None else list(self._program.outputs)
        made: list[bytes] = []
        errors: list[Exception] = []

        def make() -> None:
            for name in names:
                try:
                    made.append(native.export(name, format))
                    return
                except Exception as error:
                    errors.append(error)

        # In another thread, so that Ctrl-C is noticed.
        thread = self._work.begin(make)
        end = time.monotonic() + seconds
        while thread.is_alive():
            thread.join(0.2)
            if time.monotonic() > end:
                raise TimeoutError(f"the picture is not final after {seconds:g} seconds")
        if not made:
            raise errors[0]
        return made[0]

    def close(self) -> None:
        """Ends the program and its pages."""
        with self._lock:
            end = self._stop()
            self._given = None
            self._files.clear()
            widget, self._widget = self._widget, None
            self._displays.clear()
        end()
        if widget is not None:
            widget.on_msg(self._receive, remove=True)
            widget.on_msg(_refuse)
            widget.send({"state": "closed"})

    def __enter__(self) -> View:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in self._values.items())
        return f"View({values})" if self._given is not None else "View(closed)"

    def _started(self) -> _native.View:
        """The native view. One that was stopped begins again with the inputs that it had."""
        with self._lock:
            if self._given is None:
                raise ValueError("the view is closed")
            if self._native is None:
                self._native = _native.View(self._program._native, self._given, self._workers)
                self._work = _Work()
                # Also at the end of Python: threads of the native module must not outlive it.
                self._end = weakref.finalize(self, _finish, self._native, self._work)
                if self._changes:
                    self._native.set(json.dumps(self._changes))
            return self._native

    def _stop(self) -> Callable[[], object]:
        """Takes leave of the native view, and keeps the values of the inputs. The answer ends it, and may take some time."""
        with self._lock:
            self._update()
            self._native = None
            end, self._end = self._end, _nothing
            return end

    def _receive(self, _: object, content: dict[str, Any], __: object) -> None:
        """Takes a message of a page in a notebook, in any thread."""
        display = str(content.get("display"))
        with self._lock:
            if content.get("bye"):
                self._displays.discard(display)
                self._unseen = time.monotonic()
                return
            text = content["text"]
            message = json.loads(text)
            self._undrawn = None
            if message["type"] == "set":
                self._changes.update(message["inputs"])
            is_new = message["type"] == "hello" or display not in self._displays
            if is_new:
                # Pages of a browser that has loaded the notebook again are gone. Others come back with their next message.
                session = display.split(".")[0]
                self._displays = {other for other in self._displays if other.split(".")[0] == session} | {display}
            native = self._started()
            if is_new:
                native.open()
                self._feed(native)
        native.receive(text)

    def _feed(self, native: _native.View) -> None:
        """Sends the messages to pages in notebooks, in a thread as long as there are any."""
        work, widget = self._work, self._widget

        def feed() -> None:
            while not work.is_over.is_set():
                message = native.next(0.25)
                if work.is_over.is_set():
                    return
                if isinstance(message, str):
                    widget.send({"text": message})
                elif message is not None:
                    widget.send({"file": _is_file(message)}, buffers=[message])
                self._leave(isinstance(message, bytes))()

        if not work.is_fed:
            work.is_fed = True
            work.begin(feed)

    def _leave(self, has_sent: bool) -> Callable[[], object]:
        """Takes leave of the native view if no page is left that shows pictures; one was sent just now or not."""
        now = time.monotonic()
        with self._lock:
            if has_sent:
                self._undrawn = self._undrawn or now
            if self._undrawn is not None and now - self._undrawn > _ASLEEP:
                self._displays.clear()
            is_seen = self._displays or self._is_served or now - self._unseen < _UNSEEN
            return _nothing if is_seen else self._stop()

    def _repr_mimebundle_(self, **_: object) -> tuple[dict[str, Any], dict[str, Any]]:
        plain = {"text/plain": repr(self)}
        if self._given is None or not _is_notebook():
            return plain, {}
        metadata: dict[str, Any] = {}
        kind = _widget_class()
        if kind is None:
            shown = {"text/html": self._frame()}
        else:
            with self._lock:
                if self._widget is None:
                    self._widget = kind(height=self._height)
                    self._widget.on_msg(self._receive)
            shown, metadata = self._widget._repr_mimebundle_()
        try:
            # What a saved notebook shows without a kernel.
            picture = self._export(None, "png", _PICTURE)
            shown = {**shown, "image/png": base64.b64encode(picture).decode()}
        except (ValueError, TimeoutError):
            pass
        return {**shown, **plain}, metadata

    def _frame(self) -> str:
        """The page of the browser in a frame."""
        return (
            f'<iframe src="{html.escape(self.url)}" style="width:100%;height:{self._height}px;border:0" allow="fullscreen"></iframe>'
            "<p>This frame works in a browser on the machine of the kernel; with <code>pip install anywidget</code> the viewer "
            "works everywhere.</p>"
        )


class _Work:
    """The threads in Python that work for a native view."""

    def __init__(self) -> None:
        self.is_over = threading.Event()
        self.is_fed = False
        self._threads: weakref.WeakSet[threading.Thread] = weakref.WeakSet()

    def begin(self, work: Callable[[], object]) -> threading.Thread:
        thread = threading.Thread(target=work, name="diderot-view", daemon=True)
        self._threads.add(thread)
        thread.start()
        return thread

    def wait(self) -> None:
        for thread in list(self._threads):
            if thread is not threading.current_thread():
                thread.join(5)


def _finish(native: _native.View, work: _Work) -> None:
    """Ends a native view and the threads that work for it."""
    work.is_over.set()
    native.close()
    work.wait()


def _nothing() -> None:
    """The end of a view that does not run."""


def _is_file(message: bytes) -> bool:
    """Whether a binary message has a file that a page asked for."""
    length = int.from_bytes(message[:4], "little")
    return bool(json.loads(message[4 : 4 + length])["type"] == "file")


def _refuse(widget: Any, content: dict[str, Any], _: object) -> None:
    """Answers pages of a view that is closed."""
    if not content.get("bye"):
        widget.send({"state": "closed"})


def _nested(about: dict[str, Any], value: Any) -> Any:
    """A value of a page in the form of `Program.defaults`: tensors as lists of lists."""
    kind, shape = about["kind"], about["shape"]
    if None in shape:
        return value
    if kind == "real":
        # JSON has no infinities.
        numbers = [math.nan if x is None else float(x) for x in (value if shape else [value])]
        return np.array(numbers).reshape(shape).tolist()
    return np.array(value, dtype=object).reshape(shape).tolist() if len(shape) > 1 else value


def _is_notebook() -> bool:
    """Whether a kernel shows the values of cells."""
    found = sys.modules.get("IPython")
    return found is not None and getattr(found.get_ipython(), "kernel", None) is not None


@functools.lru_cache(maxsize=1)
def _script() -> str:
    """The script of the page, for widgets."""
    script, style = _native.page()
    ours = Path(__file__).with_name("_view.js").read_text(encoding="utf-8")
    return f"{script}\nconst STYLE = {json.dumps(style)};\n{ours}"


@functools.lru_cache(maxsize=1)
def _made_class() -> Any:
    import anywidget
    import traitlets

    height = traitlets.Int(600).tag(sync=True)
    return type("ViewWidget", (anywidget.AnyWidget,), {"__module__": __name__, "_esm": _script(), "height": height})


def _widget_class() -> Any:
    """The class of widgets; None without anywidget."""
    try:
        return _made_class()
    except ImportError:
        return None
