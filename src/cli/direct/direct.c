/* SPDX-License-Identifier: Apache-2.0 */
/*
 * direct - one volume by its plugin with no daemon; see direct.h
 *
 * The plugin's stages run below a root directory of their own in /run, as they would below the
 * daemon's; what they mounted there is bound to the target, and then taken away again there. So the
 * target alone remains, and umount(8) could undo it. A plugin whose stages need an event loop is
 * refused, and so is a target on which something is mounted.
 */
#include "cli/direct/direct.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "base/text.h"
#include "mount/mount.h"
#include "object/object.h"
#include "plugins/plugin.h"

#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/file.h>

#define DEFAULT_ROOT_DIR "/var/lib/kubelet"
#define PRIVATE_BASE     "/run"
#define POD_UID          "direct"

/* ---- the manifest ---- */

static int read_text(const char *file, char **ret, size_t *ret_length, struct failure *reterr)
{
	cleanup_fclose FILE *stream =
		strcmp(file, "-") == 0 ? fdopen(dup(STDIN_FILENO), "r") : fopen(file, "re");
	cleanup_free char *text = malloc(DOCUMENTS_BYTES_MAX + 1);
	size_t length;

	if (!stream)
		return failed(reterr, -errno, "cannot open '%s'", file);
	if (!text)
		return failed(reterr, -ENOMEM, "cannot read '%s'", file);
	length = fread(text, 1, DOCUMENTS_BYTES_MAX + 1, stream);
	if (ferror(stream))
		return failed(reterr, -EIO, "cannot read '%s'", file);
	if (length > DOCUMENTS_BYTES_MAX)
		return failed_plain(reterr, -E2BIG, "'%s' is larger than %d bytes", file,
				    DOCUMENTS_BYTES_MAX);
	*ret = TAKE_PTR(text);
	*ret_length = length;
	return 0;
}

/* The one PersistentVolume among the documents: a new reference. */
static int find_volume(const struct document_list *list, const char *file,
		       const struct object **ret, struct failure *reterr)
{
	const struct object *found = NULL;

	if (list->failure.error) {
		*reterr = list->failure;
		return failure_prefix(reterr, "%s", file);
	}
	for (size_t i = 0; i < list->count; i++) {
		const struct document *document = &list->documents[i];

		if (!document->object) {
			(void) failed_plain(reterr, document->failure->error, "%s",
					    document->failure->text);
			return failure_prefix(reterr, "%s:%u", file, document->line);
		}
		if (document->object->kind != KIND_PERSISTENT_VOLUME)
			continue;
		if (found)
			return failed_plain(reterr, -EINVAL,
					    "'%s' holds more than one PersistentVolume", file);
		found = document->object;
	}
	if (!found)
		return failed_plain(reterr, -EINVAL, "'%s' holds no PersistentVolume", file);
	*ret = object_ref(found);
	return 0;
}

int direct_read_volume(const char *file, const struct object **ret, struct failure *reterr)
{
	cleanup(document_list_done) struct document_list list = { 0 };
	cleanup_free char *text = NULL;
	size_t length = 0;
	int r;

	r = read_text(file, &text, &length, reterr);
	if (r == 0)
		r = documents_parse(text, length, &list, reterr);
	return r < 0 ? r : find_volume(&list, file, ret, reterr);
}

/* ---- the target ---- */

struct target {
	struct place place;
	int lock_fd; /* of the root directory that it lies below, else -EBADF */
};

static void target_done(struct target *target)
{
	place_done(&target->place);
	target->lock_fd = close_keep_errno(target->lock_fd);
}

void direct_real_path(int fd, char ret[PATH_MAX])
{
	char link[64];
	ssize_t length;

	(void) snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, ret, PATH_MAX - 1);
	ret[length > 0 ? length : 0] = '\0';
}

/* The daemon holds the same lock for as long as it runs. */
static int lock_root_dir(struct target *target, const char *root_dir, struct failure *reterr)
{
	cleanup_close int fd = open(root_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char root[PATH_MAX];
	size_t length;

	if (fd < 0)
		return errno == ENOENT ? 0 : failed(reterr, -errno, "cannot open '%s'", root_dir);
	direct_real_path(fd, root);
	length = strlen(root);
	if (length == 0 || strncmp(target->place.path, root, length) != 0 ||
	    target->place.path[length] != '/')
		return 0;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return failed_plain(reterr, -EBUSY,
				    "'%s' lies below '%s', which a running podvold uses",
				    target->place.path, root);
	target->lock_fd = TAKE_FD(fd);
	return 0;
}

/* Where a path leads; NULL and errno when it leads nowhere. */
static char *follow(const char *path)
{
	cleanup_close int fd = open_host_path(path, O_PATH, NULL);
	char real[PATH_MAX];

	if (fd < 0) {
		errno = -fd;
		return NULL;
	}
	direct_real_path(fd, real);
	return strdup(real);
}

/* An absolute path whose last component is a name. It is not looked at when that can be helped:
 * what is mounted there may hang, and unmounting it is what the caller wants. */
static char *absolute_target(const char *path)
{
	cleanup_free char *cwd = path[0] == '/' ? strdup("") : getcwd(NULL, 0);
	cleanup_free char *absolute = NULL;
	size_t length;
	const char *name;
	struct stat st;

	if (!cwd || asprintf(&absolute, "%s/%s", cwd, path) < 0)
		return NULL;
	length = strlen(absolute);
	while (length > 1 && absolute[length - 1] == '/')
		absolute[--length] = '\0';

	name = strrchr(absolute, '/') + 1;
	if (name[0] == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
	    (lstat(absolute, &st) == 0 && S_ISLNK(st.st_mode)))
		return follow(absolute);
	return TAKE_PTR(absolute);
}

static int pin_target(char *absolute, struct place *ret, struct failure *reterr)
{
	cleanup(place_done) struct place place = PLACE_EMPTY;
	char *slash = strrchr(absolute, '/');
	char parent[PATH_MAX];

	place.name = strdup(slash + 1);
	if (!place.name)
		return failed(reterr, -ENOMEM, "cannot keep target '%s'", absolute);
	slash[1] = '\0';
	place.parent_fd = open_host_path(absolute, O_PATH | O_DIRECTORY, reterr);
	if (place.parent_fd < 0)
		return place.parent_fd;
	direct_real_path(place.parent_fd, parent);
	place.path = new_text("%s/%s", strcmp(parent, "/") == 0 ? "" : parent, place.name);
	if (!place.path)
		return failed(reterr, -ENOMEM, "cannot keep target '%s'", place.name);
	*ret = place;
	place = PLACE_EMPTY;
	return 0;
}

static int find_target(const char *path, const char *root_dir, struct target *ret,
		       struct failure *reterr)
{
	cleanup_free char *absolute = absolute_target(path);
	int r;

	if (!absolute)
		return failed(reterr, -errno, "cannot find target '%s'", path);
	if (strcmp(absolute, "/") == 0)
		return failed_plain(reterr, -EINVAL, "'/' cannot be the target");
	r = pin_target(absolute, &ret->place, reterr);
	if (r < 0)
		return r;
	return lock_root_dir(ret, root_dir ? root_dir : DEFAULT_ROOT_DIR, reterr);
}

/* ---- the private root directory ---- */

struct private_root {
	struct place place;
	struct plugin_host host;
};

static int private_root_make(struct private_root *root, struct failure *reterr)
{
	struct place *place = &root->place;
	bool made = false;
	int r;

	r = mount_table_new(&root->host.mount_table, reterr);
	if (r < 0)
		return r;
	place->parent_fd = open_host_path(PRIVATE_BASE, O_PATH | O_DIRECTORY, reterr);
	if (place->parent_fd < 0)
		return place->parent_fd;
	place->path = new_text("%s/podvolctl-direct.%d", PRIVATE_BASE, getpid());
	if (!place->path)
		return failed(reterr, -ENOMEM, "cannot create a directory in '%s'", PRIVATE_BASE);
	place->name = strdup(strrchr(place->path, '/') + 1);
	if (!place->name)
		return failed(reterr, -ENOMEM, "cannot make '%s'", place->path);

	root->host.root_dir = place->path;
	root->host.root_fd = make_directory(place, 0700, &made, reterr);
	if (root->host.root_fd < 0)
		return root->host.root_fd;
	if (!made) { /* not to be removed, then */
		root->host.root_fd = close_keep_errno(root->host.root_fd);
		return failed_plain(reterr, -EEXIST, "'%s' already exists", place->path);
	}
	return 0;
}

static void private_root_remove(struct private_root *root)
{
	if (root->host.root_fd >= 0) {
		(void) remove_empty_parents(root->host.root_fd, "pods/" POD_UID, 0, NULL);
		root->host.root_fd = close_keep_errno(root->host.root_fd);
		(void) remove_directory(&root->place, NULL);
	}
	root->host.mount_table = mount_table_free(root->host.mount_table);
	place_done(&root->place);
}

/* ---- the plugin's stages ---- */

static int run_stages(stage_list_fn *slot, const struct volume_request *request,
		      struct failure *reterr)
{
	cleanup(stage_list_done) struct stage_list list = { 0 };
	struct stage_report report = { 0 };
	int r;

	if (!slot)
		return 0;
	r = slot(request, &list, reterr);
	if (r < 0)
		return r;
	r = STAGE_NEXT;
	for (size_t i = 0; i < list.count && r == STAGE_NEXT; i++) {
		if (list.stages[i].place == STAGE_LOOP)
			return failed_plain(reterr, -EOPNOTSUPP,
					    "this kind of volume needs a daemon");
		r = list.stages[i].run(list.data, &report);
	}
	if (r >= 0)
		return 0;
	*reterr = report.failure;
	return r;
}

/* Without the plugin's own check that nothing else uses the device: the target does. */
static int unstage(const struct volume_plugin *plugin, const struct volume_request *request,
		   struct failure *reterr)
{
	cleanup_free char *path = NULL;
	cleanup(place_done) struct place place = PLACE_EMPTY;
	const struct plugin_host *host = request->host;
	const char *relative;
	int r;

	if (!plugin->can_device_mount || !plugin->can_device_mount(request->spec))
		return 0;
	path = plugin->get_device_mount_path(request);
	if (!path)
		return failed(reterr, -ENOMEM, "cannot unmount the device");
	relative = path + strlen(host->root_dir) + 1;
	r = place_open(host->root_fd, host->root_dir, relative, &place, reterr);
	if (r == 0)
		r = cleanup_mount_point(&place, reterr);
	if (r < 0 && r != -ENOENT)
		return r;
	(void) remove_empty_parents(host->root_fd, relative, 0, NULL);
	return 0;
}

static int open_volume(const struct volume_plugin *plugin, const struct volume_request *request,
		       struct failure *reterr)
{
	const struct plugin_host *host = request->host;
	cleanup_free char *path = plugin->get_path(request);
	size_t length = strlen(host->root_dir);

	if (!path)
		return failed(reterr, -ENOMEM, "cannot name the volume");
	if (strncmp(path, host->root_dir, length) == 0 && path[length] == '/')
		return open_beneath(host->root_fd, path + length + 1, O_PATH,
				    PATH_NO_SYMLINKS_ANY_MOUNT, reterr);
	return open_host_path(path, O_PATH, reterr);
}

static int open_target(const struct target *target, bool directory, struct failure *reterr)
{
	cleanup_close int fd = open_beneath(target->place.parent_fd, target->place.name, O_PATH,
					    PATH_NO_SYMLINKS_ANY_MOUNT, reterr);
	struct mount_facts facts;
	int r;

	if (fd == -ENOENT)
		return failed_plain(reterr, fd,
				    "the target '%s' does not exist: make a directory, or for a "
				    "block volume a file, to mount on",
				    target->place.path);
	if (fd < 0)
		return fd;
	r = fd_facts(fd, &facts, reterr);
	if (r < 0)
		return r;
	if (facts.is_mount_root)
		return failed_plain(reterr, -EBUSY, "'%s' is mounted already", target->place.path);
	if (S_ISDIR(facts.mode) != directory)
		return failed_plain(reterr, directory ? -ENOTDIR : -EISDIR,
				    "the volume is %s directory, '%s' is %s",
				    directory ? "a" : "no", target->place.path,
				    directory ? "none" : "one");
	return TAKE_FD(fd);
}

static int bind_to_target(const struct volume_plugin *plugin, const struct volume_request *request,
			  const struct target *target, struct failure *reterr)
{
	static const struct mount_attributes as_it_is = { 0 };
	cleanup_close int volume_fd = open_volume(plugin, request, reterr);
	cleanup_close int target_fd = -EBADF;
	struct stat st;

	if (volume_fd < 0)
		return volume_fd;
	if (fstat(volume_fd, &st) < 0)
		return failed(reterr, -errno, "cannot inspect the volume");
	target_fd = open_target(target, S_ISDIR(st.st_mode), reterr);
	if (target_fd < 0)
		return target_fd;
	return bind_at(volume_fd, target_fd, &as_it_is, reterr);
}

/* Stages up, bind, stages down again; what the last of them cannot take away is a warning, because
 * the target is mounted. */
static int mount_volume(const struct volume_plugin *plugin, const struct volume_request *request,
			const struct target *target, struct failure *reterr)
{
	bool has_device = plugin->can_device_mount && plugin->can_device_mount(request->spec);
	struct failure left = { 0 };
	int r = 0;

	if (has_device)
		r = run_stages(plugin->new_device_mounter, request, reterr);
	if (r == 0)
		r = run_stages(plugin->new_mounter, request, reterr);
	if (r == 0)
		r = bind_to_target(plugin, request, target, reterr);

	if (run_stages(plugin->new_unmounter, request, &left) < 0 ||
	    unstage(plugin, request, &left) < 0)
		log_message(LOG_WARNING, "something is left below '%s': %s",
			    request->host->root_dir, left.text);
	return r;
}

/* ---- what podvolctl calls ---- */

static int check_volume(const struct volume_spec *spec, const struct volume_plugin **ret,
			struct failure *reterr)
{
	int r = plugin_for_spec(spec, ret, reterr);

	if (r < 0)
		return r;
	if (spec_pv(spec)->mode == VOLUME_MODE_BLOCK)
		return failed_plain(reterr, -EINVAL,
				    "volume '%s' is in block mode: there is nothing to mount",
				    spec->name);
	if (spec_pv(spec)->mount_option_count > 0 && !(*ret)->supports_mount_options)
		return failed_plain(reterr, -EINVAL,
				    "volume '%s': mount options are not supported for this volume "
				    "type",
				    spec->name);
	return 0;
}

int direct_mount(const char *file, const char *target_path, const char *root_dir,
		 struct failure *reterr)
{
	cleanup(private_root_remove) struct private_root root = {
		.place = PLACE_EMPTY, .host = { .root_fd = -EBADF, .node_name = "" }
	};
	cleanup(target_done) struct target target = { .place = PLACE_EMPTY, .lock_fd = -EBADF };
	cleanup_object const struct object *pv = NULL;
	const struct volume_plugin *plugin;
	struct volume_request request;
	struct volume_spec spec;
	int r;

	assert(file && target_path && reterr);

	r = direct_read_volume(file, &pv, reterr);
	if (r < 0)
		return r;
	spec = (struct volume_spec){ .name = pv->meta.name, .pv = pv };
	r = check_volume(&spec, &plugin, reterr);
	if (r == 0)
		r = find_target(target_path, root_dir, &target, reterr);
	if (r == 0)
		r = private_root_make(&root, reterr);
	if (r < 0)
		return r;

	request = (struct volume_request){ .host = &root.host,
					   .plugin = plugin,
					   .spec = &spec,
					   .volume_name = spec.name,
					   .pod_uid = POD_UID,
					   .is_staged = true,
					   .device_path = "",
					   .device_mount_path = "" };
	return mount_volume(plugin, &request, &target, reterr);
}

int direct_unmount(const char *target_path, const char *root_dir, struct failure *reterr)
{
	cleanup(target_done) struct target target = { .place = PLACE_EMPTY, .lock_fd = -EBADF };
	struct mount_facts facts;
	int r;

	assert(target_path);

	r = find_target(target_path, root_dir, &target, reterr);
	if (r < 0)
		return r;
	r = place_facts(&target.place, &facts, reterr);
	if (r < 0 && !is_corrupted_mount_error(r))
		return r;
	if (r == 0 && !facts.is_mount_root)
		return failed_plain(reterr, -EINVAL, "nothing is mounted at '%s'",
				    target.place.path);
	return unmount_place(&target.place, 0, reterr);
}
