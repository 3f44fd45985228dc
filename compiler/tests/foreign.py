"""Helpers of the checks that exchange files between diderotc and other tools: `readers.py`, `writers.py` and `files.py`.

The first argument of each of these scripts is the executable of diderotc.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

COMMAND = os.path.abspath(sys.argv[1])


def diderotc(*words):
    return subprocess.run([COMMAND, *words], capture_output=True, encoding="utf-8", timeout=300)


def run(*words):
    """Runs a program that must succeed."""
    done = diderotc(*words, "-q")
    assert done.returncode == 0, (words, done.stderr)


def probed(file, dim, shape, points, *words):
    """Values of an image at points of the world, by linear interpolation."""
    return sampled("image", "tent ⊛ data", file, dim, shape, points, *words)


def probed_in_mesh(file, dim, shape, points, *words):
    """Values on a mesh at points of the world, by the polynomials of its cells."""
    return sampled("fem", "toField(data)", file, dim, shape, points, *words)


def sampled(kind, field, file, dim, shape, points, *words):
    """Values at points of a field of data from a file."""
    value = "real" if shape == "" else f"tensor[{shape}]"
    Path("p.diderot").write_text(f"""#version 2.0
input {kind}({dim})[{shape}] data;
input vec{dim}[] at;
field#0({dim})[{shape}] F = {field};
strand s (int i) {{ output {value} v = F(at[i]); update {{ stabilize; }} }}
create_array {{ s(i) | i in 0..{len(points) - 1} }}
""", encoding="utf-8")
    np.savetxt("points.txt", points, fmt="%.17g")
    run("p.diderot", "--double", "-data", str(file), "-at", "points.txt", "-o", "v.npy", *words)
    return np.load("v.npy")


def same(file, found, wanted, tolerance=1e-5):
    wanted = np.asarray(wanted, dtype=float).reshape(found.shape)
    close = np.allclose(found, wanted, rtol=1e-6, atol=tolerance * max(1.0, float(np.nanmax(np.abs(wanted)))), equal_nan=True)
    assert close, (str(file), found.tolist()[:3], wanted.tolist()[:3])


def anew(file):
    """The file that the command makes which is printed for one that cannot be read."""
    done = diderotc("info", str(file))
    assert done.returncode != 0, file
    commands = [line for line in done.stderr.splitlines() if "python3 -c " in line and "NAME" not in line]
    assert commands, (file, done.stderr)
    before = set(os.listdir("."))
    command = commands[0].split("python3 -c ", 1)[1]
    subprocess.run(f"{sys.executable} -c {command}", shell=True, check=True)
    made = sorted(set(os.listdir(".")) - before)
    assert len(made) == 1, (file, made)
    return made[0]


def told(what):
    print(f"ok  {what}", flush=True)
