//! Reads functions in the form that `print` writes.

use super::{Block, Dialect, Function, Inst, Kind, Value, Values};
use std::{iter::Peekable, str::Lines};

/// Reads one function.
///
/// # Errors
/// Says which line could not be read and why.
pub fn parse_function<D: Dialect>(text: &str) -> Result<Function<D>, String> {
    let mut reader = Reader {
        lines: text.lines().peekable(),
        types: Vec::new(),
    };
    let head = reader.next()?;
    let name = head
        .strip_prefix("function ")
        .and_then(|rest| rest.strip_suffix(" {"))
        .ok_or_else(|| format!("expected `function NAME {{`, found `{head}`"))?;
    let body = reader.block()?;
    reader.expect("}")?;
    // Numbers that nothing defines are left from code that was removed; their type says nothing.
    let types = reader
        .types
        .into_iter()
        .map(|ty| ty.unwrap_or(D::BOOL))
        .collect();
    Ok(Function {
        name: name.to_string(),
        types,
        body,
    })
}

struct Reader<'a, D: Dialect> {
    lines: Peekable<Lines<'a>>,
    types: Vec<Option<D::Ty>>,
}

impl<D: Dialect> Reader<'_, D> {
    fn next(&mut self) -> Result<String, String> {
        self.lines
            .next()
            .map(|line| line.trim().to_string())
            .ok_or_else(|| "unexpected end".to_string())
    }

    fn expect(&mut self, wanted: &str) -> Result<(), String> {
        let line = self.next()?;
        if line == wanted {
            Ok(())
        } else {
            Err(format!("expected `{wanted}`, found `{line}`"))
        }
    }

    /// Instructions up to and including the `yield`.
    fn block(&mut self) -> Result<Block<D>, String> {
        let mut insts = Vec::new();
        loop {
            let line = self.next()?;
            if let Some(rest) = line.strip_prefix("yield") {
                return Ok(Block {
                    insts,
                    yields: values(rest)?,
                });
            }
            insts.push(
                self.inst(&line)
                    .map_err(|why| format!("{why} in `{line}`"))?,
            );
        }
    }

    fn inst(&mut self, line: &str) -> Result<Inst<D>, String> {
        // Results are written `v0: T`; anything else before an equals sign belongs to the operation.
        let (results, rest) = match line.split_once(" = ") {
            Some((left, rest)) if left.starts_with('v') && left.contains(": ") => (
                left.split("; ")
                    .map(|r| self.definition(r))
                    .collect::<Result<_, _>>()?,
                rest,
            ),
            _ => (Values::new(), line),
        };
        let kind =
            if let Some(condition) = rest.strip_prefix("if ").and_then(|r| r.strip_suffix(" {")) {
                let then = self.block()?;
                self.expect("} else {")?;
                let otherwise = self.block()?;
                self.expect("}")?;
                Kind::If {
                    condition: value(condition)?,
                    then,
                    otherwise,
                }
            } else if let Some(header) = rest.strip_prefix("for-while ") {
                self.for_loop(header, true)?
            } else if let Some(header) = rest.strip_prefix("for ") {
                self.for_loop(header, false)?
            } else {
                let (op, args) = rest
                    .strip_suffix(')')
                    .and_then(|r| r.rsplit_once('('))
                    .ok_or_else(|| "expected an operation with arguments".to_string())?;
                Kind::Op(op.parse()?, values(args)?.into())
            };
        Ok(Inst { results, kind })
    }

    fn for_loop(&mut self, header: &str, breaks: bool) -> Result<Kind<D>, String> {
        let malformed = || "expected `INDEX in LOW .. HIGH with …`".to_string();
        let (range, carried) = header
            .strip_suffix('{')
            .and_then(|h| h.split_once(" with "))
            .ok_or_else(malformed)?;
        let (index, range) = range.split_once(" in ").ok_or_else(malformed)?;
        let (low, high) = range.split_once(" .. ").ok_or_else(malformed)?;
        let index = value(index)?;
        self.define(index, D::INT);
        let (mut params, mut init) = (Vec::new(), Vec::new());
        for item in carried.trim().split("; ").filter(|item| !item.is_empty()) {
            let (param, start) = item.split_once(" = ").ok_or_else(malformed)?;
            params.push(self.definition(param)?);
            init.push(value(start)?);
        }
        let body = self.block()?;
        self.expect("}")?;
        Ok(Kind::For {
            index,
            low: value(low)?,
            high: value(high)?,
            breaks,
            carried: params,
            init,
            body,
        })
    }

    fn definition(&mut self, text: &str) -> Result<Value, String> {
        let (name, ty) = text
            .split_once(": ")
            .ok_or_else(|| format!("expected `vN: TYPE`, found `{text}`"))?;
        let defined = value(name)?;
        self.define(defined, ty.trim().parse()?);
        Ok(defined)
    }

    fn define(&mut self, value: Value, ty: D::Ty) {
        let n = value.0 as usize;
        if self.types.len() <= n {
            self.types.resize(n + 1, None);
        }
        self.types[n] = Some(ty);
    }
}

fn value(text: &str) -> Result<Value, String> {
    text.trim()
        .strip_prefix('v')
        .and_then(|n| n.parse().ok())
        .map(Value)
        .ok_or_else(|| format!("expected a value, found `{text}`"))
}

fn values(text: &str) -> Result<Vec<Value>, String> {
    text.split(',')
        .map(str::trim)
        .filter(|v| !v.is_empty())
        .map(value)
        .collect()
}
