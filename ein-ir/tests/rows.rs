//! Every row of the operator table that EIN can express, at several shapes and in every mix of tensors and fields: the
//! reference meaning of its EIN operator is what the row's oracle says, and so are the derivatives.

use ein_ir::ops::{
    Form, Instance, Meaning, OPERATORS, OpDef, Variety, resolve_as, special, spelling,
};
use ein_ir::{
    Continuity, Ein, Input, Jet, LeafField, Param, PolynomialField, Rational, Shape, Tensor, Type,
    random_numbers,
};

/// How many derivatives of each result are compared.
const ORDER: usize = 2;
/// How far arguments stay from the edge of an operator's domain; nearer, rounding would count.
const MARGIN: f64 = 0.1;

fn variety() -> Variety {
    Variety {
        dims: vec![1, 2, 3],
        extents: vec![2, 3],
        shapes: [&[][..], &[2], &[3, 2]].map(Shape::from).to_vec(),
        counts: vec![1, 2, 3],
        continuity: Continuity::Infinite,
    }
}

/// An argument and its expansion around a position.
enum Argument {
    Tensor(Tensor<f64>),
    Field(PolynomialField),
}

impl Argument {
    fn random(ty: &Type, seed: u64) -> Argument {
        match ty {
            Type::Int => Argument::Tensor(Tensor::scalar((seed % 6) as f64 - 1.0)),
            Type::Tensor(shape) => {
                let numbers = random_numbers(seed).take(shape.size());
                Argument::Tensor(Tensor::new(shape.clone(), numbers.collect()))
            }
            Type::Field { dim, shape, .. } => Argument::Field(PolynomialField::random(
                *dim,
                shape.clone(),
                ORDER + 2,
                seed,
            )),
            other => panic!("no random {other}"),
        }
    }

    fn input(&self) -> Input<'_> {
        match self {
            Argument::Tensor(tensor) => Input::Tensor(tensor.clone()),
            Argument::Field(field) => Input::Field(field),
        }
    }

    fn expand(&self, at: &[f64], order: usize) -> Tensor<Jet> {
        match self {
            Argument::Tensor(tensor) => tensor.map(|&x| Jet::constant(at.len(), order, x)),
            Argument::Field(field) => Tensor::new(field.shape(), field.expand(at, order)),
        }
    }
}

fn random_position(dim: usize, seed: u64) -> Vec<f64> {
    random_numbers(seed).take(dim).collect()
}

/// What the EIN operator of an instance gives: the elements of a sequence are along the first axis.
fn result(instance: &Instance) -> Option<Param> {
    let Type::Seq(element, Some(n)) = &instance.result else {
        return Param::of(&instance.result);
    };
    let whole = |shape: Shape| Shape::new([*n]).append(shape.dims());
    Some(match Param::of(element)? {
        Param::Tensor(shape) => Param::Tensor(whole(shape)),
        Param::Field { dim, shape } => Param::Field {
            dim,
            shape: whole(shape),
        },
    })
}

/// Random arguments of an instance inside the domain of its row, the point, and their expansions for the oracle.
fn arguments(instance: &Instance) -> (Vec<Argument>, Vec<f64>, Vec<Tensor<Jet>>) {
    let dim = result(instance).and_then(|param| param.dim()).unwrap_or(0);
    for seed in 1.. {
        let at = random_position(dim, seed);
        let args: Vec<Argument> = (instance.args.iter().zip(0..))
            .map(|(ty, k)| Argument::random(ty, 100 * seed + k))
            .collect();
        // More orders than are compared, because derivatives lose some.
        let order = ORDER + instance.row.derivatives as usize;
        let expanded: Vec<Tensor<Jet>> = match instance.row.name {
            "probe" | "compose" => {
                let place = args[1].expand(&at, order);
                let position: Vec<f64> = place.components().iter().map(Jet::value).collect();
                vec![args[0].expand(&position, order), place]
            }
            _ => args.iter().map(|arg| arg.expand(&at, order)).collect(),
        };
        let inside = |&(k, domain): &(usize, ein_ir::ops::Domain)| {
            domain.margin(&expanded[k].map(Jet::value)) > MARGIN
        };
        if instance.row.domain.iter().all(inside) {
            return (args, at, expanded);
        }
    }
    unreachable!("seeds do not end")
}

#[track_caller]
fn assert_same(found: &Tensor<Jet>, wanted: &Tensor<Jet>, what: &str) {
    assert_eq!(found.shape(), wanted.shape(), "{what}");
    for (f, w) in found.components().iter().zip(wanted.components()) {
        let w = w.truncate(ORDER.min(w.order()));
        assert_eq!(f.coefficients().len(), w.coefficients().len(), "{what}");
        for (f, w) in f.coefficients().iter().zip(w.coefficients()) {
            // Coefficients near the edge of a domain are up to a few thousand; doubles have 16 digits.
            assert!(
                (f - w).abs() <= 1e-9 * (1.0 + w.abs()),
                "{what}: {f} instead of {w}"
            );
        }
    }
}

fn check(row: &OpDef, ein: &Ein, instance: &Instance) {
    let what = format!("{} at {:?}: {ein}", row.name, instance.args);
    assert_eq!(ein.verify(), [], "{what}");
    assert_eq!(Some(ein.result()), result(instance), "{what}");
    let (args, at, expanded) = arguments(instance);
    let inputs: Vec<Input> = args.iter().map(Argument::input).collect();
    let found = ein.expand(&inputs, &at, ORDER);
    assert_same(&found, &row.expected(&expanded).expect("an oracle"), &what);
    if at.is_empty() {
        let values = ein.eval(&inputs);
        assert_eq!(values, found.map(Jet::value), "{what}");
    }
}

#[test]
fn every_row_means_what_its_oracle_says() {
    let mut instances = 0;
    for row in &OPERATORS {
        match row.meaning {
            // A type that only the surroundings say, and what else depends on more than the arguments, is tested below.
            Meaning::Ein(_) if row.sig.starts_with("->") => continue,
            Meaning::Ein(_) | Meaning::Elementary(_) => {}
            Meaning::Form(Form::Probe | Form::Concat | Form::Swap) => {}
            Meaning::Form(Form::Slice | Form::Power) => continue,
            Meaning::Builtin(_) => continue,
        }
        let all = row.instances(&variety());
        assert!(!all.is_empty(), "no instance of {}", row.name);
        for instance in &all {
            check(row, &instance.ein().expect("an EIN operator"), instance);
        }
        instances += all.len();
    }
    assert!(instances > 500, "{instances} instances");
}

#[test]
fn fields_in_the_place_of_tensors_mean_the_same_pointwise() {
    // As in the body of a field function, where the variable is typed as a tensor.
    for row in OPERATORS
        .iter()
        .filter(|row| matches!(row.meaning, Meaning::Ein(_)))
    {
        for instance in row.instances(&variety()) {
            let is_tensor = |ty: &Type| matches!(ty, Type::Tensor(_));
            if !instance.args.iter().all(is_tensor) {
                continue;
            }
            let lifted: Vec<Type> = (instance.args.iter())
                .map(|ty| match ty {
                    Type::Tensor(shape) => Type::Field {
                        continuity: Continuity::Infinite,
                        dim: 2,
                        time: None,
                        shape: shape.clone(),
                    },
                    other => other.clone(),
                })
                .collect();
            let params: Vec<Param> = lifted.iter().filter_map(Param::of).collect();
            let over = instance.ein_over(&params).expect("an EIN operator");
            assert_eq!(
                over.body,
                instance.ein().expect("an EIN operator").body,
                "{}",
                row.name
            );
            assert_eq!(
                over.result().dim(),
                (!params.is_empty()).then_some(2),
                "{}",
                row.name
            );
        }
    }
}

#[test]
fn powers_are_repeated_products_and_quotients() {
    let row = OpDef::named("power").expect("a row");
    for base in [
        Type::REAL,
        Type::Field {
            continuity: Continuity::Infinite,
            dim: 2,
            time: None,
            shape: Shape::SCALAR,
        },
    ] {
        for n in -3..=4 {
            let instance = row.accept(&[base.clone(), Type::Int], false).expect("fits");
            let (args, at, mut expanded) = arguments(&instance);
            expanded[1] = expanded[1].map(|jet| Jet::constant(jet.dim(), jet.order(), n.into()));
            let ein = instance.with_exponent(n).ein().expect("an EIN operator");
            let found = ein.expand(&[args[0].input()], &at, ORDER);
            assert_same(
                &found,
                &row.expected(&expanded).expect("an oracle"),
                &format!("{ein}"),
            );
        }
    }
}

#[test]
fn forms_with_static_parameters_mean_what_they_say() {
    let cube = Tensor::from_fn(&Shape::new([2, 3, 4]), |i| {
        (100 * i[0] + 10 * i[1] + i[2]) as f64
    });
    let part = Instance::slice(&Type::tensor(&[2, 3, 4]), vec![None, Some(2), None]);
    let part = part.expect("a part");
    assert_eq!(part.result, Type::tensor(&[2, 4]));
    let part = part.ein().expect("an EIN operator");
    assert_eq!(part.verify(), []);
    let wanted = Tensor::from_fn(&Shape::new([2, 4]), |i| (100 * i[0] + 20 + i[1]) as f64);
    assert_eq!(part.eval(&[Input::Tensor(cube)]), wanted);

    let filled = |spelling: &str, dims: &[usize]| {
        let instance = resolve_as(spelling, &[], Some(&Type::tensor(dims)));
        let ein = instance.expect("fits").ein().expect("an EIN operator");
        assert_eq!(ein.verify(), []);
        ein.eval(&[])
    };
    let wanted = Tensor::from_fn(&Shape::new([3, 3]), |i| f64::from(i[0] == i[1]));
    assert_eq!(filled(spelling::IDENTITY, &[3, 3]), wanted);
    let wanted = Tensor::from_fn(&Shape::new([2, 3]), |_| 0.0);
    assert_eq!(filled(spelling::ZEROS, &[2, 3]), wanted);

    let shape = Shape::new([2, 3]);
    for components in [[0, 0, 7, 0, -2, 0], [5; 6], [0; 6], [1, 2, 3, 4, 5, 6]] {
        let thirds = components.map(|n| Rational::new(n, 3));
        let literal = special::literal(&shape, &thirds);
        assert_eq!(literal.verify(), []);
        let wanted = components.map(|n| n as f64 / 3.0);
        assert_eq!(
            literal.eval(&[]),
            Tensor::new(shape.clone(), wanted.to_vec())
        );
    }

    for dim in 1..=3 {
        let identity = special::position(dim);
        assert_eq!(identity.verify(), []);
        let at = random_position(dim, 7);
        let place = identity.expand(&[], &at, 1);
        assert_eq!(place.map(Jet::value).components(), at);
        for (k, coordinate) in place.components().iter().enumerate() {
            for axis in 0..dim {
                assert_eq!(coordinate.partial(&[axis]), f64::from(axis == k));
            }
        }
    }
}

#[test]
fn a_probe_takes_the_value_at_the_position() {
    let field = PolynomialField::random(2, Shape::new([3]), 3, 5);
    let at = [0.25, -0.5];
    let probe = special::probe(
        Param::Field {
            dim: 2,
            shape: Shape::new([3]),
        },
        Param::Tensor(Shape::new([2])),
    );
    assert_eq!(probe.verify(), []);
    let position = Tensor::new(Shape::new([2]), at.to_vec());
    let found = probe.eval(&[Input::Field(&field), Input::Tensor(position)]);
    let wanted: Vec<f64> = field.expand(&at, 0).iter().map(Jet::value).collect();
    assert_eq!(found.components(), wanted);
}
