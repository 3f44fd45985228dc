//! Gmsh's files, versions 2.2 and 4.1, text and binary, with data of nodes, elements and nodes of elements.

use super::cursor::{Cursor, Form};
use super::pyramids::{self, Pyramids};
use super::{ArrayPlace, FemArray, FemFile, FileCell};
use crate::fem::FemError;
use crate::fem::element::Element;
use crate::nrrd::{Endian, SampleType};
use std::collections::{HashMap, hash_map::Entry};

/// Gmsh's types of pyramids, and their numbers of nodes.
const PYRAMIDS: [(u32, usize); 2] = [(7, 5), (19, 13)];

/// Gmsh's types of elements that are points or lines, with their numbers of nodes: these elements are skipped.
const LINES: [(u32, usize); 8] = [
    (1, 2),
    (8, 3),
    (15, 1),
    (26, 4),
    (27, 5),
    (28, 6),
    (62, 7),
    (63, 8),
];

pub(super) fn parse(bytes: &[u8]) -> Result<FemFile, FemError> {
    let mut at = Cursor::new(bytes);
    let mut mesh = Gmsh {
        file: FemFile::default(),
        points: HashMap::new(),
        elements: HashMap::new(),
        pyramids: Pyramids::default(),
        seen: 0,
        form: Form::Text,
        version: 0.0,
    };
    while let Some(word) = at.peek() {
        at.line();
        match word {
            "$MeshFormat" => mesh.format(&mut at)?,
            "$Nodes" => mesh.nodes(&mut at)?,
            "$Elements" => mesh.elements(&mut at)?,
            "$NodeData" => mesh.data(&mut at, ArrayPlace::Points)?,
            "$ElementData" => mesh.data(&mut at, ArrayPlace::Cells)?,
            "$ElementNodeData" => mesh.data(&mut at, ArrayPlace::CellNodes)?,
            word if word.starts_with("$End") => {}
            word if word.starts_with('$') => {
                // Physical names, entities, periodicity: nothing that a field needs.
                let end = format!("$End{}", &word[1..]);
                let rest = &bytes[at.at..];
                let found = rest.windows(end.len()).position(|w| w == end.as_bytes());
                at.at += found.ok_or_else(|| format!("`{word}` has no end"))?;
            }
            word => return Err(format!("found `{word}`, expected a section").into()),
        }
    }
    if mesh.seen == 0 {
        return Err("the file has no elements".into());
    }
    Ok(mesh.file)
}

struct Gmsh {
    file: FemFile,
    /// The place of each node by its tag.
    points: HashMap<i64, u32>,
    /// The place of each element that is kept by its tag.
    elements: HashMap<i64, usize>,
    pyramids: Pyramids,
    /// Elements so far, those that are left out counted.
    seen: u32,
    form: Form,
    version: f64,
}

impl Gmsh {
    fn format(&mut self, at: &mut Cursor<'_>) -> Result<(), FemError> {
        self.version = at.number("a version")?;
        let binary: u8 = at.number("0 or 1")?;
        let size: usize = at.number("the size of a number")?;
        at.line();
        let known = [2.2, 4.1].contains(&self.version);
        if !known || size != 8 {
            return Err(FemError::new(format!(
                "the file has Gmsh's format {} with numbers of {size} bytes",
                self.version
            ))
            .hint("save it as version 2.2 or 4.1: gmsh -save -format msh41"));
        }
        if binary == 1 {
            let one = at.take(4)?;
            self.form = Form::Binary(if one == 1_i32.to_le_bytes() {
                Endian::Little
            } else {
                Endian::Big
            });
        }
        Ok(())
    }

    fn count(&self, at: &mut Cursor<'_>, kind: SampleType) -> Result<usize, FemError> {
        let number = at.ints(1, kind, self.form)?[0];
        Ok(usize::try_from(number).map_err(|_| format!("found {number}, expected a count"))?)
    }

    fn int(&self, at: &mut Cursor<'_>) -> Result<i64, FemError> {
        Ok(at.ints(1, SampleType::I32, self.form)?[0])
    }

    /// Adds a node. Gmsh writes the mesh again with every view that it appends.
    fn node(&mut self, tag: i64, at: &[f64]) {
        if let Entry::Vacant(new) = self.points.entry(tag) {
            new.insert(self.file.points.len() as u32);
            self.file.points.push([at[0], at[1], at[2]]);
        }
    }

    fn nodes(&mut self, at: &mut Cursor<'_>) -> Result<(), FemError> {
        if self.version < 4.0 {
            let count: usize = at.number("a number of nodes")?;
            at.line();
            for _ in 0..count {
                let tag = self.int(at)?;
                let position = at.reals(3, SampleType::F64, self.form)?;
                self.node(tag, &position);
            }
            return Ok(());
        }
        let blocks = self.count(at, SampleType::U64)?;
        at.ints(3, SampleType::U64, self.form)?;
        for _ in 0..blocks {
            let head = at.ints(3, SampleType::I32, self.form)?;
            let count = self.count(at, SampleType::U64)?;
            // With parametric coordinates, as many of them follow as the entity has dimensions.
            let parameters = if head[2] == 0 {
                0
            } else {
                head[0].clamp(0, 3) as usize
            };
            let tags = at.ints(count, SampleType::U64, self.form)?;
            for tag in tags {
                let position = at.reals(3 + parameters, SampleType::F64, self.form)?;
                self.node(tag, &position);
            }
        }
        Ok(())
    }

    fn elements(&mut self, at: &mut Cursor<'_>) -> Result<(), FemError> {
        if self.version >= 4.0 {
            let blocks = self.count(at, SampleType::U64)?;
            at.ints(3, SampleType::U64, self.form)?;
            for _ in 0..blocks {
                let head = at.ints(3, SampleType::I32, self.form)?;
                let count = self.count(at, SampleType::U64)?;
                let points = points_of(head[2])?;
                for _ in 0..count {
                    let line = at.ints(1 + points, SampleType::U64, self.form)?;
                    self.element(head[2], line[0], &line[1..])?;
                }
            }
            return Ok(());
        }
        let count: usize = at.number("a number of elements")?;
        at.line();
        let mut done = 0;
        while done < count {
            if let Form::Text = self.form {
                let head = at.ints(3, SampleType::I32, self.form)?;
                let tags = usize::try_from(head[2]).map_err(|_| "a negative number of tags")?;
                let line = at.ints(tags + points_of(head[1])?, SampleType::I32, self.form)?;
                self.element(head[1], head[0], &line[tags..])?;
                done += 1;
            } else {
                let head = at.ints(3, SampleType::I32, self.form)?;
                let tags = usize::try_from(head[2]).map_err(|_| "a negative number of tags")?;
                let points = points_of(head[0])?;
                if head[1] <= 0 {
                    return Err("a block of elements is empty".into());
                }
                for _ in 0..head[1] {
                    let line = at.ints(1 + tags + points, SampleType::I32, self.form)?;
                    self.element(head[0], line[0], &line[1 + tags..])?;
                    done += 1;
                }
            }
        }
        Ok(())
    }

    fn element(&mut self, kind: i64, tag: i64, tags: &[i64]) -> Result<(), FemError> {
        let number = self.seen;
        self.seen += 1;
        let kind = u32::try_from(kind).unwrap_or(0);
        let is_pyramid = PYRAMIDS.contains(&(kind, tags.len()));
        let element = Element::of_gmsh(kind);
        if self.elements.contains_key(&tag) || element.is_none() && !is_pyramid {
            return Ok(());
        }
        let order = element.and_then(|element| element.gmsh.1);
        let mut own = Vec::new();
        for n in 0..tags.len() {
            let theirs = match is_pyramid {
                true => pyramids::GMSH[n],
                false => order.map_or(n, |order| usize::from(order[n])),
            };
            let node = tags[theirs];
            let point = self.points.get(&node);
            own.push(
                *point.ok_or_else(|| {
                    format!("element {tag} names node {node}, which there is not")
                })?,
            );
        }
        let (element, own) = match element {
            Some(element) => (element, own),
            None => {
                let hexahedron = self.pyramids.hexahedron(&mut self.file, &own);
                hexahedron.ok_or("too many points")?
            }
        };
        self.elements.insert(tag, self.file.cells.len());
        self.file.cells.push(FileCell {
            element,
            first: self.file.connectivity.len(),
            number,
        });
        self.file.connectivity.extend(own);
        Ok(())
    }

    fn data(&mut self, at: &mut Cursor<'_>, place: ArrayPlace) -> Result<(), FemError> {
        let strings: usize = at.number("a number of texts")?;
        at.line();
        let names: Vec<String> = (0..strings.min(16)).map(|_| at.line()).collect();
        let name = names
            .first()
            .map_or("", |n| n.trim_matches('"'))
            .to_string();
        let reals: usize = at.number("a number of reals")?;
        at.reals(reals, SampleType::F64, Form::Text)?;
        let ints: usize = at.number("a number of integers")?;
        let ints = at.ints(ints, SampleType::I32, Form::Text)?;
        at.line();
        let bad = || {
            FemError::new(format!(
                "the data `{name}` have no count of components and entries"
            ))
        };
        let (components, entries) = match ints[..] {
            [_, components, entries, ..] if components > 0 => (components as usize, entries),
            _ => return Err(bad()),
        };
        let tuples = match place {
            ArrayPlace::Points => self.file.points.len(),
            ArrayPlace::Cells => self.file.cells.len(),
            ArrayPlace::CellNodes => self.file.connectivity.len(),
        };
        let total = tuples
            .checked_mul(components)
            .filter(|_| components <= 9)
            .ok_or_else(bad)?;
        let mut values = vec![f64::NAN; total];
        for _ in 0..entries {
            let tag = self.int(at)?;
            let own = match place {
                ArrayPlace::CellNodes => usize::try_from(self.int(at)?).map_err(|_| bad())?,
                _ => 1,
            };
            let numbers = own.checked_mul(components).ok_or_else(bad)?;
            let tuple = at.reals(numbers, SampleType::F64, self.form)?;
            match place {
                ArrayPlace::Points => {
                    let point = self.points.get(&tag).map(|p| *p as usize);
                    let point = point
                        .ok_or_else(|| format!("`{name}` names node {tag}, which there is not"))?;
                    values[point * components..][..components].copy_from_slice(&tuple);
                }
                // Of elements that are left out nothing is kept.
                ArrayPlace::Cells => {
                    if let Some(cell) = self.elements.get(&tag) {
                        values[cell * components..][..components].copy_from_slice(&tuple);
                    }
                }
                ArrayPlace::CellNodes => {
                    if let Some(&cell) = self.elements.get(&tag) {
                        let FileCell { element, first, .. } = self.file.cells.at(cell);
                        let nodes = element.nodes().len();
                        let is_pyramid = [(5, 8), (13, 27)].contains(&(own, nodes));
                        if own != nodes && !is_pyramid {
                            return Err(
                                format!("`{name}` has {own} nodes for element {tag}").into()
                            );
                        }
                        let theirs = |n: usize| match is_pyramid {
                            true => pyramids::GMSH[n],
                            false => element.gmsh.1.map_or(n, |order| usize::from(order[n])),
                        };
                        let node = |n: usize| &tuple[theirs(n) * components..][..components];
                        let mut ordered: Vec<f64> = (0..own).flat_map(node).copied().collect();
                        if is_pyramid {
                            ordered = pyramids::on_cube(&ordered, components);
                        }
                        values[first * components..][..ordered.len()].copy_from_slice(&ordered);
                    }
                }
            }
        }
        if place == ArrayPlace::Points {
            self.pyramids.fill(&mut values, components);
        }
        self.file.arrays.push(FemArray {
            name,
            place,
            components,
            values,
        });
        Ok(())
    }
}

/// The number of points of an element type.
fn points_of(kind: i64) -> Result<usize, FemError> {
    let number = u32::try_from(kind).unwrap_or(0);
    let line = LINES
        .iter()
        .find(|(k, _)| *k == number)
        .map(|(_, points)| *points);
    let pyramid = PYRAMIDS.iter().find(|(k, _)| *k == number);
    let points = line.or(pyramid.map(|(_, points)| *points));
    let points = points.or_else(|| Element::of_gmsh(number).map(|e| e.nodes().len()));
    points.ok_or_else(|| {
        FemError::new(format!("elements of Gmsh's type {kind} are not supported"))
            .hint("triangles, quadrilaterals, tetrahedra, hexahedra, wedges and pyramids are read")
    })
}
