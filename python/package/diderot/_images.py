"""Images: samples with a place in the world, from arrays and from the objects of other packages.

Objects of nibabel, SimpleITK, ITK, pynrrd, MONAI, xarray and pyvista are known by what they have; none of these packages is
imported.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import Any, Literal, Sequence

import numpy as np
import numpy.typing as npt

from . import _native
from ._errors import InputError

Floats = npt.NDArray[np.float64]

#: Spaces by their short names, and their signs against right, anterior, superior.
_SPACES = {
    "ras": ("right-anterior-superior", (1.0, 1.0, 1.0)),
    "las": ("left-anterior-superior", (-1.0, 1.0, 1.0)),
    "lps": ("left-posterior-superior", (-1.0, -1.0, 1.0)),
}


def _long_name(space: str | None) -> str | None:
    if space is None:
        return None
    short = space.lower()
    return _SPACES[short][0] if short in _SPACES else space.lower()


@dataclass
class _Placed:
    """Samples, the order of their axes, and directions (columns, fastest axis first) and origin of their grid."""

    array: npt.NDArray[Any]
    fastest_first: bool = False
    directions: Floats | None = None
    origin: Floats | None = None
    space: str | None = None
    #: Whether the array was made here, so that nobody else can change it.
    own: bool = False
    #: The fields of the header of a NRRD file, if that is what describes the axes.
    header: Any = None
    #: Which half of a symmetric matrix the components of a sample are.
    symmetric: str | None = None
    #: The file that has the samples, if they are not in the array, which then has only their shape.
    file: str | None = None
    #: Options of the command about reading a file, without dashes, and their words.
    reading: tuple[tuple[str, str], ...] = ()

    def turned(self, wanted: str | None) -> _Placed:
        """The same in another space of patients: positions change their signs, components do not."""
        if wanted is None or self.space == wanted:
            return self
        by_long = {long: signs for long, signs in _SPACES.values()}
        if self.space is None or self.directions is None or self.origin is None:
            self.space = wanted
            return self
        if self.space not in by_long or wanted not in by_long:
            raise ValueError(f"an image in the space {self.space} cannot be taken to {wanted}")
        signs = np.array(by_long[self.space]) * np.array(by_long[wanted])
        self.directions = signs[:, None] * self.directions
        self.origin = signs * self.origin
        self.space = wanted
        return self


def _split_affine(affine: Any) -> tuple[Floats, Floats]:
    matrix = np.asarray(affine, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not 2 <= matrix.shape[0] <= 4:
        raise ValueError(f"an affine is a matrix of d+1 rows and columns, found shape {matrix.shape}")
    if not np.array_equal(matrix[-1, :-1], np.zeros(len(matrix) - 1)) or matrix[-1, -1] != 1:
        raise ValueError("the last row of an affine is 0 … 0 1")
    return matrix[:-1, :-1], matrix[:-1, -1]


def _without_stubs(array: npt.NDArray[Any], grid: int) -> npt.NDArray[Any]:
    """Leaves out axes of one sample between the grid and the components, as NIfTI has them."""
    stubs = tuple(axis for axis in range(grid, array.ndim - 1) if array.shape[axis] == 1)
    return array.squeeze(stubs) if stubs else array


#: The intent of NIfTI for symmetric matrices, of which the lower half is stored row by row.
_SYMMETRIC_MATRIX = 1005


def _of_nibabel(image: Any) -> _Placed:
    array = np.asanyarray(image.dataobj)
    directions, origin = _split_affine(image.affine)
    placed = _Placed(_without_stubs(array, 3), True, directions, origin, _long_name("ras"), own=True)
    try:
        intent = int(image.header["intent_code"])
    except (KeyError, TypeError, ValueError, IndexError):
        # Other formats than NIfTI have headers without intents.
        intent = 0
    if intent == _SYMMETRIC_MATRIX:
        placed.symmetric = "lower"
    return placed


def _of_simple_itk(image: Any) -> _Placed:
    import sys

    dim = int(image.GetDimension())
    sitk = sys.modules["SimpleITK"]
    array = sitk.GetArrayFromImage(image)
    spacing = np.array(image.GetSpacing(), dtype=np.float64)
    directions = np.array(image.GetDirection(), dtype=np.float64).reshape(dim, dim) * spacing
    origin = np.array(image.GetOrigin(), dtype=np.float64)
    space = _long_name("lps") if dim == 3 else None
    return _Placed(array, False, directions, origin, space, own=True)


def _of_itk(image: Any) -> _Placed:
    import sys

    itk = sys.modules["itk"]
    array = itk.array_from_image(image)
    spacing = np.array(list(image.GetSpacing()), dtype=np.float64)
    dim = len(spacing)
    directions = np.asarray(itk.array_from_matrix(image.GetDirection()), dtype=np.float64) * spacing
    origin = np.array(list(image.GetOrigin()), dtype=np.float64)
    space = _long_name("lps") if dim == 3 else None
    return _Placed(array, False, directions, origin, space, own=True)


def _of_monai(image: Any) -> _Placed:
    """A tensor with components first and an affine in RAS."""
    array = np.asarray(image.detach().cpu() if hasattr(image, "detach") else image)
    directions, origin = _split_affine(np.asarray(image.affine))
    array = np.moveaxis(array, 0, -1)
    if array.shape[-1] == 1:
        array = array[..., 0]
    return _Placed(array, True, directions, origin, _long_name("ras"))


def _of_xarray(image: Any) -> _Placed:
    """Axes with evenly spaced coordinates are the grid, in C order; those without coordinates hold components."""
    dims = list(image.dims)
    placed = [d for d in dims if d in image.coords and image.coords[d].ndim == 1]
    placed = [d for d in placed if np.issubdtype(image.coords[d].dtype, np.number)]
    if not placed:
        return _Placed(np.asarray(image.data))
    rest = [d for d in dims if d not in placed]
    array = np.asarray(image.transpose(*placed, *rest).data)
    steps, starts = [], []
    for dim in placed:
        at = np.asarray(image.coords[dim].data, dtype=np.float64)
        step = (at[-1] - at[0]) / (len(at) - 1) if len(at) > 1 else 1.0
        even = at[0] + step * np.arange(len(at))
        if step == 0 or not np.allclose(at, even, rtol=0, atol=1e-4 * abs(step)):
            raise ValueError(f"the coordinates of `{dim}` are not evenly spaced")
        steps.append(step)
        starts.append(at[0])
    directions = np.diag(np.array(steps[::-1], dtype=np.float64))
    return _Placed(array, False, directions, np.array(starts[::-1], dtype=np.float64))


def _of_pyvista(image: Any) -> _Placed:
    """A grid of VTK with even steps: the active array of its points, or the only one."""
    names = list(image.point_data.keys())
    active = getattr(image, "active_scalars_name", None)
    if active not in names:
        if len(names) != 1:
            have = ", ".join(f"`{name}`" for name in names) or "none"
            raise ValueError(
                f"an ImageData needs one active array of its points; it has {have} (image.set_active_scalars(name) chooses one, "
                "image.cell_data_to_point_data() makes them of arrays of cells)"
            )
        active = names[0]
    values = np.asarray(image.point_data[active])
    sizes = [int(n) for n in image.dimensions]
    dim = 3 if sizes[2] > 1 else 2 if sizes[1] > 1 else 1
    array = values.reshape(*sizes[:dim][::-1], *values.shape[1:])
    turn = np.asarray(getattr(image, "direction_matrix", np.eye(3)), dtype=np.float64)
    directions = (turn * np.asarray(image.spacing, dtype=np.float64))[:dim, :dim]
    return _Placed(array, False, directions, np.asarray(image.origin, dtype=np.float64)[:dim])


def _of_file(path: str, space: str | None) -> _Placed:
    """A file: its header says where it lies, and runs read the samples."""
    if space not in (None, "ras", "lps"):
        raise ValueError(f"the image of a file can be wanted in the space 'ras' or 'lps', found {space!r}")
    about = _native.describe(path)
    shape = [*about["sizes"][::-1], *about["shape"]]
    array = np.broadcast_to(np.zeros((), np.dtype(about["dtype"])), shape)
    if about["directions"] is None:
        return _Placed(array, own=True, file=path)
    directions = np.array(about["directions"], dtype=np.float64).T
    origin = np.array(about["origin"], dtype=np.float64)
    placed = _Placed(array, False, directions, origin, about["space"], own=True).turned(_long_name(space))
    placed.file = path
    return placed


def _plain(thing: Any) -> npt.NDArray[Any]:
    """An array of anything that NumPy makes one of. What is masked has no value, so it is refused."""
    if np.ma.isMaskedArray(thing):
        hidden = int(np.count_nonzero(np.ma.getmaskarray(thing)))
        if hidden:
            raise ValueError(
                f"{hidden} of {thing.size} values of the masked array are masked; "
                "array.filled(value) says what they are, and float arrays can be filled with numpy.nan"
            )
        return np.asarray(thing.data)
    if hasattr(thing, "__dlpack__") and not hasattr(thing, "__array__"):
        return _of_dlpack(thing)
    return np.asarray(thing)


#: The number of the processor's memory among the devices of DLPack, and that of memory which a GPU shares with it.
_REACHABLE = (1, 3, 11, 13)


def _of_dlpack(thing: Any) -> npt.NDArray[Any]:
    """The array of an object that other libraries can share, if the processor can reach its memory."""
    device = int(thing.__dlpack_device__()[0])
    if device not in _REACHABLE:
        raise ValueError("the array is in the memory of another device; copy it to that of the processor first")
    try:
        return np.from_dlpack(thing)
    except (BufferError, RuntimeError, TypeError) as error:
        raise ValueError(f"NumPy cannot take the array by DLPack: {error}") from None


def _recognised(thing: Any) -> _Placed:
    """What an object is, by what it has."""
    if thing is None:
        raise ValueError("found None where an image is wanted")
    placed = _placed_of(thing)
    if placed.array.dtype == np.float16:
        # Every number of half precision is one of single precision.
        placed.array, placed.own = placed.array.astype(np.float32), True
    return placed


def _placed_of(thing: Any) -> _Placed:
    if hasattr(thing, "point_data") and hasattr(thing, "spacing") and hasattr(thing, "dimensions"):
        return _of_pyvista(thing)
    if hasattr(thing, "dataobj") and hasattr(thing, "affine"):
        return _of_nibabel(thing)
    if hasattr(thing, "GetDirection") and hasattr(thing, "GetSpacing"):
        return _of_simple_itk(thing) if hasattr(thing, "GetPixelIDValue") else _of_itk(thing)
    if hasattr(thing, "affine") and hasattr(thing, "shape"):
        return _of_monai(thing)
    if hasattr(thing, "coords") and hasattr(thing, "dims"):
        return _of_xarray(thing)
    if isinstance(thing, tuple) and len(thing) == 2 and isinstance(thing[1], dict):
        return _Placed(_plain(thing[0]), True, header=thing[1])
    return _Placed(_plain(thing))


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
        _long_name(header.get("space")),
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

    `symmetric` says that the six components of a sample (or three in the plane) are half of a symmetric matrix, row by row: "upper"
    is xx xy xz yy yz zz, "lower" is xx yx yy zx zy zz.

    Of a file, `measurement_frame="ignore"` leaves values as they are stored, and `flip_components` transforms them with `space` even
    if the format does not define their frame.
    """

    _native: _native.Image | None
    _placed: _Placed

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
    ) -> None:
        if order not in ("C", "F", None):
            raise ValueError(f"found order {order!r}, expected 'C' or 'F'")
        if symmetric not in ("upper", "lower", None):
            raise ValueError(f"found symmetric {symmetric!r}, expected 'upper' or 'lower'")
        if isinstance(source, (str, os.PathLike)):
            given = {"spacing": spacing, "origin": origin, "affine": affine, "order": order, "components": components}
            said = ", ".join(name for name, value in given.items() if value is not None)
            if said:
                raise ValueError(f"a file says itself where its samples lie; {said} can be given with an array")
            self._placed = _of_file(os.fspath(source), space)
            words = {"world": space, "symmetric": symmetric, "measurement-frame": measurement_frame}
            self._placed.reading = tuple((option, word) for option, word in words.items() if word is not None)
            if flip_components:
                self._placed.reading += (("flip-components", ""),)
            self._native = None
            return
        if measurement_frame is not None or flip_components:
            raise ValueError("measurement_frame and flip_components are about files; the components of an array are taken as they are")
        placed = _recognised(source)
        placed.symmetric = symmetric or placed.symmetric
        if order is not None:
            placed.fastest_first = order == "F"
        if affine is not None:
            if spacing is not None or origin is not None:
                raise ValueError("an affine already has spacing and origin")
            placed.directions, placed.origin = _split_affine(affine)
            placed.header = None
        elif spacing is not None or origin is not None:
            self._lay(placed, spacing, origin, components)
            placed.header = None
        if components is not None and placed.directions is not None:
            grid = placed.array.ndim - components
            if grid != len(placed.directions):
                raise ValueError(
                    f"{placed.array.ndim} axes without {components} of components are {grid}, "
                    f"but the place is one of {len(placed.directions)} dimensions"
                )
        self._placed = placed = placed.turned(_long_name(space))
        if not placed.own:
            # What is shared by many runs must not change with the array it came from.
            placed.array = np.array(placed.array, order="K", copy=True)
        self._native = _make(placed)

    @staticmethod
    def _lay(placed: _Placed, spacing: Any, origin: Any, components: int | None) -> None:
        if components is not None:
            dim = placed.array.ndim - components
        elif spacing is not None and np.ndim(spacing) == 1:
            dim = len(spacing)
        elif origin is not None:
            dim = len(origin)
        else:
            dim = placed.array.ndim
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


def _make(placed: _Placed) -> _native.Image:
    if placed.header is not None:
        return _native_of_header(placed.array, placed.header)
    directions = None if placed.directions is None else [list(column) for column in placed.directions.T]
    origin = None if placed.origin is None else [float(x) for x in placed.origin]
    return _native.Image(placed.array, placed.fastest_first, directions, origin, placed.space)


def set_image(inputs: _native.Inputs, about: dict[str, Any], value: Any, double: bool) -> None:
    """Gives an input an image: an `Image` as it is, anything else for this one run, without a copy."""
    name = about["name"]
    if isinstance(value, (str, os.PathLike)):
        inputs.set_file(name, os.fspath(value))
        return
    try:
        placed = value._placed if isinstance(value, Image) else _recognised(value)
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


def _check_shape(placed: _Placed, about: dict[str, Any]) -> None:
    """Says in NumPy's terms why an array does not suit the type of an input, where that can be seen from its shape."""
    dim, *wanted = about["shape"]
    shape = placed.array.shape
    count, stored = math.prod(wanted), math.prod(shape[dim:])
    if len(shape) < dim:
        axes = f"{len(shape)} axes" if len(shape) != 1 else "1 axis"
        raise ValueError(f"found an array of shape {shape}, which has {axes} where the grid alone has {dim}")
    half = wanted[0] * (wanted[0] + 1) // 2 if len(wanted) == 2 and wanted[0] == wanted[1] else None
    if stored == count or (stored == half and placed.symmetric):
        return
    names = "zyx"[3 - dim :] if not placed.fastest_first else "xyz"[:dim]
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
