/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_api - what the parts of the benchmark of the node's API share
 *
 * Clients are plain blocking sockets with keep-alive; the server of constant bodies is the same
 * library, driven in the same way by a loop of its own. A failure ends the program: a benchmark
 * that did half of its work has no result. Times are microseconds of the monotonic clock.
 */
#ifndef PODVOL_BENCH_API_H
#define PODVOL_BENCH_API_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Prints what failed and ends the program. */
void api_bench_fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* ---- bench_api_client.c ---- */

struct client_request {
	const char *method, *path;
	const char *type; /* of @body */
	const char *body; /* NULL: none */
};

/* A connection to the unix socket at @path; -1 when no server answers there. */
int client_connect(const char *path);
void client_send(int fd, const struct client_request *request);
/**
 * client_receive - read one answer to its end; its bytes are thrown away
 * @ret_body: the first of its bytes, NUL-terminated and freed with free(); may be NULL
 *
 * A status from 400 on ends the program. Return: bytes of the body as sent, chunks included.
 */
size_t client_receive(int fd, char **ret_body);
/* Reads until the head of an answer is there, of which more is to come: a watch. */
void client_receive_head(int fd);
/* Reads what is there; true once the last byte of an event's line has come. */
bool client_event_is_there(int fd);

double client_now_usec(void);

/* This process and those that it starts from now on; the second takes that back. */
void client_use_one_processor(void);
void client_use_all_processors(void);

/* ---- bench_api_pods.c ---- */

/* The pod "<prefix>-<index>"; freed with free(). */
char *pod_json(const char *prefix, unsigned int index);
/* Applies pod-00000 and so on. */
void pods_store(int fd, unsigned int pod_count);

/* ---- bench_api_commit.c ---- */

/* Microseconds of one synced commit of @bytes to the database at @path, made when it is not there.
 */
double bare_commit(const char *path, size_t bytes);

/* ---- bench_api_constant.c ---- */

/**
 * constant_server_start - in a process of its own
 * @path: of its socket
 *
 * GET, POST or PATCH of /N answers N bytes, whatever the body. GET of /watch/N begins a stream;
 * each PATCH of /change sends one line of N bytes to all streams.
 */
pid_t constant_server_start(const char *path);

#endif
