/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stuck_policy - what the configuration says about volumes that stay in use, and that it was done
 *
 * Nothing by default. A device's own mount is never meant: it goes by itself or not at all, so that
 * what follows an unstage never meets a file system that lives on.
 */
#include "inuse/inuse.h"
#include "config.h"
#include "inuse/busy_watch.h"
#include "inuse/server_probe.h"
#include "operation/operation.h"
#include "state/state.h"

#include "base/clock.h"
#include "base/log.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* A forced unmount of what answers would break it for everybody: only silence counts. */
static enum unmount_manner force_if_silent(struct inuse *inuse, const struct step *step,
					   uint64_t now_usec)
{
	const struct actual_pod *pod = actual_find_pod(step->have, step->pod_uid);

	if (!pod || !inuse->probes)
		return UNMOUNT_WAIT;
	return server_probes_check(inuse->probes, pod->path, now_usec) == SERVER_SILENT
		       ? UNMOUNT_FORCE
		       : UNMOUNT_WAIT;
}

enum unmount_manner stuck_policy_manner(struct inuse *inuse, const struct step *step,
					uint64_t now_usec)
{
	const struct config *config = inuse->with.config;
	struct busy_view view;

	assert(inuse && step);
	if (config->stuck_unmount.manner == CONFIG_UNMOUNT_WAIT || step->kind != STEP_UNPUBLISH ||
	    !step->have || step->have->block)
		return UNMOUNT_WAIT;
	/* Not before it is known who has it: that is to be reported. */
	if (!busy_watch_check(inuse->users, step->unique_name, step->pod_uid, &view) ||
	    !view.holders ||
	    now_usec < view.since_usec + (uint64_t) config->stuck_unmount.seconds * USEC_PER_SEC)
		return UNMOUNT_WAIT;
	return config->stuck_unmount.manner == CONFIG_UNMOUNT_LAZY
		       ? UNMOUNT_LAZY
		       : force_if_silent(inuse, step, now_usec);
}

/* After the unmount nothing can find out who had it. */
void stuck_policy_note(struct inuse *inuse, const struct operation_ended *ended)
{
	bool lazy = inuse->with.config->stuck_unmount.manner == CONFIG_UNMOUNT_LAZY;
	const char *pod_uid = ended->result.pod_uid ?: "";
	char users[USERS_TEXT_BYTES] = "no known process", text[USERS_TEXT_BYTES + 160];
	struct busy_view view = { .since_usec = monotonic_usec() };

	if (ended->report->enforced == 0)
		return;
	if (busy_watch_check(inuse->users, ended->result.unique_name, pod_uid, &view) &&
	    view.holders && view.holders->total > 0)
		volume_users_print(view.holders, users);
	(void) snprintf(text, sizeof(text), "%s after %.0f s in use (stuck-unmount: %s): %s",
			ended->result.error == 0 ? "the volume was unmounted"
			: lazy                   ? "lazy unmount failed"
						 : "forced unmount failed",
			(double) (monotonic_usec() - view.since_usec) / 1e6,
			lazy ? "lazy" : "force", users);
	volume_users_report(inuse, &ended->result, LOG_WARNING,
			    lazy ? "VolumeUnmountedLazily" : "VolumeUnmountedByForce", text);
	inuse->with.enforced(inuse->with.userdata, lazy, ended->report->enforced);
}
