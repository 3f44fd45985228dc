"""Simulates the flow around a cylinder and writes its velocity and its stream function.

    python3 data/make/wake.py FILE.nrrd [EVERY]

A lattice Boltzmann method with nine velocities and one relaxation time, in a channel without friction at its walls. Behind the cylinder the flow sheds
vortices to both sides in turn, Kármán's vortex street, at a Reynolds number of 160. The unit of length is the cylinder's diameter, that of velocity the speed
of the oncoming flow; the cylinder stands at the origin, and its inside is at rest. EVERY leaves out samples: a small file for tests.
"""

import sys

import numpy

from store import write

DIAMETER = 24
WIDE, HIGH = 19 * DIAMETER, 8 * DIAMETER
CENTRE = (4 * DIAMETER, 4 * DIAMETER)
SPEED = 0.09
REYNOLDS = 160
PERIODS = 14

C = numpy.array([(0, 0), (1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1)])
W = numpy.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4, numpy.float32)
BACK = [0, 3, 4, 1, 2, 7, 8, 5, 6]


def equilibrium(rho, u, v, out):
    """Where collisions lead to."""
    square = 1 - 1.5 * (u * u + v * v)
    for i, (cx, cy) in enumerate(C):
        cu = 3.0 * (cx * u + cy * v)
        numpy.multiply(W[i] * rho, square + cu + 0.5 * cu * cu, out=out[i])
    return out


def simulate():
    relax = numpy.float32(1 / (3 * SPEED * DIAMETER / REYNOLDS + 0.5))
    y, x = numpy.mgrid[0:HIGH, 0:WIDE].astype(numpy.float32)
    solid = (x - CENTRE[0]) ** 2 + (y - CENTRE[1]) ** 2 < (DIAMETER / 2) ** 2
    u = numpy.where(solid, 0, SPEED).astype(numpy.float32)
    # A small push upwards, so that the symmetry breaks early.
    v = (0.05 * SPEED * numpy.exp(-(((x - 6 * DIAMETER) / DIAMETER) ** 2))).astype(numpy.float32)
    rho = numpy.ones_like(u)
    f = equilibrium(rho, u, v, numpy.empty((9, HIGH, WIDE), numpy.float32))
    goal = numpy.empty_like(f)
    inflow = equilibrium(numpy.ones((HIGH, 1), "f4"), numpy.full((HIGH, 1), SPEED, "f4"), numpy.zeros((HIGH, 1), "f4"), numpy.empty((9, HIGH, 1), "f4"))
    for _ in range(int(PERIODS * DIAMETER / (0.19 * SPEED))):
        equilibrium(rho, u, v, goal)
        goal -= f
        goal *= relax
        bounced = f[:, solid]
        f += goal
        f[:, solid] = bounced[BACK]
        for i, (cx, cy) in enumerate(C):
            f[i] = numpy.roll(f[i], (cy, cx), (0, 1))
        f[:, :, :1] = inflow
        f[:, :, -1] = f[:, :, -2]
        # The walls reflect without friction.
        f[[2, 5, 6], 0] = f[[4, 8, 7], 0]
        f[[4, 8, 7], -1] = f[[2, 5, 6], -1]
        rho = f.sum(0)
        u = (f[1] + f[5] + f[8] - f[3] - f[6] - f[7]) / rho
        v = (f[2] + f[5] + f[6] - f[4] - f[7] - f[8]) / rho
        u[solid] = 0
        v[solid] = 0
    return numpy.stack([u, v], axis=-1) / SPEED


if __name__ == "__main__":
    file, every = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1
    flow = simulate()
    # Streamlines are where the stream function is constant: the flux between a point and the lower wall.
    flux = numpy.cumsum(flow[..., :1], axis=0) / DIAMETER
    flow = numpy.concatenate([flow, flux - flux[CENTRE[1]].mean()], axis=-1)[::every, ::every]
    if every > 1:
        flow = numpy.round(flow * 256) / 256  # fewer digits, which pack better
    origin = [-c / DIAMETER for c in CENTRE]
    write(file, flow.astype(numpy.float32), every / DIAMETER, origin, 3)
