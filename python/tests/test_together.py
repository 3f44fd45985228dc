"""Runs beside other ways to do several things at once: `async`, `fork`, `multiprocessing`, `joblib`; and a thousand runs."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import sys
import time

import diderot
import numpy as np
import pytest

from test_running import RSS, SLOW, measured

ADD = """#version 2.0
input real add = 0;
input image(2)[] img;
field#1(2)[] F = ctmr ⊛ img;
strand s (int j, int i) { output real v = 0; update { v = F([2.0 + 0.1*i, 2.0 + 0.1*j]) + add; stabilize; } }
create_array { s(j, i) | j in 0..30, i in 0..30 }
"""
PICTURE = np.random.default_rng(1).uniform(size=(8, 8)).astype("f4")


def test_tasks_go_on_while_a_program_runs() -> None:
    async def both() -> tuple[list[bytes], int]:
        program = diderot.compile(SLOW)
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                await asyncio.sleep(0.001)
                ticks += 1

        ticking = asyncio.create_task(tick())
        results = await asyncio.gather(*(program.run_async(rounds=20_000, workers=1) for _ in range(3)))
        ticking.cancel()
        return [result["x"].tobytes() for result in results], ticks

    results, ticks = asyncio.run(both())
    assert results == [diderot.compile(SLOW).run(rounds=20_000)["x"].tobytes()] * 3 and ticks > 5


def test_a_task_that_is_cancelled_stops_its_run() -> None:
    async def cancelled() -> float:
        task = asyncio.create_task(diderot.compile(SLOW).run_async(workers=1))
        await asyncio.sleep(0.3)
        task.cancel()
        start = time.perf_counter()
        with pytest.raises(asyncio.CancelledError):
            await task
        return time.perf_counter() - start

    # The run ends now, not after two billion rounds.
    assert asyncio.run(cancelled()) < 10


def test_warnings_of_tasks_are_those_of_the_caller() -> None:
    async def warned() -> None:
        far = diderot.Image(PICTURE, origin=(100, 100))
        with pytest.warns(diderot.DiderotWarning, match="no probe was inside") as caught:
            await diderot.compile(ADD).run_async(img=far)
        assert caught[0].filename == __file__

    asyncio.run(warned())


def value(given: tuple[diderot.Program, diderot.Image, float]) -> bytes:
    """The bits of a run in another process."""
    program, image, add = given
    return bytes(program.run(img=image, add=add, workers=2)["v"].tobytes())


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_programs_run_in_other_processes(method: str) -> None:
    program, image = diderot.compile(ADD), diderot.Image(PICTURE)
    rows = [(program, image, float(n)) for n in range(4)]
    # The threads of this process have worked before it is copied.
    expected = [value(row) for row in rows]
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map_async(value, rows).get(timeout=120) == expected


def test_programs_run_in_jobs_of_joblib() -> None:
    joblib = pytest.importorskip("joblib")
    program, image = diderot.compile(ADD), diderot.Image(PICTURE)
    rows = [(program, image, float(n)) for n in range(4)]
    expected = [value(row) for row in rows]
    for backend in ("loky", "threading"):
        found = joblib.Parallel(n_jobs=2, backend=backend)(joblib.delayed(value)(row) for row in rows)
        assert found == expected, backend


@pytest.mark.skipif(not hasattr(os, "fork"), reason="POSIX has processes that are copies")
def test_a_copy_of_the_process_runs_programs() -> None:
    program, image = diderot.compile(ADD), diderot.Image(PICTURE)
    expected = value((program, image, 1.0))
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(write, value((program, image, 1.0)))
            again = diderot.compile(ADD, double=True).run(img=image)
            os._exit(0 if again["v"].shape == (31, 31) else 1)
        except BaseException:
            os._exit(2)
    os.close(write)
    found = b""
    while part := os.read(read, 1 << 16):
        found += part
    os.close(read)
    assert os.waitpid(child, 0)[1] == 0 and found == expected


@pytest.mark.skipif(sys.platform != "linux", reason="reads memory as Linux shows it")
def test_a_thousand_runs_leave_nothing_behind() -> None:
    before, after = measured(f"""
        import diderot, numpy as np
        {RSS}
        text = '''#version 2.0
        input image(2)[] img;
        input real[] offsets;
        field#1(2)[] F = ctmr ⊛ img;
        strand s (int i) {{ output real v = 0; output real[] all = {{}}; update {{ v = F([2, 0.01*i]) + offsets[0]; all = all @ v; stabilize; }} }}
        create_array {{ s(i) | i in 0..999 }}'''
        image = np.zeros((64, 64), 'u1')
        program = diderot.compile(text)
        for n in range(1100):
            if n == 100:
                before = rss()
            program.run(img=image, offsets=[n, 1.0], workers=2)
        print(before, rss())
    """)
    assert after - before < 1 << 20, after - before
