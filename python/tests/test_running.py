"""Runs beside other things: interrupts, other threads, memory."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import diderot
import numpy as np
import pytest

SLOW = """#version 2.0
input int rounds = 2000000000;
strand s (int i) {
    output int n = 0;
    output real x = 0.5;
    update { x = 3.7*x*(1 - x); n += 1; if (n >= rounds) { stabilize; } }
}
create_array { s(i) | i in 0..9999 }
"""
# Strands that notice each other run in step.
TOGETHER = SLOW.replace("n += 1;", "n += 1; if (numActive() < 0) { n = 0; }")


@pytest.mark.skipif(sys.platform == "win32", reason="sends signals as POSIX has them")
@pytest.mark.parametrize("text", [SLOW, TOGETHER])
def test_an_interrupt_stops_a_run_at_once_and_keeps_what_there_is(text: str) -> None:
    program = diderot.compile(text)
    sent: list[float] = []

    def interrupt() -> None:
        time.sleep(0.5)
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt) as stopped:
        program.run(workers=2)
    waited = time.perf_counter() - sent[0]
    partial = stopped.value.partial
    assert partial.stopped == "stopped" and partial["n"].shape == (10000,) and partial.report.active == 10000
    # Far more than it takes; a slow machine is no fault.
    assert waited < 3, waited
    if text is TOGETHER:
        # All strands are after the same super-step.
        assert set(partial["n"]) == {partial.steps}


def test_other_threads_of_python_go_on() -> None:
    program = diderot.compile(SLOW)
    counted, running = 0, program.start(workers=1)
    thread = threading.Thread(target=lambda: running.step(10**9))
    thread.start()
    start = time.perf_counter()
    while time.perf_counter() - start < 0.5:
        counted += 1
        time.sleep(0.001)
    with pytest.raises(RuntimeError, match="already running"):
        running.outputs()
    running.stop()
    thread.join(10)
    assert not thread.is_alive() and running.done and counted >= 50
    assert running.outputs().stopped == "stopped"


def test_one_program_and_one_image_in_many_threads() -> None:
    text = """#version 2.0
    input image(2)[] img; input real add = 0;
    field#1(2)[] F = ctmr ⊛ img;
    strand s (int j, int i) { output real v = 0; update { v = F([2.0 + 0.1*i, 2.0 + 0.1*j]) + add; stabilize; } }
    create_array { s(j, i) | j in 0..30, i in 0..30 }"""
    program = diderot.compile(text)
    image = diderot.Image(np.random.default_rng(1).uniform(size=(8, 8)))
    expected = program.run(img=image)["v"]
    found: dict[int, np.ndarray] = {}

    def work(n: int) -> None:
        for _ in range(5):
            found[n] = program.run(img=image, add=float(n), workers=2)["v"]

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    for n, values in found.items():
        np.testing.assert_array_equal(values, expected + np.float32(n))
    assert len(found) == 4


def test_progress_and_errors_of_callbacks() -> None:
    program = diderot.compile(SLOW)
    seen: list[diderot.Progress] = []

    def watch(progress: diderot.Progress) -> None:
        seen.append(progress)
        if len(seen) == 3:
            raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        program.run(progress=watch, limit=2 * 10**9)
    assert len(seen) == 3 and seen[-1].fraction is not None and seen[-1].active == 10000


def measured(code: str) -> list[int]:
    """What a program of Python prints, in a process of its own."""
    ran = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True, capture_output=True, text=True)
    return [int(word) for word in ran.stdout.split()]


RSS = "rss = lambda: int(open('/proc/self/statm').read().split()[1]) * 4096"


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="reads memory as Linux shows it")
def test_outputs_are_not_copied() -> None:
    before, after, size = measured(f"""
        import diderot
        {RSS}
        text = '''#version 2.0
        input int res = 10;
        strand s (int j, int i) {{ output vec4 v = [i, j, 1, 2]; update {{ stabilize; }} }}
        create_array {{ s(j, i) | j in 0..res-1, i in 0..res-1 }}'''
        program = diderot.compile(text)
        program.run()
        before = rss()
        result = program.run(res=2500)
        print(before, rss(), result["v"].nbytes)
    """)
    assert size == 100_000_000
    # A byte for each strand says whether it died; freed, it may stay with the process.
    assert after - before <= 1.05 * size + 2500 * 2500, (after - before) / size


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="reads memory as Linux shows it")
def test_a_hundred_runs_leave_nothing_behind() -> None:
    before, after = measured(f"""
        import diderot, numpy as np
        {RSS}
        text = '''#version 2.0
        input image(2)[] img;
        field#1(2)[] F = ctmr ⊛ img;
        strand s (int i) {{ output real v = 0; output real[] all = {{}}; update {{ v = F([2, 0.01*i]); all = all @ v; stabilize; }} }}
        create_array {{ s(i) | i in 0..999 }}'''
        image = np.zeros((64, 64), 'u1')
        program = diderot.compile(text)
        for n in range(150):
            if n == 50:
                before = rss()
            program.run(img=image, workers=2)
        print(before, rss())
    """)
    assert after - before < 1 << 20, after - before
