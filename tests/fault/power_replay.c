/* SPDX-License-Identifier: Apache-2.0 */
/*
 * power_replay - the disks that a power loss may leave; see power_replay.h
 */
#include "power_replay.h"

#include "base/cleanup.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* xorshift: the same numbers on every machine. */
static uint64_t next_number(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static bool is_of_names(const struct disk_change *change)
{
	return change->kind == DISK_MAKE || change->kind == DISK_REMOVE;
}

static void apply_to_content(struct disk_content *content, const struct disk_change *change)
{
	if (change->kind == DISK_WRITE)
		disk_content_write(content, change->offset, change->bytes, change->length);
	else
		disk_content_truncate(content, change->length);
}

static void apply_to_names(int names[DISK_NAMES], const struct disk_change *change)
{
	if (change->kind == DISK_MAKE)
		names[change->name] = change->content;
	else if (names[change->name] == change->content)
		names[change->name] = -1;
}

/* ---- the way through time ---- */

void power_replay_init(struct power_replay *replay, const struct power_disk *disk,
		       const struct power_disk *before)
{
	*replay = (struct power_replay){ .disk = disk };
	for (int i = 0; i < DISK_NAMES; i++)
		replay->names[i] = before ? before->names[i] : -1;
	for (int i = 0; before && i < before->content_count; i++)
		if (before->contents[i].size > 0)
			disk_content_write(&replay->synced[i], 0, before->contents[i].bytes,
					   before->contents[i].size);
}

void power_replay_done(struct power_replay *replay)
{
	for (size_t i = 0; i < DISK_CONTENTS_MAX; i++)
		free(replay->synced[i].bytes);
	free(replay->pending);
}

static void add_pending(struct power_replay *replay, size_t change)
{
	if (replay->pending_count == replay->pending_room) {
		replay->pending_room = replay->pending_room ? 2 * replay->pending_room : 64;
		replay->pending = reallocarray(replay->pending, replay->pending_room,
					       sizeof(*replay->pending));
		assert(replay->pending);
	}
	replay->pending[replay->pending_count++] = change;
}

/* What a sync is about is pending no more: it has landed, or it never will. */
static void settle(struct power_replay *replay, const struct disk_change *sync)
{
	size_t left = 0;

	for (size_t i = 0; i < replay->pending_count; i++) {
		const struct disk_change *change = &replay->disk->changes[replay->pending[i]];
		bool concerns = sync->kind == DISK_SYNC_NAMES
					? is_of_names(change)
					: !is_of_names(change) && change->content == sync->content;

		if (!concerns)
			replay->pending[left++] = replay->pending[i];
		else if (sync->kind == DISK_SYNC_NAMES)
			apply_to_names(replay->names, change);
		else if (sync->kind == DISK_SYNC)
			apply_to_content(&replay->synced[change->content], change);
	}
	replay->pending_count = left;
}

bool power_replay_next(struct power_replay *replay)
{
	const struct disk_change *change = &replay->disk->changes[replay->at];

	if (replay->at == replay->disk->change_count)
		return false;
	if (change->kind == DISK_SYNC || change->kind == DISK_SYNC_FAILED ||
	    change->kind == DISK_SYNC_NAMES)
		settle(replay, change);
	else
		add_pending(replay, replay->at);
	replay->at++;
	return true;
}

/* ---- one moment ---- */

/* Sectors that did not land hold what they held, or anything where there was nothing yet. */
static void apply_torn(struct disk_content *content, const struct disk_change *change,
		       const struct power_cut *cut, uint64_t *random)
{
	size_t at = change->offset, end = change->offset + change->length;
	size_t size_before = content->size;

	if (change->kind == DISK_TRUNCATE) {
		if (next_number(random) & 1)
			disk_content_truncate(content, change->length);
		return;
	}
	while (at < end) {
		size_t next = (at / cut->sector_size + 1) * cut->sector_size;
		size_t length = (next < end ? next : end) - at;
		uint64_t chance = next_number(random) >> 32;

		if (chance & 1) {
			disk_content_write(content, at, change->bytes + (at - change->offset),
					   length);
		} else if ((chance & 6) == 6 && at >= size_before) {
			disk_content_truncate(content, at + length);
			for (size_t i = at; i < at + length; i++)
				content->bytes[i] = (uint8_t) (next_number(random) >> 24);
		}
		at += length;
	}
}

static void apply(struct power_disk *disk, const struct disk_change *change)
{
	if (is_of_names(change))
		apply_to_names(disk->names, change);
	else
		apply_to_content(&disk->contents[change->content], change);
}

static void apply_pending(struct power_disk *disk, const struct power_replay *replay,
			  const struct power_cut *cut)
{
	uint64_t random = cut->seed * 2654435761U + 88172645463325252U;

	for (size_t i = 0; i < replay->pending_count; i++) {
		const struct disk_change *change = &replay->disk->changes[replay->pending[i]];

		if (cut->fate == FATE_ALL_LANDED ||
		    (cut->fate == FATE_ONE_MISSING && i != cut->which) ||
		    (cut->fate == FATE_ONE_LANDED && i == cut->which))
			apply(disk, change);
		else if (cut->fate == FATE_TORN && is_of_names(change) && next_number(&random) & 1)
			apply_to_names(disk->names, change);
		else if (cut->fate == FATE_TORN && !is_of_names(change))
			apply_torn(&disk->contents[change->content], change, cut, &random);
	}
}

/* What can be reached by no name is nothing. */
static void forget_nameless(struct power_disk *disk)
{
	struct disk_content named[DISK_NAMES] = { 0 };

	for (int i = 0; i < DISK_NAMES; i++)
		if (disk->names[i] >= 0) {
			named[i] = disk->contents[disk->names[i]];
			disk->contents[disk->names[i]] = (struct disk_content){ 0 };
		}
	for (int i = 0; i < disk->content_count; i++)
		free(disk->contents[i].bytes);
	memset(disk->contents, 0, sizeof(disk->contents));
	disk->content_count = DISK_NAMES;
	for (int i = 0; i < DISK_NAMES; i++) {
		disk->contents[i] = named[i];
		disk->names[i] = disk->names[i] >= 0 ? i : -1;
	}
	/* Opening the store creates it. */
	disk->names[0] = 0;
}

struct power_disk *power_replay_cut(const struct power_replay *replay, const struct power_cut *cut)
{
	struct power_disk *disk = calloc(1, sizeof(*disk));

	assert(disk);
	disk->content_count = DISK_CONTENTS_MAX;
	memcpy(disk->names, replay->names, sizeof(disk->names));
	for (int i = 0; i < DISK_CONTENTS_MAX; i++)
		if (replay->synced[i].size > 0)
			disk_content_write(&disk->contents[i], 0, replay->synced[i].bytes,
					   replay->synced[i].size);
	apply_pending(disk, replay, cut);
	forget_nameless(disk);
	return disk;
}

uint64_t power_disk_checksum(const struct power_disk *disk)
{
	uint64_t sum = 14695981039346656037U;

	for (int i = 0; i < DISK_NAMES; i++) {
		const struct disk_content *content;

		sum = (sum ^ (uint64_t) (disk->names[i] >= 0)) * 1099511628211U;
		if (disk->names[i] < 0)
			continue;
		content = &disk->contents[disk->names[i]];
		sum = (sum ^ content->size) * 1099511628211U;
		for (size_t at = 0; at + 8 <= content->size; at += 8) {
			uint64_t word;

			memcpy(&word, content->bytes + at, sizeof(word));
			sum = (sum ^ word) * 1099511628211U;
			sum ^= sum >> 29;
		}
		for (size_t at = content->size & ~7UL; at < content->size; at++)
			sum = (sum ^ content->bytes[at]) * 1099511628211U;
	}
	return sum;
}
