"""On a machine with an NVIDIA GPU: runs on it have the CPU's bits, and outputs that stay there are taken by DLPack without a copy.

    python python/tests/device.py
"""

from __future__ import annotations

import ctypes
import time

import diderot
import numpy as np

PROGRAM = """#version 2.0
input image(3)[] vol;
input int size = 1000;
field#2(3)[] F = bspln3 ⊛ vol;
strand ray (int i, int j) {
    output vec3 normal = [0, 0, 0];
    output real most = 0;
    output int steps = 0;
    real t = 0;
    update {
        vec3 x = [63.0*i/size, 63.0*j/size, t];
        most = max(most, F(x));
        if (F(x) > 0.5 && |normal| == 0) { normal = normalize(-∇F(x)); }
        t += 0.5;
        steps += 1;
        if (t > 63) { stabilize; }
    }
}
create_array { ray(i, j) | j in 0..size-1, i in 0..size-1 }
"""


def volume() -> np.ndarray:
    z, y, x = np.mgrid[:64, :64, :64].astype(np.float32)
    return np.exp(-((x - 30) ** 2 + (y - 34) ** 2 + (z - 28) ** 2) / 200).astype(np.float32)


def tensor(array: diderot.DeviceArray) -> tuple[int, list[int]]:
    """The address and the sizes that DLPack gives."""
    capsule = array.__dlpack__()
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    at = get(capsule, b"dltensor")
    address = ctypes.c_uint64.from_address(at).value
    axes = ctypes.c_int32.from_address(at + 16).value
    shape = ctypes.c_void_p.from_address(at + 24).value
    return address, list((ctypes.c_int64 * axes).from_address(shape))


def copied(address: int, count: int, dtype: str) -> np.ndarray:
    """Numbers from the memory of the GPU, by the driver alone."""
    cuda = ctypes.CDLL("libcuda.so.1")
    context, device = ctypes.c_void_p(), ctypes.c_int()
    assert cuda.cuInit(0) == 0 and cuda.cuDeviceGet(ctypes.byref(device), 0) == 0
    assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device) == 0
    assert cuda.cuCtxSetCurrent(context) == 0
    numbers = np.zeros(count, dtype)
    to, bytes_ = ctypes.c_void_p(numbers.ctypes.data), ctypes.c_size_t(numbers.nbytes)
    assert cuda.cuMemcpyDtoH_v2(to, ctypes.c_uint64(address), bytes_) == 0
    return numbers


def main() -> None:
    vol = volume()
    for double in (False, True):
        cpu = diderot.compile(PROGRAM, double=double).run(vol=vol)
        program = diderot.compile(PROGRAM, double=double, target="cuda")
        gpu = program.run(vol=vol)
        for name in cpu:
            assert np.asarray(cpu[name]).tobytes() == np.asarray(gpu[name]).tobytes(), name
        times = []
        for _ in range(5):
            start = time.perf_counter()
            kept = program.run_on_device(vol=vol)
            times.append(time.perf_counter() - start)
        for name, array in kept.items():
            assert array.__dlpack_device__() == (2, 0)
            address, sizes = tensor(array)
            seen = copied(address, int(np.prod(sizes)), array.dtype).reshape(sizes)
            assert np.array_equal(seen, cpu[name]), name
            assert np.array_equal(array.numpy(), cpu[name]), name
        print(f"double {double}: {', '.join(kept)} equal; run {gpu.report.seconds:.3f} s, on the device {min(times):.3f} s")


main()
