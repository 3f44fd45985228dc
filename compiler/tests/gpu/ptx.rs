//! An interpreter of the PTX that the compiler prints: one thread at a time, strict about syntax and types.
//!
//! Every instruction must be one of those below, with registers that are declared in the class that it wants; an unknown
//! form, a type that does not fit or an address that was never given out ends the test.

use std::collections::HashMap;

/// A register or a constant.
#[derive(Clone, Copy, Debug)]
enum Operand {
    Register(usize),
    Constant(u64),
}

#[derive(Clone, Debug)]
enum Step {
    /// A computation: operation, types, target, sources.
    Compute(String, Vec<String>, usize, Vec<Operand>),
    /// A special register.
    Special(&'static str, usize),
    /// The address of a table.
    Table(usize, usize),
    /// Several neighbours in memory, each to its target.
    Load(Space, String, Vec<usize>, Address),
    /// To neighbours in memory.
    Store(Space, String, Address, Vec<Operand>),
    /// An atomic operation; the old value goes to the target, if there is one.
    Atomic(String, Option<usize>, Address, Operand),
    /// An atomic sum of 64 bits, likewise.
    WideSum(usize, Address, Operand),
    /// Done where a register has a truth value.
    Guarded(usize, bool, Box<Step>),
    Branch(usize),
    Return,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Space {
    Parameter,
    Global,
    Constant,
    Local,
}

#[derive(Clone, Copy, Debug)]
struct Address {
    register: Option<usize>,
    offset: u64,
}

/// A kernel that was read.
#[derive(Debug)]
pub(crate) struct Kernel {
    steps: Vec<Step>,
    registers: usize,
    constants: Vec<u8>,
    local_bytes: usize,
    pub(crate) parameter_bytes: usize,
}

/// Memory of the machine.
pub(crate) trait Memory {
    fn load(&self, address: u64, bytes: usize) -> u64;
    fn store(&mut self, address: u64, bytes: usize, value: u64);
}

fn bytes_of(ty: &str) -> usize {
    match ty {
        "u8" => 1,
        "f32" | "s32" | "u32" | "b32" => 4,
        "f64" | "s64" | "u64" | "b64" => 8,
        other => panic!("type {other}"),
    }
}

/// Whether a register declared so may stand where an instruction wants a type.
fn fits(declared: &str, wanted: &str) -> bool {
    match wanted {
        "s32" | "u32" | "b32" => declared == "b32",
        "s64" | "u64" => declared == "b64",
        "bits32" => declared == "b32" || declared == "f32",
        // Bits may be moved between classes of the same size.
        "b64" => declared == "b64" || declared == "f64",
        other => declared == other,
    }
}

impl Address {
    fn in_registers(&self, registers: &[u64]) -> u64 {
        let base = self.register.map_or(0, |r| registers[r]);
        base.wrapping_add(self.offset)
    }
}

impl Operand {
    fn in_registers(&self, registers: &[u64]) -> u64 {
        match *self {
            Operand::Register(r) => registers[r],
            Operand::Constant(c) => c,
        }
    }
}

/// This many bytes at a place.
fn word_in(bytes: &[u8], place: u64, count: usize) -> u64 {
    let place = place as usize;
    let mut word = [0; 8];
    word[..count].copy_from_slice(&bytes[place..place + count]);
    u64::from_le_bytes(word)
}

struct Reader {
    names: HashMap<String, (usize, String)>,
    tables: HashMap<String, usize>,
}

impl Kernel {
    /// Reads an entry point of a text.
    pub(crate) fn read(text: &str, entry: &str) -> Kernel {
        let mut reader = Reader {
            names: HashMap::new(),
            tables: HashMap::new(),
        };
        let (mut constants, mut registers, mut parameter_bytes) = (Vec::new(), 0, None);
        let (mut local_bytes, mut is_wanted) = (0, true);
        let mut labels = HashMap::new();
        let mut instructions: Vec<String> = Vec::new();
        assert!(text.starts_with(".version 6.2\n.target sm_60\n.address_size 64\n"));
        for line in text
            .lines()
            .skip(3)
            .map(str::trim)
            .filter(|l| !l.is_empty())
        {
            if let Some(rest) = line.strip_prefix(".const .align 8 .") {
                let (ty, rest) = rest.split_once(' ').expect("a type");
                let (name, rest) = rest.split_once('[').expect("a name");
                let (count, list) = rest.split_once("] = {").expect("a count");
                let list = list.strip_suffix("};").expect("a list");
                let numbers: Vec<&str> = list.split(", ").collect();
                assert_eq!(numbers.len(), count.parse::<usize>().unwrap(), "{line}");
                reader.tables.insert(name.to_string(), constants.len());
                for number in numbers {
                    let bits = constant(number, ty).expect("a number");
                    constants.extend_from_slice(&bits.to_le_bytes()[..bytes_of(ty)]);
                }
            } else if let Some(rest) = line.strip_prefix(".visible .entry ") {
                let (name, rest) = rest.split_once("(.param .align 8 .b8 P[").expect(line);
                let bytes: usize = rest.strip_suffix("])").unwrap().parse().unwrap();
                is_wanted = name == entry;
                // All take the same.
                assert_eq!(*parameter_bytes.get_or_insert(bytes), bytes);
            } else if !is_wanted {
                continue;
            } else if let Some(rest) = line.strip_prefix(".local .align 4 .b8 ") {
                let (name, bytes) = rest.strip_suffix("];").unwrap().split_once('[').unwrap();
                reader.tables.insert(name.into(), local_bytes);
                let bytes: usize = bytes.parse().unwrap();
                local_bytes += bytes.next_multiple_of(16);
            } else if let Some(rest) = line.strip_prefix(".reg .") {
                let (ty, rest) = rest.split_once(' ').unwrap();
                let (prefix, count) = rest.strip_suffix(">;").unwrap().split_once('<').unwrap();
                for n in 0..count.parse::<usize>().unwrap() {
                    let known = reader
                        .names
                        .insert(format!("{prefix}{n}"), (registers, ty.to_string()));
                    assert!(known.is_none(), "{line}");
                    registers += 1;
                }
            } else if let Some(label) = line.strip_suffix(':') {
                assert!(
                    labels
                        .insert(label.to_string(), instructions.len())
                        .is_none(),
                    "{label}"
                );
            } else if !matches!(line, "{" | "}" | ".maxntid 128, 1, 1") {
                instructions.push(line.strip_suffix(';').expect(line).to_string());
            }
        }
        let steps = instructions
            .iter()
            .map(|line| reader.step(line, &labels))
            .collect();
        Kernel {
            steps,
            registers,
            constants,
            local_bytes,
            parameter_bytes: parameter_bytes.expect("an entry point"),
        }
    }

    /// Runs one thread.
    pub(crate) fn thread(
        &self,
        block: u32,
        thread: u32,
        parameters: &[u8],
        memory: &mut dyn Memory,
    ) {
        let mut registers = vec![0u64; self.registers];
        let mut local = vec![0xA5; self.local_bytes];
        let mut at = 0;
        loop {
            let mut step = &self.steps[at];
            if let Step::Guarded(register, wanted, guarded) = step {
                if (registers[*register] != 0) != *wanted {
                    at += 1;
                    continue;
                }
                step = guarded;
            }
            match step {
                Step::Compute(operation, types, target, sources) => {
                    let value = |n: usize| match sources[n] {
                        Operand::Register(r) => registers[r],
                        Operand::Constant(c) => c,
                    };
                    let sources: Vec<u64> = (0..sources.len()).map(value).collect();
                    registers[*target] = compute(operation, types, &sources);
                }
                Step::Special(name, target) => {
                    registers[*target] = match *name {
                        "%ctaid.x" => block.into(),
                        "%ntid.x" => 128,
                        _ => thread.into(),
                    }
                }
                Step::Table(target, offset) => registers[*target] = *offset as u64,
                Step::Load(space, ty, targets, address) => {
                    let count = bytes_of(ty);
                    let first = address.in_registers(&registers);
                    assert_eq!(first % (targets.len() * count) as u64, 0, "alignment");
                    for (n, target) in targets.iter().enumerate() {
                        let place = first + (n * count) as u64;
                        registers[*target] = match space {
                            Space::Parameter => word_in(parameters, place, count),
                            Space::Constant => word_in(&self.constants, place, count),
                            Space::Local => word_in(&local, place, count),
                            Space::Global => memory.load(place, count),
                        };
                    }
                }
                Step::Store(space, ty, address, sources) => {
                    let first = address.in_registers(&registers);
                    let count = bytes_of(ty);
                    assert_eq!(first % (sources.len() * count) as u64, 0, "alignment");
                    for (n, source) in sources.iter().enumerate() {
                        let place = first + (n * count) as u64;
                        let value = source.in_registers(&registers);
                        match space {
                            Space::Local => local[place as usize..place as usize + count]
                                .copy_from_slice(&value.to_le_bytes()[..count]),
                            _ => memory.store(place, count, value),
                        }
                    }
                }
                Step::Atomic(how, target, address, source) => {
                    let place = address.in_registers(&registers);
                    let value = source.in_registers(&registers) as u32;
                    let before = memory.load(place, 4) as u32;
                    let after = match how.as_str() {
                        "add" => before.wrapping_add(value),
                        _ => before.max(value),
                    };
                    memory.store(place, 4, after.into());
                    if let Some(target) = target {
                        registers[*target] = before.into();
                    }
                }
                Step::WideSum(target, address, source) => {
                    let place = address.in_registers(&registers);
                    let before = memory.load(place, 8);
                    let after = before.wrapping_add(source.in_registers(&registers));
                    memory.store(place, 8, after);
                    registers[*target] = before;
                }
                Step::Branch(to) => {
                    at = *to;
                    continue;
                }
                Step::Guarded(..) => panic!("one condition is enough"),
                Step::Return => return,
            }
            at += 1;
        }
    }
}

impl Reader {
    fn register(&self, name: &str, wanted: &str, line: &str) -> usize {
        let (number, declared) = self
            .names
            .get(name)
            .unwrap_or_else(|| panic!("{name}: {line}"));
        assert!(fits(declared, wanted), "{name} is {declared}: {line}");
        *number
    }

    fn operand(&self, text: &str, wanted: &str, line: &str) -> Operand {
        if text.starts_with('%') {
            return Operand::Register(self.register(text, wanted, line));
        }
        let value = constant(text, wanted).unwrap_or_else(|| panic!("{text}: {line}"));
        Operand::Constant(value)
    }

    fn address(&self, text: &str, line: &str) -> Address {
        let inner = text
            .strip_prefix('[')
            .and_then(|t| t.strip_suffix(']'))
            .expect(line);
        let (base, offset) = inner.split_once('+').unwrap_or((inner, "0"));
        Address {
            register: (base != "P").then(|| self.register(base, "b64", line)),
            offset: offset.parse().expect(line),
        }
    }

    fn step(&self, line: &str, labels: &HashMap<String, usize>) -> Step {
        let to = |label: &str| *labels.get(label).unwrap_or_else(|| panic!("{line}"));
        if let Some(rest) = line.strip_prefix('@') {
            let (condition, guarded) = rest.split_once(' ').expect(line);
            let wanted = !condition.starts_with('!');
            let register = self.register(condition.trim_start_matches('!'), "pred", line);
            return Step::Guarded(register, wanted, Box::new(self.step(guarded, labels)));
        }
        if let Some(target) = line.strip_prefix("bra ") {
            return Step::Branch(to(target));
        }
        if line == "ret" {
            return Step::Return;
        }
        let (instruction, operands) = line.split_once(' ').expect(line);
        let parts: Vec<&str> = instruction.split('.').collect();
        if let ["ld", "global", "nc", count @ ("v2" | "v4"), ty] = parts[..] {
            let (targets, address) = operands.split_once("}, ").expect(line);
            let targets: Vec<&str> = targets.strip_prefix('{').expect(line).split(", ").collect();
            assert_eq!(format!("v{}", targets.len()), count, "{line}");
            assert!(targets.len() * bytes_of(ty) <= 16, "{line}");
            return self.load(Space::Global, ty, &targets, address, line);
        }
        if let ["st", "global", count @ ("v2" | "v4"), ty] = parts[..] {
            let (address, sources) = operands.split_once(", {").expect(line);
            let sources: Vec<&str> = sources.strip_suffix('}').expect(line).split(", ").collect();
            assert_eq!(format!("v{}", sources.len()), count, "{line}");
            assert!(sources.len() * bytes_of(ty) <= 16, "{line}");
            return self.store(Space::Global, ty, address, &sources, line);
        }
        let operands: Vec<&str> = operands.split(", ").collect();
        match parts[..] {
            // Threads run alone here.
            ["activemask", "b32"] => {
                let target = self.register(operands[0], "b32", line);
                let one = vec![Operand::Constant(1)];
                Step::Compute("mov".into(), vec!["b32".into(); 2], target, one)
            }
            ["vote", "sync", "any", "pred"] => {
                self.register(operands[2], "b32", line);
                let [target, own] = [0, 1].map(|n| self.register(operands[n], "pred", line));
                let own = vec![Operand::Register(own)];
                Step::Compute("mov".into(), vec!["pred".into(); 2], target, own)
            }
            ["mov", "u32"] if operands[1].starts_with("%ctaid") || operands[1].contains("tid") => {
                let special = ["%ctaid.x", "%ntid.x", "%tid.x"];
                let name = special
                    .into_iter()
                    .find(|name| *name == operands[1])
                    .expect(line);
                Step::Special(name, self.register(operands[0], "u32", line))
            }
            ["mov", "u64"] if self.tables.contains_key(operands[1]) => Step::Table(
                self.register(operands[0], "b64", line),
                self.tables[operands[1]],
            ),
            ["ld", space @ ("param" | "const" | "global" | "local"), ty]
            | ["ld", space @ "global", "nc", ty] => {
                let space = match space {
                    "param" => Space::Parameter,
                    "const" => Space::Constant,
                    "local" => Space::Local,
                    _ => Space::Global,
                };
                self.load(space, ty, &operands[..1], operands[1], line)
            }
            ["st", space @ ("global" | "local"), ty] => {
                let space = match space {
                    "local" => Space::Local,
                    _ => Space::Global,
                };
                self.store(space, ty, operands[0], &operands[1..], line)
            }
            ["atom", "global", "add", "u32"] => Step::Atomic(
                "add".into(),
                Some(self.register(operands[0], "u32", line)),
                self.address(operands[1], line),
                self.operand(operands[2], "u32", line),
            ),
            ["atom", "global", "add", "u64"] => Step::WideSum(
                self.register(operands[0], "u64", line),
                self.address(operands[1], line),
                self.operand(operands[2], "u64", line),
            ),
            ["red", "global", "max", "u32"] => Step::Atomic(
                "max".into(),
                None,
                self.address(operands[0], line),
                self.operand(operands[1], "u32", line),
            ),
            _ => self.compute(&parts, &operands, line),
        }
    }

    fn load(&self, space: Space, ty: &str, targets: &[&str], address: &str, line: &str) -> Step {
        // A byte goes to a wider register.
        let class = if ty == "u8" { "u32" } else { ty };
        let targets = targets.iter().map(|name| self.register(name, class, line));
        Step::Load(
            space,
            ty.into(),
            targets.collect(),
            self.address(address, line),
        )
    }

    fn store(&self, space: Space, ty: &str, address: &str, sources: &[&str], line: &str) -> Step {
        // A byte comes from a wider register.
        let class = if ty == "u8" { "u32" } else { ty };
        let source = |name: &&str| Operand::Register(self.register(name, class, line));
        let sources = sources.iter().map(source).collect();
        Step::Store(space, ty.into(), self.address(address, line), sources)
    }

    /// An instruction on registers: its name without rounding, and the types of target and sources.
    fn compute(&self, parts: &[&str], operands: &[&str], line: &str) -> Step {
        let (name, types): (String, Vec<&str>) = match *parts {
            ["add" | "sub" | "mul" | "div", "rn", ty @ ("f32" | "f64")] => {
                (parts[0].into(), vec![ty; 3])
            }
            ["fma", "rn", ty @ ("f32" | "f64")] => ("fma".into(), vec![ty; 4]),
            ["sqrt", "rn", ty @ ("f32" | "f64")] => ("sqrt".into(), vec![ty; 2]),
            ["neg" | "abs", ty @ ("f32" | "f64")] => (parts[0].into(), vec![ty; 2]),
            ["min", "u32"] => ("least".into(), vec!["u32"; 3]),
            ["max", "u32"] => ("greatest".into(), vec!["u32"; 3]),
            ["min" | "max", ty @ ("f32" | "f64")] => (parts[0].into(), vec![ty; 3]),
            ["copysign", ty @ ("f32" | "f64")] => ("copysign".into(), vec![ty; 3]),
            ["mov", "b32"] => ("mov".into(), vec!["bits32"; 2]),
            ["mov", ty] => ("mov".into(), vec![ty; 2]),
            ["add" | "sub" | "div" | "rem", ty @ ("s32" | "s64" | "u32")] => {
                (parts[0].into(), vec![ty; 3])
            }
            ["neg", ty @ ("s32" | "s64")] => ("neg".into(), vec![ty; 2]),
            ["mul", "lo", ty @ ("s32" | "s64")] => ("mul".into(), vec![ty; 3]),
            ["mad", "lo", ty @ ("u32" | "s32" | "s64")] => ("mad".into(), vec![ty; 4]),
            ["mad", "wide", ty @ ("u32" | "s32")] => {
                ("mad.wide".into(), vec!["b64", ty, ty, "b64"])
            }
            ["shl", "b32"] | ["shr", "u32"] => (parts[0].into(), vec![parts[1]; 3]),
            ["shl", "b64"] | ["shr", "u64"] => (parts[0].into(), vec![parts[1], parts[1], "u32"]),
            ["and" | "or", ty @ ("b32" | "b64" | "pred")] => (parts[0].into(), vec![ty; 3]),
            ["not", "pred"] => ("not".into(), vec!["pred"; 2]),
            ["setp", how @ ("eq" | "ne" | "lt" | "le" | "gt" | "ge"), ty] => {
                (format!("setp.{how}"), vec!["pred", ty, ty])
            }
            ["selp", ty] => ("selp".into(), vec![ty, ty, ty, "pred"]),
            ["cvta", "to", "global", "u64"] => ("mov".into(), vec!["u64"; 2]),
            ["cvt", "rmi", to @ ("f32" | "f64"), from] if to == from => {
                ("floor".into(), vec![to; 2])
            }
            ["cvt", "rzi", to @ ("s32" | "s64"), from @ ("f32" | "f64")] => {
                ("to-int".into(), vec![to, from])
            }
            ["cvt", "rn", to @ ("f32" | "f64"), from @ ("s32" | "s64")] => {
                ("to-real".into(), vec![to, from])
            }
            ["cvt", "rn", "f32", "f64"] => ("round".into(), vec!["f32", "f64"]),
            ["cvt", "f64", "f32"] => ("widen".into(), vec!["f64", "f32"]),
            ["cvt", "s64", "s32"] => ("extend".into(), vec!["s64", "s32"]),
            ["cvt", "u64", "u32"] => ("extend".into(), vec!["u64", "u32"]),
            ["cvt", "u32", "u64"] => ("cut".into(), vec!["u32", "u64"]),
            _ => panic!("unknown instruction: {line}"),
        };
        assert_eq!(types.len(), operands.len(), "{line}");
        assert!(
            operands[1..].iter().any(|o| o.starts_with('%')) || name == "mov",
            "no register among the sources: {line}"
        );
        let target = self.register(operands[0], types[0], line);
        let sources = operands[1..].iter().zip(&types[1..]);
        let sources = sources.map(|(o, ty)| self.operand(o, ty, line)).collect();
        Step::Compute(
            name,
            types.into_iter().map(String::from).collect(),
            target,
            sources,
        )
    }
}

/// The bits of a constant where an instruction wants a type.
fn constant(text: &str, ty: &str) -> Option<u64> {
    match ty {
        "f32" => u32::from_str_radix(text.strip_prefix("0f")?, 16)
            .ok()
            .map(u64::from),
        "f64" => u64::from_str_radix(text.strip_prefix("0d")?, 16).ok(),
        "b64" if text.starts_with("0x") => u64::from_str_radix(&text[2..], 16).ok(),
        "s32" | "u32" | "b32" => text.parse::<i64>().ok().map(|n| u64::from(n as u32)),
        "s64" | "u64" | "b64" => text.parse::<i64>().ok().map(|n| n as u64),
        _ => None,
    }
}

/// What an instruction gives. Numbers are computed in their own precision.
fn compute(name: &str, types: &[String], x: &[u64]) -> u64 {
    let ty = types[types.len().min(2) - 1].as_str();
    let single = |n: usize| f32::from_bits(x[n] as u32);
    let double = |n: usize| f64::from_bits(x[n]);
    let int = |n: usize| match ty {
        "s64" | "u64" => x[n] as i64,
        "u32" | "b32" => i64::from(x[n] as u32),
        _ => i64::from(x[n] as u32 as i32),
    };
    let whole = |n: i64| match types[0].as_str() {
        "s32" | "u32" | "b32" => u64::from(n as u32),
        _ => n as u64,
    };
    macro_rules! float {
        ($single:expr, $double:expr) => {
            if ty == "f32" {
                u64::from(($single).to_bits())
            } else {
                ($double).to_bits()
            }
        };
    }
    match (name, ty) {
        ("add", "f32" | "f64") => float!(single(0) + single(1), double(0) + double(1)),
        ("sub", "f32" | "f64") => float!(single(0) - single(1), double(0) - double(1)),
        ("mul", "f32" | "f64") => float!(single(0) * single(1), double(0) * double(1)),
        ("div", "f32" | "f64") => float!(single(0) / single(1), double(0) / double(1)),
        ("neg", "f32" | "f64") => float!(-single(0), -double(0)),
        ("abs", _) => float!(single(0).abs(), double(0).abs()),
        ("sqrt", _) => float!(single(0).sqrt(), double(0).sqrt()),
        ("floor", _) => float!(single(0).floor(), double(0).floor()),
        ("fma", _) => float!(
            single(0).mul_add(single(1), single(2)),
            double(0).mul_add(double(1), double(2))
        ),
        // A NaN is dropped, and −0 is below 0.
        ("min" | "max", _) => {
            let (a, b) = match ty {
                "f32" => (f64::from(single(0)), f64::from(single(1))),
                _ => (double(0), double(1)),
            };
            let is_first = match (a.is_nan(), b.is_nan()) {
                (false, false) => a.total_cmp(&b).is_le() == (name == "min"),
                (is_nan, _) => !is_nan,
            };
            x[usize::from(!is_first)]
        }
        // The sign of the first and the magnitude of the second.
        ("copysign", _) => float!(single(1).copysign(single(0)), double(1).copysign(double(0))),
        ("mov", _) => x[0],
        ("add", _) => whole(int(0).wrapping_add(int(1))),
        ("sub", _) => whole(int(0).wrapping_sub(int(1))),
        ("mul", _) => whole(int(0).wrapping_mul(int(1))),
        ("mad", _) => whole(int(0).wrapping_mul(int(1)).wrapping_add(x[2] as i64)),
        ("mad.wide", _) => (int(0).wrapping_mul(int(1)) as u64).wrapping_add(x[2]),
        ("neg", _) => whole(int(0).wrapping_neg()),
        ("div", _) => whole(int(0).checked_div(int(1)).expect("a quotient")),
        ("rem", _) => whole(int(0).checked_rem(int(1)).expect("a remainder")),
        ("shl", "b32") => u64::from((x[0] as u32) << x[1]),
        ("shl", _) => x[0] << x[1],
        ("shr", _) => x[0] >> x[1],
        ("and", _) => x[0] & x[1],
        ("or", _) => x[0] | x[1],
        ("not", _) => u64::from(x[0] == 0),
        ("selp", _) => {
            if x[2] != 0 {
                x[0]
            } else {
                x[1]
            }
        }
        ("to-int", "f32") => whole(single(0) as i64),
        ("to-int", _) => whole(double(0) as i64),
        ("to-real", _) if types[0] == "f32" => u64::from((int(0) as f32).to_bits()),
        ("to-real", _) => (int(0) as f64).to_bits(),
        ("round", _) => u64::from((double(0) as f32).to_bits()),
        ("widen", _) => f64::from(single(0)).to_bits(),
        ("extend", _) => int(0) as u64,
        ("cut", _) => u64::from(x[0] as u32),
        ("least", _) => x[0].min(x[1]),
        ("greatest", _) => x[0].max(x[1]),
        (name, _) => {
            let how = name.strip_prefix("setp.").expect("a comparison");
            let ordering = match ty {
                "f32" => single(0).partial_cmp(&single(1)),
                "f64" => double(0).partial_cmp(&double(1)),
                _ => Some(int(0).cmp(&int(1))),
            };
            u64::from(match how {
                "eq" => ordering.is_some_and(|o| o.is_eq()),
                "ne" => ordering.is_some_and(|o| o.is_ne()),
                "lt" => ordering.is_some_and(|o| o.is_lt()),
                "le" => ordering.is_some_and(|o| o.is_le()),
                "gt" => ordering.is_some_and(|o| o.is_gt()),
                _ => ordering.is_some_and(|o| o.is_ge()),
            })
        }
    }
}
