//! Images, strands and files: what a running Diderot program needs.
