/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volume_match - which volume fits a claim; see volume_match.h
 */
#include "controller/binding/volume_match.h"

#include "base/array.h"
#include "base/cleanup.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is asked of a volume, in this order: who fails late comes near. */
enum question {
	QUESTION_FREE,
	QUESTION_DELETION,
	QUESTION_CLASS,
	QUESTION_VOLUME_MODE,
	QUESTION_ACCESS_MODES,
	QUESTION_ATTRIBUTES_CLASS,
	QUESTION_SELECTOR,
	QUESTION_SIZE,
	QUESTION_NODE,
	QUESTION_COUNT
};

static const char *const misfits[QUESTION_COUNT] = {
	[QUESTION_FREE] = "it is not available",
	[QUESTION_DELETION] = "it is being deleted",
	[QUESTION_CLASS] = "storageClassName does not match",
	[QUESTION_VOLUME_MODE] = "incompatible volumeMode",
	[QUESTION_ACCESS_MODES] = "incompatible accessMode",
	[QUESTION_ATTRIBUTES_CLASS] = "volumeAttributesClassName does not match",
	[QUESTION_SELECTOR] = "the selector does not match its labels",
	[QUESTION_SIZE] = "requested PV is too small",
	[QUESTION_NODE] = "its node affinity does not match this node",
};

/* ---- one volume ---- */

bool volume_mode_matches(const struct persistent_volume_claim *claim,
			 const struct persistent_volume *volume)
{
	/* Unset is Filesystem. */
	return (claim->mode == VOLUME_MODE_BLOCK) == (volume->mode == VOLUME_MODE_BLOCK);
}

bool volume_is_free(const struct persistent_volume *volume)
{
	return !volume->has_claim_ref &&
	       (volume->phase == VOLUME_AVAILABLE || volume->phase == VOLUME_PENDING ||
		volume->phase == VOLUME_PHASE_UNSET);
}

static bool passes(enum question question, const struct persistent_volume_claim *claim,
		   const struct persistent_volume *volume, const struct labels *node)
{
	switch (question) {
	case QUESTION_FREE:
		return volume_is_free(volume);
	case QUESTION_DELETION:
		return !volume->object->meta.deletes;
	case QUESTION_CLASS:
		return strcmp(volume->storage_class, claim->storage_class) == 0;
	case QUESTION_VOLUME_MODE:
		return volume_mode_matches(claim, volume);
	case QUESTION_ACCESS_MODES:
		return !(claim->access_modes & ~volume->access_modes);
	case QUESTION_ATTRIBUTES_CLASS:
		return strcmp(volume->attributes_class, claim->attributes_class) == 0;
	case QUESTION_SELECTOR:
		return !claim->selector ||
		       label_selector_matches(claim->selector, &volume->object->meta.labels);
	case QUESTION_SIZE:
		return quantity_compare(&volume->capacity, &claim->request) >= 0;
	case QUESTION_NODE:
		return !node || !volume->node_affinity ||
		       node_selector_matches(volume->node_affinity, node);
	case QUESTION_COUNT:
		break;
	}
	assert(false);
	return false;
}

/* The first question that the volume fails; QUESTION_COUNT: none. */
static enum question first_failed(const struct persistent_volume_claim *claim,
				  const struct persistent_volume *volume,
				  enum volume_relation relation, const struct labels *node)
{
	static const unsigned int not_asked[RELATION_COUNT] = {
		[RELATION_MADE] = 1 << QUESTION_FREE | 1 << QUESTION_CLASS | 1 << QUESTION_SELECTOR,
		[RELATION_NAMED] = 1 << QUESTION_FREE | 1 << QUESTION_SELECTOR,
	};
	enum question question = 0;

	while (question < QUESTION_COUNT &&
	       (not_asked[relation] & 1U << question || passes(question, claim, volume, node)))
		question++;
	return question;
}

const char *volume_misfit(const struct persistent_volume_claim *claim,
			  const struct persistent_volume *volume, enum volume_relation relation)
{
	enum question failed = first_failed(claim, volume, relation, NULL);

	return failed == QUESTION_COUNT ? NULL : misfits[failed];
}

/* ---- what the nearest one lacks ---- */

/* "10Gi", "1G": in the largest unit that loses nothing. */
static void print_size(const struct quantity *quantity, char text[QUANTITY_TEXT_BYTES])
{
	static const char *const binary[] = { "", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei" };
	static const char *const decimal[] = { "", "k", "M", "G", "T", "P", "E" };
	int64_t value = quantity_value(quantity);
	bool is_binary = value % 1024 == 0;
	int64_t base = is_binary ? 1024 : 1000;
	size_t unit = 0;

	while (value != 0 && value % base == 0 && unit + 1 < ARRAY_SIZE(binary)) {
		value /= base;
		unit++;
	}
	(void) snprintf(text, QUANTITY_TEXT_BYTES, "%lld%s", (long long) value,
			is_binary ? binary[unit] : decimal[unit]);
}

enum { MODES_TEXT_BYTES = 24 };

static void print_modes(unsigned int set, char text[MODES_TEXT_BYTES])
{
	(void) snprintf(text, MODES_TEXT_BYTES, "%s%s%s%s",
			set & ACCESS_READ_WRITE_ONCE ? " RWO" : "",
			set & ACCESS_READ_ONLY_MANY ? " ROX" : "",
			set & ACCESS_READ_WRITE_MANY ? " RWX" : "",
			set & ACCESS_READ_WRITE_ONCE_POD ? " RWOP" : "");
}

static void print_lack(const struct persistent_volume_claim *claim,
		       const struct persistent_volume *volume, enum question lacks,
		       char ret[VOLUME_WHY_BYTES])
{
	char has[QUANTITY_TEXT_BYTES] = "", wants[QUANTITY_TEXT_BYTES] = "";
	int length =
		snprintf(ret, VOLUME_WHY_BYTES, "nearest is \"%s\": ", volume->object->meta.name);
	char *text = ret + length;
	size_t room = VOLUME_WHY_BYTES - (size_t) length;

	switch (lacks) {
	case QUESTION_SIZE:
		print_size(&volume->capacity, has);
		print_size(&claim->request, wants);
		(void) snprintf(text, room, "requested PV is too small, %s of %s", has, wants);
		break;
	case QUESTION_ACCESS_MODES:
		print_modes(volume->access_modes, has);
		print_modes(claim->access_modes, wants);
		(void) snprintf(text, room,
				"incompatible accessMode, it has%s, the claim asks for%s", has,
				wants);
		break;
	case QUESTION_VOLUME_MODE:
		(void) snprintf(text, room, "incompatible volumeMode, it is %s",
				volume->mode == VOLUME_MODE_BLOCK ? "Block" : "Filesystem");
		break;
	case QUESTION_CLASS: /* then it is not near, whatever else it has */
		(void) snprintf(ret, VOLUME_WHY_BYTES, "no free volume has storageClassName \"%s\"",
				claim->storage_class);
		break;
	default:
		(void) snprintf(text, room, "%s", misfits[lacks]);
		break;
	}
}

/* ---- many ---- */

/* Among those that lack the same the largest, which lacks least where it lacks size. */
static bool is_nearer(const struct persistent_volume *volume, enum question lacks,
		      const struct persistent_volume *than, enum question than_lacks)
{
	if (!than || lacks != than_lacks)
		return !than || lacks > than_lacks;
	return quantity_compare(&volume->capacity, &than->capacity) > 0;
}

const struct persistent_volume *volume_match_on_node(const struct persistent_volume_claim *claim,
						     const struct persistent_volume *const *free,
						     size_t count, const struct labels *node,
						     char ret_why[VOLUME_WHY_BYTES])
{
	const struct persistent_volume *nearest = NULL;
	enum question nearest_lacks = QUESTION_FREE;

	for (size_t i = 0; i < count; i++) {
		enum question lacks = first_failed(claim, free[i], RELATION_FREE, node);

		if (lacks == QUESTION_COUNT)
			return free[i];
		if (is_nearer(free[i], lacks, nearest, nearest_lacks)) {
			nearest = free[i];
			nearest_lacks = lacks;
		}
	}
	if (ret_why && nearest)
		print_lack(claim, nearest, nearest_lacks, ret_why);
	else if (ret_why)
		(void) snprintf(ret_why, VOLUME_WHY_BYTES, "none is free");
	return NULL;
}

const struct persistent_volume *volume_match(const struct persistent_volume_claim *claim,
					     const struct persistent_volume *const *free,
					     size_t count, char ret_why[VOLUME_WHY_BYTES])
{
	return volume_match_on_node(claim, free, count, NULL, ret_why);
}

static int compare(const struct persistent_volume *a, const struct persistent_volume *b)
{
	int modes = __builtin_popcount(a->access_modes) - __builtin_popcount(b->access_modes);
	int size = modes ? 0 : quantity_compare(&a->capacity, &b->capacity);

	if (modes || size)
		return modes ? modes : size;
	return strcmp(a->object->meta.name, b->object->meta.name);
}

/* Where the volume is, or belongs. */
static size_t find(const struct free_volumes *free_volumes, const struct persistent_volume *volume)
{
	size_t low = 0, high = free_volumes->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare(free_volumes->volumes[middle], volume) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_at(const struct free_volumes *free_volumes, size_t place,
		  const struct persistent_volume *volume)
{
	return place < free_volumes->count && compare(free_volumes->volumes[place], volume) == 0;
}

int free_volumes_put(struct free_volumes *free_volumes, const struct persistent_volume *volume)
{
	size_t place = find(free_volumes, volume);
	const struct persistent_volume **at;

	assert(volume_is_free(volume));
	if (is_at(free_volumes, place, volume)) {
		(void) object_ref(volume->object);
		(void) object_unref(free_volumes->volumes[place]->object);
		free_volumes->volumes[place] = volume;
		return 0;
	}
	if (ARRAY_ROOM(free_volumes->volumes, free_volumes->count, free_volumes->room, 16) < 0)
		return -ENOMEM;
	at = &free_volumes->volumes[place];
	memmove(at + 1, at, (free_volumes->count - place) * sizeof(*at));
	*at = volume;
	(void) object_ref(volume->object);
	free_volumes->count++;
	return 0;
}

void free_volumes_remove(struct free_volumes *free_volumes, const struct persistent_volume *volume)
{
	size_t place = find(free_volumes, volume);
	const struct persistent_volume **at;

	if (!is_at(free_volumes, place, volume))
		return;
	at = &free_volumes->volumes[place];
	/* The caller's may be the same one: it is not touched after this. */
	(void) object_unref((*at)->object);
	free_volumes->count--;
	memmove(at, at + 1, (free_volumes->count - place) * sizeof(*at));
}

void free_volumes_done(struct free_volumes *free_volumes)
{
	for (size_t i = 0; i < free_volumes->count; i++)
		(void) object_unref(free_volumes->volumes[i]->object);
	free((void *) free_volumes->volumes);
	*free_volumes = (struct free_volumes){ .volumes = NULL };
}
