//! Reading the printed text of a random tree gives the same tree.

mod trees;

use compiler::front::{
    source::Span,
    syntax::{
        ast::*,
        operators::{self, Position},
        print,
    },
};
use proptest::{prelude::*, test_runner::RngSeed};
use trees::{parse_right, without_spans};

const NOWHERE: Span = Span { start: 0, end: 0 };

fn expr(kind: ExprKind) -> Expr {
    let span = NOWHERE;
    Expr { kind, span }
}

fn word() -> impl Strategy<Value = String> {
    prop::sample::select(&["a", "b", "x'", "α", "F", "sum", "q_1", "start0"][..])
        .prop_map(str::to_owned)
}

fn name() -> impl Strategy<Value = Name> {
    word().prop_map(|text| Name {
        text,
        span: NOWHERE,
    })
}

fn symbol(position: Position) -> impl Strategy<Value = Operator> {
    // The levels of the tree's own variants have no symbols in it.
    let own = ["&&", "||", ".."];
    let symbols: Vec<&'static str> = operators::spellings()
        .filter(|spelling| spelling.position == position && !own.contains(&spelling.symbol))
        .map(|spelling| spelling.symbol)
        .collect();
    prop::sample::select(symbols).prop_map(|symbol| Operator {
        symbol,
        span: NOWHERE,
    })
}

fn number() -> impl Strategy<Value = Expr> {
    (0..30u32).prop_map(|n| expr(ExprKind::Int(n.to_string())))
}

fn dims() -> impl Strategy<Value = Vec<Expr>> {
    prop::collection::vec(number(), 0..3)
}

fn leaf() -> impl Strategy<Value = Expr> {
    prop_oneof![
        word().prop_map(|name| expr(ExprKind::Name(name))),
        number(),
        prop::sample::select(&["1.5", "0.25e-3", "π", "∞"][..])
            .prop_map(|text| expr(ExprKind::Real(text.to_owned()))),
        "[ -~\t\n\u{80}-\u{ff}]{0,6}".prop_map(|text| expr(ExprKind::String(text))),
        any::<bool>().prop_map(|value| expr(ExprKind::Bool(value))),
        dims().prop_map(|shape| expr(ExprKind::Zeros(shape))),
        dims().prop_map(|shape| expr(ExprKind::Nan(shape))),
        number().prop_map(|size| expr(ExprKind::Identity(Box::new(size)))),
        Just(expr(ExprKind::LoadImage(Box::new(expr(ExprKind::String(
            "f.nrrd".to_owned()
        )))))),
        Just(expr(ExprKind::LoadSequence(Box::new(expr(
            ExprKind::String("s.nrrd".to_owned())
        ))))),
    ]
}

type BoxedExpr = BoxedStrategy<Expr>;

/// Expressions of a version.
fn expression(version: Version) -> BoxedExpr {
    leaf()
        .prop_recursive(5, 40, 3, move |inner| {
            let boxed = || inner.clone().prop_map(Box::new);
            let list = |least: usize| prop::collection::vec(inner.clone(), least..4);
            let iter = || {
                (name(), inner.clone()).prop_map(|(name, source)| Box::new(Iter { name, source }))
            };
            let subscript = prop_oneof![
                Just(Subscript::All),
                inner.clone().prop_map(Subscript::At)
            ];
            let both = prop_oneof![
                4 => (symbol(Position::Infix), boxed(), boxed()).prop_map(|(op, left, right)| ExprKind::Infix { op, left, right }),
                2 => (symbol(Position::Prefix), boxed()).prop_map(|(op, operand)| ExprKind::Prefix { op, operand }),
                1 => (boxed(), boxed()).prop_map(|(a, b)| ExprKind::And(a, b)),
                1 => (boxed(), boxed()).prop_map(|(a, b)| ExprKind::Or(a, b)),
                1 => (boxed(), boxed(), boxed()).prop_map(|(then, condition, otherwise)| ExprKind::If { then, condition, otherwise }),
                2 => boxed().prop_map(ExprKind::Norm),
                1 => (boxed(), list(0)).prop_map(|(callee, args)| ExprKind::Call { callee, args }),
                1 => (boxed(), prop::collection::vec(subscript, 1..3)).prop_map(|(base, subscripts)| ExprKind::Subscript { base, subscripts }),
                1 => (boxed(), boxed(), iter()).prop_map(|(callee, body, iter)| ExprKind::CallComprehension { callee, body, iter }),
                1 => (boxed(), name()).prop_map(|(base, member)| ExprKind::Select { base, member }),
                1 => list(1).prop_map(ExprKind::Tensor),
                1 => list(0).prop_map(ExprKind::Sequence),
                1 => boxed().prop_map(ExprKind::RealCast),
            ];
            let own = match version {
                Version::V1 => (boxed(), boxed()).prop_map(|(base, index)| ExprKind::BraceIndex { base, index }).boxed(),
                Version::V2 => prop_oneof![
                    (boxed(), boxed()).prop_map(|(a, b)| ExprKind::Range(a, b)),
                    (boxed(), iter()).prop_map(|(body, iter)| ExprKind::Comprehension { body, iter }),
                    (list(1), boxed()).prop_map(|(indices, operand)| ExprKind::Partial { indices, operand }),
                    (differentiated(), differentiated()).prop_map(|(target, parameter)| ExprKind::Request { target, parameter }),
                    boxed().prop_map(ExprKind::LoadImage),
                    (name(), number()).prop_map(|(kernel, k)| ExprKind::KernelAs { kernel, continuity: Box::new(k) }),
                ].boxed(),
            };
            prop_oneof![8 => both, 1 => own].prop_map(expr)
        })
        .boxed()
}

/// What stands after `∂` in a quotient.
fn differentiated() -> impl Strategy<Value = Box<Expr>> {
    (word(), prop::collection::vec(number(), 0..3)).prop_map(|(name, at)| {
        let whole = expr(ExprKind::Name(name));
        Box::new(match at.is_empty() {
            true => whole,
            false => expr(ExprKind::Subscript {
                base: Box::new(whole),
                subscripts: at.into_iter().map(Subscript::At).collect(),
            }),
        })
    })
}

/// Where indices are bound.
fn binders() -> impl Strategy<Value = Vec<Subscript>> {
    let index = || word().prop_map(|name| expr(ExprKind::Name(name)));
    let range =
        || (number(), number()).prop_map(|(a, b)| expr(ExprKind::Range(Box::new(a), Box::new(b))));
    let binder = prop_oneof![
        index().prop_map(Subscript::At),
        (index(), range()).prop_map(|(index, range)| Subscript::In(index, range)),
    ];
    prop::collection::vec(binder, 1..3)
}

/// What only the value of a definition can be.
fn definition() -> impl Strategy<Value = Expr> {
    let body = || expression(Version::V2);
    let by_index = (binders(), body()).prop_map(|(binders, body)| {
        expr(ExprKind::Indexed {
            binders,
            body: Box::new(body),
        })
    });
    let clause = (name(), binders(), body()).prop_map(|(name, slots, body)| Clause {
        name,
        slots,
        body: ClauseBody::Expr(body),
        span: NOWHERE,
    });
    let clauses = prop::collection::vec(clause, 1..3).prop_map(|all| expr(ExprKind::Clauses(all)));
    prop_oneof![by_index, clauses]
}

fn ty(version: Version) -> BoxedStrategy<TypeExpr> {
    let at = |kind| TypeExpr {
        kind,
        span: NOWHERE,
    };
    let dim = move || match version {
        Version::V1 => number().boxed(),
        Version::V2 => expression(version),
    };
    let shape = move || prop::collection::vec(dim(), 0..3);
    let basic = prop_oneof![
        Just(TypeExprKind::Bool),
        Just(TypeExprKind::Int),
        Just(TypeExprKind::String),
        Just(TypeExprKind::Real),
        shape().prop_map(TypeExprKind::Tensor),
        (2..5u8).prop_map(TypeExprKind::Vec),
        name().prop_map(TypeExprKind::Named),
    ];
    let matrix = match version {
        Version::V1 => Just(TypeExprKind::Real).boxed(),
        Version::V2 => (2..5u8).prop_map(TypeExprKind::Mat).boxed(),
    };
    let continuity = match version {
        Version::V1 => number().prop_map(Some).boxed(),
        Version::V2 => prop::option::of(number()).boxed(),
    };
    let sequence = (
        prop_oneof![basic.clone(), matrix.clone()],
        prop::collection::vec(dim(), 0..3),
        any::<bool>(),
    )
        .prop_map(move |(kind, lengths, dynamic)| {
            let lengths = lengths.into_iter().map(|length| Some(Box::new(length)));
            let suffixes = lengths.chain(dynamic.then_some(None));
            suffixes.fold(at(kind), |element, length| {
                let element = Box::new(element);
                at(TypeExprKind::Seq { element, length })
            })
        });
    let is_new = version == Version::V2;
    let time = prop::option::of(prop::option::of(number())).prop_map(move |time| {
        let axis = |continuity: Option<Expr>| TimeAxis {
            span: NOWHERE,
            continuity: continuity.map(Box::new),
        };
        time.filter(|_| is_new).map(axis)
    });
    let time = time.boxed();
    let image = (dim(), time.clone(), shape()).prop_map(move |(dim, time, shape)| {
        let dim = Box::new(dim);
        at(TypeExprKind::Image { dim, time, shape })
    });
    let field =
        (continuity, dim(), time, shape()).prop_map(move |(continuity, dim, time, shape)| {
            at(TypeExprKind::Field {
                continuity: continuity.map(Box::new),
                dim: Box::new(dim),
                time,
                shape,
            })
        });
    let kernel = number().prop_map(move |k| at(TypeExprKind::Kernel(Box::new(k))));
    prop_oneof![4 => sequence, 1 => image, 1 => field, 1 => kernel].boxed()
}

/// An initial value, which 1.0 asks for.
fn value(version: Version) -> BoxedStrategy<Option<Expr>> {
    match version {
        Version::V1 => expression(version).prop_map(Some).boxed(),
        Version::V2 => {
            prop::option::of(prop_oneof![4 => expression(version), 1 => definition()]).boxed()
        }
    }
}

fn stmt_of(kind: StmtKind) -> Stmt {
    let span = NOWHERE;
    Stmt { kind, span }
}

fn block_of(stmts: Vec<Stmt>) -> Block {
    let span = NOWHERE;
    Block { stmts, span }
}

fn statement(version: Version) -> BoxedStrategy<Stmt> {
    let e = move || expression(version);
    let op = prop::sample::select(
        &[
            AssignOp::Set,
            AssignOp::Add,
            AssignOp::Sub,
            AssignOp::Mul,
            AssignOp::Div,
            AssignOp::Rem,
        ][..],
    );
    let simple = prop_oneof![
        (ty(version), name(), value(version)).prop_map(|(ty, name, value)| StmtKind::Decl {
            ty,
            name,
            value
        }),
        (name(), op, e()).prop_map(|(name, op, value)| StmtKind::Assign { name, op, value }),
        prop::collection::vec(e(), 1..3).prop_map(StmtKind::Print),
        (name(), prop::collection::vec(e(), 0..3))
            .prop_map(|(strand, args)| StmtKind::New { strand, args }),
        Just(StmtKind::Stabilize),
        Just(StmtKind::Die),
        Just(StmtKind::Continue),
        e().prop_map(StmtKind::Return),
    ]
    .prop_map(stmt_of);
    simple
        .prop_recursive(3, 12, 3, move |inner| {
            let block = prop::collection::vec(inner.clone(), 0..4)
                .prop_map(|stmts| stmt_of(StmtKind::Block(block_of(stmts))));
            let branch = (e(), inner.clone(), prop::option::of(inner.clone())).prop_map(
                |(condition, then, otherwise)| {
                    // An `else` belongs to the nearest `if`, so what stands before one is put in braces.
                    let then = match otherwise {
                        Some(_) if !matches!(then.kind, StmtKind::Assign { .. }) => {
                            stmt_of(StmtKind::Block(block_of(vec![then])))
                        }
                        _ => then,
                    };
                    StmtKind::If {
                        condition,
                        then: Box::new(then),
                        otherwise: otherwise.map(Box::new),
                    }
                },
            );
            let body = match version {
                Version::V1 => inner.boxed(),
                Version::V2 => block.clone().boxed(),
            };
            let each = (ty(version), name(), e(), body).prop_map(|(ty, name, source, body)| {
                let iter = Iter { name, source };
                StmtKind::Foreach {
                    ty,
                    iter,
                    body: Box::new(body),
                }
            });
            prop_oneof![block, branch.prop_map(stmt_of), each.prop_map(stmt_of)]
        })
        .boxed()
}

fn block(version: Version) -> impl Strategy<Value = Block> {
    prop::collection::vec(statement(version), 0..3).prop_map(block_of)
}

fn item(version: Version) -> BoxedStrategy<Item> {
    let e = move || expression(version);
    let param = (2..5u8, name()).prop_map(|(size, name)| Param {
        ty: TypeExpr {
            kind: TypeExprKind::Vec(size),
            span: NOWHERE,
        },
        name,
    });
    let body = prop_oneof![
        e().prop_map(FunctionBody::Expr),
        block(version).prop_map(FunctionBody::Block)
    ];
    let both = prop_oneof![
        (ty(version), name(), prop::option::of("[ -~\n]{0,9}")).prop_map(
            |(ty, name, description)| {
                ItemKind::Input {
                    ty,
                    name,
                    description,
                    default: None,
                }
            }
        ),
        (ty(version), name(), value(version)).prop_map(|(ty, name, value)| ItemKind::Global {
            ty,
            name,
            value
        }),
        (
            ty(version),
            name(),
            prop::collection::vec(param, 0..3),
            body
        )
            .prop_map(|(ty, name, params, body)| ItemKind::Function {
                ty,
                name,
                params,
                body
            }),
    ];
    let own =
        match version {
            Version::V1 => both.clone().boxed(),
            Version::V2 => prop_oneof![
                (ty(version), name(), value(version))
                    .prop_map(|(ty, name, value)| ItemKind::Const { ty, name, value }),
                (ty(version), name(), e()).prop_map(|(ty, name, default)| {
                    ItemKind::Input {
                        ty,
                        name,
                        description: None,
                        default: Some(default),
                    }
                }),
                (ty(version), name(), name(), prop::option::of(name()), e()).prop_map(
                    |(ty, name, param, time, body)| ItemKind::FieldFunction {
                        ty,
                        name,
                        param,
                        time,
                        body,
                    }
                ),
            ]
            .boxed(),
        };
    prop_oneof![2 => both, 1 => own]
        .prop_map(|kind| Item {
            kind,
            span: NOWHERE,
        })
        .boxed()
}

fn program(version: Version) -> BoxedStrategy<Program> {
    let only_2 = move || match version {
        Version::V1 => Just(None).boxed(),
        Version::V2 => prop::option::of(block(version)).boxed(),
    };
    let state = (any::<bool>(), ty(version), name(), value(version)).prop_map(
        |(output, ty, name, value)| StateVar {
            output,
            ty,
            name,
            value,
            span: NOWHERE,
        },
    );
    let kinds: &[MethodKind] = match version {
        Version::V1 => &[MethodKind::Update, MethodKind::Stabilize],
        Version::V2 => &[MethodKind::Start, MethodKind::Update, MethodKind::Stabilize],
    };
    let method = (prop::sample::select(kinds), block(version)).prop_map(|(kind, body)| Method {
        kind,
        body,
        span: NOWHERE,
    });
    let strand = (
        name(),
        prop::collection::vec(state, 0..3),
        only_2(),
        prop::collection::vec(method, 0..3),
    )
        .prop_map(|(name, state, initialize, methods)| Strand {
            name,
            params: Vec::new(),
            state,
            initialize,
            methods,
            span: NOWHERE,
        });
    let e = move || expression(version);
    let source = match version {
        Version::V1 => (e(), e())
            .prop_map(|(a, b)| expr(ExprKind::Range(Box::new(a), Box::new(b))))
            .boxed(),
        Version::V2 => e(),
    };
    let iters = prop::collection::vec(
        (name(), source).prop_map(|(name, source)| Iter { name, source }),
        1..3,
    );
    let create = (
        any::<bool>(),
        word(),
        prop::collection::vec(e(), 0..3),
        iters,
    )
        .prop_map(|(grid, callee, args, iters)| {
            let callee = Box::new(expr(ExprKind::Name(callee)));
            Create {
                grid,
                spawn: expr(ExprKind::Call { callee, args }),
                iters,
                span: NOWHERE,
            }
        });
    let items = prop::collection::vec(item(version), 0..4);
    (
        items,
        only_2(),
        strand,
        only_2(),
        prop::option::of(block(version)),
        create,
    )
        .prop_map(
            move |(items, initialize, strand, start, update, create)| Program {
                version,
                items,
                initialize,
                strand: Some(strand),
                start,
                update,
                create: Some(create),
            },
        )
        .boxed()
}

#[track_caller]
fn survives_printing(program: &Program) {
    let printed = print::print(program);
    let again = parse_right(&printed);
    assert_eq!(without_spans(program), without_spans(&again), "{printed}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, rng_seed: RngSeed::Fixed(2017), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_1_0_programs_survive_printing(program in program(Version::V1)) {
        survives_printing(&program);
    }

    #[test]
    fn random_2_0_programs_survive_printing(program in program(Version::V2)) {
        survives_printing(&program);
    }

    #[test]
    fn no_pair_of_parentheses_is_superfluous(value in expression(Version::V2)) {
        let printed = print::print_expr(&value, Version::V2);
        let tree = without_spans(&value);
        for (open, close) in parentheses(&printed) {
            let mut fewer = printed.clone();
            fewer.remove(close);
            fewer.remove(open);
            let (program, errors) = trees::parse(&trees::program_with_expression(&fewer));
            let same = match &program.items[..] {
                [Item { kind: ItemKind::Global { value: Some(value), .. }, .. }] => without_spans(value) == tree,
                _ => false,
            };
            prop_assert!(!(errors.is_empty() && same), "{printed}\n{fewer}");
        }
    }
}

/// The places of parentheses that group, which do not follow an operand, outside strings.
fn parentheses(text: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut open = Vec::new();
    let mut in_string = false;
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if in_string => at += 1,
            b'"' => in_string = !in_string,
            b'(' if !in_string => {
                let before = text[..at].chars().next_back();
                let groups =
                    before.is_none_or(|c| !(c.is_alphanumeric() || "_')]}|\"∞".contains(c)));
                open.push((at, groups));
            }
            b')' if !in_string => {
                if let Some((start, true)) = open.pop() {
                    found.push((start, at));
                }
            }
            _ => {}
        }
        at += 1;
    }
    found
}
