"""VTK: volume rendering, contours, probes and streamlines, by its filters for the CPU. Nothing needs a display."""

import ctypes

import numpy
import vtk
from vtk.util.numpy_support import numpy_to_vtk, vtk_to_numpy

from common import Volume, serve

# The distance for which VTK wants opacities.
UNIT = 0.1
THREADS = 1


def limit(count):
    """All threads of VTK are in one of two places."""
    global THREADS
    THREADS = count
    vtk.vtkMultiThreader.SetGlobalDefaultNumberOfThreads(count)
    vtk.vtkMultiThreader.SetGlobalMaximumNumberOfThreads(count)
    vtk.vtkSMPTools.SetBackend("STDThread" if count > 1 else "Sequential")
    vtk.vtkSMPTools.Initialize(count)


def image_of(volume, name="values"):
    """The samples as VTK has them, without a copy."""
    image = vtk.vtkImageData()
    image.SetDimensions(*volume.samples.shape[2::-1])
    image.SetOrigin(*volume.origin)
    image.SetSpacing(*volume.steps)
    components = volume.samples.shape[3] if volume.samples.ndim == 4 else 1
    array = numpy_to_vtk(volume.samples.reshape(-1, components))
    array.SetName(name)
    if components == 1:
        image.GetPointData().SetScalars(array)
    else:
        image.GetPointData().SetVectors(array)
    return image


def points_of(path):
    """A set of points without cells."""
    points = vtk.vtkPoints()
    points.SetData(numpy_to_vtk(numpy.load(path)))
    data = vtk.vtkPolyData()
    data.SetPoints(points)
    return data


def write(data, folder):
    writer = vtk.vtkXMLPolyDataWriter()
    writer.SetFileName(str(folder / "peer.vtp"))
    writer.SetInputData(data)
    # As fast as it can: no compression, and no text.
    writer.SetCompressorTypeToNone()
    writer.SetDataModeToAppended()
    writer.EncodeAppendedDataOff()
    writer.Write()


def transfer(folder, prop):
    """The transfer function, dense enough that straight lines between its points are as good as the exponential function."""
    table = Volume(folder / "rgba.nrrd").samples
    opacity, colour = vtk.vtkPiecewiseFunction(), vtk.vtkColorTransferFunction()
    for value in numpy.linspace(0, 1, 20 * 64 + 1):
        red, green, blue, density = (numpy.interp(value, numpy.linspace(0, 1, len(table)), column) for column in table.T)
        opacity.AddPoint(value, 1 - numpy.exp(-density * UNIT))
        colour.AddRGBPoint(value, red, green, blue)
    prop.SetScalarOpacity(opacity)
    prop.SetColor(colour)
    prop.SetScalarOpacityUnitDistance(UNIT)


def rendering(shaded):
    def run(folder, clock):
        vtk.vtkObject.GlobalWarningDisplayOff()
        image = image_of(Volume(folder / "volume.nrrd"))
        prop = vtk.vtkVolumeProperty()
        prop.SetInterpolationTypeToLinear()
        transfer(folder, prop)
        prop.SetShade(shaded)
        prop.SetAmbient(0.2)
        prop.SetDiffuse(0.7)
        prop.SetSpecular(0.2)
        prop.SetSpecularPower(20)
        mapper = vtk.vtkFixedPointVolumeRayCastMapper()
        mapper.SetInputData(image)
        mapper.SetNumberOfThreads(THREADS)
        mapper.AutoAdjustSampleDistancesOff()
        mapper.SetImageSampleDistance(1)
        mapper.SetSampleDistance(0.01)
        volume = vtk.vtkVolume()
        volume.SetMapper(mapper)
        volume.SetProperty(prop)
        window, renderer = vtk.vtkRenderWindow(), vtk.vtkRenderer()
        window.SetOffScreenRendering(True)
        window.SetSize(512, 512)
        window.AddRenderer(renderer)
        renderer.AddVolume(volume)
        camera = renderer.GetActiveCamera()
        camera.SetPosition(4, -7, 5)
        camera.SetFocalPoint(0, 0, 0)
        camera.SetViewUp(0, 0, 1)
        camera.SetViewAngle(20)
        renderer.ResetCameraClippingRange()
        light = vtk.vtkLight()
        ahead = -numpy.array([4, -7, 5]) / numpy.sqrt(90)
        right = numpy.cross(ahead, [0, 0, 1])
        right /= numpy.linalg.norm(right)
        light.SetPosition(*(-ahead + 0.7 * numpy.cross(right, ahead) - 0.5 * right))
        renderer.AddLight(light)
        light.SetAmbientColor(1, 1, 1)
        # The steps of a rendering, without the last one, which shows the picture by OpenGL.
        with clock:
            mapper.PerImageInitialization(renderer, volume, 0, [0] * 3, [0] * 3, [0] * 6)
            mapper.PerVolumeInitialization(renderer, volume)
            mapper.PerSubVolumeInitialization(renderer, volume, 0)
            mapper.RenderSubVolume()
        numpy.save(folder / "peer.npy", picture(mapper.GetRayCastImage()))

    return run


def picture(cast):
    """Red, green and blue, rows from the top. VTK has fixed-point numbers of 15 bits, rows from the bottom, and gives the address of the first."""
    (width, height), (stride, rows) = cast.GetImageInUseSize(), cast.GetImageMemorySize()
    address = int(cast.GetImage().split("_")[1], 16)
    memory = (ctypes.c_uint16 * (4 * stride * rows)).from_address(address)
    pixels = numpy.frombuffer(memory, "u2").reshape(rows, stride, 4)
    left, bottom = cast.GetImageOrigin()
    whole = numpy.zeros((512, 512, 3), "f4")
    whole[bottom : bottom + height, left : left + width] = pixels[:height, :width, :3] / 32767
    return whole[::-1]


def contour(folder, clock):
    found = vtk.vtkFlyingEdges3D()
    found.SetInputData(image_of(Volume(folder / "volume.nrrd")))
    found.SetValue(0, 0.6)
    found.ComputeNormalsOff()
    found.ComputeGradientsOff()
    found.ComputeScalarsOff()
    with clock:
        found.Update()
    write(found.GetOutput(), folder)


def sampling(folder, clock):
    probe = vtk.vtkProbeFilter()
    probe.SetInputData(points_of(folder / "points.npy"))
    probe.SetSourceData(image_of(Volume(folder / "volume.nrrd")))
    with clock:
        probe.Update()
    numpy.save(folder / "peer.npy", vtk_to_numpy(probe.GetOutput().GetPointData().GetArray("values")))


def streamlines(folder, clock):
    tracer = vtk.vtkStreamTracer()
    tracer.SetInputData(image_of(Volume(folder / "flow.nrrd")))
    tracer.SetSourceData(points_of(folder / "seeds.npy"))
    tracer.SetIntegratorTypeToRungeKutta4()
    tracer.SetIntegrationDirectionToForward()
    tracer.SetIntegrationStepUnit(vtk.vtkStreamTracer.LENGTH_UNIT)
    tracer.SetInitialIntegrationStep(0.005)
    # It takes one step more than this number.
    tracer.SetMaximumNumberOfSteps(499)
    tracer.SetMaximumPropagation(1e9)
    tracer.SetTerminalSpeed(0)
    tracer.SetComputeVorticity(False)
    with clock:
        tracer.Update()
    write(tracer.GetOutput(), folder)


if __name__ == "__main__":
    rows = {"contour": contour, "sampling": sampling, "streamlines": streamlines}
    serve(rows | {"rendering": rendering(False), "shaded": rendering(True)}, limit)
