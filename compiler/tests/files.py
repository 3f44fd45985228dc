#!/usr/bin/env python3
"""The page "My file is …" of the book, tried with files of each kind, which their own libraries write.

    python3 -m venv VENV && VENV/bin/pip install numpy pillow pynrrd SimpleITK nibabel tifffile imageio mrcfile pydicom pyjpegls \\
        h5py xarray netCDF4 zarr ome-zarr scipy astropy vtk meshio pyvista gmsh==4.15.2
    VENV/bin/python compiler/tests/files.py DIDEROTC           (an executable; about 1 GB of packages)

For every section of the page, the files are written, the commands in its blocks `shell` run, and their output compared with that of the
page. Then values at points are compared with those that the library reports. With UPDATE_DOCS=1, the outputs on the page are
written anew. Prints a line for each section, and the differences between the page and now; fails at the first
value that is wrong. The number of cells of a mesh depends on the version of Gmsh.
"""

import difflib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import files_of_arrays as arrays
import files_of_images as images
import files_of_meshes as meshes
from foreign import COMMAND, probed, probed_in_mesh, same, told

PAGE = Path(__file__).resolve().parents[2] / "docs/book/src/files.md"

# The sections of the page, by the beginnings of their titles, and the functions that write their files.
WRITERS = {
    "A NIfTI": images.nifti,
    "A directory of DICOM": images.dicom_series,
    "A DICOM file": images.multi_frame,
    "A NRRD": images.nrrd_files,
    "A MetaImage": images.meta_image,
    "A volume of FreeSurfer": images.freesurfer,
    "A TIFF stack": images.imagej,
    "An OME-TIFF": images.ome_tiff,
    "An OME-Zarr": images.ome_zarr,
    "A map of electron microscopy": images.mrc,
    "A photograph": images.photograph,
    "Numbered slices": images.numbered,
    "A NumPy array": arrays.numpy,
    "A MATLAB file": arrays.matlab,
    "HDF5": arrays.hdf5,
    "NetCDF": arrays.netcdf,
    "Zarr": arrays.zarr_store,
    "Raw numbers": arrays.raw_bytes,
    "A FITS cube": arrays.astronomy,
    "A regular grid": images.image_data,
    "A mesh of a solver": meshes.vtu,
    "A mesh in pieces": meshes.pieces_and_times,
    "XDMF": meshes.xdmf,
    "A mesh of Gmsh": meshes.gmsh_file,
    "A curved or stretched grid": meshes.structured,
    "A list of positions": meshes.points,
}


def shell(command):
    """What a command prints, with `diderotc` and this Python in front of other programs."""
    path = f"{os.getcwd()}/bin:{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path}
    done = subprocess.run(f"{{ {command}\n}} 2>&1", shell=True, capture_output=True, encoding="utf-8", env=environment)
    # Only a description may fail: its message is a part of the page.
    assert done.returncode == 0 or command.startswith("diderotc info "), (command, done.stdout)
    lines = [line.rstrip() for line in done.stdout.rstrip().splitlines()]
    return "".join(f"{line}\n" for line in lines)


def session(text):
    """A block of commands with what they print now."""
    commands = [line for line in text.splitlines() if line.startswith("$ ")]
    return "".join(f"{line}\n{shell(line[2:])}" for line in commands)


def tried(section):
    """A section of the page with the outputs of its commands."""
    for tags, text in re.findall(r"^```(\S*)\n(.*?)^```$", section, re.M | re.S):
        if name := re.search(r"file=([^,]+)", tags):
            Path(name[1]).write_text(text, encoding="utf-8")
    again = lambda block: f"```shell\n{session(block[1])}```"
    return re.sub(r"^```shell\n(.*?)^```$", again, section, flags=re.M | re.S)


def check(probe):
    """Compares values at points, or asks the writer of a file that knows how."""
    if callable(probe):
        return probe()
    points = np.asarray(probe.points, dtype=float)
    values = probed_in_mesh if probe.is_mesh else probed
    same(probe.file, values(probe.file, points.shape[1], probe.shape, points, *probe.options), probe.values)


def writer(title):
    found = [name for name in WRITERS if title.startswith(name)]
    assert len(found) == 1, f"{title}: one writer is expected, found {found}"
    return WRITERS[found[0]]


def main():
    page = PAGE.read_text(encoding="utf-8")
    # Sections of the third level, each with the headings of the second level after it.
    start, *sections = re.split(r"(?m)^(?=### )", page)
    assert len(sections) == len(WRITERS), "every writer has a section"
    made, out_of_date = [tried(start)], 0
    for section in sections:
        title = section.splitlines()[0].removeprefix("### ")
        probes = writer(title)()
        made.append(tried(section))
        out_of_date += made[-1] != section
        print("".join(difflib.unified_diff(section.splitlines(True), made[-1].splitlines(True), "page", "now", n=0)), end="")
        for probe in probes:
            check(probe)
        told(f"{title}: {len(probes)} compared")
    if "UPDATE_DOCS" in os.environ:
        PAGE.write_text("".join(made), encoding="utf-8")
        return
    assert not out_of_date, f"{out_of_date} sections of the page are out of date: UPDATE_DOCS=1 writes their outputs anew"


with tempfile.TemporaryDirectory() as directory:
    os.chdir(directory)
    os.mkdir("bin")
    os.symlink(COMMAND, "bin/diderotc")
    main()
    os.chdir("/")
