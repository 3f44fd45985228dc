"""Samples and their place in the world, from arrays and from the objects of other packages.

Objects of nibabel, SimpleITK, ITK, pynrrd, MONAI, xarray and pyvista are known by what they have; none of these packages is
imported.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _native

Floats = npt.NDArray[np.float64]

#: Spaces by their short names, and their signs against right, anterior, superior.
_SPACES = {
    "ras": ("right-anterior-superior", (1.0, 1.0, 1.0)),
    "las": ("left-anterior-superior", (-1.0, 1.0, 1.0)),
    "lps": ("left-posterior-superior", (-1.0, -1.0, 1.0)),
}


def long_name(space: str | None) -> str | None:
    if space is None:
        return None
    short = space.lower()
    return _SPACES[short][0] if short in _SPACES else space.lower()


@dataclass
class Placed:
    """Samples, the order of their axes, and directions (columns, fastest axis first) and origin of their grid."""

    array: npt.NDArray[Any]
    fastest_first: bool = False
    directions: Floats | None = None
    origin: Floats | None = None
    space: str | None = None
    #: Whether the array was made here, so that it stays as it is.
    own: bool = False
    #: The times of the frames, in seconds.
    times: list[float] | None = None
    #: The fields of the header of a NRRD file, if that is what describes the axes.
    header: Any = None
    #: Which half of a symmetric matrix the components of a sample are.
    symmetric: str | None = None
    #: The file that has the samples, if they are not in the array, which then has only their shape.
    file: str | None = None
    #: Options of the command about reading a file, without dashes, and their words.
    reading: tuple[tuple[str, str], ...] = ()

    def turned(self, wanted: str | None) -> Placed:
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


def split_affine(affine: Any) -> tuple[Floats, Floats]:
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


def _of_nibabel(image: Any) -> Placed:
    array = np.asanyarray(image.dataobj)
    directions, origin = split_affine(image.affine)
    placed = Placed(_without_stubs(array, 3), True, directions, origin, long_name("ras"), own=True)
    try:
        intent = int(image.header["intent_code"])
    except (KeyError, TypeError, ValueError, IndexError):
        # Other formats than NIfTI have headers without intents.
        intent = 0
    if intent == _SYMMETRIC_MATRIX:
        placed.symmetric = "lower"
    return placed


def _of_simple_itk(image: Any) -> Placed:
    import sys

    dim = int(image.GetDimension())
    sitk = sys.modules["SimpleITK"]
    array = sitk.GetArrayFromImage(image)
    spacing = np.array(image.GetSpacing(), dtype=np.float64)
    directions = np.array(image.GetDirection(), dtype=np.float64).reshape(dim, dim) * spacing
    origin = np.array(image.GetOrigin(), dtype=np.float64)
    space = long_name("lps") if dim == 3 else None
    return Placed(array, False, directions, origin, space, own=True)


def _of_itk(image: Any) -> Placed:
    import sys

    itk = sys.modules["itk"]
    array = itk.array_from_image(image)
    spacing = np.array(list(image.GetSpacing()), dtype=np.float64)
    dim = len(spacing)
    directions = np.asarray(itk.array_from_matrix(image.GetDirection()), dtype=np.float64) * spacing
    origin = np.array(list(image.GetOrigin()), dtype=np.float64)
    space = long_name("lps") if dim == 3 else None
    return Placed(array, False, directions, origin, space, own=True)


def _of_monai(image: Any) -> Placed:
    """A tensor with components first and an affine in RAS."""
    array = np.asarray(image.detach().cpu() if hasattr(image, "detach") else image)
    directions, origin = split_affine(np.asarray(image.affine))
    array = np.moveaxis(array, 0, -1)
    if array.shape[-1] == 1:
        array = array[..., 0]
    return Placed(array, True, directions, origin, long_name("ras"))


def _of_xarray(image: Any) -> Placed:
    """Axes with evenly spaced coordinates are the grid, in C order; those without coordinates hold components."""
    dims = list(image.dims)
    placed = [d for d in dims if d in image.coords and image.coords[d].ndim == 1]
    placed = [d for d in placed if np.issubdtype(image.coords[d].dtype, np.number)]
    if not placed:
        return Placed(np.asarray(image.data))
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
    return Placed(array, False, directions, np.array(starts[::-1], dtype=np.float64))


def _of_pyvista(image: Any) -> Placed:
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
    return Placed(array, False, directions, np.asarray(image.origin, dtype=np.float64)[:dim])


def of_file(path: str, space: str | None) -> Placed:
    """A file: its header says where it lies, and runs read the samples."""
    if space not in (None, "ras", "lps"):
        raise ValueError(f"the image of a file can be wanted in the space 'ras' or 'lps', found {space!r}")
    about = _native.describe(path)
    shape = [*about["sizes"][::-1], *about["shape"]]
    array = np.broadcast_to(np.zeros((), np.dtype(about["dtype"])), shape)
    if about["directions"] is None:
        return Placed(array, own=True, file=path)
    directions = np.array(about["directions"], dtype=np.float64).T
    origin = np.array(about["origin"], dtype=np.float64)
    placed = Placed(array, False, directions, origin, about["space"], own=True).turned(long_name(space))
    placed.file = path
    return placed


def plain(thing: Any) -> npt.NDArray[Any]:
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
    try:
        return np.asarray(thing)
    except RuntimeError as error:
        # Tensors of PyTorch with a gradient do that, for example.
        raise ValueError(f"NumPy cannot make an array of it: {error}") from None


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


def recognised(thing: Any) -> Placed:
    """What an object is, by what it has."""
    if thing is None:
        raise ValueError("found None where an image is wanted")
    placed = _placed_of(thing)
    if placed.array.dtype == np.float16:
        # Every number of half precision is one of single precision.
        placed.array, placed.own = placed.array.astype(np.float32), True
    return placed


def _placed_of(thing: Any) -> Placed:
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
        return Placed(plain(thing[0]), True, header=thing[1])
    return Placed(plain(thing))
