"""Parts that all peers share: their files, the clock around their computation, and their command line.

    python3 by_NAME.py ROW FOLDER THREADS

reads its data from FOLDER, writes its result there, and prints the seconds of the computation alone.
"""

import os
import pathlib
import sys
import time

import numpy


class Clock:
    """Seconds in `with` blocks."""

    def __init__(self):
        self.seconds = 0.0

    def __enter__(self):
        self.start = time.perf_counter()

    def __exit__(self, *_):
        self.seconds += time.perf_counter() - self.start


class Volume:
    """The samples of a NRRD file, slowest axis first, the position of the first sample, and the step between samples."""

    def __init__(self, path):
        with open(path, "rb") as file:
            lines = iter(lambda: file.readline().decode().strip(), "")  # the header ends with an empty line
            fields = dict(line.split(": ", 1) for line in lines if ": " in line and not line.startswith("#"))
            text = fields["encoding"] == "ascii"
            samples = numpy.array(file.read().split(), "f4") if text else numpy.fromfile(file, "<f4")
        assert fields["type"] == "float" and fields["encoding"] in ("ascii", "raw"), path
        self.samples = samples.reshape([int(n) for n in reversed(fields["sizes"].split())])
        vectors = [word for word in fields.get("space directions", "").split() if word != "none"]
        rows = [numpy.array([float(x) for x in word.strip("()").split(",")]) for word in vectors]
        self.steps = numpy.array([row[n] for n, row in enumerate(rows)])
        self.origin = numpy.array([float(x) for x in fields.get("space origin", "()").strip("()").split(",") if x])


def serve(rows, threads=lambda count: None):
    """The command line of a peer: `rows` are its functions by name, `threads` limits their threads."""
    name, folder, count = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3])
    threads(count)
    clock = Clock()
    rows[name](folder, clock)
    print(clock.seconds)
    sys.stdout.flush()
    # Libraries may take long to clean up after themselves; the result is written.
    os._exit(0)
