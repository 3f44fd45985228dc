#!/usr/bin/env python3
"""Files of other tools, read by diderotc: values at points of the world are compared with what those tools say themselves.

    python3 -m venv VENV && VENV/bin/pip install numpy pynrrd SimpleITK nibabel tifffile imageio vtk pydicom
    VENV/bin/pip install --no-deps nilearn dipy        (for the data in them)
    VENV/bin/python compiler/tests/writers.py DIDEROTC         (an executable; about 300 MB of packages)

The ordinary tests read small files of these tools that are kept in `runtime/tests/files`; this writes new ones, of all types and
encodings, and takes real data. Prints a line for each group and fails at the first file that is wrong.
"""
import importlib.util
import itertools
import os
import tempfile
from pathlib import Path

import imageio.v3 as imageio
import nibabel
import nrrd
import numpy as np
import pydicom
import SimpleITK as sitk
import tifffile
import vtk
from vtk.util.numpy_support import numpy_to_vtk

from foreign import anew, diderotc, probed, same, told

CHANCE = np.random.default_rng(14)


def rotation(a, b):
    turn = np.array([[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1]])
    tilt = np.array([[1, 0, 0], [0, np.cos(b), -np.sin(b)], [0, np.sin(b), np.cos(b)]])
    return turn @ tilt


def interpolated(array, index):
    """The value of `array[z, y, x, ...]` at a position (x, y, z) between samples."""
    low = np.floor(index).astype(int)
    value = 0.0
    for corner in itertools.product((0, 1), repeat=3):
        weight = np.prod([f if c else 1 - f for f, c in zip(index - low, corner)])
        x, y, z = low + corner
        value = value + weight * array[z, y, x].astype(float)
    return value


def physical_points():
    """An image has the same value at the same place, whatever format SimpleITK writes."""
    array = CHANCE.normal(size=(6, 7, 8, 3)).astype(np.float32)
    formats = ("nrrd", "nhdr", "mha", "mhd", "nii", "nii.gz", "vtk", "hdr", "img")
    for vectors, rotated in itertools.product((False, True), repeat=2):
        samples = array if vectors else array[..., 0]
        image = sitk.GetImageFromArray(samples, isVector=vectors)
        image.SetSpacing((0.5, 2.0, 1.5))
        image.SetOrigin((10.0, -20.0, 30.0))
        if rotated:
            image.SetDirection(rotation(0.4, 0.7).ravel().tolist())
        indices = CHANCE.uniform(0.1, 4.9, (20, 3))
        points = [image.TransformContinuousIndexToPhysicalPoint(i.tolist()) for i in indices]
        wanted = [interpolated(samples, i) for i in indices]
        for suffix, packed in itertools.product(formats, (False, True)):
            # The old format of VTK has no directions.
            if rotated and suffix == "vtk":
                continue
            name = f"itk-{vectors:d}{rotated:d}{packed:d}.{suffix}"
            sitk.WriteImage(image, name, packed)
            world = ["--world", "lps"] if suffix in ("nii", "nii.gz", "hdr", "img") else []
            same(name, probed(name, 3, "3" if vectors else "", points, *world), wanted)
    told("SimpleITK: scalars and vectors, rotated, in nine formats, compressed or not")


INDICES = np.array([(0, 0, 0), (1, 2, 3), (4, 3, 1), (5, 4, 2)])


def at(array):
    x, y, z = INDICES.T
    return array[z, y, x]


def types_and_encodings():
    stack = CHANCE.normal(size=(4, 5, 6)) * 20
    types = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64")
    for name in types:
        array = np.abs(stack).astype(name) if name.startswith("u") else stack.astype(name)
        writers = {
            f"{name}.npy": lambda f: np.save(f, array),
            f"{name}-fortran.npy": lambda f: np.save(f, np.asfortranarray(array)),
            f"{name}-big.npy": lambda f: np.save(f, array.astype(array.dtype.newbyteorder(">"))),
            f"{name}.tif": lambda f: tifffile.imwrite(f, array, photometric="minisblack"),
        }
        for encoding in ("raw", "gzip", "bzip2", "ascii"):
            for order in ("little", "big"):
                header = {"encoding": encoding, "endian": order}
                write = lambda f, header=header: nrrd.write(f, array, header, index_order="C")
                writers[f"{name}-{encoding}-{order}.nrrd"] = write
        for file, write in writers.items():
            write(file)
            same(file, probed(file, 3, "", INDICES), at(array))
    told("NumPy, tifffile, pynrrd: ten types, both orders of bytes, four encodings")
    array = stack.astype(np.float32)
    variants = {
        "deflate": dict(compression="zlib"),
        "big": dict(bigtiff=True),
        "tiled": dict(tile=(16, 16)),
        "motorola": dict(byteorder=">"),
        "ome": dict(ome=True, metadata={"axes": "ZYX"}),
    }
    for name, options in variants.items():
        file = f"stack-{name}.tif"
        tifffile.imwrite(file, array, photometric="minisblack", **options)
        same(file, probed(file, 3, "", INDICES), at(array))
    axes = {"spacing": 3.0, "axes": "ZYX", "unit": "um"}
    tifffile.imwrite("imagej.tif", array, imagej=True, metadata=axes, resolution=(2, 2))
    same("imagej.tif", probed("imagej.tif", 3, "", INDICES * (0.5, 0.5, 3.0)), at(array))
    told("tifffile: stacks in tiles, compressed, of OME and of ImageJ with their steps")


def vtk_images():
    array = CHANCE.normal(size=(4, 5, 6)).astype(np.float32)
    grid = vtk.vtkImageData()
    grid.SetDimensions(6, 5, 4)
    grid.SetOrigin(1, 2, 3)
    grid.SetSpacing(0.5, 1, 2)
    grid.SetDirectionMatrix(rotation(0.3, 0.2).ravel().tolist())
    samples = numpy_to_vtk(array.ravel())
    samples.SetName("v")
    grid.GetPointData().SetScalars(samples)
    points = [grid.GetPoint(grid.ComputePointId(index)) for index in INDICES.tolist()]
    for mode, packing, text in itertools.product(("Ascii", "Binary", "Appended"), ("None", "ZLib", "LZ4", "LZMA"), (0, 1)):
        file = f"{mode}-{packing}-{text}.vti"
        writer = vtk.vtkXMLImageDataWriter()
        writer.SetFileName(file)
        writer.SetInputData(grid)
        getattr(writer, f"SetDataModeTo{mode}")()
        getattr(writer, f"SetCompressorTypeTo{packing}")()
        writer.SetEncodeAppendedData(text)
        writer.Write()
        if packing == "LZMA" and mode != "Ascii":
            file = anew(file)
        same(file, probed(file, 3, "", points), at(array))
    told("VTK: image data in text, base64 and raw bytes, compressed by zlib and LZ4; by LZMA after the command that is printed")


def photographs():
    colours = CHANCE.integers(0, 256, (5, 6, 3)).astype(np.uint8)
    pixels = np.array([(0, 0), (1, 2), (4, 3), (5, 4)])
    for name in ("c.png", "c.bmp", "c.ppm", "c.tif"):
        imageio.imwrite(name, colours)
        same(name, probed(name, 2, "3", pixels), colours[pixels[:, 1], pixels[:, 0]])
    grey = CHANCE.integers(0, 65536, (5, 6)).astype(np.uint16)
    for name in ("g.png", "g.pgm", "g.tif"):
        imageio.imwrite(name, grey)
        same(name, probed(name, 2, "", pixels), grey[pixels[:, 1], pixels[:, 0]])
    flat = np.full((8, 8, 3), 77, np.uint8)
    for name in ("flat.jpg", "webp.webp", "gif.gif"):
        imageio.imwrite(name, flat)
    assert np.abs(probed("flat.jpg", 2, "3", pixels) - 77).max() < 3
    for name in ("webp.webp", "gif.gif"):
        assert diderotc("info", anew(name)).returncode == 0
    told("imageio: pictures, and those that are converted by the command that is printed")


def package(name):
    found = importlib.util.find_spec(name)
    return Path(found.submodule_search_locations[0]) if found else None


def real_data():
    """Every sample is where nibabel says, of brains and of diffusion data."""
    places = {
        "nilearn": ["datasets/data/mni_icbm152_t1_tal_nlin_sym_09a_converted.nii.gz", "datasets/data/image_10426.nii.gz"],
        "dipy": ["data/files/aniso_vox.nii.gz", "data/files/small_25.nii.gz", "data/files/small_64D.nii", "data/files/small_101D.nii.gz"],
        "nibabel": ["tests/data/anatomical.nii", "tests/data/example4d.nii.gz", "tests/data/functional.nii"],
    }
    for name, files in places.items():
        root = package(name)
        if root is None:
            print(f"--  {name} is not installed")
            continue
        for file in (root / f for f in files):
            image = nibabel.load(file)
            sizes = image.shape[:3]
            indices = CHANCE.integers(0, sizes, (50, 3))
            points = nibabel.affines.apply_affine(image.affine, indices)
            frame = f"{file}#1" if image.ndim == 4 and image.shape[3] > 1 else file
            array = np.asarray(image.dataobj[..., 1] if frame != file else image.get_fdata().reshape(sizes))
            # The middle of a sample, up to rounding: neighbours have a weight of 1e-6 there.
            same(frame, probed(frame, 3, "", points), array[tuple(indices.T)], 1e-4)
        told(f"{name}: {len(files)} files, each sample where nibabel has it")
    slices = package("pydicom")
    if slices is not None:
        file = slices / "data/test_files/CT_small.dcm"
        ct = pydicom.dcmread(file)
        indices = CHANCE.integers(0, (ct.Columns, ct.Rows), (50, 2))
        values = ct.pixel_array[indices[:, 1], indices[:, 0]] * float(ct.RescaleSlope) + float(ct.RescaleIntercept)
        same(file, probed(file, 2, "", indices, "--world", "index"), values)
        told("pydicom: a slice of a CT, in Hounsfield units")


with tempfile.TemporaryDirectory() as directory:
    os.chdir(directory)
    physical_points()
    types_and_encodings()
    vtk_images()
    photographs()
    real_data()
    os.chdir("/")
