//! Whole programs.

use super::others::STRAND;
use super::types::{Function, Kind, Origin, Place, Ty};
use super::writer::{Purpose, Writer};

/// How many expressions a part of a program has, about.
const FUEL: usize = 160;

impl Writer {
    /// Starts a part of the program.
    fn part(&mut self, place: Place) {
        self.place = place;
        self.fuel = FUEL;
        self.rounds = 1;
    }

    pub(crate) fn program(&mut self) -> String {
        self.collection = self.dice.once_in(2);
        let is_one_step = self.purpose == Purpose::OneStep;
        self.is_quiet = is_one_step || self.dice.once_in(3);
        if !self.is_quiet && self.dice.once_in(3) {
            let places = [Ty::Real, Ty::tensor(&[2]), Ty::tensor(&[3])];
            self.position = Some(places[self.dice.below(3)].clone());
        }
        self.part(Place::Globals);
        let mut text = format!("#version {}\n", self.version);
        text += &self.inputs();
        let functions = if is_one_step { 0 } else { self.dice.below(3) };
        for _ in 0..functions {
            text += &self.function();
        }
        if self.dice.once_in(3) {
            text += &self.simple_function();
        }
        if self.dice.below(5) < 3 {
            text += &self.field_definitions();
        }
        let has_block = self.is_new() && self.dice.once_in(4);
        text += &self.globals(has_block);
        if has_block {
            self.part(Place::GlobalInitialize);
            let statements = self.scope(|this| this.statements(1, 1));
            text += &format!(
                "initialize {{ late = {}; {statements} }}\n",
                self.dice.odd_number()
            );
            self.define("late", Ty::Real, Origin::Global, Kind::Common);
        }
        let globals = self.vars.len();
        text += &self.strand();
        self.vars.truncate(globals);
        if !is_one_step && self.dice.once_in(3) {
            text += &self.global_blocks();
        }
        text + &self.creation()
    }

    /// Constants, inputs and global variables, for use in conditions and lengths of loops.
    fn inputs(&mut self) -> String {
        let mut text = String::new();
        if self.is_new() {
            text += "const int N = 2 + 1;\nconst real scale = 0.5;\n";
            self.define("N", Ty::Int, Origin::Fixed, Kind::Common);
            self.define("scale", Ty::Real, Origin::Fixed, Kind::Common);
        }
        let on = self.dice.pick(&["true", "false"]);
        let m = 1 + self.dice.below(3);
        let g = self.dice.odd_number();
        text += &format!(
            "input bool on (\"a switch\") = {on};\ninput int m = {m};\ninput real g = {g};\n\
             input vec2 shift = [0.25, -0.5];\ninput string mode = \"ring\";\n"
        );
        for (name, ty) in [
            ("on", Ty::Bool),
            ("m", Ty::Int),
            ("g", Ty::Real),
            ("shift", Ty::tensor(&[2])),
            ("mode", Ty::Text),
        ] {
            self.define(name, ty, Origin::Fixed, Kind::Common);
        }
        if self.is_new() && self.dice.once_in(3) {
            // A default that is computed.
            text += "input vec2 tardy = [g, real(m)]/(1 + |g|) - shift;\n";
            self.define("tardy", Ty::tensor(&[2]), Origin::Fixed, Kind::Common);
        }
        if self.dice.once_in(4) {
            let ty = self.written(&Ty::fixed(Ty::Real, 3));
            text += &format!("input {ty} weights = {{0.25, 0.5, -0.25}};\n");
            self.define(
                "weights",
                Ty::fixed(Ty::Real, 3),
                Origin::Fixed,
                Kind::Varying,
            );
        }
        if self.has_lists() && self.dice.once_in(6) {
            let ty = self.written(&Ty::list(Ty::Real));
            let load = if self.is_new() {
                "load_sequence"
            } else {
                "load"
            };
            text += &format!("{ty} loaded = {load}(\"data/check-numbers.txt\");\n");
            self.define("loaded", Ty::list(Ty::Real), Origin::Fixed, Kind::Varying);
        }
        if self.is_new() && self.dice.once_in(5) {
            text += "axis space = 3;\ntensor[space] along[i] = 0.25*real(i) - 0.125;\n";
            self.define("along", Ty::tensor(&[3]), Origin::Fixed, Kind::Varying);
        }
        text
    }

    fn globals(&mut self, has_block: bool) -> String {
        self.part(Place::Globals);
        let mut text = format!(
            "real h = g*g + {};\nint round0 = 0;\n",
            self.dice.odd_number()
        );
        if has_block {
            text += "real late;\n";
        }
        self.define("h", Ty::Real, Origin::Fixed, Kind::Common);
        self.define("round0", Ty::Int, Origin::Fixed, Kind::Common);
        for _ in 0..self.dice.below(3) {
            let ty = [
                Ty::Real,
                Ty::Int,
                Ty::Bool,
                Ty::tensor(&[3]),
                Ty::fixed(Ty::Real, 3),
            ][self.dice.below(5)]
            .clone();
            let name = self.fresh("c");
            let value = self.expr(&ty, 2);
            text += &format!("{} {name} = {value};\n", self.written(&ty));
            self.define(&name, ty, Origin::Global, Kind::Common);
        }
        if self.is_new() && self.dice.once_in(4) {
            text += &self.indexed_definition();
        }
        text
    }

    /// A function with loops and early returns.
    fn function(&mut self) -> String {
        self.part(Place::Function);
        self.fuel /= 2;
        let name = self.fresh("f");
        let types = [
            Ty::Real,
            Ty::Int,
            Ty::Bool,
            Ty::tensor(&[2]),
            Ty::tensor(&[3]),
        ];
        let lists = self.has_lists() && self.is_new() && self.dice.once_in(3);
        let (parameters, result) = match self.dice.below(3) {
            0 => (vec![Ty::Real, Ty::Int], Ty::Real),
            _ => {
                let mut parameters: Vec<Ty> = (0..1 + self.dice.below(3))
                    .map(|_| types[self.dice.below(types.len())].clone())
                    .collect();
                if lists {
                    parameters.push(Ty::list(Ty::Real));
                }
                (parameters, types[self.dice.below(types.len())].clone())
            }
        };
        let before = self.vars.len();
        let mut written = Vec::new();
        for parameter in &parameters {
            let x = self.fresh("x");
            written.push(format!("{} {x}", self.written(parameter)));
            self.define(&x, parameter.clone(), Origin::Fixed, Kind::Varying);
        }
        self.result = Some(result.clone());
        let ty = self.written(&result);
        let local = self.fresh("v");
        let start = self.expr(&result, 1);
        self.define(&local, result.clone(), Origin::Local, Kind::Varying);
        let count = 1 + self.dice.below(3);
        let body = self.statements(count, 2);
        let end = self.expr(&result, 2);
        self.result = None;
        self.vars.truncate(before);
        self.functions.push(Function {
            name: name.clone(),
            parameters,
            result,
        });
        format!(
            "function {ty} {name} ({}) {{\n{ty} {local} = {start};\n{body}return {end};\n}}\n",
            written.join(", ")
        )
    }

    /// A function that is an expression.
    fn simple_function(&mut self) -> String {
        self.part(Place::Function);
        let name = self.fresh("f");
        let before = self.vars.len();
        self.define("y", Ty::Real, Origin::Fixed, Kind::Varying);
        self.fuel = 12;
        let body = self.real(2);
        self.vars.truncate(before);
        self.functions.push(Function {
            name: name.clone(),
            parameters: vec![Ty::Real],
            result: Ty::Real,
        });
        format!("function real {name} (real y) = {body};\n")
    }

    fn strand(&mut self) -> String {
        let mut text = format!("strand {STRAND} (int i, int j) {{\n");
        let before = self.vars.len();
        for name in ["i", "j"] {
            self.define(name, Ty::Int, Origin::Fixed, Kind::Varying);
        }
        text += &self.state();
        if self.is_new() && self.dice.once_in(4) {
            self.part(Place::Initialize);
            text += &format!("initialize {}", self.block(2, 1));
        }
        let is_one_step = self.purpose == Purpose::OneStep;
        if self.is_new() && !is_one_step && self.dice.once_in(4) {
            self.part(Place::Start);
            text += &format!("start {}", self.block(2, 2));
        }
        self.part(Place::Update);
        let count = match is_one_step {
            true => 1 + self.dice.below(3),
            false => 3 + self.dice.below(6),
        };
        self.fuel = if is_one_step { FUEL / 8 } else { 2 * FUEL };
        let statements = self.scope(|this| this.statements(count, 3));
        let varying = if self.is_quiet { "1 + j" } else { "1 + i % 3" };
        let end = match is_one_step {
            true if self.collection && self.dice.once_in(8) => "die;".to_string(),
            true => "stabilize;".to_string(),
            false => {
                let last = self.dice.pick(&["2", varying, "m"]);
                format!("if (age > {last}) stabilize;")
            }
        };
        text += &format!("update {{\nage += 1;\n{statements}{end}\n}}\n");
        if self.dice.once_in(3) {
            self.part(Place::Stabilize);
            text += &format!("stabilize {}", self.block(2, 2));
        }
        self.vars.truncate(before);
        text + "}\n"
    }

    /// The state variables: some of every type, and sometimes more than there are registers.
    fn state(&mut self) -> String {
        self.part(Place::State);
        let mut text = String::from(
            "output real a = 0.25*i - 0.5;\noutput int p = i - j;\nreal b = 0.125*j + 0.0625;\nint age = 0;\n",
        );
        for (name, ty) in [("a", Ty::Real), ("p", Ty::Int), ("b", Ty::Real)] {
            self.define(name, ty, Origin::State, Kind::Varying);
        }
        self.define("age", Ty::Int, Origin::Fixed, Kind::Varying);
        if let Some(ty) = self.position.clone() {
            let value = match ty {
                Ty::Real => "0.5*i + 0.1*j",
                Ty::Tensor(ref shape) if shape[0] == 2 => "[0.5*i, 0.5*j]",
                _ => "[0.5*i, 0.5*j, 0.25*i - 0.125*j]",
            };
            text += &format!("{} pos = {value};\n", self.written(&ty));
            self.define("pos", ty, Origin::State, Kind::Varying);
        }
        let many = if self.dice.once_in(4) { 36 } else { 8 };
        let count = 3 + self.dice.below(many);
        for n in 0..count {
            let ty = match n {
                _ if many > 8 && n > 6 => Ty::Real,
                _ => self.state_type(),
            };
            let name = self.fresh("s");
            // Strings cannot be written.
            let output = match ty {
                Ty::Text => "",
                _ => self.dice.pick(&["output ", "output ", ""]),
            };
            let value = match &ty {
                Ty::List(_) if self.dice.once_in(3) => "{}".into(),
                _ => self.expr(&ty, 1),
            };
            text += &format!("{output}{} {name} = {value};\n", self.written(&ty));
            self.define(&name, ty, Origin::State, Kind::Varying);
        }
        if self.dice.once_in(8) {
            // It is never read.
            text += "output real missing = nan;\n";
        }
        text
    }

    fn state_type(&mut self) -> Ty {
        let lists = self.has_lists();
        match self.dice.below(14) {
            0..=3 => Ty::Real,
            4 | 5 => Ty::Int,
            6 => Ty::Bool,
            7 => Ty::tensor(&[2]),
            8 => Ty::tensor(&[3]),
            9 => Ty::tensor(self.dice.pick(&[&[2, 2][..], &[3, 3], &[2, 3]])),
            10 => Ty::fixed(Ty::Real, 2 + self.dice.below(2)),
            11 if lists => Ty::list(Ty::Real),
            12 if lists => Ty::list(Ty::tensor(&[2])),
            13 if lists => Ty::list(Ty::Int),
            _ => Ty::Real,
        }
    }

    fn global_blocks(&mut self) -> String {
        self.part(Place::GlobalBlock);
        let mut text = String::new();
        for var in &mut self.vars {
            // The number of super-steps changes only once in each.
            if var.name == "h" {
                var.origin = Origin::Global;
            }
        }
        if self.is_new() && self.dice.once_in(3) {
            let n = self.over_all(&Ty::Int);
            let statements = self.scope(|this| this.statements(1, 1));
            text += &format!("start {{ h = 0.01*({n}) + numStrands(); {statements} }}\n");
        }
        let word = if self.is_new() { "update" } else { "global" };
        let [n, r, t] = [Ty::Int, Ty::Real, Ty::Bool].map(|ty| self.over_all(&ty));
        let c = self.dice.odd_number();
        let statements = self.scope(|this| {
            this.define("n0", Ty::Int, Origin::Local, Kind::Common);
            this.define("r0", Ty::Real, Origin::Local, Kind::Common);
            this.statements(2, 2)
        });
        text += &format!(
            "{word} {{\nround0 += 1;\nint n0 = ({n}) % 17;\nreal r0 = {r};\nif ({t}) {{ h = {c} + 0.1*r0; }}\n{statements}}}\n"
        );
        text
    }

    fn creation(&mut self) -> String {
        // More strands than the longest vectors have lanes, and not a multiple of them.
        let rows = match self.purpose {
            Purpose::Any => 3,
            Purpose::Gpu => 4,
            // Tiles that are not whole.
            Purpose::OneStep => 75,
        };
        let spawn = format!("{STRAND}(i, j)");
        match (self.is_new(), self.collection) {
            (false, true) => format!("initially {{ {spawn} | i in 0..6, j in 0..2 }};\n"),
            (false, false) => format!("initially [ {spawn} | i in 0..6, j in 0..2 ];\n"),
            (true, collection) => {
                let word = if collection {
                    "create_collection"
                } else {
                    "create_array"
                };
                let second = match self.dice.below(3) {
                    0 => "{1, 0, 3}".to_string(),
                    _ => format!("0..{}", rows - 1),
                };
                format!("{word} {{ {spawn} | i in 0..6, j in {second} }}\n")
            }
        }
    }
}
