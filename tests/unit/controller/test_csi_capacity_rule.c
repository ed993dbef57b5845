/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_csi_capacity_rule - which classes have a capacity, and what the object says
 *
 * The texts use ' for ".
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/store/store_world.h"

#include "base/cleanup.h"
#include "controller/csi/csi_capacity_rule.h"

#include <stdio.h>
#include <string.h>

#define CLASS(mode)                                                                                \
	"{'apiVersion':'storage.k8s.io/v1','kind':'StorageClass','metadata':{'name':'fast'},"      \
	"'provisioner':'d.example.com','volumeBindingMode':'" mode "'}"
#define LATE CLASS("WaitForFirstConsumer")
#define DRIVER(reports)                                                                            \
	"{'apiVersion':'storage.k8s.io/v1','kind':'CSIDriver','metadata':{'name':'d.example.com'"  \
	"},'spec':{'storageCapacity':" reports "}}"
#define TELLS DRIVER("true")
#define CAPACITY(driver, by, class, place, figures)                                                \
	"{'apiVersion':'storage.k8s.io/v1','kind':'CSIStorageCapacity','metadata':{'name':'fast'," \
	"'namespace':'kube-system','labels':{'csi.storage.k8s.io/drivername':'" driver             \
	"','csi.storage.k8s.io/managed-by':'" by                                                   \
	"'}},'storageClassName':'" class "','nodeTopology':" place figures "}"
#define ZONE(name)    "{'matchLabels':{'zone':'" name "'}}"
#define OURS(figures) CAPACITY("d.example.com", "podvol", "fast", ZONE("a"), figures)
#define SIZE(text)    ",'capacity':'" text "'"
#define LARGEST(text) ",'maximumVolumeSize':'" text "'"
#define MIB           (INT64_C(1) << 20)
#define HAS(bytes)                                                                                 \
	{                                                                                          \
		.available = (bytes)                                                               \
	}
#define UP_TO(bytes, n)                                                                            \
	{                                                                                          \
		.available = (bytes), .maximum = (n), .has_maximum = true                          \
	}

static const struct csi_topology_segment zone_a[] = { { "zone", "a" } };

enum driver { GONE, UNKNOWN, CAN, CANNOT, EVERYWHERE, NO_SEGMENTS };

static const struct csi_driver *make_driver(enum driver what, struct csi_driver *driver)
{
	*driver = (struct csi_driver){
		.name = "d.example.com",
		.segments = zone_a,
		.segment_count = what == NO_SEGMENTS ? 0 : 1,
		.capabilities_known = what != UNKNOWN,
		.has_controller = what != UNKNOWN,
		.controller_capabilities =
			what == CANNOT || what == UNKNOWN ? 0 : 1 << CSI_CAN_GET_CAPACITY,
		.plugin_capabilities =
			what == EVERYWHERE ? 0 : CSI_PLUGIN_VOLUME_ACCESSIBILITY_CONSTRAINTS,
	};
	return what == GONE ? NULL : driver;
}

static const struct {
	const char *storage_class, *csi_driver, *object; /* NULL: none */
	enum driver driver;
	bool is_fresh;
	struct csi_capacity_figures figures;
	enum csi_capacity_next next;
} rows[] = {
	{ LATE, TELLS, NULL, CAN, false, HAS(0), CSI_CAPACITY_ASK },
	{ LATE, TELLS, NULL, CAN, true, HAS(MIB), CSI_CAPACITY_WRITE },
	{ LATE, TELLS, OURS(SIZE("1Mi")), CAN, false, HAS(0), CSI_CAPACITY_ASK },
	{ LATE, TELLS, OURS(SIZE("1Mi")), CAN, true, HAS(MIB), CSI_CAPACITY_NOTHING },
	{ LATE, TELLS, OURS(SIZE("1024Ki")), CAN, true, HAS(MIB), CSI_CAPACITY_NOTHING },
	{ LATE, TELLS, OURS(SIZE("1Mi")), CAN, true, HAS(2 * MIB), CSI_CAPACITY_WRITE },
	{ LATE, TELLS, OURS(SIZE("0")), CAN, true, HAS(0), CSI_CAPACITY_NOTHING },
	{ LATE, TELLS, OURS(""), CAN, true, HAS(0), CSI_CAPACITY_WRITE },
	/* The largest volume. */
	{ LATE, TELLS, OURS(SIZE("1Mi")), CAN, true, UP_TO(MIB, MIB), CSI_CAPACITY_WRITE },
	{ LATE, TELLS, OURS(SIZE("1Mi") LARGEST("1Mi")), CAN, true, UP_TO(MIB, MIB),
	  CSI_CAPACITY_NOTHING },
	{ LATE, TELLS, OURS(SIZE("1Mi") LARGEST("1Mi")), CAN, true, UP_TO(MIB, 5),
	  CSI_CAPACITY_WRITE },
	{ LATE, TELLS, OURS(SIZE("1Mi") LARGEST("1Mi")), CAN, true, HAS(MIB), CSI_CAPACITY_WRITE },
	/* Not wanted, or not any more. */
	{ NULL, NULL, NULL, CAN, false, HAS(0), CSI_CAPACITY_NOTHING },
	{ NULL, NULL, OURS(SIZE("1Mi")), GONE, false, HAS(0), CSI_CAPACITY_REMOVE },
	{ CLASS("Immediate"), TELLS, NULL, CAN, false, HAS(0), CSI_CAPACITY_NOTHING },
	{ CLASS("Immediate"), TELLS, OURS(SIZE("1Mi")), CAN, true, HAS(MIB), CSI_CAPACITY_REMOVE },
	{ LATE, NULL, NULL, CAN, false, HAS(0), CSI_CAPACITY_NOTHING },
	{ LATE, NULL, OURS(SIZE("1Mi")), CAN, true, HAS(MIB), CSI_CAPACITY_REMOVE },
	{ LATE, DRIVER("false"), NULL, CAN, false, HAS(0), CSI_CAPACITY_NOTHING },
	{ LATE, DRIVER("false"), OURS(SIZE("1Mi")), CAN, true, HAS(MIB), CSI_CAPACITY_REMOVE },
	{ LATE, TELLS, NULL, CANNOT, false, HAS(0), CSI_CAPACITY_NOTHING },
	{ LATE, TELLS, OURS(SIZE("1Mi")), CANNOT, false, HAS(0), CSI_CAPACITY_REMOVE },
	/* A driver that is not there, or has reported nothing yet, may be back. */
	{ LATE, TELLS, OURS(SIZE("1Mi")), GONE, false, HAS(0), CSI_CAPACITY_NOTHING },
	{ LATE, TELLS, OURS(SIZE("1Mi")), UNKNOWN, false, HAS(0), CSI_CAPACITY_NOTHING },
	{ LATE, TELLS, NULL, GONE, false, HAS(0), CSI_CAPACITY_NOTHING },
	/* What cannot be changed is made again. */
	{ LATE, TELLS, CAPACITY("d.example.com", "podvol", "fast", ZONE("b"), SIZE("1Mi")), CAN,
	  true, HAS(MIB), CSI_CAPACITY_REMOVE },
	{ LATE, TELLS, CAPACITY("d.example.com", "podvol", "slow", ZONE("a"), SIZE("1Mi")), CAN,
	  true, HAS(MIB), CSI_CAPACITY_REMOVE },
	{ LATE, TELLS, CAPACITY("e.example.com", "podvol", "fast", ZONE("a"), SIZE("1Mi")), CAN,
	  true, HAS(MIB), CSI_CAPACITY_REMOVE },
	{ LATE, TELLS, OURS(SIZE("1Mi")), EVERYWHERE, true, HAS(MIB), CSI_CAPACITY_REMOVE },
	{ LATE, TELLS, OURS(SIZE("1Mi")), NO_SEGMENTS, true, HAS(MIB), CSI_CAPACITY_REMOVE },
	{ LATE, TELLS, CAPACITY("d.example.com", "podvol", "fast", "{}", SIZE("1Mi")), EVERYWHERE,
	  true, HAS(MIB), CSI_CAPACITY_NOTHING },
	/* A foreign one is left alone. */
	{ LATE, TELLS,
	  CAPACITY("d.example.com", "external-provisioner", "fast", ZONE("a"), SIZE("1Mi")), CAN,
	  true, HAS(2 * MIB), CSI_CAPACITY_NOTHING },
	{ NULL, NULL,
	  CAPACITY("d.example.com", "external-provisioner", "fast", ZONE("a"), SIZE("1Mi")), CAN,
	  false, HAS(0), CSI_CAPACITY_NOTHING },
};

/* Every row, and that what is to be written is what is wanted then. */
static void every_row(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_object const struct object *class = NULL, *csi_driver = NULL,
						   *object = NULL, *made = NULL;
		struct csi_driver driver;
		struct csi_capacity_facts facts = { .driver =
							    make_driver(rows[i].driver, &driver) };

		if (rows[i].storage_class)
			class = object_of(rows[i].storage_class);
		if (rows[i].csi_driver)
			csi_driver = object_of(rows[i].csi_driver);
		if (rows[i].object)
			object = object_of(rows[i].object);
		facts.storage_class = class ? class->storage_class : NULL;
		facts.csi_driver = csi_driver;
		facts.object = object;
		facts.figures = rows[i].is_fresh ? &rows[i].figures : NULL;
		if (csi_capacity_decide(&facts) != rows[i].next)
			fail_msg("row %zu: %d, not %d", i, csi_capacity_decide(&facts),
				 rows[i].next);
		if (rows[i].next != CSI_CAPACITY_WRITE)
			continue;
		assert_int_equal(csi_capacity_make(&facts, &made, NULL), 0);
		facts.object = made;
		assert_int_equal(csi_capacity_decide(&facts), CSI_CAPACITY_NOTHING);
	}
}

static void all_of_a_new_object(void **state)
{
	static const struct {
		enum driver driver;
		struct csi_capacity_figures figures;
		const char *rest;
	} makes[] = {
		{ CAN, UP_TO(1536 * MIB, 1 << 30),
		  "'storageClassName':'fast','nodeTopology':{'matchLabels':{'zone':'a'}},"
		  "'capacity':'1536Mi','maximumVolumeSize':'1Gi'}" },
		{ EVERYWHERE, HAS(1000),
		  "'storageClassName':'fast','nodeTopology':{},'capacity':'1000'}" },
	};
	cleanup_object const struct object *class = object_of(LATE);
	cleanup_object const struct object *node =
		object_of("{'apiVersion':'v1','kind':'Node','metadata':{'name':'n','uid':'u'}}");

	for (size_t i = 0; i < ARRAY_SIZE(makes); i++) {
		cleanup_object const struct object *made = NULL;
		struct csi_driver driver;
		const struct csi_capacity_facts facts = {
			.storage_class = class->storage_class,
			.driver = make_driver(makes[i].driver, &driver),
			.node = node,
			.figures = &makes[i].figures,
		};
		char text[1024];

		assert_int_equal(csi_capacity_make(&facts, &made, NULL), 0);
		(void) snprintf(
			text, sizeof(text),
			"{'apiVersion':'storage.k8s.io/v1','kind':'CSIStorageCapacity','metadata':{"
			"'name':'fast','namespace':'kube-system','labels':{"
			"'csi.storage.k8s.io/drivername':'d.example.com',"
			"'csi.storage.k8s.io/managed-by':'podvol'},'ownerReferences':[{"
			"'apiVersion':'v1','kind':'Node','name':'n','uid':'u','controller':true}]},"
			"%s",
			makes[i].rest);
		for (char *c = text; *c; c++)
			*c = *c == '\'' ? '"' : *c;
		assert_string_equal(made->json, text);
		assert_true(csi_capacity_is_managed(made));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row),
		cmocka_unit_test(all_of_a_new_object),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
