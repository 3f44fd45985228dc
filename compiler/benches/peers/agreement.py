"""Whether a program and its peer have found the same, and the difference that is allowed, with its reason.

Every function takes the folder with both results, and returns a text for the table and whether the results agree.
"""

import numpy
import vtk
from scipy.spatial import cKDTree
from vtk.util.numpy_support import vtk_to_numpy


def arrays(folder):
    ours, peer = (numpy.load(folder / f"{name}.npy").astype("f8") for name in ("ours", "peer"))
    return ours, peer.reshape(ours.shape)


def numbers(allowed):
    """The same formula in single precision: rounding only."""

    def compare(folder):
        ours, peer = arrays(folder)
        off = abs(ours - peer).max()
        return f"largest difference {off:.1g}", off <= allowed and numpy.ptp(peer) > 0.1

    return compare


def pictures(mean, most):
    """Pictures with values between 0 and 1."""

    def compare(folder):
        ours, peer = arrays(folder)
        off = abs(ours - peer)
        text = f"mean difference {off.mean():.1g}, largest {off.max():.1g}"
        return text, off.mean() <= mean and off.max() <= most and peer.max() > 0.3

    return compare


def nearly_all(allowed, part):
    """Numbers that agree up to rounding, except for a small part: at a place without direction the last bit chooses the way of a line."""

    def compare(folder):
        ours, peer = arrays(folder)
        off = abs(ours - peer)
        wrong = (off > allowed).mean()
        return f"{100 * (1 - wrong):.3f} % within {allowed:g}, largest difference {off.max():.1g}", wrong <= part and numpy.ptp(peer) > 0.1

    return compare


def polydata(path):
    reader = vtk.vtkXMLPolyDataReader()
    reader.SetFileName(str(path))
    reader.Update()
    return reader.GetOutput()


def surfaces(cell, mean, most):
    """The distances between corners of triangles, in cells; both find triangles in the same cells, and as many."""

    def compare(folder):
        found = [polydata(folder / f"{name}.vtp") for name in ("ours", "peer")]
        corners = [vtk_to_numpy(data.GetPoints().GetData()).astype("f8") for data in found]
        counts = [data.GetNumberOfPolys() for data in found]
        away = numpy.concatenate([cKDTree(corners[1 - n]).query(corners[n])[0] for n in range(2)]) / cell
        text = f"{counts[0]} and {counts[1]} triangles, corners apart by {away.mean():.1g} cells on average, {away.max():.1g} at most"
        return text, counts[0] == counts[1] > 1000 and away.mean() <= mean and away.max() <= most

    return compare


def ends(data):
    """The first and the last point of each line, and its number of points."""
    points = vtk_to_numpy(data.GetPoints().GetData()).astype("f8")
    offsets = vtk_to_numpy(data.GetLines().GetOffsetsArray())
    ids = vtk_to_numpy(data.GetLines().GetConnectivityArray())
    return points[ids[offsets[:-1]]], points[ids[offsets[1:] - 1]], numpy.diff(offsets)


def lines(steps, allowed):
    """The ends of lines that take all steps in both programs. Lines that leave the box end one step apart at most."""

    def compare(folder):
        starts, last, counts = zip(*(ends(polydata(folder / f"{name}.vtp")) for name in ("ours", "peer")))
        # Both keep the order of the seeds; where one has no line for a seed, the starts tell.
        away, same = cKDTree(starts[1]).query(starts[0])
        long = (counts[0] == steps + 1) & (counts[1][same] == steps + 1) & (away < 1e-6)
        apart = numpy.linalg.norm(last[0] - last[1][same], axis=1)[long]
        differ = abs(counts[0] - counts[1][same])[away < 1e-6].max()
        text = f"ends of {long.sum()} whole lines apart by {numpy.median(apart):.1g} in the median, {apart.max():.1g} at most"
        return text, long.sum() > 100 and apart.max() <= allowed and differ <= 1

    return compare
