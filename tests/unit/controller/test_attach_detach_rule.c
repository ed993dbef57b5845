/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_attach_detach_rule - every row of the attach/detach controller's rules, and whole lives by
 * them
 */
#include "controller/attach/attach_detach_rule.h"

#include "base/cleanup.h"
#include "object/kinds/persistent_volume.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define NOW    (1000ULL * 1000 * 1000)
#define BEFORE (NOW - DETACH_TIMEOUT_USEC)
#define RWO    ACCESS_READ_WRITE_ONCE
#define RWOP   ACCESS_READ_WRITE_ONCE_POD
#define ROX    ACCESS_READ_ONLY_MANY
#define RWX    ACCESS_READ_WRITE_MANY

struct row {
	const char *name;
	struct attach_facts facts;
	enum attach_step step;
	enum detach_force force;
	uint64_t resync_usec;
};

#define WANTED   .is_wanted = true, .may_take_away = true, .has_room = true, .is_ready = true
#define UNWANTED .may_take_away = true, .has_room = true, .is_ready = true
#define ATTACHED .state = ATTACHMENT_ATTACHED
#define SICK     .may_take_away = true, .has_room = true

static const struct row rows[] = {
	/* attach */
	{ "nowhere: attach", { WANTED }, .step = ATTACH_CREATE },
	{ "attach pending", { WANTED, .state = ATTACHMENT_PENDING }, .step = ATTACH_NOTHING },
	{ "attached: the node is told", { WANTED, ATTACHED }, .step = ATTACH_REPORT },
	{ "attached and told", { WANTED, ATTACHED, .is_reported = true }, .step = ATTACH_NOTHING },
	{ "attached, told, used",
	  { WANTED, ATTACHED, .is_reported = true, .is_in_use = true },
	  .step = ATTACH_NOTHING },
	{ "attach waits for no list of pods",
	  { .is_wanted = true, .has_room = true },
	  .step = ATTACH_CREATE },
	{ "no room", { .is_wanted = true }, .step = ATTACH_REFUSED_LIMIT },
	{ "no room for what is there is no matter",
	  { .is_wanted = true, ATTACHED, .is_reported = true },
	  .step = ATTACH_NOTHING },
	{ "the attachment vanished under a volume in use: it is made again",
	  { WANTED, .is_reported = true, .is_in_use = true },
	  .step = ATTACH_CREATE },
	{ "somebody else deletes it: the node is told first",
	  { WANTED, .state = ATTACHMENT_LEAVING, .is_reported = true },
	  .step = ATTACH_UNREPORT },
	{ "somebody else deletes what is in use",
	  { WANTED, .state = ATTACHMENT_LEAVING, .is_reported = true, .is_in_use = true },
	  .step = ATTACH_NOTHING },
	{ "somebody else deletes it, the node knows",
	  { WANTED, .state = ATTACHMENT_LEAVING },
	  .step = ATTACH_NOTHING },
	/* elsewhere: case 454, case 455 */
	{ "RWO elsewhere",
	  { WANTED, .is_elsewhere = true, .access_modes = RWO },
	  .step = ATTACH_REFUSED_MULTI },
	{ "RWOP elsewhere",
	  { WANTED, .is_elsewhere = true, .access_modes = RWOP },
	  .step = ATTACH_REFUSED_MULTI },
	{ "RWO and RWOP elsewhere",
	  { WANTED, .is_elsewhere = true, .access_modes = RWO | RWOP },
	  .step = ATTACH_REFUSED_MULTI },
	{ "RWX elsewhere",
	  { WANTED, .is_elsewhere = true, .access_modes = RWX },
	  .step = ATTACH_CREATE },
	{ "RWO and RWX elsewhere",
	  { WANTED, .is_elsewhere = true, .access_modes = RWO | RWX },
	  .step = ATTACH_CREATE },
	{ "ROX elsewhere",
	  { WANTED, .is_elsewhere = true, .access_modes = ROX },
	  .step = ATTACH_CREATE },
	{ "no mode elsewhere", { WANTED, .is_elsewhere = true }, .step = ATTACH_CREATE },
	{ "RWO, attached here and elsewhere",
	  { WANTED, ATTACHED, .is_reported = true, .is_elsewhere = true, .access_modes = RWO },
	  .step = ATTACH_NOTHING },
	/* detach; case 456: a report that could not be written is still there, and nothing is
	   detached */
	{ "nothing is left", { UNWANTED }, .step = ATTACH_FORGET },
	{ "nothing is left but the report",
	  { UNWANTED, .is_reported = true },
	  .step = ATTACH_UNREPORT },
	{ "first out of the report",
	  { UNWANTED, ATTACHED, .is_reported = true },
	  .step = ATTACH_UNREPORT },
	{ "then detached", { UNWANTED, ATTACHED }, .step = ATTACH_DELETE },
	{ "used again meanwhile: back into the report",
	  { UNWANTED, ATTACHED, .is_in_use = true },
	  .step = ATTACH_REPORT },
	{ "never attached, and wanted no more",
	  { UNWANTED, .state = ATTACHMENT_PENDING },
	  .step = ATTACH_DELETE },
	{ "going", { UNWANTED, .state = ATTACHMENT_LEAVING }, .step = ATTACH_NOTHING },
	{ "going, and reported",
	  { UNWANTED, .state = ATTACHMENT_LEAVING, .is_reported = true },
	  .step = ATTACH_UNREPORT },
	{ "going, used",
	  { UNWANTED, .state = ATTACHMENT_LEAVING, .is_reported = true, .is_in_use = true },
	  .step = ATTACH_NOTHING },
	{ "not all pods are known",
	  { .is_ready = true, ATTACHED, .is_reported = true },
	  .step = ATTACH_NOTHING },
	{ "not all pods are known, out of the report by one that was killed",
	  { .is_ready = true, ATTACHED },
	  .step = ATTACH_REPORT },
	/* case 450 */
	{ "in use",
	  { UNWANTED, ATTACHED, .is_reported = true, .is_in_use = true },
	  .step = ATTACH_NOTHING },
	{ "in use for an hour, not configured",
	  { SICK, ATTACHED, .is_reported = true, .is_in_use = true, .unwanted_usec = 1 },
	  .step = ATTACH_NOTHING },
	/* case 451 */
	{ "six minutes, the node is healthy",
	  { UNWANTED, ATTACHED, .is_reported = true, .is_in_use = true, .may_force = true,
	    .unwanted_usec = BEFORE - 1 },
	  .step = ATTACH_NOTHING },
	/* case 452: a difference, only where configured, and never of the own node */
	{ "six minutes, the node is unhealthy",
	  { SICK, ATTACHED, .is_reported = true, .is_in_use = true, .may_force = true,
	    .unwanted_usec = BEFORE - 1 },
	  .step = ATTACH_UNREPORT,
	  .force = DETACH_FORCED_TIMEOUT },
	{ "six minutes, unhealthy, out of the report: no check",
	  { SICK, ATTACHED, .is_in_use = true, .may_force = true, .unwanted_usec = BEFORE - 1 },
	  .step = ATTACH_DELETE,
	  .force = DETACH_FORCED_TIMEOUT },
	{ "six minutes to the microsecond",
	  { SICK, ATTACHED, .is_reported = true, .is_in_use = true, .may_force = true,
	    .unwanted_usec = BEFORE },
	  .step = ATTACH_NOTHING,
	  .force = DETACH_SAFE,
	  .resync_usec = NOW + 1 },
	{ "the clock starts now",
	  { SICK, ATTACHED, .is_reported = true, .is_in_use = true, .may_force = true },
	  .step = ATTACH_NOTHING,
	  .force = DETACH_SAFE,
	  .resync_usec = NOW + DETACH_TIMEOUT_USEC + 1 },
	{ "six minutes, but pods are not all known",
	  { ATTACHED, .is_reported = true, .is_in_use = true, .may_force = true,
	    .unwanted_usec = BEFORE - 1 },
	  .step = ATTACH_NOTHING,
	  .force = DETACH_SAFE,
	  .resync_usec = NOW },
	{ "never from podvold's own node",
	  { SICK, ATTACHED, .is_reported = true, .is_in_use = true, .may_force = true,
	    .is_own_node = true, .unwanted_usec = 1 },
	  .step = ATTACH_NOTHING },
	/* case 453: a difference, never of the own node */
	{ "out of service",
	  { UNWANTED, ATTACHED, .is_reported = true, .is_in_use = true, .is_out_of_service = true },
	  .step = ATTACH_UNREPORT,
	  .force = DETACH_FORCED_OUT_OF_SERVICE },
	{ "out of service, out of the report: at once",
	  { UNWANTED, ATTACHED, .is_in_use = true, .is_out_of_service = true },
	  .step = ATTACH_DELETE,
	  .force = DETACH_FORCED_OUT_OF_SERVICE },
	{ "out of service, nothing used",
	  { UNWANTED, ATTACHED, .is_out_of_service = true },
	  .step = ATTACH_DELETE },
	{ "out of service, and wanted",
	  { WANTED, ATTACHED, .is_reported = true, .is_in_use = true, .is_out_of_service = true },
	  .step = ATTACH_NOTHING },
	{ "podvold's own node is never out of service",
	  { UNWANTED, ATTACHED, .is_reported = true, .is_in_use = true, .is_out_of_service = true,
	    .is_own_node = true },
	  .step = ATTACH_NOTHING },
};

static void test_rows(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct attach_facts facts = rows[i].facts;
		struct attach_verdict verdict;

		facts.now_usec = NOW;
		verdict = attach_decide(&facts);
		if (verdict.step != rows[i].step || verdict.force != rows[i].force ||
		    verdict.resync_usec != rows[i].resync_usec)
			fail_msg("%s: step %d, force %d, look again %llu", rows[i].name,
				 verdict.step, verdict.force,
				 (unsigned long long) verdict.resync_usec);
	}
}

static void test_names(void **state)
{
	assert_null(detach_force_name(DETACH_SAFE));
	assert_string_equal(detach_force_name(DETACH_FORCED_TIMEOUT), "timeout");
	assert_string_equal(detach_force_name(DETACH_FORCED_OUT_OF_SERVICE), "out-of-service");
}

/* ---- every order of what node and controller do ---- */

struct life {
	struct attach_facts facts;
	bool is_staged;
};

/* What a node may do: say that it uses it; stage when it said so and the volume is reported;
 * unstage; say that it uses it no more. */
static void node_moves(struct life *life, unsigned int move)
{
	struct attach_facts *facts = &life->facts;

	if (move == 0)
		facts->is_in_use = true;
	else if (move == 1 && facts->is_in_use && facts->is_reported &&
		 facts->state == ATTACHMENT_ATTACHED)
		life->is_staged = true;
	else if (move == 2)
		life->is_staged = false;
	else if (move == 3 && !life->is_staged)
		facts->is_in_use = false;
}

/* What was decided is done a moment later: facts may have changed, but those of one write have not.
 */
static void controller_acts(struct life *life, enum attach_step what)
{
	struct attach_facts *facts = &life->facts;

	switch (what) {
	case ATTACH_CREATE:
		facts->state = ATTACHMENT_ATTACHED;
		break;
	case ATTACH_REPORT:
		facts->is_reported = true;
		break;
	case ATTACH_UNREPORT:
		facts->is_reported = false;
		break;
	case ATTACH_DELETE:
		facts->state = ATTACHMENT_LEAVING;
		break;
	default:
		if (facts->state == ATTACHMENT_LEAVING) {
			assert_false(life->is_staged);
			facts->state = ATTACHMENT_NONE;
		}
		break;
	}
}

/* In no order of ten moves is a volume detached that is staged, also when each decision is carried
 * out only after the node's next move. */
static void test_no_detach_under_a_stage(void **state)
{
	enum { MOVES = 8, CHOICES = 6 };
	unsigned int orders = 1, detached = 0;

	for (unsigned int i = 0; i < MOVES; i++)
		orders *= CHOICES;
	for (unsigned int order = 0; order < orders; order++) {
		struct life life = { .facts = { WANTED, .now_usec = NOW } };
		unsigned int left = order;

		for (unsigned int i = 0; i < MOVES; i++, left /= CHOICES) {
			enum attach_step what = attach_decide(&life.facts).step;

			if (left % CHOICES < 4)
				node_moves(&life, left % CHOICES);
			else
				life.facts.is_wanted = left % CHOICES == 4;
			controller_acts(&life, what);
			detached += life.facts.state == ATTACHMENT_NONE && i > 0;
		}
	}
	assert_true(detached > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_no_detach_under_a_stage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
