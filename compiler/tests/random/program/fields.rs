//! Fields: of images, by formulas, with conditions, by code, by index, on meshes; derived fields, and probes.

use super::types::{Field, Kind, Origin, Ty};
use super::writer::Writer;

/// Images that programs load: file, dimension, shape, and where they are.
const IMAGES: [(&str, usize, &[usize], f64, f64); 7] = [
    ("check-oriented", 2, &[], 1.07, 0.9),
    ("check-line", 1, &[], 2.53, 1.3),
    ("heat", 1, &[3], 0.47, 0.3),
    ("check-wind", 2, &[2], 0.03, 0.9),
    ("check-flow", 3, &[3], 0.03, 1.1),
    ("check-voxels", 3, &[], 0.03, 1.4),
    ("check-scan", 3, &[], 0.03, 1.4),
];

/// Images over time, in the same way.
const SERIES: [(&str, usize, &[usize], f64, f64); 3] = [
    ("check-series", 2, &[], 0.03, 0.8),
    ("check-gusts", 2, &[2], 0.03, 0.9),
    ("check-pulse", 3, &[], 0.03, 0.9),
];

/// Kernels, and how often their fields may be differentiated.
const KERNELS: [(&str, usize); 7] = [
    ("tent", 0),
    ("ctmr", 1),
    ("c1tent", 1),
    ("bspln3", 2),
    ("c4hexic", 3),
    ("bspln5", 3),
    ("bspln3#4", 2),
];

fn written(dim: usize, shape: &[usize], smooth: usize) -> String {
    over_time(dim, shape, smooth, None)
}

/// The type of a field, with its derivatives by time if it is over time.
fn over_time(dim: usize, shape: &[usize], smooth: usize, time: Option<usize>) -> String {
    let time = match time {
        None => String::new(),
        Some(0) => ",time".to_string(),
        Some(m) => format!(",time#{m}"),
    };
    format!("field#{smooth}({dim}{time}){shape:?}")
}

impl Field {
    /// A probe at a position, at a fixed time if it is over time.
    fn at(&self, position: &str) -> String {
        match self.time {
            None => format!("{}({position})", self.name),
            Some(_) => format!("{}({position}, 0.73)", self.name),
        }
    }
}

impl Writer {
    /// Definitions of fields.
    pub(crate) fn field_definitions(&mut self) -> String {
        let mut text = String::new();
        for _ in 0..1 + self.dice.below(3) {
            text += &match self.is_new() && self.dice.once_in(4) {
                true => self.of_series(),
                false => self.of_image(),
            };
        }
        if self.is_new() && self.dice.once_in(6) {
            text += &self.of_mesh();
        }
        for _ in 0..self.dice.below(4) {
            text += &match self.dice.below(4) {
                0 if self.is_new() => self.field_function(),
                1 if self.is_new() => self.chosen_field(),
                2 if self.is_new() => self.field_by_index(),
                _ => self.derived(),
            };
        }
        text
    }

    fn add_field(
        &mut self,
        name: &str,
        dim: usize,
        shape: &[usize],
        smooth: usize,
        like: (f64, f64),
    ) {
        self.fields.push(Field {
            name: name.to_string(),
            dim,
            shape: shape.to_vec(),
            smooth,
            middle: like.0,
            reach: like.1,
            closed: true,
            has_cells: false,
            time: None,
        });
    }

    /// Makes the last field one over time.
    fn set_time(&mut self, time: Option<usize>) {
        self.fields.last_mut().expect("it was added").time = time;
    }

    /// A field of an image over time.
    fn of_series(&mut self) -> String {
        let (file, dim, shape, middle, reach) = SERIES[self.dice.below(SERIES.len())];
        let (kernel, smooth) = KERNELS[self.dice.below(6)];
        let (in_time, rate) = KERNELS[self.dice.below(6)];
        let [image, field] = ["img", "F"].map(|letter| self.fresh(letter));
        let load = format!("load_image(\"data/{file}.nrrd\")");
        let mut text = format!("image({dim},time){shape:?} {image} = {load};\n");
        let bordered = self.dice.pick(&["wrap(img)", "mirror(img)", "img"]);
        let bordered = bordered.replace("img", &image);
        let (kernel, rate) = match self.dice.below(3) {
            0 => (kernel.to_string(), 0),
            1 => (format!("KRNS({kernel}, {in_time})"), rate),
            _ => (
                format!("KRNS({}{in_time})", format!("{kernel}, ").repeat(dim)),
                rate,
            ),
        };
        let (smooth, rate) = (smooth.min(3), rate.min(3));
        let ty = over_time(dim, shape, smooth, Some(rate));
        text += &format!("{ty} {field} = {kernel} ⊛ {bordered};\n");
        if self.dice.once_in(3) {
            let n = self.fresh("n");
            text += &format!("int {n} = frames({image});\n");
            self.define(&n, Ty::Int, Origin::Global, Kind::Common);
        }
        if self.dice.once_in(3) {
            let t = self.fresh("t");
            let fact = self.dice.pick(&["startTime", "endTime"]);
            text += &format!("real {t} = {fact}({image});\n");
            self.define(&t, Ty::Real, Origin::Global, Kind::Common);
        }
        self.add_field(&field, dim, shape, smooth, (middle, reach));
        self.set_time(Some(rate));
        text
    }

    fn of_image(&mut self) -> String {
        let (file, dim, shape, middle, reach) = IMAGES[self.dice.below(IMAGES.len())];
        let (kernel, smooth) = KERNELS[self.dice.below(KERNELS.len())];
        let [image, field, h] = ["img", "F", "h"].map(|letter| self.fresh(letter));
        let load = match self.is_new() {
            true => "load_image",
            false => "image",
        };
        let kernel = match kernel {
            "bspln3#4" if !self.is_new() => "bspln3",
            other => other,
        };
        let mut text = format!("image({dim}){shape:?} {image} = {load}(\"data/{file}.nrrd\");\n");
        if self.dice.once_in(3) {
            text = format!("input {text}");
        }
        let bordered = match self.dice.below(6) {
            0 => format!("wrap({image})"),
            1 => format!("mirror({image})"),
            2 => {
                let outside = self.tensor_of_numbers(shape);
                format!("border({image}, {outside})")
            }
            3 => image.clone(),
            _ => format!("clamp({image})"),
        };
        let kernel = match self.dice.below(4) {
            0 if kernel == "bspln3" => {
                text += &format!("kernel#2 {h} = bspln3;\n");
                h
            }
            1 if dim == 2 && smooth <= 1 => format!("KRNS({kernel}, ctmr)"),
            _ => kernel.to_string(),
        };
        let smooth = smooth.min(3);
        let ty = written(dim, shape, smooth);
        text += &match self.dice.once_in(4) {
            true => format!("{ty} {field} = {bordered} ⊛ {kernel};\n"),
            false => format!("{ty} {field} = {kernel} ⊛ {bordered};\n"),
        };
        if self.dice.once_in(4) {
            let n = self.fresh("n");
            let extents = format!("size({image})");
            text += &format!("int {n} = {};\n", self.element(&extents, "0"));
            self.define(&n, Ty::Int, Origin::Global, Kind::Common);
        }
        self.add_field(&field, dim, shape, smooth, (middle, reach));
        text
    }

    /// Numbers in a shape.
    fn tensor_of_numbers(&mut self, shape: &[usize]) -> String {
        match shape {
            [] => self.dice.odd_number(),
            [n, rest @ ..] => {
                let parts: Vec<String> = (0..*n).map(|_| self.tensor_of_numbers(rest)).collect();
                format!("[{}]", parts.join(", "))
            }
        }
    }

    fn of_mesh(&mut self) -> String {
        if self.dice.once_in(3) {
            return self.of_mesh_over_time();
        }
        let [mesh, values, field] = ["m", "g", "F"].map(|letter| self.fresh(letter));
        let (file, array) = match self.dice.below(2) {
            0 => ("check-mesh", "poly"),
            _ => ("check-mesh", "wave"),
        };
        let mut text = match self.dice.below(2) {
            0 => format!("fem#1(2)[] {values} = load_fem(\"data/{file}.vtu\", \"{array}\");\n"),
            _ => format!(
                "mesh(2) {mesh} = load_mesh(\"data/{file}.vtu\");\nfem#1(2)[] {values} = load_fem({mesh}, \"{array}\");\n"
            ),
        };
        text += &format!("field#1(2)[] {field} = toField(border({values}, 0.5));\n");
        self.add_field(&field, 2, &[], 1, (0.517, 0.41));
        self.fields.last_mut().expect("it was added").has_cells = true;
        text
    }

    /// A field of values on a mesh over time, whose times are irregular.
    fn of_mesh_over_time(&mut self) -> String {
        let [values, field, n, t] = ["g", "F", "n", "t"].map(|letter| self.fresh(letter));
        let array = self.dice.pick(&["cooling", "caloric"]);
        let load = format!("load_fem(\"data/check-plate.xdmf\", \"{array}\")");
        let mut text = format!("fem#2(2,time)[] {values} = {load};\n");
        text += &format!("int {n} = frames({values});\n");
        self.define(&n, Ty::Int, Origin::Global, Kind::Common);
        let fact = self.dice.pick(&["startTime", "endTime"]);
        text += &format!("real {t} = {fact}({values});\n");
        self.define(&t, Ty::Real, Origin::Global, Kind::Common);
        let ty = over_time(2, &[], 2, Some(0));
        text += &format!("{ty} {field} = toField(border({values}, 0.5));\n");
        self.add_field(&field, 2, &[], 2, (0.517, 0.41));
        self.set_time(Some(0));
        text
    }

    /// A field by a formula of the position.
    fn field_function(&mut self) -> String {
        let field = self.fresh("F");
        let dim = 1 + self.dice.below(3);
        let shape: &[usize] = match self.dice.below(3) {
            0 if dim > 1 => &[2],
            1 if dim == 3 => &[3],
            _ => &[],
        };
        let body = self.formula(dim, shape, 2);
        let is_code = self.dice.once_in(4) && shape.is_empty() && self.calls_on_reals();
        let (body, smooth) = match is_code {
            true => {
                let call = self.call_of_real(&body);
                (call, 0)
            }
            false => (body, 2),
        };
        let text = format!("{} {field}(x) = {body};\n", written(dim, shape, smooth));
        self.add_field(&field, dim, shape, smooth, (0.13, 0.8));
        if is_code {
            self.fields.last_mut().expect("it was added").closed = false;
        }
        text
    }

    fn calls_on_reals(&self) -> bool {
        let fits = |f: &super::types::Function| {
            f.result == Ty::Real && f.parameters == [Ty::Real, Ty::Int]
        };
        self.functions.iter().any(fits)
    }

    fn call_of_real(&mut self, argument: &str) -> String {
        let fits = |f: &&super::types::Function| {
            f.result == Ty::Real && f.parameters == [Ty::Real, Ty::Int]
        };
        let function = self.functions.iter().find(fits).expect("there is one");
        format!("{}({argument}, 1)", function.name)
    }

    /// A smooth formula of the position `x`.
    fn formula(&mut self, dim: usize, shape: &[usize], depth: usize) -> String {
        if let [n, rest @ ..] = shape {
            let parts: Vec<String> = (0..*n).map(|_| self.formula(dim, rest, depth)).collect();
            return format!("[{}]", parts.join(", "));
        }
        let at = |dice: &mut super::dice::Dice| match dim {
            1 => "x".to_string(),
            _ => format!("x[{}]", dice.below(dim)),
        };
        if depth == 0 {
            return match self.dice.below(4) {
                0 => self.dice.odd_number(),
                _ => at(&mut self.dice),
            };
        }
        let d = depth - 1;
        match self.dice.below(9) {
            0 => format!(
                "({} + {})",
                self.formula(dim, &[], d),
                self.formula(dim, &[], d)
            ),
            1 | 2 => format!(
                "({} * {})",
                self.formula(dim, &[], d),
                self.formula(dim, &[], d)
            ),
            3 => format!("sin({})", self.formula(dim, &[], d)),
            4 => format!(
                "({}/(2 + cos({})))",
                self.formula(dim, &[], d),
                at(&mut self.dice)
            ),
            5 => format!("({})^2", self.formula(dim, &[], d)),
            6 if dim > 1 => "(x • x)".into(),
            7 => format!("exp(-0.1*({})^2)", self.formula(dim, &[], d)),
            _ => {
                let usable =
                    |f: &&Field| f.dim == dim && f.shape.is_empty() && f.smooth >= 2 && f.closed;
                match self.fields.iter().find(usable) {
                    Some(f) => format!("0.05*{}", f.at("x")),
                    None => at(&mut self.dice),
                }
            }
        }
    }

    /// A field with a condition.
    fn chosen_field(&mut self) -> String {
        let found: Vec<Field> = self.fields.iter().filter(|f| f.closed).cloned().collect();
        let Some(f) = (!found.is_empty()).then(|| found[self.dice.below(found.len())].clone())
        else {
            return String::new();
        };
        let name = self.fresh("F");
        let at = if f.dim == 1 { "x" } else { "x[0]" };
        let number = format!("{:.4}", f.middle + 0.0173);
        let condition = match self.dice.below(2) {
            0 => format!("{at} > {number}"),
            _ if f.time.is_some() => format!("inside(x, 0.73, {})", f.name),
            _ => format!("inside(x, {})", f.name),
        };
        let other = self.formula(f.dim, &f.shape, 1);
        // A sum over a range that is known has derivatives too.
        let other = match self.dice.once_in(3) {
            true => format!("sum {{ 0.25*real(k)*({other}) | k in 1..2 }}"),
            false => other,
        };
        let value = format!("0.5*{}", f.at("x"));
        let text = format!(
            "{} {name}(x) = {value} if {condition} else {other};\n",
            written(f.dim, &f.shape, f.smooth)
        );
        self.add_field(&name, f.dim, &f.shape, f.smooth, (f.middle, f.reach));
        text
    }

    /// A field whose components are given.
    fn field_by_index(&mut self) -> String {
        let usable =
            |f: &&Field| f.shape.len() == 1 && f.shape[0] == f.dim && f.smooth >= 1 && f.closed;
        let found: Vec<Field> = self.fields.iter().filter(usable).cloned().collect();
        let Some(f) = (!found.is_empty()).then(|| found[self.dice.below(found.len())].clone())
        else {
            return self.derived();
        };
        let name = self.fresh("F");
        let (d, v) = (f.dim, &f.name);
        let body = self.dice.pick(&[
            "0.5*(∂[j] V[i] + ∂[i] V[j])",
            "∂[j] V[i] - δ[i,j]",
            "sum[k](∂[k] V[i] * ∂[k] V[j])*0.1",
        ]);
        let body = body.replace('V', v);
        let smooth = f.smooth - 1;
        self.add_field(&name, d, &[d, d], smooth, (f.middle, f.reach));
        self.set_time(f.time);
        let ty = over_time(d, &[d, d], smooth, f.time);
        format!("{ty} {name}[i,j] = {body};\n")
    }

    /// A field made of others by operators.
    fn derived(&mut self) -> String {
        let found: Vec<Field> = self.fields.iter().filter(|f| f.closed).cloned().collect();
        if found.is_empty() {
            return String::new();
        }
        let f = found[self.dice.below(found.len())].clone();
        let alike: Vec<&Field> = found
            .iter()
            .filter(|g| g.dim == f.dim && g.shape == f.shape)
            .collect();
        let g = alike[self.dice.below(alike.len())].clone();
        let name = self.fresh("F");
        let (a, b) = (&f.name, &g.name);
        let inner = found
            .iter()
            .find(|g| g.shape == [f.dim] || g.shape.is_empty() && f.dim == 1);
        let smooth = f.smooth.min(g.smooth);
        let least = |a: Option<usize>, b: Option<usize>| match (a, b) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        // A fault in this would be a type error in the program.
        let (mut time, both) = (f.time, least(f.time, g.time));
        let (body, shape, dim, smooth) = match self.dice.below(10) {
            0 => {
                time = both;
                (format!("{a} + 0.5*{b}"), f.shape.clone(), f.dim, smooth)
            }
            1 => {
                time = both;
                (format!("{a} - {b}/3"), f.shape.clone(), f.dim, smooth)
            }
            2 if f.shape.is_empty() => {
                time = both;
                (format!("0.1*{a}*{b}"), vec![], f.dim, smooth)
            }
            9 if f.time.is_some_and(|m| m > 0) => {
                time = f.time.map(|m| m - 1);
                (format!("∂[time] {a}"), f.shape.clone(), f.dim, f.smooth)
            }
            3 if f.shape.is_empty() => (format!("sin({a})"), vec![], f.dim, f.smooth),
            4 if f.shape.is_empty() && f.smooth > 0 && f.dim > 1 => {
                (format!("∇{a}"), vec![f.dim], f.dim, f.smooth - 1)
            }
            5 if f.shape.len() == 1 => (format!("{a}[1]"), vec![], f.dim, f.smooth),
            6 if f.shape.is_empty() => {
                time = both;
                let number = self.common_int();
                (format!("swap({number}, {a}, {b})"), vec![], f.dim, smooth)
            }
            7 if self.is_new() && inner.is_some() => {
                let inner = inner.expect("there is one");
                let smooth = f.smooth.min(inner.smooth);
                time = least(f.time, inner.time);
                (
                    format!("{a} ∘ {}", inner.name),
                    f.shape.clone(),
                    inner.dim,
                    smooth,
                )
            }
            _ => (format!("-{a}"), f.shape.clone(), f.dim, f.smooth),
        };
        self.add_field(&name, dim, &shape, smooth, (f.middle, f.reach));
        self.set_time(time);
        format!(
            "{} {name} = {body};\n",
            over_time(dim, &shape, smooth, time)
        )
    }

    fn common_int(&mut self) -> String {
        let common = |var: &super::types::Var| var.ty == Ty::Int && var.kind == Kind::Common;
        self.choose(common).unwrap_or_else(|| "1".into())
    }

    /// A position where a field is interesting, which is on no sample and no face.
    fn position(&mut self, f: &Field, d: usize) -> String {
        let along = |this: &mut Writer| {
            let e = this.real(d.min(1));
            format!("({:.3}*sin({e}) + {:.4})", f.reach, f.middle + 0.0031)
        };
        match f.dim {
            1 => along(self),
            n => {
                let parts: Vec<String> = (0..n).map(|_| along(self)).collect();
                format!("[{}]", parts.join(", "))
            }
        }
    }

    /// Whether a field is above or below a number.
    pub(crate) fn threshold(&mut self) -> Option<String> {
        let numbers = self.fields.iter();
        let numbers = numbers.filter(|f| f.shape.is_empty() && f.time.is_none());
        let numbers: Vec<Field> = numbers.cloned().collect();
        if numbers.is_empty() {
            return None;
        }
        let f = &numbers[self.dice.below(numbers.len())];
        let at = self.position(f, 1);
        let compare = self.dice.pick(&["<", "<=", ">", ">="]);
        let scale = self.dice.pick(&["0.1", "1", "-1", "10"]);
        Some(format!(
            "({}({at}) {compare} {scale}*{})",
            f.name,
            self.dice.odd_number()
        ))
    }

    /// A probe that gives a shape, if there is a field for it.
    pub(crate) fn probe(&mut self, shape: &[usize], d: usize) -> Option<String> {
        let mut ways: Vec<(Field, &'static str)> = Vec::new();
        for f in &self.fields {
            let mut add = |prefix: &'static str, gives: &[usize], needs: usize| {
                if gives == shape && f.smooth >= needs && (needs == 0 || f.closed) {
                    ways.push((f.clone(), prefix));
                }
            };
            let dim = f.dim;
            add("", &f.shape, 0);
            add("∇²", &f.shape, 2);
            match f.shape[..] {
                [] if dim == 1 => add("∇", &[], 1),
                [] => {
                    add("∇", &[dim], 1);
                    add("∇⊗∇", &[dim, dim], 2);
                }
                [n] => {
                    if dim > 1 {
                        add("∇⊗", &[n, dim], 1);
                    }
                    if n == dim {
                        add("∇•", &[], 1);
                        match n {
                            2 => add("∇×", &[], 1),
                            3 => add("∇×", &[3], 1),
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
        }
        if ways.is_empty() {
            return None;
        }
        let (f, prefix) = ways[self.dice.below(ways.len())].clone();
        let at = self.position(&f, d);
        let time = self.time(&f, d);
        Some(format!("(0.1*{prefix}{}({at}{time}))", f.name))
    }

    /// The time of a probe, if a field is over time: between frames, or outside.
    fn time(&mut self, f: &Field, d: usize) -> String {
        match f.time {
            None => String::new(),
            Some(_) => format!(", 1.3*sin({}) + 0.9031", self.real(d.min(1))),
        }
    }

    /// A scalar field at the points of a sequence.
    pub(crate) fn at_points(&mut self, d: usize) -> Option<String> {
        let usable = |f: &&Field| f.shape.is_empty() && f.closed && f.time.is_none();
        let f = self.fields.iter().find(usable)?.clone();
        let points: Vec<String> = (0..2).map(|_| self.position(&f, d)).collect();
        let function = self.dice.pick(&["SUM", "MIN", "MAX"]);
        Some(format!(
            "(0.1*{function}({}, {{{}}}))",
            f.name,
            points.join(", ")
        ))
    }

    /// The cell of a mesh at a position.
    pub(crate) fn cell(&mut self, d: usize) -> Option<String> {
        let f = self.fields.iter().find(|f| f.has_cells)?.clone();
        let at = self.position(&f, d);
        Some(format!("GetCell({}, {at})", f.name))
    }

    /// Whether an interval that contains a field in a box is on one side of a number.
    pub(crate) fn range_in_box(&mut self, d: usize) -> Option<String> {
        let fields = self.fields.iter().filter(|f| f.closed && f.time.is_none());
        let fields: Vec<Field> = fields.cloned().collect();
        if fields.is_empty() {
            return None;
        }
        let f = fields[self.dice.below(fields.len())].clone();
        let far = Field {
            reach: 1.5 * f.reach,
            ..f
        };
        let [a, b] = [(); 2].map(|()| self.position(&far, d));
        let end = self.dice.below(2);
        let number = self.real(d);
        Some(format!("(range({}, {a}, {b})[{end}] < {number})", far.name))
    }

    pub(crate) fn inside(&mut self, d: usize) -> Option<String> {
        if self.fields.is_empty() {
            return None;
        }
        let f = self.fields[self.dice.below(self.fields.len())].clone();
        let far = Field {
            reach: 2.0 * f.reach,
            ..f
        };
        let (at, time) = (self.position(&far, d), self.time(&far, d));
        far.closed
            .then(|| format!("inside({at}{time}, {})", far.name))
    }
}
