//! Names that other languages and textbooks have for our operators, for hints.

/// Functions: their names elsewhere, and what to write here.
#[rustfmt::skip]
const FUNCTIONS: &[(&[&str], &str)] = &[
    (&["mag", "magnitude", "fabs", "len2", "modulus"], "the magnitude of a number and the length of a vector are `|x|`, or `norm(x)`"),
    (&["dist", "distance"], "the distance between points is `|a - b|`"),
    (&["mix", "interpolate"], "linear interpolation is `lerp(a, b, t)`"),
    (&["smoothstep", "step"], "there is no such function; `clamp` and `lerp` make ramps, and `a if c else b` makes steps"),
    (&["convolve", "conv", "convolution"], "an image and a kernel are convolved with `⊛`, or `\\conv`: `bspln3 ⊛ img`"),
    (&["FunctionSpace", "fnspace", "convert", "femFunction"], "the space is read from the file: `load_fem(\"file.vtu\", \"array\")`"),
    (&["toReal", "float", "double", "to_real"], "an int is converted with `real(i)`"),
    (&["toInt", "to_int"], INT),
    (&["int"], INT),
    (&["fmin", "fmax", "minimum", "maximum"], "the functions are called `min` and `max`"),
    (&["mod", "remainder"], "the remainder of reals is `fmod(a, b)`, that of ints is `a % b`"),
    (&["inverse", "invert"], "the inverse of a matrix is `inv(m)`"),
    (&["determinant"], "the determinant of a matrix is `det(m)`"),
    (&["ln"], "the natural logarithm is `log(x)`"),
    (&["power"], "a power is written `x^n`, or `pow(x, y)`"),
    (&["sqr", "square"], "a square is written `x^2`"),
    (&["fract", "frac"], "the fraction of a real is `x - floor(x)`"),
    (&["sign", "sgn", "signum"], "the sign of a real is `1.0 if x > 0.0 else -1.0`"),
    (&["inner", "inner_product"], "the inner product is `a • b`, or `dot(a, b)`"),
    (&["unit", "normalized", "normalise"], "the unit vector of a direction is `normalize(v)`"),
    (&["len", "count"], "the number of elements of a sequence is `length(s)`"),
    (&["gradient"], "the gradient is `∇F`, or `grad(F)`"),
    (&["divergence"], "the divergence is `∇•F`, or `div(F)`"),
    (&["rot", "rotor"], "the curl is `∇×F`, or `curl(F)`"),
    (&["laplace", "Laplacian"], "the Laplacian is `∇²F`, or `laplacian(F)`"),
    (&["hessian", "Hessian"], "the Hessian is `∇⊗∇F`"),
    (&["Jacobian"], "the Jacobian is `∇⊗F`, or `jacobian(F)`"),
    (&["eig", "eigenvalues", "eigvals"], "the eigenvalues of a matrix, largest first, are `evals(m)`"),
    (&["eigenvectors", "eigvecs"], "the eigenvectors of a matrix are `evecs(m)`"),
    (&["random", "rand", "noise"], "nothing is random; a number that looks random can be computed from the strand's parameters"),
    (&["print", "printf"], "`print(…);` is a statement"),
];

const INT: &str = "there is no conversion to int; `floor` and `round` return reals";

/// Values: their names elsewhere, and what to write here.
#[rustfmt::skip]
const VALUES: &[(&[&str], &str)] = &[
    (&["pi", "Pi", "PI", "M_PI"], "the number is written `π`, or `\\pi`"),
    (&["e", "E", "M_E"], "the number is `exp(1.0)`"),
    (&["infinity", "Inf", "INFINITY", "Infinity"], "infinity is written `∞`, or `inf`"),
    (&["NaN", "NAN"], "it is written `nan`"),
    (&["True", "TRUE"], "it is written `true`"),
    (&["False", "FALSE"], "it is written `false`"),
    (&["null", "None", "nil"], "there is no such value; every variable has one of its type"),
    (&["nabla", "del"], "the differential operator is written `∇`, or `\\grad`"),
];

/// What a function of this name is called here.
pub(super) fn function(name: &str) -> Option<String> {
    find(FUNCTIONS, name)
}

/// What a value of this name is called here.
pub(super) fn value(name: &str) -> Option<String> {
    find(VALUES, name)
}

fn find(table: &[(&[&str], &str)], name: &str) -> Option<String> {
    let (_, instead) = table.iter().find(|(names, _)| names.contains(&name))?;
    Some((*instead).to_owned())
}
