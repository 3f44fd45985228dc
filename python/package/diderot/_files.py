"""Options about files, as the command has them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Union

PathLike = Union[str, "os.PathLike[str]"]
#: Which numbers become black and white: two numbers, or "auto", or "auto:1,99" for percentiles.
Range = Union[str, tuple[float, float]]
Nan = Literal["black", "grey", "white", "transparent"]
#: The output that an option is about, or None for all, its name, and its value.
Options = list[tuple[Union[str, None], str, str]]


@dataclass(frozen=True)
class Record:
    """Files that a run writes while it goes on: snapshots and films after super-steps, results at the end.

    >>> program.run(record=diderot.Record("flow.apng", snapshot=5))
    """

    #: The file of the outputs, or a file for each output by its name; the suffix chooses the format. Usually the names of the outputs.
    output: PathLike | Mapping[str, PathLike] | None = None
    #: Super-steps from one snapshot to the next.
    snapshot: int | None = None
    #: The beginning of the names of snapshots.
    snapshot_prefix: PathLike | None = None
    #: Pictures per second of films.
    fps: float | None = None
    range: Range | None = None
    #: The colours of a picture of numbers, such as "viridis" or "diverging,-2,2".
    cmap: str | None = None
    bits: Literal[8, 16] | None = None
    nan: Nan | None = None
    #: The output that has the positions of points and lines.
    points: str | None = None
    #: The place of the grid, such as "index" or "spacing:1,1,2".
    place: str | None = None

    def options(self) -> Options:
        """What the native module takes."""
        files = self.output if isinstance(self.output, Mapping) else {None: self.output}
        named: Options = [(name, "output", os.fspath(file)) for name, file in files.items() if file is not None]
        given = {
            "snapshot": self.snapshot,
            "snapshot-prefix": self.snapshot_prefix,
            "fps": self.fps,
            "range": self.range,
            "cmap": self.cmap,
            "bits": self.bits,
            "nan": self.nan,
            "points": self.points,
            "place": self.place,
        }
        return named + [(None, name, _word(value)) for name, value in given.items() if value is not None]


def _word(value: object) -> str:
    """A value as the command spells it: `(0, 1)` is `0,1`."""
    if isinstance(value, (tuple, list)):
        return ",".join(map(str, value))
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)
