"""Outputs of runs: arrays by name, sequences of varying length, files and pictures."""

from __future__ import annotations

import base64
import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Union, overload

import numpy as np
import numpy.typing as npt

from . import _native
from ._files import Nan, PathLike, Range, Record

Array = npt.NDArray[Any]


class Ragged(Sequence[Array]):
    """Sequences of varying length, one for each strand: `data` has the elements of all, those of strand `i` from
    `offsets[i]` to `offsets[i + 1]`. Items are views."""

    data: Array
    offsets: npt.NDArray[np.int64]

    def __init__(self, data: Array, lengths: npt.NDArray[np.int64]) -> None:
        self.data = data
        self.offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """The number of elements of each strand."""
        return np.diff(self.offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, index: int) -> Array: ...

    @overload
    def __getitem__(self, index: slice) -> list[Array]: ...

    def __getitem__(self, index: int | slice) -> Array | list[Array]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(f"there are {len(self)} sequences")
        start = index % len(self)
        return self.data[self.offsets[start] : self.offsets[start + 1]]

    def __repr__(self) -> str:
        return f"Ragged({len(self)} sequences, {len(self.data)} elements, {self.data.dtype})"


Values = Union[Array, Ragged]


@dataclass(frozen=True)
class Report:
    """What should be known about a run beside its outputs."""

    #: Images that were never probed inside, and what else may be wrong.
    warnings: tuple[str, ...] = ()
    #: What was decided about images where they leave a choice.
    notes: tuple[str, ...] = ()
    #: Strands that were active, stable and dead at the end.
    active: int = 0
    stable: int = 0
    dead: int = 0
    #: Seconds from the inputs to the outputs.
    seconds: float = 0.0
    #: The files that `record` has written.
    files: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Place:
    directions: list[list[float]] = field(default_factory=list)
    origin: list[float] = field(default_factory=list)
    space: str | None = None
    units: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Mesh:
    """Triangles: rows of `triangles` are numbers of `points`, and data are arrays with a row for each point or triangle."""

    points: Array
    triangles: Array
    point_data: dict[str, Array]
    cell_data: dict[str, Array]

    def to_pyvista(self) -> Any:
        """The same as a `pyvista.PolyData`."""
        import pyvista

        made = pyvista.PolyData.from_regular_faces(self.points, self.triangles)
        for name, values in self.point_data.items():
            made.point_data[name] = values.reshape(len(values), -1) if values.ndim > 2 else values
        for name, values in self.cell_data.items():
            made.cell_data[name] = values.reshape(len(values), -1) if values.ndim > 2 else values
        return made

    def to_meshio(self) -> Any:
        """The same as a `meshio.Mesh`."""
        import meshio

        cell_data = {name: [values] for name, values in self.cell_data.items()}
        return meshio.Mesh(self.points, [("triangle", self.triangles)], self.point_data, cell_data)

    def __repr__(self) -> str:
        return f"Mesh({len(self.points)} points, {len(self.triangles)} triangles)"


class Result(Mapping[str, Values]):
    """The outputs of a run, by name."""

    steps: int
    stopped: Literal["stable", "limit", "stopped"]
    report: Report

    def __init__(
        self,
        program: _native.Program,
        about: dict[str, Any],
        stopped: Literal["stable", "limit", "stopped"],
        seconds: float = 0.0,
    ) -> None:
        self._program = program
        self.steps = about["steps"]
        self.stopped = stopped
        active, stable, dead = about["counts"]
        self.report = Report(
            tuple(about["warnings"]), tuple(about["notes"]), active, stable, dead, seconds,
            tuple(file for file, _, _ in about["files"]),
        )
        self._place = None if about["place"] is None else _Place(*about["place"])
        self._sizes: list[int] = about["sizes"]
        self._values: dict[str, Values] = {
            name: array if lengths is None else Ragged(array, lengths)
            for name, array, lengths in about["outputs"]
        }

    def __getitem__(self, name: str) -> Values:
        if name not in self._values:
            known = ", ".join(self._values)
            raise KeyError(f"there is no output `{name}`; there are {known}")
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def _name(self, name: str | None) -> str:
        if name is not None:
            self[name]
            return name
        if len(self) != 1:
            raise ValueError(f"there are several outputs, name one: {', '.join(self)}")
        return next(iter(self))

    def affine(self, name: str | None = None) -> npt.NDArray[np.float64] | None:
        """From the index of the grid, its fastest axis (the last of the array) first, to the world, if the positions of the strands
        show where they lie."""
        self._name(name) if name is not None else None
        if self._place is None:
            return None
        directions = np.array(self._place.directions, dtype=np.float64).T
        rows, axes = directions.shape
        matrix = np.zeros((rows + 1, axes + 1))
        matrix[:-1, :-1] = directions
        matrix[:-1, -1] = self._place.origin
        matrix[-1, -1] = 1
        return matrix

    def to_image(
        self,
        name: str | None = None,
        *,
        range: Range | None = None,
        cmap: str | None = None,
        bits: Literal[8, 16] | None = None,
        nan: Nan | None = None,
    ) -> bytes:
        """The bytes of a PNG of an output over a grid of two axes: `range=(0, 1)` or `"auto"`, `cmap="viridis"`, `bits=16`,
        `nan="white"`."""
        name = self._name(name)
        values = self[name]
        if isinstance(values, Ragged):
            raise ValueError(f"the sequences of `{name}` vary in length and are no picture")
        array = np.ascontiguousarray(values)
        return _native.picture(
            self._program, name, array, self._sizes, Record(range=range, cmap=cmap, bits=bits, nan=nan).options()
        )

    def save(
        self,
        path: PathLike,
        *,
        name: str | None = None,
        range: Range | None = None,
        cmap: str | None = None,
        bits: Literal[8, 16] | None = None,
        nan: Nan | None = None,
        points: str | None = None,
        place: str | None = None,
    ) -> list[str]:
        """Writes outputs to a file as the command does; the suffix chooses the format. Gives the names of the files."""
        outputs = self._columns([name] if name is not None else list(self))
        found = None
        if self._place is not None:
            found = (self._place.directions, self._place.origin, self._place.space, self._place.units)
        options = Record(path, range=range, cmap=cmap, bits=bits, nan=nan, points=points, place=place).options()
        written = _native.save(self._program, outputs, self._sizes, found, options)
        return [file for file, _, _ in written]

    def _columns(self, names: list[str]) -> list[tuple[str, Array, list[int] | None]]:
        columns: list[tuple[str, Array, list[int] | None]] = []
        for each in names:
            values = self[each]
            if isinstance(values, Ragged):
                lengths = [int(n) for n in values.lengths]
                columns.append((each, np.ascontiguousarray(values.data), lengths))
            else:
                columns.append((each, np.ascontiguousarray(values), None))
        return columns

    def mesh(self, name: str | None = None) -> Mesh:
        """The triangles of the output `name`, or of the one that has triangles, with equal corners as one point. Other outputs are
        data of points and triangles, as in files."""
        return Mesh(**_native.mesh(self._program, self._columns(list(self)), name))

    def plot(self, name: str | None = None, *, ax: Any = None, cmap: Any = None, colorbar: bool = True) -> Any:
        """Shows an output over a grid of two axes with matplotlib, at its place in the world if the positions of the strands show
        it; numbers with a colour bar. Gives the axes."""
        import matplotlib.pyplot as plt

        name = self._name(name)
        values = self[name]
        if isinstance(values, Ragged) or len(self._sizes) != 2 or self._program.grid() is None:
            raise ValueError(f"the values of `{name}` are not a picture: the strands do not form a grid of two axes")
        if ax is None:
            _, ax = plt.subplots()
        shown = ax.imshow(np.squeeze(values), cmap=cmap, extent=self._extent(values), interpolation="nearest")
        if self._place is not None and self._place.units:
            across, up = self._axes() or (0, 1)
            ax.set_xlabel(self._place.units[across])
            ax.set_ylabel(self._place.units[up])
        if colorbar and np.squeeze(values).ndim == 2:
            ax.figure.colorbar(shown, ax=ax, label=name)
        return ax

    def _axes(self) -> tuple[int, int] | None:
        """The coordinates of the world along the columns and the rows, if each axis of the grid follows one."""
        matrix = self.affine()
        if matrix is None:
            return None
        along = [np.flatnonzero(matrix[:-1, axis]) for axis in (0, 1)]
        if any(len(found) != 1 for found in along):
            return None
        return int(along[0][0]), int(along[1][0])

    def _extent(self, values: Array) -> tuple[float, float, float, float] | None:
        """Left, right, bottom and top of the outermost pixels, for matplotlib."""
        axes, matrix = self._axes(), self.affine()
        if axes is None or matrix is None:
            return None
        rows, columns = values.shape[:2]
        (left, dx), (top, dy) = [(matrix[axis, -1], matrix[axis, k]) for k, axis in enumerate(axes)]
        return left - dx / 2, left + (columns - 0.5) * dx, top + (rows - 0.5) * dy, top - dy / 2

    def _pictures(self) -> dict[str, bytes]:
        pictures = {}
        for name, values in self.items():
            if isinstance(values, Ragged) or len(self._program.grid() or ()) != 2:
                continue
            if values.ndim - 2 in (0, 1) and values.shape[2:] in ((), (1,), (2,), (3,), (4,)):
                pictures[name] = self.to_image(name)
        return pictures

    def _repr_png_(self) -> bytes | None:
        pictures = self._pictures() if len(self) == 1 else {}
        return next(iter(pictures.values()), None)

    def _repr_html_(self) -> str:
        pictures = self._pictures()
        rows = []
        for name, values in self.items():
            data = values.data if isinstance(values, Ragged) else values
            shape = repr(values) if isinstance(values, Ragged) else " × ".join(map(str, values.shape))
            extent = ""
            if data.size and data.dtype != np.bool_:
                extent = f"{np.nanmin(data):g} … {np.nanmax(data):g}" if not np.isnan(data).all() else "NaN"
            shown = ""
            if name in pictures:
                code = base64.b64encode(pictures[name]).decode()
                shown = f'<img src="data:image/png;base64,{code}" style="max-height:12em"/>'
            cells = [html.escape(name), html.escape(shape), str(data.dtype), extent, shown]
            rows.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
        head = "".join(f"<th>{h}</th>" for h in ("output", "shape", "type", "values", ""))
        return f"<table><tr>{head}</tr>{''.join(rows)}</table>"

    def __repr__(self) -> str:
        parts = [f"{name}: {v!r}" if isinstance(v, Ragged) else f"{name}: {v.shape} {v.dtype}" for name, v in self.items()]
        return f"Result({', '.join(parts)}; {self.steps} super-steps, {self.stopped})"
