/* Uses the library as a client does, and looks at every kind of answer; exits with 0 if all is as it should be. It writes files to the
 * current folder. With an argument it does that many cycles of compiling, running and freeing, and looks at its memory. */
#include "client.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

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

const char PROBE[] = "#version 2.0\n"
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

bool is(diderot_error *error, diderot_status status, const char *text) {
    bool as_expected = diderot_error_status(error) == status && strstr(diderot_error_message(error), text) != NULL;
    if (!as_expected) fprintf(stderr, "status %d: %s\n", diderot_error_status(error), diderot_error_message(error));
    diderot_free_error(error);
    return as_expected;
}

static void take(void *user, const char *text, size_t length) { strncat((char *)user, text, length); }

diderot_program *compiled(const char *name, const char *text) {
    diderot_program *program = NULL;
    diderot_config *config = diderot_new_config();
    diderot_config_double_precision(config, true);
    OK(diderot_compile(name, text, strlen(text), config, &program));
    diderot_free_config(config);
    return program;
}

static void roots(void) {
    diderot_program *program = compiled("roots.diderot", ROOTS);
    const diderot_variable *list;
    CHECK(diderot_program_inputs(program, &list) == 2 && strcmp(list[0].name, "numbers") == 0 && list[0].is_required);
    CHECK(strcmp(list[0].type_name, "real[]") == 0 && !list[1].is_required);
    CHECK(diderot_program_outputs(program, &list) == 2 && list[1].is_varying);
    diderot_inputs *inputs;
    diderot_run *run;
    OK(diderot_new_inputs(program, &inputs));
    /* Every wrong input is named. */
    double numbers[] = {4, 9, 100};
    FAILS(diderot_set_reals(inputs, "nombers", numbers, 3), DIDEROT_INPUT_ERROR, "no input `nombers`");
    FAILS(diderot_set_bool(inputs, "most", true), DIDEROT_INPUT_ERROR, "`most`");
    FAILS(diderot_start(program, inputs, 2, &run), DIDEROT_INPUT_ERROR, "`numbers`");
    CHECK(run == NULL);
    OK(diderot_set_reals(inputs, "numbers", numbers, 3));
    int64_t most = (int64_t)1 << 40;
    const char *range = "found 1099511627776, expected an integer from -2147483648";
    FAILS(diderot_set_ints(inputs, "most", &most, 1), DIDEROT_INPUT_ERROR, range);
    /* No length is believed that memory cannot have. */
    FAILS(diderot_set_reals(inputs, "numbers", numbers, (size_t)1 << 61), DIDEROT_MISUSE, "more than memory can hold");
    FAILS(diderot_set_ints(inputs, "most", &most, SIZE_MAX), DIDEROT_MISUSE, "more than memory can hold");
    most = 50;
    OK(diderot_set_ints(inputs, "most", &most, 1));
    OK(diderot_start(program, inputs, 2, &run));
    char printed[100] = "";
    diderot_on_print(run, take, printed);
    uint64_t done, active, stable;
    OK(diderot_step(run, 2, &done));
    CHECK(done == 2);
    diderot_array r, path;
    OK(diderot_output(run, "path", &path));
    CHECK(path.strands == 3 && path.lengths[0] == 2 && path.sizes[0] == 6 && ((const double *)path.data)[0] == 2.5);
    FAILS(diderot_output(run, "nothing", &r), DIDEROT_MISUSE, "no output `nothing`; there are r, path");
    OK(diderot_step(run, 0, &done));
    CHECK(done > 2);
    OK(diderot_counts(run, &active, &stable, NULL));
    CHECK(active == 0 && stable == 3);
    OK(diderot_output(run, "r", &r));
    CHECK(r.type == DIDEROT_DOUBLE && r.axes == 1 && r.sizes[0] == 3);
    for (int n = 0; n < 3; n++) CHECK(fabs(((const double *)r.data)[n] - sqrt(numbers[n])) < 0.001);
    CHECK(strlen(printed) > 4);
    diderot_free_inputs(inputs);
    diderot_free_program(program);
    diderot_free_run(run);
}

/* Frames that change linearly, at regular and at other times. */
static void film(void) {
    static const char *text =
        "#version 2.0\ninput image(1,time)[] film;\ninput real t = 0;\nfield#0(1,time)[] F = tent ⊛ film;\n"
        "strand s (int i) { output real v = 0; update { v = F(real(i), t); stabilize; } }\n"
        "create_array { s(i) | i in 0..4 }\n";
    diderot_program *program = compiled("film.diderot", text);
    diderot_inputs *inputs;
    diderot_run *run;
    static const double times[] = {1, 2, 4};
    static double samples[3][5];
    for (int n = 0; n < 3; n++)
        for (int x = 0; x < 5; x++) samples[n][x] = x + 10 * times[n];
    diderot_array array = {.data = samples, .type = DIDEROT_DOUBLE, .axes = 2, .sizes = {3, 5}};
    OK(diderot_new_inputs(program, &inputs));
    OK(diderot_set_image_over_time(inputs, "film", &array, times));
    OK(diderot_set_reals(inputs, "t", (const double[]){3}, 1));
    OK(diderot_start(program, inputs, 1, &run));
    OK(diderot_step(run, 0, NULL));
    diderot_array v;
    OK(diderot_output(run, "v", &v));
    for (int x = 0; x < 5; x++) CHECK(fabs(((const double *)v.data)[x] - (x + 30)) < 1e-9);
    diderot_free_run(run);
    static const double wrong[] = {1, 1, 4};
    FAILS(diderot_set_image_over_time(inputs, "film", &array, wrong), DIDEROT_INPUT_ERROR, "later");
    diderot_free_inputs(inputs);
    diderot_free_program(program);
}

/* A linear image on a grid with steps of 2 and 4: its gradient is known, whatever the strides. */
static void image(void) {
    diderot_program *program = compiled("probe.diderot", PROBE);
    diderot_inputs *inputs;
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
    OK(diderot_new_inputs(program, &inputs));
    OK(diderot_set_image(inputs, "img", &array));
    OK(diderot_start(program, inputs, 1, &run));
    OK(diderot_step(run, 0, NULL));
    diderot_array g;
    OK(diderot_output(run, "g", &g));
    CHECK(g.axes == 2 && g.sizes[0] == 5 && g.sizes[1] == 2);
    for (int n = 0; n < 5; n++) {
        CHECK(fabs(((const double *)g.data)[2 * n] - 3) < 1e-9);
        CHECK(fabs(((const double *)g.data)[2 * n + 1] - 5) < 1e-9);
    }
    diderot_free_run(run);
    array.axes = 1;
    OK(diderot_set_image(inputs, "img", &array));
    FAILS(diderot_start(program, inputs, 1, &run), DIDEROT_INPUT_ERROR, "img");
    /* A file is read when the run is started: one that does not exist, a stack without pictures, one that is not an image. */
    OK(diderot_set_file(inputs, "img", "nowhere.nrrd#2"));
    FAILS(diderot_start(program, inputs, 1, &run), DIDEROT_FILE_ERROR, "nowhere.nrrd");
    OK(diderot_set_file(inputs, "img", "nowhere%02d.png 1 9"));
    FAILS(diderot_start(program, inputs, 1, &run), DIDEROT_FILE_ERROR, "nowhere01.png");
    OK(diderot_set_file(inputs, "img", __FILE__));
    FAILS(diderot_start(program, inputs, 1, &run), DIDEROT_INPUT_ERROR, __FILE__);
    diderot_free_inputs(inputs);
    diderot_free_program(program);
}

static void errors(void) {
    diderot_program *program;
    diderot_inputs *inputs;
    diderot_run *run;
    diderot_array array;
    const char *wrong = "#version 2.0\nint n = 1.5;\n";
    FAILS(diderot_compile("wrong.diderot", wrong, strlen(wrong), NULL, &program), DIDEROT_COMPILE_ERROR, "wrong.diderot:2:");
    CHECK(program == NULL);
    /* Null pointers are answers, too. */
    FAILS(diderot_compile(NULL, wrong, 3, NULL, &program), DIDEROT_MISUSE, "`name`");
    FAILS(diderot_compile("x", NULL, 3, NULL, &program), DIDEROT_MISUSE, "`text`");
    FAILS(diderot_compile("x", wrong, 3, NULL, NULL), DIDEROT_MISUSE, "`program`");
    FAILS(diderot_new_inputs(NULL, &inputs), DIDEROT_MISUSE, "`program`");
    FAILS(diderot_start(NULL, NULL, 1, &run), DIDEROT_MISUSE, "`program`");
    FAILS(diderot_set_reals(NULL, "x", NULL, 0), DIDEROT_MISUSE, "`inputs`");
    FAILS(diderot_step(NULL, 1, NULL), DIDEROT_MISUSE, "`run`");
    FAILS(diderot_counts(NULL, NULL, NULL, NULL), DIDEROT_MISUSE, "`run`");
    FAILS(diderot_output(NULL, "x", &array), DIDEROT_MISUSE, "`run`");
    FAILS(diderot_write(NULL, NULL, 0), DIDEROT_MISUSE, "`run`");
    FAILS(diderot_record(NULL, NULL, 0), DIDEROT_MISUSE, "`run`");
    FAILS(diderot_config_target(NULL, "cpu"), DIDEROT_MISUSE, "`config`");
    FAILS(diderot_config_constant(NULL, "N", "1"), DIDEROT_MISUSE, "`config`");
    FAILS(diderot_config_width(NULL, 4), DIDEROT_MISUSE, "`config`");
    FAILS(diderot_config_warn(NULL, "broadcast"), DIDEROT_MISUSE, "`config`");
    CHECK(inputs == NULL && run == NULL && diderot_error_diagnostics(NULL, NULL) == 0 && diderot_diagnostics(NULL, NULL) == 0);
    diderot_config_long_int(NULL, true);
    diderot_config_double_precision(NULL, true);
    diderot_stop(NULL);
    diderot_free_error(NULL);
    diderot_free_config(NULL);
    diderot_free_program(NULL);
    diderot_free_inputs(NULL);
    diderot_free_run(NULL);
    /* An error at run time has its place. */
    const char *division = "#version 2.0\nstrand s (int i) { output int n = 0; update { n = 10/i; stabilize; } }\n"
                           "create_array { s(i) | i in 0..3 }\n";
    program = compiled("division.diderot", division);
    OK(diderot_start(program, NULL, 1, &run));
    diderot_error *error = diderot_step(run, 0, NULL);
    const diderot_diagnostic *list;
    CHECK(diderot_error_diagnostics(error, &list) == 1 && list[0].location.line == 2);
    FAILS(error, DIDEROT_RUN_ERROR, "division.diderot:2:");
    diderot_program *other = compiled("roots.diderot", ROOTS);
    OK(diderot_new_inputs(other, &inputs));
    diderot_run *none;
    FAILS(diderot_start(program, inputs, 1, &none), DIDEROT_MISUSE, "another program");
    diderot_free_inputs(inputs);
    diderot_free_program(other);
    FAILS(diderot_output(run, "n", &array), DIDEROT_MISUSE, "the run has failed");
    FAILS(diderot_step(run, 0, NULL), DIDEROT_RUN_ERROR, "division.diderot:2:");
    diderot_free_run(run);
    diderot_free_program(program);
}

static void *stop(void *run) {
    diderot_stop((diderot_run *)run);
    return NULL;
}

static void stopped(void) {
    diderot_program *program = compiled("endless.diderot", ENDLESS);
    diderot_run *run;
    pthread_t thread;
    OK(diderot_start(program, NULL, 2, &run));
    CHECK(pthread_create(&thread, NULL, stop, run) == 0);
    FAILS(diderot_step(run, 0, NULL), DIDEROT_STOPPED, "stopped");
    pthread_join(thread, NULL);
    diderot_array array;
    OK(diderot_output(run, "n", &array));
    CHECK(array.sizes[0] == 10);
    diderot_free_run(run);
    diderot_free_program(program);
}

/* A thread that uses a program of several. */
typedef struct {
    const diderot_program *program;
    bool sets_numbers;
} user;

/* Starts runs that succeed or fail. Each error stays as it is, whatever other threads do with the program. */
static void *use(void *data) {
    const user *own = (const user *)data;
    double numbers[] = {4, 9};
    for (int n = 0; n < 200; n++) {
        diderot_inputs *inputs;
        diderot_run *run;
        OK(diderot_new_inputs(own->program, &inputs));
        diderot_error *misuse = diderot_new_inputs(own->program, NULL);
        if (own->sets_numbers) OK(diderot_set_reals(inputs, "numbers", numbers, 2));
        diderot_error *error = diderot_start(own->program, inputs, 1, &run);
        CHECK(own->sets_numbers == (error == NULL));
        for (int k = 0; k < 100; k++) {
            char text[200];
            snprintf(text, sizeof text, "%s %s", diderot_error_message(misuse), diderot_error_message(error));
            CHECK(strstr(text, "`inputs`") && own->sets_numbers == (strstr(text, "`numbers`") == NULL));
        }
        diderot_free_error(misuse);
        diderot_free_error(error);
        diderot_free_run(run);
        diderot_free_inputs(inputs);
    }
    return NULL;
}

static void shared(void) {
    diderot_program *program = compiled("roots.diderot", ROOTS);
    user succeeds = {program, true}, fails = {program, false};
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, use, &succeeds) == 0);
    use(&fails);
    pthread_join(thread, NULL);
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
    CHECK(diderot_abi_version() == 2);
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
    film();
    files();
    recordings();
    configs();
    imported();
    errors();
    stopped();
    shared();
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, many, words) == 0);
    many(NULL);
    pthread_join(thread, NULL);
    puts("as it should be");
    return 0;
}
