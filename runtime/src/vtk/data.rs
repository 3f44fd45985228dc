//! The types of data of VTK's XML files, and advice for those that are not read.

/// Advice for a program that wants an image.
const MESH: &str = "values on a mesh are not an image: declare the input as `fem#k(d)[σ]` and make the field by `toField`";

/// Data of VTK's XML files, by their type: the usual suffix, and what helps a program that wants an image or a mesh.
#[rustfmt::skip]
const DATA: &[(&str, &str, &[&str])] = &[
    ("UnstructuredGrid", ".vtu", &[
        MESH,
        "or, in ParaView, apply the filter `Resample To Image` and save it as .vti"]),
    ("PUnstructuredGrid", ".pvtu", &[
        "it lists the pieces of a mesh; one file of all: python3 -c \"import pyvista; pyvista.read('{file}').save('{stem}.vtu')\""]),
    ("PImageData", ".pvti", &[
        "it lists the pieces of an image; one file of all: python3 -c \"import pyvista; pyvista.read('{file}').save('{stem}.vti')\""]),
    ("ImageData", ".vti", &["it is an image: declare the input as `image(d)[σ]`"]),
    ("PolyData", ".vtp", &[
        "its points can be given to an input of type vec3[]",
        "a surface in the plane becomes a mesh: python3 -c \"import pyvista; \
         pyvista.read('{file}').triangulate().cast_to_unstructured_grid().save('{stem}.vtu')\""]),
    ("Collection", ".pvd", &["it lists the files of a series: give one of those that it names"]),
    ("vtkMultiBlockDataSet", ".vtm", &[
        "it lists the parts of a data set; one mesh of all: python3 -c \"import pyvista; pyvista.read('{file}').combine().save('{stem}.vtu')\""]),
    ("StructuredGrid", ".vts", &[MESH]),
    ("RectilinearGrid", ".vtr", &[MESH]),
];

fn row(kind: &str) -> Option<&'static (&'static str, &'static str, &'static [&'static str])> {
    DATA.iter().find(|(name, ..)| *name == kind)
}

/// The usual suffix of files with data of a type.
pub(crate) fn suffix(kind: &str) -> Option<&'static str> {
    row(kind).map(|(_, suffix, _)| *suffix)
}

/// Advice on data of a type, with `{file}` and `{stem}` for the name of the file.
pub(crate) fn advice(kind: &str) -> &'static [&'static str] {
    row(kind).map_or(
        &["in ParaView: save the data as .vti or .vtu"],
        |(.., advice)| advice,
    )
}
