"""The images of `files.py`: medicine, microscopy, pictures, and grids of VTK, each written by its own library."""

import os
import shutil

import imageio.v3 as imageio
import mrcfile
import nibabel
import nrrd
import numpy as np
import pydicom
import SimpleITK as sitk
import tifffile
import vtk
import zarr
from ome_zarr.writer import write_image
from pydicom.dataset import Dataset, FileMetaDataset
from pydicom.uid import ExplicitVRLittleEndian, JPEGLSLossless, generate_uid
from vtk.util.numpy_support import numpy_to_vtk, vtk_to_numpy

from files_common import Probe, at, blobs, some

SIZES = (24, 20, 16)
TURN = np.array([[0.8, -0.6, 0.0], [0.6, 0.8, 0.0], [0.0, 0.0, 1.0]])


def itk_image(array, is_vector=False):
    image = sitk.GetImageFromArray(array, isVector=is_vector)
    image.SetSpacing((2.0, 2.0, 3.0))
    image.SetOrigin((-20.0, -18.0, -24.0))
    image.SetDirection(TURN.ravel().tolist())
    return image


def itk_probe(file, read=None, **keywords):
    """Samples where ITK has them."""
    back = sitk.ReadImage(read or file)
    indices = some(back.GetSize())
    points = [back.TransformIndexToPhysicalPoint(i) for i in indices.tolist()]
    return Probe(file, points, [back.GetPixel(i) for i in indices.tolist()], **keywords)


# --- Medicine ----------------------------------------------------------------------------------------------------------


def nifti():
    affine = np.diag([-2.0, 2.0, 3.0, 1.0])
    affine[:3, 3] = [24, -18, -24]
    image = nibabel.Nifti1Image(blobs(SIZES, "i2", 1000).T, affine)
    image.header.set_xyzt_units("mm", "sec")
    nibabel.save(image, "brain.nii.gz")
    frames = np.stack([blobs(SIZES).T * (1 + t) for t in range(5)], axis=-1)
    image = nibabel.Nifti1Image(frames, affine)
    image.header.set_xyzt_units("mm", "sec")
    image.header["pixdim"][4] = 2.5
    nibabel.save(image, "fmri.nii.gz")
    probes = []
    for file, part in (("brain.nii.gz", ...), ("fmri.nii.gz#3", (..., 3))):
        back = nibabel.load(file.split("#")[0])
        indices = some(SIZES)
        points = nibabel.affines.apply_affine(back.affine, indices)
        probes.append(Probe(file, points, back.get_fdata()[part][tuple(indices.T)]))
    return probes


def dicom_series():
    shutil.rmtree("thorax", ignore_errors=True)
    os.makedirs("thorax")
    image = itk_image(blobs(SIZES, "i2", 1000))
    writer = sitk.ImageFileWriter()
    writer.KeepOriginalImageUIDOn()
    for k in range(SIZES[2]):
        slice_ = image[:, :, k]
        position = image.TransformIndexToPhysicalPoint((0, 0, k))
        tags = {
            "0008|0060": "CT",
            "0008|103e": "thorax",
            "0020|000d": "1.2.826.0.1.3680043.2.1125.38.1",
            "0020|000e": "1.2.826.0.1.3680043.2.1125.38.2",
            "0020|0032": "\\".join(f"{x:.6f}" for x in position),
            "0020|0037": "\\".join(f"{x:.6f}" for x in TURN.T[:2].ravel()),
            "0028|1052": "-1024",
            "0028|1053": "1",
            "0018|0050": "3",
        }
        for tag, value in tags.items():
            slice_.SetMetaData(tag, value)
        # The names are not in the order of the slices.
        writer.SetFileName(f"thorax/IM{7 * k % 16:04}.dcm")
        writer.Execute(slice_)
    reader = sitk.ImageSeriesReader()
    names = reader.GetGDCMSeriesFileNames("thorax")
    probes = [itk_probe("thorax", names)]
    ras = [[-x, -y, z] for x, y, z in probes[0].points]
    return probes + [Probe("thorax", ras, probes[0].values, options=("--world", "ras"))]


def multi_frame():
    """An enhanced CT, as new scanners write it, plain and compressed by JPEG-LS."""
    array = blobs(SIZES, "u2", 1000)
    file = Dataset()
    file.file_meta = FileMetaDataset()
    file.file_meta.TransferSyntaxUID = ExplicitVRLittleEndian
    file.file_meta.MediaStorageSOPClassUID = file.SOPClassUID = "1.2.840.10008.5.1.4.1.1.2.1"
    file.file_meta.MediaStorageSOPInstanceUID = file.SOPInstanceUID = generate_uid(entropy_srcs=["a"])
    file.SeriesInstanceUID, file.Modality = generate_uid(entropy_srcs=["b"]), "CT"
    file.NumberOfFrames, file.Rows, file.Columns = array.shape
    file.SamplesPerPixel, file.PhotometricInterpretation = 1, "MONOCHROME2"
    file.BitsAllocated, file.BitsStored, file.HighBit, file.PixelRepresentation = 16, 16, 15, 0
    shared, measures, orientation, values = Dataset(), Dataset(), Dataset(), Dataset()
    measures.PixelSpacing, measures.SliceThickness = [1.5, 1.5], 2
    orientation.ImageOrientationPatient = [1, 0, 0, 0, 1, 0]
    values.RescaleSlope, values.RescaleIntercept = 1, -1024
    shared.PixelMeasuresSequence = [measures]
    shared.PlaneOrientationSequence = [orientation]
    shared.PixelValueTransformationSequence = [values]
    file.SharedFunctionalGroupsSequence = [shared]
    file.PerFrameFunctionalGroupsSequence = []
    for k in range(SIZES[2]):
        position, frame = Dataset(), Dataset()
        position.ImagePositionPatient = [-18, -15, 2 * k - 16]
        frame.PlanePositionSequence = [position]
        file.PerFrameFunctionalGroupsSequence.append(frame)
    file.PixelData = array.tobytes()
    file.save_as("heart.dcm", enforce_file_format=True)
    back = pydicom.dcmread("heart.dcm").pixel_array.astype(float) - 1024
    indices = some(SIZES)
    packed = pydicom.dcmread("heart.dcm")
    packed.compress(JPEGLSLossless, generate_instance_uid=False)
    packed.save_as("packed.dcm")
    points, values = indices * [1.5, 1.5, 2.0] + [-18, -15, -16], at(back, indices)
    return [Probe(file, points, values) for file in ("heart.dcm", "packed-raw.dcm")]


def nrrd_files():
    header = {
        "space": "right-anterior-superior",
        "space directions": (TURN @ np.diag([2.0, 2.0, 3.0])).T,
        "space origin": np.array([-20.0, -18.0, -24.0]),
        "kinds": ["domain"] * 3,
    }
    nrrd.write("atlas.nrrd", blobs(SIZES, "u2", 1000).T, header)
    back, said = nrrd.read("atlas.nrrd")
    indices = some(SIZES)
    points = said["space origin"] + indices @ said["space directions"]
    return [Probe("atlas.nrrd", points, back[tuple(indices.T)])]


def meta_image():
    array = blobs(SIZES)
    sitk.WriteImage(itk_image(np.stack([array, 2 * array, -array], axis=-1), True), "deformation.mha", True)
    return [itk_probe("deformation.mha", shape="3")]


def freesurfer():
    affine = np.array([[-1.0, 0, 0, 12], [0, 0, 1, -8], [0, -1, 0, 10], [0, 0, 0, 1]])
    nibabel.save(nibabel.MGHImage(blobs(SIZES).T, affine), "T1.mgz")
    back = nibabel.load("T1.mgz")
    indices = some(SIZES)
    points = nibabel.affines.apply_affine(back.affine, indices)
    return [Probe("T1.nii", points, back.get_fdata()[tuple(indices.T)])]


# --- Microscopy --------------------------------------------------------------------------------------------------------


def imagej():
    array = blobs(SIZES, "u2", 1000)
    axes = {"axes": "ZYX", "spacing": 0.5, "unit": "um"}
    tifffile.imwrite("stack.tif", array, imagej=True, metadata=axes, resolution=(10.0, 10.0))
    back = tifffile.imread("stack.tif")
    indices = some(SIZES)
    return [Probe("stack.tif", indices * [0.1, 0.1, 0.5], at(back, indices))]


def ome_tiff():
    array = np.stack([[blobs(SIZES, "u2", 1000 * (1 + t) + 100 * c) for c in range(2)] for t in range(3)])
    size = {"PhysicalSizeX": 0.1, "PhysicalSizeY": 0.1, "PhysicalSizeZ": 0.5, "TimeIncrement": 5.0, "TimeIncrementUnit": "s"}
    tifffile.imwrite("cells.ome.tif", array, photometric="minisblack", metadata={"axes": "TCZYX", **size})
    back = tifffile.imread("cells.ome.tif")
    indices = some(SIZES)
    values = np.stack([at(back[2, c], indices) for c in range(2)], axis=-1)
    return [Probe("cells.ome.tif#2", indices * [0.1, 0.1, 0.5], values, "2")]


def ome_zarr():
    shutil.rmtree("embryo.ome.zarr", ignore_errors=True)
    units = dict.fromkeys("zyx", "micrometer")
    steps = {"z": 0.5, "y": 0.1, "x": 0.1}
    write_image(blobs((32, 32, 16), "u2", 1000), "embryo.ome.zarr", [2], axes="zyx", scale=steps, axes_units=units)
    group = zarr.open_group("embryo.ome.zarr", mode="r")
    probes = []
    for part, level in zip(("", "#s1"), group.attrs["ome"]["multiscales"][0]["datasets"]):
        back = group[level["path"]][...]
        scale, translation = level["coordinateTransformations"]
        indices = some(back.shape[::-1])
        points = indices * scale["scale"][::-1] + translation["translation"][::-1]
        probes.append(Probe(f"embryo.ome.zarr{part}", points, at(back, indices)))
    return probes


def mrc():
    with mrcfile.new("ribosome.mrc", overwrite=True) as file:
        file.set_data(blobs(SIZES))
        file.voxel_size = 1.5
    with mrcfile.open("ribosome.mrc") as file:
        back = file.data.copy()
        step = float(file.voxel_size.x)
    indices = some(SIZES)
    return [Probe("ribosome.nrrd", indices * step, at(back, indices))]


# --- Pictures and grids of VTK ------------------------------------------------------------------------------------------


def photograph():
    x, y = np.meshgrid(np.linspace(0, 1, 60), np.linspace(0, 1, 40))
    colours = np.stack([x, y, 0.5 + 0.5 * np.sin(12 * x * y)], axis=-1)
    imageio.imwrite("photo.png", (255 * colours).astype("u1"))
    back = imageio.imread("photo.png")
    pixels = some((60, 40))
    return [Probe("photo.png", pixels, at(back, pixels), "3")]


def numbered():
    for n, picture in enumerate(blobs(SIZES, "u2", 1000)):
        tifffile.imwrite(f"slice-{n + 1:03}.tif", picture)
    back = np.stack([tifffile.imread(f"slice-{n:03}.tif") for n in range(1, SIZES[2] + 1)])
    indices = some(SIZES)
    points = indices * [0.2, 0.2, 1.0]
    return [Probe("slice-%03d.tif 1 16", points, at(back, indices), options=("--world", "spacing:0.2,0.2,1"))]


def image_data():
    grid = vtk.vtkImageData()
    grid.SetDimensions(*SIZES)
    grid.SetSpacing(0.5, 0.5, 0.25)
    grid.SetOrigin(-6, -5, -2)
    array = blobs(SIZES)
    for name, values in (("pressure", array.ravel()), ("velocity", np.stack([array, -array, 2 * array], axis=-1).reshape(-1, 3))):
        data = numpy_to_vtk(np.ascontiguousarray(values), deep=True)
        data.SetName(name)
        grid.GetPointData().AddArray(data)
    writer = vtk.vtkXMLImageDataWriter()
    writer.SetFileName("tunnel.vti")
    writer.SetInputData(grid)
    writer.Write()
    reader = vtk.vtkXMLImageDataReader()
    reader.SetFileName("tunnel.vti")
    reader.Update()
    back = reader.GetOutput()
    numbers = [back.ComputePointId(i) for i in some(SIZES).tolist()]
    points = [back.GetPoint(n) for n in numbers]
    value = lambda name: vtk_to_numpy(back.GetPointData().GetArray(name))[numbers]
    return [Probe("tunnel.vti#pressure", points, value("pressure")), Probe("tunnel.vti#velocity", points, value("velocity"), "3")]
