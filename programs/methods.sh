#!/bin/sh
# Makes the data and every picture of the methods.
#
#   sh programs/methods.sh [DIRECTORY [DIDEROTC]]        from the repository's root
#
# Takes the directory for data and pictures (made if missing; usually ./methods) and the command that runs programs
# (usually diderotc). Stops at the first program that fails.
set -eu
dir=${1:-methods}
diderotc=${2:-diderotc}
mkdir -p "$dir"

# data PROGRAM NAME OPTIONS…: samples in NAME.nrrd, and NAME.nhdr that places them in the world.
data() {
    program=$1
    name=$2
    shift 2
    echo "$name.nhdr"
    $diderotc "programs/synth/$program.diderot" "$@" -file "$name.nrrd" -o "$dir/$name.nrrd" -print "$dir/$name.nhdr"
}

# show PROGRAM OPTIONS…: one method.
show() {
    program=$1
    shift
    echo "$program"
    $diderotc "programs/methods/$program.diderot" "$@"
}

for shape in sphere ellipsoid saddle torus cubes tangle knot phantom; do
    data volume $shape -shape $shape
done
data flow3 vortices -flow vortices
data flow2 flow2
data tensors tensors
data scene scene
data signal signal
$diderotc programs/synth/noise.diderot -o "$dir/noise.nrrd"
$diderotc programs/synth/scene.diderot -o "$dir/scene.png" -print /dev/null

show mip -vol "$dir/knot.nhdr" -o "$dir/mip.png"
show mip -vol "$dir/knot.nhdr" -ortho true -o "$dir/mip-ortho.png"
show vr -vol "$dir/phantom.nhdr" -rgba data/phantom-rgba.nrrd -o "$dir/vr.png"
show iso -vol "$dir/tangle.nhdr" -o "$dir/iso.png"
show curvature -vol "$dir/tangle.nhdr" -cmap data/curvature.nrrd -o-rgb "$dir/curvature.png" -o-kappa "$dir/kappa.nrrd"
show canny -vol "$dir/phantom.nhdr" -o "$dir/canny.png"
show crest -vol "$dir/cubes.nhdr" -o "$dir/crest.png"
show sample -vol "$dir/phantom.nhdr" -o-value "$dir/sample.png" -o-slope "$dir/slope.nrrd"
show lic -flow "$dir/flow2.nhdr" -noise "$dir/noise.nrrd" -cmap data/diverging.nrrd -o "$dir/lic.png"
show helicity -flow "$dir/vortices.nhdr" -cmap data/diverging.nrrd -o-rgb "$dir/helicity.png" -o-screw "$dir/screw.nrrd"
show tensor -tensors "$dir/tensors.nhdr" -cmap data/diverging.nrrd -o-rgb "$dir/tensor.png" -o-shape "$dir/shape.nrrd"
show corner -photo "$dir/scene.nhdr" -o "$dir/corner.png"
show isocontour -photo "$dir/scene.nhdr" -o "$dir/isocontour.txt"
show contours -photo "$dir/scene.nhdr" -cmap data/heat.nrrd -o "$dir/contours.png"
show plot1d -signal "$dir/signal.nhdr" -cmap data/diverging.nrrd -o "$dir/plot1d.png"
show mandelbrot -cmap data/heat.nrrd -o-rgb "$dir/mandelbrot.png" -o-count "$dir/count.nrrd"
show mandelbrot -cmap data/heat.nrrd -center -0.7436 0.1319 -radius 0.002 -quick 60 -most 1000 \
    -o-rgb "$dir/seahorse.png" -o-count "$dir/count.nrrd"
