"""Compares derivatives of a sampled flow that changes with time with those of its formula.

    python3 docs/gallery/gyres.py

Needs numpy, and `diderotc` on the path. The samples are those of programs/synth/gyres.diderot. Accelerations, by programs/gallery/gyre-force.diderot, are
compared with the formula of DV/Dt. Lyapunov exponents, by programs/gallery/gyre-ftle.diderot, are compared with those of an independent evaluation: the
velocity by its formula, classical Runge-Kutta steps a twentieth as long in double precision, and central differences of the places where neighbours arrive.
Particles begin with the first frame, next to which `ctmr` lacks a frame, and well after it.
"""

import pathlib
import subprocess
import tempfile

import numpy
from numpy import cos, pi, sin

ROOT = pathlib.Path(__file__).resolve().parents[2]
STRENGTH, SWAY, OMEGA = 0.1, 0.25, 2 * pi / 10
WIDE, HIGH, SPAN = 200, 100, 15.0


def bent(x, t):
    """The function f of the flow, its first two derivatives by x, and the same of its derivative by time."""
    a, rate = SWAY * sin(OMEGA * t), SWAY * OMEGA * cos(OMEGA * t)
    return a * x * x + (1 - 2 * a) * x, 2 * a * x + 1 - 2 * a, 2 * a, rate * (x * x - 2 * x), rate * (2 * x - 2)


def velocity(x, y, t):
    f, fx, *_ = bent(x, t)
    return -STRENGTH * pi * sin(pi * f) * cos(pi * y), STRENGTH * pi * cos(pi * f) * fx * sin(pi * y)


def acceleration(x, y, t):
    """∂V/∂t + (V·∇)V, differentiated by hand."""
    f, fx, fxx, ft, fxt = bent(x, t)
    u, v = velocity(x, y, t)
    s, c, k = sin(pi * f), cos(pi * f), STRENGTH * pi
    ux, uy, ut = -k * pi * c * fx * cos(pi * y), k * pi * s * sin(pi * y), -k * pi * c * ft * cos(pi * y)
    vx = k * (c * fxx - pi * s * fx * fx) * sin(pi * y)
    vy, vt = k * pi * c * fx * cos(pi * y), k * (c * fxt - pi * s * ft * fx) * sin(pi * y)
    return ut + u * ux + v * uy, vt + u * vx + v * vy


def arrive(x, y, begin, steps):
    h = SPAN / steps
    for n in range(steps):
        t = begin + n * h
        k1 = velocity(x, y, t)
        k2 = velocity(x + h / 2 * k1[0], y + h / 2 * k1[1], t + h / 2)
        k3 = velocity(x + h / 2 * k2[0], y + h / 2 * k2[1], t + h / 2)
        k4 = velocity(x + h * k3[0], y + h * k3[1], t + h)
        x, y = (p + h / 6 * (a + 2 * b + 2 * c + d) for p, a, b, c, d in zip((x, y), k1, k2, k3, k4))
    return x, y


def exponents(x, y, begin, steps, d=1e-6):
    right, left, up, down = (arrive(x + dx, y + dy, begin, steps) for dx, dy in ((d, 0), (-d, 0), (0, d), (0, -d)))
    J = numpy.array([[(p - q) / (2 * d) for p, q in zip(*pair)] for pair in ((right, left), (up, down))])
    return numpy.log(numpy.linalg.svd(J.transpose(2, 3, 0, 1))[1][..., 0]) / SPAN


def report(what, found, wanted):
    off = numpy.abs(found - wanted)
    share = " ".join(f"{numpy.quantile(off, q):.2g}" for q in (0.5, 0.99))
    print(f"{what}: of up to {numpy.abs(wanted).max():.3g}; off by {off.mean():.2g} on average, {share} (50 %, 99 %), {off.max():.2g} at most")


def main():
    with tempfile.TemporaryDirectory() as folder:
        row, col = numpy.mgrid[0:HIGH, 0:WIDE]
        x, y = 2 * (col + 0.5) / WIDE, 1 - (row + 0.5) / HIGH
        exact = {begin: exponents(x, y, begin, 1500) for begin in (0, 2.5)}
        report("the independent evaluation, with twice the step", exponents(x, y, 0, 750), exact[0])
        for options in ([], ["--double"]):
            def diderotc(program, *words):
                line = ["diderotc", *options, f"{ROOT}/programs/{program}.diderot", *words]
                subprocess.run(line, cwd=folder, check=True, capture_output=True)

            diderotc("synth/noise", "-size", "16", "-o", "noise.nrrd")
            for size in (32, 64, 128):
                diderotc("synth/gyres", "-size", str(size), "-o", "gyres.nrrd", "-print", "gyres.nhdr")
                sizes = ["-flow", "gyres.nhdr", "-xres", str(WIDE), "-yres", str(HIGH)]
                diderotc("gallery/gyre-force", *sizes, "-noise", "noise.nrrd", "-steps", "1", "-o-rgb", "rgb.nrrd", "-o-acceleration", "a.npy")
                case = f"{size} steps, {1 + 5 * size // 4} frames {' '.join(options)}".strip()
                found = numpy.load(f"{folder}/a.npy").astype(float)
                wanted = numpy.stack(acceleration(x, y, 2.0), axis=-1)
                report(f"acceleration, {case}", found, wanted)
                for begin in exact:
                    diderotc("gallery/gyre-ftle", *sizes, "-now", str(begin), "-o-rgb", "rgb.nrrd", "-o-exponent", "e.npy")
                    report(f"exponent from {begin} s on, {case}", numpy.load(f"{folder}/e.npy").astype(float), exact[begin])


if __name__ == "__main__":
    main()
