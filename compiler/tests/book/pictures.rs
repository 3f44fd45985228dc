//! The pictures of a page are those that its commands make.

use crate::{page::Page, root, updates};
use runtime::image::Image;
use std::{fs, path::Path};

/// Compares every picture that a page shows and its commands have made, or keeps it.
pub(crate) fn compare(page: &Page) {
    let kept = root().join("docs/book/src/pictures");
    for rest in page.text.split("](pictures/").skip(1) {
        let name = rest.split(')').next().unwrap_or_default();
        // Pages of the viewer need a browser: `docs/gallery/viewer-shots.mjs` makes their pictures.
        if name.starts_with("viewer-") {
            continue;
        }
        let made = page.folder.join(name);
        assert!(made.is_file(), "no command makes {name}");
        if updates() {
            fs::copy(&made, kept.join(name)).expect("the picture can be written");
        }
        // Figures have the same bytes on every machine.
        if name.ends_with(".svg") {
            let [found, wanted] = [made, kept.join(name)].map(|file| fs::read(file).ok());
            assert!(found == wanted, "{name} differs: run with UPDATE_DOCS=1");
            continue;
        }
        let (found, wanted) = (samples(&made), samples(&kept.join(name)));
        assert_eq!(found.len(), wanted.len(), "{name}");
        // Rounding decides whether a ray that touches a surface hits it.
        let difference: f32 = found.iter().zip(&wanted).map(|(a, b)| (a - b).abs()).sum();
        let mean = difference / found.len() as f32;
        assert!(
            mean < 1.0,
            "{name} differs by {mean} of 255 on average: run with UPDATE_DOCS=1, and look at it"
        );
    }
}

fn samples(picture: &Path) -> Vec<f32> {
    let bytes = fs::read(picture).unwrap_or_else(|e| panic!("{}: {e}", picture.display()));
    // The byte of a PNG file that tells grey from colour.
    let voxel: &[usize] = if bytes.get(25) == Some(&0) { &[] } else { &[3] };
    let image = Image::<f32>::read(picture, 2, voxel);
    image
        .unwrap_or_else(|e| panic!("{}: {e}", picture.display()))
        .image
        .samples()
        .to_vec()
}
