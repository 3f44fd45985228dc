"""How much later the command of the wheel starts than the binary: the difference of the medians of many starts, in turns.

    python python/tests/start.py BINARY SCRIPT [ROUNDS]
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time


def seconds(command: str) -> float:
    start = time.perf_counter()
    subprocess.run([command, "--version"], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main() -> None:
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 200
    times = [(seconds(sys.argv[1]), seconds(sys.argv[2])) for _ in range(rounds)]
    binary, script = (1000 * statistics.median(column) for column in zip(*times))
    print(f"binary {binary:.1f} ms, script {script:.1f} ms: {script - binary:.1f} ms later (medians of {rounds})")


main()
