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
 * This file is made by cbindgen from the comments of the library. */

#ifndef DIDEROT_H
#define DIDEROT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Objects of the library.
typedef struct diderot_program diderot_program;
typedef struct diderot_inputs_t diderot_inputs_t;
typedef struct diderot_run diderot_run;

// Axes that an array may have.
#define DIDEROT_MAX_AXES 16

// How a call ended.
typedef enum {
    // As it should.
    DIDEROT_OK = 0,
    // The program has errors.
    DIDEROT_COMPILE_ERROR = 1,
    // An input is missing or wrong.
    DIDEROT_INPUT_ERROR = 2,
    // The run met an error.
    DIDEROT_RUN_ERROR = 3,
    // The run was cancelled.
    DIDEROT_CANCELLED = 4,
    // A file is not there or may not be read.
    DIDEROT_FILE_ERROR = 5,
    // The call makes no sense: a null pointer, an unknown name, a run that runs already.
    DIDEROT_MISUSE = 6,
    // A fault of the library.
    DIDEROT_INTERNAL = 99,
} diderot_status;

// The type of numbers.
typedef enum {
    // Truth values, one byte each: 0 or 1. Only of outputs.
    DIDEROT_BOOL = 0,
    // 8 bits with a sign.
    DIDEROT_INT8 = 1,
    // 8 bits.
    DIDEROT_UINT8 = 2,
    // 16 bits with a sign.
    DIDEROT_INT16 = 3,
    // 16 bits.
    DIDEROT_UINT16 = 4,
    // 32 bits with a sign.
    DIDEROT_INT32 = 5,
    // 32 bits.
    DIDEROT_UINT32 = 6,
    // 64 bits with a sign.
    DIDEROT_INT64 = 7,
    // 64 bits.
    DIDEROT_UINT64 = 8,
    // Single precision.
    DIDEROT_FLOAT = 9,
    // Double precision.
    DIDEROT_DOUBLE = 10,
} diderot_type;

// Choices of a compilation; all zero is what the command does.
typedef struct {
    // Reals have 64 bits.
    bool double_precision;
    // Integers have 64 bits.
    bool long_int;
} diderot_options;

// A message about a place in a program.
typedef struct {
    // The line, from 1.
    uint32_t line;
    // The column in characters, from 1.
    uint32_t column;
    // Whether it is an error rather than a warning.
    bool is_error;
    // Its code, such as `type-mismatch`.
    const char *code;
    // What was found and what was wanted.
    const char *message;
} diderot_diagnostic;

// An input or an output.
typedef struct {
    // Its name.
    const char *name;
    // Its type as programs spell it.
    const char *type_name;
    // What it is for, or null.
    const char *description;
    // Whether an input must be given.
    bool is_required;
    // Whether each strand has a sequence of its own length.
    bool is_varying;
} diderot_variable;

// Numbers with their axes, the slowest first: those of a grid, then those of a sample or a strand's value.
typedef struct {
    // The first number.
    const void *data;
    // Their type.
    diderot_type type;
    // The number of axes.
    size_t axes;
    // The number of elements along each axis.
    size_t sizes[DIDEROT_MAX_AXES];
    // The bytes from one element to the next along each axis; all zero if they lie close together.
    ptrdiff_t strides[DIDEROT_MAX_AXES];
    // The dimension of the world in which the grid lies; 0 if nothing is known of it.
    size_t world;
    // For each axis of the grid, the fastest first, the step in the world from one sample to the next.
    double directions[3][3];
    // Where the first sample lies.
    double origin[3];
    // For sequences of varying length, the number of elements of each strand, or null.
    const size_t *lengths;
    // The number of these lengths.
    size_t strands;
} diderot_array;

// Takes printed text.
typedef void (*diderot_printer)(void *user, const char *text, size_t length);

// Is told how far a run is: super-steps, and active, stable and dead strands.
typedef void (*diderot_watcher)(void *user, uint64_t steps, uint64_t active, uint64_t stable, uint64_t dead);

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The version of this interface; it grows when a client must be compiled again.
uint32_t diderot_abi_version(void);

// Compiles the text of a program, which has so many bytes; the name is that of messages, and what it imports is found beside it. If
// the program has errors, there is an object all the same, to be asked for them and freed.
diderot_status diderot_compile(const char *name,
                               const char *program_text,
                               size_t length,
                               const diderot_options *options,
                               diderot_program **program);

// The errors and warnings of a program; gives their number.
size_t diderot_diagnostics(const diderot_program *program, const diderot_diagnostic **list);

// The inputs of a program; gives their number.
size_t diderot_inputs(const diderot_program *program, const diderot_variable **list);

// The outputs of a program; gives their number.
size_t diderot_outputs(const diderot_program *program, const diderot_variable **list);

// Frees a program; its runs may go on.
void diderot_free_program(diderot_program *program);

// Values for the inputs of a program: none yet.
diderot_status diderot_new_inputs(const diderot_program *program, diderot_inputs_t **inputs);

// Sets an input of reals: a real, a tensor, or a sequence of them, components row by row.
diderot_status diderot_set_reals(diderot_inputs_t *inputs, const char *name, const double *values, size_t count);

// Sets an input that is an integer, or a sequence of integers.
diderot_status diderot_set_ints(diderot_inputs_t *inputs, const char *name, const int64_t *values, size_t count);

// Sets an input that is a truth value.
diderot_status diderot_set_bool(diderot_inputs_t *inputs, const char *name, bool value);

// Sets an input that is a text.
diderot_status diderot_set_string(diderot_inputs_t *inputs, const char *name, const char *value);

// Sets an input that is an image, a mesh or a sequence to the file of a name, which is read when a run is started.
diderot_status diderot_set_file(diderot_inputs_t *inputs, const char *name, const char *file);

// Sets an input to an image in memory, which is copied.
diderot_status diderot_set_image(diderot_inputs_t *inputs, const char *name, const diderot_array *array);

// Frees inputs; runs that were started with them go on.
void diderot_free_inputs(diderot_inputs_t *inputs);

// Loads images, takes inputs and computes the globals; the strands are created by the first step. With 0 workers there is one for
// each core. Failures are told by the message of the program.
diderot_status diderot_start(const diderot_program *program,
                             const diderot_inputs_t *inputs,
                             uint32_t workers,
                             diderot_run **run);

// Says who takes printed text; it is called on the thread that steps the run. Without one, text is dropped.
void diderot_on_print(diderot_run *run, diderot_printer printer, void *user);

// Says who is told of progress, some times a second; it is called on the thread that steps the run.
void diderot_on_progress(diderot_run *run, diderot_watcher watcher, void *user);

// Runs up to so many super-steps, or with 0 to the end. `done`, if not null, gets the super-steps completed since the beginning.
diderot_status diderot_step(diderot_run *run,
                            uint64_t most,
                            uint64_t *done);

// Asks a run to stop; from any thread, and from handlers of signals. The outputs it has can be read.
void diderot_cancel(diderot_run *run);

// The numbers of active, stable and dead strands.
diderot_status diderot_counts(const diderot_run *run, uint64_t *active, uint64_t *stable, uint64_t *dead);

// An output as it is now; its numbers are valid until the next step, or until the run is freed.
diderot_status diderot_output(diderot_run *run, const char *name, diderot_array *array);

// Frees a run.
void diderot_free_run(diderot_run *run);

// The last message of a program, of inputs or of a run; null if its last call went well. It stays until the next call.
const char *diderot_message(const void *object);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* DIDEROT_H */
