"""`%%diderot`: a cell of a notebook that is a program."""

from __future__ import annotations

import shlex
from typing import Any

from ._program import Program, compile


def register(shell: Any) -> None:
    """Adds the magic to a shell of IPython."""

    def diderot(line: str, cell: str) -> Any:
        return run_cell(shell, line, cell)

    shell.register_magic_function(diderot, magic_kind="cell", magic_name="diderot")


def run_cell(shell: Any, line: str, cell: str) -> Any:
    """`%%diderot [-o NAME] [--run] [--double] [-INPUT VALUE …]`: compiles the cell, keeps the program as NAME, and with `--run`, or
    with inputs, runs it. A value is a variable of the notebook if there is one of that name, else a number or a file."""
    words = shlex.split(line)
    name, run, double = "program", False, False
    given: dict[str, list[str]] = {}
    while words:
        word = words.pop(0)
        if word == "-o":
            name = words.pop(0) if words else name
        elif word == "--run":
            run = True
        elif word == "--double":
            double = True
        elif word.startswith("-") and len(word) > 1 and not _is_number(word):
            given[word.lstrip("-")] = []
        elif given:
            list(given.values())[-1].append(word)
        else:
            raise ValueError(f"found `{word}`, expected -o NAME, --run, --double or -INPUT VALUE")
    program = compile(cell, double=double, name=f"{name}.diderot")
    shell.user_ns[name] = program
    if not (run or given):
        return program
    inputs = {key: _value(shell, program, key, values) for key, values in given.items()}
    return program.run(inputs=inputs)


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _value(shell: Any, program: Program, name: str, words: list[str]) -> Any:
    if len(words) == 1 and words[0] in shell.user_ns:
        return shell.user_ns[words[0]]
    about = program._about.get(name, {})
    kind = about.get("kind")
    if kind in ("real", "int"):
        parts = [part for word in words for part in word.replace(",", " ").split()]
        if all(map(_is_number, parts)):
            numbers = [int(part) if kind == "int" else float(part) for part in parts]
            return numbers if about["shape"] else numbers[0] if len(numbers) == 1 else numbers
    if kind == "bool":
        truths = [word.lower() in ("true", "yes", "on", "1") for word in words] or [True]
        return truths if about["shape"] else truths[0]
    return " ".join(words)
