// The super-step of `compiler/benches/gpu/neighbours.diderot` written by hand for a GPU: particles are sorted by the cells of a
// grid in every step, since they could have moved, and look at those in 27 cells; three cells in a row are one range. Neighbours come
// in any order, where Diderot's come in that of their strands.
//
//   neighbours POSITIONS.nrrd FORCES.nrrd
//
// Both files are made by diderotc. Prints the time of a super-step, and how far the forces are apart.
#include "measure.cuh"
#include <cub/cub.cuh>

constexpr float RADIUS = 0.01928f;
constexpr int EDGE = int(1 / RADIUS), CELLS = EDGE * EDGE * EDGE, STEPS = 20;

struct Particles {
    int count;
    float *positions, *forces;
    // For each cell its particles, and where they begin; one more is the number of all.
    int *counts, *begins;
    // For each particle its cell, and its place among the particles there.
    int2 *places;
    // Positions in the order of cells, with the number of the particle.
    float4 *sorted;
};

__device__ inline int cell(float x) { return min(max(int(x * EDGE), 0), EDGE - 1); }

__global__ void __launch_bounds__(THREADS) count(Particles p) {
    const int n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= p.count) return;
    const float *x = p.positions + 3 * n;
    const int own = (cell(x[2]) * EDGE + cell(x[1])) * EDGE + cell(x[0]);
    p.places[n] = {own, atomicAdd(p.counts + own, 1)};
}

__global__ void __launch_bounds__(THREADS) sort(Particles p) {
    const int n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= p.count) return;
    const float *x = p.positions + 3 * n;
    const int2 place = p.places[n];
    p.sorted[p.begins[place.x] + place.y] = {x[0], x[1], x[2], __int_as_float(n)};
}

__global__ void __launch_bounds__(THREADS) push(Particles p) {
    const int n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= p.count) return;
    const float4 own = p.sorted[n];
    const int i = cell(own.x), j = cell(own.y), k = cell(own.z), first = max(i - 1, 0), last = min(i + 1, EDGE - 1);
    Vec total = {0, 0, 0};
    for (int c = max(k - 1, 0); c <= min(k + 1, EDGE - 1); ++c)
        for (int b = max(j - 1, 0); b <= min(j + 1, EDGE - 1); ++b) {
            const int row = (c * EDGE + b) * EDGE, end = __ldg(p.begins + row + last + 1);
            for (int m = __ldg(p.begins + row + first); m < end; ++m) {
                const float4 other = __ldg(p.sorted + m);
                const Vec away = {own.x - other.x, own.y - other.y, own.z - other.z};
                const float square = dot(away, away);
                // It is at no distance from itself, and adds nothing.
                if (square < RADIUS * RADIUS) total = total + (1 - sqrtf(square) * (1 / RADIUS)) * away;
            }
        }
    const int number = __float_as_int(own.w);
    float *force = p.forces + 3 * number, *position = p.positions + 3 * number;
    force[0] = total.x, force[1] = total.y, force[2] = total.z;
    if (dot(total, total) > 1e12f) position[0] += total.x, position[1] += total.y, position[2] += total.z;
}

int main(int count_of_words, char **words) {
    if (count_of_words != 3) return fprintf(stderr, "neighbours POSITIONS FORCES\n"), 2;
    const std::vector<float> positions = numbers(words[1]), wanted = numbers(words[2]);
    const int particles = int(positions.size() / 3), blocks = (particles + THREADS - 1) / THREADS;
    const Particles p = {particles,
                         on_device<float>(positions.size(), positions.data()),
                         on_device<float>(positions.size()),
                         on_device<int>(CELLS + 1),
                         on_device<int>(CELLS + 1),
                         on_device<int2>(particles),
                         on_device<float4>(particles)};
    size_t bytes = 0;
    expect(cub::DeviceScan::ExclusiveSum(nullptr, bytes, p.counts, p.begins, CELLS + 1));
    char *room = on_device<char>(bytes);
    const float time = fastest([&] {
        for (int step = 0; step < STEPS; ++step) {
            expect(cudaMemsetAsync(p.counts, 0, (CELLS + 1) * sizeof(int)));
            count<<<blocks, THREADS>>>(p);
            expect(cub::DeviceScan::ExclusiveSum(room, bytes, p.counts, p.begins, CELLS + 1));
            sort<<<blocks, THREADS>>>(p);
            push<<<blocks, THREADS>>>(p);
        }
    });
    return report(time / STEPS, p.forces, wanted, 3);
}
