//! The tags of elements that a picture needs.

/// A tag: the group, and the element of it.
pub(super) type Tag = (u16, u16);

/// How a value is stored, where a file does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    /// Unsigned numbers of two bytes, or of four if the value is that long.
    Short,
    Double,
    /// Items, each a set of elements.
    Items,
}

/// The tags that are kept.
#[rustfmt::skip]
pub(super) const KEPT: &[(Tag, Kind)] = &[
    (SYNTAX, Kind::Text), (IMAGE_TYPE, Kind::Text), (MODALITY, Kind::Text), (DESCRIPTION, Kind::Text), (SERIES, Kind::Text),
    (SERIES_NUMBER, Kind::Text), (DATE, Kind::Text), (TIME, Kind::Text), (TRIGGER, Kind::Text), (TEMPORAL, Kind::Text),
    (THICKNESS, Kind::Text), (BETWEEN, Kind::Text), (FRAME_TIME, Kind::Text), (POSITION, Kind::Text), (ORIENTATION, Kind::Text),
    (SPACING, Kind::Text), (IMAGER_SPACING, Kind::Text), (INTERCEPT, Kind::Text), (SLOPE, Kind::Text), (FRAMES, Kind::Text),
    (PHOTOMETRIC, Kind::Text), (OFFSETS, Kind::Text), (DOSE_SCALING, Kind::Text),
    (SAMPLES, Kind::Short), (PLANAR, Kind::Short), (ROWS, Kind::Short), (COLUMNS, Kind::Short), (ALLOCATED, Kind::Short),
    (STORED, Kind::Short), (HIGH, Kind::Short), (SIGNED, Kind::Short), (TEMPORAL_INDEX, Kind::Short), (TRIGGER_OF_FRAME, Kind::Double),
    (SHARED, Kind::Items), (PER_FRAME, Kind::Items), (PLANE_POSITION, Kind::Items), (PLANE_ORIENTATION, Kind::Items),
    (MEASURES, Kind::Items), (TRANSFORMATION, Kind::Items), (FRAME_CONTENT, Kind::Items), (CARDIAC, Kind::Items),
    (TEMPORAL_ITEMS, Kind::Items), (TABLE, Kind::Items),
];

pub(super) const SYNTAX: Tag = (0x0002, 0x0010);
pub(super) const IMAGE_TYPE: Tag = (0x0008, 0x0008);
pub(super) const DATE: Tag = (0x0008, 0x0022);
pub(super) const TIME: Tag = (0x0008, 0x0032);
pub(super) const MODALITY: Tag = (0x0008, 0x0060);
pub(super) const DESCRIPTION: Tag = (0x0008, 0x103e);
pub(super) const THICKNESS: Tag = (0x0018, 0x0050);
pub(super) const BETWEEN: Tag = (0x0018, 0x0088);
pub(super) const TRIGGER: Tag = (0x0018, 0x1060);
pub(super) const FRAME_TIME: Tag = (0x0018, 0x1063);
pub(super) const IMAGER_SPACING: Tag = (0x0018, 0x1164);
pub(super) const CARDIAC: Tag = (0x0018, 0x9118);
pub(super) const SERIES: Tag = (0x0020, 0x000e);
pub(super) const SERIES_NUMBER: Tag = (0x0020, 0x0011);
pub(super) const POSITION: Tag = (0x0020, 0x0032);
pub(super) const ORIENTATION: Tag = (0x0020, 0x0037);
pub(super) const TEMPORAL: Tag = (0x0020, 0x0100);
pub(super) const FRAME_CONTENT: Tag = (0x0020, 0x9111);
pub(super) const PLANE_POSITION: Tag = (0x0020, 0x9113);
pub(super) const PLANE_ORIENTATION: Tag = (0x0020, 0x9116);
pub(super) const TEMPORAL_INDEX: Tag = (0x0020, 0x9128);
pub(super) const TRIGGER_OF_FRAME: Tag = (0x0020, 0x9153);
pub(super) const TEMPORAL_ITEMS: Tag = (0x0020, 0x9310);
pub(super) const SAMPLES: Tag = (0x0028, 0x0002);
pub(super) const PHOTOMETRIC: Tag = (0x0028, 0x0004);
pub(super) const PLANAR: Tag = (0x0028, 0x0006);
pub(super) const FRAMES: Tag = (0x0028, 0x0008);
pub(super) const ROWS: Tag = (0x0028, 0x0010);
pub(super) const COLUMNS: Tag = (0x0028, 0x0011);
pub(super) const SPACING: Tag = (0x0028, 0x0030);
pub(super) const ALLOCATED: Tag = (0x0028, 0x0100);
pub(super) const STORED: Tag = (0x0028, 0x0101);
pub(super) const HIGH: Tag = (0x0028, 0x0102);
pub(super) const SIGNED: Tag = (0x0028, 0x0103);
pub(super) const INTERCEPT: Tag = (0x0028, 0x1052);
pub(super) const SLOPE: Tag = (0x0028, 0x1053);
pub(super) const TABLE: Tag = (0x0028, 0x3000);
pub(super) const MEASURES: Tag = (0x0028, 0x9110);
pub(super) const TRANSFORMATION: Tag = (0x0028, 0x9145);
pub(super) const OFFSETS: Tag = (0x3004, 0x000c);
pub(super) const DOSE_SCALING: Tag = (0x3004, 0x000e);
pub(super) const SHARED: Tag = (0x5200, 0x9229);
pub(super) const PER_FRAME: Tag = (0x5200, 0x9230);
pub(super) const FLOATS: Tag = (0x7fe0, 0x0008);
pub(super) const DOUBLES: Tag = (0x7fe0, 0x0009);
pub(super) const PIXELS: Tag = (0x7fe0, 0x0010);
pub(super) const ITEM: Tag = (0xfffe, 0xe000);
pub(super) const END_OF_ITEM: Tag = (0xfffe, 0xe00d);
pub(super) const END_OF_ITEMS: Tag = (0xfffe, 0xe0dd);
