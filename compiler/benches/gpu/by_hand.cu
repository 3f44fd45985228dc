// The projection and the volume rendering of `programs/methods` (mip.diderot with tent, vr.diderot) written by hand for a GPU,
// as someone would who knows the machine: contraction allowed, fast exponential, one reciprocal for three quotients, the
// transfer function in shared memory.
//
//   by_hand projection VOLUME.nrrd - PICTURE.nrrd
//   by_hand rendering VOLUME.nrrd COLOURS.nrrd PICTURE.nrrd
//
// The volume has 64³ floats on [-1.5,1.5]³. PICTURE is what diderotc made; the largest difference from it is printed, and the
// median of the times of the kernel.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

constexpr int SIZE = 64, PIXELS = 1000, COLOURS = 21, THREADS = 128, ROUNDS = 15;
constexpr float SPAN = 1.5f;

struct Vec {
    float x, y, z;
};
__host__ __device__ inline Vec operator+(Vec a, Vec b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
__host__ __device__ inline Vec operator-(Vec a, Vec b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
__host__ __device__ inline Vec operator*(float s, Vec a) { return {s * a.x, s * a.y, s * a.z}; }
__host__ __device__ inline float dot(Vec a, Vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__host__ __device__ inline Vec cross(Vec a, Vec b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

// What a launch is given. World to index space is a matrix and an offset, as for any image.
struct Scene {
    const float *volume;
    const float4 *colours;
    float *picture;
    float to_index[9], offset[3];
    int size[3];
    Vec eye, ahead, right, up, light, cut;
    float start, end, step, width, height, distance, cut_at;
};

__device__ inline Vec to_index(const Scene &s, Vec x) {
    const float *m = s.to_index, *o = s.offset;
    return {o[0] + m[0] * x.x + m[1] * x.y + m[2] * x.z, o[1] + m[3] * x.x + m[4] * x.y + m[5] * x.z,
            o[2] + m[6] * x.x + m[7] * x.y + m[8] * x.z};
}

template <int SUPPORT> __device__ inline bool inside(const Scene &s, Vec p) {
    const float low = SUPPORT - 1;
    return p.x > low && p.x < s.size[0] - SUPPORT && p.y > low && p.y < s.size[1] - SUPPORT && p.z > low &&
           p.z < s.size[2] - SUPPORT;
}

// The pixel of a thread: a warp has 8 × 4 of them.
__device__ inline bool pixel(int &row, int &col) {
    const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    const int across = (PIXELS + 7) / 8;
    row = warp / across * 4 + lane / 8;
    col = warp % across * 8 + lane % 8;
    return row < PIXELS && col < PIXELS;
}

__device__ inline Vec direction(const Scene &s, int row, int col) {
    const float u = s.width * (2 * (col + 0.5f) / PIXELS - 1), v = -s.height * (2 * (row + 0.5f) / PIXELS - 1);
    return s.ahead + (1 / s.distance) * (u * s.right + v * s.up);
}

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

__global__ void __launch_bounds__(THREADS) rendering(const __grid_constant__ Scene s) {
    __shared__ float4 colours[COLOURS];
    if (threadIdx.x < COLOURS) colours[threadIdx.x] = s.colours[threadIdx.x];
    __syncthreads();
    int row, col;
    if (!pixel(row, col)) return;
    const Vec d = direction(s, row, col);
    const float length = sqrtf(dot(d, d));
    Vec half = s.light - (1 / length) * d;
    half = rsqrtf(dot(half, half)) * half;
    float start = s.start;
    if (dot(s.cut, d) < 0) start = fmaxf(start, (s.cut_at - dot(s.cut, s.eye)) / dot(s.cut, d));
    float through = 1;
    Vec sum = {0, 0, 0};
    for (float t = start; t <= s.end; t += s.step) {
        const Vec x = s.eye + t * d, p = to_index(s, x);
        if (inside<2>(s, p) && dot(s.cut, x) < s.cut_at + 0.0001f) {
            const float4 q = probe(s, p);
            const float at = fminf(fmaxf(q.w * (COLOURS - 1), 0.0f), COLOURS - 1.0f);
            const int n = min(int(at), COLOURS - 2);
            const float4 a = colours[n], b = colours[n + 1];
            const float f = at - n, opacity = a.w + f * (b.w - a.w);
            if (opacity > 0) {
                const float *m = s.to_index;
                const Vec g = {m[0] * q.x + m[3] * q.y + m[6] * q.z, m[1] * q.x + m[4] * q.y + m[7] * q.z,
                               m[2] * q.x + m[5] * q.y + m[8] * q.z};
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

// The numbers of an NRRD file, raw or as text.
static std::vector<float> numbers(const char *name) {
    std::ifstream file(name, std::ios::binary);
    std::stringstream all;
    all << file.rdbuf();
    const std::string text = all.str();
    const size_t end = text.find("\n\n");
    if (end == std::string::npos) {
        fprintf(stderr, "%s: no NRRD file\n", name);
        exit(1);
    }
    std::vector<float> found;
    if (text.substr(0, end).find("encoding: raw") != std::string::npos) {
        found.resize((text.size() - end - 2) / sizeof(float));
        memcpy(found.data(), text.data() + end + 2, found.size() * sizeof(float));
    } else {
        std::istringstream words(text.substr(end));
        for (float x; words >> x;) found.push_back(x);
    }
    return found;
}

template <class T> static T *on_device(const void *from, size_t bytes) {
    void *to = nullptr;
    cudaMalloc(&to, bytes);
    if (from) cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice);
    return static_cast<T *>(to);
}

int main(int count, char **words) {
    if (count != 5) return fprintf(stderr, "by_hand projection|rendering VOLUME COLOURS PICTURE\n"), 2;
    const bool renders = !strcmp(words[1], "rendering");
    const std::vector<float> volume = numbers(words[2]), wanted = numbers(words[4]);
    const std::vector<float> colours = renders ? numbers(words[3]) : std::vector<float>(4 * COLOURS);
    Scene s = {};
    s.volume = on_device<float>(volume.data(), volume.size() * sizeof(float));
    s.colours = on_device<float4>(colours.data(), colours.size() * sizeof(float));
    s.picture = on_device<float>(nullptr, wanted.size() * sizeof(float));
    for (int axis = 0; axis < 3; ++axis) {
        s.size[axis] = SIZE;
        s.to_index[4 * axis] = (SIZE - 1) / (2 * SPAN);
        s.offset[axis] = (SIZE - 1) / 2.0f;
    }
    s.eye = renders ? Vec{4, -7, 5} : Vec{1.5f, -4, 7};
    s.distance = sqrtf(dot(s.eye, s.eye));
    s.ahead = (-1 / s.distance) * s.eye;
    s.right = cross(s.ahead, {0, 0, 1});
    s.right = (1 / sqrtf(dot(s.right, s.right))) * s.right;
    s.up = cross(s.right, s.ahead);
    s.light = -1.0f * s.ahead + 0.7f * s.up - 0.5f * s.right;
    s.light = (1 / sqrtf(dot(s.light, s.light))) * s.light;
    s.height = s.width = s.distance * tanf((renders ? 15 : 20) * float(M_PI) / 360);
    s.start = s.distance - 2, s.end = s.distance + 2, s.step = renders ? 0.015f : 0.03f;
    s.cut = {0.3f, -0.5f, 0.8f}, s.cut_at = 0.15f;
    const int warps = (PIXELS + 7) / 8 * ((PIXELS + 3) / 4), blocks = (warps * 32 + THREADS - 1) / THREADS;
    cudaEvent_t begin, end;
    cudaEventCreate(&begin), cudaEventCreate(&end);
    std::vector<float> times;
    for (int round = 0; round < ROUNDS; ++round) {
        cudaEventRecord(begin);
        if (renders) rendering<<<blocks, THREADS>>>(s);
        else projection<<<blocks, THREADS>>>(s);
        cudaEventRecord(end);
        cudaEventSynchronize(end);
        float time;
        cudaEventElapsedTime(&time, begin, end);
        times.push_back(time);
    }
    std::vector<float> picture(wanted.size());
    if (cudaMemcpy(picture.data(), s.picture, picture.size() * sizeof(float), cudaMemcpyDeviceToHost)) return 1;
    double apart = 0, mean = 0;
    for (size_t n = 0; n < picture.size(); ++n) {
        const double difference = std::fabs(double(picture[n]) - wanted[n]);
        apart = std::max(apart, difference), mean += difference / picture.size();
    }
    std::sort(times.begin(), times.end());
    printf("%.4f ms by hand, pictures %.2g apart at most, %.2g on average\n", times[ROUNDS / 2], apart, mean);
}
