"""The table of capabilities in the book: everything that it names exists, and everything that exists is named."""

from __future__ import annotations

import dataclasses
import inspect
import re
import subprocess
from pathlib import Path

import diderot
import pytest

from conftest import ROOT
from test_messages import SCALARS

PAGE = ROOT / "docs/book/src/capabilities.md"
COLUMNS = ["command", "Python", "C", "Rust"]


def rows() -> list[list[str]]:
    """The rows of all tables, without their heads."""
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [row for row in cells if row[0] != "capability"]


def named(column: str) -> set[str]:
    """The names in a column."""
    at = 1 + COLUMNS.index(column)
    return {name for row in rows() for name in re.findall(r"`([^`]+)`", row[at])}


def assert_same(column: str, items: set[str], extra: set[str] = frozenset()) -> None:  # type: ignore[assignment]
    found = named(column) - extra
    assert len(items) > 30, "an interface is found"
    missing, stale = sorted(items - found), sorted(found - items)
    assert not missing and not stale, f"{column}: in no row {missing}; do not exist {stale}"


def test_every_row_has_four_answers() -> None:
    assert len(rows()) > 50
    for row in rows():
        assert len(row) == 5 and all(row), row
        for cell in row[1:]:
            assert not re.fullmatch(r"—\W*", cell), f"a dash needs a reason: {row}"


def options(text: str) -> set[str]:
    """The long options that a help text introduces."""
    introduced = [line.strip().split("  ")[0] for line in text.splitlines() if re.match(r" {2,6}-", line)]
    return {option for line in introduced for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*", line)}


def test_the_command(command: str, tmp_path: Path) -> None:
    def told(*words: str) -> str:
        ran = subprocess.run([command, *words], cwd=tmp_path, capture_output=True, text=True)
        return ran.stdout

    # A program with an image has all options.
    (tmp_path / "p.diderot").write_text(SCALARS, encoding="utf-8")
    general = told("--help")
    everywhere = options(general) | options(told("p.diderot", "--help"))
    items = everywhere | {"--Cname=value"}
    commands = re.findall(r"^  ([a-z]+) ", general.split("Commands:")[1].split("Options:")[0], re.MULTILINE)
    for name in set(commands) - {"help"}:
        items |= {f"diderotc {name}"} | {f"diderotc {name} {option}" for option in options(told(name, "--help")) - everywhere}
    assert_same("command", items, {"diderotc", "diderotc PROGRAM", "-NAME", ".npy", ".ply", ".stl", ".svg", ".pdf"})


def test_python() -> None:
    items = set(diderot.__all__)
    for name in diderot.__all__:
        kind = getattr(diderot, name)
        if not inspect.isclass(kind) or issubclass(kind, Warning):
            continue
        members = {
            member
            for member, value in vars(kind).items()
            if not member.startswith("_") and (inspect.isfunction(value) or isinstance(value, property))
        }
        if kind is diderot.Program:
            members |= {"inputs", "outputs"}
        # Of messages and descriptions the class is enough.
        if not issubclass(kind, Exception) and kind is not diderot.Input:
            items |= {f"{name}.{member}" for member in members}
    functions = {"compile": diderot.compile, "Program.run": diderot.Program.run, "Image": diderot.Image}
    for name, function in functions.items():
        parameters = inspect.signature(function).parameters.values()
        items |= {f"{name}({p.name}=)" for p in parameters if p.kind is p.KEYWORD_ONLY}
    items |= {f"Record({field.name}=)" for field in dataclasses.fields(diderot.Record)}
    assert_same("Python", items)


def test_functions_that_do_the_same_have_the_same_parameters() -> None:
    def names(function: object) -> set[str]:
        return set(inspect.signature(function).parameters)  # type: ignore[arg-type]

    assert names(diderot.Program.run) == names(diderot.Program.run_async)
    fields = {field.name for field in dataclasses.fields(diderot.Record)}
    for function in (diderot.Result.save, diderot.Result.to_image):
        assert names(function) - {"self", "path", "name"} <= fields


def test_c() -> None:
    header = (ROOT / "capi/include/diderot.h").read_text(encoding="utf-8")
    # The example in the comment at the top is made of calls.
    declared = re.sub(r"/\*.*?\*/", "", header, flags=re.DOTALL)
    declared = re.sub(r"//.*", "", declared)
    assert_same("C", set(re.findall(r"\b(diderot_\w+)\(", declared)))


def test_rust() -> None:
    source = ROOT / "diderot/src"
    root = (source / "lib.rs").read_text(encoding="utf-8")
    items = set(re.findall(r"^pub mod (\w+)", root, re.MULTILINE))
    for used in re.findall(r"^pub use ([^;]+);", root, re.MULTILINE):
        # The last name of each path, or the one that it is given.
        parts = re.findall(r"(?:\w+ as )?(\w+)(?=\s*[,}]|$)", used)
        items |= {part for part in parts if part not in ("self",)}
    for file in source.glob("*.rs"):
        if file.name == "view.rs":
            items |= {"Program::view"}
            continue
        text = file.read_text(encoding="utf-8").split("#[cfg(test)]")[0]
        for kind, body in re.findall(r"^impl (\w+) \{\n(.*?)^\}", text, re.MULTILINE | re.DOTALL):
            methods = re.findall(r"^    pub fn (\w+)", body, re.MULTILINE)
            if kind not in ("Failure", "Error"):
                items |= {f"{kind}::{method}" for method in methods}
    assert_same("Rust", items)


@pytest.mark.parametrize("column", COLUMNS)
def test_the_test_notices_what_is_missing(column: str) -> None:
    items = named(column) | {f"x{n}" for n in range(40)}
    with pytest.raises(AssertionError, match="in no row"):
        assert_same(column, items)
    with pytest.raises(AssertionError, match="do not exist"):
        assert_same(column, {f"x{n}" for n in range(40)})
