/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tree_state - digests of entries and of trees: what they depend on, and what not
 */
#include "mount/archive/tree_state.h"

#include "base/cleanup.h"
#include "mount/bind/attributes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char zeros[300000];

static void digest_of(struct content_digest *content, const struct attributes *attributes,
		      char ret[ENTRY_DIGEST_TEXT])
{
	const struct entry_facts facts = { .attributes = attributes, .size = 300000 };
	unsigned char digest[ENTRY_DIGEST_BYTES];

	assert_int_equal(entry_digest(&facts, content, digest), 0);
	entry_digest_print(digest, ret);
}

/* Holes, zeros and the portions that it comes in make no difference. */
static void test_contents(void **state)
{
	cleanup(content_digest_freep) struct content_digest *content = content_digest_new();
	const struct attributes attributes = { .mode = S_IFREG | 0600 };
	char with_zeros[ENTRY_DIGEST_TEXT], with_holes[ENTRY_DIGEST_TEXT], other[ENTRY_DIGEST_TEXT];

	assert_int_equal(content_digest_add(content, 0, zeros, 200000), 0);
	assert_int_equal(content_digest_add(content, 200000, "one", 3), 0);
	assert_int_equal(content_digest_add(content, 200003, zeros, 99997), 0);
	digest_of(content, &attributes, with_zeros);
	assert_int_equal(content_digest_add(content, 200000, "o", 1), 0);
	assert_int_equal(content_digest_add(content, 200001, "ne", 2), 0);
	digest_of(content, &attributes, with_holes);
	assert_string_equal(with_zeros, with_holes);
	assert_int_equal(content_digest_add(content, 199999, "one", 3), 0);
	digest_of(content, &attributes, other);
	assert_string_not_equal(with_zeros, other);
	assert_int_equal(content_digest_add(content, 0, zeros, sizeof(zeros)), 0);
	digest_of(content, &attributes, with_zeros);
	digest_of(content, &attributes, with_holes); /* of nothing: it began again */
	assert_string_equal(with_zeros, with_holes);
}

static void test_contents_in_disorder(void **state)
{
	cleanup(content_digest_freep) struct content_digest *content = content_digest_new();

	assert_int_equal(content_digest_add(content, 70000, "two", 3), 0);
	assert_int_equal(content_digest_add(content, 70002, "o", 1), -EINVAL);
	assert_int_equal(content_digest_add(content, 0, "one", 3), -EINVAL);
	assert_int_equal(content_digest_add(content, 70003, "three", 5), 0);
}

static void test_attributes(void **state)
{
	struct attributes a = { .mode = S_IFDIR | 0755, .access_time.tv_sec = 1 };
	struct attributes b = { .mode = S_IFDIR | 0755, .access_time.tv_sec = 2 };
	char one[ENTRY_DIGEST_TEXT], two[ENTRY_DIGEST_TEXT];

	assert_int_equal(attributes_add(&a, "user.a", "1", 1), 0);
	assert_int_equal(attributes_add(&a, "user.b", "2", 1), 0);
	assert_int_equal(attributes_add(&b, "user.b", "2", 1), 0);
	assert_int_equal(attributes_add(&b, "user.a", "1", 1), 0);
	assert_int_equal(attributes_add(&b, "user.b", "2", 1), 0);
	digest_of(NULL, &a, one);
	digest_of(NULL, &b, two);
	assert_string_equal(one, two);
	b.change_time.tv_nsec = 1;
	digest_of(NULL, &b, two);
	assert_string_not_equal(one, two);
	b.change_time.tv_nsec = 0;
	assert_int_equal(attributes_add(&b, "user.c", "", 0), 0);
	digest_of(NULL, &b, two);
	assert_string_not_equal(one, two);
	attributes_done(&a);
	attributes_done(&b);
}

/* ---- trees ---- */

static struct state_node *put(struct tree_state *tree, const char *path, mode_t mode,
			      unsigned char digest)
{
	struct state_node node = { .mode = mode }, *made = NULL;
	struct failure why = { .error = 0 };

	node.digest[0] = digest;
	assert_int_equal(tree_state_put(tree, path, &node, &made, &why), 0);
	return made;
}

static const char *digest(const struct tree_state *tree)
{
	static char texts[2][ENTRY_DIGEST_TEXT];
	static unsigned int turn;
	struct failure why = { .error = 0 };
	char *text = texts[turn++ % 2];

	assert_int_equal(tree_state_digest(tree, text, &why), 0);
	return text;
}

static struct tree_state *two_files(bool in_order)
{
	struct tree_state *tree = tree_state_new();

	assert_non_null(tree);
	if (in_order)
		put(tree, "a", S_IFREG, 1);
	put(tree, "b", S_IFREG, 1);
	put(tree, "", S_IFDIR, 0);
	if (!in_order)
		put(tree, "a", S_IFREG, 1);
	return tree;
}

static void test_which_files_are_one(void **state)
{
	cleanup(tree_state_freep) struct tree_state *one = two_files(true), *two = two_files(false);
	struct failure why = { .error = 0 };

	assert_string_equal(digest(one), digest(two));
	assert_int_equal(tree_state_link(two, "b", tree_state_find(two, "a"), &why), 0);
	assert_string_not_equal(digest(one), digest(two));
	assert_int_equal(tree_state_link(one, "a", tree_state_find(one, "b"), &why), 0);
	assert_string_equal(digest(one), digest(two));
	/* The content stays with the name that is left. */
	assert_int_equal(tree_state_remove(one, "b"), 0);
	assert_int_equal(tree_state_remove(one, "b"), -ENOENT);
	assert_int_equal(tree_state_find(one, "a")->digest[0], 1);
	assert_null(tree_state_find(one, "b"));
	put(two, "b", S_IFREG, 2);
	assert_int_equal(tree_state_find(two, "a")->digest[0], 1);
}

static void test_names_without_a_directory(void **state)
{
	cleanup(tree_state_freep) struct tree_state *tree = two_files(true);
	struct failure why = { .error = 0 };

	assert_int_equal(tree_state_check(tree, &why), 0);
	put(tree, "a/below", S_IFREG, 1);
	assert_int_equal(tree_state_check(tree, &why), -ENOTDIR);
	assert_string_equal(why.text, "the directory of 'a/below' is not in it");
	put(tree, "a", S_IFDIR, 1);
	assert_int_equal(tree_state_check(tree, &why), 0);
	assert_int_equal(tree_state_remove(tree, ""), 0);
	assert_int_equal(tree_state_check(tree, &why), -ENOTDIR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_contents),
		cmocka_unit_test(test_contents_in_disorder),
		cmocka_unit_test(test_attributes),
		cmocka_unit_test(test_which_files_are_one),
		cmocka_unit_test(test_names_without_a_directory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
