/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volume_links - keeps RUN-DIR/by-name/NAMESPACE/POD/VOLUME as the actual state has it
 *
 * A link is there while its volume is mounted for the pod: made as the last stage of the set-up,
 * before anything reports the volume as mounted, removed when a teardown begins or the mount is in
 * doubt. What could not be made is tried again, by a timer that is set only then. One that was
 * there before a restart stays while its volume may be mounted. podvold reads none of them. The
 * loop thread only.
 */
#pragma once

#include "base/failure.h"

#include <systemd/sd-event.h>

struct actual;
struct desired;
struct operation_ended;
struct stage_list;
struct step;
struct volume_links;

/* After the actual state was reconstructed: links that lead to nothing of it are removed, on a
 * thread. Without the directory there are no links, which is logged. @event and the tables are
 * borrowed. Return: 0 or -ENOMEM. */
int volume_links_new(const char *run_dir, sd_event *event, const struct desired *desired,
		     const struct actual *actual, struct volume_links **ret);
/* Until they are removed: before the first hook is called, and before anything is mounted. */
void volume_links_wait(struct volume_links *links);
/* The links stay. Accepts NULL. Return: NULL. */
struct volume_links *volume_links_free(struct volume_links *links);

/* For operations_options.stages_after; @links may be NULL. */
void volume_links_stages(void *links, const struct step *step, struct stage_list *ret);

/* Hooks of an observer of steps: @links is a struct volume_links, or NULL. */
void volume_links_planned(void *links, const char *unique_name);
void volume_links_started(void *links, const struct step *step);
void volume_links_ended(void *links, const struct operation_ended *ended);
