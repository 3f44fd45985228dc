//! Names that other languages and textbooks have for our operators, for hints.

/// Names elsewhere, the one name that they have here, if there is one, and what to write.
type Row = (&'static [&'static str], Option<&'static str>, &'static str);

/// Functions.
#[rustfmt::skip]
const FUNCTIONS: &[Row] = &[
    (&["mag", "magnitude", "fabs", "len2", "modulus"], Some("norm"), "the magnitude of a number and the length of a vector are `|x|`, or `norm(x)`"),
    (&["dist", "distance"], None, "the distance between points is `|a - b|`"),
    (&["mix", "interpolate"], Some("lerp"), "linear interpolation is `lerp(a, b, t)`"),
    (&["smoothstep", "step"], None, "there is no such function; `clamp` and `lerp` make ramps, and `a if c else b` makes steps"),
    (&["convolve", "conv", "convolution"], None, "an image and a kernel are convolved with `⊛`, or `\\conv`: `bspln3 ⊛ img`"),
    (&["FunctionSpace", "fnspace", "convert", "femFunction"], None, "the space is read from the file: `load_fem(\"file.vtu\", \"array\")`"),
    (&["toReal", "float", "double", "to_real"], Some("real"), "an int is converted with `real(i)`"),
    (&["toInt", "to_int"], None, INT),
    (&["int"], None, INT),
    (&["fmin", "minimum"], Some("min"), MIN_AND_MAX),
    (&["fmax", "maximum"], Some("max"), MIN_AND_MAX),
    (&["mod", "remainder"], Some("fmod"), "the remainder of reals is `fmod(a, b)`, that of ints is `a % b`"),
    (&["inverse", "invert"], Some("inv"), "the inverse of a matrix is `inv(m)`"),
    (&["determinant"], Some("det"), "the determinant of a matrix is `det(m)`"),
    (&["ln"], Some("log"), "the natural logarithm is `log(x)`"),
    (&["power"], Some("pow"), "a power is written `x^n`, or `pow(x, y)`"),
    (&["sqr", "square"], None, "a square is written `x^2`"),
    (&["fract", "frac"], None, "the fraction of a real is `x - floor(x)`"),
    (&["sign", "sgn", "signum"], None, "the sign of a real is `1.0 if x > 0.0 else -1.0`"),
    (&["inner", "inner_product"], Some("dot"), "the inner product is `a • b`, or `dot(a, b)`"),
    (&["unit", "normalized", "normalise"], Some("normalize"), "the unit vector of a direction is `normalize(v)`"),
    (&["len", "count"], Some("length"), "the number of elements of a sequence is `length(s)`"),
    (&["gradient"], Some("grad"), "the gradient is `∇F`, or `grad(F)`"),
    (&["divergence"], Some("div"), "the divergence is `∇•F`, or `div(F)`"),
    (&["rot", "rotor"], Some("curl"), "the curl is `∇×F`, or `curl(F)`"),
    (&["laplace", "Laplacian"], Some("laplacian"), "the Laplacian is `∇²F`, or `laplacian(F)`"),
    (&["hessian", "Hessian"], Some("∇⊗∇"), "the Hessian is `∇⊗∇F`"),
    (&["Jacobian"], Some("jacobian"), "the Jacobian is `∇⊗F`, or `jacobian(F)`"),
    (&["eig", "eigenvalues", "eigvals"], Some("evals"), "the eigenvalues of a matrix, largest first, are `evals(m)`"),
    (&["eigenvectors", "eigvecs"], Some("evecs"), "the eigenvectors of a matrix are `evecs(m)`"),
    (&["random", "rand", "noise"], None, "nothing is random; a number that looks random can be computed from the strand's parameters"),
    (&["print", "printf"], None, "`print(…);` is a statement"),
];

const INT: &str = "there is no conversion to int; `floor` and `round` return reals";

const MIN_AND_MAX: &str = "the functions are called `min` and `max`";

/// Values.
#[rustfmt::skip]
const VALUES: &[Row] = &[
    (&["pi", "Pi", "PI", "M_PI"], Some("π"), "the number is written `π`, or `\\pi`"),
    (&["e", "E", "M_E"], None, "the number is `exp(1.0)`"),
    (&["infinity", "Inf", "INFINITY", "Infinity"], Some("∞"), "infinity is written `∞`, or `inf`"),
    (&["NaN", "NAN"], Some("nan"), "it is written `nan`"),
    (&["True", "TRUE"], Some("true"), "it is written `true`"),
    (&["False", "FALSE"], Some("false"), "it is written `false`"),
    (&["null", "None", "nil"], None, "there is no such value; every variable has one of its type"),
    (&["nabla", "del"], Some("∇"), "the differential operator is written `∇`, or `\\grad`"),
];

/// Types, and words that look like types.
#[rustfmt::skip]
const TYPES: &[Row] = &[
    (&["fem"], None, "values on a mesh have type `fem#k(d)[σ]`, such as `fem#1(3)[]`"),
    (&["mesh"], None, "a mesh has type `mesh(2)` or `mesh(3)`"),
    (&["float", "double"], Some("real"), "real numbers have type `real`"),
    (&["import"], None, "write `import \"file.diderot\";`"),
    (&["boolean"], Some("bool"), "truth values have type `bool`"),
];

/// What to write for something of another language.
pub(super) struct Foreign {
    /// Its name here, if it has one that can take the place of the other.
    pub(super) name: Option<&'static str>,
    /// The text of a hint.
    pub(super) advice: &'static str,
}

/// What to write for a function of another language.
pub(super) fn function(name: &str) -> Option<Foreign> {
    find(FUNCTIONS, name)
}

/// What to write for a value of another language.
pub(super) fn value(name: &str) -> Option<Foreign> {
    find(VALUES, name)
}

/// What to write for a type of another language.
pub(super) fn ty(name: &str) -> Option<Foreign> {
    find(TYPES, name)
}

fn find(table: &[Row], name: &str) -> Option<Foreign> {
    let (_, name, advice) = table.iter().find(|(names, ..)| names.contains(&name))?;
    Some(Foreign {
        name: *name,
        advice,
    })
}
