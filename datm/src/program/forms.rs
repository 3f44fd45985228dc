//! The forms of programs: the same expression, written and asked for in different ways.
//!
//! What a program must print does not depend on its form. The plain one has the expression in one definition and one probe of
//! it; the others have several of them, put control flow around the probe, or take from inputs what the plain one has as literals.

use super::expression::Parts;
use crate::label::Case;
use crate::random::Stream;
use crate::types::Type;
use std::fmt;
use std::str::FromStr;

/// What a form needs of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Needs {
    /// Nothing.
    Nothing,
    /// Positions: a field, or what depends on its values.
    Position,
    /// A field.
    Field,
}

/// How a field over time is made whose derivative by time is a field of the case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OverTime {
    /// The field times t².
    Formulas,
    /// An image over time, whose frames are the image times t².
    Frames,
}

/// One form of programs.
#[derive(Debug, PartialEq, Eq)]
pub struct ProgramForm {
    /// The name in labels.
    pub name: &'static str,
    /// The feature that sets it apart from other forms.
    pub shows: &'static str,
    needs: Needs,
    /// Whether it can be written in version 1.0.
    pub(super) in_version_1: bool,
    /// Whether tensors, images and positions are inputs.
    pub(super) inputs: bool,
    /// Whether fields are derivatives by time of fields over time, where they are images, and how those are made.
    pub(super) over_time: Option<OverTime>,
    /// How the expression is cut into definitions.
    pub(super) parts: Parts,
    /// The position that is not the strand's own `x`, if there is one.
    pub(super) there: &'static str,
    /// Everything between the definitions and the creation of strands, with `$` before words that stand for parts of it and
    /// ⟨⟩ around the places of sequences.
    pub(super) strand: &'static str,
}

/// Which form the program of a case has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormChoice {
    /// This one.
    One(&'static ProgramForm),
    /// Any that fits, drawn for each case.
    Any,
}

const PLAIN: ProgramForm = ProgramForm {
    name: "plain",
    shows: "one definition, one probe",
    needs: Needs::Nothing,
    in_version_1: true,
    inputs: false,
    over_time: None,
    parts: Parts::Whole,
    there: "y",
    strand: "\
strand evaluate (int i) {
    $own
    output $type value = $zero;
    output int valid = 0;
    update {
        $locals
        value = $value;
        if ($inside) valid = 1;
        stabilize;
    }
}
",
};

/// Every form, the plain one first.
pub const PROGRAM_FORMS: &[ProgramForm] = &[
    PLAIN,
    ProgramForm {
        name: "inline",
        shows: "no definition: the expression itself is probed",
        needs: Needs::Field,
        parts: Parts::Inline,
        ..PLAIN
    },
    ProgramForm {
        name: "local",
        shows: "a field that is defined in a method",
        needs: Needs::Field,
        parts: Parts::Local,
        ..PLAIN
    },
    ProgramForm {
        name: "parts",
        shows: "a definition for every operator",
        parts: Parts::Each,
        ..PLAIN
    },
    ProgramForm {
        name: "indices",
        shows: "a definition by index for every operator",
        in_version_1: false,
        parts: Parts::Indices,
        ..PLAIN
    },
    ProgramForm {
        name: "values",
        shows: "several probes, and operators on their values",
        needs: Needs::Field,
        parts: Parts::Values,
        ..PLAIN
    },
    ProgramForm {
        name: "functions",
        shows: "field functions, whose bodies probe other fields",
        needs: Needs::Position,
        in_version_1: false,
        parts: Parts::Functions,
        ..PLAIN
    },
    ProgramForm {
        name: "time",
        shows: "fields over time, which are derivatives by time",
        needs: Needs::Field,
        in_version_1: false,
        over_time: Some(OverTime::Formulas),
        ..PLAIN
    },
    ProgramForm {
        name: "frames",
        shows: "images over time, and derivatives by time of their fields",
        needs: Needs::Field,
        in_version_1: false,
        over_time: Some(OverTime::Frames),
        ..PLAIN
    },
    ProgramForm {
        name: "inputs",
        shows: "tensors, images and positions that are inputs",
        inputs: true,
        ..PLAIN
    },
    ProgramForm {
        name: "called",
        shows: "a function around the expression",
        strand: "\
function $type answer (int n$parameter) {
    $type found = $zero;
    if (n >= 0) found = $value;
    return found;
}
strand evaluate (int i) {
    $own
    output $type value = $zero;
    output int valid = 0;
    update {
        value = answer(i$argument);
        if ($inside) valid = 1;
        stabilize;
    }
}
",
        ..PLAIN
    },
    ProgramForm {
        name: "passed",
        shows: "a function that is given a field",
        needs: Needs::Field,
        in_version_1: false,
        strand: "\
function $type ask ($field F, $place p) = F(p);
strand evaluate (int i) {
    $own
    output $type value = $zero;
    output int valid = 0;
    update {
        value = ask(G, x);
        if ($inside) valid = 1;
        stabilize;
    }
}
",
        ..PLAIN
    },
    ProgramForm {
        name: "initial",
        shows: "a value that is computed when the strand is created",
        strand: "\
strand evaluate (int i) {
    $own
    output $type value = $value;
    output int valid = 1 if $inside else 0;
    update {
        stabilize;
    }
}
",
        ..PLAIN
    },
    ProgramForm {
        name: "branches",
        shows: "neighbouring strands probe in different branches",
        strand: "\
strand evaluate (int i) {
    $own
    output $type value = $zero;
    output int valid = 0;
    update {
        if (i % 2 == 0) {
            value = $value;
        } else {
            $other
            value = $there;
        }
        if ($inside) valid = 1;
        stabilize;
    }
}
",
        ..PLAIN
    },
    ProgramForm {
        name: "loop",
        shows: "a loop around a probe at positions that all strands share",
        needs: Needs::Position,
        in_version_1: false,
        strand: "\
strand evaluate (int i) {
    $own
    output $type value = $zero;
    output int valid = 0;
    update {
        foreach (int k in 0..$last) {
            $place y = positions⟨k⟩;
            $type found = $there;
            if (k == i) value = found;
        }
        if ($inside) valid = 1;
        stabilize;
    }
}
",
        ..PLAIN
    },
    ProgramForm {
        name: "guarded",
        shows: "a probe in a branch in a loop, for one strand at a time",
        needs: Needs::Position,
        in_version_1: false,
        strand: "\
strand evaluate (int i) {
    $own
    output $type value = $zero;
    output int valid = 0;
    update {
        foreach (int k in 0..$last) {
            $place y = positions⟨k⟩;
            if (k == i) {
                value = $there;
                if ($inside) valid += 1;
            }
        }
        stabilize;
    }
}
",
        ..PLAIN
    },
    ProgramForm {
        name: "steps",
        shows: "strands that probe in different super-steps",
        needs: Needs::Position,
        strand: "\
strand evaluate (int i) {
    $own
    output $type value = $zero;
    output int valid = 0;
    int k = 0;
    update {
        $place y = positions⟨k⟩;
        value = $there;
        if (k == i) {
            if ($inside) valid = 1;
            stabilize;
        }
        k += 1;
    }
}
",
        ..PLAIN
    },
    ProgramForm {
        name: "reduced",
        shows: "a reduction over probes",
        needs: Needs::Position,
        in_version_1: false,
        there: "positions⟨k⟩",
        strand: "\
strand evaluate (int i) {
    $own
    output $type value = $zero;
    output int valid = 0;
    update {
        value = sum { (1.0 if k == i else 0.0)*($there) | k in 0..$last };
        if ($inside) valid = 1;
        stabilize;
    }
}
",
        ..PLAIN
    },
];

impl ProgramForm {
    /// Whether an expression with this result can have this form.
    fn fits(&self, result: Type) -> bool {
        match self.needs {
            Needs::Nothing => true,
            Needs::Position => result.varies(),
            Needs::Field => result.is_field(),
        }
    }
}

impl FormChoice {
    /// The plain form.
    pub const PLAIN: FormChoice = FormChoice::One(&PROGRAM_FORMS[0]);

    /// The form of a case's program.
    pub(crate) fn form(self, case: &Case, result: Type) -> Result<&'static ProgramForm, String> {
        match self {
            FormChoice::One(form) if form.fits(result) => Ok(form),
            FormChoice::One(form) => Err(format!("no program of the form `{form}`")),
            FormChoice::Any => {
                let fitting: Vec<&ProgramForm> = PROGRAM_FORMS
                    .iter()
                    .filter(|form| form.fits(result))
                    .collect();
                let mut stream = Stream::new(&[&case.to_string(), "program"]);
                Ok(*stream.choose(&fitting))
            }
        }
    }
}

impl fmt::Display for ProgramForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl fmt::Display for FormChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FormChoice::One(form) => write!(f, "{form}"),
            FormChoice::Any => f.write_str("any"),
        }
    }
}

impl FromStr for FormChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<FormChoice, String> {
        if text == "any" {
            return Ok(FormChoice::Any);
        }
        let form = PROGRAM_FORMS.iter().find(|form| form.name == text);
        form.map(FormChoice::One).ok_or_else(|| {
            let names: Vec<&str> = PROGRAM_FORMS.iter().map(|form| form.name).collect();
            format!(
                "found the form `{text}`, wanted any or one of {}",
                names.join(", ")
            )
        })
    }
}
