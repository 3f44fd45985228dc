//! The table of everything that messages can be about: each kind has a code, and each code a page that `diderotc explain` prints.
//!
//! A page is a file beside this one. It says what the message means and why the language is so, and has a program that is wrong
//! in this way and one that is right; `tests/codes.rs` compiles both. A code without a page does not compile.

use serde::{Serialize, Serializer};
use std::{fmt, ops::Deref};

/// A kind of message: a row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Code(&'static Row);

/// The properties of a kind of message.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Row {
    /// Its name, in kebab case: a word that stays the same whatever messages say.
    pub name: &'static str,
    /// The label at the place, if there is no more exact one.
    pub label: &'static str,
    /// Its meaning, with a wrong and a right program, as Markdown.
    pub page: &'static str,
}

impl Code {
    /// The code with this name.
    pub fn named(name: &str) -> Option<Code> {
        ALL.iter().copied().find(|code| code.name == name)
    }
}

impl Deref for Code {
    type Target = Row;

    fn deref(&self) -> &Row {
        self.0
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name)
    }
}

macro_rules! codes {
    ($($constant:ident $name:literal $label:literal)*) => {
        $(
            #[doc = $label]
            pub const $constant: Code = Code(&Row {
                name: $name,
                label: $label,
                page: include_str!(concat!("codes/", $name, ".md")),
            });
        )*
        /// Every code.
        pub const ALL: &[Code] = &[$($constant,)*];
    };
}

/// Warnings that are off by default.
pub const ON_DEMAND: [Code; 1] = [BROADCAST];

/// Warnings about whole programs, which count only if there are no errors.
pub const OF_RIGHT_PROGRAMS: [Code; 2] = [UNUSED, ENDLESS_STRAND];

#[rustfmt::skip]
codes! {
    // Text
    SYNTAX "syntax" "not expected here"
    MISSING_TOKEN "missing-token" "missing here"
    BAD_CHARACTER "bad-character" "not a character of the language"
    UNKNOWN_SYMBOL "unknown-symbol" "no symbol has this name"
    UNTERMINATED_COMMENT "unterminated-comment" "begins here and never ends"
    UNTERMINATED_STRING "unterminated-string" "begins here and never ends"
    BAD_ESCAPE "bad-escape" "stands for no character"
    BAD_STRING "bad-string" "not printable ASCII"
    REAL_LITERAL "real-literal" "not a number"
    INTEGER_RANGE "integer-range" "too large"
    EMPTY_FILE "empty-file" "there is nothing"
    TOO_MANY_ERRORS "too-many-errors" "reading stops here"
    NESTING "nesting" "too deep"

    // Versions and parts of a program
    VERSION_LINE "version-line" "not a version of the language"
    NO_VERSION "no-version" "read as version 1.0"
    VERSION_SYNTAX "version-syntax" "belongs to the other version"
    MISSING_PART "missing-part" "missing before the end"
    PROGRAM_ORDER "program-order" "out of order"
    STRAND_ORDER "strand-order" "out of order"
    CREATION "creation" "does not create a strand"

    // Imports
    IMPORT_MISSING "import-missing" "cannot be read"
    IMPORT_CIRCLE "import-circle" "leads back to where it came from"
    IMPORT_CONTENTS "import-contents" "does not belong into an imported file"
    IMPORT_VERSION "import-version" "wanted `#version 2.0`"
    UNUSED_IMPORT "unused-import" "not used"

    // Names
    UNDECLARED_VARIABLE "undeclared-variable" "not declared"
    UNKNOWN_FUNCTION "unknown-function" "not a function"
    UNKNOWN_KERNEL "unknown-kernel" "not a kernel"
    UNKNOWN_TYPE "unknown-type" "not a type"
    UNKNOWN_STRAND "unknown-strand" "not the strand"
    UNKNOWN_STATE "unknown-state" "not a state variable"
    UNKNOWN_STRAND_SET "unknown-strand-set" "not a set of strands"
    REDEFINITION "redefinition" "defined again"

    // Types
    TYPE_MISMATCH "type-mismatch" "has another type"
    NO_OVERLOAD "no-overload" "not for these types"
    ARGUMENT_COUNT "argument-count" "wrong number of arguments"
    NOT_A_FUNCTION "not-a-function" "not a function"
    NOT_A_FIELD "not-a-field" "not a field"
    PROBE_POSITION "probe-position" "not one position"
    TIME "time" "over time, or not"
    SELECT_FROM_VALUE "select-from-value" "not a strand"
    NOT_INDEXABLE "not-indexable" "has no elements"
    INDEX_COUNT "index-count" "wrong number of indices"
    INDEX_RANGE "index-range" "out of range"
    SEQUENCE_INDEX "sequence-index" "not one index"
    ELEMENTS_DIFFER "elements-differ" "differs from the first"
    TENSOR_ELEMENT "tensor-element" "not an element of tensors"
    SEQUENCE_ELEMENT "sequence-element" "not an element of sequences"
    CONDITIONAL_BRANCH "conditional-branch" "cannot be chosen"
    ELEMENT_TYPE "element-type" "differs from the elements"
    NOT_A_SEQUENCE "not-a-sequence" "not a sequence"
    NESTED_DYNAMIC_SEQUENCE "nested-dynamic-sequence" "elements of no fixed length"
    PRINT_TYPE "print-type" "has no text"
    BAD_DIMENSION "bad-dimension" "out of range"
    TOO_LARGE "too-large" "too many components"
    TOO_MUCH_CODE "too-much-code" "becomes too large"
    INTEGER_DIVISION "integer-division" "truncated to an integer first"

    // Constants
    NOT_CONSTANT "not-constant" "known only at run time"
    CONSTANT_TYPE "constant-type" "not a type of constants"
    CONSTANT_WITHOUT_VALUE "constant-without-value" "has no value"
    GIVEN_CONSTANT "given-constant" "does not fit the given value"
    NON_CONSTANT_EXPONENT "non-constant-exponent" "not a constant that fits"

    // Fields
    NO_DERIVATIVE "no-derivative" "takes too many derivatives"
    AXIS_KERNELS "axis-kernels" "kernels and axes do not fit"
    FIELD_FUNCTION_TYPE "field-function-type" "not the type of a field"
    UNSUPPORTED "unsupported" "cannot be run"

    // Indices
    INDEX_LEFT_SIDE "index-left-side" "does not fit the type"
    INDEX_EXPRESSION "index-expression" "not a name"
    INDEX_BOUND_TWICE "index-bound-twice" "bound again"
    INDEX_EXTENTS "index-extents" "has another extent"
    INDEX_LABELS "index-labels" "has another label"
    INDEX_NOT_USED "index-not-used" "does not occur"
    INDEX_RANGE_UNKNOWN "index-range-unknown" "has no range"
    INDEX_SYMBOL "index-symbol" "not such indices"
    INDEX_AS_NUMBER "index-as-number" "not a number"
    FIELD_COMPONENTS "field-components" "a field"
    READS_ITSELF "reads-itself" "not known yet"
    CLAUSE_TYPE "clause-type" "not such a clause"
    CLAUSE_OVERLAP "clause-overlap" "says it again"
    CLAUSE_HOLE "clause-hole" "not complete"
    CLAUSE_ORDER "clause-order" "not there yet"
    CLAUSE_OUTSIDE "clause-outside" "does not exist"
    DERIVATIVE_REQUEST "derivative-request" "not a variable"
    DERIVATIVE_PARAMETER "derivative-parameter" "not a number or tensor"
    NOT_DIFFERENTIABLE "not-differentiable" "asked for here"
    STALE_DERIVATIVE "stale-derivative" "asked for too late"
    ZERO_DERIVATIVE "zero-derivative" "is zero"
    INDEX_HIDES "index-hides" "hides a variable"
    INDEX_CONSTANT "index-constant" "does not occur"
    BROADCAST "broadcast" "the same for all"

    // Files
    LOAD_PLACE "load-place" "not loaded here"
    BLUR_PLACE "blur-place" "not smoothed here"
    UNKNOWN_TYPE_OF_FILE "unknown-type-of-file" "has no type of its own"

    // Declarations
    INPUT_TYPE "input-type" "not a type of inputs"
    PARAMETER_TYPE "parameter-type" "not a type of parameters"
    STATE_TYPE "state-type" "not a type of state variables"
    OUTPUT_TYPE "output-type" "not a type of outputs"
    MISSING_VALUE "missing-value" "needs a value"

    // Values and paths
    MAYBE_UNASSIGNED "maybe-unassigned" "may have no value here"
    OUTPUT_UNASSIGNED "output-unassigned" "may have no value"
    MISSING_RETURN "missing-return" "may not return"
    UNREACHABLE "unreachable" "never reached"
    UNUSED "unused" "never used"

    // Statements
    ASSIGNMENT "assignment" "cannot change here"
    CONTINUE_PLACE "continue-place" "not allowed here"
    CONTINUE_IN_LOOP "continue-in-loop" "leaves the whole method"
    EXIT_PLACE "exit-place" "not allowed here"
    NEW_PLACE "new-place" "not allowed here"
    RETURN_PLACE "return-place" "not allowed here"

    // Strands
    NO_UPDATE "no-update" "has no `update`"
    NO_OUTPUT "no-output" "has no `output`"
    DUPLICATE_METHOD "duplicate-method" "defined again"
    ENDLESS_STRAND "endless-strand" "never ends"
    GRID_CONFLICT "grid-conflict" "not in a grid"
    COUNT_PLACE "count-place" "no strands to count here"
    QUERY_PLACE "query-place" "not in a method"
    QUERY_POSITION "query-position" "needs `pos`"
    STRAND_SET "strand-set" "cannot be used like this"

    // Running
    DIVISION_BY_ZERO "division-by-zero" "divides by 0"
    INDEX_OUT_OF_RANGE "index-out-of-range" "no element has this index"
    SEQUENCE_TOO_LONG "sequence-too-long" "grows too long"
    INPUT "input" "cannot be used"
    OUT_OF_MEMORY "out-of-memory" "needs more memory than there is"
    TOO_MANY_STRANDS "too-many-strands" "too many"
    WORKERS "workers" "cannot start"
    PRINT "print" "cannot be written"
    OUTPUT "output" "cannot be written"
    DEVICE "device" "no GPU runs this"
    CLUSTER "cluster" "a rank has left"
}
