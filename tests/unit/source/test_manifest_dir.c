/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_manifest_dir - files come, change and break; what the store holds follows
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "manifest_world.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static void renamed_file_is_stored_at_once(void **state)
{
	struct manifest_world *world = *state;
	const struct object *pod;
	uint64_t begin;

	put_file(world, "a.yaml", POD("a", "/a"));
	begin = monotonic_usec();
	pod = wait_for_object(world, KIND_POD, "a");
	/* The settling time is 20 ms: a rename does not wait for it. */
	print_message("# stored after %u us\n", (unsigned int) (monotonic_usec() - begin));
	assert_non_null(strstr(pod->json, "\"podvol.io/manifest\":\"a.yaml\""));
	assert_non_null(strstr(pod->json, "\"nodeName\":\"this-node\""));
	assert_string_equal(manifest_source_file_of(world->source, pod), "a.yaml");
	assert_int_equal(problem_count(world), 0);
}

static void renamed_file_keeps_its_pod(void **state)
{
	struct manifest_world *world = *state;
	cleanup_free char *uid = NULL;
	char from[160], to[160];

	put_file(world, "a.yaml", POD("a", "/a"));
	put_file(world, "b.yaml", POD("b", "/b"));
	(void) wait_for_object(world, KIND_POD, "b");
	uid = uid_of(world, "a");
	(void) snprintf(from, sizeof(from), "%s/a.yaml", world->directory);
	(void) snprintf(to, sizeof(to), "%s/c.yaml", world->directory);
	assert_return_code(rename(from, to), 0);
	(void) wait_for_text(world, KIND_POD, "a", "\"podvol.io/manifest\":\"c.yaml\"");
	settle(world);
	assert_string_equal(stored(world, KIND_POD, "a")->meta.uid, uid);
}

static void removed_file_deletes_its_pod_and_nothing_else(void **state)
{
	struct manifest_world *world = *state;

	put_file(world, "a.yaml", POD("a", "/a") "---\n" CLAIM("claim"));
	put_file(world, "b.yaml", POD("b", "/b"));
	(void) wait_for_object(world, KIND_POD, "a");
	(void) wait_for_object(world, KIND_POD, "b");
	remove_file(world, "a.yaml");
	wait_for_absence(world, KIND_POD, "a");
	(void) wait_for_text(world, KIND_PERSISTENT_VOLUME_CLAIM, "claim",
			     "\"podvol.io/manifest-state\":\"gone\"");
	assert_non_null(stored(world, KIND_POD, "b"));
	assert_int_equal(problem_count(world), 0);

	/* It comes back: the mark goes, and nothing else changed. */
	put_file(world, "a.yaml", POD("a", "/a") "---\n" CLAIM("claim"));
	(void) wait_for_object(world, KIND_POD, "a");
	settle(world);
	assert_null(strstr(stored(world, KIND_PERSISTENT_VOLUME_CLAIM, "claim")->json, "gone"));
}

static void only_manifest_can_be_removed(void **state)
{
	struct manifest_world *world = *state;

	put_file(world, "a.yaml", POD("a", "/a"));
	(void) wait_for_object(world, KIND_POD, "a");
	remove_file(world, "a.yaml");
	wait_for_absence(world, KIND_POD, "a");
}

static void emptied_directory_keeps_every_pod(void **state)
{
	struct manifest_world *world = *state;

	put_file(world, "a.yaml", POD("a", "/a"));
	put_file(world, "b.yaml", POD("b", "/b"));
	(void) wait_for_object(world, KIND_POD, "a");
	(void) wait_for_object(world, KIND_POD, "b");
	remove_file(world, "a.yaml");
	remove_file(world, "b.yaml");
	wait_for_problem(world, "vanished all at once");
	(void) wait_for_text(world, KIND_POD, "a", "\"gone\"");
	(void) wait_for_text(world, KIND_POD, "b", "\"gone\"");

	/* What comes back is as before; what is deleted by name is gone. */
	put_file(world, "a.yaml", POD("a", "/a"));
	assert_int_equal(world_delete(&world->store, KIND_POD, "default", "b"), 0);
	settle(world);
	assert_null(strstr(stored(world, KIND_POD, "a")->json, "gone"));
	assert_null(stored(world, KIND_POD, "b"));
	assert_int_equal(problem_count(world), 0);
}

static void broken_file_changes_nothing(void **state)
{
	struct manifest_world *world = *state;
	cleanup_free char *uid = NULL;
	uint64_t version;

	put_file(world, "a.yaml", POD("a", "/a") "---\n" POD("b", "/b"));
	(void) wait_for_object(world, KIND_POD, "b");
	uid = uid_of(world, "a");
	version = store_resource_version(world->store.store);

	put_file(world, "a.yaml", "apiVersion: v1\nkind: Pod\nmetadata: [\n");
	wait_for_problem(world, "a.yaml");
	wait_for_problem(world, "stays in force");
	put_file(world, "a.yaml", "");
	wait_for_problem(world, "no document");
	put_file(world, "a.yaml",
		 POD("a", "/a") "---\nkind: Pod\napiVersion: v1\n"
				"metadata: {name: b}\nspec: {volumes: 7}\n");
	wait_for_problem(world, "Pod/");
	settle(world);
	assert_int_equal(store_resource_version(world->store.store), version + 1);
	assert_string_equal(stored(world, KIND_POD, "a")->meta.uid, uid);
	assert_non_null(stored(world, KIND_POD, "b"));

	put_file(world, "a.yaml", POD("a", "/a"));
	wait_for_absence(world, KIND_POD, "b");
	assert_non_null(stored(world, KIND_POD, "a"));
	assert_int_equal(problem_count(world), 0);
}

static void changed_volumes_make_another_pod(void **state)
{
	struct manifest_world *world = *state;
	cleanup_free char *uid = NULL, *other = NULL;

	put_file(world, "a.yaml", POD("a", "/a"));
	(void) wait_for_object(world, KIND_POD, "a");
	uid = uid_of(world, "a");

	put_file(world, "a.yaml", "# the same\n" POD("a", "/a"));
	settle(world);
	assert_string_equal(stored(world, KIND_POD, "a")->meta.uid, uid);

	put_file(world, "a.yaml", POD("a", "/other"));
	(void) wait_for_text(world, KIND_POD, "a", "/other");
	other = uid_of(world, "a");
	assert_string_not_equal(other, uid);
}

static void uid_of_a_manifest_is_used_once(void **state)
{
	static const char pod[] = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n"
				  "  uid: 11111111-2222-3333-4444-555555555555\nspec:\n"
				  "  containers: [{name: c, image: i}]\n"
				  "  volumes: [{name: v, hostPath: {path: %s}}]\n";
	struct manifest_world *world = *state;
	cleanup_free char *uid = NULL;
	char text[512];

	(void) snprintf(text, sizeof(text), pod, "/a");
	put_file(world, "a.yaml", text);
	(void) wait_for_object(world, KIND_POD, "a");
	uid = uid_of(world, "a");
	assert_string_equal(uid, "11111111-2222-3333-4444-555555555555");
	(void) snprintf(text, sizeof(text), pod, "/b");
	put_file(world, "a.yaml", text);
	(void) wait_for_text(world, KIND_POD, "a", "\"/b\"");
	assert_string_not_equal(stored(world, KIND_POD, "a")->meta.uid, uid);
}

static void first_file_by_name_has_an_object(void **state)
{
	struct manifest_world *world = *state;

	put_file(world, "b.yaml", POD("a", "/b"));
	(void) wait_for_text(world, KIND_POD, "a", "\"/b\"");
	put_file(world, "a.yaml", POD("a", "/a"));
	(void) wait_for_text(world, KIND_POD, "a", "\"/a\"");
	wait_for_problem(world, "b.yaml:Pod/default/a:'a.yaml' defines it as well");
	remove_file(world, "a.yaml");
	(void) wait_for_text(world, KIND_POD, "a", "\"/b\"");
	settle(world);
	assert_non_null(stored(world, KIND_POD, "a"));
	assert_int_equal(problem_count(world), 0);
}

static void object_of_the_api_is_not_overwritten(void **state)
{
	cleanup_object const struct object *claim = make_claim("default", "claim", NULL);
	struct manifest_world *world = *state;

	assert_int_equal(world_create(&world->store, claim), 0);
	put_file(world, "a.yaml", CLAIM("claim"));
	wait_for_problem(world, "a.yaml:PersistentVolumeClaim/default/claim:it was not made from");
	assert_null(manifest_source_file_of(world->source,
					    stored(world, KIND_PERSISTENT_VOLUME_CLAIM, "claim")));
	assert_int_equal(store_resource_version(world->store.store), 1);
}

static void deleted_object_with_a_manifest_comes_back(void **state)
{
	struct manifest_world *world = *state;
	cleanup_free char *uid = NULL;

	put_file(world, "a.yaml", POD("a", "/a"));
	(void) wait_for_object(world, KIND_POD, "a");
	uid = uid_of(world, "a");
	assert_int_equal(world_delete(&world->store, KIND_POD, "default", "a"), 0);
	(void) wait_for_object(world, KIND_POD, "a");
	assert_string_not_equal(stored(world, KIND_POD, "a")->meta.uid, uid);
}

static void write_unclosed(struct manifest_world *world, int *fd, const char *text)
{
	char path[160];

	(void) snprintf(path, sizeof(path), "%s/w.yaml", world->directory);
	if (*fd < 0)
		*fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	assert_true(*fd >= 0);
	assert_int_equal(write(*fd, text, strlen(text)), strlen(text));
}

static void unclosed_file_is_read_when_quiet_and_closed_one_at_once(void **state)
{
	struct manifest_world *world = *state;
	int fd = -EBADF;

	write_unclosed(world, &fd, POD("a", "/a"));
	(void) wait_for_object(world, KIND_POD, "a");
	write_unclosed(world, &fd, "---\n" POD("b", "/b"));
	assert_return_code(close(fd), 0);
	(void) wait_for_object(world, KIND_POD, "b");
	assert_int_equal(problem_count(world), 0);
}

/* Half of a file is valid YAML as often as not. */
static void half_written_file_takes_nothing_away(void **state)
{
	struct manifest_world *world = *state;
	cleanup_free char *uid = NULL;
	int fd = -EBADF;
	char path[160];

	put_file(world, "w.yaml", POD("a", "/a") "---\n" POD("b", "/b"));
	(void) wait_for_object(world, KIND_POD, "b");
	uid = uid_of(world, "a");
	write_unclosed(world, &fd, POD("a", "/other"));
	(void) snprintf(path, sizeof(path), "%s/w.yaml", world->directory);
	assert_return_code(chmod(path, 0600), 0);
	wait_for_problem(world, "the file is being written; what was read before stays");
	settle(world);
	assert_string_equal(stored(world, KIND_POD, "a")->meta.uid, uid);
	assert_false(stored(world, KIND_POD, "a")->meta.deletes);
	assert_non_null(stored(world, KIND_POD, "b"));

	/* Now it is whole, and says so. */
	assert_return_code(close(fd), 0);
	wait_for_absence(world, KIND_POD, "b");
	(void) wait_for_text(world, KIND_POD, "a", "/other");
	assert_int_equal(problem_count(world), 0);
}

static void other_names_are_left_alone(void **state)
{
	static const char *const names[] = { ".a.yaml",  ".a.yaml.swp", "a.yaml~",
					     "#a.yaml#", "#a.yaml",     "a.yaml.bak",
					     "a.txt",    "4913",        "a.yaml.tmp" };
	struct manifest_world *world = *state;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		put_file(world, names[i], POD("a", "/a"));
	settle(world);
	assert_null(stored(world, KIND_POD, "a"));
	put_file(world, "a.yml", POD("a", "/a"));
	(void) wait_for_object(world, KIND_POD, "a");
	put_file(world, "b.json",
		 "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"b\"},"
		 "\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}");
	(void) wait_for_object(world, KIND_POD, "b");
}

/* As a ConfigMap volume does it: files are links through ..data, which is swapped. */
static void make_version(struct manifest_world *world, const char *version, const char *path)
{
	char name[200], target[64];
	FILE *file;

	(void) snprintf(name, sizeof(name), "%s/..%s", world->directory, version);
	assert_return_code(mkdir(name, 0755), 0);
	for (const char *pod = "ab"; *pod; pod++) {
		(void) snprintf(name, sizeof(name), "%s/..%s/%c.yaml", world->directory, version,
				*pod);
		file = fopen(name, "we");
		assert_non_null(file);
		(void) fprintf(file, POD("%c", "%s"), *pod, path);
		assert_int_equal(fclose(file), 0);
	}
	(void) snprintf(target, sizeof(target), "..%s", version);
	(void) snprintf(name, sizeof(name), "%s/..data_tmp", world->directory);
	assert_return_code(symlink(target, name), 0);
}

static void swapped_link_is_followed(void **state)
{
	struct manifest_world *world = *state;
	cleanup_free char *uid = NULL;
	char from[200], to[200];

	make_version(world, "1", "/one");
	(void) snprintf(from, sizeof(from), "%s/..data_tmp", world->directory);
	(void) snprintf(to, sizeof(to), "%s/..data", world->directory);
	assert_return_code(rename(from, to), 0);
	for (const char *pod = "ab"; *pod; pod++) {
		char link[200], target[32];

		(void) snprintf(target, sizeof(target), "..data/%c.yaml", *pod);
		(void) snprintf(link, sizeof(link), "%s/%c.yaml", world->directory, *pod);
		assert_return_code(symlink(target, link), 0);
	}
	(void) wait_for_object(world, KIND_POD, "a");
	(void) wait_for_object(world, KIND_POD, "b");
	uid = uid_of(world, "a");

	make_version(world, "2", "/one");
	assert_return_code(rename(from, to), 0);
	settle(world);
	assert_string_equal(stored(world, KIND_POD, "a")->meta.uid, uid);

	make_version(world, "3", "/three");
	assert_return_code(rename(from, to), 0);
	(void) wait_for_text(world, KIND_POD, "a", "/three");
	(void) wait_for_text(world, KIND_POD, "b", "/three");
	assert_int_equal(problem_count(world), 0);
}

static void large_file_is_read_and_a_larger_one_refused(void **state)
{
	enum { LARGE = 10 * 1024 * 1024, TOO_LARGE = DOCUMENTS_BYTES_MAX + 1 };
	struct manifest_world *world = *state;
	cleanup_free char *text = malloc(TOO_LARGE + 1);
	size_t used;

	assert_non_null(text);
	used = (size_t) snprintf(text, TOO_LARGE, "%s", POD("a", "/a"));
	memset(text + used, '#', TOO_LARGE - used);
	text[TOO_LARGE] = '\0';
	put_file(world, "b.yaml", text);
	wait_for_problem(world, "b.yaml://:the file is larger than 16 MiB");
	assert_null(stored(world, KIND_POD, "a"));
	text[LARGE] = '\0';
	put_file(world, "a.yaml", text);
	(void) wait_for_object(world, KIND_POD, "a");
	remove_file(world, "b.yaml");
	wait_for_no_problems(world);
}

#define TEST(name)                                                                                 \
	cmocka_unit_test_setup_teardown(name, manifest_world_setup, manifest_world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(renamed_file_is_stored_at_once),
		TEST(renamed_file_keeps_its_pod),
		TEST(removed_file_deletes_its_pod_and_nothing_else),
		TEST(only_manifest_can_be_removed),
		TEST(emptied_directory_keeps_every_pod),
		TEST(broken_file_changes_nothing),
		TEST(changed_volumes_make_another_pod),
		TEST(uid_of_a_manifest_is_used_once),
		TEST(first_file_by_name_has_an_object),
		TEST(object_of_the_api_is_not_overwritten),
		TEST(deleted_object_with_a_manifest_comes_back),
		TEST(unclosed_file_is_read_when_quiet_and_closed_one_at_once),
		TEST(half_written_file_takes_nothing_away),
		TEST(other_names_are_left_alone),
		TEST(swapped_link_is_followed),
		TEST(large_file_is_read_and_a_larger_one_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
