/* Parts of the client that its files share. */
#ifndef CLIENT_H
#define CLIENT_H

#include "diderot.h"

#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                                                                       \
    do {                                                                                                                       \
        if (!(condition)) {                                                                                                    \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                                    \
            exit(1);                                                                                                           \
        }                                                                                                                      \
    } while (0)

#define OK(call) CHECK(is(call, DIDEROT_OK, ""))
#define FAILS(call, status, text) CHECK(is(call, status, text))

/* Whether an error has a status and a text; it is freed. */
bool is(diderot_error *error, diderot_status status, const char *text);

/* A program in double precision, which has no errors. */
diderot_program *compiled(const char *name, const char *text);

/* The gradient of an image `img` of two axes. */
extern const char PROBE[];

/* Outputs in files, names of inputs' files, recordings, configurations, imports. */
void files(void);
void recordings(void);
void configs(void);
void imported(void);

#endif
