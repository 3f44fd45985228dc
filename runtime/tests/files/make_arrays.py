"""Writes the files of many arrays beside this script with the tools that people use, and what those tools say of them.

Run it in this directory, with numpy, h5py, hdf5plugin, netCDF4, xarray, pydicom, SimpleITK and zarr installed:

    python3 make_arrays.py

`expected-arrays.txt` gets a block for each file, which `expected.py` explains.
"""

import os
import shutil

import h5py
import hdf5plugin
import netCDF4
import numcodecs
import numpy as np
import pydicom
import SimpleITK as sitk
import xarray
import zarr
from pydicom.dataset import Dataset, FileMetaDataset
from pydicom.uid import ExplicitVRLittleEndian
from zarr.codecs import BloscCodec, BytesCodec, Crc32cCodec, GzipCodec, TransposeCodec, ZstdCodec

from expected import expect, run

SHAPE = (2, 3, 4)


def grid(dtype=np.float32):
    """a[k, j, i], different everywhere."""
    k, j, i = np.meshgrid(*map(np.arange, SHAPE), indexing="ij")
    return (1 + i + 10 * j + 100 * k).astype(dtype)


def at(array, index):
    return array[tuple(reversed(index))]


# --- HDF5 --------------------------------------------------------------------------------------------------------------


def hdf5():
    a = grid()
    with h5py.File("h5py-one.h5", "w") as f:
        f["g/vol"] = a
        f["names"] = np.array([b"ab", b"c"])
        f["times"] = np.arange(5.0)
    with h5py.File("h5py-many.h5", "w", libver="latest") as f:
        f.create_dataset("gzip", data=a, chunks=(1, 2, 3), compression="gzip", shuffle=True)
        f.create_dataset("lzf", data=np.zeros((4, 8, 8)) + 3.5, chunks=(2, 8, 8), compression="lzf")
        f.create_dataset("big", data=a.astype(">i2"), fletcher32=True, chunks=SHAPE)
        f["half"] = (a / 8).astype("f2")
        f["truth"] = a > 12
        f["complex"] = a + 2j * a
        f["3"] = a + 0.5
        f["frames"] = np.stack([a, a + 1000], axis=0)
    for name, names in [("h5py-one.h5", ["g/vol"]), ("h5py-many.h5", ["gzip", "lzf", "big", "half", "truth", "3"])]:
        with h5py.File(name) as f:
            for dataset in names:
                back = f[dataset][...].astype("f8")
                expect(f"{name}#/{dataset}", 3, (), lambda i: at(back, i))
    with h5py.File("h5py-one.h5") as f:
        back = f["g/vol"][...]
        expect("h5py-one.h5", 3, (), lambda i: at(back, i))
    with h5py.File("h5py-many.h5") as f:
        back = f["complex"][...]
        expect("h5py-many.h5#complex", 3, (2,), lambda i: [at(back, i).real, at(back, i).imag])
        frames = f["frames"][...]
        expect("h5py-many.h5#frames#1", 3, (), lambda i: at(frames[1], i))
        pair = [f["gzip"][...], f["half"][...]]
        expect("h5py-many.h5#gzip,half", 3, (2,), lambda i: [at(p, i) for p in pair])
    large = np.arange(1024, dtype="f4").reshape(4, 16, 16) / 2 + 0.5
    with h5py.File("h5py-plugins.h5", "w", libver="latest") as f:
        for name, packing in (("blosc", hdf5plugin.Blosc()), ("lz4", hdf5plugin.LZ4()), ("zstd", hdf5plugin.Zstd())):
            f.create_dataset(name, data=large, chunks=large.shape, **packing)
    with h5py.File("h5py-plugins.h5") as f:
        for name in f:
            back = f[name][...]
            expect(f"h5py-plugins.h5#{name}", 3, (), lambda i: at(back, i))
    with h5py.File("h5py-virtual.h5", "w", libver="latest") as f:
        layout = h5py.VirtualLayout(shape=(2,) + SHAPE, dtype="f4")
        for k in range(2):
            layout[k] = h5py.VirtualSource("h5py-one.h5", "g/vol", shape=SHAPE)
        f.create_virtual_dataset("virtual", layout)
        f["plain"] = a


# --- NetCDF ------------------------------------------------------------------------------------------------------------


def netcdf_file(name, form, latitudes=(50.0, 49.75, 49.5)):
    d = netCDF4.Dataset(name, "w", format=form)
    for dimension, size in (("time", 3), ("depth", 2), ("lat", 3), ("lon", 4)):
        d.createDimension(dimension, size)
    time = d.createVariable("time", "f8", ("time",))
    time.units = "hours since 2020-01-01 00:00:00"
    time[:] = [0, 6, 12]
    for dimension, values, units in (
        ("depth", [10.0, 20.0], "m"),
        ("lat", latitudes, "degrees_north"),
        ("lon", [-10.0, -9.5, -9.0, -8.5], "degrees_east"),
    ):
        v = d.createVariable(dimension, "f4", (dimension,))
        v.units = units
        v[:] = values
    a = np.stack([grid(np.float64) + 1000 * t for t in range(3)])
    u = d.createVariable("u", "i2", ("time", "depth", "lat", "lon"), fill_value=-32768)
    u.scale_factor = 0.5
    u.add_offset = -100.0
    u.units = "m s-1"
    u[:] = np.ma.masked_array(a, np.isin(a, [2, 1002, 2002]))
    v = d.createVariable("v", "f4", ("time", "depth", "lat", "lon"))
    v.units = "m s-1"
    v[:] = -a
    d.close()


def expect_netcdf(name):
    with xarray.open_dataset(name, decode_times=False) as d:
        lon, lat, depth = (d[n].values.astype("f8") for n in ("lon", "lat", "depth"))
        world = lambda i: [lon[i[0]], lat[i[1]], depth[i[2]]]
        u, v = d["u"].values, d["v"].values
    expect(f"{name}#u#1", 3, (), lambda i: at(u[1], i), world)
    expect(f"{name}#v,u#2", 3, (2,), lambda i: [at(v[2], i), at(u[2], i)], world)


def netcdf():
    netcdf_file("netcdf-classic.nc", "NETCDF3_CLASSIC")
    netcdf_file("netcdf-64.nc", "NETCDF3_64BIT_DATA")
    netcdf_file("netcdf-irregular.nc", "NETCDF3_CLASSIC", [50.0, 49.5, 48.9])
    for name in ["netcdf-classic.nc", "netcdf-64.nc"]:
        expect_netcdf(name)
    a = grid()[0]
    data = xarray.Dataset(
        {"p": (("y", "x"), a, {"units": "hPa", "_FillValue": np.float32(12.0)})},
        coords={"y": [4.0, 3.0, 2.0], "x": np.arange(4.0) / 4},
    )
    data.p.encoding["chunksizes"] = (2, 4)
    data.p.encoding["zlib"] = True
    data.to_netcdf("h5netcdf.nc", engine="h5netcdf", invalid_netcdf=False)
    with xarray.open_dataset("h5netcdf.nc") as d:
        p, x, y = d.p.values, d.x.values, d.y.values
    expect("h5netcdf.nc", 2, (), lambda i: at(p, i), lambda i: [x[i[0]], y[i[1]]], indices=[(0, 0), (3, 0), (0, 2), (2, 1), (3, 2)])


# --- DICOM -------------------------------------------------------------------------------------------------------------

UID = "1.2.826.0.1.3680043.2.1125.1"
DIRECTION = np.array([[0.8, -0.6, 0.0], [0.6, 0.8, 0.0], [0.0, 0.0, 1.0]])


def series(folder, tilt=0.0, drop=(), number=1, name=None, clear=True):
    """The slices of grid(), in files whose names say nothing about their order; ITK writes them."""
    if clear:
        shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder, exist_ok=True)
    image = sitk.GetImageFromArray(np.concatenate([grid(np.int16), grid(np.int16) + 500]))
    image.SetSpacing((0.5, 0.75, 2.5))
    image.SetOrigin((-10.0, -20.0, -30.0))
    image.SetDirection(DIRECTION.ravel().tolist())
    writer = sitk.ImageFileWriter()
    writer.KeepOriginalImageUIDOn()
    for k in range(4):
        if k in drop:
            continue
        position = np.array(image.TransformIndexToPhysicalPoint((0, 0, k)))
        position[1] += tilt * k * 2.5
        slice_ = image[:, :, k]
        for tag, value in {
            "0008|0060": "CT",
            "0008|103e": name or folder,
            "0020|000d": f"{UID}.1",
            "0020|000e": f"{UID}.{number}",
            "0020|0011": str(number),
            "0020|0013": str(k + 1),
            "0020|0032": "\\".join(f"{x:.6f}" for x in position),
            "0020|0037": "\\".join(f"{x:.6f}" for x in DIRECTION.T[:2].ravel()),
            "0028|1052": "-1024",
            "0028|1053": "2",
            "0018|0050": "2.5",
        }.items():
            slice_.SetMetaData(tag, value)
        writer.SetFileName(f"{folder}/{number}{(3 * k + 1) % 4}.dcm")
        writer.Execute(slice_)


def expect_series(folder, name=None, world=None):
    reader = sitk.ImageSeriesReader()
    reader.SetFileNames(reader.GetGDCMSeriesFileNames(folder))
    back = reader.Execute()
    point = lambda i: back.TransformIndexToPhysicalPoint(tuple(map(int, i)))
    expect(name or folder, 3, (), lambda i: back.GetPixel(*map(int, i)), world or point)


def multi_frame():
    """A multi-frame file with functional groups, whose frames are not in order."""
    ds = Dataset()
    ds.file_meta = FileMetaDataset()
    ds.file_meta.TransferSyntaxUID = ExplicitVRLittleEndian
    ds.file_meta.MediaStorageSOPClassUID = ds.SOPClassUID = "1.2.840.10008.5.1.4.1.1.2.1"
    ds.file_meta.MediaStorageSOPInstanceUID = ds.SOPInstanceUID = f"{UID}.7"
    ds.SeriesInstanceUID, ds.Modality = f"{UID}.8", "CT"
    a = np.concatenate([grid(np.uint16), grid(np.uint16) + 500])
    order = [2, 0, 3, 1]
    ds.NumberOfFrames, ds.Rows, ds.Columns = a.shape
    ds.SamplesPerPixel, ds.PhotometricInterpretation = 1, "MONOCHROME2"
    ds.BitsAllocated, ds.BitsStored, ds.HighBit, ds.PixelRepresentation = 16, 12, 11, 0
    shared, measures, orientation, values = Dataset(), Dataset(), Dataset(), Dataset()
    measures.PixelSpacing, measures.SliceThickness = [0.75, 0.5], 3
    orientation.ImageOrientationPatient = [0, 1, 0, 0, 0, -1]
    values.RescaleSlope, values.RescaleIntercept = 0.5, 10
    shared.PixelMeasuresSequence = [measures]
    shared.PlaneOrientationSequence = [orientation]
    shared.PixelValueTransformationSequence = [values]
    ds.SharedFunctionalGroupsSequence = [shared]
    frames = []
    for k in order:
        position, frame = Dataset(), Dataset()
        position.ImagePositionPatient = [100 - 2.0 * k, 5, 50]
        frame.PlanePositionSequence = [position]
        frames.append(frame)
    ds.PerFrameFunctionalGroupsSequence = frames
    ds.PixelData = a[order].tobytes()
    ds.save_as("pydicom-frames.dcm", enforce_file_format=True)
    pixels = pydicom.dcmread("pydicom-frames.dcm").pixel_array[np.argsort(order)] * 0.5 + 10
    expect("pydicom-frames.dcm", 3, (), lambda i: at(pixels, i), lambda i: [100 - 2.0 * i[2], 5 + 0.5 * i[0], 50 - 0.75 * i[1]])
    for syntax, name in [("rle", "pydicom-rle.dcm")]:
        packed = pydicom.dcmread("pydicom-frames.dcm")
        packed.compress("1.2.840.10008.1.2.5", generate_instance_uid=False)
        packed.save_as(name)
        expect(name, 3, (), lambda i: at(pixels, i))


def colours():
    ds = Dataset()
    ds.file_meta = FileMetaDataset()
    ds.file_meta.TransferSyntaxUID = "1.2.840.10008.1.2.1.99"
    ds.file_meta.MediaStorageSOPClassUID = ds.SOPClassUID = "1.2.840.10008.5.1.4.1.1.7"
    ds.file_meta.MediaStorageSOPInstanceUID = ds.SOPInstanceUID = f"{UID}.9"
    ds.Rows, ds.Columns, ds.SamplesPerPixel, ds.PlanarConfiguration = 3, 4, 3, 1
    ds.PhotometricInterpretation = "RGB"
    ds.BitsAllocated, ds.BitsStored, ds.HighBit, ds.PixelRepresentation = 8, 8, 7, 0
    ds.PixelSpacing = [2, 0.5]
    a = np.stack([grid(np.uint8)[0] + 50 * c for c in range(3)])
    ds.PixelData = a.tobytes()
    ds.save_as("pydicom-colours.dcm", enforce_file_format=True)
    back = pydicom.dcmread("pydicom-colours.dcm").pixel_array
    flat = [(0, 0), (3, 0), (0, 2), (2, 1)]
    expect("pydicom-colours.dcm", 2, (3,), lambda i: at(back, i), lambda i: [0.5 * i[0], 2.0 * i[1]], indices=flat)


def lossless():
    """Lossless JPEG, as ITK writes it."""
    image = sitk.GetImageFromArray(grid(np.uint16)[0] * 37)
    writer = sitk.ImageFileWriter()
    writer.SetImageIO("GDCMImageIO")
    writer.SetCompressor("JPEG")
    writer.UseCompressionOn()
    writer.SetFileName("itk-lossless.dcm")
    writer.Execute(image)
    back = sitk.ReadImage("itk-lossless.dcm")
    flat = [(0, 0), (3, 0), (0, 2), (2, 1)]
    expect("itk-lossless.dcm", 2, (), lambda i: back.GetPixel(*map(int, i), 0), indices=flat)


def dicom():
    lossless()
    series("dicom-series")
    expect_series("dicom-series")
    series("dicom-tilt", tilt=0.25)
    # ITK loses the shear, so that the world is that of the positions that were written.
    origin, spacing = np.array([-10.0, -20.0, -30.0]), np.diag([0.5, 0.75, 2.5])
    sheared = lambda i: origin + DIRECTION @ spacing @ np.array(i) + [0, 0.625 * i[2], 0]
    expect_series("dicom-tilt", world=sheared)
    series("dicom-missing", drop=[2])
    series("dicom-two", number=1, name="thorax")
    series("dicom-two", number=2, name="head", clear=False)
    multi_frame()
    colours()


# --- Zarr --------------------------------------------------------------------------------------------------------------


def store(group, name, data, chunks=(2, 2, 3), **options):
    array = group.create_array(name, shape=data.shape, chunks=chunks, dtype=data.dtype, fill_value=0, **options)
    array[:] = data


def expect_zarr(folder, names, shape=()):
    group = zarr.open_group(folder, mode="r")
    for name in names:
        back = group[name][...].astype("f8")
        expect(f"{folder}#/{name}", 3, shape, lambda i: at(back, i))


def second():
    shutil.rmtree("second.zarr", ignore_errors=True)
    group = zarr.open_group("second.zarr", mode="w", zarr_format=2)
    a, large = grid(), np.arange(4096, dtype="i2").reshape(16, 16, 16) // 16
    store(group, "zlib", a, (1, 2, 3), compressors=numcodecs.Zlib(5))
    store(group, "gzip", a.astype(">f8"), compressors=numcodecs.GZip(1), filters=[numcodecs.Shuffle(8)])
    store(group, "none", a, compressors=None, order="F")
    store(group, "lz4", large, (16, 16, 16), compressors=numcodecs.LZ4())
    for codec in ("lz4", "blosclz", "zlib", "zstd"):
        shuffle = numcodecs.Blosc.BITSHUFFLE if codec == "zstd" else numcodecs.Blosc.SHUFFLE
        store(group, f"blosc/{codec}", large, (16, 16, 16), compressors=numcodecs.Blosc(codec, shuffle=shuffle))
    store(group, "half", (a / 8).astype("f2"), compressors=None)
    expect_zarr("second.zarr", ["zlib", "gzip", "none", "lz4", "half"] + [f"blosc/{c}" for c in ("lz4", "blosclz", "zlib", "zstd")])


def third():
    shutil.rmtree("third.zarr", ignore_errors=True)
    group = zarr.open_group("third.zarr", mode="w", zarr_format=3)
    a = grid()
    store(group, "zstd", a, (1, 2, 3), compressors=ZstdCodec())
    store(group, "gzip", a, compressors=[GzipCodec(), Crc32cCodec()], serializer=BytesCodec(endian="big"))
    store(group, "blosc", a, compressors=BloscCodec(cname="lz4"))
    store(group, "shards", a, (1, 1, 2), shards=(2, 2, 4), compressors=ZstdCodec())
    sparse = group.create_array("sparse", shape=(2, 3, 4), chunks=(1, 3, 4), dtype="f4", fill_value=7.5)
    sparse[1] = a[1]
    order = group.create_array("transposed", shape=(2, 3, 4), chunks=(2, 2, 3), dtype="i4", filters=TransposeCodec(order=(2, 0, 1)), compressors=None)
    order[:] = a
    expect_zarr("third.zarr", ["zstd", "gzip", "blosc", "shards", "sparse", "transposed"])
    pair = [group["zstd"][...], group["gzip"][...] * 1]
    expect("third.zarr#zstd,gzip", 3, (2,), lambda i: [at(p, i) for p in pair])
    shutil.rmtree("one.zarr", ignore_errors=True)
    one = zarr.create_array("one.zarr", shape=(2, 3, 4), chunks=(2, 3, 4), dtype="u2", zarr_format=3, compressors=None)
    one[:] = a
    expect("one.zarr", 3, (), lambda i: at(a, i))


def microscope():
    """OME-Zarr 0.4 and 0.5, written with the metadata of the specification: axes t, c, z, y, x."""
    a = np.stack([[grid(np.uint16) + 1000 * t + 500 * c for c in range(2)] for t in range(2)])
    for version, form in (("0.4", 2), ("0.5", 3)):
        folder = f"ome-{form}.zarr"
        shutil.rmtree(folder, ignore_errors=True)
        group = zarr.open_group(folder, mode="w", zarr_format=form)
        for level, data in enumerate([a, a[..., ::2]]):
            array = group.create_array(str(level), shape=data.shape, chunks=data.shape, dtype="u2", compressors=None)
            array[:] = data
        unit = {"type": "space", "unit": "micrometer"}
        axes = [{"name": "t", "type": "time", "unit": "second"}, {"name": "c", "type": "channel"}]
        axes += [{"name": n, **unit} for n in "zyx"]
        scale = lambda x: {"type": "scale", "scale": [5.0, 1.0, 2.0, 0.5, x]}
        moved = {"type": "translation", "translation": [0.0, 0.0, 10.0, 20.0, 30.0]}
        multiscales = [{
            "version": version,
            "axes": axes,
            "datasets": [
                {"path": "0", "coordinateTransformations": [scale(0.25), moved]},
                {"path": "1", "coordinateTransformations": [scale(0.5), moved]},
            ],
        }]
        group.attrs.update({"ome": {"version": version, "multiscales": multiscales}} if form == 3 else {"multiscales": multiscales})
        world = lambda i: [30 + 0.25 * i[0], 20 + 0.5 * i[1], 10 + 2.0 * i[2]]
        expect(f"{folder}#1", 3, (2,), lambda i: [at(a[1, c], i) for c in range(2)], world)
        coarse = lambda i: [30 + 0.5 * i[0], 20 + 0.5 * i[1], 10 + 2.0 * i[2]]
        near = [(0, 0, 0), (1, 2, 1)]
        expect(f"{folder}#s1#0", 3, (2,), lambda i: [at(a[0, c, ..., ::2], i) for c in range(2)], coarse, indices=near)


def zarrs():
    second()
    third()
    microscope()


PARTS = [hdf5, netcdf, dicom, zarrs]

if __name__ == "__main__":
    run(PARTS, "expected-arrays.txt")
