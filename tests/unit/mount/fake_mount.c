/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_mount - see fake_mount.h
 */
#include "fake_mount.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include <cmocka.h>

struct fake_mount fake_mount;
const struct plugin_host fake_host = {
	.root_dir = "/r", .root_fd = 0, .node_name = "node", .tool_limit_usec = 7
};

static int source_fd = -EBADF, target_fd = -EBADF;

void fake_mount_reset(void)
{
	source_fd = target_fd = -EBADF;
	fake_mount = (struct fake_mount){
		.source = { .st_mode = S_IFDIR | 0755, .st_dev = 7, .st_ino = 70 },
		.target = { .device = 1, .inode = 10, .mode = S_IFDIR | 0750 },
		.staging = { .device = makedev(8, 1),
			     .inode = 2,
			     .mode = S_IFDIR | 0755,
			     .is_mount_root = true },
		.entry_source = "/dev/none",
		.entry_type = "ext4",
		.bound_id = 77,
	};
}

struct ran fake_mount_run(struct stage_list *list)
{
	struct ran ran = { .result = STAGE_NEXT, .last_stage = "" };

	assert_true(list->count > 0);
	for (size_t i = 0; i < list->count && ran.result == STAGE_NEXT; i++) {
		ran.last_stage = list->stages[i].name;
		assert_non_null(list->stages[i].run);
		ran.result = list->stages[i].run(list->data, &ran.report);
	}
	if (ran.result < 0)
		assert_string_not_equal(ran.report.failure.text, "");
	stage_list_done(list);
	return ran;
}

/* Into the diary; the answer says whether this call is to fail. */
static int note(struct failure *reterr, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int note(struct failure *reterr, const char *name, const char *format, ...)
{
	size_t used = strlen(fake_mount.diary);
	va_list arguments;

	used += (size_t) snprintf(fake_mount.diary + used, sizeof(fake_mount.diary) - used, "%s(",
				  name);
	va_start(arguments, format);
	used += (size_t) vsnprintf(fake_mount.diary + used, sizeof(fake_mount.diary) - used, format,
				   arguments);
	va_end(arguments);
	(void) snprintf(fake_mount.diary + used, sizeof(fake_mount.diary) - used, ")\n");
	assert_true(strlen(fake_mount.diary) + 1 < sizeof(fake_mount.diary));

	if (!fake_mount.fail_name || strcmp(fake_mount.fail_name, name) != 0)
		return 0;
	fake_mount.fail_calls++;
	if (fake_mount.fail_nth && fake_mount.fail_calls != fake_mount.fail_nth)
		return 0;
	return failed(reterr, fake_mount.fail_error, "%s was told to fail", name);
}

static int some_fd(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

/* ---- opening and making ---- */

int __wrap_open_host_path(const char *path, int flags, struct failure *reterr);
int __wrap_open_host_path(const char *path, int flags, struct failure *reterr)
{
	int r = note(reterr, "open_host_path", "%s", path);

	assert_int_equal(flags & O_PATH, O_PATH);
	if (r < 0)
		return r;
	source_fd = some_fd();
	return source_fd;
}

int __wrap_fstat(int fd, struct stat *ret);
int __real_fstat(int fd, struct stat *ret);
int __wrap_fstat(int fd, struct stat *ret)
{
	if (fd != source_fd)
		return __real_fstat(fd, ret);
	*ret = fake_mount.source;
	return 0;
}

int __wrap_fstatfs(int fd, struct statfs *ret);
int __wrap_fstatfs(int fd, struct statfs *ret)
{
	assert_true(fd >= 0);
	*ret = (struct statfs){ .f_type = fake_mount.fs_type, .f_bsize = fake_mount.fs_block_size };
	return 0;
}

int __wrap_open_beneath(int root_fd, const char *path, int flags, enum path_policy policy,
			struct failure *reterr);
int __wrap_open_beneath(int root_fd, const char *path, int flags, enum path_policy policy,
			struct failure *reterr)
{
	size_t length = strlen(path);
	int r = note(reterr, "open_beneath", "%s", path);

	assert_true(root_fd >= 0);
	assert_int_not_equal(policy, PATH_BENEATH); /* plugins open their own directories only */
	if (r < 0)
		return r;
	if (length > 6 && strcmp(path + length - 6, "/ready") == 0 && !fake_mount.ready_exists)
		return failed(reterr, -ENOENT, "no ready file");
	if ((flags & O_DIRECTORY) && !(flags & O_PATH))
		return failed(reterr, -ENOENT, "nothing to list");
	return some_fd();
}

static int fill_place(const char *root_path, const char *path, struct place *ret)
{
	const char *slash = strrchr(path, '/');

	assert_non_null(slash);
	*ret = (struct place){ .parent_fd = some_fd(), .name = strdup(slash + 1) };
	assert_true(asprintf(&ret->path, "%s/%s", root_path, path) > 0);
	return 0;
}

int __wrap_place_make(int root_fd, const char *root_path, const char *path, mode_t mode,
		      struct place *ret, struct failure *reterr);
int __wrap_place_make(int root_fd, const char *root_path, const char *path, mode_t mode,
		      struct place *ret, struct failure *reterr)
{
	int r = note(reterr, "place_make", "%s, %04o", path, mode);

	return r < 0 ? r : fill_place(root_path, path, ret);
}

int __wrap_place_open(int root_fd, const char *root_path, const char *path, struct place *ret,
		      struct failure *reterr);
int __wrap_place_open(int root_fd, const char *root_path, const char *path, struct place *ret,
		      struct failure *reterr)
{
	int r = note(reterr, "place_open", "%s", path);

	return r < 0 ? r : fill_place(root_path, path, ret);
}

void __wrap_place_done(struct place *place);
void __wrap_place_done(struct place *place)
{
	(void) close_keep_errno(place->parent_fd);
	free(place->name);
	free(place->path);
	*place = PLACE_EMPTY;
}

int __wrap_make_directory(const struct place *place, mode_t mode, bool *ret_made,
			  struct failure *reterr);
int __wrap_make_directory(const struct place *place, mode_t mode, bool *ret_made,
			  struct failure *reterr)
{
	int r = note(reterr, "make_directory", "%s, %04o", place->name, mode);

	if (r < 0)
		return r;
	if (ret_made)
		*ret_made = !fake_mount.target_exists;
	target_fd = some_fd();
	return target_fd;
}

int __wrap_make_file(const struct place *place, mode_t mode, bool *ret_made,
		     struct failure *reterr);
int __wrap_make_file(const struct place *place, mode_t mode, bool *ret_made, struct failure *reterr)
{
	int r = note(reterr, "make_file", "%s, %04o", place->name, mode);

	if (r < 0)
		return r;
	if (ret_made)
		*ret_made = !fake_mount.target_exists;
	target_fd = some_fd();
	return target_fd;
}

int __wrap_make_link(const struct place *place, const char *points_to, struct failure *reterr);
int __wrap_make_link(const struct place *place, const char *points_to, struct failure *reterr)
{
	return note(reterr, "make_link", "%s -> %s", place->name, points_to);
}

int __wrap_change_mode(int fd, mode_t mode, struct failure *reterr);
int __wrap_change_mode(int fd, mode_t mode, struct failure *reterr)
{
	assert_int_equal(fd, target_fd);
	return note(reterr, "change_mode", "%04o", mode);
}

/* ---- mounting ---- */

int __wrap_bind_at(int from_fd, int to_fd, const struct mount_attributes *attributes,
		   struct failure *reterr);
int __wrap_bind_at(int from_fd, int to_fd, const struct mount_attributes *attributes,
		   struct failure *reterr)
{
	assert_true(from_fd >= 0 && to_fd >= 0);
	assert_false(attributes->recursive);
	return note(reterr, "bind_at", "%#llx", (unsigned long long) attributes->set);
}

int __wrap_bind_at_with_id(int from_fd, int to_fd, const struct mount_attributes *attributes,
			   uint64_t *ret_mount_id, struct failure *reterr);
int __wrap_bind_at_with_id(int from_fd, int to_fd, const struct mount_attributes *attributes,
			   uint64_t *ret_mount_id, struct failure *reterr)
{
	*ret_mount_id = fake_mount.bound_id;
	return __wrap_bind_at(from_fd, to_fd, attributes, reterr);
}

int __wrap_mount_filesystem(const char *type, const char *source, const char *options, int to_fd,
			    struct failure *reterr);
int __wrap_mount_filesystem(const char *type, const char *source, const char *options, int to_fd,
			    struct failure *reterr)
{
	int r = note(reterr, "mount_filesystem", "%s, %s, %s", type, source, options);

	assert_int_equal(to_fd, target_fd);
	if (r == 0)
		fake_mount.target.is_mount_root = true;
	return r;
}

int __wrap_unmount_place(const struct place *place, int flags, struct failure *reterr);
int __wrap_unmount_place(const struct place *place, int flags, struct failure *reterr)
{
	assert_int_equal(flags, 0);
	fake_mount.target.is_mount_root = false;
	return note(reterr, "unmount_place", "%s", place->name);
}

int __wrap_cleanup_mount_point(const struct place *place, struct failure *reterr);
int __wrap_cleanup_mount_point(const struct place *place, struct failure *reterr)
{
	return note(reterr, "cleanup_mount_point", "%s", place->name);
}

int __wrap_format_is_due(const char *device_path, struct failure *reterr);
int __wrap_format_is_due(const char *device_path, struct failure *reterr)
{
	return fake_mount.device_is_empty;
}

bool __wrap_loop_device_goes_by_itself(const char *device_path);
bool __wrap_loop_device_goes_by_itself(const char *device_path)
{
	return fake_mount.goes_by_itself;
}

bool __wrap_loop_device_has_image(const char *device_path, dev_t number, const char *image_path);
bool __wrap_loop_device_has_image(const char *device_path, dev_t number, const char *image_path)
{
	return fake_mount.image && strcmp(image_path, fake_mount.image) == 0;
}

int __wrap_format_and_mount(const struct format_request *request, enum format_error *ret_error,
			    struct failure *reterr);
int __wrap_format_and_mount(const struct format_request *request, enum format_error *ret_error,
			    struct failure *reterr)
{
	assert_true(request->device_path[0] == '/' && request->target_fd >= 0);
	fake_mount.tools = request->tools;
	*ret_error = fake_mount.format_error;
	return note(reterr, "format_and_mount", "%s, %s", request->type, request->options);
}

int __wrap_loop_device_attach(int fd, const char *path, char **ret_path, struct failure *reterr);
int __wrap_loop_device_attach(int fd, const char *path, char **ret_path, struct failure *reterr)
{
	int r = note(reterr, "loop_device_attach", "%s", path);

	assert_true(fd >= 0);
	if (r == 0)
		*ret_path = strdup("/dev/loop7");
	return r;
}

int __wrap_loop_device_detach(int fd, const char *path, struct failure *reterr);
int __wrap_loop_device_detach(int fd, const char *path, struct failure *reterr)
{
	(void) fd; /* -EBADF: the file has gone */
	return note(reterr, "loop_device_detach", "%s", path);
}

/* ---- looking ---- */

int __wrap_place_facts(const struct place *place, struct mount_facts *ret, struct failure *reterr);
int __wrap_place_facts(const struct place *place, struct mount_facts *ret, struct failure *reterr)
{
	int r = note(reterr, "place_facts", "%s", place->name);

	if (r < 0)
		return r;
	if (!fake_mount.target_exists)
		return failed(reterr, -ENOENT, "no target");
	*ret = fake_mount.target;
	return 0;
}

int __wrap_fd_facts(int fd, struct mount_facts *ret, struct failure *reterr);
int __wrap_fd_facts(int fd, struct mount_facts *ret, struct failure *reterr)
{
	int r = note(reterr, "fd_facts", "%s", fd == target_fd ? "target" : "staging");

	*ret = fd == target_fd ? fake_mount.target : fake_mount.staging;
	return r;
}

int __wrap_mount_table_refresh(struct mount_table *table, struct failure *reterr);
int __wrap_mount_table_refresh(struct mount_table *table, struct failure *reterr)
{
	return note(reterr, "mount_table_refresh", "%s", "");
}

int __wrap_mount_table_walk(struct mount_table *table,
			    int (*visit)(const struct mount_entry *entry, void *userdata),
			    void *userdata);
int __wrap_mount_table_walk(struct mount_table *table,
			    int (*visit)(const struct mount_entry *entry, void *userdata),
			    void *userdata)
{
	const struct mount_entry entry = {
		.mount_id = fake_mount.target_exists ? fake_mount.target.mount_id
						     : fake_mount.staging.mount_id,
		.device = fake_mount.staging.device,
		.root = "/",
		.mount_point = "/r/plugins/kubernetes.io/local-volume/mounts/pv1",
		.type = fake_mount.entry_type,
		.source = fake_mount.entry_source,
		.options = "rw",
	};

	return visit(&entry, userdata);
}

static int visit_references(int r, const char *prefix,
			    int (*visit)(const struct mount_entry *entry, void *userdata),
			    void *userdata)
{
	for (const char **mount_point = fake_mount.references; r == 0 && *mount_point;
	     mount_point++) {
		struct mount_entry entry = { .mount_point = *mount_point };

		if (strncmp(*mount_point, prefix, strlen(prefix)) == 0)
			r = visit(&entry, userdata);
	}
	return r;
}

int __wrap_mount_table_references(struct mount_table *table, int fd, const char *prefix,
				  int (*visit)(const struct mount_entry *entry, void *userdata),
				  void *userdata, struct failure *reterr);
int __wrap_mount_table_references(struct mount_table *table, int fd, const char *prefix,
				  int (*visit)(const struct mount_entry *entry, void *userdata),
				  void *userdata, struct failure *reterr)
{
	assert_true(fd >= 0);
	return visit_references(note(reterr, "mount_table_references", "%s", prefix), prefix, visit,
				userdata);
}

int __wrap_mount_table_overlaps(struct mount_table *table, int fd, const char *prefix,
				int (*visit)(const struct mount_entry *entry, void *userdata),
				void *userdata, struct failure *reterr);
int __wrap_mount_table_overlaps(struct mount_table *table, int fd, const char *prefix,
				int (*visit)(const struct mount_entry *entry, void *userdata),
				void *userdata, struct failure *reterr)
{
	assert_true(fd >= 0);
	return visit_references(note(reterr, "mount_table_overlaps", "%s", prefix), prefix, visit,
				userdata);
}

int __wrap_mount_table_origin(struct mount_table *table, int fd, struct mount_origin *ret,
			      struct failure *reterr);
int __wrap_mount_table_origin(struct mount_table *table, int fd, struct mount_origin *ret,
			      struct failure *reterr)
{
	int r = note(reterr, "mount_table_origin", "%s", "");

	assert_true(fd >= 0);
	if (r == 0)
		*ret = (struct mount_origin){ fake_mount.source.st_dev, strdup("/source") };
	return r;
}

/* ---- owning and removing ---- */

int __wrap_ownership_apply(int root_fd, const struct ownership *ownership,
			   const atomic_bool *cancel, struct ownership_counts *ret,
			   struct failure *reterr);
int __wrap_ownership_apply(int root_fd, const struct ownership *ownership,
			   const atomic_bool *cancel, struct ownership_counts *ret,
			   struct failure *reterr)
{
	assert_true(root_fd >= 0);
	return note(reterr, "ownership_apply", "%lu%s", (unsigned long) ownership->gid,
		    ownership->on_root_mismatch ? ", on root mismatch" : "");
}

int __wrap_ownership_begin(int root_fd, const struct ownership *ownership,
			   const atomic_bool *cancel, struct ownership_job **ret,
			   struct failure *reterr);
int __wrap_ownership_begin(int root_fd, const struct ownership *ownership,
			   const atomic_bool *cancel, struct ownership_job **ret,
			   struct failure *reterr)
{
	int r;

	assert_true(root_fd >= 0);
	*ret = NULL;
	r = note(reterr, "ownership_begin", "%lu%s", (unsigned long) ownership->gid,
		 ownership->on_root_mismatch ? ", on root mismatch" : "");
	return r < 0 ? r : !fake_mount.is_large;
}

int __wrap_ownership_finish(struct ownership_job *job, const atomic_bool *cancel,
			    struct failure *reterr);
int __wrap_ownership_finish(struct ownership_job *job, const atomic_bool *cancel,
			    struct failure *reterr)
{
	int r = note(reterr, "ownership_finish", "%s", "");

	return r < 0 ? r : 1;
}

int __wrap_remove_directory(const struct place *place, struct failure *reterr);
int __wrap_remove_directory(const struct place *place, struct failure *reterr)
{
	return note(reterr, "remove_directory", "%s", place->name);
}

int __wrap_remove_file(const struct place *place, struct failure *reterr);
int __wrap_remove_file(const struct place *place, struct failure *reterr)
{
	return note(reterr, "remove_file", "%s", place->name);
}

int __wrap_remove_empty_parents(int root_fd, const char *path, unsigned int stop,
				struct failure *reterr);
int __wrap_remove_empty_parents(int root_fd, const char *path, unsigned int stop,
				struct failure *reterr)
{
	assert_int_equal(stop, 1);
	return note(reterr, "remove_empty_parents", "%s", path);
}

int __wrap_remove_empty_dir_contents(const struct place *place, struct failure *reterr);
int __wrap_remove_empty_dir_contents(const struct place *place, struct failure *reterr)
{
	return note(reterr, "remove_empty_dir_contents", "%s", place->name);
}
