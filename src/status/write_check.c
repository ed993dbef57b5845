/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write_check - see write_check.h
 */
#include "status/write_check.h"

#include "base/cleanup.h"
#include "object/json/json.h"
#include "object/kinds/persistent_volume.h"
#include "object/kinds/pod.h"
#include "store/store.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { GROUPS_MAX = 64, TEXT_BYTES = 600 };

struct question {
	struct question *next;
	char *container, *volume, *path;
	uid_t user;
	gid_t groups[GROUPS_MAX]; /* the first is the primary one */
	size_t group_count;
	bool is_local;   /* fsGroup would mend it */
	bool made_empty; /* podvold makes a missing directory, for root */
	bool is_refused; /* the answer */
	struct stat found;
};

struct write_check {
	struct question *first;
};

/* ---- what has to be looked at ---- */

static void question_free(struct question *question)
{
	free(question->container);
	free(question->volume);
	free(question->path);
	free(question);
}

struct write_check *write_check_free(struct write_check *check)
{
	struct question *next;

	for (struct question *i = check ? check->first : NULL; i; i = next) {
		next = i->next;
		question_free(i);
	}
	free(check);
	return NULL;
}

/* The source as far as it is a directory of this node; NULL: it is none, or not known. */
static const char *path_of(struct store *store, const struct object *pod,
			   const struct pod_volume *volume, struct question *question)
{
	const struct object *claim = NULL, *object = NULL;
	const struct persistent_volume *pv;

	if (volume->source == SOURCE_HOST_PATH) {
		question->made_empty = strcmp(volume->host_path_type, "DirectoryOrCreate") == 0;
		return volume->host_path;
	}
	if (volume->source == SOURCE_CLAIM && !volume->claim_read_only)
		claim = store_get(store, KIND_PERSISTENT_VOLUME_CLAIM, pod->meta.name_space,
				  volume->claim_name);
	if (claim && claim->claim->phase == CLAIM_BOUND)
		object = store_get(store, KIND_PERSISTENT_VOLUME, "", claim->claim->volume_name);
	pv = object ? object->persistent_volume : NULL;
	if (!pv || pv->source != PV_SOURCE_LOCAL || pv->mode != VOLUME_MODE_FILESYSTEM)
		return NULL;
	question->is_local = true;
	return pv->local_path;
}

/* securityContext of the container, else of the pod; the runtime takes 0 where neither has one. */
static gid_t primary_group(const struct cJSON *spec, const char *container)
{
	static const char *const lists[] = { "initContainers", "containers" };
	int64_t group = 0;

	(void) json_int64(json_get(json_get(spec, "securityContext"), "runAsGroup"), &group);
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		JSON_FOREACH (item, json_get(spec, lists[i]))
			if (json_text_is(item, "name", container))
				(void) json_int64(
					json_get(json_get(item, "securityContext"), "runAsGroup"),
					&group);
	return (gid_t) group;
}

static void add_groups(struct question *question, const struct pod *pod, const struct cJSON *spec)
{
	question->groups[question->group_count++] = primary_group(spec, question->container);
	if (pod->has_fs_group)
		question->groups[question->group_count++] = pod->fs_group;
	for (size_t i = 0; i < pod->supplemental_group_count && question->group_count < GROUPS_MAX;
	     i++)
		question->groups[question->group_count++] = pod->supplemental_groups[i];
}

static int add_question(struct write_check *check, struct store *store, const struct object *pod,
			const struct pod_container *container, const struct pod_volume *volume,
			const struct cJSON *spec)
{
	struct question *question = calloc(1, sizeof(*question));
	const char *path;

	if (!question)
		return -ENOMEM;
	path = path_of(store, pod, volume, question);
	if (!path || (question->is_local && pod->pod->has_fs_group)) {
		free(question);
		return 0;
	}
	question->container = strdup(container->name);
	question->volume = strdup(volume->name);
	question->path = strdup(path);
	if (!question->container || !question->volume || !question->path) {
		question_free(question);
		return -ENOMEM;
	}
	question->user = container->run_as_user;
	add_groups(question, pod->pod, spec);
	question->next = check->first;
	check->first = question;
	return 0;
}

static int add_container(struct write_check *check, struct store *store, const struct object *pod,
			 const struct pod_container *container, const struct cJSON *spec)
{
	int r = 0;

	if (!container->has_run_as_user || container->run_as_user == 0 || container->privileged)
		return 0;
	for (size_t m = 0; r == 0 && m < container->mount_count; m++) {
		const struct pod_volume_mount *mount = &container->mounts[m];

		if (mount->read_only || *mount->sub_path || *mount->sub_path_expr)
			continue;
		for (size_t v = 0; r == 0 && v < pod->pod->volume_count; v++)
			if (strcmp(pod->pod->volumes[v].name, mount->name) == 0)
				r = add_question(check, store, pod, container,
						 &pod->pod->volumes[v], spec);
	}
	return r;
}

int write_check_new(struct store *store, const struct object *pod, struct write_check **ret)
{
	struct write_check *check = calloc(1, sizeof(*check));
	cleanup_json struct cJSON *tree = NULL;
	int r = 0;

	assert(store && pod && pod->kind == KIND_POD && ret);
	tree = check ? object_tree(pod) : NULL;
	if (!tree) {
		free(check);
		return -ENOMEM;
	}
	for (size_t i = 0; r == 0 && !pod->pod->user_namespace && i < pod->pod->container_count;
	     i++)
		r = add_container(check, store, pod, &pod->pod->containers[i],
				  json_get(tree, "spec"));
	if (r < 0)
		check = write_check_free(check);
	else
		*ret = check;
	return r;
}

/* ---- checks ---- */

static bool has_group(const struct question *question, gid_t group)
{
	for (size_t i = 0; i < question->group_count; i++)
		if (question->groups[i] == group)
			return true;
	return false;
}

/* As the kernel judges: the owner's bits for the owner, else the group's, else the others'. */
static bool may_write(const struct question *question)
{
	const mode_t needed = S_IWOTH | S_IXOTH;
	unsigned int shift = 0;

	if (question->found.st_uid == question->user)
		shift = 6;
	else if (has_group(question, question->found.st_gid))
		shift = 3;
	return (question->found.st_mode >> shift & needed) == needed;
}

static void check_question(struct question *question)
{
	cleanup_close int fd = open(question->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	char opened[32];

	if (fd < 0 && errno == ENOENT && question->made_empty)
		question->found.st_mode = S_IFDIR | 0755;
	else if (fd < 0 || fstat(fd, &question->found) < 0)
		return; /* the set-up says why */
	(void) snprintf(opened, sizeof(opened), "/proc/self/fd/%d", fd);
	if (fd >= 0 && getxattr(opened, "system.posix_acl_access", NULL, 0) > 0)
		return;
	question->is_refused = !may_write(question);
}

void write_check_run(struct write_check *check)
{
	assert(check);
	for (struct question *i = check->first; i; i = i->next)
		check_question(i);
}

/* ---- reports ---- */

void write_check_report(const struct write_check *check, struct cJSON *tree)
{
	struct cJSON *list = json_add_array(tree, "warnings");

	assert(check && tree);
	for (const struct question *i = check->first; i; i = i->next) {
		struct cJSON *item;
		char text[TEXT_BYTES];

		if (!i->is_refused)
			continue;
		(void) snprintf(text, sizeof(text),
				"user %u, group %u cannot write to '%.300s', which is %u:%u, mode "
				"%04o; to do: %s",
				i->user, i->groups[0], i->path, i->found.st_uid, i->found.st_gid,
				(unsigned int) i->found.st_mode & 07777U,
				i->is_local ? "set the pod's fsGroup, or give the directory to them"
					    : "give the directory to them, or run as its owner");
		item = json_add_object(list, NULL);
		(void) json_set_string(item, "container", i->container);
		(void) json_set_string(item, "volume", i->volume);
		(void) json_set_string(item, "text", text);
	}
}
