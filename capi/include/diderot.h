/* libdiderot: compile Diderot programs and run them.
 *
 *   diderot_program *program;
 *   diderot_inputs_t *inputs;
 *   diderot_run *run;
 *   diderot_array rgb;
 *   if (diderot_compile("iso.diderot", text, strlen(text), NULL, &program)) { puts(diderot_message(program)); return 1; }
 *   diderot_new_inputs(program, &inputs);
 *   diderot_set_file(inputs, "vol", "head.nrrd");
 *   diderot_start(program, inputs, 0, &run);
 *   diderot_step(run, 0, NULL);
 *   diderot_output(run, "rgb", &rgb);
 *   …
 *   diderot_free_run(run); diderot_free_inputs(inputs); diderot_free_program(program);
 *
 * Every function that can fail gives a status; the message of the object says why. Texts are UTF-8. What a pointer of an object
 * leads to belongs to the object and is there until it is freed; messages and outputs until its next call. A program never changes
 * and may be used by many threads; inputs and a run by one thread at a time, but diderot_cancel by any. All free functions take NULL.
 */
#ifndef DIDEROT_H
#define DIDEROT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    DIDEROT_OK = 0,
    DIDEROT_COMPILE_ERROR = 1, /* the program has errors */
    DIDEROT_INPUT_ERROR = 2,   /* an input is missing or wrong */
    DIDEROT_RUN_ERROR = 3,     /* the run met an error */
    DIDEROT_CANCELLED = 4,     /* the run was cancelled */
    DIDEROT_FILE_ERROR = 5,    /* a file could not be read or written */
    DIDEROT_MISUSE = 6,        /* a null pointer, an unknown name, a run that runs already */
    DIDEROT_INTERNAL = 99      /* a fault of the library */
} diderot_status;

typedef enum {
    DIDEROT_BOOL = 0, /* one byte, 0 or 1 */
    DIDEROT_INT8 = 1,
    DIDEROT_UINT8 = 2,
    DIDEROT_INT16 = 3,
    DIDEROT_UINT16 = 4,
    DIDEROT_INT32 = 5,
    DIDEROT_UINT32 = 6,
    DIDEROT_INT64 = 7,
    DIDEROT_UINT64 = 8,
    DIDEROT_FLOAT = 9,
    DIDEROT_DOUBLE = 10
} diderot_type;

#define DIDEROT_MAX_AXES 16

typedef struct diderot_program diderot_program;
typedef struct diderot_inputs_t diderot_inputs_t;
typedef struct diderot_run diderot_run;

/* Choices of a compilation; all zero is what the command does. */
typedef struct {
    bool double_precision; /* reals have 64 bits */
    bool long_int;         /* integers have 64 bits */
} diderot_options;

/* A message about a place in a program; lines and columns count from 1, columns in characters. */
typedef struct {
    uint32_t line;
    uint32_t column;
    bool is_error;
    const char *code;
    const char *message;
} diderot_diagnostic;

/* An input or an output. */
typedef struct {
    const char *name;
    const char *type_name;   /* as programs spell it */
    const char *description; /* or NULL */
    bool is_required;        /* an input that must be given */
    bool is_varying;         /* an output of which each strand has a sequence of its own length */
} diderot_variable;

/* Numbers with their axes, the slowest first: those of a grid, then those of a sample or a strand's value. */
typedef struct {
    const void *data;
    diderot_type type;
    size_t axes;
    size_t sizes[DIDEROT_MAX_AXES];
    ptrdiff_t strides[DIDEROT_MAX_AXES]; /* in bytes; all zero if elements lie close together */
    size_t world;            /* the dimension of the world in which the grid lies; 0 if nothing is known of it */
    double directions[3][3]; /* for each axis of the grid, the FASTEST first, the step to the next sample */
    double origin[3];        /* where the first sample lies */
    const size_t *lengths;   /* of sequences of varying length, one for each strand; else NULL */
    size_t strands;          /* the number of these lengths */
} diderot_array;

typedef void (*diderot_printer)(void *user, const char *text, size_t length);
typedef void (*diderot_watcher)(void *user, uint64_t steps, uint64_t active, uint64_t stable, uint64_t dead);

uint32_t diderot_abi_version(void);

/* If the program has errors, *program is an object all the same, to be asked for them and freed. Options may be NULL. */
diderot_status diderot_compile(const char *name, const char *text, size_t length, const diderot_options *options,
                               diderot_program **program);
/* The last message of a program, of inputs or of a run, with excerpts; NULL if its last call went well. */
const char *diderot_message(const void *object);
size_t diderot_diagnostics(const diderot_program *program, const diderot_diagnostic **list);
size_t diderot_inputs(const diderot_program *program, const diderot_variable **list);
size_t diderot_outputs(const diderot_program *program, const diderot_variable **list);
void diderot_free_program(diderot_program *program);

diderot_status diderot_new_inputs(const diderot_program *program, diderot_inputs_t **inputs);
/* A real, a tensor, or a sequence of them: components row by row. */
diderot_status diderot_set_reals(diderot_inputs_t *inputs, const char *name, const double *values, size_t count);
diderot_status diderot_set_ints(diderot_inputs_t *inputs, const char *name, const int64_t *values, size_t count);
diderot_status diderot_set_bool(diderot_inputs_t *inputs, const char *name, bool value);
diderot_status diderot_set_string(diderot_inputs_t *inputs, const char *name, const char *value);
/* The file of an image, a mesh or a sequence. */
diderot_status diderot_set_file(diderot_inputs_t *inputs, const char *name, const char *file);
/* An image in memory, which is copied. */
diderot_status diderot_set_image(diderot_inputs_t *inputs, const char *name, const diderot_array *array);
void diderot_free_inputs(diderot_inputs_t *inputs);

/* Loads images and computes the globals; 0 workers are one for each core. Failures are told by the message of the program. Without
 * inputs all have their defaults. */
diderot_status diderot_start(const diderot_program *program, const diderot_inputs_t *inputs, uint32_t workers,
                             diderot_run **run);
/* Both are called on the thread that calls diderot_step. */
void diderot_on_print(diderot_run *run, diderot_printer printer, void *user);
void diderot_on_progress(diderot_run *run, diderot_watcher watcher, void *user);
/* Up to `most` super-steps, or with 0 to the end; *done (or NULL) gets those completed since the beginning. */
diderot_status diderot_step(diderot_run *run, uint64_t most, uint64_t *done);
/* From any thread, and from handlers of signals; what the run has can be read. */
void diderot_cancel(diderot_run *run);
diderot_status diderot_counts(const diderot_run *run, uint64_t *active, uint64_t *stable, uint64_t *dead);
/* As it is now: of all living strands while some are active. Valid until the next step, or until the run is freed. */
diderot_status diderot_output(diderot_run *run, const char *name, diderot_array *array);
void diderot_free_run(diderot_run *run);

#ifdef __cplusplus
}
#endif

#endif
