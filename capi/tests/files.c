/* Files, configurations and imports. */
#include "client.h"

#include <math.h>
#include <string.h>

static const char GREY[] = "#version 2.0\n"
                           "input real grey = 0.2;\n"
                           "strand s (int i, int j) { output real v = 0; update { v = grey; stabilize; } }\n"
                           "create_array { s(i, j) | i in 0..7, j in 0..7 }\n";

static const char STACK[] = "#version 2.0\n"
                            "input image(3)[] slices;\n"
                            "field#0(3)[] F = tent ⊛ slices;\n"
                            "strand s (int k) { output real v = 0; update { v = F([3, 3, k]); stabilize; } }\n"
                            "create_array { s(k) | k in 0..1 }\n";

static const char COLOURS[] = "#version 2.0\n"
                              "input image(1)[3] map;\n"
                              "field#0(1)[3] M = tent ⊛ map;\n"
                              "strand s (int i) { output vec3 c = [0, 0, 0]; update { c = M(i/2.0); stabilize; } }\n"
                              "create_array { s(i) | i in 0..2 }\n";

/* Runs a program with one file as input; the caller frees the run. */
static diderot_run *ran(const char *name, const char *text, const char *input, const char *file) {
    diderot_program *program = compiled(name, text);
    diderot_inputs *inputs;
    diderot_run *run;
    OK(diderot_new_inputs(program, &inputs));
    OK(diderot_set_file(inputs, input, file));
    OK(diderot_start(program, inputs, 1, &run));
    OK(diderot_step(run, 0, NULL));
    diderot_free_inputs(inputs);
    diderot_free_program(program);
    return run;
}

/* Outputs are written as by the command, and read back as numbered pictures and as an array. */
void files(void) {
    diderot_program *program = compiled("grey.diderot", GREY);
    diderot_inputs *inputs;
    diderot_run *run;
    diderot_array array;
    OK(diderot_new_inputs(program, &inputs));
    const char *names[] = {"slice1.png", "slice2.png"};
    for (int n = 0; n < 2; n++) {
        double grey = 0.2 * (n + 1);
        OK(diderot_set_reals(inputs, "grey", &grey, 1));
        OK(diderot_start(program, inputs, 1, &run));
        OK(diderot_step(run, 0, NULL));
        diderot_option picture[] = {{NULL, "output", names[n]}, {NULL, "range", "0,0.5"}}, data = {"v", "output", "grey.nrrd"};
        OK(diderot_write(run, picture, 2));
        OK(diderot_write(run, &data, 1));
        diderot_free_run(run);
    }
    run = ran("stack.diderot", STACK, "slices", "slice%d.png 1 2");
    OK(diderot_output(run, "v", &array));
    CHECK(((const double *)array.data)[0] == 102 && ((const double *)array.data)[1] == 204);
    diderot_free_run(run);
    run = ran("probe.diderot", PROBE, "img", "grey.nrrd");
    /* Every error is a sentence. */
    diderot_option wrong = {NULL, "range", "wide"}, nowhere = {NULL, "output", "no/such/folder/v.nrrd"}, null = {NULL, NULL, NULL},
                   unknown = {NULL, "colour", "red"}, none = {"w", "range", "0,1"}, own = {NULL, "output", "grey.nrrd"};
    FAILS(diderot_write(run, &wrong, 1), DIDEROT_MISUSE, "range");
    FAILS(diderot_write(run, &unknown, 1), DIDEROT_MISUSE, "there is no option `colour`; there are output, snapshot");
    FAILS(diderot_write(run, &none, 1), DIDEROT_MISUSE, "there is no output `w`");
    FAILS(diderot_write(run, &nowhere, 1), DIDEROT_FILE_ERROR, "no/such/folder");
    FAILS(diderot_write(run, &own, 1), DIDEROT_FILE_ERROR, "the input `img`");
    FAILS(diderot_write(run, &null, 1), DIDEROT_MISUSE, "`name`");
    FAILS(diderot_write(run, NULL, 1), DIDEROT_MISUSE, "`options`");
    FAILS(diderot_record(run, &nowhere, 1), DIDEROT_MISUSE, "before the first step");
    diderot_free_run(run);
    diderot_free_inputs(inputs);
    diderot_free_program(program);
    /* A colour map is an image without a file. */
    run = ran("colours.diderot", COLOURS, "map", "std:grey");
    OK(diderot_output(run, "c", &array));
    CHECK(((const double *)array.data)[0] == 0 && fabs(((const double *)array.data)[8] - 1) < 1e-9);
    diderot_free_run(run);
}

void recordings(void) {
    const char *text = "#version 2.0\n"
                       "strand s (int i, int j) {\n"
                       "    output real v = i*j/16.0;\n"
                       "    int n = 0;\n"
                       "    update { v += 0.1; n += 1; if (n == 4) { stabilize; } }\n"
                       "}\n"
                       "create_array { s(i, j) | i in 0..3, j in 0..3 }\n";
    diderot_program *program;
    diderot_run *run;
    const char *const *remarks;
    remove("film.y4m");
    OK(diderot_compile("film.diderot", text, strlen(text), NULL, &program));
    OK(diderot_start(program, NULL, 1, &run));
    diderot_option film[] = {{"v", "output", "film.y4m"}, {NULL, "snapshot", "2"}, {NULL, "fps", "5"}}, nowhere = {NULL, "output", "no/such/v.nrrd"};
    /* A recording that cannot begin leaves the run as it was. */
    FAILS(diderot_record(run, &nowhere, 1), DIDEROT_FILE_ERROR, "no/such");
    OK(diderot_record(run, film, 3));
    FAILS(diderot_record(run, film, 3), DIDEROT_MISUSE, "once");
    FAILS(diderot_finish_recording(run), DIDEROT_MISUSE, "no values");
    /* One super-step at a time, and no further than the third. */
    for (int n = 0; n < 3; n++) OK(diderot_step(run, 1, NULL));
    CHECK(fopen("film.y4m", "rb") == NULL);
    OK(diderot_finish_recording(run));
    CHECK(diderot_remarks(run, &remarks) == 0 && diderot_remarks(NULL, &remarks) == 0);
    diderot_free_run(run);
    /* The header, and three pictures: before the first super-step, after the second, and the last. */
    char bytes[4096];
    FILE *file = fopen("film.y4m", "rb");
    CHECK(file != NULL);
    size_t length = fread(bytes, 1, sizeof bytes, file), frames = 0;
    fclose(file);
    for (size_t at = 0; at + 5 <= length; at++) {
        frames += memcmp(bytes + at, "FRAME", 5) == 0;
    }
    CHECK(memcmp(bytes, "YUV4MPEG2 W4 H4 F5000:1000", 26) == 0 && frames == 3);
    diderot_free_program(program);
}

void configs(void) {
    const char *text = "#version 2.0\n"
                       "const int N = 3;\n"
                       "strand s (int i) { output int n = N; int spare = 1; update { n += i; stabilize; } }\n"
                       "create_array { s(i) | i in 0..0 }\n";
    diderot_config *config = diderot_new_config();
    diderot_program *program;
    diderot_run *run;
    diderot_array array;
    FAILS(diderot_config_target(config, "abacus"), DIDEROT_MISUSE, "no target `abacus`; there are cpu, cuda, cuda-only");
    OK(diderot_config_target(config, "cpu"));
    FAILS(diderot_config_width(config, 3), DIDEROT_MISUSE, "width 3");
    OK(diderot_config_width(config, 4));
    FAILS(diderot_config_warn(config, "thunder"), DIDEROT_MISUSE, "no warning `thunder`");
    OK(diderot_config_warn(config, "broadcast"));
    OK(diderot_config_constant(config, "N", "many"));
    FAILS(diderot_compile("n.diderot", text, strlen(text), config, &program), DIDEROT_COMPILE_ERROR, "many");
    CHECK(program == NULL);
    OK(diderot_config_constant(config, "N", "7"));
    diderot_config_long_int(config, true);
    OK(diderot_compile("n.diderot", text, strlen(text), config, &program));
    diderot_free_config(config);
    /* A program keeps its warnings. */
    const diderot_diagnostic *list;
    CHECK(diderot_diagnostics(program, &list) == 1 && !list[0].is_error && strcmp(list[0].code, "unused") == 0);
    CHECK(strcmp(list[0].location.file, "n.diderot") == 0 && list[0].location.line == 3 && strstr(list[0].message, "`spare`"));
    OK(diderot_start(program, NULL, 1, &run));
    OK(diderot_step(run, 0, NULL));
    OK(diderot_output(run, "n", &array));
    CHECK(array.type == DIDEROT_INT64 && *(const int64_t *)array.data == 7);
    diderot_free_run(run);
    diderot_free_program(program);
}

/* An error in an imported file has its places there. */
void imported(void) {
    FILE *file = fopen("part.diderot", "w");
    CHECK(file && fputs("#version 2.0\nfunction real half (real x) = x/2;\nfunction int one () = half(2);\n", file) >= 0);
    fclose(file);
    const char *text = "#version 2.0\nimport \"part.diderot\";\n"
                       "strand s (int i) { output int n = one(); update { stabilize; } }\ncreate_array { s(i) | i in 0..0 }\n";
    diderot_program *program;
    diderot_error *error = diderot_compile("whole.diderot", text, strlen(text), NULL, &program);
    const diderot_diagnostic *list;
    CHECK(diderot_error_status(error) == DIDEROT_COMPILE_ERROR && program == NULL);
    CHECK(diderot_error_diagnostics(error, &list) >= 1 && list[0].is_error && strcmp(list[0].code, "type-mismatch") == 0);
    diderot_location at = list[0].location;
    CHECK(strcmp(at.file, "part.diderot") == 0 && at.line == 3 && at.column == 23 && at.end_line == 3 && at.end_column == 30);
    CHECK(list[0].label_count == 1 && strcmp(list[0].labels[0].location.file, "part.diderot") == 0);
    CHECK(list[0].labels[0].location.line == 3 && strstr(list[0].labels[0].text, "`real`"));
    CHECK(list[0].hint_count == 1 && strstr(list[0].hints[0], "converted"));
    FAILS(error, DIDEROT_COMPILE_ERROR, "part.diderot:3:");
    /* A misspelled name comes with the edit that corrects it. */
    text = "#version 2.0\ninput real half = 0.5;\n"
           "strand s (int i) { output real x = hlaf; update { stabilize; } }\ncreate_array { s(i) | i in 0..0 }\n";
    error = diderot_compile("whole.diderot", text, strlen(text), NULL, &program);
    CHECK(diderot_error_diagnostics(error, &list) >= 1 && list[0].fix_count == 1 && list[0].fixes[0].edit_count == 1);
    const diderot_edit *edit = list[0].fixes[0].edits;
    CHECK(strcmp(edit->text, "half") == 0 && edit->location.line == 3 && edit->location.column == 36 && edit->location.end_column == 40);
    CHECK(strstr(list[0].fixes[0].title, "half"));
    FAILS(error, DIDEROT_COMPILE_ERROR, "hlaf");
}
