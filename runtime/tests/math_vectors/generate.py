"""Writes vectors.txt: function, arguments and correctly rounded result as the bits of doubles.

Values are computed by mpmath with 2400 bits, enough to reduce any argument of the trigonometric functions.
Usage: python3 generate.py [points per function and range] > vectors.txt
"""
import random
import struct
import sys

from mpmath import mp, mpf
import mpmath as m

mp.prec = 2400
random.seed(20)
COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 12


def bits(x):
    return "%016x" % struct.unpack("<Q", struct.pack("<d", x))[0]


def linear(a, b):
    return [random.uniform(a, b) for _ in range(COUNT)]


def logarithmic(a, b, signed=False):
    xs = [2.0 ** random.uniform(a, b) for _ in range(COUNT)]
    return [random.choice([-1.0, 1.0]) * x if signed else x for x in xs]


def near(*points):
    """Neighbours of interesting points, and points close to them."""
    xs = []
    for p in points:
        up = struct.unpack("<d", struct.pack("<Q", struct.unpack("<Q", struct.pack("<d", p))[0] + 1))[0]
        xs += [p, up, p * (1 + 2.0**-30), p * (1 - 2.0**-40)]
    return xs


pi = 3.141592653589793
multiples = [float(k * m.pi / 2) for k in (1, 2, 3, 7, 11, 355, 710, 1001, 65537, 1000003)]
trig = linear(-10, 10) + linear(-1000, 1000) + logarithmic(-60, 20, True) + logarithmic(19, 22, True)
trig += logarithmic(22, 1023, True) + multiples + [5e-324, 1e-310, 6381956970095103 * 2.0**797]
unit = linear(-1, 1) + linear(-0.5, 0.5) + [s * (1 - x) for x in logarithmic(-50, -1) for s in (1, -1)]
unit += logarithmic(-300, 0, True) + near(0.5, -0.5) + [1.0, -1.0, 1e-310]
positive = logarithmic(-1074, 1023) + linear(0.5, 2) + [1 + x for x in logarithmic(-52, -4, True)]
positive += near(1.4142135623730951, 0.7071067811865476, 1.0, 2.0, 10.0, 1000.0) + [5e-324, 1.7976931348623157e308]
arcs = logarithmic(-300, 300, True) + linear(-4, 4) + near(0.41421356237309503, 2.414213562373095, 1.0)
plane = list(zip(linear(-2, 2), linear(-2, 2))) + list(zip(logarithmic(-1074, 1023, True), logarithmic(-1074, 1023, True)))
plane += list(zip(logarithmic(-5, 5, True), logarithmic(-5, 5, True)))
plane += [(1e-310, 1.0), (1e-310, -1.0), (1e308, 1e-308), (3.0, 3.0), (3.0, -3.0), (1e-320, 3e-320), (1e300, -1e301)]
powers = [(x, random.uniform(-1, 1) * 700 / max(abs(float(m.log(x))), 1e-9)) for x in logarithmic(-1000, 1000) + linear(0.9, 1.1)]
powers += list(zip(linear(0, 10), linear(-30, 30))) + list(zip(linear(-10, 0), [float(round(y)) for y in linear(-40, 40)]))
powers += [(1 + x, random.uniform(-1, 1) * 700 / abs(x)) for x in logarithmic(-40, -10, True)]
powers += [(10.0, 308.0), (2.0, -1074.0), (2.0, -1060.5), (-3.0, 3.0), (0.5, 1074.0), (5e-324, 0.5)]

TABLE = [
    ("sin", [(x,) for x in trig], m.sin),
    ("cos", [(x,) for x in trig], m.cos),
    ("tan", [(x,) for x in trig], m.tan),
    ("asin", [(x,) for x in unit], m.asin),
    ("acos", [(x,) for x in unit], m.acos),
    ("atan", [(x,) for x in arcs], m.atan),
    ("atan2", plane, m.atan2),
    ("exp", [(x,) for x in linear(-745, 709.7) + linear(-1, 1) + logarithmic(-60, 1, True) + linear(-745, -708)], m.exp),
    ("log", [(x,) for x in positive], m.log),
    ("log2", [(x,) for x in positive], lambda x: m.log(x) / m.log(2)),
    ("log10", [(x,) for x in positive], lambda x: m.log(x) / m.log(10)),
    ("pow", powers, lambda x, y: m.power(x, y)),
    ("erf", [(x,) for x in linear(-6, 6) + linear(-1, 1) + logarithmic(-300, 0, True) + near(1.0)], m.erf),
    ("erfc", [(x,) for x in linear(-6, 6) + linear(0, 27.2) + linear(-0.5, 1.5) + logarithmic(-60, 0, True) + near(0.25, 1.0, -1.0)], m.erfc),
]

for name, arguments, function in TABLE:
    for args in arguments:
        mp.prec = 2400 if name in ("sin", "cos", "tan") else 400
        value = function(*[mpf(a) for a in args])
        if abs(value) >= mpf(2) ** 1024 or isinstance(value, m.mpc):
            continue
        print(name, *[bits(a) for a in args], bits(float(value)))
