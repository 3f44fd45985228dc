//! The operators of the dissertation's benchmarks, each probed at a position.

use super::{Sketch, V};
use ein_ir::Region;

/// A named field over leaf fields.
pub(crate) struct Operator {
    pub(crate) name: &'static str,
    pub(crate) field: fn(&mut Sketch) -> V,
}

impl Operator {
    /// The region that probes the field at the input `p`.
    pub(crate) fn region(&self) -> Region {
        let mut sketch = Sketch::default();
        let field = (self.field)(&mut sketch);
        let position = sketch.tensor("p", &[3]);
        let root = sketch.probe(field, position);
        sketch.region(&[root])
    }
}

fn scalar(s: &mut Sketch) -> V {
    s.field("F", 3, &[])
}

fn matrix(s: &mut Sketch) -> V {
    s.field("M", 3, &[3, 3])
}

fn gradient_magnitude(s: &mut Sketch) -> V {
    let f = scalar(s);
    let g = s.grad(f);
    s.norm(g)
}

fn canny(s: &mut Sketch) -> V {
    let f = scalar(s);
    let g = s.grad(f);
    let n = s.norm(g);
    let slope = s.grad(n);
    let along = s.dot(slope, g);
    let edge = s.div(along, n);
    s.neg(edge)
}

/// The geometry tensor and its two principal curvatures.
fn curvature(s: &mut Sketch) -> [V; 3] {
    let f = scalar(s);
    let g = s.grad(f);
    let h = s.grad(g);
    let n = s.op("normalize", &[g]);
    let n = s.neg(n);
    let nn = s.outer(n, n);
    let i = s.identity(3);
    let p = s.sub(i, nn);
    let ph = s.dot(p, h);
    let php = s.dot(ph, p);
    let size = s.norm(g);
    let geometry = s.div(php, size);
    let geometry = s.neg(geometry);
    let trace = s.trace(geometry);
    let square = s.colon(geometry, geometry);
    let twice = s.scaled(2, 1, square);
    let trace2 = s.mul(trace, trace);
    let discriminant = s.sub(twice, trace2);
    let root = s.op("sqrt", &[discriminant]);
    let sum = s.add(trace, root);
    let difference = s.sub(trace, root);
    [geometry, s.scaled(1, 2, sum), s.scaled(1, 2, difference)]
}

fn deviator(s: &mut Sketch, a: V) -> V {
    let trace = s.trace(a);
    let third = s.scaled(1, 3, trace);
    let i = s.identity(3);
    let isotropic = s.mul(third, i);
    s.sub(a, isotropic)
}

fn mode(s: &mut Sketch) -> V {
    let m = matrix(s);
    let e = deviator(s, m);
    let n = s.norm(e);
    let u = s.div(e, n);
    let d = s.det(u);
    let c = s.number(54, 1);
    let c = s.op("sqrt", &[c]);
    s.mul(c, d)
}

fn anisotropy(s: &mut Sketch) -> V {
    let m = matrix(s);
    let e = deviator(s, m);
    let (n, size) = (s.norm(e), s.norm(m));
    let q = s.div(n, size);
    let c = s.number(3, 2);
    let c = s.op("sqrt", &[c]);
    s.mul(c, q)
}

fn helicity(s: &mut Sketch) -> V {
    let v = s.field("V", 3, &[3]);
    let c = s.curl(v);
    let d = s.dot(v, c);
    let (a, b) = (s.norm(v), s.norm(c));
    let ab = s.mul(a, b);
    s.div(d, ab)
}

fn determinant(s: &mut Sketch) -> V {
    let m = matrix(s);
    s.det(m)
}

fn inverse(s: &mut Sketch) -> V {
    let m = matrix(s);
    s.op("inv", &[m])
}

fn symmetric_inverse(s: &mut Sketch) -> V {
    let m = matrix(s);
    let t = s.transpose(m);
    let sum = s.add(m, t);
    let half = s.scaled(1, 2, sum);
    s.op("inv", &[half])
}

fn lamb(s: &mut Sketch) -> V {
    let v = s.field("V", 3, &[3]);
    let c = s.curl(v);
    let cc = s.curl(c);
    s.cross(v, cc)
}

/// Twice the antisymmetric part of the gradient of a vector field.
fn spin(s: &mut Sketch) -> V {
    let v = s.field("V", 3, &[3]);
    let gradient = s.grad(v);
    let transposed = s.transpose(gradient);
    s.sub(gradient, transposed)
}

/// An eigenvalue of the Hessian.
fn eigenvalue(s: &mut Sketch, k: usize) -> V {
    let f = scalar(s);
    let g = s.grad(f);
    let h = s.grad(g);
    let values = s.op("evals", &[h]);
    s.slice(values, &[Some(k)])
}

/// How steep the field is along an eigenvector of its Hessian: zero on ridges and valleys.
fn crease(s: &mut Sketch) -> V {
    let f = scalar(s);
    let g = s.grad(f);
    let h = s.grad(g);
    let vectors = s.op("evecs", &[h]);
    let last = s.slice(vectors, &[Some(2), None]);
    s.dot(last, g)
}

/// All eigenvectors of an arbitrary matrix.
fn eigenvectors(s: &mut Sketch) -> V {
    let m = matrix(s);
    s.op("evecs", &[m])
}

fn eigenvalues(s: &mut Sketch) -> V {
    let m = matrix(s);
    s.op("evals", &[m])
}

fn sine(s: &mut Sketch) -> V {
    let d = determinant(s);
    s.op("sin", &[d])
}

fn d(s: &mut Sketch, field: fn(&mut Sketch) -> V) -> V {
    let field = field(s);
    s.grad(field)
}

fn dd(s: &mut Sketch, field: fn(&mut Sketch) -> V) -> V {
    let gradient = d(s, field);
    s.grad(gradient)
}

fn k1(s: &mut Sketch) -> V {
    curvature(s)[1]
}

fn k2(s: &mut Sketch) -> V {
    curvature(s)[2]
}

#[rustfmt::skip]
pub(crate) const OPERATORS: &[Operator] = &[
    Operator { name: "∇|∇F|", field: |s| d(s, gradient_magnitude) },
    Operator { name: "∇⊗∇|∇F|", field: |s| dd(s, gradient_magnitude) },
    Operator { name: "Canny C", field: canny },
    Operator { name: "∇C", field: |s| d(s, canny) },
    Operator { name: "∇⊗∇C", field: |s| dd(s, canny) },
    Operator { name: "curvature G", field: |s| curvature(s)[0] },
    Operator { name: "k1", field: k1 },
    Operator { name: "k2", field: k2 },
    Operator { name: "k1−k2", field: |s| { let [_, a, b] = curvature(s); s.sub(a, b) } },
    Operator { name: "∇k1", field: |s| d(s, k1) },
    Operator { name: "∇k2", field: |s| d(s, k2) },
    Operator { name: "∇⊗∇k1", field: |s| dd(s, k1) },
    Operator { name: "∇⊗∇k2", field: |s| dd(s, k2) },
    Operator { name: "det M", field: determinant },
    Operator { name: "∇det M", field: |s| d(s, determinant) },
    Operator { name: "∇⊗∇det M", field: |s| dd(s, determinant) },
    Operator { name: "sin(det M)", field: sine },
    Operator { name: "∇sin(det M)", field: |s| d(s, sine) },
    Operator { name: "∇⊗∇sin(det M)", field: |s| dd(s, sine) },
    Operator { name: "mode", field: mode },
    Operator { name: "∇mode", field: |s| d(s, mode) },
    Operator { name: "∇⊗∇mode", field: |s| dd(s, mode) },
    Operator { name: "FA", field: anisotropy },
    Operator { name: "∇FA", field: |s| d(s, anisotropy) },
    Operator { name: "∇⊗∇FA", field: |s| dd(s, anisotropy) },
    Operator { name: "helicity", field: helicity },
    Operator { name: "∇helicity", field: |s| d(s, helicity) },
    Operator { name: "spin", field: spin },
    Operator { name: "inv M", field: inverse },
    Operator { name: "∇inv M", field: |s| d(s, inverse) },
    Operator { name: "∇inv(sym M)", field: |s| d(s, symmetric_inverse) },
    Operator { name: "λ(∇⊗∇F)", field: |s| eigenvalue(s, 0) },
    Operator { name: "∇λ(∇⊗∇F)", field: |s| d(s, |s| eigenvalue(s, 0)) },
    Operator { name: "∇⊗∇λ(∇⊗∇F)", field: |s| dd(s, |s| eigenvalue(s, 1)) },
    Operator { name: "crease", field: crease },
    Operator { name: "∇crease", field: |s| d(s, crease) },
    Operator { name: "∇⊗∇crease", field: |s| dd(s, crease) },
    Operator { name: "∇λ(M)", field: |s| d(s, eigenvalues) },
    Operator { name: "∇e(M)", field: |s| d(s, eigenvectors) },
    Operator { name: "∇⊗(V×∇×∇×V)", field: |s| d(s, lamb) },
];
