/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reasons - why no step of a volume begins, as far as its use is concerned, in sentences for people
 *
 * Reads; keeps nothing back itself. See inuse.h and unstage_gate.h.
 */
#include "inuse/inuse.h"
#include "inuse/unstage_gate.h"

#include "object/json/json.h"
#include "status/volume_view.h"
#include "status/view_time.h"

#include <errno.h>
#include <string.h>

/* Who keeps a volume from the only pod that may have it. */
bool pod_holds_explain_other(void *box, const char *unique_name, const char *pod_uid,
			     const char *name, struct failure *ret)
{
	const struct inuse *inuse = box;
	const struct desired_volume *want = desired_find(inuse->with.desired, unique_name);
	const struct desired_pod *want_pod = want ? desired_find_pod(want, pod_uid) : NULL;
	const struct persistent_volume *pv = want_pod ? spec_pv(&want_pod->spec) : NULL;
	const struct actual_volume *have = actual_find(inuse->with.actual, unique_name);
	const struct actual_pod *pod;
	struct failure why;

	if (!pv || pv->access_modes != ACCESS_READ_WRITE_ONCE_POD || !have)
		return false;
	for (pod = have->pods; pod; pod = pod->hh.next)
		if (strcmp(pod->pod_uid, pod_uid) != 0 &&
		    pod_holds_explain(inuse, pod->pod_uid, &why)) {
			(void) failed_plain(ret, -EBUSY,
					    "volume '%s': waits for pod '%s', which has it: %s",
					    name, pod->pod_key, why.text);
			return true;
		}
	return false;
}

bool pod_holds_explain_teardown(void *box, const char *unique_name, const char *pod_uid,
				const char *name, struct failure *ret)
{
	struct failure why;

	if (!pod_holds_explain(box, pod_uid, &why))
		return false;
	(void) failed_plain(ret, -EBUSY, "volume '%s': stays mounted, %s", name, why.text);
	return true;
}

bool unstage_gate_explain(void *gate, const char *unique_name, const char *pod_uid,
			  const char *name, struct failure *ret)
{
	struct unstage_view view;

	if (!unstage_gate_check(gate, unique_name, pod_uid, &view) || !view.failure)
		return false;
	(void) failed_plain(ret, -EBUSY, "volume '%s': keeps its %s, %s", name, view.keeps,
			    view.failure->text);
	return true;
}

/* ---- what the unstage gate holds back ---- */

struct gate_view {
	const struct inuse *inuse;
	struct cJSON *items;
};

/* The name of the step that is held back. */
static const char *held_step(const struct unstage_view *view)
{
	if (strcmp(view->keeps, "files") == 0)
		return "unmount";
	return *view->pod_uid ? "unmap_device" : "unmount_device";
}

/* An unmount that is held back: others would lose the device, or the files, by it. */
static int add_held_back(const struct unstage_view *view, void *userdata)
{
	const struct gate_view *to = userdata;
	struct cJSON *item = json_add_object(to->items, NULL);

	operation_list_add_names(item, to->inuse->with.actual, to->inuse->with.desired,
				 view->unique_name, view->pod_uid);
	(void) json_set_string(item, "step", held_step(view));
	(void) json_set_string(item, "stage", "search other mount namespaces");
	(void) json_set_bool(item, "running", view->searching);
	(void) json_set_int(item, "attempts", 0);
	view_set_time(item, "since", view->since_usec);
	(void) json_set_string(item, "error", view->failure ? view->failure->text : "");
	return 0;
}

void unstage_calls_view(const struct inuse *inuse, struct cJSON *items)
{
	struct gate_view view = { inuse, items };

	(void) unstage_gate_walk(inuse->gate, add_held_back, &view);
}
