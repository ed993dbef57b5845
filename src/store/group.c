/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group - admission of a group of writes; see group.h
 */
#include "store/group.h"

#include "base/cleanup.h"
#include "base/fnv1a.h"
#include "object/edit_new.h"
#include "object/json/json.h"
#include "object/object_text.h"
#include "object/kind.h"
#include "object/kinds/persistent_volume.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct write *write_new(enum admit_verb verb, enum object_kind kind, const char *name_space,
			const char *name, const struct store_precondition *precondition)
{
	struct write *write = calloc(1, sizeof(*write));

	if (!write)
		return NULL;
	write->verb = verb;
	write->kind = kind;
	write->name_space = strdup(name_space);
	write->name = strdup(name);
	if (precondition && precondition->uid)
		write->uid = strdup(precondition->uid);
	if (precondition)
		write->expected_version = precondition->resource_version;
	write->follows = precondition && precondition->follows;
	write->dry_run = precondition && precondition->dry_run;
	write->ends_move = precondition && precondition->ends_move;
	write->has_grace = precondition && precondition->has_grace;
	write->grace_seconds = write->has_grace ? precondition->grace_seconds : 0;
	if (!write->name_space || !write->name ||
	    (precondition && precondition->uid && !write->uid))
		return write_free(write);
	return write;
}

struct write *write_of(enum admit_verb verb, const struct object *object,
		       const struct store_precondition *precondition)
{
	struct write *write = write_new(verb, object->kind, object->meta.name_space,
					object->meta.name, precondition);

	if (write)
		write->object = object_ref(object);
	return write;
}

struct write *write_free(struct write *write)
{
	if (!write)
		return NULL;
	(void) object_unref(write->object);
	free(write->name_space);
	free(write->name);
	free(write->uid);
	free(write);
	return NULL;
}

void group_begin(struct group *group, uint64_t resource_version)
{
	group->count = 0;
	group->row_count = 0;
	group->has_unsynced = false;
	group->unsynced_count = 0;
	memset(group->growth, 0, sizeof(group->growth));
	memset(group->hashes, 0, sizeof(group->hashes));
	group->bind = group->bind_new;
	group->resource_version = resource_version;
}

/* Spares most comparisons of names among the members. */
unsigned int group_hash(enum object_kind kind, const char *name_space, const char *name)
{
	uint64_t hash = fnv1a_add(FNV1A_FIRST, (uint64_t) kind);

	return (unsigned int) fnv1a_add_text(fnv1a_add_text(hash, name), name_space);
}

static bool same_key(const struct write *a, const struct write *b)
{
	return a->kind == b->kind && strcmp(a->name, b->name) == 0 &&
	       strcmp(a->name_space, b->name_space) == 0;
}

/* A bit for each hash that a member has: few of those that have none share one. */
static size_t hash_word(const struct group *group, unsigned int hash)
{
	return hash / 64 % ARRAY_SIZE(group->hashes);
}

bool group_may_have(const struct group *group, unsigned int hash)
{
	return group->hashes[hash_word(group, hash)] & UINT64_C(1) << hash % 64;
}

/* The version this member has to deal with, and where it came from. */
static void find_old(struct group *group, const struct cache *cache, struct admitted *member)
{
	const struct write *write = member->write;

	for (size_t i = group_may_have(group, member->hash) ? group->count : 0; i-- > 0;) {
		struct admitted *earlier = &group->members[i];

		if (earlier->verdict != VERDICT_CHANGES || earlier->hash != member->hash ||
		    !same_key(earlier->write, write))
			continue;
		member->relies_on_group = earlier->is_relied_on = true;
		member->old = object_ref(earlier->result);
		return;
	}
	member->old = object_ref(cache_get(cache, write->kind, write->name_space, write->name));
}

static int refused(struct admitted *member, int error, const char *what)
{
	const struct write *write = member->write;

	return failed_plain(member->failure, error, "%s '%s%s%s' %s",
			    kind_row(write->kind)->singular, write->name_space,
			    write->name_space[0] ? "/" : "", write->name, what);
}

static int check_presence(struct admitted *member, bool is_taken)
{
	const struct write *write = member->write;
	const struct object *old = member->old;

	if (is_taken)
		return refused(member, write->verb == ADMIT_CREATE ? -EEXIST : -EINVAL,
			       "is stored in a form that this podvol cannot read");
	if (write->verb == ADMIT_CREATE)
		return old ? refused(member, -EEXIST, "exists already") : 0;
	if (!old)
		return refused(member, -ENOENT, "does not exist");
	if (write->uid && strcmp(write->uid, old->meta.uid) != 0)
		return refused(member, -ESTALE, "was replaced: its uid differs");
	if (write->expected_version && write->expected_version != old->meta.resource_version)
		return refused(member, -ESTALE, "was changed meanwhile: read it again");
	return 0;
}

/* A pod that is stored no more may still be mounted or held, or have its directory. */
static int check_uid_use(const struct group *group, struct admitted *member)
{
	const struct object *pod = member->write->object;
	int r = group->uids.check ? group->uids.check(group->uids.userdata, pod, member->failure)
				  : 0;

	if (r < 0)
		member->failure->error = r;
	return r < 0 ? failure_prefix(member->failure, "metadata.uid: Invalid value: \"%s\"",
				      pod->meta.uid)
		     : 0;
}

/* A pod's uid names its directory. Two pods in one directory would share its volumes, and the end
 * of one would be the end of the other's data. Only a uid that the writer chose can be taken. */
static int check_uid(const struct group *group, const struct cache *cache, struct admitted *member)
{
	const struct write *write = member->write;
	const struct object *pod = write->object, *holder;

	if (write->verb != ADMIT_CREATE || write->kind != KIND_POD || pod->meta.uid[0] == '\0')
		return 0;
	holder = uid_index_other(&cache->uids, pod);
	for (size_t i = 0; i < group->count && !holder; i++) {
		const struct admitted *earlier = &group->members[i];

		if (earlier->verdict != VERDICT_CHANGES || earlier->write->kind != KIND_POD ||
		    !earlier->result || !uid_is_taken_by(pod, earlier->result))
			continue;
		holder = earlier->result;
		member->relies_on_group = true;
	}
	if (holder)
		return failed_plain(
			member->failure, -EINVAL,
			"metadata.uid: Invalid value: \"%s\": is the uid of pod '%s/%s'",
			pod->meta.uid, holder->meta.name_space, holder->meta.name);
	return check_uid_use(group, member);
}

/* What stands on this node only: the kinds that name places of it. */
static int check_new(const struct group *group, struct admitted *member)
{
	const struct write *write = member->write;
	int r;

	if (!group->news.check || write->verb != ADMIT_CREATE ||
	    (write->kind != KIND_POD && write->kind != KIND_PERSISTENT_VOLUME))
		return 0;
	r = group->news.check(group->news.userdata, write->object, member->failure);
	if (r < 0)
		member->failure->error = r;
	return r;
}

static struct json_bytes version_text(const struct object *object)
{
	return json_text_member(object_metadata_text(object).start, "resourceVersion");
}

/* Two texts that differ in their version alone. */
static bool is_same_text(const struct object *a, const struct object *b)
{
	const struct json_bytes in_a = version_text(a), in_b = version_text(b);
	size_t before = (size_t) (in_a.start - a->json);
	size_t behind = a->json_length - before - in_a.length;

	return before == (size_t) (in_b.start - b->json) &&
	       behind == b->json_length - before - in_b.length &&
	       memcmp(a->json, b->json, before) == 0 &&
	       memcmp(in_a.start + in_a.length, in_b.start + in_b.length, behind) == 0;
}

/* Two texts with the same members in another order have the same bytes. */
static unsigned int sum_bytes(const struct object *object)
{
	char version[24];
	unsigned int sum = 0;

	for (size_t i = 0; i < object->json_length; i++)
		sum += (unsigned char) object->json[i];
	(void) snprintf(version, sizeof(version), "%" PRIu64, object->meta.resource_version);
	for (const char *digit = version; *digit; digit++)
		sum -= (unsigned char) *digit;
	return sum;
}

/* The object as a tree, without its version. NULL: no memory. */
static struct cJSON *versionless(const struct object *object)
{
	struct cJSON *tree = object_tree(object);

	if (!tree)
		return NULL;
	json_remove(json_ensure_object(tree, "metadata"), "resourceVersion");
	return tree;
}

static size_t count_digits(uint64_t number)
{
	size_t count = 1;

	while (number /= 10)
		count++;
	return count;
}

/* Are the two the same but for their version? Members may stand in another order; most changes show
 * in the length already, and nearly all others in the sum of the bytes. */
static bool is_unchanged(const struct object *old, const struct object *result)
{
	cleanup_json struct cJSON *a = NULL, *b = NULL;

	if (old->json_length - count_digits(old->meta.resource_version) !=
		    result->json_length - count_digits(result->meta.resource_version) ||
	    sum_bytes(old) != sum_bytes(result))
		return false;
	if (is_same_text(old, result))
		return true;
	a = versionless(old);
	b = versionless(result);
	return a && b && json_equal(a, b);
}

/* An edit was made out of another version than it meets: it is made again out of this one. */
static int edit_again(struct admitted *member)
{
	struct write *write = member->write;
	const struct object *object;
	int r;

	if (!write->edit || !member->old ||
	    write->expected_version == member->old->meta.resource_version)
		return 0;
	r = write->edit(write->userdata, member->old, &object, member->failure);
	if (r < 0) {
		member->failure->error = r;
		return r;
	}
	(void) object_unref(write->object);
	write->object = object;
	write->expected_version = member->old->meta.resource_version;
	return 0;
}

/* A server's object replaces whatever is there, finalizers or not; only its version is the store's.
 */
static int judge_mirror(const struct group *group, struct cache *cache, struct admitted *member,
			bool is_taken)
{
	const struct write *write = member->write;
	int r = 0;

	if (is_taken)
		r = refused(member, -EINVAL, "is stored in a form that this podvol cannot read");
	else if (write->verb == ADMIT_DELETE && !member->old)
		r = refused(member, -ENOENT, "does not exist");
	else if (write->verb == ADMIT_DELETE && write->uid &&
		 strcmp(write->uid, member->old->meta.uid) != 0)
		r = refused(member, -ESTALE, "was replaced: its uid differs");
	if (r == 0 && !member->old)
		r = check_new(group, member);
	if (r < 0 || write->verb == ADMIT_DELETE)
		return r;
	if (cache_reserve(cache, write->kind, STORE_GROUP_MAX) < 0)
		return failed(member->failure, -ENOMEM, "cannot store '%s'", write->name);
	r = object_with_version(write->object, member->resource_version, &member->result,
				member->failure);
	if (r < 0)
		member->failure->error = r;
	return r;
}

/* What was there is there afterwards, too. */
static int judge_touch(struct admitted *member)
{
	int r = check_presence(member, false);

	if (r == 0)
		member->result = object_ref(member->old);
	return r;
}

static int judge(const struct group *group, struct cache *cache, struct admitted *member,
		 bool is_taken, uint64_t now_usec)
{
	const struct write *write = member->write;
	struct admission admission = { .verb = write->verb,
				       .old = member->old,
				       .proposed = write->object,
				       .resource_version = member->resource_version,
				       .now_usec = now_usec,
				       .ends_move = write->ends_move };
	int r;

	if (write->mirrors)
		return judge_mirror(group, cache, member, is_taken);
	if (write->touches)
		return judge_touch(member);
	r = check_presence(member, is_taken);
	if (r == 0)
		r = check_uid(group, cache, member);
	if (r == 0)
		r = check_new(group, member);
	if (r < 0)
		return r;
	/* After the commit there is no way back, so the memory is taken before. */
	if (cache_reserve(cache, write->kind, STORE_GROUP_MAX) < 0)
		return failed(member->failure, -ENOMEM, "cannot store '%s'", write->name);
	if (write->verb == ADMIT_UPDATE && write->kind == KIND_PERSISTENT_VOLUME_CLAIM)
		admission.storage_class =
			cache_get(cache, KIND_STORAGE_CLASS, "", member->old->claim->storage_class);
	r = object_admit(&admission, &member->result, member->failure);
	if (r < 0) {
		member->failure->error = r;
		return r;
	}
	return 0;
}

static size_t bytes_of(const struct object *object)
{
	return object ? object->json_length : 0;
}

/* Also what a trial would do; only a change is counted. */
static int check_quota(const struct group *group, const struct cache *cache,
		       struct admitted *member)
{
	const struct write *write = member->write;
	enum store_place place = store_place(write->kind);
	size_t old = bytes_of(member->old), result = bytes_of(member->result);
	size_t most = group->quota.bytes[place];
	size_t present = (size_t) ((ssize_t) cache->bytes[place] + group->growth[place]);

	if (most == 0 || result <= old)
		return 0;
	if (present + (result - old) <= (write->verb == ADMIT_CREATE ? most : most + most / 4))
		return 0;
	return failed_plain(member->failure, -EDQUOT,
			    "exceeded quota: all objects %s would have more than %zu bytes, the "
			    "limit of %s: delete some, or raise it",
			    place == STORE_IN_MEMORY ? "in memory (events, leases)" : "on disk",
			    most, group->quota.names[place]);
}

static struct database_write row_of(const struct admitted *member)
{
	return (struct database_write){
		.kind = kind_row(member->write->kind)->name,
		.name_space = member->write->name_space,
		.name = member->write->name,
		.object = member->result,
	};
}

static void add_row(struct group *group, const struct admitted *member)
{
	const struct write *write = member->write;
	enum kind_durability durability = kind_row(write->kind)->durability;

	if (write->touches || group->unstored_kinds & 1U << write->kind)
		durability = KIND_VOLATILE;
	if (durability != KIND_SYNCED)
		group->has_unsynced = true;
	if (durability == KIND_SYNCED)
		group->rows[group->row_count++] = row_of(member);
	else if (durability == KIND_UNSYNCED)
		group->unsynced_rows[group->unsynced_count++] = row_of(member);
}

static void add_change(struct group *group, const struct admitted *member)
{
	group->resource_version = member->resource_version;
	group->hashes[hash_word(group, member->hash)] |= UINT64_C(1) << member->hash % 64;
	group->growth[store_place(member->write->kind)] +=
		(ssize_t) bytes_of(member->result) - (ssize_t) bytes_of(member->old);
	add_row(group, member);
}

void group_add(struct group *group, struct cache *cache, struct write *write, bool is_taken,
	       uint64_t now_usec)
{
	struct admitted *member = &group->members[group->count];
	int r;

	assert(group->count < STORE_GROUP_MAX);
	*member = (struct admitted){
		.write = write,
		.hash = group_hash(write->kind, write->name_space, write->name),
		.resource_version = group->resource_version + 1,
		.failure = &group->failures[group->count],
	};
	find_old(group, cache, member);
	if (write->dry_run)
		member->resource_version = member->old ? member->old->meta.resource_version : 0;
	if (write->follows && group->ended_refused)
		r = refused(member, -ESTALE, "skipped: an earlier write of the group failed");
	else
		r = edit_again(member);
	if (r < 0 || judge(group, cache, member, is_taken, now_usec) < 0)
		member->verdict = VERDICT_REFUSED;
	else if (!write->touches && member->old && member->result &&
		 is_unchanged(member->old, member->result))
		member->verdict = VERDICT_UNCHANGED;
	else if (check_quota(group, cache, member) < 0)
		member->verdict = VERDICT_REFUSED;
	else if (write->dry_run)
		member->verdict = VERDICT_DRY_RUN;
	else
		add_change(group, member);
	group->ended_refused = member->verdict == VERDICT_REFUSED;
	group->count++;
}

void group_fail(struct group *group, const struct failure *failure)
{
	assert(failure->error < 0);
	for (size_t i = 0; i < group->count; i++) {
		struct admitted *member = &group->members[i];

		if (member->unbound)
			object_restore_new(member->result, TAKE_PTR(member->unbound));
		if (!member->relies_on_group &&
		    (member->verdict != VERDICT_CHANGES || member->write->touches))
			continue;
		member->verdict = VERDICT_REFUSED;
		*member->failure = *failure;
		group->ended_refused |= i + 1 == group->count;
	}
}

void group_end(struct group *group)
{
	for (size_t i = 0; i < group->count; i++) {
		struct admitted *member = &group->members[i];

		free(member->unbound);
		member->old = object_unref(member->old);
		member->result = object_unref(member->result);
		member->write = write_free(member->write);
		if (member->verdict == VERDICT_REFUSED)
			*member->failure = (struct failure){ 0 };
	}
	group->count = 0;
}
