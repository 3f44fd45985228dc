"""Writes the temperature of a square plate over time, on triangles of degree 2.

    python3 data/make/plate.py data/check-plate.xdmf

Both arrays solve the equation of heat, du/dt = k ∇²u: `cooling` = exp(-2π²kt) sin πx sin πy, of a plate with cold edges, with k = 0.05, and `caloric` = x² + y² + t, with k = 0.25,
which the cells and the frames hold exactly. The times are irregular: the plate cools fast at first.
"""

import math
import sys

EDGE = 8
TIMES = (0, 0.1, 0.25, 0.5, 1, 2)


def number(point):
    return point[1] * (2 * EDGE + 1) + point[0]


def cells():
    """The nodes of all triangles: corners, then the middles of edges. Places are counted in halves of an edge."""
    for j in range(0, 2 * EDGE, 2):
        for i in range(0, 2 * EDGE, 2):
            a, b, c, d = (i, j), (i + 2, j), (i + 2, j + 2), (i, j + 2)
            for corners in ((a, b, c), (a, c, d)):
                pairs = zip(corners, corners[1:] + corners[:1])
                middles = [((p[0] + q[0]) // 2, (p[1] + q[1]) // 2) for p, q in pairs]
                yield [number(p) for p in (*corners, *middles)]


def item(numbers, dimensions, kind):
    text = " ".join(f"{x:.9g}" for x in numbers)
    return f'<DataItem Format="XML" Dimensions="{dimensions}" {kind}>{text}</DataItem>'


def plate():
    places = [(i / (2 * EDGE), j / (2 * EDGE)) for j in range(2 * EDGE + 1) for i in range(2 * EDGE + 1)]
    triangles = list(cells())
    integers, reals = 'NumberType="Int"', 'NumberType="Float" Precision="8"'
    yield '<Xdmf Version="3.0"><Domain>\n<Grid Name="mesh" GridType="Uniform">\n'
    flat = [n for cell in triangles for n in cell]
    yield f'<Topology TopologyType="Triangle_6" NumberOfElements="{len(triangles)}">{item(flat, f"{len(triangles)} 6", integers)}</Topology>\n'
    yield f'<Geometry GeometryType="XY">{item([x for p in places for x in p], f"{len(places)} 2", reals)}</Geometry>\n</Grid>\n'
    yield '<Grid Name="plate" GridType="Collection" CollectionType="Temporal">\n'
    for time in TIMES:
        decay = math.exp(-0.1 * math.pi**2 * time)
        arrays = {
            "cooling": [decay * math.sin(math.pi * x) * math.sin(math.pi * y) for x, y in places],
            "caloric": [x * x + y * y + time for x, y in places],
        }
        yield f'<Grid Name="plate" GridType="Uniform"><xi:include xmlns:xi="http://www.w3.org/2001/XInclude" xpointer="xpointer(//Grid[@Name=&quot;mesh&quot;]/*[self::Topology or self::Geometry])"/>\n'
        yield f'<Time Value="{time}"/>\n'
        for name, values in arrays.items():
            values = [0 if abs(x) < 1e-12 else x for x in values]
            yield f'<Attribute Name="{name}" AttributeType="Scalar" Center="Node">{item(values, len(places), reals)}</Attribute>\n'
        yield "</Grid>\n"
    yield "</Grid>\n</Domain></Xdmf>\n"


if __name__ == "__main__":
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.writelines(plate())
