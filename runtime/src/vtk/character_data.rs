//! The text inside an element, read piece by piece: comments are left out, and CDATA sections count as text.

use std::io::{self, BufRead, Read};

/// The text from here to the next tag, which may touch the last number. Numbers and base64 have no entities.
pub(crate) struct CharacterData<R> {
    text: R,
    /// Bytes of the buffer that are known to be text, so that none is looked at twice.
    clear: usize,
    in_cdata: bool,
    is_over: bool,
}

impl<R: BufRead> CharacterData<R> {
    pub(crate) fn new(text: R) -> CharacterData<R> {
        CharacterData {
            text,
            clear: 0,
            in_cdata: false,
            is_over: false,
        }
    }

    /// Passes over the markup that begins here: a comment, the beginning or the end of a CDATA section. Anything else is a tag.
    fn pass_markup(&mut self) -> io::Result<()> {
        if self.in_cdata {
            self.in_cdata = false;
            return self.pass_until(b"]]>");
        }
        let mut mark = [0; 9];
        self.text.read_exact(&mut mark[..4])?;
        if mark.starts_with(b"<!--") {
            return self.pass_until(b"-->");
        }
        self.is_over = !mark.starts_with(b"<![C");
        if !self.is_over {
            self.text.read_exact(&mut mark[4..])?;
            self.in_cdata = &mark == b"<![CDATA[";
            self.is_over = !self.in_cdata;
        }
        Ok(())
    }

    fn pass_until(&mut self, end: &[u8; 3]) -> io::Result<()> {
        let mut last = [0; 3];
        while last != *end {
            last.rotate_left(1);
            self.text.read_exact(&mut last[2..])?;
        }
        Ok(())
    }
}

impl<R: BufRead> BufRead for CharacterData<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.clear == 0 && !self.is_over {
            let stop = if self.in_cdata { b']' } else { b'<' };
            let buffer = self.text.fill_buf()?;
            let end = buffer.iter().position(|b| *b == stop);
            self.clear = end.unwrap_or(buffer.len());
            self.is_over = buffer.is_empty();
            // A text that ends within markup is cut off, and the numbers before it are all there are.
            if end == Some(0) && self.pass_markup().is_err() {
                self.is_over = true;
            }
        }
        let buffer = self.text.fill_buf()?;
        Ok(&buffer[..self.clear.min(buffer.len())])
    }

    fn consume(&mut self, count: usize) {
        self.clear -= count;
        self.text.consume(count);
    }
}

impl<R: BufRead> Read for CharacterData<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(out)?;
        self.consume(read);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    #[test]
    fn text_goes_on_after_comments_and_in_cdata() {
        for (text, wanted) in [
            ("1 2 </a>3", "1 2 "),
            ("1<!-- > <b> -- -->2<![CDATA[ 3 ]]>4<b/>5", "12 3 4"),
            ("<![CDATA[1]]><![CDATA[2]]></a>", "12"),
            ("1<![XDATA[2]]>", "1"),
            ("1 <!-", "1 "),
            ("1 <!-- 2", "1 "),
            ("", ""),
        ] {
            for capacity in [1, 2, 5, 100] {
                let text = BufReader::with_capacity(capacity, text.as_bytes());
                let mut found = String::new();
                CharacterData::new(text).read_to_string(&mut found).unwrap();
                assert_eq!(found, wanted);
            }
        }
    }
}
