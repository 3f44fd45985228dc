/* Uses the library as a client does, and looks at every kind of answer; exits with 0 if all is as it should be. With an argument
 * it does that many cycles of compiling, running and freeing, and looks at its memory. */
#include "diderot.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                                                       \
    do {                                                                                                                       \
        if (!(condition)) {                                                                                                    \
            fprintf(stderr, "line %d: %s\n", __LINE__, #condition);                                                            \
            exit(1);                                                                                                           \
        }                                                                                                                      \
    } while (0)

static const char ROOTS[] = "#version 2.0\n"
                            "input real[] numbers;\n"
                            "input int most = 100;\n"
                            "strand root (real x) {\n"
                            "    output real r = 1;\n"
                            "    output real[] path = {};\n"
                            "    int n = 0;\n"
                            "    update {\n"
                            "        r = (r + x/r)/2; path = path @ r; n += 1;\n"
                            "        if (|r*r - x| < 0.001 || n >= most) { print(n, \" \"); stabilize; }\n"
                            "    }\n"
                            "}\n"
                            "create_array { root(x) | x in numbers }\n";

static const char PROBE[] = "#version 2.0\n"
                            "input image(2)[] img;\n"
                            "field#1(2)[] F = ctmr ⊛ img;\n"
                            "strand s (int i) {\n"
                            "    output vec2 g = [0, 0];\n"
                            "    update { g = ∇F([10.0 + i, 5.0]); stabilize; }\n"
                            "}\n"
                            "create_array { s(i) | i in 0..4 }\n";

static const char ENDLESS[] = "#version 2.0\n"
                              "strand s (int i) { output int n = i; update { n += 1; if (n < 0) { stabilize; } } }\n"
                              "create_array { s(i) | i in 0..9 }\n";

static void take(void *user, const char *text, size_t length) { strncat((char *)user, text, length); }

static diderot_program *compiled(const char *name, const char *text) {
    diderot_program *program = NULL;
    diderot_options options = {.double_precision = true, .long_int = false};
    diderot_status status = diderot_compile(name, text, strlen(text), &options, &program);
    if (status != DIDEROT_OK) {
        fprintf(stderr, "%s\n", diderot_message(program));
        exit(1);
    }
    return program;
}

static void roots(void) {
    diderot_program *program = compiled("roots.diderot", ROOTS);
    const diderot_variable *list;
    CHECK(diderot_inputs(program, &list) == 2 && strcmp(list[0].name, "numbers") == 0 && list[0].is_required);
    CHECK(strcmp(list[0].type_name, "real[]") == 0 && !list[1].is_required);
    CHECK(diderot_outputs(program, &list) == 2 && list[1].is_varying);
    diderot_inputs_t *inputs;
    diderot_run *run;
    CHECK(diderot_new_inputs(program, &inputs) == DIDEROT_OK);
    /* Every wrong input is named. */
    double numbers[] = {4, 9, 100};
    CHECK(diderot_set_reals(inputs, "nombers", numbers, 3) == DIDEROT_INPUT_ERROR);
    CHECK(strstr(diderot_message(inputs), "no input `nombers`"));
    CHECK(diderot_set_bool(inputs, "most", true) == DIDEROT_INPUT_ERROR && diderot_message(inputs));
    CHECK(diderot_start(program, inputs, 2, &run) == DIDEROT_INPUT_ERROR && run == NULL);
    CHECK(strstr(diderot_message(program), "`numbers`"));
    CHECK(diderot_set_reals(inputs, "numbers", numbers, 3) == DIDEROT_OK && diderot_message(inputs) == NULL);
    int64_t most = (int64_t)1 << 40;
    CHECK(diderot_set_ints(inputs, "most", &most, 1) == DIDEROT_INPUT_ERROR);
    CHECK(strstr(diderot_message(inputs), "found 1099511627776, expected an integer from -2147483648"));
    /* No length is believed that memory cannot have. */
    CHECK(diderot_set_reals(inputs, "numbers", numbers, (size_t)1 << 61) == DIDEROT_MISUSE);
    CHECK(diderot_set_ints(inputs, "most", &most, SIZE_MAX) == DIDEROT_MISUSE);
    CHECK(strstr(diderot_message(inputs), "more than memory can hold"));
    most = 50;
    CHECK(diderot_set_ints(inputs, "most", &most, 1) == DIDEROT_OK);
    CHECK(diderot_start(program, inputs, 2, &run) == DIDEROT_OK);
    char printed[100] = "";
    diderot_on_print(run, take, printed);
    uint64_t done, active, stable;
    CHECK(diderot_step(run, 2, &done) == DIDEROT_OK && done == 2);
    diderot_array r, path;
    CHECK(diderot_output(run, "path", &path) == DIDEROT_OK && path.strands == 3 && path.lengths[0] == 2 && path.sizes[0] == 6);
    CHECK(((const double *)path.data)[0] == 2.5);
    CHECK(diderot_output(run, "nothing", &r) == DIDEROT_MISUSE && strstr(diderot_message(run), "`nothing`"));
    CHECK(diderot_step(run, 0, &done) == DIDEROT_OK && done > 2);
    CHECK(diderot_counts(run, &active, &stable, NULL) == DIDEROT_OK && active == 0 && stable == 3);
    CHECK(diderot_output(run, "r", &r) == DIDEROT_OK && r.type == DIDEROT_DOUBLE && r.axes == 1 && r.sizes[0] == 3);
    for (int n = 0; n < 3; n++) CHECK(fabs(((const double *)r.data)[n] - sqrt(numbers[n])) < 0.001);
    CHECK(strlen(printed) > 4);
    diderot_free_inputs(inputs);
    diderot_free_program(program);
    diderot_free_run(run);
}

/* A linear image on a grid with steps of 2 and 4: its gradient is known, whatever the strides. */
static void image(void) {
    diderot_program *program = compiled("probe.diderot", PROBE);
    diderot_inputs_t *inputs;
    diderot_run *run;
    static int16_t samples[20][2][20];
    for (int y = 0; y < 20; y++)
        for (int x = 0; x < 20; x++) samples[19 - y][0][x] = (int16_t)(6 * x + 20 * y);
    diderot_array array = {.data = &samples[19][0][0], .type = DIDEROT_INT16, .axes = 2, .sizes = {20, 20}, .world = 2};
    array.strides[0] = -(ptrdiff_t)sizeof samples[0];
    array.strides[1] = sizeof samples[0][0][0];
    array.directions[0][0] = 2;
    array.directions[1][1] = 4;
    array.origin[1] = -20;
    CHECK(diderot_new_inputs(program, &inputs) == DIDEROT_OK);
    CHECK(diderot_set_file(inputs, "img", "nowhere.nrrd#2") == DIDEROT_FILE_ERROR);
    CHECK(strstr(diderot_message(inputs), "`nowhere.nrrd#2`"));
    CHECK(diderot_set_image(inputs, "img", &array) == DIDEROT_OK);
    CHECK(diderot_start(program, inputs, 1, &run) == DIDEROT_OK);
    CHECK(diderot_step(run, 0, NULL) == DIDEROT_OK);
    diderot_array g;
    CHECK(diderot_output(run, "g", &g) == DIDEROT_OK && g.axes == 2 && g.sizes[0] == 5 && g.sizes[1] == 2);
    for (int n = 0; n < 5; n++) {
        CHECK(fabs(((const double *)g.data)[2 * n] - 3) < 1e-9);
        CHECK(fabs(((const double *)g.data)[2 * n + 1] - 5) < 1e-9);
    }
    diderot_free_run(run);
    array.axes = 1;
    CHECK(diderot_set_image(inputs, "img", &array) == DIDEROT_OK);
    CHECK(diderot_start(program, inputs, 1, &run) == DIDEROT_INPUT_ERROR && diderot_message(program));
    /* A file that is no image is found out when it is read. */
    CHECK(diderot_set_file(inputs, "img", __FILE__) == DIDEROT_OK);
    CHECK(diderot_start(program, inputs, 1, &run) == DIDEROT_INPUT_ERROR && strstr(diderot_message(program), __FILE__));
    diderot_free_inputs(inputs);
    diderot_free_program(program);
}

static void errors(void) {
    diderot_program *program;
    const char *wrong = "#version 2.0\nint n = 1.5;\n";
    CHECK(diderot_compile("wrong.diderot", wrong, strlen(wrong), NULL, &program) == DIDEROT_COMPILE_ERROR);
    CHECK(strstr(diderot_message(program), "wrong.diderot:2:"));
    const diderot_diagnostic *list;
    CHECK(diderot_diagnostics(program, &list) >= 1 && list[0].line == 2 && list[0].is_error && list[0].code && list[0].message);
    diderot_inputs_t *inputs;
    CHECK(diderot_new_inputs(program, &inputs) == DIDEROT_MISUSE && inputs == NULL);
    diderot_free_program(program);
    /* Null pointers are answers, too. */
    CHECK(diderot_compile(NULL, wrong, 3, NULL, &program) == DIDEROT_MISUSE && program == NULL);
    CHECK(diderot_compile("x", NULL, 3, NULL, &program) == DIDEROT_MISUSE);
    CHECK(diderot_compile("x", wrong, 3, NULL, NULL) == DIDEROT_MISUSE);
    CHECK(diderot_new_inputs(NULL, &inputs) == DIDEROT_MISUSE && diderot_step(NULL, 1, NULL) == DIDEROT_MISUSE);
    CHECK(diderot_set_reals(NULL, "x", NULL, 0) == DIDEROT_MISUSE && diderot_message(NULL) == NULL);
    diderot_cancel(NULL);
    diderot_free_program(NULL);
    diderot_free_inputs(NULL);
    diderot_free_run(NULL);
    /* An error at run time has its place. */
    const char *division = "#version 2.0\nstrand s (int i) { output int n = 0; update { n = 10/i; stabilize; } }\n"
                           "create_array { s(i) | i in 0..3 }\n";
    diderot_run *run;
    program = compiled("division.diderot", division);
    CHECK(diderot_start(program, NULL, 1, &run) == DIDEROT_OK);
    CHECK(diderot_step(run, 0, NULL) == DIDEROT_RUN_ERROR && strstr(diderot_message(run), "division.diderot:2:"));
    diderot_array array;
    CHECK(diderot_output(run, "n", &array) == DIDEROT_MISUSE);
    diderot_free_run(run);
    diderot_free_program(program);
}

static void *cancel(void *run) {
    diderot_cancel((diderot_run *)run);
    return NULL;
}

static void cancelled(void) {
    diderot_program *program = compiled("endless.diderot", ENDLESS);
    diderot_run *run;
    pthread_t thread;
    CHECK(diderot_start(program, NULL, 2, &run) == DIDEROT_OK);
    CHECK(pthread_create(&thread, NULL, cancel, run) == 0);
    CHECK(diderot_step(run, 0, NULL) == DIDEROT_CANCELLED && diderot_message(run));
    pthread_join(thread, NULL);
    diderot_array array;
    CHECK(diderot_output(run, "n", &array) == DIDEROT_OK && array.sizes[0] == 10);
    diderot_free_run(run);
    diderot_free_program(program);
}

static void *many(void *part) {
    for (int n = 0; n < 5; n++) part ? roots() : image();
    return NULL;
}

static long resident(void) {
    long pages = 0, all;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file && fscanf(file, "%ld %ld", &all, &pages) == 2);
    fclose(file);
    return pages * 4096;
}

int main(int count, char **words) {
    CHECK(diderot_abi_version() == 1);
    if (count > 1) {
        int cycles = atoi(words[1]);
        for (int n = 0; n < cycles / 4; n++) roots();
        long before = resident();
        for (int n = cycles / 4; n < cycles; n++) roots();
        long growth = resident() - before;
        printf("%ld bytes more after %d cycles\n", growth, cycles);
        CHECK(growth < 2 << 20);
        return 0;
    }
    roots();
    image();
    errors();
    cancelled();
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, many, words) == 0);
    many(NULL);
    pthread_join(thread, NULL);
    puts("as it should be");
    return 0;
}
