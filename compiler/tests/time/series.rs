//! Series of mesh files: a square or a cube in cells of one kind, with values of functions of position and time.

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

/// Cells along each edge.
const EDGE: usize = 3;

/// The kinds of cells: dimension, nodes, and VTK's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cells {
    Triangles,
    CurvedTriangles,
    Tetrahedra,
    QuadraticTetrahedra,
    Hexahedra,
}

impl Cells {
    pub(crate) const ALL: [Cells; 5] = [
        Cells::Triangles,
        Cells::CurvedTriangles,
        Cells::Tetrahedra,
        Cells::QuadraticTetrahedra,
        Cells::Hexahedra,
    ];

    pub(crate) fn dim(self) -> usize {
        match self {
            Cells::Triangles | Cells::CurvedTriangles => 2,
            _ => 3,
        }
    }

    /// The degree of polynomials that the cells hold exactly, where they are straight.
    pub(crate) fn degree(self) -> usize {
        match self {
            Cells::CurvedTriangles | Cells::QuadraticTetrahedra => 2,
            _ => 1,
        }
    }

    fn vtk(self) -> usize {
        match self {
            Cells::Triangles => 5,
            Cells::CurvedTriangles => 22,
            Cells::Tetrahedra => 10,
            Cells::QuadraticTetrahedra => 24,
            Cells::Hexahedra => 12,
        }
    }
}

/// A mesh: points, and the points of each cell.
struct Mesh {
    points: Vec<[f64; 3]>,
    cells: Vec<Vec<usize>>,
}

/// Corners of a small cube, or square, in the order of VTK.
const CUBE: [[usize; 3]; 8] = [
    [0, 0, 0],
    [1, 0, 0],
    [1, 1, 0],
    [0, 1, 0],
    [0, 0, 1],
    [1, 0, 1],
    [1, 1, 1],
    [0, 1, 1],
];

/// The tetrahedra of a cube, one for each order of the axes; all are oriented alike.
fn tetrahedra() -> Vec<Vec<[usize; 3]>> {
    let orders = [
        [0, 1, 2],
        [1, 2, 0],
        [2, 0, 1],
        [0, 2, 1],
        [2, 1, 0],
        [1, 0, 2],
    ];
    let one = |n: usize| {
        let mut at = [0; 3];
        let mut corners = vec![at];
        for axis in orders[n] {
            at[axis] = 1;
            corners.push(at);
        }
        if n > 2 {
            corners.swap(2, 3);
        }
        corners
    };
    (0..6).map(one).collect()
}

impl Mesh {
    /// The unit square or cube, sheared by a factor, so that the mesh is another one.
    fn new(cells: Cells, shear: f64) -> Mesh {
        let (kinds, edges): (Vec<Vec<[usize; 3]>>, &[[usize; 2]]) = match cells {
            Cells::Triangles | Cells::CurvedTriangles => (
                vec![
                    vec![CUBE[0], CUBE[1], CUBE[2]],
                    vec![CUBE[0], CUBE[2], CUBE[3]],
                ],
                &[[0, 1], [1, 2], [2, 0]],
            ),
            Cells::Hexahedra => (vec![CUBE.to_vec()], &[]),
            _ => (
                tetrahedra(),
                &[[0, 1], [1, 2], [2, 0], [0, 3], [1, 3], [2, 3]],
            ),
        };
        let edges = if cells.degree() == 2 { edges } else { &[] };
        let mut known: HashMap<[usize; 3], usize> = HashMap::new();
        let mut mesh = Mesh {
            points: Vec::new(),
            cells: Vec::new(),
        };
        // Places are counted in halves of an edge.
        let mut point = |at: [usize; 3]| {
            *known.entry(at).or_insert_with(|| {
                let [x, y, z] = at.map(|n| n as f64 / (2 * EDGE) as f64);
                // The nodes between corners bend the edges of curved cells.
                let bend = match cells {
                    Cells::CurvedTriangles if at[0] % 2 == 1 => 0.01,
                    _ => 0.0,
                };
                mesh.points.push([x + shear * y, y + bend, z]);
                mesh.points.len() - 1
            })
        };
        let layers = if cells.dim() == 3 { EDGE } else { 1 };
        for cube in 0..EDGE * EDGE * layers {
            let at = [cube % EDGE, cube / EDGE % EDGE, cube / (EDGE * EDGE)];
            for kind in &kinds {
                let corners: Vec<[usize; 3]> = kind
                    .iter()
                    .map(|corner| std::array::from_fn(|a| 2 * (at[a] + corner[a])))
                    .collect();
                let middles = edges.iter().map(|[a, b]| {
                    std::array::from_fn(|axis| (corners[*a][axis] + corners[*b][axis]) / 2)
                });
                let all: Vec<[usize; 3]> = corners.iter().copied().chain(middles).collect();
                mesh.cells.push(all.into_iter().map(&mut point).collect());
            }
        }
        mesh
    }

    /// A file with the arrays `u`, of numbers, and `v`, of vectors.
    fn vtu(&self, cells: Cells, values: &dyn Fn(&[f64; 3]) -> [f64; 4]) -> String {
        let real = |x: &f64| format!("{x:?}");
        let all: Vec<[f64; 4]> = self.points.iter().map(values).collect();
        let points = array(
            "Points",
            "Float64",
            3,
            self.points.iter().flatten().map(real),
        );
        let numbers = array("u", "Float64", 1, all.iter().map(|u| real(&u[0])));
        let vectors = array(
            "v",
            "Float64",
            3,
            all.iter().flat_map(|u| &u[1..]).map(real),
        );
        let nodes = self.cells.iter().flatten().map(usize::to_string);
        let ends = (1..=self.cells.len()).map(|n| (n * self.cells[0].len()).to_string());
        let types = self.cells.iter().map(|_| cells.vtk().to_string());
        let cells = [
            array("connectivity", "Int64", 1, nodes),
            array("offsets", "Int64", 1, ends),
            array("types", "Int64", 1, types),
        ];
        format!(
            "<VTKFile type=\"UnstructuredGrid\" version=\"2.1\"><UnstructuredGrid>\n\
             <Piece NumberOfPoints=\"{}\" NumberOfCells=\"{}\">\n\
             <Points>\n{points}</Points>\n<Cells>\n{}</Cells>\n\
             <PointData>\n{numbers}{vectors}</PointData>\n\
             </Piece></UnstructuredGrid></VTKFile>\n",
            self.points.len(),
            self.cells.len(),
            cells.concat()
        )
    }
}

/// An array of numbers in a file.
fn array(
    name: &str,
    kind: &str,
    components: usize,
    numbers: impl Iterator<Item = String>,
) -> String {
    let numbers = numbers.collect::<Vec<_>>().join(" ");
    format!(
        "<DataArray type=\"{kind}\" Name=\"{name}\" NumberOfComponents=\"{components}\" format=\"ascii\">{numbers}</DataArray>\n"
    )
}

/// A folder that is removed in the end.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Folder {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Relaxed);
        let name = format!("diderot-series-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).expect("a folder");
        Folder(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.0.join(name), text).expect("a file");
    }

    /// Writes files `frame0.vtu`, `frame1.vtu`, … and the collection `series.pvd` of them.
    pub(crate) fn series(
        &self,
        cells: Cells,
        times: &[f64],
        value: &dyn Fn(&[f64; 3], f64) -> [f64; 4],
    ) {
        let mesh = Mesh::new(cells, 0.0);
        let mut entries = Vec::new();
        for (n, &time) in times.iter().enumerate() {
            let name = format!("frame{n}.vtu");
            self.write(&name, &mesh.vtu(cells, &|x| value(x, time)));
            entries.push((time, name));
        }
        self.collection("series.pvd", &entries);
    }

    /// Writes the frames of [`Folder::series`] in two pieces each, and the collection `pieces.pvd` of them. The second frame has a file
    /// that names its pieces.
    pub(crate) fn pieces(
        &self,
        cells: Cells,
        times: &[f64],
        value: &dyn Fn(&[f64; 3], f64) -> [f64; 4],
    ) {
        let mut left = Mesh::new(cells, 0.0);
        let right = Mesh {
            points: left.points.clone(),
            cells: left.cells.split_off(left.cells.len() / 2),
        };
        let mut entries = Vec::new();
        for (n, &time) in times.iter().enumerate() {
            let names = [format!("left{n}.vtu"), format!("right{n}.vtu")];
            for (mesh, name) in [&left, &right].iter().zip(&names) {
                self.write(name, &mesh.vtu(cells, &|x| value(x, time)));
            }
            if n == 1 {
                let pieces = names.map(|name| format!("<Piece Source=\"{name}\"/>"));
                let text = format!(
                    "<VTKFile type=\"PUnstructuredGrid\"><PUnstructuredGrid>{}</PUnstructuredGrid></VTKFile>\n",
                    pieces.concat()
                );
                self.write("second.pvtu", &text);
                entries.push((time, "second.pvtu".to_string()));
            } else {
                entries.extend(names.map(|name| (time, name)));
            }
        }
        self.collection("pieces.pvd", &entries);
    }

    /// Writes one file, of a sheared mesh.
    pub(crate) fn sheared(&self, name: &str, cells: Cells) {
        let mesh = Mesh::new(cells, 0.125);
        self.write(name, &mesh.vtu(cells, &|_| [0.0; 4]));
    }

    /// Writes a collection of files.
    pub(crate) fn collection(&self, name: &str, entries: &[(f64, String)]) {
        let sets = entries.iter().map(|(time, file)| {
            format!("<DataSet timestep=\"{time}\" part=\"0\" file=\"{file}\"/>\n")
        });
        let sets: String = sets.collect();
        let text = format!(
            "<VTKFile type=\"Collection\" version=\"0.1\"><Collection>\n{sets}</Collection></VTKFile>\n"
        );
        self.write(name, &text);
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
