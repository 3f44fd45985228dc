/* Made by `diderotc build --library`. */
#ifdef DIDEROT_TEEM
#define _DEFAULT_SOURCE /* mkstemps */
#endif
#include "@P@.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef DIDEROT_TEEM
#include <unistd.h>
#endif

/* The name of a file that is removed with the world. */
typedef struct scratch {
    struct scratch *next;
    char name[32];
} scratch;

struct @P@_world {
    diderot_program *program;
    diderot_inputs *inputs;
    diderot_run *run;
    char *errors;
    bool verbose;
    uint32_t workers;
    uint64_t steps;
    bool (*printer)(void *, char *);
    void *printer_data;
    scratch *files;
@FIELDS@};

static const char TEXT[] =
    @TEXT@;

/* Keeps a message. */
static bool wrong(@P@_world_t *wrld, const char *message) {
    free(wrld->errors);
    wrld->errors = (char *)malloc(strlen(message) + 1);
    if (wrld->errors != NULL) {
        strcpy(wrld->errors, message);
    }
    if (wrld->verbose) {
        fprintf(stderr, "%s\n", message);
    }
    return true;
}

/* Keeps the message of an error and frees it; true on errors. */
static bool failed(@P@_world_t *wrld, diderot_error *error) {
    if (error == NULL) {
        return false;
    }
    wrong(wrld, diderot_error_message(error));
    diderot_free_error(error);
    return true;
}

static bool failed_inputs(@P@_world_t *wrld, diderot_error *error) {
    if (wrld->inputs == NULL) {
        diderot_free_error(error);
        return wrong(wrld, "the world was not initialized");
    }
    return failed(wrld, error);
}

/* Keeps a message if there are no strands. */
static bool lacks_strands(@P@_world_t *wrld) {
    return wrld->run == NULL && wrong(wrld, "the strands were not created");
}

static void print(void *world, const char *text, size_t length) {
    @P@_world_t *wrld = (@P@_world_t *)world;
    char *copy = wrld->printer == NULL ? NULL : (char *)malloc(length + 1);
    if (copy == NULL) {
        fwrite(text, 1, length, stdout);
        return;
    }
    memcpy(copy, text, length);
    copy[length] = '\0';
    wrld->printer(wrld->printer_data, copy);
    free(copy);
}

@P@_world_t *@P@_new_world(void) {
    @P@_world_t *wrld = (@P@_world_t *)calloc(1, sizeof *wrld);
    if (wrld == NULL) {
        return NULL;
    }
@DEFAULTS@    return wrld;
}

bool @P@_init_world(@P@_world_t *wrld) {
    diderot_error *error = NULL;
    diderot_config *config = diderot_new_config();
@CONFIG@    if (error == NULL) error = diderot_compile(@NAME@, TEXT, sizeof TEXT - 1, config, &wrld->program);
    diderot_free_config(config);
    return failed(wrld, error) || failed(wrld, diderot_new_inputs(wrld->program, &wrld->inputs));
}

bool @P@_create_strands(@P@_world_t *wrld) {
    diderot_free_run(wrld->run);
    wrld->run = NULL;
    wrld->steps = 0;
    if (failed_inputs(wrld, diderot_start(wrld->program, wrld->inputs, wrld->workers, &wrld->run))) {
        return true;
    }
    diderot_on_print(wrld->run, print, wrld);
    return false;
}

uint32_t @P@_run(@P@_world_t *wrld, uint32_t maxNSteps) {
    uint64_t before = wrld->steps;
    if (!lacks_strands(wrld)) {
        failed(wrld, diderot_step(wrld->run, maxNSteps, &wrld->steps));
    }
    return (uint32_t)(wrld->steps - before);
}

void @P@_shutdown(@P@_world_t *wrld) {
    if (wrld == NULL) {
        return;
    }
    diderot_free_run(wrld->run);
    diderot_free_inputs(wrld->inputs);
    diderot_free_program(wrld->program);
    while (wrld->files != NULL) {
        scratch *file = wrld->files;
        wrld->files = file->next;
        remove(file->name);
        free(file);
    }
    free(wrld->errors);
    free(wrld);
}

static uint32_t counted(@P@_world_t *wrld, bool with_active, bool with_stable) {
    uint64_t active = 0, stable = 0;
    if (wrld->run != NULL) {
        failed(wrld, diderot_counts(wrld->run, &active, &stable, NULL));
    }
    return (uint32_t)((with_active ? active : 0) + (with_stable ? stable : 0));
}

uint32_t @P@_num_strands(@P@_world_t *wrld) { return counted(wrld, true, true); }
uint32_t @P@_num_active_strands(@P@_world_t *wrld) { return counted(wrld, true, false); }
uint32_t @P@_num_stable_strands(@P@_world_t *wrld) { return counted(wrld, false, true); }

bool @P@_any_errors(@P@_world_t *wrld) { return wrld->errors != NULL; }

char *@P@_get_errors(@P@_world_t *wrld) {
    char *errors = wrld->errors;
    wrld->errors = NULL;
    return errors;
}

void @P@_set_verbose(@P@_world_t *wrld, bool mode) { wrld->verbose = mode; }
bool @P@_get_verbose(@P@_world_t *wrld) { return wrld->verbose; }

bool @P@_set_printer_cb(@P@_world_t *wrld, bool (*printer)(void *, char *), void *data) {
    wrld->printer = printer;
    wrld->printer_data = data;
    return false;
}

uint32_t @P@_get_num_workers(@P@_world_t *wrld) { return wrld->workers; }
bool @P@_set_num_workers(@P@_world_t *wrld, uint32_t count) {
    wrld->workers = count;
    return false;
}

static bool get_output(@P@_world_t *wrld, const char *name, diderot_array *array) {
    return lacks_strands(wrld) || failed(wrld, diderot_output(wrld->run, name, array));
}

#ifdef DIDEROT_TEEM
/* The types of numbers in the order of diderot_type. */
static const int TYPES[] = {nrrdTypeUChar, nrrdTypeChar, nrrdTypeUChar,  nrrdTypeShort, nrrdTypeUShort, nrrdTypeInt,
                            nrrdTypeUInt,  nrrdTypeLLong, nrrdTypeULLong, nrrdTypeFloat, nrrdTypeDouble};

/* Keeps what Teem says. */
static bool wrong_nrrd(@P@_world_t *wrld) {
    char *message = biffGetDone(NRRD);
    wrong(wrld, message);
    free(message);
    return true;
}

/* An array of Teem goes through a file, so that its header is understood as that of any file. Strands may be created again and
 * again, so it stays as long as the world. */
static bool set_nrrd(@P@_world_t *wrld, const char *name, Nrrd *nin) {
    scratch *file = (scratch *)malloc(sizeof *file);
    if (file == NULL) {
        return wrong(wrld, "there is no memory for the name of a file");
    }
    strcpy(file->name, "/tmp/diderot-XXXXXX.nrrd");
    int handle = mkstemps(file->name, 5);
    if (handle < 0) {
        free(file);
        return wrong(wrld, "a file for an array cannot be made in /tmp");
    }
    close(handle);
    file->next = wrld->files;
    wrld->files = file;
    if (nrrdSave(file->name, nin, NULL)) {
        return wrong_nrrd(wrld);
    }
    return failed_inputs(wrld, diderot_set_file(wrld->inputs, name, file->name));
}

static bool get_nrrd(@P@_world_t *wrld, const char *name, Nrrd *lengths, Nrrd *data) {
    diderot_array array;
    if (get_output(wrld, name, &array)) {
        return true;
    }
    size_t sizes[NRRD_DIM_MAX], bytes = nrrdTypeSize[TYPES[array.type]];
    for (size_t n = 0; n < array.axes; n++) {
        sizes[n] = array.sizes[array.axes - 1 - n];
        bytes *= sizes[n];
    }
    if (nrrdMaybeAlloc_nva(data, TYPES[array.type], (unsigned int)array.axes, sizes)) {
        return wrong_nrrd(wrld);
    }
    memcpy(data->data, array.data, bytes);
    if (lengths == NULL) {
        return false;
    }
    size_t pairs[] = {2, array.strands};
    if (nrrdMaybeAlloc_nva(lengths, nrrdTypeInt, 2, pairs)) {
        return wrong_nrrd(wrld);
    }
    int *pair = (int *)lengths->data, first = 0;
    for (size_t n = 0; n < array.strands; n++) {
        pair[2 * n] = first;
        pair[2 * n + 1] = (int)array.lengths[n];
        first += pair[2 * n + 1];
    }
    return false;
}
#endif
@DEFINITIONS@
