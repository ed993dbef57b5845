/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drift_start - mounts of before the start: stacked ones, hidden ones, and memory that is gone
 *
 * What the ledger says is managed and is mounted several times with the same source is folded: the
 * lowest stays, with its id, because that is the one that containers were given. Anything else on
 * top is foreign, and only reported.
 */
#define HASH_NONFATAL_OOM 1 /* a failed insertion is an error code, not the end of the process */

#include "drift/drift_internal.h"

#include "base/cleanup.h"

#include <assert.h>
#include <string.h>

/* The mounts on one place, lowest first. */
struct stack {
	const struct mount_entry **entries;
	size_t count;
	UT_hash_handle hh; /* by the mount point */
};

static int push(struct stack **stacks, const struct mount_entry *entry)
{
	struct stack *stack;
	const struct mount_entry **entries;

	HASH_FIND_STR(*stacks, entry->mount_point, stack);
	if (!stack) {
		stack = calloc(1, sizeof(*stack));
		if (!stack)
			return -ENOMEM;
		HASH_ADD_KEYPTR(hh, *stacks, entry->mount_point, strlen(entry->mount_point), stack);
		if (!stack->hh.tbl) {
			free(stack);
			return -ENOMEM;
		}
	}
	entries = reallocarray(stack->entries, stack->count + 1, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	stack->entries = entries;
	stack->entries[stack->count++] = entry;
	return 0;
}

static void stacks_free(struct stack *stacks)
{
	struct stack *stack, *next;

	HASH_ITER (hh, stacks, stack, next) {
		HASH_DEL(stacks, stack);
		free(stack->entries);
		free(stack);
	}
}

static bool are_the_same(const struct stack *stack)
{
	for (size_t i = 1; i < stack->count; i++)
		if (stack->entries[i]->device != stack->entries[0]->device ||
		    strcmp(stack->entries[i]->root, stack->entries[0]->root) != 0)
			return false;
	return true;
}

static void fold(struct drift *drift, struct drift_mount *mount, const struct stack *stack)
{
	const struct drift_culprit unknown = { 0 };
	cleanup_free uint64_t *ids = calloc(stack->count, sizeof(*ids));

	if (!ids)
		return; /* the set-up takes the one on top for its own, as it would without us */
	for (size_t i = 0; i < stack->count; i++)
		ids[i] = stack->entries[i]->mount_id;
	drift_set_what(mount, "%zu", stack->count);
	drift_begin(drift, mount, DRIFT_STACKED, &unknown);
	drift_request_fold(drift, mount, ids, stack->count);
}

/* What a set-up that broke off had not mounted yet was not lost, no matter who is held already; nor
 * is what a teardown that broke off had unmounted. */
static bool lost_memory(const struct drift *drift, const struct drift_mount *mount)
{
	const struct actual_volume *volume = actual_find(drift->options.actual, mount->unique_name);
	const struct actual_pod *pod = actual_find_pod(volume, mount->pod_uid);

	return pod && drift_lives_in_mount(drift, mount->unique_name, mount->pod_uid) &&
	       pod->left != UNFINISHED_TEARDOWN &&
	       (pod->left == UNFINISHED_NOTHING || pod->was_mounted);
}

/* As the kernel shows a mount whose source has no name any more. */
static bool is_deleted(const struct mount_entry *entry)
{
	static const char mark[] = "//deleted";
	size_t length = strlen(entry->root);

	return length >= strlen(mark) && strcmp(entry->root + length - strlen(mark), mark) == 0;
}

/* The ledger says that a step ended well, and what it mounted, or that it mounted nothing. */
static void confirm(struct drift *drift, struct drift_mount *mount, const struct stack *stack)
{
	const struct actual_volume *volume = actual_find(drift->options.actual, mount->unique_name);
	const struct actual_pod *pod =
		*mount->pod_uid ? actual_find_pod(volume, mount->pod_uid) : NULL;
	uint64_t mount_id = pod ? pod->mount_id : volume->device_mount_id, attributes = 0;

	if ((pod ? pod->served : volume->device_served) == 0)
		return;
	if (mount_id != 0 ? !stack || stack->entries[0]->mount_id != mount_id : stack != NULL)
		return;
	if (stack)
		attributes = mount_attributes_of(stack->entries[0]);
	if (stack && mount->read_only && !(attributes & MOUNT_ATTR_RDONLY))
		return;
	if (stack && is_deleted(stack->entries[0]))
		return;
	drift_index_set_id(drift, mount, mount_id);
	if (mount_id != 0 && drift_index_by_id(drift, mount_id) != mount)
		return; /* another one has it, or there is no memory */
	mount->is_confirmed = true;
	if (stack)
		drift_note_attributes(drift, mount, attributes);
}

static void compare(struct drift *drift, struct stack *stacks, const char *unique_name,
		    const char *pod_uid)
{
	const struct drift_culprit unknown = { 0 };
	struct drift_mount *mount = drift_index_ensure(drift, unique_name, pod_uid);
	struct stack *stack;

	if (!mount || mount->kind != DRIFT_NONE)
		return;
	HASH_FIND_STR(stacks, mount->path, stack);
	mount->is_from_before = stack != NULL;
	if (stack && stack->count > 1 && are_the_same(stack)) {
		fold(drift, mount, stack);
	} else if (stack && stack->count > 1) {
		drift_cover(drift, mount, stack->entries[stack->count - 1], &unknown);
	} else if (!stack && lost_memory(drift, mount)) {
		drift_begin(drift, mount, DRIFT_UNMOUNTED, &unknown);
	} else {
		confirm(drift, mount, stack);
	}
}

void drift_note_first(struct drift *drift, const struct table_entries *mounts)
{
	const struct actual_volume *volume;
	const struct actual_pod *pod;
	struct stack *stacks = NULL;
	int r = 0;

	assert(drift && mounts);
	for (size_t i = 0; r == 0 && i < mounts->count; i++)
		r = push(&stacks, &mounts->items[i]->entry);
	for (volume = actual_first(drift->options.actual); r == 0 && volume;
	     volume = volume->hh.next) {
		if (volume->device_state != MOUNT_ABSENT && !volume->block)
			compare(drift, stacks, volume->unique_name, NULL);
		for (pod = volume->pods; pod; pod = pod->hh.next)
			if (pod->state != MOUNT_ABSENT)
				compare(drift, stacks, volume->unique_name, pod->pod_uid);
	}
	stacks_free(stacks);
}
