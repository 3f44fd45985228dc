"""Runs programs under mpirun and compares files, text, messages and exit status with a plain run; then breaks runs on purpose.

    python3 compiler/tests/mpi.py DIDEROTC [--ranks 1,2,3,4,7] [--mpi openmpi,mpich] [PROGRAM…]        from the repository's root

Needs Debian's packages openmpi-bin, libopenmpi-dev, mpich and libmpich-dev, or those of one MPI with `--mpi`.
Programs run as their heads say, with the data that the repository has; without such a line they run without options.
"""

import argparse
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path.cwd()
SECONDS = 120
# Every fourth program also runs in double precision.
DOUBLE = 4

LAUNCHERS = {
    "openmpi": ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--quiet"],
    "mpich": ["mpirun.mpich"],
}
failures = []


def complain(text):
    failures.append(text)
    print(text, flush=True)


def environment(library):
    """The environment of a run with this library; MPI's own memory is small, and it may be oversubscribed."""
    return os.environ | {"DIDEROT_MPI": str(library), "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_btl_base_warn_component_unused": "0"}


def commands(program):
    """The words after the program in the commands of its head, as far as the data are there; none if there is no such command."""
    text = pathlib.Path(program).read_text().replace("\\\n//", " ")
    found = []
    for line in text.splitlines():
        match = re.match(rf"//\s+diderotc {re.escape(program)}(.*)", line)
        if not match:
            continue
        words = shlex.split(match.group(1))
        kept = []
        while words:
            word = words.pop(0)
            if word in ("-o", "--output") and words:
                words.pop(0)
                continue
            kept.append(word)
        if all(not word.startswith(("target/", "/")) for word in kept):
            found.append(kept)
    return found[:1] or [[]]


def folder_with_data():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="diderot-mpi-"))
    for name in ("data", "programs", "compiler"):
        (folder / name).symlink_to(ROOT / name)
    return folder


def files_in(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file() and not path.is_symlink()}


def ended(words, env=None, timeout=SECONDS):
    """Runs a command in a folder of its own: its status, standard output, messages and files."""
    folder = folder_with_data()
    try:
        run = subprocess.run(words, cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout)
        return run.returncode, run.stdout, run.stderr, files_in(folder)
    except subprocess.TimeoutExpired:
        return None
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def differs(plain, shared):
    """What differs between a plain run and one of several ranks; launchers add lines of their own after a failure."""
    if shared is None:
        return f"runs longer than {SECONDS} s"
    if plain[0] != shared[0]:
        return f"status {shared[0]} instead of {plain[0]}: {shared[2][-500:].decode(errors='replace')}"
    if plain[1] != shared[1]:
        return "printed text"
    if plain[3].keys() != shared[3].keys():
        return f"files {sorted(shared[3])} instead of {sorted(plain[3])}"
    for name, contents in plain[3].items():
        if contents != shared[3][name]:
            return f"the file {name}"
    if plain[2] not in shared[2] or plain[0] == 0 and plain[2] != shared[2]:
        return f"messages: {shared[2][-500:].decode(errors='replace')}"
    return None


def compare(diderotc, mpis, ranks, programs):
    compared = 0
    for number, program in enumerate(programs):
        for words in commands(program):
            double = ["--double"] if number % DOUBLE == 0 else []
            command = [diderotc, *double, program, *words]
            plain = ended(command)
            if plain is None:
                print(f"{program}: not compared, because the plain run is too long", flush=True)
                continue
            for mpi, library in mpis.items():
                for size in ranks:
                    shared = ended([*LAUNCHERS[mpi], "-n", str(size), *command, "--mpi"], environment(library))
                    difference = differs(plain, shared)
                    compared += 1
                    if difference:
                        complain(f"{mpi}, {size} ranks: {' '.join(command[1:])}: {difference}")
    return compared


def on_gpus(diderotc, mpis, ranks):
    """Runs with a GPU for every rank. Without any the message is that of a plain run, too."""
    for program in ("programs/checks/grid.diderot", "programs/checks/count-strands.diderot"):
        command = [diderotc, "--target", "cuda", program]
        plain = ended(command)
        for mpi, library in mpis.items():
            for size in ranks:
                shared = ended([*LAUNCHERS[mpi], "-n", str(size), *command, "--mpi"], environment(library))
                # Strands that notice each other run on processors, which a warning says.
                together = "count" in program and size > 1
                difference = differs(plain, shared and (*shared[:2], plain[2], shared[3]) if together else shared)
                if difference:
                    complain(f"{mpi}, {size} ranks with GPUs: {program}: {difference}")


def methods(diderotc, mpis, ranks):
    """Makes the data and pictures of all methods, by plain runs and by shared ones, and compares the files."""
    compared = 0
    script = ["sh", "programs/methods.sh"]
    with tempfile.TemporaryDirectory() as folder:
        plain, shared = pathlib.Path(folder) / "plain", pathlib.Path(folder) / "shared"
        subprocess.run([*script, plain, diderotc], check=True, capture_output=True)
        wanted = files_in(plain)
        for mpi, library in mpis.items():
            for size in ranks:
                command = " ".join([*LAUNCHERS[mpi], "-n", str(size), diderotc, "--mpi"])
                run = subprocess.run([*script, shared, command], env=environment(library), capture_output=True)
                found = files_in(shared)
                differing = sorted(name for name in wanted.keys() | found.keys() if wanted.get(name) != found.get(name))
                if run.returncode or differing:
                    complain(f"{mpi}, {size} ranks, methods: status {run.returncode}, files that differ: {differing}")
                compared += len(wanted)
                shutil.rmtree(shared)
    print(f"{compared} files of methods compared", flush=True)


# Strands with values that are worth writing by the rank that has them.
WIDE = """#version 2.0
strand S (int i, int j) {
    output vec3 v = [i, j, 1];
    output int n = 0;
    update { n += 1; v = 1.1*v; if (n > (i + j) % 50) { stabilize; } }
}
create_array { S(i, j) | i in 0..399, j in 0..499 }
"""


def folder_of_wide():
    """A folder with a program and a smaller one for its outputs, and the words that run it."""
    folder = folder_with_data()
    (folder / "wide.diderot").write_text(WIDE)
    (folder / "out").mkdir()
    return folder, ["wide.diderot", "-o-v", "out/v.nrrd", "-o-n", "out/n.npy"]


def write_together(diderotc, mpis, ranks):
    """Large files, which ranks write together; also where one rank does not see the folder, or cannot write."""
    folder, words = folder_of_wide()
    try:
        plain = subprocess.run([diderotc, *words], cwd=folder, capture_output=True)
        wanted = files_in(folder / "out")
        unshared = "unshare -m sh -c 'mount -t tmpfs tmpfs out && exec \"$@\"' sh"
        limited = "sh -c 'trap \"\" XFSZ; ulimit -f 64; exec \"$@\"' sh"
        cannot_mount = subprocess.run([*shlex.split(unshared), "true"], cwd=folder, capture_output=True).returncode
        for mpi, library in mpis.items():
            runs = [(f"{size} ranks", ["-n", str(size), diderotc, "--mpi", *words]) for size in ranks]
            for name, prefix in [("another file system", unshared), ("a full disk", limited)]:
                first, others = [[*shlex.split(before), diderotc, "--mpi", *words] for before in ("", prefix)]
                runs.append((name, ["-n", "1", *first, ":", "-n", "2", *others]))
            for name, command in runs:
                if name == "another file system" and cannot_mount:
                    print(f"{name}: not tried, because nothing can be mounted", flush=True)
                    continue
                for file in wanted:
                    (folder / "out" / file).write_text("old")
                run = subprocess.run([*LAUNCHERS[mpi], *command], cwd=folder, env=environment(library), capture_output=True, timeout=SECONDS)
                found = files_in(folder / "out")
                if name == "a full disk":
                    # Both files are too large for some ranks, and the first is reported.
                    good = run.returncode == 1 and run.stderr.count(b"error: out/v.nrrd: File too large") == 1
                    good = good and found == {file: b"old" for file in wanted}
                else:
                    good = run.returncode == 0 and found == wanted and run.stderr == plain.stderr
                if not good:
                    complain(f"{mpi}, files together, {name}: status {run.returncode}, {sorted(found)}, {run.stderr[-500:]}")
            print(f"{mpi}: files that ranks write together, in {len(runs)} ways", flush=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


LONG = """#version 2.0
input int steps = 100000000;
strand S (int i, int j) {
    output real x = real(i)/1000;
    int n = 0;
    update { x = x*(3.7 - 3.7*x); n += 1; if (n > steps) { stabilize; } }
}
create_array { S(i, j) | i in 0..999, j in 0..299 }
"""

TOGETHER = LONG.replace("stabilize; }", "stabilize; } if (numActive() < 0) { die; }").replace("create_array", "create_collection")


def processes(diderotc):
    """The ranks that are running."""
    found = subprocess.run(["pgrep", "-f", f"^{re.escape(diderotc)} .*--mpi"], capture_output=True, text=True)
    return [int(word) for word in found.stdout.split()]


def wait_for(condition, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False


def break_runs(diderotc, mpis):
    """Runs that cannot come to a good end: status, message, files, and no process that stays."""
    for mpi, library in mpis.items():
        launcher, env = LAUNCHERS[mpi], environment(library)
        for text in (LONG, TOGETHER):
            for how in ("kill", "interrupt"):
                folder = folder_with_data()
                (folder / "long.diderot").write_text(text)
                (folder / "x.nrrd").write_text("old")
                words = [*launcher, "-n", "3", diderotc, "--mpi", "long.diderot"]
                run = subprocess.Popen(words, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                wait_for(lambda: len(processes(diderotc)) >= 3, 20)
                time.sleep(1.5)
                begun = time.monotonic()
                if how == "kill":
                    os.kill(processes(diderotc)[-1], signal.SIGKILL)
                else:
                    run.send_signal(signal.SIGINT)
                try:
                    run.communicate(timeout=20)
                except subprocess.TimeoutExpired:
                    run.kill()
                    complain(f"{mpi}, {how}: still running after 20 s")
                label = f"{mpi}, {how}, {'apart' if text is LONG else 'together'}"
                if run.returncode == 0:
                    complain(f"{label}: status 0")
                if not wait_for(lambda: not processes(diderotc), 10):
                    complain(f"{label}: processes are left")
                    for process in processes(diderotc):
                        os.kill(process, signal.SIGKILL)
                files = files_in(folder)
                left = sorted(name for name in files if name not in ("long.diderot", "x.nrrd"))
                # After a kill nothing can be removed.
                if files.get("x.nrrd") != b"old" or left and how == "interrupt":
                    complain(f"{label}: the output has changed, or parts are left: {left}")
                print(f"{label}: status {run.returncode} after {time.monotonic() - begun:.1f} s", flush=True)
                shutil.rmtree(folder, ignore_errors=True)
        one = ["programs/checks/grid.diderot"]
        missing = ended([*launcher, "-n", "3", diderotc, "--mpi", *one], env | {"DIDEROT_MPI": "/nowhere/lib.so"})
        if not missing or missing[0] == 0 or missing[2].count(b"diderotc mpi build") != 1 or missing[3]:
            complain(f"{mpi}, missing library: {missing}")
        for other in mpis:
            if other != mpi:
                wrong = ended([*LAUNCHERS[other], "-n", "3", diderotc, "--mpi", *one], env)
                if not wrong or wrong[0] == 0 or b"launcher" not in wrong[2] or wrong[3]:
                    complain(f"{mpi} under the launcher of {other}: {wrong}")
        several = ended([*launcher, "-n", "2", diderotc, *one], env)
        if not several or several[2].count(b"`--mpi` makes them one run") != 1:
            complain(f"{mpi}, several processes without --mpi: {several}")
        limits = [["-n", "1", diderotc, "--mpi", *one, "-l", str(n)] for n in (1, 2)]
        other = ended([*launcher, *limits[0], ":", *limits[1]], env)
        if not other or other[0] == 0 or other[2].count(b"rank 1 has another option") != 1 or other[3]:
            complain(f"{mpi}, other options on one rank: {other}")
        full_disk(diderotc, mpi, env)


def full_disk(diderotc, mpi, env):
    folder = folder_with_data()
    small = folder / "small"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", small], capture_output=True).returncode:
        print("full disk: not tried, because nothing can be mounted", flush=True)
        return
    try:
        (folder / "wide.diderot").write_text(LONG.replace("100000000", "1"))
        (small / "x.nrrd").write_text("old")
        words = [*LAUNCHERS[mpi], "-n", "3", diderotc, "--mpi", "wide.diderot", "-o", "small/x.nrrd"]
        run = subprocess.run(words, cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS)
        files = files_in(small)
        if run.returncode == 0 or b"error" not in run.stderr or files != {"x.nrrd": b"old"}:
            complain(f"{mpi}, full disk: {run}, {sorted(files)}")
        print(f"{mpi}, full disk: status {run.returncode}", flush=True)
    finally:
        subprocess.run(["umount", small], check=False)
        shutil.rmtree(folder, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("diderotc")
    parser.add_argument("--ranks", default="1,2,3,4,7")
    parser.add_argument("--mpi", default="openmpi,mpich")
    parser.add_argument("--only-broken", action="store_true", help="do not compare programs")
    parser.add_argument("programs", nargs="*")
    asked = parser.parse_intermixed_args()
    diderotc = os.path.abspath(asked.diderotc)
    listed = subprocess.run(["git", "ls-files", "programs/*.diderot"], capture_output=True, text=True)
    programs = asked.programs or sorted(listed.stdout.split())
    with tempfile.TemporaryDirectory() as folder:
        mpis = {}
        for mpi in asked.mpi.split(","):
            mpis[mpi] = pathlib.Path(folder) / f"{mpi}.so"
            subprocess.run([diderotc, "mpi", "build", "--mpicc", f"mpicc.{mpi}", "-o", mpis[mpi]], check=True)
            subprocess.run([*LAUNCHERS[mpi], "-n", "3", diderotc, "mpi", "check"], env=environment(mpis[mpi]), check=True)
        compared = 0
        ranks = [int(size) for size in asked.ranks.split(",")]
        if not asked.only_broken:
            if not asked.programs:
                methods(diderotc, mpis, ranks)
            compared = compare(diderotc, mpis, ranks, programs)
        if not asked.programs:
            on_gpus(diderotc, mpis, ranks)
            write_together(diderotc, mpis, ranks)
            break_runs(diderotc, mpis)
    print(f"{compared} runs compared, {len(failures)} failures")
    sys.exit(bool(failures))


main()
