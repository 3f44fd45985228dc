// The line integral convolution of `programs/methods/lic.diderot` written by hand for a GPU: vectors are loaded whole, samples
// outside the flow are those at its border, contraction and reciprocal roots are allowed.
//
//   lic FLOW.nrrd NOISE.nrrd COLOURS.nrrd PICTURE.nrrd
//
// PICTURE is made by diderotc. Prints the time of the kernel and how far the pictures are apart.
#include "measure.cuh"

// The flow has 64² vectors on [-1.2,1.2]²; the square of the picture is smaller.
constexpr int SIZE = 64, NOISE = 256, COLOURS = 5, STEPS = 20, TAPS = 4;
constexpr float SPAN = 1.2f, EXTENT = 1.1f, STEP = 0.004f, STRONG = 6;
constexpr float SCALE = (SIZE - 1) / (2 * SPAN), OFFSET = (SIZE - 1) / 2.0f, GRAIN = 0.5f * NOISE / EXTENT;

struct Scene {
    const float2 *flow;
    const float *noise, *colours;
    float *picture;
};

__device__ inline void weights(float f, float w[TAPS]) {
    w[0] = f * (-0.5f + f * (1 - 0.5f * f));
    w[1] = 1 + f * f * (-2.5f + 1.5f * f);
    w[2] = f * (0.5f + f * (2 - 1.5f * f));
    w[3] = f * f * (-0.5f + 0.5f * f);
}
__device__ inline void slopes(float f, float w[TAPS]) {
    w[0] = -0.5f + f * (2 - 1.5f * f);
    w[1] = f * (-5 + 4.5f * f);
    w[2] = 0.5f + f * (4 - 4.5f * f);
    w[3] = f * (-1 + 1.5f * f);
}

// The sum of vectors around a cell with the given weights.
__device__ inline float2 sum(const Scene &s, int i, int j, const float wx[TAPS], const float wy[TAPS]) {
    float2 v = {0, 0};
#pragma unroll
    for (int b = 0; b < TAPS; ++b) {
        const float2 *line = s.flow + min(max(j + b - 1, 0), SIZE - 1) * SIZE;
        float2 row = {0, 0};
#pragma unroll
        for (int a = 0; a < TAPS; ++a) {
            const float2 q = __ldg(line + min(max(i + a - 1, 0), SIZE - 1));
            row.x += wx[a] * q.x, row.y += wx[a] * q.y;
        }
        v.x += wy[b] * row.x, v.y += wy[b] * row.y;
    }
    return v;
}

__device__ inline float2 velocity(const Scene &s, float2 x) {
    const float px = OFFSET + SCALE * x.x, py = OFFSET + SCALE * x.y;
    const float i = floorf(px), j = floorf(py);
    float wx[TAPS], wy[TAPS];
    weights(px - i, wx), weights(py - j, wy);
    return sum(s, int(i), int(j), wx, wy);
}

__device__ inline float curl(const Scene &s, float2 x) {
    const float px = OFFSET + SCALE * x.x, py = OFFSET + SCALE * x.y;
    const float i = floorf(px), j = floorf(py);
    float wx[TAPS], wy[TAPS], dx[TAPS], dy[TAPS];
    weights(px - i, wx), weights(py - j, wy), slopes(px - i, dx), slopes(py - j, dy);
    return SCALE * (sum(s, int(i), int(j), dx, wy).y - sum(s, int(i), int(j), wx, dy).x);
}

// The direction of the flow, times `by`; zero where it rests.
__device__ inline float2 heading(const Scene &s, float2 x, float by) {
    const float2 v = velocity(s, x);
    const float square = v.x * v.x + v.y * v.y;
    const float scale = square > 1e-10f ? by * rsqrtf(square) : 0;
    return {scale * v.x, scale * v.y};
}

__device__ inline float2 moved(const Scene &s, float2 x, float by) {
    const float2 half = heading(s, x, 0.5f * by);
    const float2 whole = heading(s, {x.x + half.x, x.y + half.y}, by);
    return {x.x + whole.x, x.y + whole.y};
}

// The noise, which repeats; its size is a power of two.
__device__ inline float grey(const Scene &s, float2 x) {
    const float px = GRAIN * x.x, py = GRAIN * x.y;
    const float i = floorf(px), j = floorf(py), f = px - i, g = py - j;
    const int a = int(i) & (NOISE - 1), b = (int(i) + 1) & (NOISE - 1);
    const float *low = s.noise + (int(j) & (NOISE - 1)) * NOISE, *high = s.noise + ((int(j) + 1) & (NOISE - 1)) * NOISE;
    const float below = __ldg(low + a) + f * (__ldg(low + b) - __ldg(low + a));
    const float above = __ldg(high + a) + f * (__ldg(high + b) - __ldg(high + a));
    return below + g * (above - below);
}

__global__ void __launch_bounds__(THREADS) streaks(const __grid_constant__ Scene s) {
    int row, col;
    if (!pixel(row, col)) return;
    const float2 x = {EXTENT * (2 * (col + 0.5f) / PIXELS - 1), -EXTENT * (2 * (row + 0.5f) / PIXELS - 1)};
    float2 ahead = x, behind = x;
    float total = grey(s, x);
    for (int taken = 0; taken < STEPS; ++taken) {
        ahead = moved(s, ahead, STEP), behind = moved(s, behind, -STEP);
        total += grey(s, ahead) + grey(s, behind);
    }
    const float bright = __saturatef(0.5f + 2.5f * (total / (2 * STEPS + 1) - 0.5f));
    const float2 v = velocity(s, x);
    const float strength = bright * (0.75f + 0.35f * fminf(1.0f, 2 * sqrtf(v.x * v.x + v.y * v.y)));
    const float turn = fminf(fmaxf(curl(s, x) / STRONG, -1.0f), 1.0f), at = 0.5f * (COLOURS - 1) * (turn + 1);
    const int n = min(int(at), COLOURS - 2);
    const float f = at - n, *colour = s.colours + 3 * n;
    float *out = s.picture + 3 * (row * PIXELS + col);
    for (int k = 0; k < 3; ++k) out[k] = strength * (colour[k] + f * (colour[k + 3] - colour[k]));
}

int main(int count, char **words) {
    if (count != 5) return fprintf(stderr, "lic FLOW NOISE COLOURS PICTURE\n"), 2;
    const std::vector<float> flow = numbers(words[1]), noise = numbers(words[2]), colours = numbers(words[3]), wanted = numbers(words[4]);
    const Scene s = {on_device<float2>(SIZE * SIZE, flow.data()), on_device<float>(NOISE * NOISE, noise.data()),
                     on_device<float>(3 * COLOURS, colours.data()), on_device<float>(wanted.size())};
    const float time = fastest([&] { streaks<<<BLOCKS, THREADS>>>(s); });
    return report(time, s.picture, wanted, 3);
}
