"""Writes the files beside this script with the tools that people use, and what those tools say of them.

Run it in this directory, with pynrrd, SimpleITK, nibabel, tifffile, imageio, Pillow, vtk and meshio installed:

    python3 make.py

`expected.txt` gets a block for each file, which `expected.py` explains.
"""

import imageio.v3 as imageio
import meshio
import nibabel
import nrrd
import numpy as np
import SimpleITK as sitk
import tifffile
import vtk
from PIL import Image
from vtk.util.numpy_support import numpy_to_vtk

from expected import expect, run

SIZES = (4, 3, 2)


def grid(dtype=np.float32):
    """a[i, j, k], different everywhere."""
    i, j, k = np.meshgrid(*map(np.arange, SIZES), indexing="ij")
    return (1 + i + 10 * j + 100 * k).astype(dtype)


def vectors(dtype=np.float32):
    """v[i, j, k, c]."""
    a = grid(np.float64)
    return np.stack([a, -2 * a + 0.5, a * a], axis=-1).astype(dtype)


def rotation():
    """Oblique, but nothing special."""
    a, b = 0.3, -0.5
    x = np.array([[1, 0, 0], [0, np.cos(a), -np.sin(a)], [0, np.sin(a), np.cos(a)]])
    z = np.array([[np.cos(b), -np.sin(b), 0], [np.sin(b), np.cos(b), 0], [0, 0, 1]])
    return z @ x


# --- SimpleITK ---------------------------------------------------------------------------------------------------------


def itk(array, vector=False, rotated=True):
    """An ITK image of a[i, j, k] or a[i, j, k, c]."""
    axes = (2, 1, 0, 3) if vector else (2, 1, 0)
    image = sitk.GetImageFromArray(np.ascontiguousarray(array.transpose(axes)), isVector=vector)
    image.SetSpacing((0.5, 1.25, 3.0))
    image.SetOrigin((-10.0, 20.0, 5.5))
    if rotated:
        image.SetDirection(rotation().ravel().tolist())
    return image


def write_itk(name, image, options="", compress=False):
    sitk.WriteImage(image, name, compress)
    back = sitk.ReadImage(name)
    components = back.GetNumberOfComponentsPerPixel()
    shape = () if components == 1 else (components,)
    expect(name, 3, shape, lambda i: back.GetPixel(*map(int, i)),
           lambda i: back.TransformIndexToPhysicalPoint(tuple(map(int, i))), options)


def simple_itk():
    vector = itk(vectors(), vector=True)
    write_itk("itk-vector.nrrd", vector)
    write_itk("itk-vector-gzip.nrrd", vector, compress=True)
    write_itk("itk-vector.nhdr", vector)
    write_itk("itk-vector.mha", vector)
    write_itk("itk-vector-zlib.mha", vector, compress=True)
    write_itk("itk-vector.mhd", vector)
    write_itk("itk-vector-zlib.mhd", vector, compress=True)
    write_itk("itk-vector.nii.gz", vector, "world=lps")
    write_itk("itk-vector.nii", vector, "world=lps")
    write_itk("itk-vector.vtk", itk(vectors(), vector=True, rotated=False))
    write_itk("itk-scalar.nrrd", itk(grid(np.int16)))
    write_itk("itk-scalar.mha", itk(grid(np.int16)))
    write_itk("itk-scalar.nii.gz", itk(grid(np.uint8)), "world=lps")
    write_itk("itk-scalar.vtk", itk(grid(np.float64), rotated=False))
    write_itk("itk-pair.hdr", itk(grid(np.uint16)), "world=lps")
    colour = itk((vectors() % 251).astype(np.uint8), vector=True)
    write_itk("itk-colour.mha", colour)
    write_itk("itk-colour.nrrd", colour)
    # Four dimensions: frames 0 to 2 are 1000 apart.
    frames = sitk.JoinSeries([itk((grid(np.int16) + 1000 * t).astype(np.int16)) for t in range(3)], 0.0, 2.0)
    for name in ["itk-frames.nrrd", "itk-frames.mha", "itk-frames.nii.gz"]:
        sitk.WriteImage(frames, name)
        back = sitk.ReadImage(name)
        turned = "world=lps" if ".nii" in name else ""
        for frame in [0, 2]:
            one = back[:, :, :, frame]
            expect(f"{name}#{frame}", 3, (), lambda i: one.GetPixel(*map(int, i)),
                   lambda i: one.TransformIndexToPhysicalPoint(tuple(map(int, i))), turned)
        expect(f"{name}#1:2", 3, (2,), lambda i: [back.GetPixel(*map(int, i), t) for t in (1, 2)], options=turned)
        expect(name, 3, (3,), lambda i: [back.GetPixel(*map(int, i), t) for t in range(3)], options=turned)


# --- pynrrd ------------------------------------------------------------------------------------------------------------


def pynrrd():
    a, v = grid(np.uint16), vectors()
    nrrd.write("pynrrd-plain.nrrd", a)
    nrrd.write("pynrrd-raw.nhdr", a, detached_header=True)
    nrrd.write("pynrrd-first.nrrd", np.moveaxis(v, -1, 0))
    nrrd.write("pynrrd-last.nrrd", v)
    nrrd.write("pynrrd-bzip2.nrrd", a, {"encoding": "bzip2"})
    nrrd.write("pynrrd-text.nrrd", a, {"encoding": "ascii"})
    for name in ["pynrrd-plain.nrrd", "pynrrd-raw.nhdr", "pynrrd-bzip2.nrrd", "pynrrd-text.nrrd"]:
        back, _ = nrrd.read(name)
        expect(name, 3, (), lambda i: back[i])
    first, _ = nrrd.read("pynrrd-first.nrrd")
    expect("pynrrd-first.nrrd", 3, (3,), lambda i: first[(slice(None), *i)])
    last, _ = nrrd.read("pynrrd-last.nrrd")
    expect("pynrrd-last.nrrd", 3, (3,), lambda i: last[i])
    dti()


def dti():
    """A mask and half a symmetric matrix, as `tend` writes it, in an oblique measurement frame."""
    a = grid(np.float64)
    t = np.stack([(a > 20) * 1.0, a, 0.1 * a, 0.2 * a, 50 + a, 0.3 * a, 100 - a]).astype(np.float32)
    frame = rotation() @ np.diag([1, -1, 1])
    directions = np.array([[np.nan] * 3, *(rotation() @ np.diag([2.0, 2.0, 3.0])).T])
    header = {
        "space": "left-posterior-superior",
        "space directions": directions,
        "space origin": np.array([1.0, 2.0, 3.0]),
        "kinds": ["3D-masked-symmetric-matrix", "space", "space", "space"],
        "measurement frame": frame.T,
    }
    nrrd.write("pynrrd-dti.nrrd", t, header)
    back, said = nrrd.read("pynrrd-dti.nrrd")
    said_frame = said["measurement frame"].T

    def matrix(index):
        _, xx, xy, xz, yy, yz, zz = back[(slice(None), *index)].astype(float)
        return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])

    def world(index):
        return said["space origin"] + said["space directions"][1:].T @ np.array(index, float)

    name = "pynrrd-dti.nrrd"
    expect(name, 3, (3, 3), lambda i: said_frame @ matrix(i) @ said_frame.T, world)
    expect(name, 3, (3, 3), matrix, world, "frame=ignore")
    expect(name, 3, (7,), lambda i: back[(slice(None), *i)], world)


# --- nibabel -----------------------------------------------------------------------------------------------------------


def write_nifti(name, image, options="", shape=(), value=None):
    nibabel.save(image, name)
    back = nibabel.load(name)
    data = np.asanyarray(back.dataobj)
    expect(name, 3, shape, value(data) if value else (lambda i: data[i]),
           lambda i: back.affine[:3, :3] @ np.array(i, float) + back.affine[:3, 3], options)


def nifti():
    affine = np.eye(4)
    affine[:3, :3] = rotation() @ np.diag([1.5, 2.0, -2.5])
    affine[:3, 3] = [-4, 5, 6.5]
    a = grid(np.int16)
    scaled = nibabel.Nifti1Image(a, affine)
    scaled.header.set_slope_inter(0.25, -7.0)
    nibabel.save(scaled, "nibabel-scaled.nii")
    back = nibabel.load("nibabel-scaled.nii")
    values = back.get_fdata()
    expect("nibabel-scaled.nii", 3, (), lambda i: values[i],
           lambda i: back.affine[:3, :3] @ np.array(i, float) + back.affine[:3, 3])
    write_nifti("nibabel-two.nii.gz", nibabel.Nifti2Image(grid(np.float64), affine))
    big = nibabel.Nifti1Image(a, affine, header=nibabel.Nifti1Header(endianness=">"))
    write_nifti("nibabel-big.nii", big)
    big = nibabel.Nifti2Image(a, affine, header=nibabel.Nifti2Header(endianness=">"))
    write_nifti("nibabel-two-big.nii", big)
    write_nifti("nibabel-pair.img", nibabel.Nifti1Pair(a, affine))
    quaternion = nibabel.Nifti1Image(a, None)
    quaternion.set_qform(affine, code=1)
    quaternion.set_sform(None, code=0)
    write_nifti("nibabel-qform.nii", quaternion)
    symmetric = np.stack([grid() + n for n in range(6)], axis=-1)[:, :, :, None, :].astype(np.float32)
    image = nibabel.Nifti1Image(symmetric, affine)
    image.header.set_intent("symmetric matrix", (3,))

    def matrix(data):
        def at(index):
            xx, xy, yy, xz, yz, zz = data[(*index, 0)]
            return [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]

        return at

    write_nifti("nibabel-symmetric.nii", image, shape=(3, 3), value=matrix)
    write_nifti("nibabel-symmetric.nii", image, shape=(6,), value=lambda data: lambda i: data[(*i, 0)])
    colour = np.zeros(SIZES, dtype=[("R", "u1"), ("G", "u1"), ("B", "u1")])
    for c, letter in enumerate("RGB"):
        colour[letter] = (vectors()[..., c] % 251).astype(np.uint8)
    write_nifti("nibabel-rgb.nii", nibabel.Nifti1Image(colour, affine), shape=(3,),
                value=lambda data: lambda i: list(data[i]))


# --- NumPy -------------------------------------------------------------------------------------------------------------


def npy():
    a = np.ascontiguousarray(grid().T)  # a[k, j, i]
    arrays = {
        "numpy-c.npy": a,
        "numpy-fortran.npy": np.asfortranarray(a.astype(np.int32)),
        "numpy-big.npy": a.astype(">f8"),
        "numpy-bytes.npy": a.astype(np.uint8),
    }
    for name, array in arrays.items():
        np.save(name, array)
        back = np.load(name)
        expect(name, 3, (), lambda i: back[i[::-1]])
    v = np.ascontiguousarray(vectors().transpose(2, 1, 0, 3))
    np.save("numpy-vectors.npy", v)
    expect("numpy-vectors.npy", 3, (3,), lambda i: v[i[::-1]])
    m = np.arange(2 * 3 * 4 * 9, dtype=np.int16).reshape(2, 3, 4, 3, 3)
    np.save("numpy-matrices.npy", m)
    expect("numpy-matrices.npy", 3, (3, 3), lambda i: m[i[::-1]])
    z = (a + 2j * a).astype(np.complex64)
    np.save("numpy-complex.npy", z)
    expect("numpy-complex.npy", 3, (2,), lambda i: [z[i[::-1]].real, z[i[::-1]].imag])
    np.savez("numpy-archive.npz", a=a)
    np.save("numpy-object.npy", np.array([1, "a"], dtype=object))
    np.save("numpy-structured.npy", np.zeros(2, dtype=[("x", "f4"), ("y", "f4")]))
    np.save("numpy-half.npy", a.astype(np.float16))


def sequences():
    """Sequences of points and of numbers; element n has the values n, n/2 and -n."""
    points = np.array([[n, n / 2, -n] for n in range(5)])
    np.save("numpy-points.npy", points)
    np.save("numpy-points-fortran.npy", np.asfortranarray(points))
    np.save("numpy-counts.npy", np.arange(5, dtype=np.int64))
    np.savetxt("numpy-points.csv", points, delimiter=",", header="x,y,z", comments="")


# --- Pictures ----------------------------------------------------------------------------------------------------------

PIXELS = [(0, 0), (4, 0), (0, 3), (3, 2), (4, 3)]


def picture(name, shape=()):
    back = imageio.imread(name)
    expect(name, 2, shape, lambda i: back[i[1], i[0]].astype(float), indices=PIXELS)


def pictures():
    x, y = np.meshgrid(np.arange(5), np.arange(4))
    grey = (10 * x + 60 * y).astype(np.uint8)
    colour = np.stack([grey, 255 - grey, 7 * x], axis=-1).astype(np.uint8)
    for name in ["pillow-grey.bmp", "pillow-grey.pgm", "pillow-grey.png"]:
        Image.fromarray(grey).save(name)
        picture(name)
    for name in ["pillow-colour.bmp", "pillow-colour.ppm", "pillow-colour.png"]:
        Image.fromarray(colour).save(name)
        picture(name, (3,))
    imageio.imwrite("imageio-deep.png", grey.astype(np.uint16) * 257 + 3)
    picture("imageio-deep.png")
    # One value everywhere: decoders may round differently by one.
    Image.fromarray(np.full((8, 8), 100, np.uint8)).save("pillow-grey.jpg", quality=100)
    picture("pillow-grey.jpg")
    turned = Image.Exif()
    turned[0x0112] = 6
    Image.fromarray(np.full((8, 8, 3), 128, np.uint8)).save("pillow-turned.jpg", quality=100, exif=turned)
    picture("pillow-turned.jpg", (3,))
    bits = Image.fromarray((grey > 100).astype(np.uint8) * 255).convert("1")
    bits.save("pillow-bits.pbm")
    shown = np.asarray(Image.open("pillow-bits.pbm"))
    expect("pillow-bits.pbm", 2, (), lambda i: shown[i[1], i[0]], indices=PIXELS)
    with open("text-bits.pbm", "w") as file:
        file.write("P1\n# by hand\n5 4\n")
        for row in shown:
            file.write(" ".join(str(1 - int(bit)) for bit in row) + "\n")
    expect("text-bits.pbm", 2, (), lambda i: shown[i[1], i[0]], indices=PIXELS)
    for n, level in enumerate([0, 40, 80]):
        Image.fromarray((grey // 2 + level).astype(np.uint8)).save(f"slice-{n + 1:02}.png")
    stack = np.stack([imageio.imread(f"slice-{n:02}.png") for n in (1, 2, 3)])
    expect("slice-%02d.png_1_3", 3, (), lambda i: stack[i[::-1]], indices=[(0, 0, 0), (4, 3, 0), (1, 2, 1), (4, 0, 2)])


def stacks():
    a = np.ascontiguousarray(grid(np.uint16).T)

    def write(name, array, dim=3, shape=(), value=None, options="", world=None, **keywords):
        tifffile.imwrite(name, array, **keywords)
        back = tifffile.imread(name)
        expect(name, dim, shape, value(back) if value else (lambda i: back[i[::-1]]), world, options)

    write("tifffile-stack.tif", a, photometric="minisblack")
    write("tifffile-deflate.tif", grid().T, photometric="minisblack", compression="zlib")
    write("tifffile-big.tif", a.astype(np.int16), photometric="minisblack", bigtiff=True, byteorder=">")
    write("tifffile-tiled.tif", a.astype(np.uint8), photometric="minisblack", tile=(16, 16))
    colour = (vectors() % 251).astype(np.uint8).transpose(2, 1, 0, 3)
    write("tifffile-colour.tif", colour, shape=(3,), photometric="rgb")
    planar = np.ascontiguousarray(colour.transpose(0, 3, 1, 2))
    write("tifffile-planar.tif", planar, shape=(3,), photometric="rgb", planarconfig="separate",
          value=lambda back: lambda i: back[i[2], :, i[1], i[0]])
    # Slices, channels, frames: [t, z, c, y, x].
    hyper = np.arange(2 * 2 * 3 * 3 * 4, dtype=np.uint16).reshape(2, 2, 3, 3, 4)
    voxel = {"spacing": 2.5, "unit": "um"}
    for frame in (0, 1):
        write(f"tifffile-imagej.tif", hyper, imagej=True, resolution=(4.0, 2.0), metadata={**voxel, "axes": "TZCYX"},
              shape=(3,), value=lambda back: lambda i: back[frame, i[2], :, i[1], i[0]], options=f"frames={frame}",
              world=lambda i: [i[0] / 4.0, i[1] / 2.0, i[2] * 2.5])
    write("tifffile-ome.ome.tif", a, photometric="minisblack",
          metadata={"axes": "ZYX", "PhysicalSizeX": 0.5, "PhysicalSizeY": 0.25, "PhysicalSizeZ": 3.0},
          world=lambda i: [i[0] * 0.5, i[1] * 0.25, i[2] * 3.0])
    Image.fromarray(a[0].astype(np.uint8)).save("pillow-lzw.tif", compression="tiff_lzw")
    lzw = np.asarray(Image.open("pillow-lzw.tif"))
    expect("pillow-lzw.tif", 2, (), lambda i: lzw[i[1], i[0]], indices=[(0, 0), (3, 2), (1, 2)])


# --- VTK ---------------------------------------------------------------------------------------------------------------


def vtk_image(array, rotated=False, cells=False, name="samples"):
    """Image data of a[i, j, k] or a[i, j, k, c]."""
    image = vtk.vtkImageData()
    image.SetDimensions(*[n + cells for n in SIZES])
    image.SetSpacing(0.5, 1.25, 3.0)
    image.SetOrigin(-10.0, 20.0, 5.5)
    if rotated:
        image.SetDirectionMatrix(rotation().ravel().tolist())
    components = array.shape[3] if array.ndim == 4 else 1
    flat = np.asfortranarray(array).reshape((-1, components), order="F") if components > 1 else array.ravel(order="F")
    data = numpy_to_vtk(np.ascontiguousarray(flat), deep=True)
    data.SetName(name)
    holder = image.GetCellData() if cells else image.GetPointData()
    {1: holder.SetScalars, 3: holder.SetVectors, 9: holder.SetTensors}[components](data)
    return image


def report_vtk(name, reader, cells=False):
    reader.SetFileName(name)
    if hasattr(reader, "ReadAllScalarsOn"):
        reader.ReadAllScalarsOn()
        reader.ReadAllVectorsOn()
        reader.ReadAllTensorsOn()
    reader.Update()
    back = reader.GetOutput()
    data = (back.GetCellData() if cells else back.GetPointData()).GetArray(0)
    shape = {1: (), 3: (3,), 9: (3, 3)}[data.GetNumberOfComponents()]

    def number(index):
        return index[0] + SIZES[0] * (index[1] + SIZES[1] * index[2])

    def world(index):
        if not cells:
            return back.GetPoint(number(index))
        box = back.GetCell(number(index)).GetBounds()
        return [(box[2 * a] + box[2 * a + 1]) / 2 for a in range(3)]

    expect(name, 3, shape, lambda i: data.GetTuple(number(i)), world)


def vtks():
    tensors = np.stack([grid() * (n + 1) for n in range(9)], axis=-1)
    for name, array, binary in [
        ("vtk-scalars.vtk", grid(np.int16), True),
        ("vtk-scalars-text.vtk", grid(), False),
        ("vtk-vectors.vtk", vectors(np.float64), True),
        ("vtk-tensors-text.vtk", tensors, False),
    ]:
        writer = vtk.vtkStructuredPointsWriter()
        writer.SetFileName(name)
        writer.SetInputData(vtk_image(array))
        (writer.SetFileTypeToBinary if binary else writer.SetFileTypeToASCII)()
        writer.Write()
        report_vtk(name, vtk.vtkStructuredPointsReader())

    def write(name, image, mode, compress, wide=False, raw=False, cells=False):
        writer = vtk.vtkXMLImageDataWriter()
        writer.SetFileName(name)
        writer.SetInputData(image)
        getattr(writer, f"SetDataModeTo{mode}")()
        writer.SetCompressorTypeToZLib() if compress else writer.SetCompressorTypeToNone()
        writer.SetHeaderTypeToUInt64() if wide else writer.SetHeaderTypeToUInt32()
        writer.SetEncodeAppendedData(not raw)
        writer.SetBlockSize(96)
        writer.Write()
        report_vtk(name, vtk.vtkXMLImageDataReader(), cells)

    v, a = vtk_image(vectors(), rotated=True), vtk_image(grid(np.uint16), rotated=True)
    write("vtk-text.vti", a, "Ascii", False)
    write("vtk-inline.vti", v, "Binary", False)
    write("vtk-inline-zlib.vti", v, "Binary", True, wide=True)
    write("vtk-appended.vti", a, "Appended", False)
    write("vtk-appended-raw.vti", v, "Appended", False, wide=True, raw=True)
    write("vtk-appended-zlib.vti", v, "Appended", True)
    write("vtk-appended-raw-zlib.vti", vtk_image(tensors), "Appended", True, raw=True)
    write("vtk-cells.vti", vtk_image(grid(), cells=True), "Appended", False, raw=True, cells=True)


# --- Points, for sequences -----------------------------------------------------------------------------------------------

POINTS = np.array([[0, 0, 0], [1.5, -2, 0], [3, 4.25, 0], [-0.5, 8, 0]], np.float32)
LIFTED = POINTS + np.array([0, 0, 7], np.float32)


def points():
    cells = [("line", np.array([[0, 1], [1, 2]]))]
    meshio.Mesh(LIFTED, cells, point_data={"energy": np.arange(4.0)}).write("meshio-points.ply", binary=True)
    meshio.Mesh(LIFTED, cells).write("meshio-points-text.ply", binary=False)
    data = vtk.vtkPolyData()
    stored = vtk.vtkPoints()
    stored.SetData(numpy_to_vtk(LIFTED, deep=True))
    data.SetPoints(stored)
    energy = numpy_to_vtk(np.arange(4.0), deep=True)
    energy.SetName("energy")
    data.GetPointData().AddArray(energy)
    for name, mode in [("appended", "Appended"), ("binary", "Binary"), ("text", "Ascii")]:
        writer = vtk.vtkXMLPolyDataWriter()
        writer.SetFileName(f"vtk-points-{name}.vtp")
        getattr(writer, f"SetDataModeTo{mode}")()
        writer.SetInputData(data)
        writer.Write()
    stored.SetData(numpy_to_vtk(POINTS, deep=True))
    writer = vtk.vtkXMLPolyDataWriter()
    writer.SetFileName("vtk-points-flat.vtp")
    writer.SetInputData(data)
    writer.Write()


# --- Files that are not read ---------------------------------------------------------------------------------------------


def others():
    small = Image.fromarray(np.arange(20, dtype=np.uint8).reshape(4, 5))
    small.save("pillow.gif")
    small.convert("RGB").save("pillow.webp", lossless=True)
    image = sitk.GetImageFromArray(np.arange(20, dtype=np.uint16).reshape(1, 4, 5))
    sitk.WriteImage(image[:, :, 0], "itk.dcm")
    nibabel.save(nibabel.MGHImage(grid(), np.eye(4)), "nibabel.mgh")
    nibabel.save(nibabel.MGHImage(grid(), np.eye(4)), "nibabel.mgz")
    nibabel.save(nibabel.AnalyzeImage(grid(np.int16), np.eye(4)), "nibabel-analyze.hdr")


PARTS = [simple_itk, pynrrd, nifti, npy, sequences, pictures, stacks, vtks, points, others]

if __name__ == "__main__":
    run(PARTS, "expected.txt")
