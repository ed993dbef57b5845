/* SPDX-License-Identifier: Apache-2.0 */
/*
 * payload_cache - files that many pods show are made once; see payload_cache.h
 *
 * Entries are compared by the words of the volume's source and by the very objects, to which they
 * hold references: an object never changes, so the same pointers mean the same files.
 */
#include "plugins/payload_cache.h"

#include "base/cleanup.h"
#include "object/json/json.h"

#include <assert.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

struct shared_payload {
	atomic_uint references;
	struct payload payload;
};

struct entry {
	char *words;
	const struct object **objects; /* references */
	size_t object_count;
	struct shared_payload *shared; /* a reference; NULL: it is being built */
	uint64_t used;                 /* when, as a number that grows */
};

struct payload_counts {
	uint64_t made, shared;
};

struct payload_cache {
	pthread_mutex_t mutex;
	pthread_cond_t built; /* some entry is no longer being built */
	struct entry entries[PAYLOADS_KEPT_MAX];
	uint64_t uses;
	struct payload_counts counts;
};

/* ---- payloads ---- */

const struct payload *shared_payload_files(const struct shared_payload *shared)
{
	return &shared->payload;
}

struct shared_payload *shared_payload_unref(struct shared_payload *shared)
{
	if (shared && atomic_fetch_sub(&shared->references, 1) == 1) {
		payload_done(&shared->payload);
		free(shared);
	}
	return NULL;
}

static struct shared_payload *take(struct shared_payload *shared)
{
	atomic_fetch_add(&shared->references, 1);
	return shared;
}

static int build(const struct file_inputs *inputs, struct shared_payload **ret,
		 struct failure *reterr)
{
	struct shared_payload *shared = calloc(1, sizeof(*shared));
	int r;

	if (!shared)
		return failed(reterr, -ENOMEM, "cannot create the volume's files");
	atomic_init(&shared->references, 1);
	r = file_payload_build(inputs, &shared->payload, reterr);
	if (r < 0)
		free(shared);
	else
		*ret = shared;
	return r;
}

/* ---- entries, under the mutex ---- */

static void entry_done(struct entry *entry)
{
	for (size_t i = 0; i < entry->object_count; i++)
		object_unref(entry->objects[i]);
	free(entry->objects);
	free(entry->words);
	shared_payload_unref(entry->shared);
	*entry = (struct entry){ .words = NULL };
}

static bool is_for(const struct entry *entry, const struct file_inputs *inputs, const char *words)
{
	size_t count = inputs->source->object_count;

	return entry->words && entry->object_count == count && strcmp(entry->words, words) == 0 &&
	       (count == 0 ||
		memcmp(entry->objects, inputs->objects, count * sizeof(*entry->objects)) == 0);
}

static struct entry *find(struct payload_cache *cache, const struct file_inputs *inputs,
			  const char *words)
{
	for (size_t i = 0; i < ARRAY_SIZE(cache->entries); i++)
		if (is_for(&cache->entries[i], inputs, words))
			return &cache->entries[i];
	return NULL;
}

/* The one that was used longest ago; NULL: all are being built. */
static struct entry *make_room(struct payload_cache *cache)
{
	struct entry *oldest = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(cache->entries); i++) {
		struct entry *entry = &cache->entries[i];

		if (entry->words && !entry->shared)
			continue;
		if (!oldest || entry->used < oldest->used)
			oldest = entry;
	}
	if (oldest)
		entry_done(oldest);
	return oldest;
}

/* NULL: no room, or no memory. */
static struct entry *begin(struct payload_cache *cache, const struct file_inputs *inputs,
			   const char *words)
{
	size_t count = inputs->source->object_count;
	struct entry *entry = make_room(cache);
	struct entry made = { .used = ++cache->uses };

	if (!entry)
		return NULL;
	made.words = strdup(words);
	made.objects = calloc(count + 1, sizeof(*made.objects));
	if (!made.words || !made.objects) {
		entry_done(&made);
		return NULL;
	}
	for (size_t i = 0; i < count; i++)
		made.objects[i] = object_ref(inputs->objects[i]);
	made.object_count = count;
	*entry = made;
	return entry;
}

/* ---- getting one ---- */

/* What is built for one pod is there for those who wait for it, unless it failed. */
static int build_for_all(struct payload_cache *cache, struct entry *entry,
			 const struct file_inputs *inputs, struct shared_payload **ret,
			 struct failure *reterr)
{
	int r = build(inputs, ret, reterr);

	(void) pthread_mutex_lock(&cache->mutex);
	if (r == 0 && (*ret)->payload.bytes <= PAYLOADS_KEPT_BYTES_MAX)
		entry->shared = take(*ret);
	else
		entry_done(entry);
	(void) pthread_cond_broadcast(&cache->built);
	(void) pthread_mutex_unlock(&cache->mutex);
	return r;
}

/* Return: 1 with a payload; 0 with an entry to be built, or none when there is no room. */
static int find_or_begin(struct payload_cache *cache, const struct file_inputs *inputs,
			 const char *words, struct shared_payload **ret, struct entry **ret_entry)
{
	struct entry *entry;

	(void) pthread_mutex_lock(&cache->mutex);
	while ((entry = find(cache, inputs, words)) && !entry->shared)
		(void) pthread_cond_wait(&cache->built, &cache->mutex);
	if (entry) {
		entry->used = ++cache->uses;
		cache->counts.shared++;
		*ret = take(entry->shared);
	} else {
		cache->counts.made++;
		*ret_entry = begin(cache, inputs, words);
	}
	(void) pthread_mutex_unlock(&cache->mutex);
	return entry != NULL;
}

/* The source as the pod has it, without the volume's name. NULL: no memory. */
static char *words_of(const struct file_inputs *inputs)
{
	cleanup_json struct cJSON *pod = object_tree(inputs->pod);
	const struct cJSON *item =
		json_find(json_get_path(pod, "spec.volumes"), "name", inputs->source->name);

	return item ? json_print(json_get(item, inputs->source->source_key)) : NULL;
}

int payload_cache_get(struct payload_cache *cache, const struct file_inputs *inputs,
		      struct shared_payload **ret, struct failure *reterr)
{
	const struct pod_volume *source = inputs->source;
	cleanup_free char *words = NULL;
	struct entry *entry = NULL;

	assert(source && ret);
	if (!cache || source->shows_pod || source->has_tokens || source->trust_bundle_count > 0)
		return build(inputs, ret, reterr);
	words = words_of(inputs);
	if (!words)
		return failed(reterr, -ENOMEM, "cannot read the volume's source");
	if (find_or_begin(cache, inputs, words, ret, &entry) > 0)
		return 0;
	if (!entry)
		return build(inputs, ret, reterr);
	return build_for_all(cache, entry, inputs, ret, reterr);
}

void payload_cache_print_metrics(struct payload_cache *cache, FILE *file)
{
	struct payload_counts counts = { 0 };

	if (cache) {
		(void) pthread_mutex_lock(&cache->mutex);
		counts = cache->counts;
		(void) pthread_mutex_unlock(&cache->mutex);
	}
	(void) fprintf(
		file,
		"# HELP podvol_payloads_total Contents of volumes of files that do not depend on "
		"their pod: made, or shared with another volume.\n"
		"# TYPE podvol_payloads_total counter\n"
		"podvol_payloads_total{how=\"made\"} %" PRIu64 "\n"
		"podvol_payloads_total{how=\"shared\"} %" PRIu64 "\n",
		counts.made, counts.shared);
}

/* ---- birth and death ---- */

int payload_cache_new(struct payload_cache **ret)
{
	struct payload_cache *cache = calloc(1, sizeof(*cache));

	if (!cache)
		return -ENOMEM;
	(void) pthread_mutex_init(&cache->mutex, NULL);
	(void) pthread_cond_init(&cache->built, NULL);
	*ret = cache;
	return 0;
}

struct payload_cache *payload_cache_free(struct payload_cache *cache)
{
	if (!cache)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(cache->entries); i++)
		entry_done(&cache->entries[i]);
	(void) pthread_cond_destroy(&cache->built);
	(void) pthread_mutex_destroy(&cache->mutex);
	free(cache);
	return NULL;
}
