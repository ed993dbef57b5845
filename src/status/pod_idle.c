/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_idle - pods and volumes of which nothing is mounted, and why; see status.h
 *
 * The populator passes over them without an error, because nothing is wrong. Their waiters have
 * to be answered all the same: no wait would ever end.
 */
#include "status/status.h"

#include <errno.h>
#include <string.h>

bool pod_idle_explain(const struct desired *desired, const char *node, const struct object *pod,
		      struct failure *ret)
{
	const char *wanted = pod->pod->node_name;
	char key[POD_KEY_BYTES];

	if (node && wanted[0] && strcmp(wanted, node) != 0)
		(void) failed_plain(ret, -EXDEV, "pod '%s' belongs to node '%s', this is node '%s'",
				    pod_key(pod->pod, key), wanted, node);
	else if (populator_is_finished(pod))
		(void) failed_plain(ret, -ESRCH,
				    "pod '%s' has finished (%s): its volumes are not mounted",
				    pod_key(pod->pod, key),
				    pod->pod->phase[0] ? pod->pod->phase : "being deleted");
	else if (pod->meta.deletes && !desired_volume_of_pod(desired, pod->meta.uid, 0))
		(void) failed_plain(ret, -ESRCH,
				    "pod '%s' is being deleted: its volumes are not mounted",
				    pod_key(pod->pod, key));
	else
		return false;
	return true;
}

bool pod_idle_explain_volume(const struct object *pod, const char *volume, struct failure *ret)
{
	struct pod_volume_use use = pod_volume_use(pod->pod, volume);

	if (use.mounted || use.as_device)
		return false;
	(void) failed_plain(ret, -ENOENT, "no container uses volume '%s'", volume);
	return true;
}
