"""Runs every command on every program of the repository, right ones and wrong ones. None may end by a panic or a signal, or run on.

    python3 compiler/tests/commands.py DIDEROTC [PROGRAM…]        from the repository's root

Every process may take a minute and 4 GB of addresses. Prints the commands that failed so, and the slowest ones.
"""

import concurrent.futures
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

SECONDS = 60
ADDRESSES = 4 << 30

STAGES = "ast typed translate derive normalize reconstruct scalarize hoist fit device ptx cuda".split()

# The words before and after the program.
COMMANDS = [
    (["check"], []),
    (["check", "--json"], []),
    (["flatten"], []),
    (["info"], []),
    (["explain"], []),
    (["explain", "--latex"], []),
    ([], ["--help"]),
    (["build", "--library"], ["-o", "{folder}/program"]),
    *((["emit", "--stage", stage], []) for stage in STAGES),
    (["--double", "emit", "--stage", "hoist"], []),
]


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))


def ended(diderotc, words):
    """How a command ended, if that is wrong, and after how long."""
    with tempfile.TemporaryDirectory() as folder:
        command = [diderotc, *(word.format(folder=folder) for word in words)]
        start = time.monotonic()
        try:
            run = subprocess.run(
                command, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, preexec_fn=limited
            )
        except subprocess.TimeoutExpired:
            return f"runs longer than {SECONDS} s", SECONDS
        took = time.monotonic() - start
    if run.returncode < 0:
        return f"ends by signal {-run.returncode}", took
    if run.returncode not in (0, 1, 2) or b"panicked" in run.stderr:
        return f"ends with status {run.returncode}: {run.stderr[:300].decode(errors='replace')}", took
    return None, took


def main():
    diderotc = os.path.abspath(sys.argv[1])
    listed = subprocess.run(["git", "ls-files", "*.diderot"], capture_output=True, text=True)
    found = listed.stdout.split() or map(str, pathlib.Path(".").rglob("*.diderot"))
    programs = sys.argv[2:] or sorted(found)
    jobs = [[*before, program, *after] for program in programs for before, after in COMMANDS]
    wrong = 0
    times = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for words, (complaint, took) in zip(jobs, pool.map(lambda words: ended(diderotc, words), jobs)):
            times.append((took, " ".join(words)))
            if complaint:
                wrong += 1
                print(f"{' '.join(words)}: {complaint}", flush=True)
    print(f"{len(jobs)} commands on {len(programs)} programs, {wrong} of them wrong; the slowest:")
    for took, words in sorted(times, reverse=True)[:5]:
        print(f"  {took:6.2f} s  {words}")
    sys.exit(wrong > 0)


main()
