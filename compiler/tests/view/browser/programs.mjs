// The programs of the tests in a browser.

// A slider of every kind, a choice and a switch.
export const INPUTS = `#version 2.0
input real a ("factor [0, 4]") = 1;
input real width ("width of the waves [0.001, 10, log]") = 1;
input int n ("number of waves [0, 8, 1]") = 3;
input string form ("form {round|square}") = "round";
input bool inverse ("black and white change places") = false;
strand s (int row, int col) {
    output real v = 0;
    update {
        vec2 x = [0.01*col - 1, 0.01*row - 0.75];
        real r = |x| if form == "round" else max(|x[0]|, |x[1]|);
        v = a*sin(n*r/width) if inverse else -a*sin(n*r/width);
        stabilize;
    }
}
create_array { s(row, col) | row in 0..149, col in 0..199 }`;

// Rays of the library's camera through a formula.
export const CAMERA = `#version 2.0
import "std/camera";
input real level ("level [0.1, 2]") = 1;
strand ray (int row, int col) {
    real t = rayStart;
    output vec3 rgb = [0, 0, 0];
    update {
        vec3 x = rayOrigin(row, col) + t*rayDir(row, col);
        real f = x[0]^2 + 2*x[1]^2 + 3*x[2]^2;
        if (f < level) { rgb = [|x[0]|, |x[1]|, |x[2]|]; stabilize; }
        t += rayStep;
        if (t > rayEnd) { stabilize; }
    }
}
create_array { ray(row, col) | row in 0..yres-1, col in 0..xres-1 }`;

// The program of the README.
export const GLOW = `#version 2.0
import "std/camera";
input image(3)[] vol ("volume");
field#2(3)[] F = (bspln3 ⊛ vol - range(vol)[0])/(range(vol)[1] - range(vol)[0]);
field#0(1)[3] map = tent ⊛ clamp(load_image("std:inferno"));
strand ray (int row, int col) {
    real t = rayStart;
    output vec3 rgb = [0, 0, 0];
    update {
        vec3 x = rayOrigin(row, col) + t*rayDir(row, col);
        if (inside(x, F)) { rgb += 0.2*rayStep*|∇F(x)|*map(F(x)); }
        t += rayStep; if (t > rayEnd) { stabilize; }
    }
}
create_array { ray(row, col) | row in 0..yres-1, col in 0..xres-1 }`;

// A part of the plane that the mouse moves.
export const PLANE = `#version 2.0
input vec2 center = [-0.5, 0];
input real radius = 1.5;
strand s (int row, int col) {
    output real v = 0;
    vec2 c = center + radius/60*[col - 79.5, 59.5 - row];
    vec2 z = [0, 0];
    int k = 0;
    update {
        z = [z[0]^2 - z[1]^2, 2*z[0]*z[1]] + c;
        k += 1;
        if (|z| > 2 || k == 60) { v = k; stabilize; }
    }
}
create_array { s(row, col) | row in 0..119, col in 0..159 }`;

// A small picture whose text is changed.
export const picture = (value, before = "") => `#version 2.0
${before}
input real a = 2;
strand s (int row, int col) {
    output real v = 0;
    update { v = a*col + ${value}; stabilize; }
}
create_array { s(row, col) | row in 0..19, col in 0..29 }`;

export const POINTS = `#version 2.0
strand p (int n) {
    output vec2 pos = [cos(0.1*n), sin(0.1*n)];
    output real number = n;
    update { stabilize; }
}
create_collection { p(n) | n in 0..60 }`;

export const LINES = `#version 2.0
strand line (int n) {
    output vec3[] path = {};
    real t = 0;
    update {
        path @= [cos(t), sin(t), 0.1*t + 0.2*n];
        t += 0.1;
        if (t > 12) { stabilize; }
    }
}
create_collection { line(n) | n in 0..9 }`;

export const TRIANGLES = `#version 2.0
strand face (int n) {
    output tensor[3,3][] faces = {};
    update {
        real t = 0.3*n;
        faces @= [[cos(t), sin(t), 0], [cos(t + 0.3), sin(t + 0.3), 0], [0, 0, 1]];
        stabilize;
    }
}
create_collection { face(n) | n in 0..20 }`;

export const MILLION = `#version 2.0
strand p (int n) {
    output vec3 pos = [cos(0.001*n)*(2 + cos(0.37*n)), sin(0.001*n)*(2 + cos(0.37*n)), sin(0.37*n)];
    update { stabilize; }
}
create_collection { p(n) | n in 0..999999 }`;

// A hundred super-steps in which all strands go on together.
export const EVOLVING = `#version 2.0
input real speed ("speed [0, 1]") = 0.5;
strand p (int n) {
    output vec2 pos = [1.0*n, 0];
    int k = 0;
    update {
        if (numActive() > 0) { pos += [0, speed]; k += 1; }
        if (k == 100) { stabilize; }
    }
}
create_collection { p(n) | n in 0..9 }`;
