// The time per frame when a camera moves: `programs/methods/vr.diderot` at 1000² pixels, run again and again in one process.
//
//   frames vr.diderot VOLUME.nrrd COLOURS.nrrd [TARGET [PIXELS [FRAMES]]]
//
// The volume has 64³ floats on [-1.5,1.5]³. A frame takes from a new camera to the picture in memory. Prints milliseconds of the
// first frame, which compiles the kernel and copies the images, and of the others the median and the least, as a whole and in parts.
#include <diderot.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SIZE = 64, PARTS = 4 };

static void expect(diderot_error *error) {
    if (!error) return;
    fputs(diderot_error_message(error), stderr);
    exit(diderot_error_status(error));
}

// The contents of a file.
static char *contents(const char *name, size_t *length) {
    FILE *file = fopen(name, "rb");
    if (!file) perror(name), exit(1);
    fseek(file, 0, SEEK_END);
    *length = (size_t)ftell(file);
    rewind(file);
    char *text = calloc(*length + 1, 1);
    if (!text || fread(text, 1, *length, file) != *length) perror(name), exit(1);
    fclose(file);
    return text;
}

static double milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e3 + now.tv_nsec / 1e6;
}

static int smaller(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// The volume, whose samples are the last bytes of its file.
static diderot_array volume(const char *name) {
    const double spacing = 3.0 / (SIZE - 1);
    size_t length;
    const char *text = contents(name, &length);
    diderot_array array = {.type = DIDEROT_FLOAT, .axes = 3, .sizes = {SIZE, SIZE, SIZE}, .world = 3};
    array.data = text + length - SIZE * SIZE * SIZE * sizeof(float);
    for (int axis = 0; axis < 3; ++axis) array.directions[axis][axis] = spacing, array.origin[axis] = -1.5;
    return array;
}

int main(int count, char **words) {
    if (count < 4) return fputs("frames PROGRAM VOLUME COLOURS [TARGET [PIXELS [FRAMES]]]\n", stderr), 2;
    const char *target = count > 4 ? words[4] : "cuda-only";
    const int64_t pixels = count > 5 ? atoi(words[5]) : 1000;
    const int frames = count > 6 ? atoi(words[6]) : 20;
    size_t length;
    const char *text = contents(words[1], &length);
    const diderot_array vol = volume(words[2]);
    diderot_config *config = diderot_new_config();
    diderot_program *program;
    diderot_inputs *inputs;
    expect(diderot_config_target(config, target));
    expect(diderot_compile(words[1], text, length, config, &program));
    expect(diderot_new_inputs(program, &inputs));
    expect(diderot_set_image(inputs, "vol", &vol));
    expect(diderot_set_file(inputs, "rgba", words[3]));
    expect(diderot_set_ints(inputs, "xres", &pixels, 1));
    expect(diderot_set_ints(inputs, "yres", &pixels, 1));

    // As a whole: the start, the super-steps, the picture in memory.
    double *times[PARTS];
    for (int part = 0; part < PARTS; ++part) times[part] = calloc(frames + 1, sizeof(double));
    for (int frame = 0; frame <= frames; ++frame) {
        const double angle = 2 * acos(-1.0) * frame / (frames + 1), eye[] = {8 * cos(angle), 8 * sin(angle), 5};
        diderot_run *run;
        diderot_array rgb;
        const double begin = milliseconds();
        expect(diderot_set_reals(inputs, "eye", eye, 3));
        expect(diderot_start(program, inputs, 0, &run));
        const double started = milliseconds();
        expect(diderot_step(run, 0, NULL));
        const double stepped = milliseconds();
        expect(diderot_output(run, "rgb", &rgb));
        const double taken = milliseconds();
        diderot_free_run(run);
        const double parts[PARTS] = {milliseconds() - begin, started - begin, stepped - started, taken - stepped};
        for (int part = 0; part < PARTS; ++part) times[part][frame] = parts[part];
    }
    printf("first frame %.2f ms; median and least of %d more:", times[0][0], frames);
    const char *names[PARTS] = {"a frame", "start", "super-steps", "picture"};
    for (int part = 0; part < PARTS; ++part) {
        qsort(times[part] + 1, frames, sizeof(double), smaller);
        printf("%s %s %.2f %.2f", part ? ";" : "", names[part], times[part][1 + frames / 2], times[part][1]);
    }
    puts(" ms");
    diderot_free_inputs(inputs);
    diderot_free_program(program);
    diderot_free_config(config);
    return 0;
}
