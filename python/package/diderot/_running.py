"""Runs: how far they are, the text that they print, and those that go step by step."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from . import _native
from ._errors import warn
from ._result import Result

if TYPE_CHECKING:
    from ._program import Program


class Writes(Protocol):
    """Something that text can be written to."""

    def write(self, text: str, /) -> object: ...


@dataclass(frozen=True)
class Progress:
    """How far a run is."""

    steps: int
    active: int
    stable: int
    dead: int
    #: The part that is done, if it can be known.
    fraction: float | None


def writer(printer: Callable[[str], object] | Writes | None) -> Callable[[str], object]:
    if printer is None:
        # Looked up when it is needed: notebooks put their own in its place.
        return lambda text: sys.stdout.write(text)
    return printer if callable(printer) else printer.write


def end(stopped: str) -> Literal["stable", "limit", "stopped"]:
    assert stopped in ("stable", "limit", "stopped")
    return stopped  # type: ignore[return-value]


@contextlib.contextmanager
def shown(
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
    """A run that goes step by step; a context manager that stops it at the end."""

    def __init__(self, program: Program, run: _native.Run, printer: Callable[[str], object]) -> None:
        self._program = program
        self._run = run
        self._printer = printer
        self._stopped = False
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
        return self._stopped or self._run.is_over()

    def step(self, n: int = 1) -> bool:
        """Runs this many super-steps. True if strands are still active."""
        if n < 1:
            raise ValueError(f"found {n} super-steps, expected at least one")
        if self.done:
            return False
        self._stopped = self._run.advance(n, None, self._printer) == "stopped"
        return not self.done

    def outputs(self) -> Result:
        """The state of all living strands, now; an independent copy."""
        about = self._run.outputs(False)
        if about is None:
            raise RuntimeError("this run has failed")
        stopped = "stopped" if self._stopped else "stable" if self._run.is_over() else "limit"
        result = Result(self._program._native, about, end(stopped))
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

    def stop(self) -> None:
        """Asks the run to stop, from any thread; the outputs so far can be read."""
        self._run.stop()

    def __enter__(self) -> Running:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        steps, active, stable, dead = self._run.progress()
        return f"Running({steps} super-steps, {active} active, {stable} stable, {dead} dead)"
