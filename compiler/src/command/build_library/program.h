/* Made by `diderotc build --library`; functions that return bool return true on errors. Link with -ldiderot. */
#ifndef @P@_H
#define @P@_H

#include <diderot.h>
#ifdef DIDEROT_TEEM
#include <teem/biff.h>
#include <teem/nrrd.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct @P@_world @P@_world_t;

@P@_world_t *@P@_new_world(void);
bool @P@_init_world(@P@_world_t *wrld);
bool @P@_create_strands(@P@_world_t *wrld);
/* Up to so many super-steps, or with 0 to the end; gives how many were taken. */
uint32_t @P@_run(@P@_world_t *wrld, uint32_t maxNSteps);
void @P@_shutdown(@P@_world_t *wrld);

uint32_t @P@_num_strands(@P@_world_t *wrld);
uint32_t @P@_num_active_strands(@P@_world_t *wrld);
uint32_t @P@_num_stable_strands(@P@_world_t *wrld);

bool @P@_any_errors(@P@_world_t *wrld);
/* The message of the last error, which the caller frees, or NULL. */
char *@P@_get_errors(@P@_world_t *wrld);

void @P@_set_verbose(@P@_world_t *wrld, bool mode);
bool @P@_get_verbose(@P@_world_t *wrld);
bool @P@_set_printer_cb(@P@_world_t *wrld, bool (*printer)(void *data, char *text), void *data);
uint32_t @P@_get_num_workers(@P@_world_t *wrld);
bool @P@_set_num_workers(@P@_world_t *wrld, uint32_t count);
@DECLARATIONS@
#ifdef __cplusplus
}
#endif

#endif
