/* Letters between the processes of an MPI program, for diderotc.
 *
 * diderotc knows no MPI: `diderotc mpi build` compiles this file with the compiler of a cluster (mpicc), and `diderotc --mpi`
 * loads the result. The functions below are the whole interface. They take bytes and 64-bit numbers only, so that they are the same
 * for every MPI. One thread calls them all, the one that called diderot_mpi_start. Each returns 0, or an error code of MPI, except
 * where it says otherwise.
 *
 * Letters are sent without waiting. A letter that is still on its way has a ticket, by which its end is noticed. A tag says
 * whether the letter goes on in the next one.
 */

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The version of this interface; diderotc loads no other. */
#define INTERFACE 1

static MPI_Comm ranks = MPI_COMM_NULL;

/* Letters on their way; a null request is a free place. */
static MPI_Request *requests;
static int64_t places;

int64_t diderot_mpi_interface(void) { return INTERFACE; }

/* Joins the other processes. */
int64_t diderot_mpi_start(int64_t *rank, int64_t *size) {
  int started, level, number, count, status;
  status = MPI_Initialized(&started);
  if (status == MPI_SUCCESS && !started) {
    status = MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level);
    if (status == MPI_SUCCESS && level < MPI_THREAD_FUNNELED) return MPI_ERR_OTHER;
  }
  if (status != MPI_SUCCESS) return status;
  /* A communicator of our own, on which nothing else sends. Its errors are reported here and do not end the process. */
  status = MPI_Comm_dup(MPI_COMM_WORLD, &ranks);
  if (status != MPI_SUCCESS) return status;
  MPI_Comm_set_errhandler(ranks, MPI_ERRORS_RETURN);
  MPI_Comm_rank(ranks, &number);
  MPI_Comm_size(ranks, &count);
  *rank = number;
  *size = count;
  return 0;
}

/* The name and version of the MPI library, as one line that ends with a zero byte. */
void diderot_mpi_library(char *text, int64_t room) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  if (room < 1) return;
  MPI_Get_library_version(version, &length);
  snprintf(text, (size_t)room, "%.*s", length, version);
  text[strcspn(text, "\r\n")] = 0;
}

/* The meaning of an error code, as a line that ends with a zero byte. */
void diderot_mpi_meaning(int64_t code, char *text, int64_t room) {
  char meaning[MPI_MAX_ERROR_STRING];
  int length = 0;
  if (room < 1) return;
  if (MPI_Error_string((int)code, meaning, &length) != MPI_SUCCESS) length = 0;
  snprintf(text, (size_t)room, "%.*s", length, meaning);
  text[strcspn(text, "\r\n")] = 0;
}

/* A free place for a request, or -1 if there is no memory. */
static int64_t free_place(void) {
  int64_t place, more;
  MPI_Request *grown;
  for (place = 0; place < places; place++)
    if (requests[place] == MPI_REQUEST_NULL) return place;
  more = places ? 2 * places : 64;
  grown = realloc(requests, (size_t)more * sizeof *grown);
  if (!grown) return -1;
  for (place = places; place < more; place++) grown[place] = MPI_REQUEST_NULL;
  place = places;
  requests = grown;
  places = more;
  return place;
}

/* Begins to send a letter of at most 2^31 - 1 bytes, which must stay as they are until it has arrived. */
int64_t diderot_mpi_send(int64_t to, int64_t tag, const void *bytes, int64_t count, int64_t *ticket) {
  int64_t place = free_place();
  if (place < 0) return MPI_ERR_NO_MEM;
  *ticket = place;
  return MPI_Isend(bytes, (int)count, MPI_BYTE, (int)to, (int)tag, ranks, &requests[place]);
}

/* Whether a letter has been sent; its ticket is then used again. */
int64_t diderot_mpi_is_sent(int64_t ticket, int64_t *is_sent) {
  int done = 0;
  int status = MPI_Test(&requests[ticket], &done, MPI_STATUS_IGNORE);
  *is_sent = done;
  return status;
}

/* Looks for a letter from any process: its sender, its tag, and its length, or -1 if there is none. */
int64_t diderot_mpi_look(int64_t *from, int64_t *tag, int64_t *count) {
  MPI_Status letter;
  int found = 0, length = 0;
  int status = MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, ranks, &found, &letter);
  *count = -1;
  if (status != MPI_SUCCESS || !found) return status;
  status = MPI_Get_count(&letter, MPI_BYTE, &length);
  *from = letter.MPI_SOURCE;
  *tag = letter.MPI_TAG;
  *count = length;
  return status;
}

/* Receives the letter that was found. */
int64_t diderot_mpi_receive(int64_t from, int64_t tag, void *bytes, int64_t count) {
  return MPI_Recv(bytes, (int)count, MPI_BYTE, (int)from, (int)tag, ranks, MPI_STATUS_IGNORE);
}

/* Leaves the other processes; all of them must. */
int64_t diderot_mpi_finish(void) {
  free(requests);
  requests = NULL;
  places = 0;
  MPI_Comm_free(&ranks);
  return MPI_Finalize();
}

/* Ends all processes at once. */
void diderot_mpi_abort(int64_t status) { MPI_Abort(MPI_COMM_WORLD, (int)status); }
