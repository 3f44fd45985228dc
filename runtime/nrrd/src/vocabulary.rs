//! The words of the format: sample types, encodings, byte orders, centerings, kinds and named spaces.
//!
//! Each enumeration has one table of rows (value, canonical name, other spellings, and what else is fixed by the word);
//! reading and writing both go through it. Spellings are compared without regard to case.

/// One word of the format.
struct Word<T: 'static> {
    value: T,
    name: &'static str,
    aliases: &'static [&'static str],
}

const fn word<T>(value: T, name: &'static str, aliases: &'static [&'static str]) -> Word<T> {
    Word {
        value,
        name,
        aliases,
    }
}

fn find<T: Copy>(words: &[Word<T>], text: &str) -> Option<T> {
    let matches = |spelling: &str| spelling.eq_ignore_ascii_case(text);
    let found = |w: &&Word<T>| matches(w.name) || w.aliases.iter().any(|a| matches(a));
    words.iter().find(found).map(|w| w.value)
}

fn name_of<T: PartialEq>(words: &[Word<T>], value: T) -> &'static str {
    words
        .iter()
        .find(|w| w.value == value)
        .map_or("???", |w| w.name)
}

fn names<T>(words: &[Word<T>]) -> String {
    let names: Vec<_> = words.iter().map(|w| w.name).collect();
    names.join(", ")
}

/// Gives an enumeration its lookups in its table.
macro_rules! spelled_by {
    ($type:ty, $words:ident) => {
        impl $type {
            /// The value spelled `text`, in any of its accepted spellings.
            pub fn from_name(text: &str) -> Option<Self> {
                find($words, text)
            }

            /// The canonical spelling, which is the one written.
            pub fn name(self) -> &'static str {
                name_of($words, self)
            }

            /// Every value, in the order of the table.
            pub fn all() -> impl Iterator<Item = Self> {
                $words.iter().map(|w| w.value)
            }

            /// All canonical spellings, for messages.
            pub(super) fn choices() -> String {
                names($words)
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

/// The type of one sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SampleType {
    /// Signed 8-bit integer.
    I8,
    /// Unsigned 8-bit integer.
    U8,
    /// Signed 16-bit integer.
    I16,
    /// Unsigned 16-bit integer.
    U16,
    /// Signed 32-bit integer.
    I32,
    /// Unsigned 32-bit integer.
    U32,
    /// Signed 64-bit integer.
    I64,
    /// Unsigned 64-bit integer.
    U64,
    /// IEEE single precision.
    F32,
    /// IEEE double precision.
    F64,
    /// Opaque bytes; the header's `block size` says how many.
    Block,
}

#[rustfmt::skip]
const SAMPLE_TYPES: &[Word<SampleType>] = &[
    // Bare `char` and `long` are not accepted: their meaning depends on the C compiler.
    word(SampleType::I8, "signed char", &["int8", "int8_t"]),
    word(SampleType::U8, "unsigned char", &["uchar", "uint8", "uint8_t"]),
    word(SampleType::I16, "short", &["short int", "signed short", "signed short int", "int16", "int16_t"]),
    word(SampleType::U16, "unsigned short", &["ushort", "unsigned short int", "uint16", "uint16_t"]),
    word(SampleType::I32, "int", &["signed int", "int32", "int32_t"]),
    word(SampleType::U32, "unsigned int", &["uint", "uint32", "uint32_t"]),
    word(SampleType::I64, "long long int", &["longlong", "long long", "signed long long", "signed long long int", "int64", "int64_t"]),
    word(SampleType::U64, "unsigned long long int", &["ulonglong", "unsigned long long", "uint64", "uint64_t"]),
    word(SampleType::F32, "float", &[]),
    word(SampleType::F64, "double", &[]),
    word(SampleType::Block, "block", &[]),
];
spelled_by!(SampleType, SAMPLE_TYPES);

impl SampleType {
    /// Bytes of one sample, or `None` for [`SampleType::Block`], whose size is in the header.
    pub fn size(self) -> Option<usize> {
        match self {
            SampleType::I8 | SampleType::U8 => Some(1),
            SampleType::I16 | SampleType::U16 => Some(2),
            SampleType::I32 | SampleType::U32 | SampleType::F32 => Some(4),
            SampleType::I64 | SampleType::U64 | SampleType::F64 => Some(8),
            SampleType::Block => None,
        }
    }
}

/// How samples become bytes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// The bytes as they are.
    Raw,
    /// Numbers in text, separated by blanks.
    Ascii,
    /// Two hexadecimal digits per byte.
    Hex,
    /// The bytes compressed by gzip.
    Gzip,
    /// The bytes compressed by bzip2.
    Bzip2,
}

const ENCODINGS: &[Word<Encoding>] = &[
    word(Encoding::Raw, "raw", &[]),
    word(Encoding::Ascii, "ascii", &["text", "txt"]),
    word(Encoding::Hex, "hex", &[]),
    word(Encoding::Gzip, "gzip", &["gz"]),
    word(Encoding::Bzip2, "bzip2", &["bz2"]),
];
spelled_by!(Encoding, ENCODINGS);

impl Encoding {
    /// Whether the order of the bytes of one sample shows in the file.
    pub fn exposes_byte_order(self) -> bool {
        self != Encoding::Ascii
    }
}

/// Order of the bytes of one sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Endian {
    /// Least significant byte first.
    Little,
    /// Most significant byte first.
    Big,
}

const ENDIANS: &[Word<Endian>] = &[
    word(Endian::Little, "little", &[]),
    word(Endian::Big, "big", &[]),
];
spelled_by!(Endian, ENDIANS);

impl Endian {
    /// The byte order of this machine.
    pub const NATIVE: Endian = if cfg!(target_endian = "little") {
        Endian::Little
    } else {
        Endian::Big
    };
}

/// Where samples sit in the extent of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Centering {
    /// The first and last sample are on the ends of the axis.
    Node,
    /// Each sample is in the middle of its cell.
    Cell,
}

const CENTERINGS: &[Word<Centering>] = &[
    word(Centering::Node, "node", &[]),
    word(Centering::Cell, "cell", &[]),
];
spelled_by!(Centering, CENTERINGS);

/// What the samples along an axis are to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A domain of the sampled function.
    Domain,
    /// A spatial domain.
    Space,
    /// A temporal domain.
    Time,
    /// A list of unrelated values.
    List,
    /// Coordinates of a point.
    Point,
    /// Coefficients of a contravariant vector.
    Vector,
    /// Coefficients of a covariant vector.
    CovariantVector,
    /// Coefficients of a covariant unit vector.
    Normal,
    /// A placeholder of one sample.
    Stub,
    /// One scalar.
    Scalar,
    /// Real and imaginary part.
    Complex,
    /// A vector of two components.
    Vector2,
    /// Any colour of three components.
    Color3,
    /// Red, green, blue.
    RgbColor,
    /// Hue, saturation, value.
    HsvColor,
    /// Perceptual primaries.
    XyzColor,
    /// Any colour of four components.
    Color4,
    /// Red, green, blue, opacity.
    RgbaColor,
    /// A vector of three components.
    Vector3,
    /// A covariant vector of three components.
    Gradient3,
    /// A covariant unit vector of three components.
    Normal3,
    /// A vector of four components.
    Vector4,
    /// A quaternion.
    Quaternion,
    /// Mxx Mxy Myy.
    SymmetricMatrix2,
    /// A mask, then Mxx Mxy Myy.
    MaskedSymmetricMatrix2,
    /// Mxx Mxy Myx Myy.
    Matrix2,
    /// A mask, then the four of a matrix.
    MaskedMatrix2,
    /// Mxx Mxy Mxz Myy Myz Mzz.
    SymmetricMatrix3,
    /// A mask, then the six of a symmetric matrix.
    MaskedSymmetricMatrix3,
    /// Nine components, row by row.
    Matrix3,
    /// A mask, then nine components.
    MaskedMatrix3,
}

#[rustfmt::skip]
const KINDS: &[Word<Kind>] = &[
    word(Kind::Domain, "domain", &[]),
    word(Kind::Space, "space", &[]),
    word(Kind::Time, "time", &[]),
    word(Kind::List, "list", &[]),
    word(Kind::Point, "point", &[]),
    word(Kind::Vector, "vector", &["contravariant-vector"]),
    word(Kind::CovariantVector, "covariant-vector", &[]),
    word(Kind::Normal, "normal", &[]),
    word(Kind::Stub, "stub", &[]),
    word(Kind::Scalar, "scalar", &[]),
    word(Kind::Complex, "complex", &[]),
    word(Kind::Vector2, "2-vector", &[]),
    word(Kind::Color3, "3-color", &[]),
    word(Kind::RgbColor, "RGB-color", &["RGBcolor", "RGB"]),
    word(Kind::HsvColor, "HSV-color", &["HSVcolor", "HSV"]),
    word(Kind::XyzColor, "XYZ-color", &[]),
    word(Kind::Color4, "4-color", &[]),
    word(Kind::RgbaColor, "RGBA-color", &["RGBAcolor", "RGBA"]),
    word(Kind::Vector3, "3-vector", &[]),
    word(Kind::Gradient3, "3-gradient", &[]),
    word(Kind::Normal3, "3-normal", &[]),
    word(Kind::Vector4, "4-vector", &[]),
    word(Kind::Quaternion, "quaternion", &[]),
    word(Kind::SymmetricMatrix2, "2D-symmetric-matrix", &["2D-sym-matrix", "2D-symmetric-tensor", "2D-sym-tensor"]),
    word(Kind::MaskedSymmetricMatrix2, "2D-masked-symmetric-matrix", &["2D-masked-sym-matrix", "2D-masked-symmetric-tensor", "2D-masked-sym-tensor"]),
    word(Kind::Matrix2, "2D-matrix", &["2D-tensor"]),
    word(Kind::MaskedMatrix2, "2D-masked-matrix", &["2D-masked-tensor"]),
    word(Kind::SymmetricMatrix3, "3D-symmetric-matrix", &["3D-sym-matrix", "3D-symmetric-tensor", "3D-sym-tensor"]),
    word(Kind::MaskedSymmetricMatrix3, "3D-masked-symmetric-matrix", &["3D-masked-sym-matrix", "3D-masked-symmetric-tensor", "3D-masked-sym-tensor"]),
    word(Kind::Matrix3, "3D-matrix", &["3D-tensor"]),
    word(Kind::MaskedMatrix3, "3D-masked-matrix", &["3D-masked-tensor"]),
];
spelled_by!(Kind, KINDS);

impl Kind {
    /// The number of samples an axis of this kind must have, if the kind fixes it.
    pub fn size(self) -> Option<usize> {
        match self {
            Kind::Domain | Kind::Space | Kind::Time | Kind::List => None,
            Kind::Point | Kind::Vector | Kind::CovariantVector | Kind::Normal => None,
            Kind::Stub | Kind::Scalar => Some(1),
            Kind::Complex | Kind::Vector2 => Some(2),
            Kind::Color3 | Kind::RgbColor | Kind::HsvColor | Kind::XyzColor => Some(3),
            Kind::Vector3 | Kind::Gradient3 | Kind::Normal3 | Kind::SymmetricMatrix2 => Some(3),
            Kind::Color4 | Kind::RgbaColor | Kind::Vector4 | Kind::Quaternion => Some(4),
            Kind::MaskedSymmetricMatrix2 | Kind::Matrix2 => Some(4),
            Kind::MaskedMatrix2 => Some(5),
            Kind::SymmetricMatrix3 => Some(6),
            Kind::MaskedSymmetricMatrix3 => Some(7),
            Kind::Matrix3 => Some(9),
            Kind::MaskedMatrix3 => Some(10),
        }
    }

    /// Whether an axis of this kind is part of the domain of the sampled function.
    pub fn is_domain(self) -> bool {
        matches!(self, Kind::Domain | Kind::Space | Kind::Time)
    }
}

/// A space with a name, which fixes its dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NamedSpace {
    /// Two-dimensional, second axis upwards.
    RightUp,
    /// Two-dimensional, second axis downwards.
    RightDown,
    /// Patient space of NIfTI.
    Ras,
    /// Patient space of Analyze.
    Las,
    /// Patient space of DICOM.
    Lps,
    /// [`NamedSpace::Ras`] and time.
    RasTime,
    /// [`NamedSpace::Las`] and time.
    LasTime,
    /// [`NamedSpace::Lps`] and time.
    LpsTime,
    /// Axes of the scanner.
    ScannerXyz,
    /// Axes of the scanner and time.
    ScannerXyzTime,
    /// Any right-handed space.
    RightHanded,
    /// Any left-handed space.
    LeftHanded,
    /// Any right-handed space and time.
    RightHandedTime,
    /// Any left-handed space and time.
    LeftHandedTime,
}

#[rustfmt::skip]
const SPACES: &[Word<NamedSpace>] = &[
    word(NamedSpace::RightUp, "right-up", &["right up"]),
    word(NamedSpace::RightDown, "right-down", &["right down"]),
    word(NamedSpace::Ras, "right-anterior-superior", &["right anterior superior", "rightanteriorsuperior", "RAS"]),
    word(NamedSpace::Las, "left-anterior-superior", &["left anterior superior", "leftanteriorsuperior", "LAS"]),
    word(NamedSpace::Lps, "left-posterior-superior", &["left posterior superior", "leftposteriorsuperior", "LPS"]),
    word(NamedSpace::RasTime, "right-anterior-superior-time", &["right anterior superior time", "rightanteriorsuperiortime", "RAST"]),
    word(NamedSpace::LasTime, "left-anterior-superior-time", &["left anterior superior time", "leftanteriorsuperiortime", "LAST"]),
    word(NamedSpace::LpsTime, "left-posterior-superior-time", &["left posterior superior time", "leftposteriorsuperiortime", "LPST"]),
    word(NamedSpace::ScannerXyz, "scanner-xyz", &[]),
    word(NamedSpace::ScannerXyzTime, "scanner-xyz-time", &["scanner-xyzt"]),
    word(NamedSpace::RightHanded, "3D-right-handed", &["3D right handed", "3Drighthanded"]),
    word(NamedSpace::LeftHanded, "3D-left-handed", &["3D left handed", "3Dlefthanded"]),
    word(NamedSpace::RightHandedTime, "3D-right-handed-time", &["3D right handed time", "3Drighthandedtime"]),
    word(NamedSpace::LeftHandedTime, "3D-left-handed-time", &["3D left handed time", "3Dlefthandedtime"]),
];
spelled_by!(NamedSpace, SPACES);

impl NamedSpace {
    /// The number of coordinates of a position.
    pub fn dimension(self) -> usize {
        match self {
            NamedSpace::RightUp | NamedSpace::RightDown => 2,
            NamedSpace::Ras | NamedSpace::Las | NamedSpace::Lps => 3,
            NamedSpace::ScannerXyz | NamedSpace::RightHanded | NamedSpace::LeftHanded => 3,
            NamedSpace::RasTime | NamedSpace::LasTime | NamedSpace::LpsTime => 4,
            NamedSpace::ScannerXyzTime => 4,
            NamedSpace::RightHandedTime | NamedSpace::LeftHandedTime => 4,
        }
    }
}
