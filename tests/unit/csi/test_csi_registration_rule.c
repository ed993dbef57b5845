/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_csi_registration_rule - what comes next for a socket, when, and which drivers are refused
 */
#include "csi/csi_registration_rule.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

/* ---- the machine ---- */

struct row {
	enum registration_stage from;
	enum registration_event event;
	bool left;
	enum registration_stage to;
};

static const struct row rows[] = {
	{ REGISTRATION_WAITS, REGISTRATION_SUCCEEDED, false, REGISTRATION_ASKS },
	{ REGISTRATION_ASKS, REGISTRATION_SUCCEEDED, false, REGISTRATION_ASKS_NODE },
	{ REGISTRATION_ASKS_NODE, REGISTRATION_SUCCEEDED, false, REGISTRATION_WRITES },
	{ REGISTRATION_WRITES, REGISTRATION_SUCCEEDED, false, REGISTRATION_TELLS },
	{ REGISTRATION_TELLS, REGISTRATION_SUCCEEDED, false, REGISTRATION_DONE },
	/* a registrar that says nothing hears nothing (case 237), one that says nonsense does
	 * (case 236) */
	{ REGISTRATION_ASKS, REGISTRATION_FAILED, false, REGISTRATION_WAITS },
	{ REGISTRATION_ASKS, REGISTRATION_REFUSED, false, REGISTRATION_REFUSES },
	{ REGISTRATION_REFUSES, REGISTRATION_SUCCEEDED, false, REGISTRATION_WAITS },
	{ REGISTRATION_REFUSES, REGISTRATION_FAILED, false, REGISTRATION_WAITS },
	/* tried again where kubelet gives up (case 238, difference) */
	{ REGISTRATION_ASKS_NODE, REGISTRATION_FAILED, false, REGISTRATION_REFUSES },
	/* what may be written in part is taken back before that is reported */
	{ REGISTRATION_WRITES, REGISTRATION_FAILED, false, REGISTRATION_TAKES_BACK },
	{ REGISTRATION_TAKES_BACK, REGISTRATION_SUCCEEDED, false, REGISTRATION_REFUSES },
	{ REGISTRATION_TAKES_BACK, REGISTRATION_FAILED, false, REGISTRATION_REFUSES },
	/* a registrar that cannot be notified is registered */
	{ REGISTRATION_TELLS, REGISTRATION_FAILED, false, REGISTRATION_DONE },
	/* a newer version elsewhere */
	{ REGISTRATION_DONE, REGISTRATION_REPLACED, false, REGISTRATION_WAITS },
	{ REGISTRATION_TELLS, REGISTRATION_REPLACED, false, REGISTRATION_WAITS },
	/* the socket goes */
	{ REGISTRATION_WAITS, REGISTRATION_LEFT, true, REGISTRATION_OVER },
	{ REGISTRATION_ASKS, REGISTRATION_LEFT, true, REGISTRATION_OVER },
	{ REGISTRATION_ASKS_NODE, REGISTRATION_LEFT, true, REGISTRATION_OVER },
	{ REGISTRATION_REFUSES, REGISTRATION_LEFT, true, REGISTRATION_OVER },
	{ REGISTRATION_DONE, REGISTRATION_LEFT, true, REGISTRATION_TAKES_BACK },
	{ REGISTRATION_TELLS, REGISTRATION_LEFT, true, REGISTRATION_TAKES_BACK },
	{ REGISTRATION_WRITES, REGISTRATION_LEFT, true, REGISTRATION_WRITES },
	{ REGISTRATION_WRITES, REGISTRATION_SUCCEEDED, true, REGISTRATION_TAKES_BACK },
	{ REGISTRATION_WRITES, REGISTRATION_FAILED, true, REGISTRATION_TAKES_BACK },
	{ REGISTRATION_TAKES_BACK, REGISTRATION_LEFT, true, REGISTRATION_TAKES_BACK },
	{ REGISTRATION_TAKES_BACK, REGISTRATION_SUCCEEDED, true, REGISTRATION_OVER },
	{ REGISTRATION_TAKES_BACK, REGISTRATION_FAILED, true, REGISTRATION_OVER },
};

static void test_every_move(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(registration_next(rows[i].from, rows[i].event, rows[i].left),
				 rows[i].to);
}

/* Whatever happens, a socket that left comes to its end, and nothing stays written. */
static void test_leaving_always_ends(void **state)
{
	for (int from = 0; from < REGISTRATION_OVER; from++) {
		enum registration_stage stage =
			registration_next((enum registration_stage) from, REGISTRATION_LEFT, true);
		bool was_written = from == REGISTRATION_WRITES || from == REGISTRATION_TELLS ||
				   from == REGISTRATION_DONE || from == REGISTRATION_TAKES_BACK;
		bool is_taken_back = false;
		unsigned int moves = 0;

		for (; stage != REGISTRATION_OVER; moves++) {
			assert_true(moves < 3);
			is_taken_back = is_taken_back || stage == REGISTRATION_TAKES_BACK;
			stage = registration_next(stage, REGISTRATION_FAILED, true);
		}
		assert_int_equal(is_taken_back, was_written);
	}
}

static void test_only_two_stages_take_calls(void **state)
{
	unsigned int count = 0;

	for (int stage = 0; stage < REGISTRATION_STAGE_COUNT; stage++)
		count += registration_is_ready((enum registration_stage) stage);
	assert_int_equal(count, 2);
	assert_true(registration_is_ready(REGISTRATION_TELLS));
	assert_true(registration_is_ready(REGISTRATION_DONE));
}

/* ---- times ---- */

static void test_back_off(void **state)
{
	assert_int_equal(registration_delay_usec(1), 500 * USEC_PER_MSEC);
	assert_int_equal(registration_delay_usec(2), USEC_PER_SEC);
	assert_int_equal(registration_delay_usec(8), 64 * USEC_PER_SEC);
	assert_int_equal(registration_delay_usec(9), 122 * USEC_PER_SEC);
	assert_int_equal(registration_delay_usec(1000000), 122 * USEC_PER_SEC);
}

/* As long as kubelet dials, and often at first: the socket's maker listens in a moment. */
static void test_dialling_takes_ten_seconds(void **state)
{
	uint64_t passed_usec = 0, delay_usec;
	unsigned int tries = 1;

	assert_int_equal(registration_dial_usec(1), 10 * USEC_PER_MSEC);
	for (; (delay_usec = registration_dial_usec(tries)) > 0; tries++) {
		assert_true(delay_usec <= USEC_PER_SEC);
		passed_usec += delay_usec;
	}
	assert_in_range(passed_usec, 9 * USEC_PER_SEC, 10 * USEC_PER_SEC);
	assert_in_range(tries, 10, 20);
	assert_int_equal(registration_dial_usec(1000), 0);
}

/* ---- what a registrar tells ---- */

static const char *const one_version[] = { "1.0.0" };

static struct registration_info good_info(void)
{
	return (struct registration_info){
		.type = "CSIPlugin",
		.name = "csi.example.com",
		.endpoint = "/var/lib/kubelet/plugins/x/csi.sock",
		.versions = one_version,
		.version_count = 1,
	};
}

static int check(const struct registration_info *info, const char **ret_endpoint)
{
	struct registration_owner nobody = { .version = NULL };
	struct csi_version version;
	struct failure why = { .error = 0 };
	int r = registration_check(info, "/reg/x-reg.sock", &nobody, &version, ret_endpoint, &why);

	assert_int_equal(why.error, r);
	return r;
}

static void test_endpoints(void **state)
{
	struct registration_info info = good_info();
	char long_path[5000];
	const char *endpoint;

	assert_int_equal(check(&info, &endpoint), 0);
	assert_ptr_equal(endpoint, info.endpoint);
	info.endpoint = "";
	assert_int_equal(check(&info, &endpoint), 0);
	assert_string_equal(endpoint, "/reg/x-reg.sock");
	info.endpoint = "plugins/x/csi.sock";
	assert_int_equal(check(&info, &endpoint), -EINVAL);
	info.endpoint = "unix:///x/csi.sock";
	assert_int_equal(check(&info, &endpoint), -EINVAL);
	memset(long_path, '/', sizeof(long_path));
	long_path[4095] = '\0';
	info.endpoint = long_path;
	assert_int_equal(check(&info, &endpoint), 0);
	long_path[4095] = '/';
	long_path[4096] = '\0';
	assert_int_equal(check(&info, &endpoint), -EINVAL);
}

static void test_other_plugins_are_refused(void **state)
{
	static const char *const types[] = { "Foo", "DevicePlugin", "DRAPlugin", "", "csiplugin" };
	struct registration_info info = good_info();
	const char *endpoint;

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		info.type = types[i];
		assert_int_equal(check(&info, &endpoint), -EOPNOTSUPP);
	}
}

/* A name becomes a part of paths. */
static void test_names(void **state)
{
	static const struct {
		const char *name;
		bool good;
	} names[] = {
		{ "a", true },
		{ "hostpath.csi.k8s.io", true },
		{ "A-b.C", true },
		{ "", false },
		{ ".", false },
		{ "..", false },
		{ "a..b", false },
		{ "a/b", false },
		{ "-a", false },
		{ "a-", false },
		{ "a.-b", false },
		{ "a-.b", false },
		{ ".a", false },
		{ "a.", false },
		{ "a_b", false },
		{ "a\nb", false },
		{ "\xc3\xa4", false },
		{ "a23456789012345678901234567890123456789012345678901234567890123", true },
		{ "a234567890123456789012345678901234567890123456789012345678901234", false },
	};
	struct registration_info info = good_info();
	const char *endpoint;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		info.name = names[i].name;
		assert_int_equal(check(&info, &endpoint), names[i].good ? 0 : -EINVAL);
	}
}

static int offer(const char *version, const char *owner_version, bool is_ready)
{
	const char *const versions[] = { version };
	struct registration_info info = good_info();
	struct registration_owner owner = { .version = NULL, .is_ready = is_ready };
	struct csi_version owned, chosen;
	const char *endpoint;

	info.versions = versions;
	if (owner_version) {
		assert_int_equal(csi_version_parse(owner_version, &owned), 0);
		owner.version = &owned;
	}
	return registration_check(&info, "/reg/x", &owner, &chosen, &endpoint, NULL);
}

static void test_a_name_belongs_to_one(void **state)
{
	assert_int_equal(offer("1.0.0", "1.0.0", true), -EEXIST); /* case 227 */
	assert_int_equal(offer("1.0.1", "1.0.0", true), 0);       /* case 228 */
	assert_int_equal(offer("1.0.0", NULL, false), 0); /* case 229: the name is another */
	assert_int_equal(offer("1.0", "1.0.0", true), -EEXIST);
	assert_int_equal(offer("1.0.0", "1.0.1", false), -EEXIST);
	assert_int_equal(offer("1.0.1", "1.0.0", false), -EBUSY);
	assert_int_equal(offer("0.3.0", NULL, false), -EPROTO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_move),
		cmocka_unit_test(test_leaving_always_ends),
		cmocka_unit_test(test_only_two_stages_take_calls),
		cmocka_unit_test(test_back_off),
		cmocka_unit_test(test_dialling_takes_ten_seconds),
		cmocka_unit_test(test_endpoints),
		cmocka_unit_test(test_other_plugins_are_refused),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_a_name_belongs_to_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
