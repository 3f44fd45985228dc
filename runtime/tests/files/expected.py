"""What the tools report of the files that they wrote, as text: shared by `make.py` and `make_arrays.py`.

The text has a block for each file: `file NAME DIM SHAPE OPTIONS`, then lines `world INDEX : POSITION` and
`value INDEX : COMPONENTS`, indices fastest axis first, as the tool that wrote the file reports them after reading it back.
"""

import os

import numpy as np

INDICES = [(0, 0, 0), (3, 0, 0), (0, 2, 0), (0, 0, 1), (2, 1, 1), (3, 2, 1)]
blocks = []


def text(values):
    return " ".join(repr(float(v)) for v in np.ravel(values))


def expect(name, dim, shape, value, world=None, options="", indices=INDICES):
    lines = [f"file {name} {dim} {','.join(map(str, shape)) or '-'} {options}".rstrip()]
    for index in dict.fromkeys(index[:dim] for index in indices):
        shown = " ".join(map(str, index))
        if world:
            lines.append(f"world {shown} : {text(world(index))}")
        lines.append(f"value {shown} : {text(value(index))}")
    blocks.append("\n".join(lines) + "\n")


def run(parts, name):
    """Runs the parts in this directory, writes the blocks to a file, and reports files that are too large to be kept."""
    os.chdir(os.path.dirname(os.path.abspath(__file__)))
    for part in parts:
        part()
    with open(name, "w") as out:
        out.write("\n".join(blocks))
    for folder, _, names in os.walk("."):
        for file in names:
            # One heap of HDF5 takes 4 KB.
            limit = 12 if file.endswith((".h5", ".nc")) else 4
            if os.path.getsize(os.path.join(folder, file)) > limit << 10 and not file.endswith((".py", ".pyc", ".txt")):
                print(f"{file} is larger than {limit} KB")
