#!/bin/sh
# The same polynomial surface, sampled on an axis-aligned, a rotated and a sheared grid, must render as the same
# picture: values, inside tests, gradients (the shading) and Hessians (the curvatures) are then right in world space,
# whatever the grid's orientation. The sphere is the classic case; the slanted ellipsoid has no symmetry that could
# hide a wrong rotation.
#
#   sh programs/checks/sphere.sh [DIDEROTC]        from the repository's root; needs python3
#
# Works in a new temporary directory. Prints the largest differences between pixels, and fails if one exceeds 0.0005 for
# shaded colours or 0.01 for curvatures (single precision: samples, header and surface position are rounded, and
# second differences of samples 0.06 apart magnify that some hundred times).
set -eu
diderotc=${1:-diderotc}
dir=$(mktemp -d)
trap 'rm -r "$dir"' EXIT

# render SHAPE GRID OPTIONS…: the pictures SHAPE-GRID-rgb.nrrd and SHAPE-GRID-kappa.nrrd.
render() {
    shape=$1
    name=$shape-$2
    shift 2
    $diderotc programs/synth/volume.diderot -shape "$shape" -extent 1.8 "$@" \
        -file "$name.nrrd" -o "$dir/$name.nrrd" -print "$dir/$name.nhdr"
    $diderotc programs/methods/iso.diderot -vol "$dir/$name.nhdr" -xres 200 -yres 200 -o "$dir/$name-rgb.nrrd"
    $diderotc programs/methods/curvature.diderot -vol "$dir/$name.nhdr" -cmap data/curvature.nrrd -xres 200 -yres 200 \
        -o-rgb "$dir/colours.nrrd" -o-kappa "$dir/$name-kappa.nrrd"
}

for shape in sphere ellipsoid; do
    render $shape aligned
    render $shape turned -axis 1 2 3 -angle 40
    render $shape sheared -shear 0.4 -0.2 0.3 -axis 1 0 1 -angle 25 -extent 2.2 -size 80
done
python3 - "$dir" <<'PYTHON'
import struct
import sys


def values(name):
    data = open(f"{sys.argv[1]}/{name}.nrrd", "rb").read()
    body = data[data.index(b"\n\n") + 2:]
    return struct.unpack(f"<{len(body) // 4}f", body)


failed = False
for shape in ("sphere", "ellipsoid"):
    for kind, bound in (("rgb", 0.0005), ("kappa", 0.01)):
        aligned = values(f"{shape}-aligned-{kind}")
        seen = sum(v > 0.2 for v in aligned)
        assert seen > 5000, f"only {seen} numbers of {shape} {kind} show a surface"
        for grid in ("turned", "sheared"):
            largest = max(abs(a - b) for a, b in zip(aligned, values(f"{shape}-{grid}-{kind}")))
            print(f"{shape} {grid} {kind}: largest difference {largest:.6f}")
            failed = failed or largest > bound
sys.exit(failed)
PYTHON
