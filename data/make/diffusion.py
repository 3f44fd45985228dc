"""Fetches diffusion-weighted samples of a piece of a human brain and fits tensors to them.

    python3 data/make/diffusion.py FILE.nrrd

The samples are `small_101D` of the package dipy (BSD licence): 6 × 10 × 10 voxels of white matter, 102 directions and weights. The tensors
are fitted by least squares of the logarithms, weighted by the signals, to all measurements with weights up to 1900 s/mm². They
stand at positions that are indices of voxels.
"""

import gzip
import sys

import numpy

from store import from_wheel, write

NAMES = ["dipy/data/files/small_101D." + suffix for suffix in ("nii.gz", "bval", "bvec")]


def main(file):
    folder = from_wheel("dipy==1.12.1", "65013b80f6e61c4c52de7b61da6e36afa76b09ccfe8c456414519b36609d7bb6", NAMES)
    nifti = gzip.decompress((folder / "small_101D.nii.gz").read_bytes())
    # The header has the sizes at byte 40, and where the samples begin at byte 108.
    sizes = numpy.frombuffer(nifti, "<i2", 8, 40)[1:5]
    begin = int(numpy.frombuffer(nifti, "<f4", 1, 108)[0])
    signals = numpy.frombuffer(nifti, "<u2", sizes.prod(), begin).reshape(sizes[::-1]).astype(float)
    weight = numpy.loadtxt(folder / "small_101D.bval").ravel()
    g = numpy.nan_to_num(numpy.loadtxt(folder / "small_101D.bvec"))
    g = g.T if g.shape[0] == 3 else g

    used = weight <= 1900
    signals, weight, g = numpy.maximum(signals[used], 1), weight[used], g[used]
    pairs = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]
    design = [(-1 if i == j else -2) * weight * g[:, i] * g[:, j] for i, j in pairs]
    design = numpy.stack([numpy.ones_like(weight)] + design, axis=1)
    flat = signals.reshape(len(weight), -1)
    fits = [numpy.linalg.lstsq(design * s[:, None], numpy.log(s) * s, rcond=None)[0] for s in flat.T]
    fits = numpy.array(fits)[:, [1, 2, 3, 2, 4, 5, 3, 5, 6]]
    tensors = fits.reshape(signals.shape[1:] + (9,)).astype(numpy.float32)
    write(file, tensors, 1, (0, 0, 0), 9)


if __name__ == "__main__":
    main(sys.argv[1])
