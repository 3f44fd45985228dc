"""The command `diderotc` from Python: for everything that has to do with files of programs rather than with runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from ._errors import DiderotError
from ._files import PathLike


def command(*words: PathLike, stdin: str | None = None) -> str:
    """Runs the command `diderotc` in a process of its own and gives its standard output. Raises DiderotError with its messages if it
    fails.

    >>> print(diderot.command("info", "head.nrrd"))
    """
    # The file rather than the module: a folder `diderot` in the current directory would be found first.
    main = Path(__file__).with_name("__main__.py")
    ran = subprocess.run(
        [sys.executable, "-I", "-S", os.fspath(main), *[os.fspath(word) for word in words]],
        input=stdin,
        stdin=subprocess.DEVNULL if stdin is None else None,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
    )
    if ran.returncode != 0:
        raise DiderotError(ran.stderr or ran.stdout or f"diderotc ended with the status {ran.returncode}")
    if ran.stderr:
        print(ran.stderr, end="", file=sys.stderr)
    return ran.stdout
