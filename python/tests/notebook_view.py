"""Views in a real JupyterLab: `python notebook_view.py` starts one and drives it by a browser without a window.

Needs jupyterlab and anywidget in this environment, Node.js, playwright-core in $NODE_PATH, and Chromium as $CHROMIUM."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

PROGRAM = '''import diderot
program = diderot.compile("""#version 2.0
input real gain ("brightness [0, 4]") = 1;
input int res = 200;
strand pixel (int j, int i) { output real x = 0; update { x = gain*(i + j)/(2*res - 2); stabilize; } }
create_array { pixel(j, i) | j in 0..res-1, i in 0..res-1 }""", name="ramp.diderot")
view = program.view()
view'''


def cell(source: str) -> dict[str, object]:
    return {"cell_type": "code", "execution_count": None, "id": f"c{len(source)}", "metadata": {}, "outputs": [], "source": source}


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def wait_for(address: str, server: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end and server.poll() is None:
        try:
            urllib.request.urlopen(address, timeout=5).close()
            return
        except OSError:
            time.sleep(0.2)
    sys.exit("JupyterLab does not start")


def main() -> None:
    browser = os.environ.get("CHROMIUM") or shutil.which("chromium-headless-shell") or shutil.which("chromium") or "chromium"
    screenshot = sys.argv[1] if len(sys.argv) > 1 else "notebook-view.png"
    with tempfile.TemporaryDirectory() as folder:
        kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
        cells = [cell(PROGRAM), cell("print(view.inputs)")]
        notebook = Path(folder) / "view.ipynb"
        notebook.write_text(json.dumps({"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}))
        port = free_port()
        options = ["--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}", "--ServerApp.port_retries=0"]
        options += ["--IdentityProvider.token=", "--LabApp.expose_app_in_browser=True", f"--ServerApp.root_dir={folder}"]
        home = {name: str(Path(folder) / name) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")}
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
        environment = {**os.environ, **home, "PATH": path}
        log = open(Path(folder) / "log", "wb")
        server = subprocess.Popen([sys.executable, "-m", "jupyterlab", *options], env=environment, stdout=log, stderr=log)
        try:
            address = f"http://127.0.0.1:{port}"
            wait_for(f"{address}/api", server)
            script = Path(__file__).with_suffix(".cjs")
            subprocess.run(["node", script, f"{address}/lab/tree/view.ipynb?reset", browser, screenshot], check=True, timeout=300)
        finally:
            server.terminate()
            server.wait(30)
        saved = json.loads(notebook.read_text())["cells"][0]["outputs"][0]["data"]
        assert "image/png" in saved and "application/vnd.jupyter.widget-view+json" in saved, sorted(saved)
    print("a view in JupyterLab shows pictures, sets inputs, and is saved with its picture")


if __name__ == "__main__":
    main()
