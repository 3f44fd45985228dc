// Puts a sample of a component among those of others.
__device__ static void put(const struct Parameters *P, unsigned sample) {
    if (sample < P->count)
        *(Real *)((char *)P->places + (size_t)sample * P->steps) = ((const Real *)P->state)[sample];
}

// Puts a word of the results of a block beside the others.
__device__ static void take(const struct Parameters *P, unsigned number) {
    if (number < P->count) {
        size_t block = number / P->bits, at = number % P->bits * sizeof(unsigned);
        *(unsigned *)((char *)P->places + block * P->chunks + at) = *(const unsigned *)((const char *)P->state + block * P->steps + at);
    }
}

// Puts a scalar of a strand in its place among those of all strands.
__device__ static void place(const struct Parameters *P, unsigned slot) {
    if (slot < P->count) {
        const size_t number = sizeof(Real) > sizeof(Int) ? sizeof(Real) : sizeof(Int);
        const char *from = (const char *)P->state + (size_t)(slot / P->bits) * P->steps + slot % P->bits * number;
        char *to = (char *)P->places + (size_t)((const unsigned *)P->ranks)[slot] * P->chunks;
        for (size_t at = 0; at < number; at += sizeof(unsigned))
            *(unsigned *)(to + at) = *(const unsigned *)(from + at);
    }
}

#ifdef __CUDACC__
extern "C" __global__ void __launch_bounds__(128) strands(const struct Parameters P) {
    run(&P, blockIdx.x*blockDim.x + threadIdx.x);
}
extern "C" __global__ void __launch_bounds__(128) pack(const struct Parameters P) {
    put(&P, blockIdx.x*blockDim.x + threadIdx.x);
}
extern "C" __global__ void __launch_bounds__(128) collect(const struct Parameters P) {
    take(&P, blockIdx.x*blockDim.x + threadIdx.x);
}
extern "C" __global__ void __launch_bounds__(128) spread(const struct Parameters P) {
    place(&P, blockIdx.x*blockDim.x + threadIdx.x);
}
#else
void strands(const struct Parameters *P, unsigned thread) { run(P, thread); }
void pack(const struct Parameters *P, unsigned thread) { put(P, thread); }
void collect(const struct Parameters *P, unsigned thread) { take(P, thread); }
void spread(const struct Parameters *P, unsigned thread) { place(P, thread); }
#endif
