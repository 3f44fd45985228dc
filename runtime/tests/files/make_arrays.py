"""Writes the files of many arrays beside this script with the tools that people use, and what those tools say of them.

Run it in this directory, with numpy, h5py, netCDF4, xarray, pydicom, SimpleITK and zarr installed:

    python3 make_arrays.py

`expected-arrays.txt` has the form of `expected.txt`, which `make.py` explains.
"""

import os

import h5py
import netCDF4
import numpy as np
import xarray

INDICES = [(0, 0, 0), (3, 0, 0), (0, 2, 0), (0, 0, 1), (2, 1, 1), (3, 2, 1)]
SHAPE = (2, 3, 4)
blocks = []


def text(values):
    return " ".join(repr(float(v)) for v in np.ravel(values))


def expect(name, dim, shape, value, world=None, options="", indices=INDICES):
    lines = [f"file {name} {dim} {','.join(map(str, shape)) or '-'} {options}".rstrip()]
    for index in dict.fromkeys(index[:dim] for index in indices):
        shown = " ".join(map(str, index))
        if world:
            lines.append(f"world {shown} : {text(world(index))}")
        lines.append(f"value {shown} : {text(value(index))}")
    blocks.append("\n".join(lines) + "\n")


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


PARTS = [hdf5, netcdf]

if __name__ == "__main__":
    os.chdir(os.path.dirname(os.path.abspath(__file__)))
    for part in PARTS:
        part()
    with open("expected-arrays.txt", "w") as out:
        out.write("\n".join(blocks))
    for folder, _, names in os.walk("."):
        for name in names:
            # One heap of HDF5 takes 4 KB.
            limit = 12 if name.endswith((".h5", ".nc")) else 4
            if os.path.getsize(os.path.join(folder, name)) > limit << 10 and not name.endswith((".py", ".txt")):
                print(f"{name} is larger than {limit} KB")
