//! VTK's XML files are read as XML: with entities, comments, CDATA sections and `>` in attribute values.
//!
//! Every file is written here twice, plainly and with all of these; both must give the numbers that were written.

use std::path::Path;

use runtime::fem::FemFile;
use runtime::image::{Declared, Image, Reading};
use runtime::input::sequence::read_reals;

/// Numbers 1, 2, 3 … in text: plainly, and with markup in every place where XML allows it.
fn numbers(count: usize) -> [String; 2] {
    let words: Vec<String> = (1..=count).map(|n| n.to_string()).collect();
    let (first, rest) = words.split_at(count / 2);
    let (first, rest) = (first.join(" "), rest.join("\n"));
    [
        format!("{first} {rest}"),
        format!("<!-- 99 > 98 --> {first} <![CDATA[{rest}]]><!-- 97 -->"),
    ]
}

/// The bytes of some numbers of single precision after their length, in base64: plainly, and in a CDATA section with a comment.
fn base64(numbers: &[f32]) -> [String; 2] {
    let mut bytes = (4 * numbers.len() as u32).to_le_bytes().to_vec();
    bytes.extend(numbers.iter().flat_map(|x| x.to_le_bytes()));
    let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let all = group.iter().fold(0_u32, |all, b| all << 8 | u32::from(*b));
        let all = all << (8 * (3 - group.len()));
        for n in 0..4 {
            let digit = digits[(all >> (18 - 6 * n) & 63) as usize];
            text.push(if n <= group.len() { digit.into() } else { '=' });
        }
    }
    let (start, end) = text.split_at(text.len() / 2);
    [
        text.clone(),
        format!("\n{start}<!-- AAAA --><![CDATA[{end}]]>\n"),
    ]
}

/// A document of VTK around its data: plain, or with a comment and an attribute that contain markup.
fn document(kind: &str, data: &str, is_plain: bool) -> String {
    let before = match is_plain {
        true => "",
        false => "<!-- <VTKFile type=\"Wrong\"><Piece/> -->\n",
    };
    let about = match is_plain {
        true => "",
        false => " about='<Piece> & \"> </VTKFile>'",
    };
    format!(
        "<?xml version=\"1.0\"?>\n{before}<VTKFile{about} type=\"{kind}\" byte_order=\"LittleEndian\">{data}</VTKFile>"
    )
}

/// Does something with a file that is there for as long as that takes.
fn on_disk<R>(name: &str, text: &str, work: impl FnOnce(&Path) -> R) -> R {
    let path = std::env::temp_dir().join(format!("xml-{}-{name}", std::process::id()));
    std::fs::write(&path, text).unwrap();
    let result = work(&path);
    std::fs::remove_file(&path).unwrap();
    result
}

#[test]
fn images_are_read_as_xml() {
    let values: Vec<f32> = (0..8).map(|n| n as f32 / 4.0).collect();
    for (n, (text, binary)) in numbers(8).iter().zip(base64(&values)).enumerate() {
        let image = |array: String| {
            let data = format!(
                "<ImageData WholeExtent=\"0 1 0 1 0 1\"><Piece><PointData>{array}</PointData></Piece></ImageData>"
            );
            let file = document("ImageData", &data, n == 0);
            let reading = Reading {
                array: Some("a<b & \"c\"".to_string()),
                ..Reading::default()
            };
            let read = |path: &Path| Image::<f32>::read_with(path, Declared::new(3, &[]), &reading);
            let loaded = on_disk("image.vti", &file, read).unwrap_or_else(|e| panic!("{e}"));
            loaded.image.samples()[..8].to_vec()
        };
        let name = "Name='a&lt;b &#38; &quot;c&quot;'";
        let found = image(format!(
            "<DataArray type=\"Float32\" {name} format=\"ascii\">{text}</DataArray>"
        ));
        assert_eq!(found, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
        let found = image(format!(
            "<DataArray type=\"Float32\" {name} format=\"binary\">{binary}</DataArray>"
        ));
        assert_eq!(found, values);
    }
}

#[test]
fn meshes_are_read_as_xml() {
    for (n, text) in numbers(9).iter().enumerate() {
        let data = format!(
            "<UnstructuredGrid><Piece NumberOfPoints=\"3\" NumberOfCells=\"1\">
             <PointData><DataArray type=\"Float64\" Name=\"&gt;t&apos;\" NumberOfComponents=\"3\" format=\"ascii\">{text}</DataArray></PointData>
             <Points><DataArray type=\"Float64\" NumberOfComponents=\"3\" format=\"ascii\">{text}</DataArray></Points>
             <Cells><DataArray type=\"Int32\" Name=\"connectivity\" format=\"ascii\">0 <![CDATA[1 2]]></DataArray>
             <DataArray type=\"Int32\" Name=\"offsets\" format=\"ascii\">3</DataArray>
             <DataArray type=\"UInt8\" Name=\"types\" format=\"ascii\"><!-- a triangle -->5</DataArray></Cells>
             </Piece></UnstructuredGrid>"
        );
        let file = document("UnstructuredGrid", &data, n == 0);
        let mesh = FemFile::parse(file.as_bytes()).unwrap_or_else(|e| panic!("{e}"));
        let points = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]];
        assert_eq!(mesh.points[..], points);
        assert_eq!(mesh.connectivity[..], [0, 1, 2]);
        assert_eq!(mesh.arrays[0].name, ">t'");
        assert_eq!(mesh.arrays[0].values, points.concat());
    }
}

#[test]
fn points_are_read_as_xml() {
    for (n, text) in numbers(6).iter().enumerate() {
        let data = format!(
            "<PolyData><Piece NumberOfPoints=\"2\"><Points>
             <DataArray type=\"Float64\" NumberOfComponents=\"3\" format=\"ascii\">{text}</DataArray>
             </Points></Piece></PolyData>"
        );
        let file = document("PolyData", &data, n == 0);
        let points = on_disk("points.vtp", &file, |path| read_reals(path, 3));
        assert_eq!(points, Ok(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
    }
}

#[test]
fn bytes_after_appended_data_are_not_xml() {
    let values: Vec<f32> = (0..8).map(|n| f32::from_bits(0x3c3c_3e26 + n)).collect();
    let data = "<ImageData WholeExtent=\"0 1 0 1 0 1\"><Piece><PointData>
         <DataArray type=\"Float32\" Name=\"a\" format=\"appended\" offset=\"0\"/></PointData></Piece></ImageData>
         <AppendedData encoding=\"raw\">_";
    let file = document("ImageData", data, false);
    let mut bytes = file.replace("</VTKFile>", "").into_bytes();
    let head = bytes.len();
    bytes.extend(32_u32.to_le_bytes());
    bytes.extend(values.iter().flat_map(|x| x.to_le_bytes()));
    // The samples look like the beginnings of tags and entities.
    assert!(bytes[head..].windows(2).any(|pair| pair == b"<<"));
    let loaded = Image::<f32>::from_bytes(&bytes, Declared::new(3, &[]), &Reading::default());
    let loaded = loaded.unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(loaded.image.samples()[..8], values);
}
