//! Algebra reaches compiled code: what the laws for 0, 1 and coefficients remove is not in the normalized IR, and
//! scalar code has no more operations than the mathematics behind it.

use compiler::{
    front::source::Source,
    high,
    ir::Simple,
    low,
    pipeline::{self, Lowered, Options, Session},
    ssa::{Block, Dialect, Function, Kind, Program, Role},
};
use ein_ir::{Elementary, Term};

/// A program whose `update` gives an expression of this type.
fn lowered(ty: &str, expression: &str) -> Lowered {
    let start = match ty {
        "real" => "0",
        "vec3" => "v0",
        "mat2" => "m0",
        _ => "n0",
    };
    let text = format!(
        "#version 2.0
         input image(3)[] img;
         field#4(3)[] F = img ⊛ bspln5;
         field#3(3)[3] V = ∇F;
         input vec3 v0;
         input mat2 m0;
         input mat3 n0;
         function real raised (real x, int n) = x^n;
         strand S (int i) {{
             vec3 p = [i, i, i];
             vec3 v = v0;
             vec3 w = v0*i;
             mat2 m = m0;
             mat3 n = n0;
             output {ty} r = {start};
             update {{
                 vec3 u = -v;
                 r = {expression};
             }}
         }}
         create_collection {{ S(i) | i in 0..9 }}
         "
    );
    let source = Source::new("numbers.diderot", text);
    match pipeline::lower(&mut Session::default(), &source, &Options::default()) {
        Ok(lowered) => lowered,
        Err(stopped) => panic!("{expression}: {stopped:?}"),
    }
}

/// The operations of `update`, in all blocks.
fn operations<D: Dialect>(program: &Program<D>) -> Vec<D::Op> {
    fn collect<D: Dialect>(block: &Block<D>, found: &mut Vec<D::Op>) {
        for inst in &block.insts {
            if let Kind::Op(op, _) = &inst.kind {
                found.push(op.clone());
            }
            inst.kind
                .blocks()
                .into_iter()
                .for_each(|b| collect(b, found));
        }
    }
    let update: &Function<D> = program.function(Role::Update).expect("an update");
    let mut found = Vec::new();
    collect(&update.body, &mut found);
    found
}

/// The EIN operators of `update`: how many probes, and how many that compute anything else.
fn operators(lowered: &Lowered) -> (usize, usize) {
    let (mut probes, mut others) = (0, 0);
    for op in operations(&lowered.normalized) {
        if let high::Op::Ein(operator) = op {
            match operator.ein.body {
                Term::Probe { .. } => probes += 1,
                Term::Const(_) => {}
                _ => others += 1,
            }
        }
    }
    (probes, others)
}

#[test]
fn what_algebra_removes_is_not_computed() {
    // An expression, its type, and the numbers of probes and of other operators that it compiles to.
    let rows = [
        ("(0*F)(p)", "real", 0, 0),
        ("(1*F)(p)", "real", 1, 0),
        ("(2*F - F - F)(p)", "real", 0, 0),
        ("(zeros[3] + V)(p)", "vec3", 1, 0),
        ("(0.5*(V + V))(p)", "vec3", 1, 0),
        // Coefficients of one field are one coefficient, decimal fractions and signs included.
        ("(0.1*F + 0.2*F - 0.3*F)(p)", "real", 0, 0),
        ("(F/4 + 0.75*F)(p)", "real", 1, 0),
        ("(-(-1*F))(p)", "real", 1, 0),
        ("(V•[0, 1, 0])(p)", "real", 1, 1),
        ("pow(F, 2.0)(p)", "real", 1, 1),
        // The same without fields.
        ("0*v", "vec3", 0, 0),
        ("1*v", "vec3", 0, 0),
        ("2*v - v - v", "vec3", 0, 0),
        ("zeros[3] + v", "vec3", 0, 0),
        ("0.5*(v + v)", "vec3", 0, 0),
        ("inv(inv(n))", "mat3", 0, 0),
        ("n•inv(n)•v", "vec3", 0, 0),
    ];
    for (expression, ty, probes, others) in rows {
        let lowered = lowered(ty, expression);
        assert_eq!(operators(&lowered), (probes, others), "{expression}");
    }
}

/// How often each of these operations is in the Low-IR of `update`.
fn scalar_operations<const N: usize>(
    ty: &str,
    expression: &str,
    counted: [Simple; N],
) -> [usize; N] {
    let found = operations(&lowered(ty, expression).scalarized);
    counted.map(|simple| {
        let same = |op: &&low::Op| **op == low::Op::Simple(simple);
        found.iter().filter(same).count()
    })
}

#[test]
fn cross_products_and_inverses_cost_no_more_than_they_must() {
    use Simple::{Add, Div, Mul, Neg, Sub};
    let counted = [Mul, Add, Sub, Neg, Div];
    assert_eq!(
        scalar_operations("vec3", "v × w", counted),
        [6, 0, 3, 0, 0],
        "two products and a difference for each component"
    );
    assert_eq!(
        scalar_operations("real", "v•(w × p)", counted),
        [9, 2, 3, 0, 0]
    );
    let [mul, add, sub, neg, div] = scalar_operations("mat3", "inv(n)", counted);
    assert!(
        mul <= 30 && add + sub <= 11 && neg <= 3 && div == 1,
        "three by three: {mul} products, {} sums, {neg} signs, {div} quotients",
        add + sub
    );
    let [mul, add, sub, neg, div] = scalar_operations("mat2", "inv(m)", counted);
    assert!(
        mul <= 6 && add + sub <= 1 && neg <= 2 && div == 1,
        "two by two: {mul} products, {} sums, {neg} signs, {div} quotients",
        add + sub
    );
}

#[test]
fn the_norm_of_a_vector_is_that_of_its_negative() {
    let roots = |expression: &str| {
        let lowered = lowered("real", expression);
        let is_root = |op: &low::Op| *op == low::Op::Math(Elementary::Sqrt);
        let found = operations(&lowered.scalarized);
        found.into_iter().filter(is_root).count()
    };
    // The norms are in different regions, so that only scalar code can tell.
    assert_eq!(roots("|v| + (|u| if i > 3 else u[0])"), 1);
}

#[test]
fn an_exponent_that_is_known_where_a_function_is_called_is_multiplied_out() {
    let powers = |expression: &str| {
        let lowered = lowered("real", expression);
        let is_power = |op: &low::Op| *op == low::Op::Math(Elementary::Pow);
        let found = operations(&lowered.scalarized);
        found.into_iter().filter(is_power).count()
    };
    assert_eq!(powers("raised(v[0], 30)"), 0);
    assert_eq!(powers("raised(v[0], i)"), 1);
}
