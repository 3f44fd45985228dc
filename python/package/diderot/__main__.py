"""The command `diderotc`: `python -m diderot` and its words.

Run as a file, as the script `diderotc` does, it loads nothing but the native module, which takes milliseconds.
"""

import sys


def main() -> None:
    if __package__:
        from ._native import command
    else:
        from importlib.machinery import PathFinder
        from os.path import dirname

        spec = PathFinder.find_spec("_native", [dirname(__file__)])
        if spec is None or spec.loader is None:
            sys.exit(f"diderotc: the package {dirname(__file__)} has no native module for {sys.executable}")
        module = spec.loader.create_module(spec)
        assert module is not None, "a loader of native modules makes them itself"
        spec.loader.exec_module(module)
        command = module.command
    command(["diderotc", *sys.argv[1:]])


main()
