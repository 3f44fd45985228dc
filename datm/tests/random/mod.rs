//! Random cases that several tests draw.

use datm::{Case, Form, SpaceOptions, Stream, TreeSpace, share_leaves};

/// Random cases of two operators, in trees and programs of every form, with shared leaves.
pub(crate) fn random_cases(count: usize) -> Vec<Case> {
    let space = TreeSpace::new(&SpaceOptions::full(2, Form::Any));
    let settings: datm::Settings = "pos=3|prog=any|seed=21".parse().expect("settings");
    (0..count)
        .map(|n| {
            let mut stream = Stream::new(&["differential", &n.to_string()]);
            let tree = space.draw_stratified(&mut stream).expect("a tree");
            Case {
                tree: share_leaves(&tree, &mut stream),
                settings: settings.clone(),
            }
        })
        .collect()
}
