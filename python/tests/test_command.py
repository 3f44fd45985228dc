"""The command inside the package: the script `diderotc`, `python -m diderot`, and `diderot.command`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import diderot
import pytest

from test_running import SLOW

SQUARES = """#version 2.0
input int n = 5;
strand s (int i) { output int x = i*i; update { print(i, "\\n"); stabilize; } }
create_array { s(i) | i in 0..n-1 }
"""
SCRIPT = Path(sys.executable).with_name("diderotc")


@pytest.fixture(params=["script", "module"])
def words(request: pytest.FixtureRequest) -> list[str]:
    """The two ways to start the command of the package."""
    if request.param == "module":
        return [sys.executable, "-m", "diderot"]
    if not SCRIPT.exists():
        pytest.skip("the environment has no script; .ci/python and pip install it")
    return [str(SCRIPT)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "p.diderot").write_text(SQUARES, encoding="utf-8")
    (tmp_path / "slow.diderot").write_text(SLOW, encoding="utf-8")
    return tmp_path


def ran(words: list[str], *more: str, folder: Path, text: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*words, *more], cwd=folder, input=text, capture_output=True, text=True, timeout=60)


def test_it_is_the_command(words: list[str], folder: Path, command: str) -> None:
    """Output, messages and status are those of the binary."""
    rows = [
        ["--version"],
        ["--help"],
        [],
        ["p.diderot", "-n", "3", "-o", "x.txt", "-print", "-"],
        ["p.diderot", "-m", "3"],
        ["chekc", "p.diderot"],
        ["check", "nothing.diderot"],
        ["emit", "--stage", "normalize", "p.diderot"],
        ["explain", "type-mismatch"],
        ["info", "p.diderot", "--json"],
        ["completions", "bash"],
        ["build", "--library", "p.diderot", "-o", "generated"],
    ]
    for row in rows:
        mine, binary = ran(words, *row, folder=folder), ran([command], *row, folder=folder)
        assert (mine.returncode, mine.stdout, mine.stderr) == (binary.returncode, binary.stdout, binary.stderr), row
    assert (folder / "x.txt").read_text().split() == ["0", "1", "4"]


def test_it_reads_standard_input(words: list[str], folder: Path) -> None:
    formatted = ran(words, "fmt", "-", folder=folder, text="#version 2.0\nint  n=1;\n")
    assert formatted.returncode == 0 and formatted.stdout == "#version 2.0\nint n = 1;\n"


def test_it_serves_editors(words: list[str], folder: Path) -> None:
    def message(about: dict[str, object]) -> str:
        text = json.dumps({"jsonrpc": "2.0", **about})
        return f"Content-Length: {len(text)}\r\n\r\n{text}"

    asked = [
        {"id": 1, "method": "initialize", "params": {"capabilities": {}}},
        {"method": "initialized", "params": {}},
        {"id": 2, "method": "shutdown"},
        {"method": "exit"},
    ]
    served = ran(words, "lsp", folder=folder, text="".join(map(message, asked)))
    assert served.returncode == 0 and '"capabilities"' in served.stdout and '"id":2' in served.stdout, served


@pytest.mark.skipif(sys.platform == "win32", reason="sends signals as POSIX has them")
def test_ctrl_c_ends_a_run_with_a_message(words: list[str], folder: Path) -> None:
    started = subprocess.Popen([*words, "slow.diderot"], cwd=folder, stderr=subprocess.PIPE, text=True)
    time.sleep(2)
    started.send_signal(signal.SIGINT)
    _, told = started.communicate(timeout=30)
    assert started.returncode == 130 and "interrupted" in told and "Traceback" not in told, told
    assert not list(folder.glob("*.nrrd"))


@pytest.mark.skipif(sys.platform == "win32", reason="sends signals as POSIX has them")
def test_ctrl_c_ends_a_command_that_reads(words: list[str], folder: Path) -> None:
    started = subprocess.Popen([*words, "fmt", "-"], cwd=folder, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(2)
    started.send_signal(signal.SIGINT)
    _, told = started.communicate(timeout=30)
    assert started.returncode == -signal.SIGINT and told == ""


@pytest.mark.skipif(sys.platform == "win32", reason="sends signals as POSIX has them")
def test_the_viewer_is_served_until_it_is_interrupted(words: list[str], folder: Path) -> None:
    started = subprocess.Popen(
        [*words, "view", "--no-open", "p.diderot"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    late = threading.Timer(60, started.kill)
    late.start()
    assert started.stdout is not None
    told = ""
    while "http://" not in told:
        line = started.stdout.readline()
        assert line, told
        told += line
    started.send_signal(signal.SIGINT)
    started.communicate(timeout=30)
    late.cancel()
    # The address may be known before there is a handler.
    assert started.returncode in (0, 130, -signal.SIGINT)


def test_an_executable_needs_the_binary(words: list[str], folder: Path) -> None:
    built = ran(words, "build", "p.diderot", folder=folder)
    assert built.returncode == 1 and "release archive" in built.stderr and not (folder / "p").exists()


def test_the_script_loads_nothing_but_the_native_module(folder: Path) -> None:
    """The parts of the package would take ten times as long."""
    if not SCRIPT.exists():
        pytest.skip("the environment has no script; .ci/python and pip install it")
    told = ran([sys.executable, "-X", "importtime", str(SCRIPT)], "--version", folder=folder)
    loaded = [line.split("|")[-1].strip() for line in told.stderr.splitlines() if line.startswith("import time:")]
    assert told.stdout == f"diderotc {diderot.__version__}\n" and "site" in loaded
    assert not {"numpy", "re", "diderot", "subprocess"} & set(loaded), loaded


def test_python_calls_the_command(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert diderot.command("version") == f"diderotc {diderot.__version__}\n"
    assert json.loads(diderot.command("info", folder / "p.diderot", "--json"))["inputs"][0]["name"] == "n"
    assert diderot.command("fmt", "-", stdin="#version 2.0\nint  n=1;\n") == "#version 2.0\nint n = 1;\n"
    with pytest.raises(diderot.DiderotError, match="nothing.diderot"):
        diderot.command("check", "nothing.diderot")
    os.chdir(folder)
    diderot.command("p.diderot", "-o", "x.txt")
    assert "wrote x.txt" in capfd.readouterr().err
