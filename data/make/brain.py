"""Fetches the average brain of the Montreal Neurological Institute.

    python3 data/make/brain.py FOLDER [EVERY]

Writes `t1.nii.gz`, a T1-weighted volume, and `white.nii.gz`, the probability of white matter, both 0 to 255. They are in the package nilearn (the packages' code is under the BSD licence); the template ICBM 152 (2009a, symmetric, nonlinear) is
copyright 1993-2009 Louis Collins, McConnell Brain Imaging Centre, Montreal Neurological Institute, McGill University, who permit everyone to use, copy, modify and distribute it for any
purpose and without fee, provided that this notice is kept. EVERY takes the mean of so many samples along each axis: small files for tests.
"""

import gzip
import pathlib
import sys

import numpy

from store import from_wheel

PREFIX = "nilearn/datasets/data/mni_icbm152_"
SUFFIX = "_tal_nlin_sym_09a_converted.nii.gz"
HEADER = 352


def means(samples, every):
    """The means of cubes of so many samples along each edge."""
    sizes = [n // every for n in samples.shape]
    whole = samples[tuple(slice(0, n * every) for n in sizes)]
    return whole.reshape([k for n in sizes for k in (n, every)]).mean(axis=(1, 3, 5))


def coarser(header, every):
    """A NIfTI header for the means: sizes, spacings, and the place of the first voxel."""
    header = bytearray(header)
    sizes = numpy.frombuffer(header, "<i2", 8, 40).copy()
    sizes[1:4] //= every
    header[40:56] = sizes.tobytes()
    spacings = numpy.frombuffer(header, "<f4", 8, 76).copy()
    spacings[1:4] *= every
    header[76:108] = spacings.tobytes()
    rows = numpy.frombuffer(header, "<f4", 12, 280).reshape(3, 4).copy()
    rows[:, 3] += rows[:, :3].sum(1) * (every - 1) / 2
    rows[:, :3] *= every
    header[280:328] = rows.tobytes()
    header[268:280] = rows[:, 3].tobytes()
    return bytes(header)


def main(folder, every):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    sha256 = "725206484e9fb3f6691f9c2d20204a068759d5072f12055324702ee0cb2bbe8a"
    fetched = from_wheel("nilearn==0.14.1", sha256, [PREFIX + kind + SUFFIX for kind in ("t1", "wm")])
    for kind, name in (("t1", "t1"), ("wm", "white")):
        file = gzip.decompress((fetched / (pathlib.Path(PREFIX).name + kind + SUFFIX)).read_bytes())
        sizes = numpy.frombuffer(file, "<i2", 8, 40)[1:4]
        samples = numpy.frombuffer(file, "u1", sizes.prod(), HEADER).reshape(sizes[::-1])
        header = file[:HEADER]
        if every > 1:
            samples, header = means(samples, every).round().astype("u1"), coarser(header, every)
        (folder / f"{name}.nii.gz").write_bytes(gzip.compress(header + samples.tobytes(), mtime=0))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1)
