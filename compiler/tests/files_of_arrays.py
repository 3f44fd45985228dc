"""The arrays of `files.py`: numbers with names, with coordinates, or with nothing at all, each written by its own library."""

import shutil

import h5py
import numpy as np
import scipy.io
import xarray
import zarr
from astropy.io import fits

from files_common import CHANCE, Probe, at, blobs, some

SIZES = (24, 20, 16)


def in_index_space(file, array, **keywords):
    """Samples of a[k, j, i] or a[k, j, i, c] at (i, j, k)."""
    indices = some(array.shape[2::-1])
    return Probe(file, indices, at(array, indices), **keywords)


def numpy():
    np.save("density.npy", blobs(SIZES))
    np.savez("results.npz", density=blobs(SIZES), count=np.arange(3))
    return [in_index_space("density.npy", np.load("density.npy")), in_index_space("results.npy", np.load("results.npz")["density"])]


def matlab():
    # MATLAB's own order: D(row, column, page).
    array = blobs(SIZES, "f8").transpose(1, 2, 0)
    scipy.io.savemat("old.mat", {"D": array})
    back = scipy.io.loadmat("old.mat")["D"]
    # MATLAB writes version 7.3 as HDF5 with 512 bytes in front, and with its axes reversed.
    with h5py.File("new.mat", "w", userblock_size=512) as file:
        file["D"] = array.T
        file["D"].attrs["MATLAB_class"] = np.bytes_("double")
    with open("new.mat", "r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM")
    with h5py.File("new.mat") as file:
        new = file["D"][...]
    assert np.array_equal(new, back.T)
    return [in_index_space("old.npy", back.T), in_index_space("new.mat#D", new)]


def hdf5():
    array = blobs(SIZES)
    with h5py.File("simulation.h5", "w") as file:
        file.create_dataset("fields/density", data=array, chunks=True, compression="gzip")
        for name, factor in (("vx", 1.0), ("vy", -2.0), ("vz", 0.5)):
            file[f"fields/{name}"] = factor * array
        file["history"] = np.stack([array * (1 + t) for t in range(4)])
        file["parameters/viscosity"] = 0.01
    with h5py.File("simulation.h5") as file:
        back = {name: file[name][...] for name in ("fields/density", "fields/vx", "fields/vy", "fields/vz", "history")}
    vectors = np.stack([back[f"fields/v{axis}"] for axis in "xyz"], axis=-1)
    indices = some(SIZES)
    placed = Probe("simulation.h5#/fields/density", 0.5 * indices, at(back["fields/density"], indices),
                   options=("--world", "spacing:0.5,0.5,0.5"))
    return [
        placed,
        in_index_space("simulation.h5#/fields/vx,/fields/vy,/fields/vz", vectors, shape="3"),
        in_index_space("simulation.h5#/history#2", back["history"][2]),
    ]


def netcdf():
    lon, lat, depth = np.arange(-10, 2, 0.5), np.arange(40, 50, 0.5), np.array([0.0, 10, 20, 30])
    time = np.arange("2020-01-01", "2020-01-04", 6, dtype="datetime64[h]").astype("datetime64[ns]")
    shape = (len(time), len(depth), len(lat), len(lon))
    values = lambda factor: factor * CHANCE.normal(size=shape)
    dims = ("time", "depth", "lat", "lon")
    data = xarray.Dataset(
        {name: (dims, values(factor), {"units": "m s-1"}) for name, factor in (("u", 1.0), ("v", 0.5))},
        coords={
            "time": time,
            "depth": ("depth", depth, {"units": "m", "positive": "down"}),
            "lat": ("lat", lat, {"units": "degrees_north"}),
            "lon": ("lon", lon, {"units": "degrees_east"}),
        },
    )
    data["u"][0, 0, 3, 5] = np.nan
    packed = {"dtype": "i2", "scale_factor": 0.001, "_FillValue": -32768, "zlib": True}
    data.to_netcdf("ocean.nc", encoding={"u": packed, "v": packed})
    with xarray.open_dataset("ocean.nc") as back:
        u, v = back["u"].values, back["v"].values
        axes = [back[name].values for name in ("lon", "lat", "depth")]
    indices = some((len(lon), len(lat), len(depth)))
    points = np.stack([axis[n] for axis, n in zip(axes, indices.T)], axis=-1)
    vectors = np.stack([at(u[7], indices), at(v[7], indices)], axis=-1)
    return [Probe("ocean.nc#u#7", points, at(u[7], indices)), Probe("ocean.nc#u,v#7", points, vectors, "2")]


def zarr_store():
    shutil.rmtree("run.zarr", ignore_errors=True)
    array = blobs(SIZES)
    frames = np.stack([array * (1 + t) for t in range(4)])
    data = xarray.Dataset({"temperature": (("time", "z", "y", "x"), frames)})
    data.to_zarr("run.zarr", zarr_format=3, encoding={"temperature": {"chunks": (1, 8, 10, 12)}}, consolidated=False)
    back = zarr.open_group("run.zarr", mode="r")["temperature"][...]
    return [in_index_space("run.zarr#/temperature#2", back[2])]


def raw_bytes():
    array = blobs(SIZES, "<u2", 1000)
    array.tofile("scan.raw")
    back = np.fromfile("scan.raw", "<u2").reshape(SIZES[::-1])
    indices = some(SIZES)
    return [Probe("scan.nhdr", indices * [0.2, 0.2, 0.5], at(back, indices))]


def astronomy():
    fits.writeto("galaxy.fits", blobs(SIZES, ">f4"), overwrite=True)
    return [in_index_space("galaxy.npy", fits.getdata("galaxy.fits"))]
