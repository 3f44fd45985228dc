//! The types of data of VTK's XML files, and advice for those that are not read.

/// Advice for a program that wants an image.
const MESH: &str = "values on a mesh are not an image: declare the input as `fem#k(d)[σ]` and make the field by `toField`";

/// One type of data.
struct Data {
    kind: &'static str,
    /// The usual suffix of files.
    suffix: &'static str,
    /// Whether it is read where a mesh is expected.
    is_mesh: bool,
    /// What else helps a program that wants an image, or a mesh where the data are not read.
    advice: &'static [&'static str],
}

const fn mesh(kind: &'static str, suffix: &'static str, advice: &'static [&'static str]) -> Data {
    Data {
        kind,
        suffix,
        is_mesh: true,
        advice,
    }
}

const fn other(kind: &'static str, suffix: &'static str, advice: &'static [&'static str]) -> Data {
    Data {
        kind,
        suffix,
        is_mesh: false,
        advice,
    }
}

#[rustfmt::skip]
const DATA: &[Data] = &[
    mesh("UnstructuredGrid", ".vtu", &[
        "or, in ParaView, apply the filter `Resample To Image` and save it as .vti"]),
    mesh("PUnstructuredGrid", ".pvtu", &[
        "it lists the pieces of a mesh; one file of all: python3 -c \"import pyvista; pyvista.read('{file}').save('{stem}.vtu')\""]),
    mesh("Collection", ".pvd", &["it lists the files of a series: give one of those that it names"]),
    mesh("StructuredGrid", ".vts", &[]),
    mesh("RectilinearGrid", ".vtr", &[]),
    other("PImageData", ".pvti", &[
        "it lists the pieces of an image; one file of all: python3 -c \"import pyvista; pyvista.read('{file}').save('{stem}.vti')\""]),
    other("ImageData", ".vti", &["it is an image: declare the input as `image(d)[σ]`"]),
    other("PolyData", ".vtp", &[
        "its points can be given to an input of type vec3[]",
        "a surface in the plane becomes a mesh: python3 -c \"import pyvista; \
         pyvista.read('{file}').triangulate().cast_to_unstructured_grid().save('{stem}.vtu')\""]),
    other("vtkMultiBlockDataSet", ".vtm", &[
        "it lists the parts of a data set; one mesh of all: python3 -c \"import pyvista; pyvista.read('{file}').combine().save('{stem}.vtu')\""]),
];

fn row(kind: &str) -> Option<&'static Data> {
    DATA.iter().find(|data| data.kind == kind)
}

/// The usual suffix of files with data of a type.
pub(crate) fn suffix(kind: &str) -> Option<&'static str> {
    row(kind).map(|data| data.suffix)
}

/// Whether data of a type are read where a mesh is expected.
pub(crate) fn is_mesh(kind: &str) -> bool {
    row(kind).is_some_and(|data| data.is_mesh)
}

/// Advice for a program that wants an image, with `{file}` and `{stem}` for the name of the file.
pub(crate) fn advice_on_images(kind: &str) -> Vec<&'static str> {
    let first = is_mesh(kind).then_some(MESH);
    first
        .into_iter()
        .chain(advice(kind).iter().copied())
        .collect()
}

/// Advice on data of a type that are not read, in the same form.
pub(crate) fn advice(kind: &str) -> &'static [&'static str] {
    row(kind).map_or(&["in ParaView: save the data as .vti or .vtu"], |data| {
        data.advice
    })
}
