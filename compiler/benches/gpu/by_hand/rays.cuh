// Rays through a volume of 64³ floats on [-1.5,1.5]³.
#pragma once
#include "measure.cuh"

constexpr int SIZE = 64;
constexpr float SPAN = 1.5f;

// What a launch is given. World to index space is a matrix and an offset, as for any image.
struct Scene {
    const float *volume;
    float *picture;
    float to_index[9], offset[3];
    int size[3];
    Vec eye, ahead, right, up, light;
    float start, end, step, width, height, distance;
};

// A scene seen from a point towards the middle; the fields of view are in degrees.
inline Scene scene(const std::vector<float> &volume, size_t results, Vec eye, float view, float depth, float step) {
    Scene s = {};
    s.volume = on_device<float>(volume.size(), volume.data());
    s.picture = on_device<float>(results);
    for (int axis = 0; axis < 3; ++axis) {
        s.size[axis] = SIZE;
        s.to_index[4 * axis] = (SIZE - 1) / (2 * SPAN);
        s.offset[axis] = (SIZE - 1) / 2.0f;
    }
    s.eye = eye;
    s.distance = sqrtf(dot(s.eye, s.eye));
    s.ahead = (-1 / s.distance) * s.eye;
    s.right = cross(s.ahead, {0, 0, 1});
    s.right = (1 / sqrtf(dot(s.right, s.right))) * s.right;
    s.up = cross(s.right, s.ahead);
    s.light = -1.0f * s.ahead + 0.7f * s.up - 0.5f * s.right;
    s.light = (1 / sqrtf(dot(s.light, s.light))) * s.light;
    s.height = s.width = s.distance * tanf(view * float(M_PI) / 360);
    s.start = s.distance - depth, s.end = s.distance + depth, s.step = step;
    return s;
}

__device__ inline Vec to_index(const Scene &s, Vec x) {
    const float *m = s.to_index, *o = s.offset;
    return {o[0] + m[0] * x.x + m[1] * x.y + m[2] * x.z, o[1] + m[3] * x.x + m[4] * x.y + m[5] * x.z,
            o[2] + m[6] * x.x + m[7] * x.y + m[8] * x.z};
}

// A gradient in index space, in the world.
__device__ inline Vec to_world(const Scene &s, Vec g) {
    const float *m = s.to_index;
    return {m[0] * g.x + m[3] * g.y + m[6] * g.z, m[1] * g.x + m[4] * g.y + m[7] * g.z, m[2] * g.x + m[5] * g.y + m[8] * g.z};
}

template <int SUPPORT> __device__ inline bool inside(const Scene &s, Vec p) {
    const float low = SUPPORT - 1;
    return p.x > low && p.x < s.size[0] - SUPPORT && p.y > low && p.y < s.size[1] - SUPPORT && p.z > low &&
           p.z < s.size[2] - SUPPORT;
}

__device__ inline Vec direction(const Scene &s, int row, int col) {
    const float u = s.width * (2 * (col + 0.5f) / PIXELS - 1), v = -s.height * (2 * (row + 0.5f) / PIXELS - 1);
    return s.ahead + (1 / s.distance) * (u * s.right + v * s.up);
}
