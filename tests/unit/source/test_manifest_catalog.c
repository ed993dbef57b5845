/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_manifest_catalog - which file has which object, what broken files keep, what vanished
 * together
 *
 * Files are put as text; the order of events is the test's, no directory is involved.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "manifest_world.h"

#include "base/cleanup.h"
#include "source/manifest_deletion_batch.h"
#include "source/manifest_part.h"

#include <stdio.h>
#include <string.h>

static struct manifest_file *parse(const char *name, const char *text)
{
	struct manifest_file *file = calloc(1, sizeof(*file) + strlen(name) + 1);

	assert_non_null(file);
	memcpy(file->name, name, strlen(name));
	file->is_present = true;
	if (documents_parse(text, strlen(text), &file->documents, &file->failure) == 0) {
		file->sources = calloc(file->documents.count + 1, sizeof(file->sources[0]));
		assert_non_null(file->sources);
	}
	return file;
}

static struct manifest_entry *put(struct manifest_catalog *catalog, const char *name,
				  const char *text)
{
	struct manifest_file *file = parse(name, text);
	struct manifest_entry *entry = NULL;

	assert_int_equal(manifest_catalog_put(catalog, file, 42, &entry), 0);
	(void) manifest_file_free(file);
	return entry;
}

static struct manifest_key *key_of(const struct manifest_catalog *catalog, const char *pod)
{
	char text[160];

	(void) snprintf(text, sizeof(text),
			"{'apiVersion':'v1','kind':'Pod','metadata':{'name':'%s','namespace':"
			"'default'},'spec':{'containers':[{'name':'c','image':'i'}]}}",
			pod);
	cleanup_object const struct object *object = object_of(text);

	return manifest_catalog_key(catalog, object);
}

/* "a.yaml" has it, or "" none. */
static void assert_owner(const struct manifest_catalog *catalog, const char *pod, const char *file)
{
	const struct manifest_key *key = key_of(catalog, pod);

	assert_string_equal(key && key->definitions ? key->definitions->entry->name : "", file);
}

static size_t take_all_affected(struct manifest_catalog *catalog)
{
	size_t count = 0;

	while (manifest_catalog_take_affected(catalog))
		count++;
	return count;
}

static void first_file_by_name_has_it(void **state)
{
	struct manifest_catalog catalog = { 0 };

	(void) put(&catalog, "m.yaml", POD("a", "/m"));
	(void) put(&catalog, "z.yaml", POD("a", "/z"));
	assert_owner(&catalog, "a", "m.yaml");
	(void) put(&catalog, "b.yaml", POD("a", "/b"));
	assert_owner(&catalog, "a", "b.yaml");
	manifest_catalog_remove(&catalog, manifest_catalog_entry(&catalog, "b.yaml"));
	assert_owner(&catalog, "a", "m.yaml");
	manifest_catalog_remove(&catalog, manifest_catalog_entry(&catalog, "m.yaml"));
	assert_owner(&catalog, "a", "z.yaml");
	manifest_catalog_done(&catalog);
}

static void one_changed_file_affects_what_it_had_and_has(void **state)
{
	struct manifest_catalog catalog = { 0 };

	(void) put(&catalog, "a.yaml", POD("a", "/a") "---\n" POD("b", "/b"));
	(void) put(&catalog, "c.yaml", POD("c", "/c"));
	assert_int_equal(take_all_affected(&catalog), 3);
	(void) put(&catalog, "a.yaml", POD("b", "/b") "---\n" POD("d", "/d"));
	assert_int_equal(take_all_affected(&catalog), 3);
	assert_owner(&catalog, "a", "");
	assert_false(key_of(&catalog, "a")->lost_file);
	assert_owner(&catalog, "d", "a.yaml");
	manifest_catalog_done(&catalog);
}

static void second_document_of_a_file_is_a_problem(void **state)
{
	struct manifest_catalog catalog = { 0 };
	struct manifest_entry *entry;

	entry = put(&catalog, "a.yaml", POD("a", "/1") "---\n" POD("a", "/2"));
	assert_int_equal(entry->note_count, 1);
	assert_non_null(strstr(entry->notes->text, "defined before in this file"));
	assert_string_equal(entry->notes->name, "a");
	assert_non_null(strstr(key_of(&catalog, "a")->definitions->object->json, "/1"));
	manifest_catalog_done(&catalog);
}

/* Each row is what a file becomes after it had pods a and b, and who has them then. */
static void broken_files_keep_what_they_had(void **state)
{
	static const struct {
		const char *text;
		bool a, b;
	} rows[] = {
		{ "", true, true },
		{ "# only a comment\n", true, true },
		{ "a: [\n", true, true },
		{ POD("a", "/a") "---\na: [\n", true, true },
		{ "kind: 7\n", true, true },
		{ POD("a", "/a"), true, false },
		{ POD("b", "/b"), false, true },
		/* A broken document with a name keeps the object of this name and lets others go.
		 */
		{ "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {volumes: 7}\n", true,
		  false },
		{ "apiVersion: v1\nkind: Pod\nmetadata: {name: b, namespace: default}\n"
		  "spec: {volumes: 7}\n---\n" POD("c", "/c"),
		  false, true },
		/* The same name of another kind or namespace is another object. */
		{ "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: other}\n"
		  "spec: {volumes: 7}\n",
		  false, false },
		{ "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: a}\nspec: 7\n",
		  false, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct manifest_catalog catalog = { 0 };

		(void) put(&catalog, "f.yaml", POD("a", "/a") "---\n" POD("b", "/b"));
		(void) put(&catalog, "f.yaml", rows[i].text);
		if (rows[i].a != (key_of(&catalog, "a")->definitions != NULL) ||
		    rows[i].b != (key_of(&catalog, "b")->definitions != NULL))
			fail_msg("row %zu: %s", i, rows[i].text);
		/* Mended or removed, all is as the file has it. */
		(void) put(&catalog, "f.yaml", POD("b", "/b"));
		assert_owner(&catalog, "a", "");
		assert_owner(&catalog, "b", "f.yaml");
		assert_int_equal(catalog.note_count, 0);
		manifest_catalog_remove(&catalog, manifest_catalog_entry(&catalog, "f.yaml"));
		assert_true(key_of(&catalog, "b")->lost_file);
		assert_int_equal(catalog.pod_entry_count, 0);
		manifest_catalog_done(&catalog);
	}
}

static void unchanged_problem_keeps_its_time(void **state)
{
	struct manifest_catalog catalog = { 0 };
	struct manifest_file *file = parse("a.yaml", "a: [\n");
	struct manifest_entry *entry;

	entry = put(&catalog, "a.yaml", "a: [\n");
	assert_int_equal(entry->notes->since_usec, 42);
	assert_int_equal(manifest_catalog_put(&catalog, file, 99, &entry), 0);
	assert_int_equal(entry->note_count, 1);
	assert_int_equal(entry->notes->since_usec, 42);
	(void) manifest_file_free(file);
	manifest_catalog_done(&catalog);
}

static void keys_are_forgotten_when_nobody_needs_them(void **state)
{
	struct manifest_catalog catalog = { 0 };
	struct manifest_key *key;

	(void) put(&catalog, "a.yaml", POD("a", "/a"));
	manifest_catalog_forget(&catalog, key_of(&catalog, "a"));
	assert_owner(&catalog, "a", "a.yaml");
	manifest_catalog_remove(&catalog, manifest_catalog_entry(&catalog, "a.yaml"));
	key = manifest_catalog_take_affected(&catalog);
	assert_ptr_equal(key, key_of(&catalog, "a"));
	key->is_writing = true;
	manifest_catalog_forget(&catalog, key);
	assert_non_null(key_of(&catalog, "a"));
	key->is_writing = false;
	manifest_catalog_forget(&catalog, key);
	assert_null(key_of(&catalog, "a"));
	manifest_catalog_done(&catalog);
}

/* ---- a file in parts ---- */

/* As manifest_part_send() makes it, of the first @end documents from @first on. */
static struct manifest_entry *put_part(struct manifest_catalog *catalog,
				       const struct manifest_file *file, size_t first, size_t end)
{
	struct manifest_part *part = calloc(1, sizeof(*part) + strlen(file->name) + 1);
	struct manifest_part_document documents[8] = { 0 };
	struct manifest_entry *entry = NULL;

	assert_non_null(part);
	memcpy(part->name, file->name, strlen(file->name));
	part->text = 7;
	part->documents = documents;
	for (size_t i = first; i < end; i++)
		documents[part->count++] = (struct manifest_part_document){
			.object = file->documents.documents[i].object,
			.source = file->sources[i],
			.index = i,
			.line = file->documents.documents[i].line,
		};
	assert_int_equal(manifest_catalog_add_part(catalog, part, 42, &entry), 0);
	free(part);
	return entry;
}

static void a_part_defines_and_the_whole_file_carries_on(void **state)
{
	struct manifest_catalog catalog = { 0 };
	struct manifest_file *file =
		parse("a.yaml", POD("a", "/a") "---\n" POD("b", "/b") "---\n" POD("c", "/c"));
	struct manifest_entry *entry = put_part(&catalog, file, 0, 1), *whole;

	assert_true(entry->is_partial);
	assert_int_equal(entry->text, 7);
	assert_owner(&catalog, "a", "a.yaml");
	assert_owner(&catalog, "c", "");
	assert_ptr_equal(put_part(&catalog, file, 1, 2), entry);
	assert_int_equal(catalog.pod_entry_count, 1);
	assert_int_equal(take_all_affected(&catalog), 2);
	entry->definitions->is_unread = true; /* b is stored by now */
	assert_int_equal(manifest_catalog_put(&catalog, file, 99, &whole), 0);
	assert_ptr_equal(whole, entry);
	assert_false(entry->is_partial);
	assert_int_equal(entry->pod_count, 3);
	assert_int_equal(catalog.pod_entry_count, 1);
	assert_true(entry->definitions->next_in_entry->is_unread);
	assert_int_equal(entry->definitions->since_usec, 42);
	assert_int_equal(take_all_affected(&catalog), 1); /* c alone is news */
	(void) manifest_file_free(file);
	manifest_catalog_done(&catalog);
}

/* The first of two counts, be the second in a later part or behind all parts. */
static void twice_in_parts_is_once(void **state)
{
	struct manifest_catalog catalog = { 0 };
	struct manifest_file *file =
		parse("a.yaml", POD("a", "/1") "---\n" POD("a", "/2") "---\n" POD("a", "/3"));
	struct manifest_entry *entry;

	(void) put_part(&catalog, file, 0, 1);
	entry = put_part(&catalog, file, 1, 2);
	assert_int_equal(key_of(&catalog, "a")->definitions->index, 0);
	assert_int_equal(manifest_catalog_put(&catalog, file, 99, &entry), 0);
	assert_int_equal(key_of(&catalog, "a")->definitions->index, 0);
	assert_null(key_of(&catalog, "a")->definitions->next_in_key);
	assert_null(entry->definitions->next_in_entry);
	assert_int_equal(entry->note_count, 2);
	(void) manifest_file_free(file);
	manifest_catalog_done(&catalog);
}

/* A file that is being written has nothing to lose but what it had before. */
/* The whole file was not taken for want of memory, and was another one when it was read again. */
static void what_differs_from_its_part_is_not_carried(void **state)
{
	struct manifest_catalog catalog = { 0 };
	struct manifest_file *file = parse("a.yaml", POD("a", "/a") "---\n" POD("b", "/b"));
	struct manifest_file *other = parse("a.yaml", POD("a", "/a") "---\n" POD("b", "/other"));
	struct manifest_entry *entry = put_part(&catalog, file, 0, 2);

	other->sources[1].hash = 8;
	assert_int_equal(take_all_affected(&catalog), 2);
	assert_int_equal(manifest_catalog_put(&catalog, other, 99, &entry), 0);
	assert_ptr_equal(key_of(&catalog, "b")->definitions->object,
			 other->documents.documents[1].object);
	assert_int_equal(take_all_affected(&catalog), 1); /* b alone is news */
	(void) manifest_file_free(file);
	(void) manifest_file_free(other);
	manifest_catalog_done(&catalog);
}

static void parts_make_no_file_half(void **state)
{
	struct manifest_catalog catalog = { 0 };
	struct manifest_file *file = parse("a.yaml", POD("a", "/a") "---\n" POD("b", "/b"));
	struct manifest_entry *entry = put_part(&catalog, file, 0, 1);

	file->is_unclosed = true;
	assert_int_equal(manifest_catalog_put(&catalog, file, 99, &entry), 0);
	assert_int_equal(entry->note_count, 0);
	assert_owner(&catalog, "b", "a.yaml");
	(void) manifest_file_free(file);
	manifest_catalog_done(&catalog);
}

/* The nth allocation fails; 0: none does. */
static unsigned int failing;

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);

void *__wrap_calloc(size_t count, size_t size)
{
	if (failing > 0 && --failing == 0)
		return NULL;
	return __real_calloc(count, size);
}

static void put_without_memory_changes_nothing(void **state)
{
	struct manifest_catalog catalog = { 0 };
	struct manifest_file *file =
		parse("a.yaml", POD("b", "/b") "---\n" POD("b", "/2") "---\n" POD("c", "/c"));
	struct manifest_entry *entry = NULL;
	unsigned int nth = 0;
	int r;

	(void) put(&catalog, "a.yaml", POD("a", "/a"));
	do {
		failing = ++nth;
		r = manifest_catalog_put(&catalog, file, 42, &entry);
		if (failing > 0)
			break;
		assert_int_equal(r, -ENOMEM);
		assert_owner(&catalog, "a", "a.yaml");
		assert_owner(&catalog, "b", "");
		assert_int_equal(catalog.note_count, 0);
	} while (nth < 100);
	failing = 0;
	assert_true(nth > 4);
	assert_int_equal(r, 0);
	assert_owner(&catalog, "a", "");
	assert_owner(&catalog, "b", "a.yaml");
	assert_owner(&catalog, "c", "a.yaml");
	(void) manifest_file_free(file);
	manifest_catalog_done(&catalog);
}

/* ---- strokes ---- */

struct deletion_batch_world {
	struct manifest_catalog catalog;
	struct manifest_deletion_batch deletion_batch;
};

static void add(struct deletion_batch_world *world, const char *name, const char *text)
{
	bool is_new = !manifest_catalog_entry(&world->catalog, name);
	struct manifest_entry *entry = put(&world->catalog, name, text);

	if (is_new)
		manifest_deletion_batch_gain(&world->deletion_batch, entry);
}

static void lose(struct deletion_batch_world *world, const char *name)
{
	struct manifest_entry *entry = manifest_catalog_entry(&world->catalog, name);
	struct manifest_key *key;

	manifest_deletion_batch_touch(&world->deletion_batch, &world->catalog, 1000);
	assert_int_equal(manifest_deletion_batch_lose(&world->deletion_batch, entry), 0);
	manifest_catalog_remove(&world->catalog, entry);
	while ((key = manifest_catalog_take_affected(&world->catalog)))
		if (!key->definitions)
			manifest_deletion_batch_add_orphan(&world->deletion_batch, key);
}

static void assert_deletion_batch(struct deletion_batch_world *world, const char *counts)
{
	struct manifest_deletion_batch_facts facts = { 0 };
	char text[64];

	manifest_deletion_batch_count(&world->deletion_batch, &world->catalog, &facts);
	(void) snprintf(text, sizeof(text), "%zu of %zu, pods %zu of %zu", facts.files_gone,
			facts.files_before, facts.pod_files_gone, facts.pod_files_before);
	assert_string_equal(text, counts);
}

static void end(struct deletion_batch_world *world)
{
	(void) manifest_deletion_batch_end(&world->deletion_batch);
	manifest_deletion_batch_done(&world->deletion_batch);
	manifest_catalog_done(&world->catalog);
}

static void deletion_batch_counts_what_was_there_before(void **state)
{
	struct deletion_batch_world world = { 0 };

	add(&world, "a.yaml", POD("a", "/a"));
	add(&world, "b.yaml", POD("b", "/b"));
	add(&world, "claim.yaml", CLAIM("claim"));
	lose(&world, "a.yaml");
	assert_deletion_batch(&world, "1 of 3, pods 1 of 2");
	lose(&world, "claim.yaml");
	assert_deletion_batch(&world, "2 of 3, pods 1 of 2");
	/* Came and went within the stroke: never counted. */
	add(&world, "n.yaml", POD("n", "/n"));
	lose(&world, "n.yaml");
	assert_deletion_batch(&world, "2 of 3, pods 1 of 2");
	/* Came back, and went again. */
	add(&world, "a.yaml", POD("a", "/a"));
	assert_deletion_batch(&world, "1 of 3, pods 0 of 2");
	lose(&world, "a.yaml");
	assert_deletion_batch(&world, "2 of 3, pods 1 of 2");
	end(&world);
}

static void moved_pod_is_not_lost(void **state)
{
	struct deletion_batch_world world = { 0 };

	add(&world, "a.yaml", POD("a", "/a"));
	add(&world, "b.yaml", POD("b", "/b"));
	lose(&world, "a.yaml");
	add(&world, "c.yaml", POD("a", "/a"));
	assert_deletion_batch(&world, "1 of 2, pods 0 of 2");
	end(&world);
}

static void deletion_batch_waits_for_quiet_but_not_for_ever(void **state)
{
	struct deletion_batch_world world = { 0 };

	manifest_deletion_batch_touch(&world.deletion_batch, &world.catalog, 1000);
	assert_int_equal(manifest_deletion_batch_due_usec(&world.deletion_batch, 100), 1100);
	manifest_deletion_batch_touch(&world.deletion_batch, &world.catalog, 1090);
	assert_int_equal(manifest_deletion_batch_due_usec(&world.deletion_batch, 100), 1190);
	manifest_deletion_batch_touch(&world.deletion_batch, &world.catalog, 1990);
	assert_int_equal(manifest_deletion_batch_due_usec(&world.deletion_batch, 100), 2000);
	end(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_file_by_name_has_it),
		cmocka_unit_test(one_changed_file_affects_what_it_had_and_has),
		cmocka_unit_test(second_document_of_a_file_is_a_problem),
		cmocka_unit_test(broken_files_keep_what_they_had),
		cmocka_unit_test(unchanged_problem_keeps_its_time),
		cmocka_unit_test(keys_are_forgotten_when_nobody_needs_them),
		cmocka_unit_test(a_part_defines_and_the_whole_file_carries_on),
		cmocka_unit_test(twice_in_parts_is_once),
		cmocka_unit_test(what_differs_from_its_part_is_not_carried),
		cmocka_unit_test(parts_make_no_file_half),
		cmocka_unit_test(put_without_memory_changes_nothing),
		cmocka_unit_test(deletion_batch_counts_what_was_there_before),
		cmocka_unit_test(moved_pod_is_not_lost),
		cmocka_unit_test(deletion_batch_waits_for_quiet_but_not_for_ever),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
