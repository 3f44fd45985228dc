//! As much of XML as headers of images need: opening tags and their attributes.

/// The tags of an XML text, one after the other.
pub(crate) struct Tags<'a> {
    pub(crate) text: &'a [u8],
    pub(crate) at: usize,
}

/// An opening tag: its name, its attributes, and where it ends.
#[derive(Clone, Copy)]
pub(crate) struct Tag<'a> {
    pub(crate) name: &'a str,
    attributes: &'a str,
    pub(crate) end: usize,
}

impl<'a> Iterator for Tags<'a> {
    type Item = Tag<'a>;

    fn next(&mut self) -> Option<Tag<'a>> {
        loop {
            let start = self.at + self.text[self.at..].iter().position(|b| *b == b'<')? + 1;
            let end = start + self.text[start..].iter().position(|b| *b == b'>')?;
            self.at = end + 1;
            // Samples may be binary and contain `<`.
            let Ok(tag) = std::str::from_utf8(&self.text[start..end]) else {
                continue;
            };
            if !tag.starts_with(|c: char| c.is_ascii_alphabetic()) {
                continue;
            }
            let length = tag
                .find(|c: char| c.is_ascii_whitespace() || c == '/')
                .unwrap_or(tag.len());
            return Some(Tag {
                name: &tag[..length],
                attributes: &tag[length..],
                end: end + 1,
            });
        }
    }
}

impl<'a> Tag<'a> {
    /// The value of an attribute.
    pub(crate) fn get(&self, name: &str) -> Option<&'a str> {
        attribute(self.attributes, name)
    }
}

/// The value of an attribute.
pub(crate) fn attribute<'a>(attributes: &'a str, name: &str) -> Option<&'a str> {
    let mut rest = attributes;
    while let Some((key, after)) = rest.split_once('=') {
        let after = after.trim_start();
        let quote = after.chars().next().filter(|c| "\"'".contains(*c))?;
        let (value, next) = after[1..].split_once(quote)?;
        if key.trim() == name {
            return Some(value);
        }
        rest = next;
    }
    None
}
