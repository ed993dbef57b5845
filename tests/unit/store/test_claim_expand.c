/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_claim_expand - which claims may ask for more
 */
#include "object/kinds.h"

#include "base/cleanup.h"
#include "object/admit.h"
#include "store_world.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static const struct object *claim_of(const char *phase, const char *request)
{
	char text[700];

	(void) snprintf(text, sizeof(text),
			"{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'c',"
			"'namespace':'ns','uid':'1-2'},'spec':{'accessModes':['ReadWriteOnce'],"
			"'storageClassName':'fast','volumeName':'v','resources':{'requests':{"
			"'storage':'%s'}}},'status':{'phase':'%s'}}",
			request, phase);
	return object_of(text);
}

static void test_who_may(void **state)
{
	static const char *const classes[] = {
		[1] = "{'apiVersion':'storage.k8s.io/v1','kind':'StorageClass','metadata':{"
		      "'name':'fast'},'provisioner':'p'}",
		[2] = "{'apiVersion':'storage.k8s.io/v1','kind':'StorageClass','metadata':{"
		      "'name':'fast'},'provisioner':'p','allowVolumeExpansion':true}",
	};
	static const struct {
		const char *phase, *request;
		int class;
		const char *says; /* NULL: it may */
	} rows[] = {
		{ "Bound", "2Gi", 2, NULL },
		{ "Bound", "1Gi", 0, NULL },
		{ "Pending", "2Gi", 2, "Only bound persistent volume claims can be expanded" },
		{ "Bound", "2Gi", 1, "must support resize" },
		{ "Bound", "2Gi", 0, "must support resize" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_object const struct object *old = claim_of(rows[i].phase, "1Gi");
		cleanup_object const struct object *now = claim_of(rows[i].phase, rows[i].request);
		cleanup_object const struct object *class =
			rows[i].class ? object_of(classes[rows[i].class]) : NULL;
		cleanup_object const struct object *made = NULL;
		const struct admission admission = {
			.verb = ADMIT_UPDATE,
			.old = old,
			.proposed = now,
			.resource_version = 7,
			.now_usec = 1,
			.storage_class = class,
		};
		struct failure why = { .error = 0 };

		assert_int_equal(object_admit(&admission, &made, &why), rows[i].says ? -EINVAL : 0);
		if (rows[i].says && !strstr(why.text, rows[i].says))
			fail_msg("row %zu: '%s'", i, why.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_who_may) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
