"""Diderot: images as continuous tensor fields, in programs that are compiled to machine code.

>>> import diderot
>>> program = diderot.compile("iso.diderot")
>>> program.run(vol=volume, isoval=0.5).save("iso.png")
"""

from ._command import command
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
from ._native import DeviceArray, __version__, set_cache, set_memory_limit
from ._program import Input, Output, Program, compile
from ._result import Mesh, Ragged, Report, Result
from ._running import Progress, Running
from ._view import View

__all__ = [
    "CompileError",
    "DeviceArray",
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
    "command",
    "compile",
    "set_cache",
    "set_memory_limit",
]


def load_ipython_extension(shell: object) -> None:
    """`%load_ext diderot` adds `%%diderot`."""
    from ._magic import register

    register(shell)
