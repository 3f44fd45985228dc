"""What a run from Python costs beside the same run by the command, in one sitting: the ratio of their times.

    python python/tests/cost.py DIDEROTC [ROUNDS]

Both load a volume from a file, render it and write a picture; they take turns, and the best of each
counts, because the machine may have other things to do. The command's time is that of its parts (`-t`), so that the start of processes is on neither side.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import diderot
import numpy as np

PROGRAM = """#version 2.0
input image(3)[] vol;
input int res = 500;
field#2(3)[] F = bspln3 ⊛ vol;
strand ray (int row, int col) {
    real t = 2;
    output real most = 0;
    update {
        vec3 x = [2 + col*59.0/res, 2 + row*59.0/res, t];
        most = max(most, F(x));
        t += 1.5;
        if (t > 61) { stabilize; }
    }
}
create_array { ray(row, col) | row in 0..res-1, col in 0..res-1 }
"""


def by_command(command: str, folder: str) -> float:
    """The seconds that the command says it took, all parts together."""
    words = [command, "render.diderot", "-vol", "vol.npy", "-o", "command.png", "-t"]
    told = subprocess.run(words, cwd=folder, check=True, capture_output=True, text=True)
    parts = re.findall(r"^\w+ +([\d.]+) ms$", told.stderr + told.stdout, re.MULTILINE)
    assert len(parts) > 8, told.stderr
    return sum(map(float, parts)) / 1000


def by_python(folder: str) -> float:
    """The seconds of the same in this process."""
    start = time.perf_counter()
    program = diderot.compile(Path(folder) / "render.diderot")
    program.run(vol=str(Path(folder) / "vol.npy")).save(Path(folder) / "python.png")
    return time.perf_counter() - start


def main() -> None:
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 15
    with tempfile.TemporaryDirectory() as folder:
        axes = np.meshgrid(*[np.arange(64)] * 3, indexing="ij")
        np.save(Path(folder) / "vol.npy", np.sin(sum(axes) / 5).astype("f4"))
        (Path(folder) / "render.diderot").write_text(PROGRAM, encoding="utf-8")
        times = [(by_command(sys.argv[1], folder), by_python(folder)) for _ in range(rounds)]
        same = (Path(folder) / "command.png").read_bytes() == (Path(folder) / "python.png").read_bytes()
    command, python = (min(column) for column in zip(*times))
    print(f"command {command:.3f} s, Python {python:.3f} s: {python / command:.3f} of it; pictures {'equal' if same else 'DIFFER'}")


main()
