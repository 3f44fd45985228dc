//! The elements of an XML text: their names, their attributes, and where their contents begin.

use std::borrow::Cow;

use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;

/// The opening tags of an XML text, one after the other, as far as it is well-formed. VTK's `AppendedData` may be followed by
/// bytes that are not XML, so its tag is the last.
pub(crate) struct Tags<'a> {
    reader: Reader<&'a [u8]>,
    is_over: bool,
}

/// An opening tag.
#[derive(Clone)]
pub(crate) struct Tag<'a> {
    start: BytesStart<'a>,
    /// Where its contents begin.
    pub(crate) end: usize,
}

impl<'a> Tags<'a> {
    /// The tags of a text, which may be the beginning of a longer one.
    pub(crate) fn new(text: &'a [u8]) -> Tags<'a> {
        let mut reader = Reader::from_reader(text);
        reader.config_mut().allow_dangling_amp = true;
        Tags {
            reader,
            is_over: false,
        }
    }
}

impl<'a> Iterator for Tags<'a> {
    type Item = Tag<'a>;

    fn next(&mut self) -> Option<Tag<'a>> {
        while !self.is_over {
            match self.reader.read_event() {
                Ok(Event::Start(start) | Event::Empty(start)) => {
                    let end = self.reader.buffer_position() as usize;
                    let tag = Tag { start, end };
                    self.is_over = tag.name() == "AppendedData";
                    return Some(tag);
                }
                Ok(Event::Eof) | Err(_) => self.is_over = true,
                Ok(_) => {}
            }
        }
        None
    }
}

impl Tag<'_> {
    /// Its name, without the prefix of a namespace.
    pub(crate) fn name(&self) -> &str {
        let name = self.start.name().0;
        name.rsplit_once(':').map_or(name, |(_, name)| name)
    }

    /// The value of an attribute, with known entities replaced by their characters.
    pub(crate) fn get(&self, name: &str) -> Option<Cow<'_, str>> {
        let mut attributes = self.start.attributes();
        let mut attributes = attributes.with_checks(false).flatten();
        let attribute = attributes.find(|attribute| attribute.key.0 == name)?;
        let value = attribute.normalized_value(XmlVersion::Implicit1_0);
        Some(value.unwrap_or(attribute.value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_those_of_xml() {
        let text = br#"<?xml version="1.0"?><!-- <Wrong a="1"/> -->
            <a:File x='1 > 0 &amp; "so"' y = "&#955;&lt;"><![CDATA[<Wrong/>]]>3 &amp; 4<Empty/>
            <AppendedData encoding="raw">_<Wrong/>\xff</AppendedData>"#;
        let tags: Vec<Tag<'_>> = Tags::new(text).collect();
        let names: Vec<&str> = tags.iter().map(Tag::name).collect();
        assert_eq!(names, ["File", "Empty", "AppendedData"]);
        assert_eq!(tags[0].get("x").as_deref(), Some("1 > 0 & \"so\""));
        assert_eq!(tags[0].get("y").as_deref(), Some("λ<"));
        assert_eq!(tags[0].get("z"), None);
        assert!(text[tags[0].end..].starts_with(b"<![CDATA["));
        assert!(text[tags[2].end..].starts_with(b"_<Wrong/>"));
    }
}
