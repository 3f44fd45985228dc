"""Exceptions, and the messages of the compiler that they carry."""

from __future__ import annotations

import json
import sys
import warnings
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class _Location:
    """A part of a file. Lines and columns count from 1, columns in characters; the end is one past the last character."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True)
class Label(_Location):
    """A further place of a message, with its text."""

    text: str


@dataclass(frozen=True)
class Edit(_Location):
    """A part of a program that is replaced by a text."""

    text: str


@dataclass(frozen=True)
class Fix:
    """Edits that remove the cause of a message."""

    title: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True)
class Diagnostic(_Location):
    """A message about a place in a program."""

    severity: str
    code: str
    message: str
    labels: tuple[Label, ...] = ()
    hints: tuple[str, ...] = ()
    fixes: tuple[Fix, ...] = ()


def diagnostics_of(lines: str) -> list[Diagnostic]:
    """The messages in lines of JSON."""

    def diagnostic(about: dict[str, Any]) -> Diagnostic:
        labels = tuple(Label(**label) for label in about["labels"])
        fixes = tuple(Fix(fix["title"], tuple(Edit(**edit) for edit in fix["edits"])) for fix in about["fixes"])
        return Diagnostic(**{**about, "labels": labels, "hints": tuple(about["hints"]), "fixes": fixes})

    return [diagnostic(json.loads(line)) for line in lines.splitlines() if line]


class DiderotError(Exception):
    """Something is wrong with a program, its inputs or its run; the text quotes the lines it is about."""

    diagnostics: list[Diagnostic]

    def __init__(self, text: str, lines: str = "") -> None:
        super().__init__(text.rstrip("\n"))
        self.diagnostics = diagnostics_of(lines)

    def _render_traceback_(self) -> list[str]:
        """What IPython shows: the message, without the stack of Python."""
        return [f"{type(self).__name__}:", *str(self).splitlines()]


class DiderotWarning(UserWarning):
    """Something about a program or its run that is probably not as it was meant; the text quotes the lines it is about."""


class InternalError(DiderotError):
    """A fault of this package, not of the program. Please report it."""


def warn(text: str) -> None:
    """Warns at the line outside this package that led here."""
    level, frame = 1, sys._getframe(0)
    while frame.f_globals.get("__name__", "").split(".")[0] == __package__ and frame.f_back is not None:
        level, frame = level + 1, frame.f_back
    warnings.warn(text.rstrip("\n"), DiderotWarning, stacklevel=level)


class CompileError(DiderotError):
    """A program has errors."""


class InputError(DiderotError, ValueError):
    """An input is missing, or its value does not suit it."""


class RunError(DiderotError):
    """A run met an error: in which strand and super-step, and where in the program."""

    code: str
    strand: int | None
    coordinates: tuple[int, ...] | None
    step: int | None

    def __init__(
        self,
        text: str,
        lines: str = "",
        code: str = "",
        strand: int | None = None,
        coordinates: list[int] | None = None,
        step: int | None = None,
    ) -> None:
        super().__init__(text, lines)
        self.code = code
        self.strand = strand
        self.coordinates = None if coordinates is None else tuple(coordinates)
        self.step = step

    @property
    def line(self) -> int | None:
        """The line of the program."""
        return self.diagnostics[0].line if self.diagnostics else None

    @property
    def column(self) -> int | None:
        """The column in that line."""
        return self.diagnostics[0].column if self.diagnostics else None
