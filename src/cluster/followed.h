/* SPDX-License-Identifier: Apache-2.0 */
/*
 * followed - all objects of one kind that concern this node, listed, watched and mirrored
 *
 * Nothing of a list, and no change after a failure or of a stored object that was replaced by
 * another of its name, is stored or removed before the server is known to be the same cluster
 * (doubts.h). What a list that went back lacks stays: etcd was restored. Knows no kind: what
 * concerns this node is the caller's to say. The loop thread only.
 */
#pragma once

#include "object/object.h"

#include <stdbool.h>

struct cluster;
struct followed;

enum { FOLLOWED_ABSENT_SECONDS = 300 }; /* until a kind is asked for that the server lacks */

struct followed_options {
	struct cluster *cluster;
	enum object_kind kind;
	const char *selector; /* of the list; "": none; copied */
	/* Does it concern this node? NULL: all do. What is needed by pods is never removed. */
	bool (*keeps)(const struct cluster *cluster, const struct object *object);
	/* One that concerns this node was handed to the store. NULL: nothing. */
	void (*stored)(struct cluster *cluster, const struct object *object);
	bool stays;       /* what is deleted stays in the store */
	bool needs_node;  /* is begun when the own Node is stored */
	bool is_granted;  /* by examples/cluster/rbac.yaml: 403 is reported as that right lacking */
	bool is_optional; /* 404: its CustomResourceDefinition is not there, which is reported */
};

/* Return: 0; -ENOMEM, or as sd_event. */
int followed_new(const struct followed_options *options, struct followed **ret);
/* Begin, unless it has. */
void followed_begin(struct followed *followed);
/* Something could not be taken: listed again, some seconds later. */
void followed_list_again(struct followed *followed);
/* Refused with 403 last. */
bool followed_is_refused(const struct followed *followed);
/* Accepts NULL. Return: NULL. */
struct followed *followed_free(struct followed *followed);
