//! Border control: which sample stands where an image has none.

/// How an image is continued beyond its edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Border {
    /// Not at all: probes must stay inside.
    Plain,
    /// By the nearest sample, the default, because the program does not set a border.
    Unsaid,
    /// By the nearest sample.
    Clamp,
    /// By the image again and again.
    Wrap,
    /// By its reflections, the outermost sample repeated.
    Mirror,
    /// By one value.
    Constant,
    /// Any of these but the first, drawn for each field.
    Any,
}

/// The borders that `Any` stands for.
pub(crate) const CONTINUED: [Border; 5] = [
    Border::Unsaid,
    Border::Clamp,
    Border::Wrap,
    Border::Mirror,
    Border::Constant,
];

impl Border {
    /// The sample that stands at place `i` of an axis with `n` samples; none where it is the border's own value.
    pub(crate) fn source(self, i: i64, n: i64) -> Option<i64> {
        match self {
            Border::Plain | Border::Any => Some(i),
            Border::Unsaid | Border::Clamp => Some(i.clamp(0, n - 1)),
            Border::Wrap => Some(i.rem_euclid(n)),
            Border::Mirror => {
                let place = i.rem_euclid(2 * n);
                Some(if place < n { place } else { 2 * n - 1 - place })
            }
            Border::Constant => (0..n).contains(&i).then_some(i),
        }
    }

    /// The image `text` with this border, whose own value, if it has one, is written `value`.
    pub(crate) fn around(self, text: &str, value: impl Fn() -> String) -> String {
        match self {
            Border::Plain | Border::Unsaid | Border::Any => text.to_string(),
            Border::Clamp => format!("clamp({text})"),
            Border::Wrap => format!("wrap({text})"),
            Border::Mirror => format!("mirror({text})"),
            Border::Constant => format!("border({text}, {})", value()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_continue_as_the_language_says() {
        let continued =
            |border: Border| -> Vec<Option<i64>> { (-5..8).map(|i| border.source(i, 3)).collect() };
        let all = |places: [i64; 13]| places.map(Some).to_vec();
        assert_eq!(
            continued(Border::Clamp),
            all([0, 0, 0, 0, 0, 0, 1, 2, 2, 2, 2, 2, 2])
        );
        assert_eq!(continued(Border::Unsaid), continued(Border::Clamp));
        assert_eq!(
            continued(Border::Wrap),
            all([1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1])
        );
        assert_eq!(
            continued(Border::Mirror),
            all([1, 2, 2, 1, 0, 0, 1, 2, 2, 1, 0, 0, 1])
        );
        let constant = continued(Border::Constant);
        assert_eq!(constant.iter().flatten().collect::<Vec<_>>(), [&0, &1, &2]);
    }
}
