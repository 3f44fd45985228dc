// The projection and the volume rendering of `programs/methods` (mip.diderot with tent, vr.diderot) written by hand for a GPU,
// as an expert would: contraction allowed, fast exponential, one reciprocal for three quotients, the transfer function in shared
// memory.
//
//   volumes projection VOLUME.nrrd - PICTURE.nrrd
//   volumes rendering VOLUME.nrrd COLOURS.nrrd PICTURE.nrrd
//
// PICTURE is made by diderotc. Prints the time of the kernel and how far the pictures are apart.
#include "rays.cuh"

constexpr int COLOURS = 21;

// The half-space that is left out, and the transfer function.
struct Material {
    const float4 *colours;
    Vec cut;
    float cut_at;
};

__global__ void __launch_bounds__(THREADS) projection(const __grid_constant__ Scene s) {
    int row, col;
    if (!pixel(row, col)) return;
    const Vec d = direction(s, row, col);
    float most = -INFINITY;
    for (float t = s.start; t <= s.end; t += s.step) {
        const Vec p = to_index(s, s.eye + t * d);
        if (!inside<1>(s, p)) continue;
        const int i = int(p.x), j = int(p.y), k = int(p.z);
        const float fx = p.x - i, fy = p.y - j, fz = p.z - k;
        const float *at = s.volume + (k * s.size[1] + j) * s.size[0] + i;
        float z[2];
        for (int n = 0; n < 2; ++n) {
            const float *a = at + n * s.size[0] * s.size[1], *b = a + s.size[0];
            const float y0 = __ldg(a) + fx * (__ldg(a + 1) - __ldg(a)), y1 = __ldg(b) + fx * (__ldg(b + 1) - __ldg(b));
            z[n] = y0 + fy * (y1 - y0);
        }
        most = fmaxf(most, z[0] + fz * (z[1] - z[0]));
    }
    s.picture[row * PIXELS + col] = fmaxf(most, 0.0f);
}

// Weights of the cubic B-spline and of its derivative.
__device__ inline void weights(float f, float w[4]) {
    const float g = 1 - f, f2 = f * f, g2 = g * g;
    w[0] = g2 * g * (1 / 6.0f);
    w[1] = 2 / 3.0f - f2 + 0.5f * f2 * f;
    w[2] = 2 / 3.0f - g2 + 0.5f * g2 * g;
    w[3] = f2 * f * (1 / 6.0f);
}
__device__ inline void derivatives(float f, float w[4]) {
    const float g = 1 - f;
    w[0] = -0.5f * g * g;
    w[1] = f * (1.5f * f - 2);
    w[2] = g * (2 - 1.5f * g);
    w[3] = 0.5f * f * f;
}

// Value and gradient in index space.
__device__ inline float4 probe(const Scene &s, Vec p) {
    const int i = int(p.x), j = int(p.y), k = int(p.z);
    float wx[4], wy[4], wz[4], dx[4], dy[4], dz[4];
    weights(p.x - i, wx), weights(p.y - j, wy), weights(p.z - k, wz);
    derivatives(p.x - i, dx), derivatives(p.y - j, dy), derivatives(p.z - k, dz);
    const float *at = s.volume + ((k - 1) * s.size[1] + j - 1) * s.size[0] + i - 1;
    float4 sum = {0, 0, 0, 0};
#pragma unroll
    for (int c = 0; c < 4; ++c) {
        float v = 0, vx = 0, vy = 0;
#pragma unroll
        for (int b = 0; b < 4; ++b) {
            const float *r = at + (c * s.size[1] + b) * s.size[0];
            const float q0 = __ldg(r), q1 = __ldg(r + 1), q2 = __ldg(r + 2), q3 = __ldg(r + 3);
            const float value = wx[0] * q0 + wx[1] * q1 + wx[2] * q2 + wx[3] * q3;
            const float slope = dx[0] * q0 + dx[1] * q1 + dx[2] * q2 + dx[3] * q3;
            v += wy[b] * value, vx += wy[b] * slope, vy += dy[b] * value;
        }
        sum.x += wz[c] * vx, sum.y += wz[c] * vy, sum.z += dz[c] * v, sum.w += wz[c] * v;
    }
    return sum;
}

__global__ void __launch_bounds__(THREADS, 7) rendering(const __grid_constant__ Scene s, const __grid_constant__ Material m) {
    __shared__ float4 colours[COLOURS];
    if (threadIdx.x < COLOURS) colours[threadIdx.x] = m.colours[threadIdx.x];
    __syncthreads();
    int row, col;
    if (!pixel(row, col)) return;
    const Vec d = direction(s, row, col);
    const float length = sqrtf(dot(d, d));
    Vec half = s.light - (1 / length) * d;
    half = rsqrtf(dot(half, half)) * half;
    float start = s.start;
    if (dot(m.cut, d) < 0) start = fmaxf(start, (m.cut_at - dot(m.cut, s.eye)) / dot(m.cut, d));
    float through = 1;
    Vec sum = {0, 0, 0};
    for (float t = start; t <= s.end; t += s.step) {
        const Vec x = s.eye + t * d, p = to_index(s, x);
        if (inside<2>(s, p) && dot(m.cut, x) < m.cut_at + 0.0001f) {
            const float4 q = probe(s, p);
            const float at = fminf(fmaxf(q.w * (COLOURS - 1), 0.0f), COLOURS - 1.0f);
            const int n = min(int(at), COLOURS - 2);
            const float4 a = colours[n], b = colours[n + 1];
            const float f = at - n, opacity = a.w + f * (b.w - a.w);
            if (opacity > 0) {
                const Vec g = to_world(s, {q.x, q.y, q.z});
                const float steep = sqrtf(dot(g, g)), inverse = 1 / fmaxf(steep, 1e-6f);
                const float towards = dot(g, d) > 0 ? -inverse : inverse;
                const float crisp = fminf(1.0f, steep / 1.5f), shine = fmaxf(0.0f, towards * dot(g, half));
                const float s2 = shine * shine, s4 = s2 * s2, s8 = s4 * s4, s16 = s8 * s8;
                const float diffuse = 1 - 0.8f * crisp * (1 - fmaxf(0.0f, towards * dot(g, s.light)));
                const float extra = 0.25f * crisp * s16 * s8 * s4 * s2;
                const float alpha = 1 - expf(-opacity * s.step * length), part = through * alpha;
                sum.x += part * (diffuse * (a.x + f * (b.x - a.x)) + extra);
                sum.y += part * (diffuse * (a.y + f * (b.y - a.y)) + extra);
                sum.z += part * (diffuse * (a.z + f * (b.z - a.z)) + extra);
                through *= 1 - alpha;
            }
        }
        if (through < 0.01f) {
            through = 0;
            break;
        }
    }
    const Vec rgb = sum + through * Vec{0.1f, 0.12f, 0.16f};
    float *out = s.picture + 3 * (row * PIXELS + col);
    out[0] = rgb.x, out[1] = rgb.y, out[2] = rgb.z;
}

int main(int count, char **words) {
    if (count != 5) return fprintf(stderr, "volumes projection|rendering VOLUME COLOURS PICTURE\n"), 2;
    const std::vector<float> volume = numbers(words[2]), wanted = numbers(words[4]);
    if (!strcmp(words[1], "projection")) {
        const Scene s = scene(volume, wanted.size(), {1.5f, -4, 7}, 20, 2, 0.03f);
        const float time = fastest([&] { projection<<<BLOCKS, THREADS>>>(s); });
        return report(time, s.picture, wanted, 1);
    }
    const std::vector<float> colours = numbers(words[3]);
    const Scene s = scene(volume, wanted.size(), {4, -7, 5}, 15, 2, 0.015f);
    const Material m = {on_device<float4>(COLOURS, colours.data()), {0.3f, -0.5f, 0.8f}, 0.15f};
    const float time = fastest([&] { rendering<<<BLOCKS, THREADS>>>(s, m); });
    return report(time, s.picture, wanted, 3);
}
