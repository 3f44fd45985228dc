"""Images: samples with a place in the world."""

from __future__ import annotations

import math
import os
from typing import Any, Literal, Sequence

import numpy as np
import numpy.typing as npt

from . import _native
from ._errors import InputError
from ._sources import Floats, Placed, long_name, of_file, recognised, split_affine


def _rows(value: Any) -> list[list[float] | None] | None:
    """Vectors of a header of pynrrd; those that are not there are rows of NaN, or None."""
    if value is None:
        return None
    rows = []
    for row in value:
        vector = None if row is None else [float(x) for x in np.asarray(row).ravel()]
        rows.append(None if vector is None or any(np.isnan(vector)) else vector)
    return rows


def _native_of_header(array: npt.NDArray[Any], header: Any) -> _native.Image:
    none = [None] * array.ndim
    kinds = [None if k in ("???", "none", None) else str(k) for k in header.get("kinds", none)]
    spacings = [None if np.isnan(s) else float(s) for s in header.get("spacings", [np.nan] * array.ndim)]
    origin = header.get("space origin")
    frame = _rows(header.get("measurement frame"))
    return _native.Image.described(
        array,
        kinds,
        _rows(header.get("space directions")) or list(none),
        spacings,
        None if origin is None else [float(x) for x in origin],
        long_name(header.get("space")),
        None if frame is None or None in frame else [row for row in frame if row is not None],
    )


class Image:
    """Samples with a place in the world, converted once for all runs.

    `source` is an array, an image of nibabel, SimpleITK, ITK or MONAI, an `xarray.DataArray`, an `ImageData` of pyvista,
    `(data, header)` of pynrrd, or the path of a file, which each run reads.

    A plain array is in C order: its last axis of the grid is the first coordinate of the world (`a[z, y, x]`), and the
    components of a sample come after the grid. `order="F"` says that the grid is `a[x, y, z]`. `affine` maps the index, the first
    coordinate first, to the world; `spacing` and `origin` are in the same order. Without either, world and index are the same.

    `space` names the world. If the source says in which it lies (nibabel: RAS, SimpleITK: LPS), positions are taken to the one that
    is wanted; components of vectors never are.

    `components` axes after the grid belong to a sample; usually the program's type says it.

    `times` are those of the frames of an image over time, in seconds, each later than the one before. The frames are the first
    axis of a plain array (`a[t, z, y, x]`), and follow the grid if `order="F"` (`a[x, y, z, t]`). Without `times`, the numbers of the
    frames are their times.

    `symmetric` says that the six components of a sample (or three in the plane) are half of a symmetric matrix, row by row: "upper"
    is xx xy xz yy yz zz, "lower" is xx yx yy zx zy zz.

    Of a file, `measurement_frame="ignore"` leaves values as they are stored, and `flip_components` transforms them with `space` even
    if the format does not define their frame. `map` says whether its samples are used where they are in the file, so that they need not
    fit into memory: "auto" maps large files, "always" all files that can be mapped, "never" none. `missing="nan"` fills the places of
    slices that a series does not have, and of numbered files that there are not, with NaN; otherwise such an image is refused.
    """

    _native: _native.Image | None
    _placed: Placed

    def __init__(
        self,
        source: Any,
        *,
        spacing: Sequence[float] | float | None = None,
        origin: Sequence[float] | None = None,
        affine: Any = None,
        space: str | None = None,
        order: Literal["C", "F"] | None = None,
        components: int | None = None,
        symmetric: Literal["upper", "lower"] | None = None,
        measurement_frame: Literal["apply", "ignore"] | None = None,
        flip_components: bool = False,
        times: Sequence[float] | None = None,
        map: Literal["always", "never", "auto"] | None = None,
        missing: Literal["nan", "refuse"] | None = None,
    ) -> None:
        if order not in ("C", "F", None):
            raise ValueError(f"found order {order!r}, expected 'C' or 'F'")
        if symmetric not in ("upper", "lower", None):
            raise ValueError(f"found symmetric {symmetric!r}, expected 'upper' or 'lower'")
        if isinstance(source, (str, os.PathLike)):
            given = {
                "spacing": spacing,
                "origin": origin,
                "affine": affine,
                "order": order,
                "components": components,
                "times": times,
            }
            said = ", ".join(name for name, value in given.items() if value is not None)
            if said:
                raise ValueError(f"a file says itself where its samples lie; {said} can be given with an array")
            self._placed = of_file(os.fspath(source), space)
            words = {
                "world": space,
                "symmetric": symmetric,
                "measurement-frame": measurement_frame,
                "map": map,
                "missing": missing,
            }
            self._placed.reading = tuple((option, word) for option, word in words.items() if word is not None)
            if flip_components:
                self._placed.reading += (("flip-components", ""),)
            self._native = None
            return
        if measurement_frame is not None or flip_components:
            raise ValueError("measurement_frame and flip_components are about files; the components of an array are taken as they are")
        if map is not None:
            raise ValueError("map is about files; an array is in memory")
        if missing is not None:
            raise ValueError("missing is about files; an array has all of its slices")
        placed = recognised(source)
        placed.symmetric = symmetric or placed.symmetric
        if order is not None:
            placed.fastest_first = order == "F"
        if times is not None:
            placed.times = [float(time) for time in times]
        if affine is not None:
            if spacing is not None or origin is not None:
                raise ValueError("an affine already has spacing and origin")
            placed.directions, placed.origin = split_affine(affine)
            placed.header = None
        elif spacing is not None or origin is not None:
            self._lay(placed, spacing, origin, components)
            placed.header = None
        if components is not None and placed.directions is not None:
            grid = placed.array.ndim - components - (times is not None)
            if grid != len(placed.directions):
                raise ValueError(
                    f"{placed.array.ndim} axes without {components} of components are {grid}, "
                    f"but the place is one of {len(placed.directions)} dimensions"
                )
        self._placed = placed = placed.turned(long_name(space))
        if not placed.own:
            # What is shared by many runs must not change with the array it came from.
            placed.array = np.array(placed.array, order="K", copy=True)
        self._native = _make(placed)

    @staticmethod
    def _lay(placed: Placed, spacing: Any, origin: Any, components: int | None) -> None:
        if components is not None:
            dim = placed.array.ndim - components - (placed.times is not None)
        elif spacing is not None and np.ndim(spacing) == 1:
            dim = len(spacing)
        elif origin is not None:
            dim = len(origin)
        else:
            dim = placed.array.ndim - (placed.times is not None)
        steps = np.ones(dim) if spacing is None else np.broadcast_to(np.asarray(spacing, float), (dim,))
        placed.directions = np.diag(steps)
        placed.origin = np.zeros(dim) if origin is None else np.asarray(origin, dtype=np.float64)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the samples, as they were given."""
        return tuple(self._placed.array.shape)

    @property
    def space(self) -> str | None:
        """The name of the world, if it has one."""
        return self._placed.space

    @property
    def affine(self) -> Floats | None:
        """From the index, first coordinate first, to the world; None if they are the same."""
        directions, origin = self._placed.directions, self._placed.origin
        if directions is None or origin is None:
            return None
        matrix = np.eye(len(directions) + 1)
        matrix[:-1, :-1] = directions
        matrix[:-1, -1] = origin
        return matrix

    def world_box(self) -> Floats:
        """The least and the greatest coordinates of the samples, a row for each coordinate."""
        directions, origin = self._placed.directions, self._placed.origin
        shape = self._placed.array.shape
        if self._placed.times is not None and not self._placed.fastest_first:
            shape = shape[1:]
        dim = len(shape) if directions is None else len(directions)
        sizes = shape[:dim] if self._placed.fastest_first else shape[:dim][::-1]
        if directions is None or origin is None:
            directions, origin = np.eye(dim), np.zeros(dim)
        far = directions * (np.array(sizes) - 1)
        low = origin + np.minimum(far, 0).sum(axis=1)
        high = origin + np.maximum(far, 0).sum(axis=1)
        return np.stack([low, high], axis=1)

    def __getstate__(self) -> dict[str, Any]:
        return {"_placed": self._placed}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._placed = state["_placed"]
        self._native = None if self._placed.file is not None else _make(self._placed)

    def __repr__(self) -> str:
        sizes = " × ".join(map(str, self.shape))
        world = "" if self.space is None else f", {self.space}"
        return f"Image({sizes}, {self._placed.array.dtype}{world})"


def _make(placed: Placed) -> _native.Image:
    if placed.header is not None:
        return _native_of_header(placed.array, placed.header)
    directions = None if placed.directions is None else [list(column) for column in placed.directions.T]
    origin = None if placed.origin is None else [float(x) for x in placed.origin]
    return _native.Image(placed.array, placed.fastest_first, directions, origin, placed.space, placed.times)


def set_image(inputs: _native.Inputs, about: dict[str, Any], value: Any, double: bool) -> None:
    """Gives an input an image: an `Image` as it is, anything else for this one run, without a copy."""
    name = about["name"]
    if isinstance(value, (str, os.PathLike)):
        inputs.set_file(name, os.fspath(value))
        return
    try:
        placed = value._placed if isinstance(value, Image) else recognised(value)
        if placed.file is not None:
            inputs.set_file(name, placed.file, list(placed.reading))
            return
        if placed.header is None:
            _check_shape(placed, about)
        if not double:
            _check_range(placed.array)
        native = value._native if isinstance(value, Image) else None
        reading = [] if placed.symmetric is None else [("symmetric", placed.symmetric)]
        inputs.set_image(name, native or _make(placed), reading)
    except InputError:
        raise
    except (TypeError, ValueError) as error:
        raise InputError(f"the input `{name}` is of type {about['type']}: {error}") from None


def _check_range(array: npt.NDArray[Any]) -> None:
    """Refuses samples of double precision that would become infinite in single precision."""
    if array.dtype.kind != "f" or array.dtype.itemsize <= 4 or not array.size:
        return
    most = np.finfo(np.float32).max
    with np.errstate(invalid="ignore"):
        if np.nanmax(array, initial=-np.inf) <= most and np.nanmin(array, initial=np.inf) >= -most:
            return
        beyond = array[np.isfinite(array) & (np.abs(array) > most)]
    if beyond.size:
        raise ValueError(
            f"{beyond.size} samples, such as {beyond.flat[0]:g}, are beyond single precision ({most:g}); "
            "diderot.compile(…, double=True) computes in double precision"
        )


def _check_shape(placed: Placed, about: dict[str, Any]) -> None:
    """Says in NumPy's terms why an array does not suit the type of an input, where that can be seen from its shape."""
    dim, *wanted = about["shape"]
    shape = placed.array.shape
    # Frames are an axis before or after those of the grid.
    if about["timed"]:
        dim += 1
    elif placed.times is not None:
        raise ValueError("found an image with times, which only an image over time has")
    count, stored = math.prod(wanted), math.prod(shape[dim:])
    if len(shape) < dim:
        axes = f"{len(shape)} axes" if len(shape) != 1 else "1 axis"
        grid = "grid and the frames have" if about["timed"] else "grid alone has"
        raise ValueError(f"found an array of shape {shape}, which has {axes} where the {grid} {dim}")
    frames = shape[dim - 1] if placed.fastest_first else shape[0]
    if placed.times is not None and len(placed.times) != frames:
        raise ValueError(f"found {len(placed.times)} times for {frames} frames")
    half = wanted[0] * (wanted[0] + 1) // 2 if len(wanted) == 2 and wanted[0] == wanted[1] else None
    if stored == count or (stored == half and placed.symmetric):
        return
    space = dim - 1 if about["timed"] else dim
    names = "zyx"[3 - space :] if not placed.fastest_first else "xyz"[:space]
    if about["timed"]:
        names = names + "t" if placed.fastest_first else "t" + names
    expected = "(" + ", ".join([*names, *map(str, wanted)]) + ("," if dim + len(wanted) == 1 else "") + ")"
    if stored == half:
        way = "; if they are half of a symmetric matrix, diderot.Image(array, symmetric=\"upper\") says so (xx xy xz yy yz zz), or \"lower\" (xx yx yy zx zy zz)"
        if half == 3:
            way = way.replace("xx xy xz yy yz zz", "xx xy yy").replace("xx yx yy zx zy zz", "xx yx yy")
        raise ValueError(f"found {stored} components in an array of shape {shape}, expected {expected}{way}")
    ways = []
    if len(shape) > dim and count > 1 and math.prod(shape[: len(shape) - dim]) == count:
        moved = list(range(len(shape) - dim))
        source = str(moved[0]) if len(moved) == 1 else str(moved)
        target = "-1" if len(moved) == 1 else str(list(range(-len(moved), 0)))
        ways.append(f"numpy.moveaxis(array, {source}, {target}) puts the components last")
    elif len(shape) == dim + 1 and count == 1:
        last = len(shape) - 1
        ways.append(f"array[n] takes one of the {shape[0]} along axis 0, and array[..., n] one of the {shape[last]} along axis {last}")
    if len(shape) - dim in (1, 2):
        sizes = ",".join(map(str, shape[dim:]))
        ways.append(f"image({dim})[{sizes}] is the type that takes the array as it is")
    raise ValueError(f"found an array of shape {shape}, expected {expected}" + "".join(f"; {way}" for way in ways))
