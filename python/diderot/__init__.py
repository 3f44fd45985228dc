"""Diderot: images as continuous tensor fields, in programs that are compiled to machine code.

>>> import diderot
>>> program = diderot.compile("iso.diderot")
>>> program.run(vol=volume, isoval=0.5).save("iso.png")
"""

from ._errors import (
    CompileError,
    Diagnostic,
    DiderotError,
    DiderotWarning,
    Edit,
    Fix,
    InputError,
    InternalError,
    Label,
    RunError,
)
from ._files import Record
from ._images import Image
from ._native import __version__
from ._program import Input, Output, Program, Progress, Running, compile
from ._result import Mesh, Ragged, Report, Result
from ._view import View

__all__ = [
    "CompileError",
    "Diagnostic",
    "DiderotError",
    "DiderotWarning",
    "Edit",
    "Fix",
    "Image",
    "Input",
    "InputError",
    "InternalError",
    "Label",
    "Mesh",
    "Output",
    "Program",
    "Progress",
    "Ragged",
    "Record",
    "Report",
    "Result",
    "RunError",
    "Running",
    "View",
    "__version__",
    "compile",
]


def load_ipython_extension(shell: object) -> None:
    """`%load_ext diderot` adds `%%diderot`."""
    from ._magic import register

    register(shell)
