/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uid_use - is a pod's uid still in use on this node by a pod that is stored no more?
 *
 * A uid names the pod's directory, its mounts and its holds, so a second pod with it would get the
 * first pod's data. Containers that hold, entries of the actual state and the directory on disk
 * decide. The pod of the same namespace and name is the same pod. A directory that the ledger does
 * not know belongs to an unknown pod: only the first list of manifests, or --takeover, names its
 * pod. While a directory cannot be examined its uid is not given.
 */
#include "inuse/inuse.h"
#include "config.h"
#include "state/state.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "base/text.h"
#include "mount/mount.h"
#include "plugins/layout.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <syslog.h>

static int check_holds(const struct inuse *inuse, const struct object *pod, struct failure *why)
{
	const struct hold *hold;

	for (size_t i = 0; (hold = holds_of_pod(inuse->table, pod->meta.uid, i)); i++)
		/* Which pod was taken over with this uid is known when it is listed. */
		if (!store_epoch_is_unlisted(hold) &&
		    (strcmp(hold->pod_name, pod->meta.name) != 0 ||
		     strcmp(hold->pod_namespace, pod->meta.name_space) != 0))
			return failed_plain(
				why, -EINVAL, "is held by container '%s' of pod '%s/%s', hold '%s'",
				hold->container, hold->pod_namespace, hold->pod_name, hold->id);
	return 0;
}

/* Return: 1 it is this pod's; 0 no entry knows whose it is; -EINVAL another pod's. */
static int check_entries(const struct inuse *inuse, const struct object *pod, struct failure *why)
{
	char key[POD_KEY_BYTES];
	const char *unique_name;
	bool is_own = false;

	(void) pod_key(pod->pod, key);
	for (size_t i = 0;
	     (unique_name = actual_volume_of_pod(inuse->with.actual, pod->meta.uid, i)); i++) {
		const struct actual_volume *volume = actual_find(inuse->with.actual, unique_name);
		const struct actual_pod *entry = actual_find_pod(volume, pod->meta.uid);

		if (!entry || !*entry->pod_key)
			continue;
		if (strcmp(entry->pod_key, key) != 0)
			return failed_plain(why, -EINVAL,
					    "pod '%s' still has volume '%s' set up with it; it is "
					    "free when that is unmounted",
					    entry->pod_key, entry->outer_name);
		is_own = true;
	}
	return is_own;
}

/* A mount, a link or a file is in the way; any other error passes, and who asked tries again. */
static bool is_there(int error)
{
	return error == -EXDEV || error == -ELOOP || error == -ENOTDIR;
}

/* One name in a directory of podvold's, without entering a mount: no server is asked. */
static int check_directory(const struct inuse *inuse, const char *uid, struct failure *why)
{
	struct failure problem = { .error = 0 };
	cleanup_free char *path = NULL;
	cleanup_close int fd = -EBADF;

	if (asprintf(&path, "pods/%s", uid) < 0)
		return failed(why, -ENOMEM, "cannot search for the pod's directory");
	fd = open_beneath(inuse->with.root->fd, path, O_PATH | O_NOFOLLOW, PATH_NO_SYMLINKS,
			  &problem);
	if (fd == -ENOENT)
		return 0;
	if (fd < 0 && !is_there(fd))
		return failed(why, fd, "cannot search for directory '%s/%s' of an earlier pod",
			      inuse->with.root->path, path);
	return failed_plain(why, -EINVAL,
			    "directory '%s/%s' of an earlier pod %s; remove it, or start podvold "
			    "with --takeover",
			    inuse->with.root->path, path,
			    fd < 0 ? "cannot be examined" : "is still there");
}

/* ---- directories that are removed ---- */

static int on_removed(sd_event_source *source, const struct inotify_event *event, void *userdata)
{
	struct inuse *inuse = userdata;

	if (event->mask & IN_IGNORED) /* "pods" itself is gone */
		inuse->removals = sd_event_source_disable_unref(source);
	inuse->with.uid_freed(inuse->with.userdata, event->len > 0 ? event->name : NULL);
	return 0;
}

/* Return: is it watched only from now on, so that what was looked at before may be gone? */
static bool watch_removals(struct inuse *inuse)
{
	cleanup_free char *path = NULL;
	int r;

	if (inuse->removals)
		return false;
	path = new_text("%s/pods", inuse->with.root->path);
	r = path ? sd_event_add_inotify(inuse->with.event, &inuse->removals, path,
					IN_DELETE | IN_MOVED_FROM | IN_ONLYDIR, on_removed, inuse)
		 : -ENOMEM;
	if (r >= 0)
		r = sd_event_source_set_priority(inuse->removals, inuse->with.priority);
	if (r < 0)
		log_message(LOG_WARNING,
			    "cannot watch for removed pod directories, so a manifest whose uid "
			    "is in use is tried again when its file changes: %s",
			    strerror(-r));
	return r >= 0;
}

int uid_use_check(void *userdata, const struct object *pod, struct failure *why)
{
	struct inuse *inuse = userdata;
	int r;

	assert(inuse && pod && pod->pod);
	if (!layout_is_component(pod->meta.uid))
		return 0; /* admission refuses it */
	r = check_holds(inuse, pod, why);
	if (r == 0)
		r = check_entries(inuse, pod, why);
	if (r != 0)
		return r < 0 ? r : 0;
	if (!inuse->with.is_complete(inuse->with.userdata) ||
	    inuse->with.config->takeover.how != CONFIG_TAKEOVER_NONE)
		return 0;
	r = check_directory(inuse, pod->meta.uid, why);
	if (r == -EINVAL && watch_removals(inuse))
		r = check_directory(inuse, pod->meta.uid, why);
	return r;
}
