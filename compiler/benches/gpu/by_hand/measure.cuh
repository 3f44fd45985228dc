// Shared by the kernels by hand: vectors, the pixel of a thread, files, times, and the comparison with the result of diderotc.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

constexpr int PIXELS = 1000, THREADS = 128, ROUNDS = 15;
// Warps have 8 × 4 pixels.
constexpr int WARPS_ACROSS = (PIXELS + 7) / 8, WARPS = WARPS_ACROSS * ((PIXELS + 3) / 4);
constexpr int BLOCKS = (WARPS * 32 + THREADS - 1) / THREADS;
// Numbers are far apart if they differ by more than this part of the largest number. Where rounding decides, a few may be.
constexpr double FAR = 1e-3, FAR_PIXELS = 2e-3;

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

// The pixel of a thread.
__device__ inline bool pixel(int &row, int &col) {
    const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    row = warp / WARPS_ACROSS * 4 + lane / 8;
    col = warp % WARPS_ACROSS * 8 + lane % 8;
    return row < PIXELS && col < PIXELS;
}

// The numbers of an NRRD file, raw or as text.
inline std::vector<float> numbers(const char *name) {
    std::ifstream file(name, std::ios::binary);
    std::stringstream all;
    all << file.rdbuf();
    const std::string text = all.str();
    const size_t end = text.find("\n\n");
    if (end == std::string::npos) {
        fprintf(stderr, "%s: not an NRRD file\n", name);
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

// Ends the program if a call of CUDA has failed.
inline void expect(cudaError_t error) {
    if (error == cudaSuccess) return;
    fprintf(stderr, "%s\n", cudaGetErrorString(error));
    exit(1);
}

// Memory of the GPU, with a copy of some values if there are any.
template <class T> T *on_device(size_t count, const void *from = nullptr) {
    void *to = nullptr;
    expect(cudaMalloc(&to, count * sizeof(T)));
    if (from) expect(cudaMemcpy(to, from, count * sizeof(T), cudaMemcpyHostToDevice));
    return static_cast<T *>(to);
}

// The least time of several rounds, in milliseconds: the first ones find the GPU asleep.
template <class Launch> float fastest(Launch launch) {
    cudaEvent_t begin, end;
    expect(cudaEventCreate(&begin)), expect(cudaEventCreate(&end));
    float best = INFINITY;
    for (int round = 0; round < ROUNDS; ++round) {
        expect(cudaEventRecord(begin));
        launch();
        expect(cudaEventRecord(end));
        expect(cudaEventSynchronize(end));
        float time;
        expect(cudaEventElapsedTime(&time, begin, end));
        best = std::min(best, time);
    }
    return best;
}

// Prints the time, and how far the result is from that of diderotc; the status of the process.
inline int report(float time, const float *result, const std::vector<float> &wanted, int components) {
    std::vector<float> found(wanted.size());
    expect(cudaMemcpy(found.data(), result, found.size() * sizeof(float), cudaMemcpyDeviceToHost));
    float largest = 0;
    for (float x : wanted) largest = std::max(largest, std::fabs(x));
    const size_t pixels = wanted.size() / components;
    size_t differ = 0, far = 0;
    double most = 0, mean = 0;
    for (size_t n = 0; n < pixels; ++n) {
        double apart = 0;
        for (size_t k = n * components; k < (n + 1) * components; ++k) {
            const double difference = std::fabs(double(found[k]) - wanted[k]);
            apart = difference <= apart ? apart : difference;
        }
        differ += apart != 0, far += !(apart <= FAR * largest);
        most = std::max(most, apart), mean += apart / pixels;
    }
    printf("%.4f ms by hand; of %zu results %zu differ, %zu by more than %.2g, at most %.2g, on average %.2g\n", time, pixels, differ,
           far, FAR * largest, most, mean);
    return far > FAR_PIXELS * pixels;
}
