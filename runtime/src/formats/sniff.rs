//! What a file is, by its first bytes, whatever its name says.
//!
//! One table has all formats that are known by name: those that are read, and those for which a command is known that makes
//! a file which is. More telling rows come first.

use std::path::Path;

use super::picture::Picture;
use super::text::excerpt;
use super::{ImageError, Translate, legacy_vtk, metaimage, nifti, npy, vti};
use crate::file_name::escaped;
use crate::xml::Tags;
use crate::{fem, vtk};

/// How a file of a format is handled.
#[derive(Clone, Copy)]
pub(super) enum Action {
    Nrrd,
    Translate(Translate),
    /// Something else is inside.
    Gzip,
    Picture(Picture),
    Tiff,
    Hdf5,
    NetCdf,
    Dicom,
    /// Data of VTK that are not an image.
    VtkData,
    /// It is not read; these commands help, with `{file}` for its name and `{stem}` for that without suffixes.
    Advise(&'static [&'static str]),
}

/// How a format is recognized.
enum Mark {
    /// Bytes at an offset.
    At(usize, &'static [u8]),
    /// Something else about the beginning.
    Where(fn(&[u8]) -> bool),
}

/// One format.
pub(super) struct Format {
    pub(super) name: &'static str,
    marks: &'static [Mark],
    pub(super) action: Action,
    /// A command that reads more of the format than is read here, and writes a file that is.
    anew: Option<&'static str>,
    /// Whether files may have several arrays of samples.
    has_arrays: bool,
}

impl Format {
    const fn anew(mut self, command: &'static str) -> Format {
        self.anew = Some(command);
        self
    }

    const fn of_arrays(mut self) -> Format {
        self.has_arrays = true;
        self
    }

    /// Refuses to look for an array in a file that has only one.
    pub(super) fn check_array(&self, array: Option<&str>) -> Result<(), ImageError> {
        match array.filter(|_| !self.has_arrays) {
            None => Ok(()),
            Some(array) => Err(ImageError::new(format!(
                "`#{array}` asks for an array, but a file of the format {} has only one",
                self.name
            ))),
        }
    }

    /// An error of reading a file of this format, with the way that is left if other programs read it.
    pub(super) fn with_way_out(&self, error: ImageError, file: &str) -> ImageError {
        match self.anew {
            Some(command) => error.hint(filled(command, file)),
            None => error,
        }
    }
}

const fn format(name: &'static str, marks: &'static [Mark], action: Action) -> Format {
    Format {
        name,
        marks,
        action,
        anew: None,
        has_arrays: false,
    }
}

use Action::Advise;
use Mark::{At, Where};

const SIMPLE_ITK: &str = "with Python: python3 -c \"import SimpleITK as s; s.WriteImage(s.ReadImage('{file}'), '{stem}.nrrd')\"";
const NIBABEL: &str = "with Python: python3 -c \"import nibabel as n; i = n.load('{file}'); \
                       n.save(n.Nifti1Image(i.dataobj, i.affine), '{stem}.nii')\"";
const PILLOW: &str =
    "with Python: python3 -c \"from PIL import Image; Image.open('{file}').save('{stem}.png')\"";
const MAGICK: &str = "with ImageMagick: magick '{file}' '{stem}.png'";
const IMAGEIO: &str = "with Python: python3 -c \"import imageio.v3 as i; i.imwrite('{stem}.tif', i.imread('{file}'))\"";
const ITK_ANEW: &str = "if ITK reads it: python3 -c \"import SimpleITK as s; s.WriteImage(s.ReadImage('{file}'), '{stem}-anew.nrrd')\"";
const VTK_ANEW: &str = "if VTK reads it: python3 -c \"import vtk; r = vtk.vtkXMLImageDataReader(); r.SetFileName('{file}'); \
                        w = vtk.vtkXMLImageDataWriter(); w.SetInputConnection(r.GetOutputPort()); w.SetFileName('{stem}-anew.vti'); w.Write()\"";
const TIFF_ANEW: &str = "if tifffile reads it: python3 -c \"import tifffile as t; t.imwrite('{stem}-anew.tif', t.imread('{file}').astype('f'))\"";
const H5PY_ANEW: &str = "if h5py reads it: python3 -c \"import h5py, numpy; numpy.save('{stem}.npy', h5py.File('{file}')['DATASET'][...])\"";
const GDCM_ANEW: &str = "if GDCM reads it: gdcmconv --raw '{file}' '{stem}-raw.dcm'";
const BIO_FORMATS: &str = "with Bio-Formats: bfconvert '{file}' '{stem}.ome.tif'";

#[rustfmt::skip]
const FORMATS: &[Format] = &[
    format("NRRD", &[At(0, b"NRRD000"), At(0, b"NRRD00.0")], Action::Nrrd),
    format("PNG", &[At(0, b"\x89PNG\r\n\x1a\n")], Action::Picture(Picture::Png)),
    format("JPEG", &[At(0, b"\xff\xd8\xff")], Action::Picture(Picture::Jpeg)),
    format("NIfTI", &[At(344, b"n+1\0"), At(344, b"ni1\0"), At(4, b"n+2\0"), At(4, b"ni2\0")], Action::Translate(nifti::translate)).anew(ITK_ANEW),
    format("NumPy array", &[At(0, b"\x93NUMPY")], Action::Translate(npy::translate)),
    format("MetaImage", &[Where(is_metaimage)], Action::Translate(metaimage::translate)).anew(ITK_ANEW),
    format("VTK", &[At(0, b"# vtk DataFile")], Action::Translate(legacy_vtk::translate)).of_arrays(),
    format("VTK image data", &[Where(|head| vtk_xml(head).as_deref() == Some("ImageData"))], Action::Translate(vti::translate)).anew(VTK_ANEW).of_arrays(),
    // The bytes before its mark are free, and many files have a header of TIFF there.
    format("DICOM", &[At(128, b"DICM")], Action::Dicom).anew(GDCM_ANEW).of_arrays(),
    format("TIFF", &[At(0, b"II*\0"), At(0, b"MM\0*"), At(0, b"II+\0"), At(0, b"MM\0+")], Action::Tiff).anew(TIFF_ANEW),
    format("BMP", &[Where(is_bmp)], Action::Picture(Picture::Bmp)),
    format("PNM", &[Where(is_pnm)], Action::Picture(Picture::Pnm)),
    format("gzip", &[At(0, b"\x1f\x8b")], Action::Gzip),

    // Without its mark: the elements of group 8 come first, and element 5 of these is the character set.
    format("DICOM", &[At(0, b"\x08\0\x05\0"), At(0, b"\0\x08\0\x05"), At(0, b"\x08\0\0\0\x04\0\0\0"), Where(is_unmarked_dicom)], Action::Dicom).anew(GDCM_ANEW).of_arrays(),
    format("HDF5", &[At(0, b"\x89HDF\r\n\x1a\n"), At(512, b"\x89HDF\r\n\x1a\n")], Action::Hdf5).anew(H5PY_ANEW).of_arrays(),
    format("NetCDF", &[At(0, b"CDF\x01"), At(0, b"CDF\x02"), At(0, b"CDF\x05")], Action::NetCdf).of_arrays(),
    format("MGH (FreeSurfer)", &[Where(is_mgh)], Advise(&["with FreeSurfer: mri_convert '{file}' '{stem}.nii'", NIBABEL])),
    format("Analyze 7.5", &[Where(is_analyze)], Advise(&[NIBABEL, SIMPLE_ITK])),
    format("MRtrix", &[At(0, b"mrtrix image")], Advise(&["with MRtrix: mrconvert '{file}' '{stem}.nii'"])),
    format("MRC", &[At(208, b"MAP ")], Advise(&[SIMPLE_ITK])),
    format("OpenVDB", &[At(0, b"\x20BDV\0\0\0\0")], Advise(&[
        "with Python: python3 -c \"import openvdb as v, numpy; g = v.readAllGridMetadata('{file}')[0]; g = v.read('{file}', g.name); \
         (a, b) = g.evalActiveVoxelBoundingBox(); s = [j - i + 1 for i, j in zip(a, b)]; d = numpy.zeros(s, 'f'); g.copyToArray(d, a); \
         numpy.save('{stem}.npy', d.T)\""])),
    format("FITS", &[At(0, b"SIMPLE  =")], Advise(&[
        "with Python: python3 -c \"from astropy.io import fits; import numpy; numpy.save('{stem}.npy', fits.getdata('{file}'))\""])),
    format("OpenEXR", &[At(0, b"\x76\x2f\x31\x01")], Advise(&[
        "with Python: python3 -c \"import cv2, os; os.environ['OPENCV_IO_ENABLE_OPENEXR']='1'; cv2.imwrite('{stem}.tif', cv2.imread('{file}', -1))\"", MAGICK])),
    format("Radiance HDR", &[At(0, b"#?RADIANCE"), At(0, b"#?RGBE")], Advise(&[IMAGEIO])),
    format("portable float map", &[At(0, b"PF\n"), At(0, b"Pf\n")], Advise(&[
        "with Python: python3 -c \"import cv2; cv2.imwrite('{stem}.tif', cv2.imread('{file}', -1))\""])),
    format("WebP", &[Where(|head| head.starts_with(b"RIFF") && head.get(8..12) == Some(b"WEBP"))], Advise(&[PILLOW, MAGICK])),
    format("GIF", &[At(0, b"GIF87a"), At(0, b"GIF89a")], Advise(&[PILLOW, MAGICK])),
    format("JPEG 2000", &[At(0, b"\0\0\0\x0cjP  "), At(0, b"\xff\x4f\xff\x51")], Advise(&[PILLOW, MAGICK])),
    format("AVIF or HEIF", &[At(4, b"ftypavif"), At(4, b"ftyphei"), At(4, b"ftypmif1")], Advise(&[MAGICK])),
    format("Photoshop", &[At(0, b"8BPS")], Advise(&[PILLOW, MAGICK])),
    format("NumPy archive or zip", &[At(0, b"PK\x03\x04")], Advise(&[
        "with Python: python3 -c \"import numpy; numpy.save('{stem}.npy', numpy.load('{file}')['NAME'])\"", "or unpack it: unzip '{file}'"])),
    format("MATLAB", &[At(0, b"MATLAB 5.0 MAT-file")], Advise(&[
        "with Python: python3 -c \"import scipy.io, numpy; numpy.save('{stem}.npy', scipy.io.loadmat('{file}')['NAME'].T)\""])),
    format("AmiraMesh", &[At(0, b"# AmiraMesh"), At(0, b"# Avizo")], Advise(&["in Amira or Avizo: save the data as NRRD"])),
    format("Zeiss CZI", &[At(0, b"ZISRAWFILE")], Advise(&[BIO_FORMATS])),
    format("Nikon ND2", &[At(0, b"\xda\xce\xbe\x0a")], Advise(&[BIO_FORMATS])),
    format("Leica LIF", &[At(0, b"\x70\0\0\0")], Advise(&[BIO_FORMATS])),
    format("VTK XML", &[Where(|head| vtk_xml(head).is_some())], Action::VtkData),
    format("PLY mesh", &[At(0, b"ply\n"), At(0, b"ply\r")], Advise(&["a mesh is not an image: sample it on a grid first; its points can be given to an input of type vec3[]"])),
    format("bzip2", &[At(0, b"BZh")], Advise(&["unpack it first: bunzip2 '{file}'"])),
    format("xz", &[At(0, b"\xfd7zXZ\0")], Advise(&["unpack it first: unxz '{file}'"])),
    format("zstd", &[At(0, b"\x28\xb5\x2f\xfd")], Advise(&["unpack it first: unzstd '{file}'"])),
    format("7-Zip", &[At(0, b"7z\xbc\xaf\x27\x1c")], Advise(&["unpack it first: 7z x '{file}'"])),
    format("PDF", &[At(0, b"%PDF-")], Advise(&["with Poppler: pdftoppm -png '{file}' '{stem}'"])),
];

/// The format of a file that begins so.
pub(super) fn recognize(head: &[u8]) -> Option<&'static Format> {
    let marked = |mark: &Mark| match mark {
        At(offset, bytes) => head
            .get(*offset..)
            .is_some_and(|rest| rest.starts_with(bytes)),
        Where(test) => test(head),
    };
    FORMATS
        .iter()
        .find(|format| format.marks.iter().any(marked))
}

/// The names of the formats that are read, for messages.
fn read_names() -> String {
    let is_read = |f: &&Format| !matches!(f.action, Advise(_) | Action::Gzip | Action::VtkData);
    let mut names: Vec<&str> = Vec::new();
    for format in FORMATS.iter().filter(is_read) {
        // A format may begin in several ways.
        if !names.contains(&format.name) {
            names.push(format.name);
        }
    }
    format!(
        "{}; directories of Zarr and DICOM; and meshes of {}",
        names.join(", "),
        fem::mesh_formats()
    )
}

/// Lines `Key = Value`, among which the number of dimensions.
fn is_metaimage(head: &[u8]) -> bool {
    let start = String::from_utf8_lossy(&head[..head.len().min(4096)]);
    let first = start.lines().next().unwrap_or_default();
    let key = first.split_once('=').map_or("", |(key, _)| key.trim());
    let named = !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric());
    named
        && start
            .lines()
            .any(|l| l.split_once('=').is_some_and(|(k, _)| k.trim() == "NDims"))
}

/// The type of the data of one of VTK's XML files; empty if it does not say.
fn vtk_xml(head: &[u8]) -> Option<String> {
    /// Bytes among which the first tag is.
    const START: usize = 4096;
    let start = &head[..head.len().min(START)];
    let name = b"<VTKFile";
    start.windows(name.len()).find(|word| word == name)?;
    let file = Tags::new(start).find(|tag| tag.name() == "VTKFile")?;
    let kind = file.get("type");
    Some(kind.unwrap_or_default().into_owned())
}

/// Says that data of VTK are not an image, and what helps.
pub(super) fn refuse_vtk_data(head: &[u8], file: &str) -> ImageError {
    let kind = vtk_xml(head).unwrap_or_default();
    let suffix = vtk::suffix(&kind).map_or(String::new(), |suffix| format!(" ({suffix})"));
    let name = format!("VTK XML, type `{kind}`{suffix}");
    refuse(&name, &vtk::advice_on_images(&kind), file)
}

/// Says that files of MINC are not read, which are HDF5 or NetCDF by their first bytes.
pub(super) fn refuse_minc(name: &str, file: &str) -> ImageError {
    refuse(name, &[NIBABEL], file)
}

/// Whether a file is DICOM by its beginning.
pub(super) fn is_dicom(head: &[u8]) -> bool {
    recognize(head).is_some_and(|format| format.name == "DICOM")
}

/// An element of group 2 or 8 with a type and a short length, as files without a mark begin; or one of the first elements of
/// group 8 without a type.
fn is_unmarked_dicom(head: &[u8]) -> bool {
    if let Some([8, 0, 0x08 | 0x16 | 0x18, 0, 2..=64, 0, 0, 0]) = head.first_chunk() {
        return true;
    }
    let &[group, 0, _, 0, a, b, length, 0] = head.first_chunk().unwrap_or(&[0; 8]) else {
        return false;
    };
    matches!(group, 2 | 8)
        && matches!(&[a, b], b"UL" | b"CS" | b"UI" | b"OB" | b"LO")
        && length % 2 == 0
}

/// Two letters are little to go by: the length of the second header follows.
fn is_bmp(head: &[u8]) -> bool {
    let sizes = [12, 16, 40, 52, 56, 64, 108, 124];
    head.starts_with(b"BM") && head.get(14).is_some_and(|size| sizes.contains(size))
}

/// `P` and a digit, and a blank or a comment.
fn is_pnm(head: &[u8]) -> bool {
    match head {
        [b'P', b'1'..=b'7', blank, ..] => blank.is_ascii_whitespace() || *blank == b'#',
        _ => false,
    }
}

/// Version 1, four sizes and a type, as big integers.
fn is_mgh(head: &[u8]) -> bool {
    let number = |i: usize| {
        let bytes = head.get(4 * i..4 * i + 4)?;
        bytes.try_into().ok().map(i32::from_be_bytes)
    };
    let sizes = (1..=4).all(|i| number(i).is_some_and(|n| (1..1 << 24).contains(&n)));
    number(0) == Some(1) && sizes && number(5).is_some_and(|t| (0..=10).contains(&t))
}

/// A header of 348 bytes that is not NIfTI: its length, a number of axes, and as many bits as the type of samples has.
fn is_analyze(head: &[u8]) -> bool {
    const TYPES: &[(u16, u16)] = &[
        (1, 1),
        (2, 8),
        (4, 16),
        (8, 32),
        (16, 32),
        (32, 64),
        (64, 64),
        (128, 24),
    ];
    let little = head.starts_with(&348_i32.to_le_bytes());
    let number = |at: usize| {
        let bytes = head.get(at..at + 2)?.try_into().ok()?;
        Some(if little {
            u16::from_le_bytes(bytes)
        } else {
            u16::from_be_bytes(bytes)
        })
    };
    let axes = number(40).is_some_and(|n| (1..=7).contains(&n));
    let typed = number(70)
        .zip(number(72))
        .is_some_and(|row| TYPES.contains(&row));
    (little || head.starts_with(&348_i32.to_be_bytes())) && axes && typed
}

/// A command about a file.
fn filled(command: &str, file: &str) -> String {
    let stem = file.split('/').next_back().unwrap_or(file);
    let start = file.len() - stem.len();
    let stem = &file[..start + stem.find('.').filter(|at| *at > 0).unwrap_or(stem.len())];
    command.replace("{file}", file).replace("{stem}", stem)
}

/// Says that a format is not read, and what helps.
pub(super) fn refuse(name: &str, advice: &[&str], file: &str) -> ImageError {
    let error = ImageError::new(format!(
        "this is a file of the format {name}, which is not read"
    ));
    advice
        .iter()
        .fold(error, |error, line| error.hint(filled(line, file)))
}

/// Says that a file must be unpacked first.
pub(super) fn refuse_compressed(name: &str, file: &str) -> ImageError {
    let error = ImageError::new(format!("this is a gzip'd file of the format {name}"));
    error.hint(format!("unpack it first: gunzip '{file}'"))
}

/// Says that nothing is known about a file.
pub(super) fn unknown(head: &[u8]) -> ImageError {
    if head.is_empty() {
        return ImageError::new("the file is empty");
    }
    let start = excerpt(head);
    let numbers = start
        .split([' ', ',', '\t', ';'])
        .next()
        .is_some_and(|w| w.parse::<f64>().is_ok());
    let error = ImageError::new(format!(
        "the file begins with \"{start}\", which is not a known format; these are read: {}",
        read_names()
    ));
    match numbers {
        true => error.hint("numbers in text become an image by a header: `NRRD0001`, `type: float`, `dimension: …`, \
                            `sizes: …`, `encoding: ascii`, `data file: …`"),
        false => error,
    }
}

/// Says that nothing is known about what a compressed file holds.
pub(super) fn unknown_inside_gzip(head: &[u8]) -> ImageError {
    let start = excerpt(head);
    ImageError::new(format!(
        "the file is compressed by gzip, and its contents begin with \"{start}\", which is not a known format"
    ))
}

/// An error of reading a directory of Zarr, with the way that is left.
pub(super) fn with_zarr_command(error: ImageError, file: &str) -> ImageError {
    const ZARR: &str = "if zarr-python reads it: python3 -c \"import zarr, numpy; numpy.save('{stem}.npy', zarr.open('{file}')['ARRAY'][...])\"";
    error.hint(filled(ZARR, file))
}

/// Says what a directory may be.
pub(super) fn directory(path: &Path) -> ImageError {
    let shown = escaped(path.as_os_str());
    ImageError::new("this is a directory, and neither Zarr nor a series of DICOM files")
        .hint("subdirectories are not searched: name the one with the files")
        .hint(format!("numbered pictures: '{shown}/slice%03d.tif 1 120'"))
}
