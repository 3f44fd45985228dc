#!/usr/bin/env python3
"""The outputs of diderotc, read by what their users read them with.

    python3 -m venv VENV && VENV/bin/pip install numpy pillow pynrrd SimpleITK nibabel tifffile vtk meshio
    VENV/bin/python compiler/tests/readers.py DIDEROTC        (an executable; about 250 MB of packages)

The ordinary tests read everything back with small readers of their own; this asks for a second opinion. Prints a line for each
check and fails at the first that is wrong.
"""
import csv
import os
import tempfile

import meshio
import nibabel
import nrrd
import numpy as np
import SimpleITK as sitk
import tifffile
import vtk
from PIL import Image
from vtk.util.numpy_support import vtk_to_numpy

from foreign import run, told

VOLUME = """#version 2.0
input image(3)[] vol;
field#0(3)[] F = tent ⊛ vol;
strand s (int k, int j, int i) {
    vec3 pos = [10, 20, 30] + 0.5*i*[0.6, 0.8, 0] + 2.0*j*[-0.8, 0.6, 0] + 1.5*k*[0, 0, 1];
    output real v = 0;
    output vec3 at = pos;
    update { v = F(pos); stabilize; }
}
create_array { s(k, j, i) | k in 0..4, j in 0..5, i in 0..6 }
"""

PARTICLES = """#version 2.0
strand s (int i) {
    output vec3 pos = [i, i*i, 1];
    output real energy = 0.5*i;
    output int id = i;
    output vec3 rgb = [0, 0.5, 1];
    update { stabilize; }
}
create_collection { s(i) | i in 0..9 }
"""

LINES = """#version 2.0
strand s (int i) {
    output vec2[] path = {};
    output int seed = i;
    int n = 0;
    update { if (n == i) { stabilize; } path = path @ [n, i]; n += 1; }
}
create_collection { s(i) | i in 0..4 }
"""

PICTURE = """#version 2.0
strand s (int i, int j) {
    output vec4 rgba = [0.25*i, 0.1*j, 0, 0.2*(i + j)];
    int n = 0;
    update { rgba = [rgba[0] + 0.1, rgba[1], rgba[2], rgba[3]]; n += 1; if (n == 3) stabilize; }
}
create_array { s(i, j) | i in 0..2, j in 0..1 }
"""


def volume():
    image = sitk.GetImageFromArray(np.arange(210, dtype=np.float32).reshape(5, 6, 7))
    image.SetSpacing((0.5, 2.0, 1.5))
    image.SetOrigin((10.0, 20.0, 30.0))
    image.SetDirection((0.6, -0.8, 0, 0.8, 0.6, 0, 0, 0, 1))
    sitk.WriteImage(image, "vol.nrrd")
    run("volume.diderot", "-vol", "vol.nrrd", "-o-v", "v.nrrd", "-o-at", "at.nrrd")
    result, positions = sitk.ReadImage("v.nrrd"), sitk.ReadImage("at.nrrd", sitk.sitkVectorFloat32)
    assert result.GetSize() == image.GetSize()
    for index in np.random.default_rng(1).integers(0, (7, 6, 5), (100, 3)).tolist():
        there = result.TransformIndexToPhysicalPoint(index)
        assert np.allclose(there, image.TransformIndexToPhysicalPoint(index), atol=1e-4)
        assert np.allclose(there, positions[index], atol=1e-4), (there, positions[index])
    assert np.allclose(sitk.GetArrayFromImage(result), sitk.GetArrayFromImage(image), atol=1e-2)
    told("SimpleITK: an identity filter lies on its volume, and its positions are the strands' own")
    data, header = nrrd.read("v.nrrd")
    assert header["space"] == "left-posterior-superior" and np.allclose(header["space origin"], (10, 20, 30))
    assert np.allclose(np.linalg.norm(header["space directions"], axis=1), (0.5, 2, 1.5), atol=1e-5)
    assert data.shape == (7, 6, 5)
    told("pynrrd: space directions and origin")
    run("volume.diderot", "-vol", "vol.nrrd", "-o", "all.vti")
    reader = vtk.vtkXMLImageDataReader()
    reader.SetFileName("all.vti")
    reader.Update()
    grid = reader.GetOutput()
    at = vtk_to_numpy(grid.GetPointData().GetArray("at"))
    assert grid.GetNumberOfPoints() == 210
    for n in range(0, 210, 7):
        assert np.allclose(grid.GetPoint(n), at[n], atol=1e-4), (n, grid.GetPoint(n), at[n])
    told("VTK: a .vti with two arrays has its points where the strands were")
    run("volume.diderot", "-vol", "vol.nrrd", "-o-v", "v.npy", "-o-at", "at.npy")
    assert np.load("at.npy").shape == (5, 6, 7, 3) and np.load("v.npy").dtype == np.float32
    assert np.array_equal(np.load("v.npy"), sitk.GetArrayFromImage(result))
    told("NumPy: C order, iterators first, components last")


def volumes_of_other_formats():
    """NIfTI and TIFF, of numbers and vectors, read by three libraries."""
    image = sitk.ReadImage("vol.nrrd")
    run("volume.diderot", "-vol", "vol.nrrd", "-o-v", "v.npy", "-o-at", "at.npy")
    values, positions = np.load("v.npy"), np.load("at.npy")
    for suffix in ("nii", "nii.gz"):
        run("volume.diderot", "-vol", "vol.nrrd", "-o-v", f"v.{suffix}", "-o-at", f"at.{suffix}")
        back, vectors = nibabel.load(f"v.{suffix}"), nibabel.load(f"at.{suffix}")
        assert np.array_equal(np.asarray(back.dataobj).T, values) and back.header["sform_code"] == 1
        assert vectors.header.get_intent()[0] == "vector" and vectors.shape == (7, 6, 5, 1, 3)
        assert np.array_equal(np.asarray(vectors.dataobj)[:, :, :, 0].transpose(2, 1, 0, 3), positions)
        # The strands are in the space of DICOM, and NIfTI in right, anterior, superior.
        for x, y, z in np.random.default_rng(2).integers(0, (7, 6, 5), (50, 3)).tolist():
            there = nibabel.affines.apply_affine(back.affine, (x, y, z))
            assert np.allclose(there * (-1, -1, 1), positions[z, y, x], atol=1e-4)
        again = sitk.ReadImage(f"v.{suffix}")
        assert np.array_equal(sitk.GetArrayFromImage(again), values)
        for index in ((0, 0, 0), (6, 5, 4), (3, 2, 1)):
            there = again.TransformIndexToPhysicalPoint(index)
            assert np.allclose(there, image.TransformIndexToPhysicalPoint(index), atol=1e-4)
        again = sitk.ReadImage(f"at.{suffix}", sitk.sitkVectorFloat32)
        assert np.array_equal(sitk.GetArrayFromImage(again), positions)
    told("nibabel and SimpleITK: NIfTI of numbers and vectors, at the place of the volume")
    run("volume.diderot", "-vol", "vol.nrrd", "-o-v", "v.tif", "-o-at", "at.tif")
    assert np.array_equal(tifffile.imread("v.tif"), values)
    # Axes of ImageJ: slices, channels, rows, columns.
    assert np.array_equal(tifffile.imread("at.tif"), positions.transpose(0, 3, 1, 2))
    with tifffile.TiffFile("v.tif") as file:
        assert file.is_imagej and np.isclose(file.imagej_metadata["spacing"], 1.5, atol=1e-6)
        numerator, denominator = file.pages[0].tags["XResolution"].value
        assert np.isclose(denominator / numerator, 0.5, atol=1e-6)
    run("volume.diderot", "-vol", "vol.nrrd", "-o-v", "v16.tif", "-o-at", "at.npy", "--range-v", "auto", "--bits", "16")
    levels = tifffile.imread("v16.tif")
    wanted = np.round((values - values.min()) / (values.max() - values.min()) * 65535)
    assert levels.dtype == np.uint16 and np.abs(levels - wanted).max() <= 1
    told("tifffile: pages of floats and of 16 bits, with their steps")


def particles():
    for program, kind in (("particles", vtk.VTK_VERTEX), ("lines", vtk.VTK_POLY_LINE)):
        run(f"{program}.diderot", "-o", "mesh.vtu")
        reader = vtk.vtkXMLUnstructuredGridReader()
        reader.SetFileName("mesh.vtu")
        reader.Update()
        mesh = reader.GetOutput()
        assert mesh.GetNumberOfPoints() == 10 and {mesh.GetCellType(n) for n in range(mesh.GetNumberOfCells())} == {kind}
    told("VTK: points and lines as meshes")
    run("particles.diderot", "-o", "p.vtp")
    reader = vtk.vtkXMLPolyDataReader()
    reader.SetFileName("p.vtp")
    reader.Update()
    points = reader.GetOutput()
    expected = np.array([[i, i * i, 1] for i in range(10)], dtype=np.float32)
    assert points.GetNumberOfVerts() == 10
    assert np.array_equal(vtk_to_numpy(points.GetPoints().GetData()), expected)
    assert np.array_equal(vtk_to_numpy(points.GetPointData().GetArray("id")), np.arange(10))
    told("VTK: points with data")
    run("particles.diderot", "-o", "p.ply")
    mesh = meshio.read("p.ply")
    assert np.array_equal(mesh.points, expected)
    assert np.array_equal(mesh.point_data["energy"], 0.5 * np.arange(10, dtype=np.float32))
    # meshio takes uchar for signed.
    assert mesh.point_data["green"].astype(np.uint8).tolist() == [128] * 10
    told("meshio: .ply with properties and colours")
    run("particles.diderot", "-o", "p.csv")
    rows = list(csv.DictReader(open("p.csv")))
    assert len(rows) == 10 and float(rows[3]["pos_1"]) == 9.0 and rows[9]["id"] == "9"
    told("csv: a line for each strand")


def lines():
    run("lines.diderot", "-o", "l.vtp")
    reader = vtk.vtkXMLPolyDataReader()
    reader.SetFileName("l.vtp")
    reader.Update()
    poly = reader.GetOutput()
    assert (poly.GetNumberOfPoints(), poly.GetNumberOfLines()) == (10, 4)
    assert [poly.GetCell(n).GetNumberOfPoints() for n in range(4)] == [1, 2, 3, 4]
    assert vtk_to_numpy(poly.GetCellData().GetArray("seed")).tolist() == [1, 2, 3, 4]
    told("VTK: lines with data")
    run("lines.diderot", "-o", "l.obj")
    vertices = [line.split()[1:] for line in open("l.obj") if line.startswith("v ")]
    assert len(vertices) == 10 and vertices[3] == ["0", "3", "0"]
    told("obj: vertices and lines")


def pictures():
    run("picture.diderot", "-o", "p.png", "--range", "0,255")
    picture = np.asarray(Image.open("p.png"))
    assert picture.shape == (3, 2, 4)
    assert picture[:, :, 3].tolist() == [[0, 51], [51, 102], [102, 153]]
    told("Pillow: opacity is as the program has it")
    run("picture.diderot", "-o", "film.apng", "-s", "1", "--fps", "20")
    film = Image.open("film.apng")
    assert film.n_frames == 4 and film.info["duration"] == 50
    film.seek(3)
    assert np.asarray(film.convert("RGBA"))[2, 0, 0] == round((0.5 + 0.3) * 255)
    told("Pillow: an animated PNG of four frames of 50 ms")


with tempfile.TemporaryDirectory() as directory:
    os.chdir(directory)
    programs = {"volume": VOLUME, "particles": PARTICLES, "lines": LINES, "picture": PICTURE}
    for name, text in programs.items():
        open(f"{name}.diderot", "w").write(text)
    volume()
    volumes_of_other_formats()
    particles()
    lines()
    pictures()
    os.chdir("/")
