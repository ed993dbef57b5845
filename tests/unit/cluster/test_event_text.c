/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_event_text - what a kube-apiserver is sent of an event of the store
 */
#include "cluster/event_text.h"

#include "base/cleanup.h"
#include "tests/unit/object/object_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define EVENT(count, message)                                                                      \
	"{\"apiVersion\":\"v1\",\"kind\":\"Event\",\"metadata\":{\"name\":\"web.1\","              \
	"\"namespace\":\"n\","                                                                     \
	"\"uid\":\"u\",\"resourceVersion\":\"7\"},\"involvedObject\":{\"kind\":\"Pod\","           \
	"\"namespace\":\"n\","                                                                     \
	"\"name\":\"web\",\"uid\":\"p\",\"resourceVersion\":\"5\"},\"type\":\"Warning\","          \
	"\"reason\":"                                                                              \
	"\"FailedMount\",\"message\":\"" message "\",\"source\":{\"component\":\"podvold\"},"      \
	"\"count\":" count ",\"firstTimestamp\":\"2026-01-02T03:04:05Z\",\"lastTimestamp\":"       \
	"\"2026-01-02T03:05:06Z\",\"reportingComponent\":\"podvold\",\"reportingInstance\":"       \
	"\"node1\"}"

static void expect_text(const char *event, char *(*make)(const struct cJSON *event, bool is_core),
			bool is_core, const char *expected)
{
	cleanup_json struct cJSON *tree = tree_of_json(event);
	cleanup_json struct cJSON *wanted = tree_of_json(expected);
	cleanup_free char *text = make(tree, is_core);
	cleanup_json struct cJSON *got = tree_of_json(text);

	if (!json_equal(got, wanted))
		assert_string_equal(text, expected);
}

#define MADE(more)                                                                                 \
	"{\"apiVersion\":\"events.k8s.io/"                                                         \
	"v1\",\"kind\":\"Event\",\"metadata\":{\"name\":\"web.1\","                                \
	"\"namespace\":\"n\"},\"eventTime\":\"2026-01-02T03:04:05.000000Z\",\"type\":\"Warning\"," \
	"\"reason\":\"FailedMount\",\"action\":\"ManageVolumes\",\"note\":\"why\",\"regarding\":{" \
	"\"kind\":\"Pod\",\"namespace\":\"n\",\"name\":\"web\",\"uid\":\"p\"},"                    \
	"\"reportingController\":\"podvol.io/podvold\",\"reportingInstance\":\"node1\"" more "}"
#define SERIES "\"series\":{\"count\":3,\"lastObservedTime\":\"2026-01-02T03:05:06.000000Z\"}"

static void test_one_is_made(void **state)
{
	expect_text(EVENT("1", "why"), event_text, false, MADE(""));
	expect_text(EVENT("1", "why"), event_series_text, false, "{}");
}

static void test_several_are_a_series(void **state)
{
	expect_text(EVENT("3", "why"), event_text, false, MADE("," SERIES));
	expect_text(EVENT("3", "why"), event_series_text, false, "{" SERIES "}");
}

#define CORE                                                                                       \
	"{\"apiVersion\":\"v1\",\"kind\":\"Event\",\"metadata\":{\"name\":\"web.1\","              \
	"\"namespace\":\"n\"},"                                                                    \
	"\"involvedObject\":{\"kind\":\"Pod\",\"namespace\":\"n\",\"name\":\"web\",\"uid\":\"p\"}" \
	","                                                                                        \
	"\"type\":\"Warning\",\"reason\":\"FailedMount\",\"message\":\"why\",\"source\":{"         \
	"\"component\":"                                                                           \
	"\"podvold\"},\"count\":3,\"firstTimestamp\":\"2026-01-02T03:04:05Z\",\"lastTimestamp\":"  \
	"\"2026-01-02T03:05:06Z\",\"reportingComponent\":\"podvold\",\"reportingInstance\":"       \
	"\"node1\"}"

static void test_the_older_api_has_a_count(void **state)
{
	expect_text(EVENT("3", "why"), event_text, true, CORE);
	expect_text(EVENT("3", "why"), event_series_text, true,
		    "{\"count\":3,\"lastTimestamp\":\"2026-01-02T03:05:06Z\"}");
}

#define TEN      "0123456789"
#define HUNDRED  TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN
#define THOUSAND HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED

static void expect_note(const char *event, size_t length, const char *end)
{
	cleanup_json struct cJSON *tree = tree_of_json(event);
	cleanup_free char *text = event_text(tree, false);
	cleanup_json struct cJSON *made = tree_of_json(text);
	const char *note = json_string(json_get(made, "note"), "");

	assert_int_equal(strlen(note), length);
	assert_string_equal(note + length - strlen(end), end);
}

static void test_a_long_note_is_cut_between_characters(void **state)
{
	expect_note(EVENT("1", THOUSAND "012345678901234567890123"), EVENT_NOTE_BYTES, "0123");
	expect_note(EVENT("1", THOUSAND "0123456789012345678901234"), EVENT_NOTE_BYTES, "90...");
	/* The two bytes of a character would be the last that fit, and the first that do not. */
	expect_note(EVENT("1", THOUSAND "01234567890123456789\u00e901234567890"),
		    EVENT_NOTE_BYTES - 1, "9...");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_is_made),
		cmocka_unit_test(test_several_are_a_series),
		cmocka_unit_test(test_the_older_api_has_a_count),
		cmocka_unit_test(test_a_long_note_is_cut_between_characters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
