"""Compiling programs and running them."""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from . import _native
from ._native import DeviceArray
from ._errors import Diagnostic, InputError, diagnostics_of
from ._errors import warn as warn_of
from ._files import Record
from ._images import set_image
from ._meshes import MeshFile
from ._result import Result
from ._running import Progress, Running, Writes, end, shown, writer
from ._sources import plain

if TYPE_CHECKING:
    from ._view import View


@dataclass(frozen=True)
class Input:
    """An input of a program."""

    name: str
    type: str
    description: str | None
    #: The value if none is given; None if there must be one, or if it is computed.
    default: Any
    required: bool
    #: The inputs that a computed default depends on; None if it is not computed.
    computed: tuple[str, ...] | None = None

    @property
    def range(self) -> tuple[float, ...] | tuple[str, ...] | None:
        """What the end of the description says of sensible values: `[0, 255]` gives (0.0, 255.0), `[0, 8, 1]` has a step too, and
        `{sphere|torus}` gives the words. Nothing keeps a value inside."""
        text = (self.description or "").rstrip()
        if words := re.search(r"\{([^{}]+)\}$", text):
            return tuple(word.strip() for word in words.group(1).split("|"))
        try:
            numbers = re.search(r"\[([^\[\]]+)\]$", text)
            bounds = tuple(float(number) for number in numbers.group(1).split(",")) if numbers else ()
        except ValueError:
            return None
        return bounds if len(bounds) in (2, 3) and bounds[0] < bounds[1] else None


@dataclass(frozen=True)
class Output:
    """An output of a program."""

    name: str
    type: str
    #: The names of the axes of the grid of the strands, the slowest first; None for a collection.
    grid: tuple[str, ...] | None
    #: Whether each strand has a sequence of its own length.
    ragged: bool


def compile(
    source: str | os.PathLike[str],
    *,
    double: bool = False,
    long_int: bool = False,
    constants: Mapping[str, object] = MappingProxyType({}),
    target: Literal["cpu", "cuda", "cuda-only"] = "cpu",
    width: Literal[1, 4, 8, 16] | None = None,
    warn: Sequence[str] = (),
    name: str | None = None,
) -> Program:
    """Compiles the text of a program, or a file if `source` is a path or one line that ends in .diderot. Raises CompileError, and
    warns with DiderotWarning. With the target "cuda" strands run on an NVIDIA GPU where that is possible, else on the CPU with a
    warning; "cuda-only" makes that an error. Results do not depend on `width`, the number of strands in a call of the generated code.
    `warn` names warnings that are off by default, such as "broadcast"."""
    is_path = not isinstance(source, str) or ("\n" not in source and source.endswith((".diderot", ".ddro")))
    if is_path:
        path = os.fspath(source)
        text = Path(path).read_text(encoding="utf-8")
    else:
        path, text = name or "program.diderot", str(source)
    values = [(key, _spelled(value)) for key, value in constants.items()]
    kinds = [warn] if isinstance(warn, str) else list(warn)
    native = _native.compile(path if name is None else name, text, double, long_int, values, target, width, kinds)
    for _, rendered in native.warnings():
        warn_of(rendered)
    return Program(native)


def _spelled(value: Any) -> str:
    """A constant as programs write it: `[1, 2]` for an array."""
    if isinstance(value, str):
        return value
    array = plain(value)
    if array.ndim:
        return "[" + ", ".join(map(_spelled, array)) + "]"
    return str(array.item()).lower() if array.dtype == np.bool_ else str(array.item())


class Program:
    """A compiled program. It never changes, and any number of threads may run it at the same time. Pickled, it is its text, and
    is compiled again where it is loaded."""

    inputs: Mapping[str, Input]
    outputs: Mapping[str, Output]
    warnings: list[Diagnostic]

    def __init__(self, native: _native.Program) -> None:
        self._native = native
        self._about = {about["name"]: about for about in native.inputs()}
        keys = ("name", "type", "description", "default", "required")

        def described(about: dict[str, Any]) -> Input:
            sources = about["computed"]
            return Input(**{key: about[key] for key in keys}, computed=None if sources is None else tuple(sources))

        self.inputs = MappingProxyType({name: described(about) for name, about in self._about.items()})
        names = native.grid()
        grid = None if names is None else tuple(names)
        self.outputs = MappingProxyType(
            {name: Output(name, ty, grid, ragged) for name, ty, ragged in native.outputs()}
        )
        self.warnings = diagnostics_of("".join(line for line, _ in native.warnings()))

    def __reduce__(self) -> tuple[type[Program], tuple[_native.Program]]:
        return Program, (self._native,)

    def run(
        self,
        *,
        workers: int | None = None,
        limit: int | None = None,
        progress: bool | Callable[[Progress], object] = False,
        printer: Callable[[str], object] | Writes | None = None,
        record: Record | None = None,
        inputs: Mapping[str, Any] = MappingProxyType({}),
        **more: Any,
    ) -> Result:
        """Runs to the end, or `limit` super-steps. Inputs are given by their names: numbers, sequences, arrays, images, or a path.
        One whose name is a parameter of `run` is given in `inputs={...}`. Printed text goes to `printer`, usually `sys.stdout`.
        Files of `record` are written on the way. Ctrl-C raises KeyboardInterrupt with the outputs so far as `.partial`."""
        start = time.perf_counter()
        run = self._begin(workers, {**inputs, **more}, record)
        try:
            stopped = self._advance(run, limit, progress, printer)
        except KeyboardInterrupt as interrupt:
            about = run.outputs(True)
            seconds = time.perf_counter() - start
            partial = None if about is None else Result(self._native, about, "stopped", seconds)
            interrupt.partial = partial  # type: ignore[attr-defined]
            raise
        return self._result(run, stopped, start)

    def run_on_device(
        self,
        *,
        inputs: Mapping[str, Any] = MappingProxyType({}),
        **more: Any,
    ) -> dict[str, DeviceArray]:
        """Runs to the end on the GPU of `target="cuda"` and leaves the outputs there: each is an array that a library for arrays on
        GPUs takes by DLPack without a copy, such as `torch.from_dlpack`, and `numpy()` brings it back. The strands run
        independently of each other, and all become stable; otherwise the outputs cannot stay, which is an error."""
        run = self._begin(None, {**inputs, **more}, None)
        run.keep_on_device()
        run.advance(None, None, writer(None))
        outputs = run.device_outputs()
        for text in run.warnings():
            warn_of(text)
        if outputs is None:
            raise RuntimeError(
                "the outputs are not on a GPU: that takes target=\"cuda\", a GPU, and strands that run "
                "independently of each other until all are stable"
            )
        return dict(outputs)

    async def run_async(
        self,
        *,
        workers: int | None = None,
        limit: int | None = None,
        progress: bool | Callable[[Progress], object] = False,
        printer: Callable[[str], object] | Writes | None = None,
        record: Record | None = None,
        inputs: Mapping[str, Any] = MappingProxyType({}),
        **more: Any,
    ) -> Result:
        """The same for `async` code: other tasks go on while the program runs. Cancelling the task stops the run. `progress` and
        `printer` are called in another thread."""
        start = time.perf_counter()
        run = await asyncio.to_thread(self._begin, workers, {**inputs, **more}, record)
        ran = asyncio.ensure_future(asyncio.to_thread(self._advance, run, limit, progress, printer))
        try:
            stopped = await asyncio.shield(ran)
        except asyncio.CancelledError:
            run.stop()
            await asyncio.wait([ran])
            raise
        return self._result(run, stopped, start)

    def _advance(
        self,
        run: _native.Run,
        limit: int | None,
        progress: bool | Callable[[Progress], object],
        printer: Callable[[str], object] | Writes | None,
    ) -> str:
        """Runs to the end, with its files; gives the reason of the end."""
        with shown(progress) as show:
            stopped = run.advance(limit, show, writer(printer))
        run.finish_recording()
        return stopped

    def _result(self, run: _native.Run, stopped: str, start: float) -> Result:
        about = run.outputs(True)
        assert about is not None, "a run that ended has outputs"
        result = Result(self._native, about, end(stopped), time.perf_counter() - start)
        for text in result.report.warnings:
            warn_of(text)
        return result

    def defaults(self, *, inputs: Mapping[str, Any] = MappingProxyType({}), **more: Any) -> dict[str, Any]:
        """The values that inputs have in a run with these inputs, given or by default: a camera that is fitted to a volume, for
        example. Inputs that are files, and sequences of varying length, are left out."""
        return self._begin(None, {**inputs, **more}, None).inputs()

    def start(
        self,
        *,
        workers: int | None = None,
        printer: Callable[[str], object] | Writes | None = None,
        inputs: Mapping[str, Any] = MappingProxyType({}),
        **more: Any,
    ) -> Running:
        """Creates the strands and stops before the first super-step."""
        run = self._begin(workers, {**inputs, **more}, None)
        run.create()
        return Running(self, run, writer(printer))

    def view(
        self,
        *,
        workers: int | None = None,
        height: int = 600,
        inputs: Mapping[str, Any] = MappingProxyType({}),
        **more: Any,
    ) -> View:
        """A viewer, which runs the program again whenever an input changes. Inputs are given as to `run`. As the value of a cell of a
        notebook it shows the outputs, and controls for the inputs, `height` pixels high."""
        from ._view import View

        return View(self, {**inputs, **more}, workers, height)

    def explain(self, name: str | None = None, *, latex: bool = False, details: bool = False) -> str:
        """What became of the program's mathematics, or of one field or tensor: text, or LaTeX."""
        return self._native.explain(name, latex, details)

    def emit(self, stage: str = "normalize") -> str:
        """The program after a stage of the compiler."""
        return self._native.emit(stage)

    def _begin(self, workers: int | None, values: Mapping[str, Any], record: Record | None) -> _native.Run:
        # The files of meshes are read now.
        files: list[MeshFile] = []
        try:
            run = self._native.begin(self._given(workers, values, files), workers)
        except InputError as error:
            for file in files:
                error.args = (file.named(str(error)),)
            raise
        if record is not None:
            for text in run.record(record.options()):
                warn_of(text)
        return run

    def _given(self, workers: int | None, values: Mapping[str, Any], files: list[MeshFile]) -> _native.Inputs:
        """The inputs of a run. Meshes in memory become files, which last as long as the members of `files`."""
        if workers is not None and workers < 1:
            raise ValueError(f"found {workers} workers, expected at least one")
        inputs = self._native.new_inputs()
        for name, value in values.items():
            _set(inputs, self._described(name), value, self._native.is_double(), files)
        missing = [n for n, i in self.inputs.items() if i.required and n not in values]
        if missing:
            raise InputError("inputs without a value: " + ", ".join(f"{n}: {self.inputs[n].type}" for n in missing))
        return inputs

    def _described(self, name: str) -> dict[str, Any]:
        """What the native module knows about an input."""
        if name not in self._about:
            known = ", ".join(self._about) or "none"
            raise InputError(f"there is no input `{name}`; there are: {known}")
        return self._about[name]

    def __repr__(self) -> str:
        def shown(given: Input) -> str:
            default = "…" if given.computed is not None else repr(given.default)
            return f"{given.name}: {given.type}" + ("" if given.required else f" = {default}")

        takes = ", ".join(map(shown, self.inputs.values()))
        gives = ", ".join(f"{o.name}: {o.type}" for o in self.outputs.values())
        return f"Program({takes}) -> {gives}"


def _is_path(value: Any) -> bool:
    return isinstance(value, (str, os.PathLike))


def _set(inputs: _native.Inputs, about: dict[str, Any], value: Any, double: bool, files: list[MeshFile]) -> None:
    """Gives an input its value in the form that its type wants."""
    name, kind, shape, ty = about["name"], about["kind"], about["shape"], about["type"]
    if value is None:
        raise InputError(f"the input `{name}` is of type {ty}: found None; an input that is left out has its default, if there is one")
    if kind == "image":
        set_image(inputs, about, value, double)
        return
    if kind == "mesh" and not _is_path(value):
        try:
            files.append(MeshFile(name, value))
        except ValueError as error:
            raise InputError(f"the input `{name}` is of type {ty}: {error}") from None
        value = files[-1].path
    if kind == "mesh" or (_is_path(value) and shape and kind != "string"):
        inputs.set_file(name, os.fspath(value))
        return
    if kind == "string":
        inputs.set_strings(name, [value] if isinstance(value, str) else list(value))
        return
    try:
        array = plain(value)
        wanted = {"bool": "b", "int": "biu", "real": "biuf"}[kind]
        if array.size and array.dtype.kind not in wanted:
            raise ValueError(f"{array.dtype} where {kind} is wanted")
        if array.size == 0 and shape and shape[0] is None:
            array = array.reshape([0 if n is None else n for n in shape])
        fits = array.ndim == len(shape) and all(n in (None, m) for n, m in zip(shape, array.shape))
        if not fits:
            raise ValueError(f"an array of shape {array.shape}")
    except ValueError as error:
        raise InputError(f"the input `{name}` is of type {ty}: {error}") from None
    if kind == "bool":
        inputs.set_bools(name, np.ascontiguousarray(array, dtype=np.bool_).ravel())
    elif kind == "int":
        inputs.set_ints(name, np.ascontiguousarray(array, dtype=np.int64).ravel())
    else:
        inputs.set_reals(name, np.ascontiguousarray(array, dtype=np.float64).ravel())
