"""What the tests share: the command, to compare with, and small programs."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

EDGES = """#version 2.0
input image(2)[] img ("a picture");
input int res = 200;
field#1(2)[] F = bspln3 ⊛ img;
strand pixel (int row, int col) {
    output real edge = 0;
    update { vec2 x = [col, row] * (63.0/(res - 1)); if (inside(x, F)) { edge = |∇F(x)|; } stabilize; }
}
create_array { pixel(row, col) | row in 0..res-1, col in 0..res-1 }
"""


@pytest.fixture(scope="session")
def command() -> str:
    """The command `diderotc` that was built with the package."""
    for found in (os.environ.get("DIDEROTC"), ROOT / "target/debug/diderotc", shutil.which("diderotc")):
        if found and Path(found).exists():
            return str(found)
    pytest.fail("there is no diderotc to compare with: build it, or name it by DIDEROTC")
