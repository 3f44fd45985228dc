// The isosurface of `programs/methods/iso.diderot` written by hand for a GPU: the weights of c4hexic as polynomials in registers,
// contraction allowed.
//
//   iso VOLUME.nrrd PICTURE.nrrd
//
// PICTURE is made by diderotc. Prints the time of the kernel and how far the pictures are apart.
#include "rays.cuh"

constexpr int TAPS = 6, HALVINGS = 16;

// The kernel c4hexic, with its argument counted from the last zero, from the knot at one, and from the middle.
__device__ inline float tail(float u) {
    const float u2 = u * u;
    return u2 * u2 * u * (u * (1 / 32.0f) - 13 / 240.0f);
}
__device__ inline float shoulder(float f) {
    return 11 / 120.0f + f * (-2 / 3.0f + f * (19 / 24.0f + f * (1 / 6.0f + f * (-19 / 24.0f + f * (23 / 48.0f - f * (3 / 32.0f))))));
}
__device__ inline float middle(float f) {
    const float f2 = f * f;
    return 69 / 80.0f + f2 * (-23 / 16.0f + f2 * (19 / 16.0f + f * (-7 / 12.0f + f * (1 / 16.0f))));
}
// Their derivatives.
__device__ inline float tail_slope(float u) {
    const float u2 = u * u;
    return u2 * u2 * (u * (3 / 16.0f) - 13 / 48.0f);
}
__device__ inline float shoulder_slope(float f) {
    return -2 / 3.0f + f * (19 / 12.0f + f * (1 / 2.0f + f * (-19 / 6.0f + f * (115 / 48.0f - f * (9 / 16.0f)))));
}
__device__ inline float middle_slope(float f) {
    const float f2 = f * f;
    return f * (-23 / 8.0f + f2 * (19 / 4.0f + f * (-35 / 12.0f + f * (3 / 8.0f))));
}

__device__ inline void weights(float f, float w[TAPS]) {
    const float g = 1 - f;
    w[0] = tail(g), w[1] = shoulder(f), w[2] = middle(f), w[3] = middle(g), w[4] = shoulder(g), w[5] = tail(f);
}
__device__ inline void slopes(float f, float w[TAPS]) {
    const float g = 1 - f;
    w[0] = -tail_slope(g), w[1] = shoulder_slope(f), w[2] = middle_slope(f);
    w[3] = -middle_slope(g), w[4] = -shoulder_slope(g), w[5] = tail_slope(f);
}

// The first of the samples around a position.
__device__ inline const float *corner(const Scene &s, int i, int j, int k) {
    return s.volume + ((k - 2) * s.size[1] + j - 2) * s.size[0] + i - 2;
}

__device__ inline float value(const Scene &s, Vec p) {
    const int i = int(p.x), j = int(p.y), k = int(p.z);
    float wx[TAPS], wy[TAPS], wz[TAPS];
    weights(p.x - i, wx), weights(p.y - j, wy), weights(p.z - k, wz);
    const float *at = corner(s, i, j, k);
    float sum = 0;
#pragma unroll
    for (int c = 0; c < TAPS; ++c) {
        float plane = 0;
#pragma unroll
        for (int b = 0; b < TAPS; ++b) {
            const float *r = at + (c * s.size[1] + b) * s.size[0];
            float row = wx[0] * __ldg(r);
#pragma unroll
            for (int a = 1; a < TAPS; ++a) row += wx[a] * __ldg(r + a);
            plane += wy[b] * row;
        }
        sum += wz[c] * plane;
    }
    return sum;
}

// The gradient in index space; each ray needs one at most.
__device__ inline Vec gradient(const Scene &s, Vec p) {
    const int i = int(p.x), j = int(p.y), k = int(p.z);
    float wx[TAPS], wy[TAPS], wz[TAPS], dx[TAPS], dy[TAPS], dz[TAPS];
    weights(p.x - i, wx), weights(p.y - j, wy), weights(p.z - k, wz);
    slopes(p.x - i, dx), slopes(p.y - j, dy), slopes(p.z - k, dz);
    const float *at = corner(s, i, j, k);
    Vec sum = {0, 0, 0};
#pragma unroll
    for (int c = 0; c < TAPS; ++c) {
        float plane = 0, across = 0, down = 0;
#pragma unroll
        for (int b = 0; b < TAPS; ++b) {
            const float *r = at + (c * s.size[1] + b) * s.size[0];
            float row = 0, slope = 0;
#pragma unroll
            for (int a = 0; a < TAPS; ++a) row += wx[a] * __ldg(r + a), slope += dx[a] * __ldg(r + a);
            plane += wy[b] * row, across += wy[b] * slope, down += dy[b] * row;
        }
        sum.x += wz[c] * across, sum.y += wz[c] * down, sum.z += dz[c] * plane;
    }
    return sum;
}

__device__ inline Vec shaded(const Scene &s, Vec d, Vec x) {
    const Vec paint = {0.95f, 0.75f, 0.45f}, g = to_world(s, gradient(s, to_index(s, x)));
    const Vec normal = -rsqrtf(dot(g, g)) * g;
    Vec half = s.light - rsqrtf(dot(d, d)) * d;
    half = rsqrtf(dot(half, half)) * half;
    const float shine = fmaxf(0.0f, dot(normal, half));
    const float s2 = shine * shine, s4 = s2 * s2, s8 = s4 * s4, s16 = s8 * s8, light = 0.35f * s16 * s16 * s8;
    return (0.15f + 0.75f * fmaxf(0.0f, dot(normal, s.light))) * paint + Vec{light, light, light};
}

__global__ void __launch_bounds__(THREADS) surface(const __grid_constant__ Scene s) {
    int row, col;
    if (!pixel(row, col)) return;
    const Vec d = direction(s, row, col);
    Vec rgb = {0.1f, 0.12f, 0.16f};
    bool started = false;
    for (float t = s.start; t <= s.end; t += s.step) {
        const Vec p = to_index(s, s.eye + t * d);
        if (!inside<TAPS / 2>(s, p)) continue;
        if (value(s, p) > 0) {
            if (!started) {
                rgb = {0.4f * 0.95f, 0.4f * 0.75f, 0.4f * 0.45f};
                break;
            }
            float low = t - s.step, high = t;
#pragma unroll 1
            for (int n = 0; n < HALVINGS; ++n) {
                const float half = 0.5f * (low + high);
                if (value(s, to_index(s, s.eye + half * d)) > 0) high = half;
                else low = half;
            }
            rgb = shaded(s, d, s.eye + high * d);
            break;
        }
        started = true;
    }
    float *out = s.picture + 3 * (row * PIXELS + col);
    out[0] = rgb.x, out[1] = rgb.y, out[2] = rgb.z;
}

int main(int count, char **words) {
    if (count != 3) return fprintf(stderr, "iso VOLUME PICTURE\n"), 2;
    const std::vector<float> wanted = numbers(words[2]);
    const Scene s = scene(numbers(words[1]), wanted.size(), {4, -7, 4}, 20, 2.5f, 0.03f);
    const float time = fastest([&] { surface<<<BLOCKS, THREADS>>>(s); });
    return report(time, s.picture, wanted, 3);
}
