//! Scalar expressions with symbolic derivatives: a graph in which equal terms are one node.
//!
//! This is the second method: where the truth carries Taylor series, this one applies the rules of calculus to scalar
//! terms until only derivatives of variables are left.

use std::collections::HashMap;

/// A node of the graph; nodes refer only to earlier ones.
pub(super) type Node = usize;

/// A function of one real variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Unary {
    Neg,
    Sqrt,
    Exp,
    Ln,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Abs,
    Sign,
    Log2,
    Log10,
    Erf,
    Erfc,
    Floor,
    Ceil,
    Round,
    Trunc,
}

/// A function of two real variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Atan2,
    Fmod,
    Pow,
}

/// An operation of the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Operation {
    /// A constant, by its bits.
    Constant(u64),
    /// A derivative of a component of a variable, at a point: 0 is the own coordinates.
    Probe {
        variable: usize,
        component: usize,
        orders: [u8; 3],
        point: usize,
    },
    Unary(Unary, Node),
    Binary(Binary, Node, Node),
    /// `yes` if `low < high`, else `no`.
    Choose {
        low: Node,
        high: Node,
        yes: Node,
        no: Node,
    },
}

/// The graph.
pub(super) struct Graph {
    pub(super) operations: Vec<Operation>,
    known: HashMap<Operation, Node>,
    derivatives: HashMap<(Node, usize), Node>,
    /// The coordinates of computed points; the first entry stands for the own coordinates.
    pub(super) points: Vec<Vec<Node>>,
}

impl Graph {
    pub(super) fn new() -> Graph {
        Graph {
            operations: Vec::new(),
            known: HashMap::new(),
            derivatives: HashMap::new(),
            points: vec![Vec::new()],
        }
    }

    fn insert(&mut self, operation: Operation) -> Node {
        let next = self.operations.len();
        let node = *self.known.entry(operation).or_insert(next);
        if node == next {
            self.operations.push(operation);
        }
        node
    }

    pub(super) fn constant(&mut self, value: f64) -> Node {
        self.insert(Operation::Constant(value.to_bits()))
    }

    fn constant_of(&self, node: Node) -> Option<f64> {
        match self.operations[node] {
            Operation::Constant(bits) => Some(f64::from_bits(bits)),
            _ => None,
        }
    }

    pub(super) fn probe(&mut self, variable: usize, component: usize) -> Node {
        self.insert(Operation::Probe {
            variable,
            component,
            orders: [0; 3],
            point: 0,
        })
    }

    pub(super) fn unary(&mut self, function: Unary, a: Node) -> Node {
        match (function, self.constant_of(a)) {
            (Unary::Neg, Some(x)) => self.constant(-x),
            _ => self.insert(Operation::Unary(function, a)),
        }
    }

    /// Only neutral and absorbing constants are folded: derivatives of tensors would otherwise fill the graph.
    pub(super) fn binary(&mut self, function: Binary, a: Node, b: Node) -> Node {
        match (function, self.constant_of(a), self.constant_of(b)) {
            (Binary::Add, Some(0.0), _) | (Binary::Mul, Some(1.0), _) => b,
            (Binary::Add | Binary::Sub, _, Some(0.0))
            | (Binary::Mul | Binary::Div, _, Some(1.0)) => a,
            (Binary::Sub, Some(0.0), _) => self.unary(Unary::Neg, b),
            (Binary::Mul | Binary::Div, Some(0.0), _) | (Binary::Mul, _, Some(0.0)) => {
                self.constant(0.0)
            }
            _ => self.insert(Operation::Binary(function, a, b)),
        }
    }

    pub(super) fn add(&mut self, a: Node, b: Node) -> Node {
        self.binary(Binary::Add, a, b)
    }

    pub(super) fn sub(&mut self, a: Node, b: Node) -> Node {
        self.binary(Binary::Sub, a, b)
    }

    pub(super) fn mul(&mut self, a: Node, b: Node) -> Node {
        self.binary(Binary::Mul, a, b)
    }

    pub(super) fn div(&mut self, a: Node, b: Node) -> Node {
        self.binary(Binary::Div, a, b)
    }

    pub(super) fn choose(&mut self, low: Node, high: Node, yes: Node, no: Node) -> Node {
        if yes == no {
            yes
        } else {
            self.insert(Operation::Choose { low, high, yes, no })
        }
    }

    /// The partial derivative in one of the own coordinates.
    pub(super) fn derivative(&mut self, node: Node, axis: usize) -> Node {
        if let Some(&known) = self.derivatives.get(&(node, axis)) {
            return known;
        }
        let derivative = match self.operations[node] {
            Operation::Constant(_) => self.constant(0.0),
            Operation::Probe {
                variable,
                component,
                orders,
                point,
            } => self.probe_derivative(variable, component, orders, point, axis),
            Operation::Unary(function, a) => {
                let da = self.derivative(a, axis);
                let slope = if self.constant_of(da) == Some(0.0) {
                    da
                } else {
                    self.slope(function, a, node)
                };
                self.mul(slope, da)
            }
            Operation::Binary(function, a, b) => {
                let (da, db) = (self.derivative(a, axis), self.derivative(b, axis));
                self.binary_derivative(function, (a, da), (b, db))
            }
            Operation::Choose { low, high, yes, no } => {
                let (yes, no) = (self.derivative(yes, axis), self.derivative(no, axis));
                self.choose(low, high, yes, no)
            }
        };
        self.derivatives.insert((node, axis), derivative);
        derivative
    }

    /// At the own coordinates one order more; at a computed point the chain rule.
    fn probe_derivative(
        &mut self,
        variable: usize,
        component: usize,
        orders: [u8; 3],
        point: usize,
        axis: usize,
    ) -> Node {
        let raised = |axis: usize| {
            let mut orders = orders;
            orders[axis] += 1;
            Operation::Probe {
                variable,
                component,
                orders,
                point,
            }
        };
        if point == 0 {
            return self.insert(raised(axis));
        }
        let mut sum = self.constant(0.0);
        for (inner, coordinate) in self.points[point].clone().into_iter().enumerate() {
            let outer = self.insert(raised(inner));
            let speed = self.derivative(coordinate, axis);
            let term = self.mul(outer, speed);
            sum = self.add(sum, term);
        }
        sum
    }

    fn binary_derivative(
        &mut self,
        function: Binary,
        (a, da): (Node, Node),
        (b, db): (Node, Node),
    ) -> Node {
        match function {
            Binary::Add => self.add(da, db),
            Binary::Sub => self.sub(da, db),
            Binary::Mul => {
                let (left, right) = (self.mul(da, b), self.mul(a, db));
                self.add(left, right)
            }
            Binary::Div => {
                let (left, right) = (self.mul(da, b), self.mul(a, db));
                let (top, bottom) = (self.sub(left, right), self.mul(b, b));
                self.div(top, bottom)
            }
            // (x·dy − y·dx) / (x² + y²)
            Binary::Atan2 => {
                let (left, right) = (self.mul(b, da), self.mul(a, db));
                let (aa, bb) = (self.mul(a, a), self.mul(b, b));
                let (top, bottom) = (self.sub(left, right), self.add(aa, bb));
                self.div(top, bottom)
            }
            // b·a^(b−1)·da + a^b·ln a·db
            Binary::Pow => {
                let one = self.constant(1.0);
                let lower = self.sub(b, one);
                let lowered = self.binary(Binary::Pow, a, lower);
                let slope = self.mul(b, lowered);
                let (power, logarithm) = (self.binary(Binary::Pow, a, b), self.unary(Unary::Ln, a));
                let growth = self.mul(power, logarithm);
                let (left, right) = (self.mul(slope, da), self.mul(growth, db));
                self.add(left, right)
            }
            // A function of plain reals: it never depends on a position.
            Binary::Fmod => self.constant(0.0),
        }
    }

    /// The derivative of a function at `a`, where `node` is its value.
    fn slope(&mut self, function: Unary, a: Node, node: Node) -> Node {
        let one = self.constant(1.0);
        let square = self.mul(a, a);
        match function {
            Unary::Neg => self.constant(-1.0),
            Unary::Sqrt => {
                let half = self.constant(0.5);
                self.div(half, node)
            }
            Unary::Exp => node,
            Unary::Ln => self.div(one, a),
            Unary::Sin => self.unary(Unary::Cos, a),
            Unary::Cos => {
                let sine = self.unary(Unary::Sin, a);
                self.unary(Unary::Neg, sine)
            }
            Unary::Tan => {
                let cosine = self.unary(Unary::Cos, a);
                let square = self.mul(cosine, cosine);
                self.div(one, square)
            }
            Unary::Asin | Unary::Acos => {
                let rest = self.sub(one, square);
                let root = self.unary(Unary::Sqrt, rest);
                let sign = self.constant(if function == Unary::Asin { 1.0 } else { -1.0 });
                self.div(sign, root)
            }
            Unary::Atan => {
                let sum = self.add(one, square);
                self.div(one, sum)
            }
            Unary::Abs => self.unary(Unary::Sign, a),
            Unary::Log2 | Unary::Log10 => {
                let base = if function == Unary::Log2 { 2f64 } else { 10f64 };
                let factor = self.constant(1.0 / base.ln());
                self.div(factor, a)
            }
            Unary::Erf | Unary::Erfc => {
                let sign = if function == Unary::Erf { 1.0 } else { -1.0 };
                let factor = self.constant(sign * std::f64::consts::FRAC_2_SQRT_PI);
                let opposite = self.unary(Unary::Neg, square);
                let bell = self.unary(Unary::Exp, opposite);
                self.mul(factor, bell)
            }
            // Constant almost everywhere.
            Unary::Sign | Unary::Floor | Unary::Ceil | Unary::Round | Unary::Trunc => {
                self.constant(0.0)
            }
        }
    }

    /// The same expression with its own coordinates replaced by a computed point.
    pub(super) fn moved(
        &mut self,
        node: Node,
        point: usize,
        done: &mut HashMap<Node, Node>,
    ) -> Node {
        if let Some(&known) = done.get(&node) {
            return known;
        }
        let moved = match self.operations[node] {
            Operation::Constant(_) => node,
            Operation::Probe {
                variable,
                component,
                orders,
                point: 0,
            } => self.insert(Operation::Probe {
                variable,
                component,
                orders,
                point,
            }),
            Operation::Probe {
                variable,
                component,
                orders,
                point: inner,
            } => {
                let coordinates: Vec<Node> = self.points[inner]
                    .clone()
                    .into_iter()
                    .map(|c| self.moved(c, point, done))
                    .collect();
                let point = self.point(coordinates);
                self.insert(Operation::Probe {
                    variable,
                    component,
                    orders,
                    point,
                })
            }
            Operation::Unary(function, a) => {
                let a = self.moved(a, point, done);
                self.unary(function, a)
            }
            Operation::Binary(function, a, b) => {
                let (a, b) = (self.moved(a, point, done), self.moved(b, point, done));
                self.binary(function, a, b)
            }
            Operation::Choose { low, high, yes, no } => {
                let [low, high, yes, no] = [low, high, yes, no].map(|n| self.moved(n, point, done));
                self.choose(low, high, yes, no)
            }
        };
        done.insert(node, moved);
        moved
    }

    /// The number of a point with these coordinates.
    pub(super) fn point(&mut self, coordinates: Vec<Node>) -> usize {
        let known = self
            .points
            .iter()
            .skip(1)
            .position(|point| *point == coordinates);
        known.map_or_else(
            || {
                self.points.push(coordinates);
                self.points.len() - 1
            },
            |at| at + 1,
        )
    }
}
