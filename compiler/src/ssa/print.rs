//! Prints functions, one instruction a line:
//!
//! ```text
//! function update {
//!   v0: real = state 0()
//!   v2: real = if v1 {
//!     yield v0
//!   } else {
//!     yield v0
//!   }
//!   yield v2
//! }
//! ```

use super::{Block, Dialect, Function, Inst, Kind, Value};
use std::fmt;

impl<D: Dialect> fmt::Display for Function<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "function {} {{", self.name)?;
        self.print_block(f, &self.body, 1)?;
        writeln!(f, "}}")
    }
}

impl<D: Dialect> Function<D> {
    fn print_block(
        &self,
        f: &mut fmt::Formatter<'_>,
        block: &Block<D>,
        depth: usize,
    ) -> fmt::Result {
        for inst in &block.insts {
            self.print_inst(f, inst, depth)?;
        }
        writeln!(f, "{:1$}yield {2}", "", 2 * depth, list(&block.yields))
    }

    fn print_inst(&self, f: &mut fmt::Formatter<'_>, inst: &Inst<D>, depth: usize) -> fmt::Result {
        write!(f, "{:1$}", "", 2 * depth)?;
        let results: Vec<String> = inst.results.iter().map(|&v| self.typed(v)).collect();
        if !results.is_empty() {
            write!(f, "{} = ", results.join("; "))?;
        }
        match &inst.kind {
            Kind::Op(op, args) => writeln!(f, "{op}({})", list(args)),
            Kind::If {
                condition,
                then,
                otherwise,
            } => {
                writeln!(f, "if {condition} {{")?;
                self.print_block(f, then, depth + 1)?;
                writeln!(f, "{:1$}}} else {{", "", 2 * depth)?;
                self.print_block(f, otherwise, depth + 1)?;
                writeln!(f, "{:1$}}}", "", 2 * depth)
            }
            Kind::For {
                index,
                low,
                high,
                breaks,
                carried,
                init,
                body,
            } => {
                let carried: Vec<String> = carried
                    .iter()
                    .zip(init)
                    .map(|(&c, i)| format!("{} = {i}", self.typed(c)))
                    .collect();
                let word = if *breaks { "for-while" } else { "for" };
                writeln!(
                    f,
                    "{word} {index} in {low} .. {high} with {} {{",
                    carried.join("; ")
                )?;
                self.print_block(f, body, depth + 1)?;
                writeln!(f, "{:1$}}}", "", 2 * depth)
            }
        }
    }

    fn typed(&self, value: Value) -> String {
        format!("{value}: {}", self.type_of(value))
    }
}

fn list(values: &[Value]) -> String {
    values
        .iter()
        .map(Value::to_string)
        .collect::<Vec<_>>()
        .join(", ")
}
