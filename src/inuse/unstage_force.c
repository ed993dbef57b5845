/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unstage_force - an operator's word that one unstage may go past holders outside of containers;
 * see unstage_force.h
 */
#include "inuse/unstage_force.h"

#include "base/cleanup.h"
#include "base/text.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

/* A hold that names neither process nor cgroup names nothing that could be searched for. */
static int add_hold(struct unstage_force *force, const struct hold *hold)
{
	struct mount_container *container = &force->list[force->count];
	char *name;

	if (hold->kind == HOLD_EXPLICIT)
		return 0;
	if (hold->kind == HOLD_PROCESS)
		container->pid = hold->pid;
	else
		container->cgroup = strdup(hold->cgroup);
	name = new_text("container '%s' of pod '%s/%s'", hold->container, hold->pod_namespace,
			hold->pod_name);
	container->name = name;
	force->count++;
	return name && (hold->kind == HOLD_PROCESS || container->cgroup) ? 0 : -ENOMEM;
}

struct unstage_force *unstage_force_new(const struct holds *holds, unstage_force_fn *done,
					void *userdata)
{
	struct unstage_force *force = calloc(1, sizeof(*force));
	const struct hold *hold;
	int r = 0;

	assert(holds && done);
	if (!force)
		return NULL;
	force->done = done;
	force->userdata = userdata;
	force->list = calloc(holds_count(holds) + 1, sizeof(*force->list));
	for (hold = holds_first(holds); force->list && hold && r >= 0; hold = holds_next(hold))
		r = add_hold(force, hold);
	return force->list && r >= 0 ? force : unstage_force_free(force);
}

struct unstage_force *unstage_force_free(struct unstage_force *force)
{
	if (!force)
		return NULL;
	for (size_t i = 0; i < force->count; i++) {
		free((char *) force->list[i].cgroup);
		free((char *) force->list[i].name);
	}
	free(force->list);
	mount_containers_done(&force->containers);
	free(force);
	return NULL;
}

void unstage_force_begin(struct unstage_force *force, struct mount_holder *holder)
{
	assert(force && holder);
	if (mount_containers_read(force->list, force->count, &force->containers, &force->failure) <
	    0)
		return;
	force->passed.containers = &force->containers;
	holder->passed = &force->passed;
}

void unstage_force_searched(struct unstage_force *force, const struct mount_holder *holder)
{
	assert(force && holder);
	if (holder->found)
		force->refused_for = mount_container_of(force->list, force->count, holder);
}

void unstage_force_end(struct unstage_force *force, const struct failure *search,
		       const struct mount_holder *holder)
{
	const struct mount_container *in = force->refused_for;
	struct failure why = force->failure;

	if (search->error < 0)
		why = *search;
	else if (why.error == 0 && holder->found) {
		char text[MOUNT_HOLDER_TEXT_BYTES];

		mount_holder_print(holder, text);
		(void) failed_plain(&why, -EBUSY, "%s%s%s%s", text, in ? "; it is in " : "",
				    in ? in->name : "", in ? ", which is held" : "");
	}
	force->done(force->userdata, why.error, &force->passed, &why);
	unstage_force_free(force);
}

void unstage_force_cancel(struct unstage_force *force)
{
	static const struct failure why = { .error = -ECANCELED,
					    .text = "podvold is shutting down" };

	if (force)
		force->done(force->userdata, why.error, &force->passed, &why);
	unstage_force_free(force);
}
