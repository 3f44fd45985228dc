"""Runs every program on the CPU and on the GPU and compares what they write, bit for bit but for which NaN a NaN is.

    python3 compiler/tests/devices.py [--steps N] DIDEROTC [PROGRAM…]        from the repository's root, on a machine with an NVIDIA GPU

Without programs all of `programs/` is run, in both precisions; files that are required are chosen by their types. A program that
runs on the CPU with `--target cuda` too must say why; the reasons are counted. Fails if anything differs.
"""

import argparse
import array
import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

# Programs that make data for the others, with what they are given: the header goes where they print.
DATA = {
    "phantom": ["volume", "-shape", "phantom"],
    "turned": ["volume", "-shape", "phantom", "-angle", "30", "-shear", "0.1", "0.2", "0.3"],
    "vortices": ["flow3", "-flow", "vortices"],
    "flow2": ["flow2"],
    "gyres": ["gyres", "-size", "16"],
    "series0": ["volume", "-shape", "sphere"],
    "series1": ["volume", "-shape", "ellipsoid"],
    "series2": ["volume", "-shape", "saddle"],
    "tensors": ["tensors"],
    "scene": ["scene"],
    "signal": ["signal"],
}

# What is taken for a required input of a type; several mean that the program is run with each.
CHOICE = {
    "image(1)[3]": ["data/diverging.nrrd"],
    "image(1)[4]": ["data/phantom-rgba.nrrd"],
    "image(1)[]": ["{data}/signal.nhdr"],
    "image(2)[2]": ["{data}/flow2.nhdr"],
    "image(2,time)[2]": ["{data}/gyres.nhdr"],
    "image(2)[3]": ["data/gallery/china.jpg"],
    "image(2)[]": ["{data}/scene.nhdr"],
    "image(3)[3,3]": ["{data}/tensors.nhdr"],
    "image(3)[3]": ["{data}/vortices.nhdr"],
    "image(3,time)[]": ["{data}/series%d.nhdr 0 2"],
    "image(3)[]": ["{data}/phantom.nhdr", "{data}/turned.nhdr"],
    "fem#1(2)[]": ["data/gallery/cylinder.vtu"],
    "fem#1(2)[2]": ["data/gallery/cylinder.vtu"],
    "fem#1(3)[]": ["data/gallery/tangle.vtu"],
    "mesh(3)": ["data/gallery/tangle.vtu"],
    "vec2[]": ["data/check-pairs.nrrd"],
    "vec3[]": ["data/check-points.txt"],
}

# Programs that go on for ever, or long, are stopped.
STEPS = {"around": 20, "mote-2": 20}

INPUT = re.compile(r"^  -(\S+) .*?((?:image|fem#\d|mesh)\(\d(?:,time)?\)(?:\[[\d,]*\])?|vec\d\[\]).*\(required\)")


def run(command, folder):
    return subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=600)


def choices(diderotc, program, data, limit):
    """The lists of words with which a program is run."""
    usage = run([diderotc, program, "--help"], ".").stdout.decode()
    found = [INPUT.match(line) for line in usage.splitlines()]
    needed = [(match[1], CHOICE[match[2]]) for match in found if match]
    most = max([len(files) for _, files in needed], default=1)
    here = os.getcwd()
    steps = STEPS.get(pathlib.Path(program).stem, limit)
    for n in range(most):
        words = ["-l", str(steps)] if steps else []
        for name, files in needed:
            file = files[min(n, len(files) - 1)].format(data=data)
            words += ["-" + name, os.path.join(here, file)]
        yield words


def comparable(name, content):
    """The content of a file with every NaN the same: which one it is depends on the machine."""
    header, end, numbers = content.partition(b"\n\n")
    sizes = {b"type: float": "I", b"type: double": "Q"}
    kinds = [kind for line, kind in sizes.items() if line in header.splitlines()]
    if not name.endswith(".nrrd") or not kinds or b"encoding: raw" not in header:
        return content
    values = array.array(kinds[0], numbers)
    bits = 8 * values.itemsize
    infinite = (0xFF << 23) if bits == 32 else (0x7FF << 52)
    most = (1 << (bits - 1)) - 1
    return header, [most if value & most > infinite else value for value in values]


def written(command, target, words):
    """What a run gives: status, what it prints on standard output, and its files."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ["data", "programs"]:
            os.symlink(os.path.join(os.getcwd(), name), os.path.join(folder, name))
        ended = run([*command, "--target", target, *words], folder)
        files = {p.name: p.read_bytes() for p in pathlib.Path(folder).iterdir() if not p.is_symlink()}
        return ended.returncode, ended.stdout, files, ended.stderr.decode()


def compare(diderotc, program, precision, words):
    """A word about a program, and details if it differs."""
    command = [diderotc, *precision, os.path.abspath(program)]
    cpu, gpu = (written(command, target, words) for target in ["cpu", "cuda"])
    files = [{name: comparable(name, content) for name, content in run[2].items()} for run in (cpu, gpu) if cpu[2] != gpu[2]]
    if cpu[:2] != gpu[:2] or any(file != files[0] for file in files):
        return "different", f"{program} {' '.join(precision + words)}\n{gpu[3]}"
    if cpu[0] != 0:
        return "same error", None
    reason = next((line for line in gpu[3].splitlines() if "runs on the CPU" in line), None)
    # Without the place in the program.
    return ("on the CPU", re.sub(r" \(\S+:\d+\)", "", reason)) if reason else ("equal", None)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, help="super-steps of every run, at most")
    parser.add_argument("diderotc", type=os.path.abspath)
    parser.add_argument("programs", nargs="*")
    args = parser.parse_args()
    diderotc = args.diderotc
    programs = args.programs or sorted(map(str, pathlib.Path("programs").glob("*/*.diderot")))
    with tempfile.TemporaryDirectory() as data:
        for name, (program, *words) in DATA.items():
            made = ["-file", name + ".nrrd", "-o", f"{data}/{name}.nrrd", "-print", f"{data}/{name}.nhdr"]
            run([diderotc, f"programs/synth/{program}.diderot", *words, *made], ".").check_returncode()
        jobs = [
            (diderotc, program, precision, words)
            for program in programs
            for words in choices(diderotc, program, data, args.steps)
            for precision in ([], ["--double"])
        ]
        with concurrent.futures.ThreadPoolExecutor(8) as workers:
            found = list(workers.map(lambda job: compare(*job), jobs))
    for word, details in found:
        if word == "different":
            print(details)
    reasons = collections.Counter(details for word, details in found if word == "on the CPU")
    for reason, count in reasons.most_common():
        print(f"{count} times: {reason}")
    counts = collections.Counter(word for word, _ in found)
    print(", ".join(f"{count} {word}" for word, count in counts.most_common()), f"of {len(jobs)} runs")
    sys.exit(1 if counts["different"] else 0)


main()
