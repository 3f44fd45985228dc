"""Numba: loops written by hand for one task, compiled to machine code, rows of pixels in parallel.

They compute the same as `projection.diderot` and `streaks.diderot` of the benchmark `speed`, in single precision.
"""

from math import sqrt, tan

import numba
import numpy
from numba import njit, prange

from common import Volume, serve

F = numpy.float32
# An index without a sign cannot count from the end of an array, which saves a test.
U = numpy.uint32


@njit(fastmath=True, error_model="numpy")
def trilinear(volume, x, y, z):
    i, j, k = U(x), U(y), U(z)
    a, b, c = x - F(i), y - F(j), z - F(k)
    p, q, r = U(i + 1), U(j + 1), U(k + 1)
    low = (F(1) - b) * ((F(1) - a) * volume[k, j, i] + a * volume[k, j, p]) + b * ((F(1) - a) * volume[k, q, i] + a * volume[k, q, p])
    high = (F(1) - b) * ((F(1) - a) * volume[r, j, i] + a * volume[r, j, p]) + b * ((F(1) - a) * volume[r, q, i] + a * volume[r, q, p])
    return (F(1) - c) * low + c * high


@njit(parallel=True, fastmath=True, error_model="numpy")
def project(volume, origin, steps, eye, ahead, right, above, half, res, step):
    picture = numpy.zeros((res, res), dtype=numpy.float32)
    dist = F(sqrt(eye[0] * eye[0] + eye[1] * eye[1] + eye[2] * eye[2]))
    nz, ny, nx = volume.shape
    for row in prange(res):
        for col in range(res):
            u = half * (F(2) * (F(col) + F(0.5)) / F(res) - F(1)) / dist
            v = half * (F(2) * (F(row) + F(0.5)) / F(res) - F(1)) / dist
            # The ray in the space of indices.
            dx = (ahead[0] + u * right[0] - v * above[0]) / steps[0]
            dy = (ahead[1] + u * right[1] - v * above[1]) / steps[1]
            dz = (ahead[2] + u * right[2] - v * above[2]) / steps[2]
            ox = (eye[0] - origin[0]) / steps[0]
            oy = (eye[1] - origin[1]) / steps[1]
            oz = (eye[2] - origin[2]) / steps[2]
            t, most = dist - F(2), F(0)
            while t <= dist + F(2):
                x, y, z = ox + t * dx, oy + t * dy, oz + t * dz
                if x >= F(0) and y >= F(0) and z >= F(0) and x < F(nx - 1) and y < F(ny - 1) and z < F(nz - 1):
                    most = max(most, trilinear(volume, x, y, z))
                t += step
            picture[row, col] = most
    return picture


@njit(fastmath=True, error_model="numpy")
def weights(t):
    """Those of a Catmull-Rom spline for four samples."""
    return (
        F(0.5) * t * (t * (F(2) - t) - F(1)),
        F(0.5) * (t * t * (F(3) * t - F(5)) + F(2)),
        F(0.5) * t * (t * (F(4) - F(3) * t) + F(1)),
        F(0.5) * t * t * (t - F(1)),
    )


@njit(fastmath=True, error_model="numpy")
def heading(flow, x, y):
    i, j = U(x), U(y)
    wx, wy = weights(x - F(i)), weights(y - F(j))
    vx, vy = F(0), F(0)
    for b in range(4):
        row = U(j + b - 1)
        rx, ry = F(0), F(0)
        for a in range(4):
            col = U(i + a - 1)
            rx += wx[a] * flow[row, col, 0]
            ry += wx[a] * flow[row, col, 1]
        vx += wy[b] * rx
        vy += wy[b] * ry
    speed = max(F(sqrt(vx * vx + vy * vy)), F(0.00001))
    return vx / speed, vy / speed


@njit(fastmath=True, error_model="numpy")
def grey(noise, x, y):
    """The texture at four times the position; it repeats."""
    height, width = U(noise.shape[0]), U(noise.shape[1])
    u, v = F(4) * x, F(4) * y
    i, j = U(u), U(v)
    a, b = u - F(i), v - F(j)
    i, j, k, l = i % width, j % height, U(i + 1) % width, U(j + 1) % height
    return (F(1) - b) * ((F(1) - a) * noise[j, i] + a * noise[j, k]) + b * ((F(1) - a) * noise[l, i] + a * noise[l, k])


@njit(parallel=True, fastmath=True, error_model="numpy")
def convolve(flow, noise, res, steps, step):
    picture = numpy.zeros((res, res), dtype=numpy.float32)
    for row in prange(res):
        for col in range(res):
            x = F(3) + F(25) * (F(col) + F(0.5)) / F(res)
            y = F(3) + F(25) * (F(row) + F(0.5)) / F(res)
            ax, ay, bx, by = x, y, x, y
            total = grey(noise, x, y)
            for _ in range(steps):
                hx, hy = heading(flow, ax, ay)
                hx, hy = heading(flow, ax + F(0.5) * step * hx, ay + F(0.5) * step * hy)
                ax, ay = ax + step * hx, ay + step * hy
                hx, hy = heading(flow, bx, by)
                hx, hy = heading(flow, bx - F(0.5) * step * hx, by - F(0.5) * step * hy)
                bx, by = bx - step * hx, by - step * hy
                total += grey(noise, ax, ay) + grey(noise, bx, by)
            picture[row, col] = total / F(2 * steps + 1)
    return picture


def projection(folder, clock):
    volume = Volume(folder / "volume.nrrd")
    eye = numpy.array([1.5, -4, 7])
    dist = numpy.linalg.norm(eye)
    ahead = -eye / dist
    right = numpy.cross(ahead, [0, 0, 1])
    right /= numpy.linalg.norm(right)
    above = numpy.cross(right, ahead)
    vectors = [v.astype("f4") for v in (volume.origin, volume.steps, eye, ahead, right, above)]
    given = volume.samples, *vectors, F(dist * tan(20 * numpy.pi / 360))
    project(*given, 2, F(0.5))
    with clock:
        picture = project(*given, 512, F(0.01))
    numpy.save(folder / "peer.npy", picture)


def streaks(folder, clock):
    given = Volume(folder / "plane.nrrd").samples, Volume(folder / "noise.nrrd").samples
    convolve(*given, 2, 1, F(0.06))
    with clock:
        picture = convolve(*given, 1024, 20, F(0.06))
    numpy.save(folder / "peer.npy", picture)


if __name__ == "__main__":
    serve({"projection": projection, "streaks": streaks}, numba.set_num_threads)
