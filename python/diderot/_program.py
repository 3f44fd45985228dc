"""Compiling programs and running them."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from . import _native
from ._errors import Diagnostic, InputError, diagnostics_of, warn
from ._files import Record
from ._images import Image, _plain, set_image
from ._result import Result

if TYPE_CHECKING:
    from ._view import View


class Writes(Protocol):
    """Something that text can be written to."""

    def write(self, text: str, /) -> object: ...


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


@dataclass(frozen=True)
class Progress:
    """How far a run is."""

    steps: int
    active: int
    stable: int
    dead: int
    #: The part that is done, if it can be known.
    fraction: float | None


def compile(
    source: str | os.PathLike[str],
    *,
    double: bool = False,
    long_int: bool = False,
    constants: Mapping[str, object] = MappingProxyType({}),
    target: Literal["cpu", "cuda", "cuda-only"] = "cpu",
    name: str | None = None,
) -> Program:
    """Compiles the text of a program, or a file if `source` is a path or one line that ends in .diderot. Raises CompileError, and
    warns with DiderotWarning. With the target "cuda" strands run on an NVIDIA GPU where that is possible, else on the CPU with a
    warning; "cuda-only" makes that an error."""
    is_path = not isinstance(source, str) or ("\n" not in source and source.endswith((".diderot", ".ddro")))
    if is_path:
        path = os.fspath(source)
        text = Path(path).read_text(encoding="utf-8")
    else:
        path, text = name or "program.diderot", str(source)
    values = [(key, _spelled(value)) for key, value in constants.items()]
    program = Program(_native.compile(path if name is None else name, text, double, long_int, values, target))
    for _, shown in program._native.warnings():
        warn(shown)
    return program


def _spelled(value: object) -> str:
    """A constant as the command line has it."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)


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
        with _shown(progress) as show:
            try:
                stopped = run.advance(limit, show, _writer(printer))
            except KeyboardInterrupt as interrupt:
                about = run.outputs(True)
                seconds = time.perf_counter() - start
                partial = None if about is None else Result(self._native, about, "cancelled", seconds)
                interrupt.partial = partial  # type: ignore[attr-defined]
                raise
        run.finish_recording()
        about = run.outputs(True)
        assert about is not None, "a run that ended has outputs"
        result = Result(self._native, about, _end(stopped), time.perf_counter() - start)
        for text in result.report.warnings:
            warn(text)
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
        return Running(self, run, _writer(printer))

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
        run = self._native.begin(self._given(workers, values), workers)
        if record is not None:
            for text in run.record(record.options()):
                warn(text)
        return run

    def _given(self, workers: int | None, values: Mapping[str, Any]) -> _native.Inputs:
        """The inputs of a run."""
        if workers is not None and workers < 1:
            raise ValueError(f"found {workers} workers, expected at least one")
        inputs = self._native.new_inputs()
        for name, value in values.items():
            _set(inputs, self._described(name), value, self._native.is_double())
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


def _set(inputs: _native.Inputs, about: dict[str, Any], value: Any, double: bool) -> None:
    """Gives an input its value in the form that its type wants."""
    name, kind, shape, ty = about["name"], about["kind"], about["shape"], about["type"]
    if value is None:
        raise InputError(f"the input `{name}` is of type {ty}: found None; an input that is left out has its default, if there is one")
    if kind == "image":
        set_image(inputs, about, value, double)
        return
    if kind == "mesh" or (_is_path(value) and shape and kind != "string"):
        if not _is_path(value):
            raise InputError(f"the input `{name}` is of type {ty} and given by the path of a file")
        inputs.set_file(name, os.fspath(value))
        return
    if kind == "string":
        inputs.set_strings(name, [value] if isinstance(value, str) else list(value))
        return
    try:
        array = _plain(value)
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


def _writer(printer: Callable[[str], object] | Writes | None) -> Callable[[str], object]:
    if printer is None:
        # Looked up when it is needed: notebooks put their own in its place.
        return lambda text: sys.stdout.write(text)
    return printer if callable(printer) else printer.write


def _end(stopped: str) -> Literal["stable", "limit", "cancelled"]:
    assert stopped in ("stable", "limit", "cancelled")
    return stopped  # type: ignore[return-value]


@contextlib.contextmanager
def _shown(
    progress: bool | Callable[[Progress], object],
) -> Iterator[Callable[[int, int, int, int, float | None], object] | None]:
    """What is called now and then while a program runs."""
    if callable(progress):
        yield lambda *numbers: progress(Progress(*numbers))
    elif not progress:
        yield None
    else:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            yield _line
            print(file=sys.stderr)
            return
        with tqdm(total=100, unit="%") as bar:

            def show(steps: int, active: int, stable: int, dead: int, fraction: float | None) -> None:
                bar.n = round(100 * (fraction or 0))
                bar.set_postfix(steps=steps, active=active)

            yield show
            bar.n = 100
            bar.refresh()


def _line(steps: int, active: int, stable: int, dead: int, fraction: float | None) -> None:
    part = "" if fraction is None else f"{100 * fraction:3.0f} %  "
    print(f"\r{part}super-step {steps}: {active} active, {stable} stable", end="", file=sys.stderr, flush=True)


class Running:
    """A run that goes step by step; a context manager that cancels it at the end."""

    def __init__(self, program: Program, run: _native.Run, printer: Callable[[str], object]) -> None:
        self._program = program
        self._run = run
        self._printer = printer
        self._cancelled = False
        self._warned = False

    @property
    def steps(self) -> int:
        """Super-steps completed."""
        return self._run.progress()[0]

    @property
    def active(self) -> int:
        """Strands that go on."""
        return self._run.progress()[1]

    @property
    def stable(self) -> int:
        """Strands that have their result."""
        return self._run.progress()[2]

    @property
    def dead(self) -> int:
        """Strands that died."""
        return self._run.progress()[3]

    @property
    def done(self) -> bool:
        """Whether nothing is left to run."""
        return self._cancelled or self._run.is_over()

    def step(self, n: int = 1) -> bool:
        """Runs so many super-steps; says whether strands are still active."""
        if n < 1:
            raise ValueError(f"found {n} super-steps, expected at least one")
        if self.done:
            return False
        self._cancelled = self._run.advance(n, None, self._printer) == "cancelled"
        return not self.done

    def outputs(self) -> Result:
        """The state of all living strands, now; an independent copy."""
        about = self._run.outputs(False)
        if about is None:
            raise RuntimeError("this run has failed")
        stopped = "cancelled" if self._cancelled else "stable" if self._run.is_over() else "limit"
        result = Result(self._program._native, about, _end(stopped))
        if self.done and not self._warned:
            self._warned = True
            for text in result.report.warnings:
                warn(text)
        return result

    def snapshots(self, every: int = 1, limit: int | None = None) -> Iterator[Result]:
        """The state now, then after every `every` super-steps, then at the end."""
        yield self.outputs()
        while not self.done and (limit is None or self.steps < limit):
            left = every if limit is None else min(every, limit - self.steps)
            self.step(left)
            yield self.outputs()

    def cancel(self) -> None:
        """Asks the run to stop; from any thread."""
        self._run.cancel()

    def __enter__(self) -> Running:
        return self

    def __exit__(self, *_: object) -> None:
        self.cancel()

    def __repr__(self) -> str:
        steps, active, stable, dead = self._run.progress()
        return f"Running({steps} super-steps, {active} active, {stable} stable, {dead} dead)"


__all__ = ["Image", "Input", "Output", "Program", "Progress", "Running", "compile"]
