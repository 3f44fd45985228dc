"""SciPy: samples at scattered points, and smoothing. Both have one thread. Also the plain copy of an array by NumPy."""

import numpy
from scipy import ndimage

from common import Volume, serve


def sampling(order):
    def run(folder, clock):
        volume = Volume(folder / "volume.nrrd")
        points = numpy.load(folder / "points.npy")
        with clock:
            # Indices are in the order of the array, slowest axis first.
            indices = ((points - volume.origin) / volume.steps).T[::-1]
            values = ndimage.map_coordinates(volume.samples, indices, output="f4", order=order, mode="nearest", prefilter=False)
        numpy.save(folder / "peer.npy", values)

    return run


def blur(folder, clock):
    volume = Volume(folder / "grid.nrrd")
    with clock:
        # The radius at which the rest of the Gaussian has a weight of 1e-6.
        smooth = ndimage.gaussian_filter(volume.samples, 2, mode="nearest", radius=10)
    numpy.save(folder / "peer.npy", smooth)


def copy(folder, clock):
    volume = Volume(folder / "grid.nrrd")
    # All pages exist before the clock starts.
    to = numpy.zeros_like(volume.samples)
    numpy.copyto(to, volume.samples)
    with clock:
        numpy.copyto(to, volume.samples)


if __name__ == "__main__":
    serve({"linear": sampling(1), "cubic": sampling(3), "blur": blur, "copy": copy})
