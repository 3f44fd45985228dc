"""Notebooks: how results look, the magic, and the notebooks of the book."""

from __future__ import annotations

import io
from pathlib import Path

import diderot
import numpy as np
import pytest

from conftest import EDGES, ROOT

#: Packages that some of them import.
NEEDED = {"torsion": ("skfem", "meshio")}
NOTEBOOKS = sorted((ROOT / "docs/book/notebooks").glob("*.ipynb"))


def picture() -> diderot.Result:
    return diderot.compile(EDGES).run(img=np.eye(64, dtype="f4"), res=50)


def test_a_result_shows_its_picture() -> None:
    pillow = pytest.importorskip("PIL.Image")
    result = picture()
    shown = pillow.open(io.BytesIO(result._repr_png_() or b""))
    assert shown.size == (50, 50)
    levels = np.clip(np.floor(result["edge"] * 255 + 0.5), 0, 255)
    assert np.abs(np.asarray(shown) - levels).max() <= 1
    html = result._repr_html_()
    assert "50 × 50" in html and "data:image/png" in html and "float32" in html


def test_a_cell_is_a_program() -> None:
    pytest.importorskip("IPython")
    from IPython.testing.globalipapp import start_ipython

    shell = start_ipython()
    shell.run_line_magic("load_ext", "diderot")
    shell.user_ns["photo"] = np.eye(64, dtype="f4")
    result = shell.run_cell_magic("diderot", "-o edges -img photo -res 40", EDGES)
    assert result["edge"].shape == (40, 40) and isinstance(shell.user_ns["edges"], diderot.Program)
    with pytest.raises(diderot.CompileError):
        shell.run_cell_magic("diderot", "", "#version 2.0\nint n = 1.5;\n")


def test_there_are_six_notebooks() -> None:
    assert len(NOTEBOOKS) == 6


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_of_the_book_runs(path: Path, tmp_path: Path) -> None:
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    for package in ("matplotlib", *NEEDED.get(path.stem, ())):
        pytest.importorskip(package)
    notebook = nbformat.read(path, as_version=4)
    client = nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(path.parent)}})
    client.execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert any("image/png" in output.get("data", {}) for output in outputs), "a picture"
    errors = [cell for cell in notebook.cells if "raises-exception" in cell.metadata.get("tags", [])]
    for cell in errors:
        assert "diderot:" in "".join(cell.outputs[-1]["traceback"])
