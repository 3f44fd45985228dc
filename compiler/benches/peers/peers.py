#!/usr/bin/env python3
"""Other tools beside diderotc: their times, and whether their results agree.

    python3 compiler/benches/peers/peers.py DIDEROTC [ROW…]

Needs numpy, scipy, vtk and numba. All rows, or those named, are computed by a program and by a peer in turns, so that the load of the machine meets both. The
best of five turns counts, or of more on a busy machine. Prints tables in Markdown; a disagreement of results is a failure.
"""

import importlib.metadata
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from typing import Callable

import numpy

import agreement

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
TURNS = 5
# On one thread there are more turns, up to this number, until each side has had most of a core once: the machine may be busy.
PATIENCE = 10
MOST = 0.9
BOX = "box:-1.5,-1.5,-1.5,1.5,1.5,1.5"
VIEW = "-eye 4 -7 5 -look 0 0 0 -fov 20 -depth 2.7 -rayStep 0.01 -xres 512 -yres 512 -rgba rgba.nrrd"


@dataclass
class Row:
    """A program, its peer, and the comparison of their results."""

    name: str
    program: str
    words: str
    peer: str
    what: str
    suffix: str
    agree: Callable
    threads: bool = True
    kernel: str = ""


ROWS = [
    # Samples on rays of VTK have other offsets along the rays, and its colours and opacities have 15 bits.
    Row("rendering", "rendering", f"-vol volume.nrrd {VIEW}", "vtk rendering", "vtkFixedPointVolumeRayCastMapper", "npy", agreement.pictures(2e-3, 0.05)),
    # Another field, gradients and highlights: only large errors would be found.
    Row("shading", "shaded", f"-vol volume.nrrd {VIEW}", "vtk shaded", "vtkFixedPointVolumeRayCastMapper", "npy", agreement.pictures(5e-3, 0.2)),
    Row("contour", "contour", "-vol volume.nrrd", "vtk contour", "vtkFlyingEdges3D", "vtp", agreement.surfaces(3 / 128, 1e-4, 1e-3)),
    # The same samples, but another field between them: corners move along the edges of cells.
    Row("smooth contour", "contour", "-vol volume.nrrd", "vtk contour", "vtkFlyingEdges3D", "vtp", agreement.surfaces(3 / 128, 0.03, 1), kernel="ctmr"),
    Row("probe", "sampling", "-vol volume.nrrd -points points.npy", "vtk sampling", "vtkProbeFilter", "npy", agreement.numbers(1e-5)),
    Row("sampling", "sampling", "-vol volume.nrrd -points points.npy", "scipy linear", "map_coordinates, order 1", "npy", agreement.numbers(1e-5), threads=False),
    Row("cubic sampling", "sampling", "-vol volume.nrrd -points points.npy", "scipy cubic", "map_coordinates, order 3", "npy", agreement.numbers(1e-5),
        threads=False, kernel="bspln3"),
    Row("streamlines", "streamlines", "-flow flow.nrrd -seeds seeds.npy", "vtk streamlines", "vtkStreamTracer", "vtp", agreement.lines(500, 1e-3)),
    # The last bit decides whether a ray has one sample more.
    Row("projection", "../speed/programs/projection", "-vol volume.nrrd -res 512", "numba projection", "Numba", "npy", agreement.nearly_all(1e-4, 1e-3)),
    Row("streaks", "../speed/programs/streaks", "-flow plane.nrrd -noise noise.nrrd -res 1024", "numba streaks", "Numba", "npy", agreement.nearly_all(1e-3, 1e-3)),
    Row("blur", "blur", "-vol grid.nrrd", "scipy blur", "gaussian_filter", "npy", agreement.numbers(1e-5), threads=False),
]  # fmt: skip


def write_data(diderotc, folder):
    """Samples of formulas in the repository, and random points."""

    def make(program, *words):
        command = [diderotc, ROOT / f"programs/synth/{program}.diderot", "-q", "-print", os.devnull, *words]
        subprocess.run(command, cwd=folder, check=True)

    make("volume", "-shape", "phantom", "-size", "128", "--place", BOX, "-o", "volume.nrrd")
    make("volume", "-shape", "phantom", "-size", "192", "-o", "grid.nrrd")
    make("flow3", "-size", "96", "--place", BOX, "-o", "flow.nrrd")
    make("flow2", "-size", "32", "-o", "plane.nrrd")
    make("noise", "-size", "128", "-o", "noise.nrrd")
    shutil.copy(ROOT / "data/phantom-rgba.nrrd", folder / "rgba.nrrd")
    random = numpy.random.default_rng(1)
    numpy.save(folder / "points.npy", random.uniform(-1.4, 1.4, (1_000_000, 3)).astype("f4"))
    numpy.save(folder / "seeds.npy", random.uniform(-1.2, 1.2, (2000, 3)).astype("f4"))


def timed(command, folder, threads):
    """The seconds of a whole command, the share of a core that it had, and its messages."""
    # Rayon smooths images in diderotc, OpenBLAS comes with NumPy; both start a thread for each core unless these variables have another number.
    limits = {name: str(threads) for name in ("RAYON_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS")}
    start, before = time.perf_counter(), os.times()
    done = subprocess.run(command, cwd=folder, env=os.environ | limits, capture_output=True, text=True, check=False)
    seconds, after = time.perf_counter() - start, os.times()
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    computed = after.children_user - before.children_user + after.children_system - before.children_system
    return seconds, computed / seconds, done.stdout + done.stderr


def ours(row, diderotc, folder, threads):
    """The seconds of a run of the program: of the whole command, and from the first strand to the last value."""
    text = (HERE / f"{row.program}.diderot").read_text()
    if row.kernel:
        text = text.replace("field#0(3)[] F = tent", f"field#1(3)[] F = {row.kernel}")
        assert row.kernel in text
    (folder / "program.diderot").write_text(text)
    words = [*row.words.split(), "-o", f"ours.{row.suffix}", "-t", "--nworkers", str(threads)]
    seconds, share, told = timed([diderotc, "program.diderot", *words], folder, threads)
    parts = dict(re.findall(r"^(create|steps|gather) +([0-9.]+) ms$", told, re.MULTILINE))
    assert len(parts) == 3, told
    return seconds, sum(map(float, parts.values())) / 1000, share


def theirs(peer, folder, threads):
    """The same of a peer; its inner seconds are those of the computation, after everything is imported, compiled and read."""
    script, name = peer.split()
    seconds, share, told = timed([sys.executable, HERE / f"by_{script}.py", name, folder, str(threads)], folder, threads)
    return seconds, float(told.split()[0]), share


def measure(row, diderotc, folder, threads):
    """The best of several turns, whole and inside, of both."""
    best = [[float("inf")] * 2 + [0.0] for _ in range(2)]
    of_peer = threads if row.threads else 1
    for turn in range(PATIENCE):
        if turn >= TURNS and (threads > 1 or min(share for _, _, share in best) > MOST):
            break
        for kept, found in zip(best, (ours(row, diderotc, folder, threads), theirs(row.peer, folder, of_peer))):
            kept[:] = [min(kept[0], found[0]), min(kept[1], found[1]), max(kept[2], found[2])]
    return best


def milliseconds(seconds):
    return f"{1000 * seconds:.0f}" if seconds >= 0.01 else f"{1000 * seconds:.1f}"


def machine():
    """The processor, and the versions of all peers."""
    model = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("vtk", "numba", "scipy", "numpy"))
    python = sys.version.split()[0]
    return f"{model[1] if model else 'unknown processor'}, {os.cpu_count()} threads, load {os.getloadavg()[0]:.1f}; Python {python}, {versions}"


def main(diderotc, names):
    rows = [row for row in ROWS if not names or row.name in names]
    unknown = set(names) - {row.name for row in ROWS}
    if unknown:
        sys.exit(f"rows are: {', '.join(row.name for row in ROWS)}")
    counts = sorted({1, os.cpu_count() or 1})
    failures, shares, agreements = [], [], []
    print(f"{machine()}\n\nMilliseconds, best of {TURNS} turns or more; ratios above 1: diderotc is faster\n")
    print("| row | peer | threads | diderotc, inside | peer, inside | ratio | diderotc, whole | peer, whole | ratio |")
    print("|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_data(diderotc, folder)
        for row in rows:
            for threads in counts:
                (whole, inside, share), (peer_whole, peer_inside, peer_share) = measure(row, diderotc, folder, threads)
                shares += [share, peer_share] if threads == 1 else []
                used = str(threads) if row.threads or threads == 1 else f"{threads}, peer 1"
                cells = [row.name, row.what, used, milliseconds(inside), milliseconds(peer_inside), f"{peer_inside / inside:.2f}"]
                cells += [milliseconds(whole), milliseconds(peer_whole), f"{peer_whole / whole:.2f}"]
                print("| " + " | ".join(cells) + " |", flush=True)
                text, agrees = row.agree(folder)
                if threads == 1 or not agrees:
                    agreements.append(f"| {row.name} | {text} | {'yes' if agrees else 'NO'} |")
                failures += [] if agrees else [row.name]
        copied = min(theirs("scipy copy", folder, 1)[1] for _ in range(TURNS))
        size = (folder / "grid.nrrd").stat().st_size
        print(f"\nnumpy.copyto copies the bytes of `blur` in {milliseconds(copied)} ms: {size / copied / 1e9:.1f} GB/s\n")
    print("| row | results | agree |\n|---|---|---|\n" + "\n".join(agreements))
    print(f"\nOn one thread, the best turns had {100 * min(shares):.0f} to {100 * max(shares):.0f} % of a core.")
    if failures:
        sys.exit(f"results disagree: {', '.join(dict.fromkeys(failures))}")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(os.path.abspath(sys.argv[1]), sys.argv[2:])
