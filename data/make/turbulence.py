"""Simulates decaying turbulence in a periodic box and writes its velocity.

    python3 data/make/turbulence.py FILE.nrrd [SIZE]

The Navier-Stokes equations of an incompressible fluid, by Fourier series with two thirds of the modes that the grid holds (so that
products of modes make no false ones) and Runge-Kutta steps of second order in which viscosity is exact. It begins with random modes of long waves;
when it stops, they have broken into the thin vortices of turbulence. The box has the edge 2π. A smaller file is the same flow, with the long waves only.
"""

import sys

import numpy

from store import write

N = 80
VISCOSITY = 0.010
PEAK = 3.0
TIME = 2.1

fft = lambda u: numpy.fft.rfftn(u, axes=(1, 2, 3)).astype(numpy.complex64)
back = lambda s: numpy.fft.irfftn(s, s=(N, N, N), axes=(1, 2, 3)).astype(numpy.float32)

whole = numpy.fft.fftfreq(N, 1 / N).astype(numpy.float32)
half = numpy.fft.rfftfreq(N, 1 / N).astype(numpy.float32)
# The component 0 of a wave vector belongs to x, the fastest axis.
K = numpy.stack(numpy.meshgrid(whole, whole, half, indexing="ij")[::-1])
K2 = (K**2).sum(0)
SAFE = numpy.where(K2 == 0, 1, K2)
KEPT = (numpy.abs(K) < N / 3).all(0)


def incompressible(s):
    """The part of a field without divergence."""
    return s - K * ((K * s).sum(0) / SAFE)


def change(s):
    """How the modes change by convection: u × curl u, without the part that is a pressure."""
    u = back(s)
    w = back(1j * numpy.cross(K, s, axis=0))
    return incompressible(fft(numpy.cross(u, w, axis=0)) * KEPT)


def simulate():
    noise = numpy.random.default_rng(7).standard_normal((3, N, N, N)).astype(numpy.float32)
    k = numpy.sqrt(SAFE)
    s = incompressible(fft(noise) * KEPT * k * numpy.exp(-((k / PEAK) ** 2)))
    s[:, 0, 0, 0] = 0
    s /= numpy.sqrt((back(s) ** 2).sum(0).mean() / 3)
    time = 0.0
    while time < TIME:
        dt = min(0.6 * 2 * numpy.pi / N / float(numpy.abs(back(s)).max()), TIME - time + 1e-9)
        decay = numpy.exp(-VISCOSITY * K2 * dt / 2).astype(numpy.float32)
        middle = decay * (s + dt / 2 * change(s))
        s = decay * decay * s + dt * decay * change(middle)
        time += dt
    return s


def coarser(s, n):
    """The modes that a grid of n samples holds."""
    h = n // 2
    rows = numpy.r_[0:h, -h:0]
    return s[:, rows][:, :, rows][:, :, :, : h + 1]


if __name__ == "__main__":
    file, size = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else N
    modes = simulate()
    if size < N:
        modes = coarser(modes, size)
    u = numpy.fft.irfftn(modes, s=(size,) * 3, axes=(1, 2, 3)) * (size / N) ** 3
    u = numpy.moveaxis(u, 0, -1)
    if size < N:
        u = numpy.round(u * 128) / 128  # fewer digits, which pack better
    write(file, u.astype(numpy.float32), 2 * numpy.pi / size, (0, 0, 0), 3)
