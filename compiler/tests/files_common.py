"""Values that are expected of a file, and a volume to write: shared by the writers of `files.py`."""

from dataclasses import dataclass

import numpy as np

CHANCE = np.random.default_rng(38)


@dataclass
class Probe:
    """Values at points of the world, as the library that wrote a file reports them after reading it back."""

    # The file, with its part, as it is written on the command line.
    file: str
    points: object
    values: object
    shape: str = ""
    options: tuple = ()
    is_mesh: bool = False


def blobs(sizes, dtype="f4", scale=1.0):
    """a[k, j, i]: two soft balls, different everywhere, in a grid of sizes (i, j, k)."""
    i, j, k = np.meshgrid(*(np.linspace(-1, 1, n) for n in sizes), indexing="ij")
    ball = lambda x, y, z, r: np.exp(-((i - x) ** 2 + (j - y) ** 2 + (k - z) ** 2) / r**2)
    values = ball(-0.3, 0.2, 0.1, 0.5) + 0.7 * ball(0.5, -0.3, -0.2, 0.3) + 0.02 * (6 + i + 2 * j + 3 * k)
    return np.ascontiguousarray((scale * values).T.astype(dtype))


def some(sizes, count=20):
    """Indices of samples."""
    return CHANCE.integers(0, sizes, (count, len(sizes)))


def at(array, indices):
    """The samples of a[k, j, i] at indices (i, j, k)."""
    return array[tuple(indices.T[::-1])]
