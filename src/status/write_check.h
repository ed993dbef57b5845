/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write_check - which containers of a pod could not write into their volumes: users against modes
 *
 * Foretells only what is certain: directories of hostPath and local volumes as they are now, by
 * owner, group and mode, for containers whose runAsUser is known and is not root. A directory with
 * an access control list, a user namespace, a sub-path, and a local volume that gets the pod's
 * fsGroup are passed over. Changes nothing.
 */
#pragma once

struct cJSON;
struct object;
struct store;
struct write_check;

/* What has to be looked at, as it is stored; the loop thread. Return: 0; -ENOMEM. */
int write_check_new(struct store *store, const struct object *pod, struct write_check **ret);
/* Accepts NULL. Return: NULL. */
struct write_check *write_check_free(struct write_check *check);

/* Asks the file systems: blocks, on a thread of its own. */
void write_check_run(struct write_check *check);
/* Adds "warnings" to @tree: "container", "volume" and "text" of each. */
void write_check_report(const struct write_check *check, struct cJSON *tree);
