//! Programs with fields over time, each for some dimensions.

/// A program for a dimension: `DIM` is the dimension, and `AT` a position that depends on the strand.
pub(crate) fn in_dimension(text: &str, dim: usize) -> String {
    let (vector, at) = match dim {
        1 => ("real", "3.1 + 0.35*i"),
        2 => ("vec2", "[2.1 + 0.35*i, 4.4 - 0.2*i]"),
        _ => ("vec3", "[2.1 + 0.35*i, 4.4 - 0.2*i, 2.2 + 0.15*i]"),
    };
    let shape = if dim == 1 {
        String::new()
    } else {
        dim.to_string()
    };
    let declared = "#version 2.0
input image(DIM,time)[] scalar;
input image(DIM,time)[SHAPE] vector;
input image(DIM)[] fixed;
";
    let strand = "
strand S (int i) {
    VECTOR x = AT;
    real t = 0.6 + 0.23*i;
BODY
}
create_array { S(i) | i in 0..9 }
";
    let (definitions, body) = text.split_once("---").unwrap_or(("", text));
    let text = format!("{declared}{definitions}{strand}").replace("BODY", body);
    text.replace("SHAPE", &shape)
        .replace("VECTOR", vector)
        .replace("DIM", &dim.to_string())
        .replace("AT", at)
}

/// Whether a program is for a dimension.
pub(crate) fn is_for(text: &str, dim: usize) -> bool {
    match text
        .lines()
        .find_map(|line| line.strip_prefix("// dimensions "))
    {
        Some(dims) => dims.contains(&dim.to_string()),
        None => true,
    }
}

/// The programs by their names: definitions, `---`, and what the strand does.
pub(crate) const PROGRAMS: &[(&str, &str)] = &[
    (
        "own times",
        "field#1(DIM,time)[] F = ctmr ⊛ scalar;
---
    output real y = 0;
    update { y = F(x, t); stabilize; }",
    ),
    (
        "smooth in time",
        "field#2(DIM,time#2)[] F = KRNS(bspln3, bspln3) ⊛ scalar;
---
    output real y = 0;
    output real rate = 0;
    output real second = 0;
    update {
        y = F(x, t);
        rate = (∂[time] F)(x, t);
        second = (∂[time, time] F)(x, t);
        stabilize;
    }",
    ),
    (
        "far outside",
        "field#2(DIM,time#2)[] F = KRNS(bspln3, bspln3) ⊛ scalar;
field#1(DIM,time)[] G = ctmr ⊛ mirror(scalar);
---
    output real y = 0;
    output real z = 0;
    output real n = 0;
    output bool within = false;
    update {
        real far = t*t*t*10 - 40;
        y = F(x, far);
        z = G(3*x, -far);
        n = F(x, nan);
        within = inside(x, far, F) && inside(x, t, G);
        stabilize;
    }",
    ),
    (
        "gradients",
        "// dimensions 23
field#2(DIM,time#1)[] F = KRNS(bspln3, ctmr) ⊛ scalar;
field#1(DIM,time#1)[DIM] G = ∇F;
---
    output tensor[DIM] g = zeros[DIM];
    output tensor[DIM,DIM] h = zeros[DIM,DIM];
    output real l = 0;
    output tensor[DIM] gr = zeros[DIM];
    output real n = 0;
    update {
        g = ∇F(x, t);
        h = ∇⊗G(x, t);
        l = ∇²F(x, t);
        gr = (∂[time] G)(x, t);
        n = |∇F|(x, t);
        stabilize;
    }",
    ),
    (
        "vectors",
        "// dimensions 23
field#1(DIM,time#1)[DIM] V = KRNS(ctmr, ctmr) ⊛ vector;
field#0(DIM,time#0)[DIM] A = ∂[time] V + (∇⊗V) • V;
---
    output real d = 0;
    output tensor[DIM] a = zeros[DIM];
    output tensor[DIM,DIM] j = zeros[DIM,DIM];
    output real n = 0;
    update {
        d = ∇•V(x, t);
        a = A(x, t);
        j = ∇⊗V(x, t);
        n = |∂[time] V|(x, t);
        stabilize;
    }",
    ),
    (
        "curl",
        "// dimensions 3
field#1(3,time)[3] V = ctmr ⊛ vector;
field#0(3,time)[3] W = ∇×V;
---
    output tensor[3] w = zeros[3];
    output tensor[3] e = zeros[3];
    update {
        w = W(x, t);
        tensor[3,3] m = ∇⊗V(x, t);
        real[3] l = evals(m + transpose(m));
        e = [l[0], l[1], l[2]];
        stabilize;
    }",
    ),
    (
        "mixed with a field that does not change",
        "field#1(DIM,time)[] F = ctmr ⊛ scalar;
field#1(DIM)[] C = ctmr ⊛ fixed;
field#1(DIM,time)[] S = F*C + 2*C - sqrt(F*F + 1);
field#1(DIM,time#7)[] still = C;
---
    output real y = 0;
    output real z = 0;
    update { y = S(x, t); z = still(x, t); stabilize; }",
    ),
    (
        "functions of position and time",
        "// dimensions 23
field#1(DIM,time#1)[] F = KRNS(ctmr, ctmr) ⊛ scalar;
field#2(DIM,time#2)[] wave(p, s) = sin(p[0] - 2*s)*exp(-s*p[1]/9);
field#1(DIM,time#1)[] moved(p, s) = F(p + s*0.1*p, s/2)*wave(p, s);
field#1(DIM)[] slice(p) = F(p, 1.3);
---
    output real y = 0;
    output real r = 0;
    output tensor[DIM] g = zeros[DIM];
    output real m = 0;
    output real mr = 0;
    output tensor[DIM] s = zeros[DIM];
    update {
        y = wave(x, t);
        r = (∂[time] wave)(x, t);
        g = ∇wave(x, t);
        m = moved(x, t);
        mr = (∂[time] moved)(x, t);
        s = ∇slice(x);
        stabilize;
    }",
    ),
    (
        "derivatives by variables",
        "// dimensions 23
field#1(DIM,time#1)[DIM] V = KRNS(ctmr, ctmr) ⊛ vector;
---
    output tensor[DIM] byTime = zeros[DIM];
    output tensor[DIM,DIM] byPlace = zeros[DIM,DIM];
    output tensor[DIM,DIM] map = zeros[DIM,DIM];
    update {
        real s = t;
        tensor[DIM] v = V(x, s*s/2 + 0.3);
        byTime = ∂v/∂s;
        tensor[DIM] p = x;
        tensor[DIM] w = V(p, t);
        byPlace = ∂w/∂p;
        tensor[DIM] q = p;
        foreach (int n in 0..4) { q += 0.1*V(q, t + 0.1*n); }
        map = ∂q/∂p;
        stabilize;
    }",
    ),
    (
        "fields that are parameters and variables of blocks",
        "// dimensions 23
field#1(DIM,time#1)[] F = KRNS(ctmr, ctmr) ⊛ scalar;
field#1(DIM,time)[] G = ctmr ⊛ scalar;
function real twice (field#1(DIM,time)[] f, tensor[DIM] p, real s) { return f(p, s) + f(p, s + 0.2); }
function real both (field#1(DIM,time)[] f, tensor[DIM] p, real s) = twice(f, p, s) - twice(G, p, s)*f(p, 1);
---
    output real y = 0;
    output real z = 0;
    output real w = 0;
    update {
        real k = 2;
        field#1(DIM,time)[] H = k*F + G;
        k = 3;
        y = twice(H, x, t);
        z = both(k*H, x, t);
        if (i % 2 == 0) { w = H(x, t); } else { w = (∂[time] F)(x, t); }
        stabilize;
    }",
    ),
    (
        "several times",
        "field#1(DIM,time)[] F = ctmr ⊛ scalar;
---
    output real least = 0;
    output real total = 0;
    output int count = 0;
    output real first = 0;
    output real last = 0;
    update {
        least = min { F(x, startTime(scalar) + k*0.3) | k in 0..6 };
        foreach (int k in 0..frames(scalar)-1) {
            if (k % 2 == 0) { total += F(x, t + 0.1*k); }
        }
        count = frames(scalar);
        first = startTime(scalar);
        last = endTime(scalar);
        stabilize;
    }",
    ),
    (
        "components by index",
        "// dimensions 3
field#1(3,time#1)[3] V = KRNS(ctmr, ctmr) ⊛ vector;
field#0(3,time#0)[3] A[k] = ∂[time] V[k] + sum[m](V[m] * ∂[m] V[k]);
field#0(3,time#0)[3,3] M[k, m] = ∂[m, time] V[k];
---
    output tensor[3] a = zeros[3];
    output tensor[3,3] m = zeros[3,3];
    update { a = A(x, t); m = M(x, t); stabilize; }",
    ),
    (
        "conditions in space and time",
        "// dimensions 23
field#1(DIM,time#1)[] F = KRNS(ctmr, ctmr) ⊛ scalar;
field#1(DIM,time#1)[] C(p, s) = F(p, s) if inside(p, s, F) else p[0] + s;
---
    output real y = 0;
    output real r = 0;
    output tensor[DIM] g = zeros[DIM];
    update {
        y = C(2*x, 2*t);
        r = (∂[time] C)(x, 2*t);
        g = ∇C(2*x, t);
        stabilize;
    }",
    ),
];
