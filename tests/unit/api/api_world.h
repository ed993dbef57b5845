/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_world - a real store in a directory of its own and an agent made of canned answers
 *
 * Requests go to the handlers directly; the loop turns until they are answered.
 */
#pragma once

#include "agent.h"
#include "api/exchange.h"
#include "api/objects/watches.h"

struct agent {
	struct store *store;
	bool ready;
	const char *stuck;                                               /* why; NULL: nothing is */
	const char *volumes, *volume, *operations, *manifests, *version; /* JSON */
	const char *manifest_file;                                       /* of every object */

	/* What was asked of agent_wait_pod() last, and what it shall return. */
	int wait_result;
	unsigned int waits, cancelled;
	enum mount_wait_for wait_for;
	char wait_pod[512], wait_uid[128];
	uint64_t wait_usec;
	void (*wait_done)(void *userdata, int error, const struct failure *why);
	void *wait_userdata;

	/* The same of agent_plan_containers(). */
	int plan_result;
	unsigned int plans, plans_left;
	char plan_pod[512], plan_container[128]; /* "(all)" for NULL */
	container_mounts_fn *plan_done;
	void *plan_userdata;
	/* What was asked of agent_hold_add() and agent_hold_remove() last, and what they return. */
	const char *holds; /* JSON */
	int hold_result;
	char hold_asked[512]; /* "namespace/name uid container pid cgroup", "release uid id" */
};

enum { WORLD_WATCHES = 4 };

struct world {
	sd_event *event;
	struct agent agent;
	struct worker_return *from_readers;
	struct worker_pool *readers;
	struct watches *watches;
	char directory[64];
	/* Of the last request. */
	struct exchange exchange;
	unsigned int answers, wake_ups;
	char *pulled; /* of a stream; owned */
	bool stream_ended;
};

int world_set_up(void **state);
int world_tear_down(void **state);

/* Makes the exchange; api_dispatch() is the caller's. */
void world_prepare(struct world *world, enum api_method method, const char *uri, const char *body);
/* Begins a request; the answer may be there already. @body may be NULL. */
void world_begin(struct world *world, enum api_method method, const char *uri, const char *body);
/* The same until it is answered; asserts that it is. Return: the status. */
int world_request(struct world *world, enum api_method method, const char *uri, const char *body);
/* What the next requests ask for; back to JSON in world_set_up(). */
extern enum api_form world_form;
extern enum api_content world_content;
extern bool world_may_wait;
extern unsigned int world_rights;

/* Turns the loop until the request is answered or nothing happens any more. */
void world_turn(struct world *world);

/* What a stream has to say now, at most @step bytes at a time; world->stream_ended when it is over.
 * Valid until the next call. */
const char *world_pull(struct world *world, size_t step);
/* Turns the loop until the stream was woken since the last pull; asserts that it was. */
void world_wait_for_wake_up(struct world *world);
/* The client leaves. */
void world_leave(struct world *world);

const char *world_reply(const struct world *world);
/* A string in the last answer, by dotted path ("details.name", "items.0.kind"); "" absent. */
const char *world_string(struct world *world, const char *path);

/* Ends the wait that the agent was asked for. */
void world_end_wait(struct world *world, int error, const char *why);

/* Gives the plan that the agent was asked for; else why there is none. */
void world_end_plan(struct world *world, int error, const struct container_plan *plan,
		    const char *why);

extern const char world_pv_json[], world_pod_json[];
