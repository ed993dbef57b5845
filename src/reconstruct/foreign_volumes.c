/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foreign_volumes - volumes and pod directories that were there at the start and are not in the
 * ledger
 *
 * Reported once, and only when every source was read: a volume that a pod wants is not foreign,
 * whether the ledger was lost or another agent mounted it; its set-up finds it mounted and keeps
 * it. All else is left alone. With --takeover=remove the directories of unlisted pods are cleaned
 * once nothing of them is mounted; see mount/path/pod_directory.c for what that removes.
 */
#include "reconstruct/foreign_volumes.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "base/text.h"
#include "mount/holders/mount_holders.h"
#include "mount/mount.h"
#include "operation/operation.h"
#include "store/store.h"
#include "mount/path/safe_path.h"
#include "object/json/json.h"
#include "object/kinds/persistent_volume.h"
#include "plugins/csi_paths.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

/* A volume that no row speaks of; points into the list of what was found. */
struct foreign_volume {
	const struct found_volume *volume;
	char *why;    /* it could not be taken over; NULL: not tried */
	bool is_gone; /* a pod wanted it later, and it was unmounted since */
};

/* A pod directory without a pod. */
struct orphan {
	struct worker_job job;
	struct foreign_volumes
		*foreign_volumes; /* NULL: freed while this one was stuck on a thread */
	char *pod_uid;
	bool waits;   /* to be cleaned, when nothing of it is mounted */
	bool at_work; /* on a thread */
	bool is_gone;
	int result;
	int root_fd;
	char *root_path;
	struct failure failure;
};

struct foreign_volumes {
	struct foreign_volumes_options with;
	struct found_list found;
	struct foreign_volume *volumes;
	size_t count;
	struct orphan **orphans;
	size_t orphan_count, waiting;
	bool were_reported;
};

int foreign_volumes_new(const struct foreign_volumes_options *options, struct found_list *found,
			struct foreign_volumes **ret)
{
	struct foreign_volumes *foreign_volumes = calloc(1, sizeof(*foreign_volumes));

	assert(options && found && ret);
	if (!foreign_volumes)
		return -ENOMEM;
	foreign_volumes->with = *options;
	foreign_volumes->volumes = calloc(found->count + 1, sizeof(*foreign_volumes->volumes));
	foreign_volumes->orphans = calloc(found->pod_count + 1, sizeof(*foreign_volumes->orphans));
	if (!foreign_volumes->volumes || !foreign_volumes->orphans)
		return foreign_volumes_free(foreign_volumes), -ENOMEM;
	foreign_volumes->found = *found;
	*found = (struct found_list){ .count = 0 };
	*ret = foreign_volumes;
	return 0;
}

const struct found_list *foreign_volumes_found(const struct foreign_volumes *foreign_volumes)
{
	return &foreign_volumes->found;
}

void foreign_volumes_add(struct foreign_volumes *foreign_volumes, const struct found_volume *volume,
			 const char *why)
{
	assert(foreign_volumes->count < foreign_volumes->found.count);
	foreign_volumes->volumes[foreign_volumes->count++] =
		(struct foreign_volume){ .volume = volume, .why = why ? strdup(why) : NULL };
}

/* ---- identity of a volume ---- */

/* Without driver and handle the name of the directory has to do. */
static bool is_named(const struct found_volume *found, const char *unique_name, const char *name)
{
	const struct volume_plugin *plugin = plugin_by_name(CSI_PLUGIN_NAME);
	cleanup_free char *staged = NULL;

	if (*found->driver_name || !found->is_mount_point ||
	    strcmp(found->plugin_name, CSI_PLUGIN_NAME) != 0)
		return false;
	if (*found->pod_uid || found->block)
		return strcmp(found->volume_name, name) == 0;
	staged = plugin->get_found_name(unique_name);
	return !staged || strcmp(found->volume_name, staged) == 0;
}

static bool is_of(const struct found_volume *found, const char *driver, const char *handle)
{
	return *found->driver_name && strcmp(found->driver_name, driver) == 0 &&
	       strcmp(found->volume_handle, handle) == 0;
}

bool foreign_volumes_have(const struct foreign_volumes *foreign_volumes,
			  const struct persistent_volume *pv)
{
	cleanup_free char *unique_name = NULL;
	bool found = false;

	if (!foreign_volumes || foreign_volumes->count == 0 || !pv->csi)
		return false;
	unique_name = new_text(CSI_PLUGIN_NAME "/%s^%s", pv->csi->driver, pv->csi->volume_handle);
	if (!unique_name)
		return true; /* a failed search is not "unused" */
	for (size_t i = 0; i < foreign_volumes->count && !found; i++) {
		const struct foreign_volume *foreign_volume = &foreign_volumes->volumes[i];

		found = !foreign_volume->is_gone &&
			(is_of(foreign_volume->volume, pv->csi->driver, pv->csi->volume_handle) ||
			 is_named(foreign_volume->volume, unique_name, pv->object->meta.name));
	}
	return found;
}

void foreign_volumes_step_ended(void *userdata, const struct operation_ended *ended)
{
	struct foreign_volumes *foreign_volumes = userdata;
	const struct step_result *result = &ended->result;
	const char *pod_uid = result->pod_uid;
	cleanup_free char *driver = NULL, *handle = NULL;

	if (result->error < 0 || !step_takes_down(result->kind) || !foreign_volumes ||
	    foreign_volumes->count == 0 ||
	    csi_split_unique_name(result->unique_name, &driver, &handle) < 0)
		return;
	for (size_t i = 0; i < foreign_volumes->count; i++) {
		struct foreign_volume *foreign_volume = &foreign_volumes->volumes[i];

		foreign_volume->is_gone |=
			strcmp(foreign_volume->volume->pod_uid, pod_uid ?: "") == 0 &&
			is_of(foreign_volume->volume, driver, handle);
	}
}

static void orphan_free(struct orphan *orphan)
{
	free(orphan->pod_uid);
	free(orphan->root_path);
	(void) close_keep_errno(orphan->root_fd);
	free(orphan);
}

struct foreign_volumes *foreign_volumes_free(struct foreign_volumes *foreign_volumes)
{
	if (!foreign_volumes)
		return NULL;
	for (size_t i = 0; i < foreign_volumes->count; i++)
		free(foreign_volumes->volumes[i].why);
	for (size_t i = 0; i < foreign_volumes->orphan_count; i++) {
		foreign_volumes->orphans[i]->foreign_volumes = NULL;
		if (!foreign_volumes->orphans[i]->at_work)
			orphan_free(foreign_volumes->orphans[i]);
	}
	free(foreign_volumes->volumes);
	free(foreign_volumes->orphans);
	found_list_done(&foreign_volumes->found);
	free(foreign_volumes);
	return NULL;
}

/* ---- who is known ---- */

struct uid_list {
	const char **uids; /* borrowed from the store, sorted */
	size_t count, capacity;
};

static int add_uid(const struct object *pod, void *userdata)
{
	struct uid_list *list = userdata;

	if (ARRAY_ROOM(list->uids, list->count, list->capacity, 64) < 0)
		return -ENOMEM;
	list->uids[list->count++] = pod->meta.uid;
	return 0;
}

static int compare_uids(const void *a, const void *b)
{
	return strcmp(*(const char *const *) a, *(const char *const *) b);
}

/* Return: 0; -ENOMEM. While it is drained no pod is known. */
static int list_pods(struct store *store, struct uid_list *ret)
{
	int r = store ? store_list(store, KIND_POD, NULL, add_uid, ret) : 0;

	if (r == 0 && ret->count > 0)
		qsort(ret->uids, ret->count, sizeof(*ret->uids), compare_uids);
	return r;
}

static bool is_known(const struct uid_list *pods, const char *uid)
{
	return pods->count > 0 &&
	       bsearch(&uid, pods->uids, pods->count, sizeof(*pods->uids), compare_uids);
}

/* What is staged is wanted by the pods of its CSI volume. */
static bool is_staged_for_pod(struct desired *desired, const struct found_volume *volume)
{
	cleanup_free char *unique_name = NULL;

	unique_name =
		new_text(CSI_PLUGIN_NAME "/%s^%s", volume->driver_name, volume->volume_handle);
	if (!unique_name)
		return false;
	return desired_find(desired, unique_name);
}

/* By what its directory is made of; two volumes of a pod never share one. */
static bool is_wanted(struct desired *desired, const struct found_volume *volume)
{
	const char *unique_name;

	if (!*volume->pod_uid)
		return *volume->driver_name && is_staged_for_pod(desired, volume);
	for (size_t i = 0; (unique_name = desired_volume_of_pod(desired, volume->pod_uid, i));
	     i++) {
		const struct desired_volume *want = desired_find(desired, unique_name);
		const struct desired_pod *pod = desired_find_pod(want, volume->pod_uid);

		if (strcmp(want->plugin->name, volume->plugin_name) == 0 &&
		    strcmp(pod->spec.name, volume->volume_name) == 0)
			return true;
	}
	return false;
}

/* ---- reports ---- */

static void report_csi(const struct foreign_volume *foreign_volume,
		       const struct log_subject *subject)
{
	const struct found_volume *volume = foreign_volume->volume;
	const char *mounted = volume->is_mount_point ? ", mounted" : "";

	if (*volume->problem)
		log_about(LOG_WARNING, subject,
			  "CSI volume '%s'%s%s is foreign and not understood, left alone%s: %s",
			  volume->volume_name, *volume->pod_uid ? " of pod uid " : ", staged",
			  volume->pod_uid, mounted, volume->problem);
	else
		log_about(LOG_NOTICE, subject,
			  "CSI volume '%s'%s%s is foreign: left alone%s; driver '%s', handle '%s'",
			  volume->volume_name, *volume->pod_uid ? " of pod uid " : ", staged",
			  volume->pod_uid, mounted, volume->driver_name, volume->volume_handle);
}

static void report_foreign_volume(struct desired *desired,
				  const struct foreign_volume *foreign_volume, bool is_listed)
{
	const struct found_volume *volume = foreign_volume->volume;
	const struct log_subject subject = { .pod_uid = volume->pod_uid,
					     .plugin = volume->plugin_name };
	const char *mounted = volume->is_mount_point ? ", mounted" : "";

	if (is_wanted(desired, volume))
		log_about(LOG_NOTICE, &subject,
			  "volume '%s'%s%s (%s) was there and is not in the ledger%s: "
			  "its pod wants it, so it is kept and managed from now on",
			  volume->volume_name, *volume->pod_uid ? " of pod uid " : ", staged",
			  volume->pod_uid, volume->plugin_name, mounted);
	else if (is_listed)
		log_about(LOG_NOTICE, &subject,
			  "volume '%s' of pod uid '%s' (%s) is not in the ledger%s: its pod is "
			  "listed and will use it once its claims are bound",
			  volume->volume_name, volume->pod_uid, volume->plugin_name, mounted);
	else if (foreign_volume->why)
		log_about(LOG_WARNING, &subject,
			  "volume '%s' of pod uid '%s' (%s) cannot be taken over, left alone%s: %s",
			  volume->volume_name, volume->pod_uid, volume->plugin_name, mounted,
			  foreign_volume->why);
	else if (*volume->driver_name || *volume->problem)
		report_csi(foreign_volume, &subject);
	else if (volume->sub_paths)
		log_about(LOG_NOTICE, &subject,
			  "sub-paths of volume '%s' of pod uid '%s' are foreign: left alone",
			  volume->volume_name, volume->pod_uid);
	else if (!*volume->pod_uid)
		log_about(LOG_NOTICE, &subject,
			  "the device of volume '%s' (%s) was set up by "
			  "another program: left alone",
			  volume->volume_name, volume->plugin_name);
	else
		log_about(LOG_NOTICE, &subject,
			  "volume '%s' of pod uid '%s' (%s) is foreign: left alone%s",
			  volume->volume_name, volume->pod_uid, volume->plugin_name, mounted);
}

/* ---- orphaned pod directories ---- */

/* Entries of the actual state have their directory for good reason, and remove it themselves. */
static bool has_entry(const struct foreign_volumes *foreign_volumes, const char *pod_uid)
{
	return actual_volume_of_pod(foreign_volumes->with.actual, pod_uid, 0);
}

static void orphan_add(struct foreign_volumes *foreign_volumes, const char *pod_uid)
{
	bool cleans = foreign_volumes->with.removes;
	struct orphan *orphan = calloc(1, sizeof(*orphan));

	if (!orphan)
		return;
	orphan->foreign_volumes = foreign_volumes;
	orphan->root_fd = -EBADF;
	orphan->pod_uid = strdup(pod_uid);
	if (!orphan->pod_uid) {
		orphan_free(orphan);
		return;
	}
	orphan->waits = cleans;
	foreign_volumes->waiting += cleans;
	foreign_volumes->orphans[foreign_volumes->orphan_count++] = orphan;
	if (!cleans)
		log_about(LOG_NOTICE, &(struct log_subject){ .pod_uid = pod_uid },
			  "the directory of pod uid '%s' belongs to no pod that is known here: "
			  "left alone",
			  pod_uid);
}

/* A container of another agent may have files of it mounted, its hosts file or an emptyDir. */
static int check_unused(struct orphan *orphan)
{
	cleanup_close int fd = -EBADF;
	cleanup_free char *path = NULL;

	if (asprintf(&path, "pods/%s", orphan->pod_uid) < 0)
		return failed(&orphan->failure, -ENOMEM, "cannot search for its users");
	fd = open_beneath(orphan->root_fd, path, O_PATH | O_DIRECTORY, PATH_NO_SYMLINKS,
			  &orphan->failure);
	if (fd == -ENOENT) /* it was removed with its last volume */
		return 0;
	return fd < 0 ? fd : directory_users_check(fd, &orphan->failure);
}

static void run_clean(struct worker_job *job)
{
	struct orphan *orphan = (struct orphan *) job;

	orphan->result = check_unused(orphan);
	if (orphan->result >= 0)
		orphan->result = pod_directory_clean(orphan->root_fd, orphan->root_path,
						     orphan->pod_uid, &orphan->failure);
}

static void on_cleaned(struct worker_job *job)
{
	struct orphan *orphan = (struct orphan *) job;
	struct log_subject subject = { .pod_uid = orphan->pod_uid };

	orphan->at_work = false;
	orphan->is_gone = orphan->result == 0;
	orphan->root_fd = close_keep_errno(orphan->root_fd);
	if (!orphan->foreign_volumes) {
		orphan_free(orphan);
		return;
	}
	if (orphan->is_gone)
		log_about(LOG_NOTICE, &subject, "removed the directory of pod uid '%s'",
			  orphan->pod_uid);
	else
		log_about(LOG_WARNING, &subject, "the directory of unknown pod uid '%s' stays: %s",
			  orphan->pod_uid, orphan->failure.text);
}

/* With a descriptor of its own: a thread that hangs may outlive the agent. */
static void begin_clean(struct foreign_volumes *foreign_volumes, struct orphan *orphan)
{
	const struct mount_root *root = foreign_volumes->with.root;

	orphan->root_fd = fcntl(root->fd, F_DUPFD_CLOEXEC, 0);
	orphan->root_path = strdup(root->path);
	if (orphan->root_fd < 0 || !orphan->root_path)
		return;
	orphan->job.run = run_clean;
	orphan->job.done = on_cleaned;
	orphan->at_work = true;
	worker_submit(*foreign_volumes->with.workers, &orphan->job);
}

/* One whose pod was stored meanwhile is no longer foreign. */
static void clean_orphans(struct foreign_volumes *foreign_volumes, const struct uid_list *pods)
{
	for (size_t i = 0; i < foreign_volumes->orphan_count; i++) {
		struct orphan *orphan = foreign_volumes->orphans[i];

		if (!orphan->waits || has_entry(foreign_volumes, orphan->pod_uid))
			continue;
		orphan->waits = false;
		foreign_volumes->waiting--;
		if (!is_known(pods, orphan->pod_uid))
			begin_clean(foreign_volumes, orphan);
	}
}

static void report_all(struct foreign_volumes *foreign_volumes, const struct uid_list *pods)
{
	foreign_volumes->were_reported = true;
	for (size_t i = 0; i < foreign_volumes->count; i++)
		report_foreign_volume(foreign_volumes->with.desired, &foreign_volumes->volumes[i],
				      is_known(pods, foreign_volumes->volumes[i].volume->pod_uid));
	for (size_t i = 0; i < foreign_volumes->found.pod_count; i++) {
		const char *uid = foreign_volumes->found.pod_uids[i];

		if (!is_known(pods, uid) &&
		    (foreign_volumes->with.removes || !has_entry(foreign_volumes, uid)))
			orphan_add(foreign_volumes, uid);
	}
}

void foreign_volumes_settled(struct foreign_volumes *foreign_volumes)
{
	struct uid_list pods = { .count = 0 };

	if (!foreign_volumes ||
	    !foreign_volumes->with.is_complete(foreign_volumes->with.userdata) ||
	    (foreign_volumes->were_reported && foreign_volumes->waiting == 0))
		return;
	if (list_pods(*foreign_volumes->with.store, &pods) == 0) {
		if (!foreign_volumes->were_reported)
			report_all(foreign_volumes, &pods);
		clean_orphans(foreign_volumes, &pods);
	}
	free(pods.uids);
}

static bool is_still_foreign(const struct foreign_volumes *foreign_volumes, size_t i)
{
	return !foreign_volumes->volumes[i].is_gone &&
	       !is_wanted(foreign_volumes->with.desired, foreign_volumes->volumes[i].volume);
}

void foreign_volumes_print_metrics(const struct foreign_volumes *foreign_volumes, FILE *file)
{
	size_t orphans = 0, kept = 0, foreign = 0;

	for (size_t i = 0; foreign_volumes && i < foreign_volumes->count; i++)
		foreign += is_still_foreign(foreign_volumes, i);

	for (size_t i = 0; foreign_volumes && i < foreign_volumes->orphan_count; i++) {
		orphans++;
		kept += !foreign_volumes->orphans[i]->is_gone;
	}
	(void) fprintf(file,
		       "# HELP kubelet_orphan_pod_cleaned_volumes Directories of orphaned pods "
		       "found at the start.\n"
		       "# TYPE kubelet_orphan_pod_cleaned_volumes gauge\n"
		       "kubelet_orphan_pod_cleaned_volumes %zu\n"
		       "# HELP kubelet_orphan_pod_cleaned_volumes_errors Those of them that were "
		       "not removed.\n"
		       "# TYPE kubelet_orphan_pod_cleaned_volumes_errors gauge\n"
		       "kubelet_orphan_pod_cleaned_volumes_errors %zu\n"
		       "# HELP podvol_foreign_volumes Volumes found at the start that are another "
		       "agent's and that no pod here wants: left alone.\n"
		       "# TYPE podvol_foreign_volumes gauge\n"
		       "podvol_foreign_volumes %zu\n",
		       orphans, kept, foreign);
}

/* ---- the view ---- */

static void add_item(struct cJSON *items, const char *kind, const struct found_volume *volume,
		     const char *why)
{
	struct cJSON *item = json_add_object(items, NULL);

	(void) json_set_string(item, "kind", kind);
	(void) json_set_string(item, "podUID", volume->pod_uid);
	(void) json_set_string(item, "plugin", volume->plugin_name ?: "");
	(void) json_set_string(item, "volume", volume->volume_name ?: "");
	(void) json_set_bool(item, "mounted", volume->is_mount_point);
	if (volume->driver_name && *volume->driver_name) {
		(void) json_set_string(item, "driver", volume->driver_name);
		(void) json_set_string(item, "handle", volume->volume_handle);
	}
	if (*why)
		(void) json_set_string(item, "why", why);
}

static void add_volumes(struct cJSON *items, const struct foreign_volumes *foreign_volumes)
{
	for (size_t i = 0; i < foreign_volumes->count; i++) {
		const struct foreign_volume *foreign_volume = &foreign_volumes->volumes[i];
		const struct found_volume *volume = foreign_volume->volume;
		const char *kind = !*volume->pod_uid   ? "Device"
				   : volume->sub_paths ? "SubPaths"
						       : "Volume";

		if (is_still_foreign(foreign_volumes, i))
			add_item(items, kind, volume, foreign_volume->why ?: volume->problem);
	}
}

static void add_orphans(struct cJSON *items, const struct foreign_volumes *foreign_volumes)
{
	for (size_t i = 0; i < foreign_volumes->orphan_count; i++) {
		const struct orphan *orphan = foreign_volumes->orphans[i];
		const struct found_volume directory = { .pod_uid = orphan->pod_uid };

		if (!orphan->is_gone) /* what a thread writes is read when it is back */
			add_item(items, "PodDirectory", &directory,
				 orphan->at_work ? "" : orphan->failure.text);
	}
}

struct cJSON *foreign_volumes_view(const struct foreign_volumes *foreign_volumes)
{
	struct cJSON *list = json_new_object(), *items = json_add_array(list, "items");

	if (foreign_volumes) {
		add_volumes(items, foreign_volumes);
		add_orphans(items, foreign_volumes);
	}
	return list;
}
