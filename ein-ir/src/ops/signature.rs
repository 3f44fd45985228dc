//! Signatures of operators: the text of a row, its patterns, and what their variables stand for.
//!
//! ```text
//! signature = { pattern } "->" pattern
//! pattern   = "int" | "bool" | "string" | "kernel" | "strand"
//!           | "τ" (any type) | "ν" (any value type) | "η" (any value type or the strand)
//!           | "[" slots "]"                      tensor; in rows that are lifted also a field
//!           | "field(" extent ")[" slots "]" | "image(" extent ")[" slots "]"     `extent,time`: over time
//!           | "fem(" extent ")[" slots "]" | "mesh(" extent ")"
//!           | pattern "{}" | pattern "{" extent "}"    sequence of any length, of a fixed length
//!           | name "×" pattern                   any number of them, which is given the name
//! slot      = number | letter (an extent) | Greek letter (any number of axes)
//! ```
//!
//! An extent that turns out to be 1 does not count as an axis, as in [`Shape`].

use super::Lift;
use crate::{Shape, Type};
use std::collections::BTreeMap;

/// An extent or a sequence of extents in a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    /// This extent.
    Fixed(usize),
    /// An extent with a name.
    Extent(char),
    /// Any number of axes with a common name.
    Shape(char),
}

/// What an argument or a result may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Pattern {
    /// `bool`
    Bool,
    /// `int`
    Int,
    /// `string`
    String,
    /// A kernel of any continuity.
    Kernel,
    /// A strand, whatever its name.
    Strand,
    /// Any of some types, always the same.
    Variable(Variable),
    /// A tensor.
    Tensor(Vec<Slot>),
    /// A field of any continuity, over time or not.
    Field {
        dim: Slot,
        timed: bool,
        shape: Vec<Slot>,
    },
    /// An image, over time or not.
    Image {
        dim: Slot,
        timed: bool,
        shape: Vec<Slot>,
    },
    /// Values on a mesh, of any continuity, over time or not.
    Fem {
        dim: Slot,
        timed: bool,
        shape: Vec<Slot>,
    },
    /// A mesh.
    Mesh(Slot),
    /// A sequence: fixed length, or dynamic.
    Seq(Box<Pattern>, Option<Slot>),
}

/// Which types a variable may stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Variable {
    /// All.
    Any,
    /// Value types.
    Value,
    /// What a sequence may be made of: value types and strands.
    Element,
}

impl Variable {
    /// Whether it may stand for a type.
    pub(crate) fn admits(self, ty: &Type) -> bool {
        match self {
            Variable::Any => true,
            Variable::Value => ty.is_value(),
            Variable::Element => ty.is_element(),
        }
    }
}

/// The arguments and the result of an operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Signature {
    /// One pattern per argument; the last one is repeated if `repeat` is given.
    pub(crate) args: Vec<Pattern>,
    /// The name of the number of repetitions of the last argument.
    pub(crate) repeat: Option<char>,
    /// What the operator gives.
    pub(crate) result: Pattern,
}

/// What the variables of a signature stand for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bindings {
    /// Extents by name; 1 is allowed and means that there is no axis.
    pub(crate) extents: BTreeMap<char, usize>,
    /// Sequences of axes by name.
    pub(crate) shapes: BTreeMap<char, Vec<usize>>,
    /// The type that a type variable stands for; a signature has at most one.
    pub(crate) variable: Option<Type>,
}

impl Signature {
    /// Reads the text of a row. Panics on a mistake in it: rows are part of this crate and tested as a whole.
    pub(crate) fn parse(text: &str) -> Signature {
        let mut reader = Reader { text, rest: text };
        let (mut args, mut repeat) = (Vec::new(), None);
        while !reader.eat("->") {
            assert!(
                repeat.is_none(),
                "only the last argument may be repeated in `{text}`"
            );
            repeat = reader.repetition();
            args.push(reader.pattern());
        }
        let result = reader.pattern();
        assert!(
            reader.rest.trim().is_empty(),
            "`{}` is left of `{text}`",
            reader.rest
        );
        Signature {
            args,
            repeat,
            result,
        }
    }

    /// The patterns for this many arguments, if that number is possible.
    pub(crate) fn patterns(&self, arguments: usize) -> Option<Vec<&Pattern>> {
        let fixed = self.args.len() - usize::from(self.repeat.is_some());
        let fits = match self.repeat {
            None => arguments == fixed,
            Some(_) => arguments > fixed,
        };
        fits.then(|| {
            (0..arguments)
                .map(|k| &self.args[k.min(self.args.len() - 1)])
                .collect()
        })
    }
}

struct Reader<'a> {
    text: &'a str,
    rest: &'a str,
}

impl Reader<'_> {
    fn eat(&mut self, token: &str) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, token: &str) {
        assert!(
            self.eat(token),
            "wanted `{token}` before `{}` in `{}`",
            self.rest,
            self.text
        );
    }

    fn repetition(&mut self) -> Option<char> {
        let mut chars = self.rest.trim_start().chars();
        let name = chars.next()?;
        (chars.next() == Some('×')).then(|| {
            self.rest = chars.as_str();
            name
        })
    }

    fn pattern(&mut self) -> Pattern {
        let mut pattern = if self.eat("[") {
            Pattern::Tensor(self.slots())
        } else if self.eat("field(") {
            let (dim, timed) = self.domain();
            Pattern::Field {
                dim,
                timed,
                shape: self.slots(),
            }
        } else if self.eat("image(") {
            let (dim, timed) = self.domain();
            Pattern::Image {
                dim,
                timed,
                shape: self.slots(),
            }
        } else if self.eat("fem(") {
            let (dim, timed) = self.domain();
            Pattern::Fem {
                dim,
                timed,
                shape: self.slots(),
            }
        } else if self.eat("mesh(") {
            let dim = self.slot();
            self.expect(")");
            Pattern::Mesh(dim)
        } else {
            let words = [
                ("bool", Pattern::Bool),
                ("int", Pattern::Int),
                ("string", Pattern::String),
                ("kernel", Pattern::Kernel),
                ("strand", Pattern::Strand),
                ("τ", Pattern::Variable(Variable::Any)),
                ("ν", Pattern::Variable(Variable::Value)),
                ("η", Pattern::Variable(Variable::Element)),
            ];
            let word = words.into_iter().find(|(word, _)| self.eat(word));
            word.unwrap_or_else(|| panic!("no pattern at `{}` in `{}`", self.rest, self.text))
                .1
        };
        while self.eat("{") {
            let length = (!self.eat("}")).then(|| {
                let length = self.slot();
                self.expect("}");
                length
            });
            pattern = Pattern::Seq(Box::new(pattern), length);
        }
        pattern
    }

    /// A dimension, and whether there is time as well.
    fn domain(&mut self) -> (Slot, bool) {
        let dim = self.slot();
        let timed = self.eat(",time");
        self.expect(")[");
        (dim, timed)
    }

    fn slots(&mut self) -> Vec<Slot> {
        let mut slots = Vec::new();
        while !self.eat("]") {
            slots.push(self.slot());
        }
        slots
    }

    fn slot(&mut self) -> Slot {
        self.rest = self.rest.trim_start();
        let mut chars = self.rest.chars();
        let slot = match chars.next() {
            Some(c) if c.is_ascii_digit() => Slot::Fixed(c as usize - '0' as usize),
            Some(c) if c.is_ascii_lowercase() => Slot::Extent(c),
            Some(c @ 'α'..='ω') => Slot::Shape(c),
            _ => panic!("no extent at `{}` in `{}`", self.rest, self.text),
        };
        self.rest = chars.as_str();
        slot
    }
}

impl Bindings {
    /// Whether no name is bound.
    pub(crate) fn is_empty(&self) -> bool {
        self.extents.is_empty() && self.shapes.is_empty()
    }

    /// Binds a slot that stands for a single extent, or compares it with its binding.
    pub(crate) fn extent(&mut self, slot: Slot, found: usize) -> bool {
        match slot {
            Slot::Fixed(n) => n == found,
            Slot::Extent(name) => *self.extents.entry(name).or_insert(found) == found,
            Slot::Shape(_) => false,
        }
    }

    /// Matches axes, binding unbound names. On failure nothing that was bound changes, but names may be added.
    pub(crate) fn axes(&mut self, slots: &[Slot], dims: &[usize]) -> bool {
        let Some((slot, rest)) = slots.split_first() else {
            return dims.is_empty();
        };
        let known = match slot {
            Slot::Fixed(n) => Some(vec![*n]),
            Slot::Extent(name) => self
                .extents
                .get(name)
                .map(|&n| Shape::new([n]).dims().to_vec()),
            Slot::Shape(name) => self.shapes.get(name).cloned(),
        };
        if let Some(known) = known {
            return dims.starts_with(&known) && self.axes(rest, &dims[known.len()..]);
        }
        match slot {
            Slot::Fixed(_) => false,
            Slot::Extent(name) => match dims.split_first() {
                Some((&n, dims)) => {
                    self.extents.insert(*name, n);
                    self.axes(rest, dims)
                }
                None => false,
            },
            Slot::Shape(name) => {
                // The one sequence that is open takes what the slots after it leave.
                let after = rest.iter().map(|slot| self.width(*slot)).sum::<usize>();
                let Some(taken) = dims.len().checked_sub(after) else {
                    return false;
                };
                self.shapes.insert(*name, dims[..taken].to_vec());
                self.axes(rest, &dims[taken..])
            }
        }
    }

    /// The number of axes a slot takes, if a name that is not bound takes one.
    fn width(&self, slot: Slot) -> usize {
        match slot {
            Slot::Fixed(_) => 1,
            Slot::Extent(name) => usize::from(self.extents.get(&name) != Some(&1)),
            Slot::Shape(name) => self.shapes.get(&name).map_or(0, Vec::len),
        }
    }

    /// What a slot for a single extent is bound to.
    pub(crate) fn extent_of(&self, slot: Slot) -> Option<usize> {
        match slot {
            Slot::Fixed(n) => Some(n),
            Slot::Extent(name) => self.extents.get(&name).copied(),
            Slot::Shape(_) => None,
        }
    }

    /// The shape that slots stand for, if all their names are bound.
    pub(crate) fn shape_of(&self, slots: &[Slot]) -> Option<Shape> {
        let mut dims = Vec::new();
        for slot in slots {
            match slot {
                Slot::Fixed(_) | Slot::Extent(_) => dims.push(self.extent_of(*slot)?),
                Slot::Shape(name) => dims.extend(self.shapes.get(name)?),
            }
        }
        Some(Shape::new(dims))
    }

    /// A pattern of a row that is lifted so, in surface types. Names that are not bound stand for themselves if none is
    /// bound, as where a row is described; else axes that may be anything are an ellipsis.
    pub(crate) fn describe(&self, pattern: &Pattern, lift: Lift) -> String {
        let extent = |slot: &Slot| self.parts(*slot).join(",");
        let time = |timed: bool| if timed { ",time" } else { "" };
        let axes = |slots: &[Slot]| {
            let parts: Vec<String> = slots.iter().flat_map(|slot| self.parts(*slot)).collect();
            format!("[{}]", parts.join(","))
        };
        match pattern {
            Pattern::Bool => "bool".to_owned(),
            Pattern::Int => "int".to_owned(),
            Pattern::String => "string".to_owned(),
            Pattern::Kernel => "kernel".to_owned(),
            Pattern::Strand => "strand".to_owned(),
            Pattern::Variable(_) => match &self.variable {
                Some(bound) => bound.to_string(),
                None => "T".to_owned(),
            },
            Pattern::Tensor(slots) => {
                let tensor = match self.shape_of(slots) {
                    Some(shape) => Type::Tensor(shape).to_string(),
                    None => format!("tensor{}", axes(slots)),
                };
                match lift {
                    Lift::None => tensor,
                    Lift::Pointwise => format!("{tensor} or a field of such"),
                    Lift::Derivative => {
                        format!("field({}){}", extent(&Slot::Extent('d')), axes(slots))
                    }
                }
            }
            Pattern::Field { dim, timed, shape } => {
                format!("field({}{}){}", extent(dim), time(*timed), axes(shape))
            }
            Pattern::Image { dim, timed, shape } => {
                format!("image({}{}){}", extent(dim), time(*timed), axes(shape))
            }
            Pattern::Fem { dim, timed, shape } => {
                format!("fem({}{}){}", extent(dim), time(*timed), axes(shape))
            }
            Pattern::Mesh(dim) => format!("mesh({})", extent(dim)),
            Pattern::Seq(element, None) => format!("{}[]", self.describe(element, Lift::None)),
            Pattern::Seq(element, Some(length)) => {
                let element = self.describe(element, Lift::None);
                format!("{element}[{}]", extent(length))
            }
        }
    }

    /// A slot as far as it is known.
    fn parts(&self, slot: Slot) -> Vec<String> {
        match (slot, self.extent_of(slot)) {
            (Slot::Shape(name), _) => match self.shapes.get(&name) {
                Some(dims) => dims.iter().map(usize::to_string).collect(),
                None if self.is_empty() => vec![name.to_string()],
                None => vec!["…".to_owned()],
            },
            (_, Some(1)) => Vec::new(),
            (_, Some(n)) => vec![n.to_string()],
            (Slot::Extent(name), None) => vec![name.to_string()],
            (Slot::Fixed(n), None) => vec![n.to_string()],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_kind_of_pattern() {
        let signature = Signature::parse("int [α n] field(d)[2] τ{} n×kernel -> image(d)[]{3}");
        assert_eq!(signature.repeat, Some('n'));
        assert_eq!(
            signature.args,
            [
                Pattern::Int,
                Pattern::Tensor(vec![Slot::Shape('α'), Slot::Extent('n')]),
                Pattern::Field {
                    dim: Slot::Extent('d'),
                    timed: false,
                    shape: vec![Slot::Fixed(2)]
                },
                Pattern::Seq(Box::new(Pattern::Variable(Variable::Any)), None),
                Pattern::Kernel,
            ]
        );
        let image = Pattern::Image {
            dim: Slot::Extent('d'),
            timed: false,
            shape: Vec::new(),
        };
        assert_eq!(
            signature.result,
            Pattern::Seq(Box::new(image), Some(Slot::Fixed(3)))
        );
    }

    #[test]
    fn an_open_sequence_of_axes_takes_what_the_others_leave() {
        let mut bindings = Bindings::default();
        let slots = [Slot::Shape('α'), Slot::Extent('n'), Slot::Fixed(4)];
        assert!(bindings.axes(&slots, &[2, 3, 2, 4]));
        assert_eq!(bindings.shapes[&'α'], [2, 3]);
        assert_eq!(bindings.extents[&'n'], 2);
        assert!(!Bindings::default().axes(&slots, &[4]));
        assert!(!Bindings::default().axes(&slots, &[2, 3]));
    }

    #[test]
    fn an_extent_of_one_does_not_count_as_an_axis() {
        let mut bindings = Bindings::default();
        assert!(bindings.extent(Slot::Extent('d'), 1));
        assert!(bindings.axes(&[Slot::Shape('α'), Slot::Extent('d')], &[3]));
        assert_eq!(bindings.shapes[&'α'], [3]);
        assert_eq!(bindings.shape_of(&[Slot::Extent('d')]), Some(Shape::SCALAR));
    }
}
