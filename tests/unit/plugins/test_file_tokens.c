/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_file_tokens - tokens as files: whose they are, when they are due, what is asked of the
 * source
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/cleanup.h"
#include "tests/unit/object/object_text.h"
#include "plugins/file_payload.h"

#include <string.h>

/* What is asked of a source that answers everything. */
static struct {
	int error;
	unsigned int count;
	struct token_order want;
	char audience[32], current[32];
	uint64_t refresh_usec[2];
} source_said;

static int issue(void *userdata, const struct token_order *want, struct issued_token *ret,
		 struct failure *reterr)
{
	source_said.want = *want;
	(void) snprintf(source_said.audience, sizeof(source_said.audience), "%s", want->audience);
	(void) snprintf(source_said.current, sizeof(source_said.current), "%s",
			want->current ? want->current : "none");
	if (source_said.error < 0)
		return failed_plain(reterr, source_said.error, "no ink");
	ret->text = strdup("a.b.c");
	ret->refresh_usec = source_said.refresh_usec[source_said.count++ % 2];
	return 0;
}

static const struct token_source source = { issue, NULL };

static char *shown(void *userdata, const char *path)
{
	return strcmp(path, "kept") == 0 ? strdup("x.y.z") : NULL;
}

struct world {
	const struct object *pod, *account;
	struct file_tokens tokens;
	struct payload payload;
	struct failure failure;
};

/* @spec: of the pod, before its volumes; @sources: of its one projected volume. */
static int build(struct world *world, const char *spec, const char *sources)
{
	char yaml[2048];
	struct file_inputs inputs;

	memset(&source_said, 0, sizeof(source_said));
	*world = (struct world){ .account = object_of("apiVersion: v1\nkind: ServiceAccount\n"
						      "metadata: {name: default, uid: u}\n") };
	(void) snprintf(yaml, sizeof(yaml),
			"apiVersion: v1\nkind: Pod\nmetadata: {name: web, uid: u-1}\nspec:\n  %s\n"
			"  volumes: [{name: v, projected: {sources: [%s]}}]\n",
			spec, sources);
	world->pod = object_of(yaml);
	world->tokens = (struct file_tokens){ .source = &source,
					      .pod = world->pod,
					      .service_account = world->account,
					      .current = shown };
	inputs = (struct file_inputs){ .pod = world->pod,
				       .source = &world->pod->pod->volumes[0],
				       .tokens = &world->tokens };
	source_said.refresh_usec[0] = 2000;
	source_said.refresh_usec[1] = 1000;
	return file_payload_build(&inputs, &world->payload, &world->failure);
}

static void done(struct world *world)
{
	payload_done(&world->payload);
	object_unref(world->pod);
	object_unref(world->account);
}

#define PLAIN "containers: [{name: c}]"
#define TOKEN "{serviceAccountToken: {path: t}}"

static void expect_rights(const char *spec, const char *wanted)
{
	struct world world;
	char text[64];
	const struct payload_file *file;

	assert_int_equal(build(&world, spec, TOKEN), 0);
	file = &world.payload.files[0];
	(void) snprintf(text, sizeof(text), "%o %d", (unsigned int) file->mode,
			file->has_owner ? (int) file->owner : -1);
	assert_string_equal(text, wanted);
	done(&world);
}

/* case 145, case 146, case 147: the writer makes 0640 of the first, with the group */
static void test_rights(void **state)
{
	expect_rights("securityContext: {fsGroup: 1000}\n  " PLAIN, "600 -1");
	expect_rights("securityContext: {runAsUser: 1000}\n  " PLAIN, "600 1000");
	expect_rights("securityContext: {runAsUser: 0}\n  " PLAIN, "600 0");
	expect_rights("securityContext: {runAsUser: 1000, fsGroup: 5}\n  " PLAIN, "600 1000");
	expect_rights(PLAIN, "644 -1");
}

/* Containers of every kind count, each with its own user before the pod's. */
static void test_users_that_differ(void **state)
{
	expect_rights("containers: [{name: c, securityContext: {runAsUser: 1}},"
		      " {name: d, securityContext: {runAsUser: 2}}]",
		      "644 -1");
	expect_rights("containers: [{name: c, securityContext: {runAsUser: 1}}, {name: d}]",
		      "644 -1");
	expect_rights("containers: [{name: c, securityContext: {runAsUser: 1}}]\n"
		      "  initContainers: [{name: i, securityContext: {runAsUser: 2}}]",
		      "644 -1");
	expect_rights("securityContext: {runAsUser: 1}\n"
		      "  containers: [{name: c, securityContext: {runAsUser: 2}}, {name: d}]",
		      "644 -1");
	expect_rights("securityContext: {runAsUser: 7}\n"
		      "  containers: [{name: c, securityContext: {runAsUser: 7}}, {name: d}]",
		      "600 7");
}

static void test_what_is_asked(void **state)
{
	struct world world;

	assert_int_equal(build(&world, PLAIN,
			       "{serviceAccountToken: {path: kept, audience: vault,"
			       " expirationSeconds: 700}}"),
			 0);
	assert_ptr_equal(source_said.want.pod, world.pod);
	assert_ptr_equal(source_said.want.service_account, world.account);
	assert_string_equal(source_said.audience, "vault");
	assert_int_equal(source_said.want.seconds, 700);
	assert_string_equal(source_said.current, "x.y.z");
	assert_int_equal(world.payload.files[0].length, 5);
	assert_memory_equal(world.payload.files[0].data, "a.b.c", 5);
	done(&world);
	assert_int_equal(build(&world, PLAIN, TOKEN), 0);
	assert_string_equal(source_said.audience, "");
	assert_int_equal(source_said.want.seconds, 3600);
	assert_string_equal(source_said.current, "none");
	done(&world);
}

static void test_the_earliest_is_due(void **state)
{
	struct world world;

	assert_int_equal(build(&world, PLAIN, TOKEN), 0);
	assert_int_equal(world.tokens.renew_usec, 2000);
	done(&world);
	assert_int_equal(
		build(&world, PLAIN, TOKEN ", {serviceAccountToken: {path: u, audience: a}}"), 0);
	assert_int_equal(world.tokens.renew_usec, 1000);
	done(&world);
	assert_int_equal(build(&world, PLAIN, ""), 0);
	assert_int_equal(world.tokens.renew_usec, 0);
	done(&world);
}

static void expect_failure(struct world *world, int error, const char *text)
{
	const struct file_inputs inputs = { .pod = world->pod,
					    .source = &world->pod->pod->volumes[0],
					    .tokens = &world->tokens };

	payload_done(&world->payload);
	world->payload = (struct payload){ .count = 0 };
	assert_int_equal(file_payload_build(&inputs, &world->payload, &world->failure), error);
	assert_string_equal(world->failure.text, text);
}

static void test_failures(void **state)
{
	struct world world;

	assert_int_equal(build(&world, "serviceAccountName: robot\n  " PLAIN, TOKEN), 0);
	world.tokens.service_account = NULL;
	expect_failure(&world, -ENOENT, "serviceaccount \"robot\" not found");
	world.tokens.source = NULL;
	expect_failure(&world, -EOPNOTSUPP, "service account tokens are not issued here");
	world.tokens.source = &source;
	world.tokens.service_account = world.account;
	source_said.error = -EIO;
	expect_failure(&world, -EIO, "no ink");
	done(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rights),        cmocka_unit_test(test_users_that_differ),
		cmocka_unit_test(test_what_is_asked), cmocka_unit_test(test_the_earliest_is_due),
		cmocka_unit_test(test_failures),
	};

	return cmocka_run_group_tests_name("file_tokens", tests, NULL, NULL);
}
