"""In an environment with nothing but the wheel and what it needs: the example of the README gives the command's picture, bit for bit.

    python python/tests/first.py DIDEROTC
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import diderot
import numpy as np

README = Path(__file__).resolve().parents[1] / "README.md"


def main() -> None:
    command = os.path.abspath(sys.argv[1])
    block = re.search(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert block, "the README has an example"
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        names: dict[str, object] = {}
        exec(block.group(1), names)
        program, img = names["edges"], names["img"]
        assert isinstance(program, diderot.Program) and isinstance(img, np.ndarray)
        np.save("img.npy", img.astype("f4"))
        source = re.search(r'"""(.*?)"""', block.group(1), re.DOTALL)
        assert source
        Path("edges.diderot").write_text(source.group(1), encoding="utf-8")
        words = [command, "edges.diderot", "-img", "img.npy", "-o", "command.png", "--range", "0,0.5"]
        subprocess.run(words, check=True, capture_output=True)
        picture = Path("command.png").read_bytes()
        assert Path("edges.png").read_bytes() == picture
        for workers in (1, 2, 7):
            assert program.run(img=img.astype("f4"), workers=workers).to_image(range=(0, 0.5)) == picture
    print(f"{diderot.__file__}: the example gives the command's picture with 1, 2 and 7 workers")


main()
