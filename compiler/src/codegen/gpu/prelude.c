#ifndef __CUDACC__
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#define __device__
#define __constant__
#endif

// What a method gives for a strand that is left to the CPU, as it was before the run.
#define LEAVE ((Int)-1)

// Integers wrap.
#define ADD(a, b) ((Int)((Unsigned)(a) + (Unsigned)(b)))
#define SUB(a, b) ((Int)((Unsigned)(a) - (Unsigned)(b)))
#define MUL(a, b) ((Int)((Unsigned)(a) * (Unsigned)(b)))

// The bits of a double, and the double of bits.
__device__ static inline unsigned long long bits(double x) {
    unsigned long long b;
    memcpy(&b, &x, sizeof b);
    return b;
}
__device__ static inline double number(unsigned long long b) {
    double x;
    memcpy(&x, &b, sizeof x);
    return x;
}

// Eight bytes that do not change during a launch.
union Cell {
    Real real;
    Int integer;
    unsigned char truth;
    const Real *samples;
};
