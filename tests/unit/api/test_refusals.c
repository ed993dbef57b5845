/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_refusals - which guess must wait and for how long, which refusal has a line of its own
 */
#include "api/auth/refusals.h"

#include "api/api.h"
#include "api/auth/token_list.h"
#include "base/cleanup.h"
#include "base/clock.h"

#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define NOW   (1000 * USEC_PER_SEC)
#define GUESS (API_GUESS_SECONDS * USEC_PER_SEC)

struct test {
	sd_event *event;
	struct refusals *refusals;
};

static int set_up(void **state)
{
	static struct test test;

	*state = &test;
	return sd_event_new(&test.event) < 0 ? -1 : refusals_new(test.event, &test.refusals);
}

static int tear_down(void **state)
{
	struct test *test = *state;

	test->refusals = refusals_free(test->refusals);
	test->event = sd_event_unref(test->event);
	return 0;
}

static struct remote_peer peer(unsigned int number)
{
	struct remote_peer peer = { .family = AF_INET };

	memcpy(peer.bytes, &number, sizeof(number));
	return peer;
}

static void guess(struct refusals *refusals, const struct remote_peer *who, unsigned int times)
{
	while (times-- > 0)
		refusals_guessed(refusals, who, NOW);
}

static void guesses_are_throttled(void **state)
{
	struct refusals *refusals = ((struct test *) *state)->refusals;
	const struct remote_peer one = peer(1), other = peer(2);

	guess(refusals, &one, API_GUESSES_MAX - 1);
	assert_int_equal(refusals_wait(refusals, &one, NULL, NOW), 0);
	guess(refusals, &one, 1);
	assert_int_equal(refusals_wait(refusals, &one, NULL, NOW), API_GUESS_SECONDS);
	assert_int_equal(refusals_wait(refusals, &other, NULL, NOW), 0);
	/* What is said is true: one microsecond before it is too early. */
	assert_int_equal(refusals_wait(refusals, &one, NULL, NOW + GUESS - 1), 1);
	assert_int_equal(refusals_wait(refusals, &one, NULL, NOW + GUESS), 0);
	refusals_guessed(refusals, &one, NOW + GUESS);
	assert_int_equal(refusals_wait(refusals, &one, NULL, NOW + GUESS), API_GUESS_SECONDS);
	/* Forgiven in time, and no more than once over. */
	guess(refusals, &other, API_GUESSES_MAX);
	assert_int_equal(refusals_wait(refusals, &other, NULL, NOW + 100 * GUESS), 0);
}

static void a_client_is_not_shut_out_by_a_guesser_beside_it(void **state)
{
	struct refusals *refusals = ((struct test *) *state)->refusals;
	unsigned char used[5][TOKEN_DIGEST_BYTES] = { { 1 }, { 2 }, { 3 }, { 4 }, { 5 } };
	const struct remote_peer one = peer(1), other = peer(2);

	for (size_t i = 0; i < ARRAY_SIZE(used); i++)
		refusals_accepted(refusals, &one, used[i], NOW);
	guess(refusals, &one, API_GUESSES_MAX);
	guess(refusals, &other, API_GUESSES_MAX);
	assert_int_equal(refusals_wait(refusals, &one, used[4], NOW), 0);
	assert_int_equal(refusals_wait(refusals, &one, used[1], NOW), 0);
	/* The oldest of five is forgotten, and another peer never used it. */
	assert_int_not_equal(refusals_wait(refusals, &one, used[0], NOW), 0);
	assert_int_not_equal(refusals_wait(refusals, &other, used[4], NOW), 0);
}

static void the_peer_seen_longest_ago_is_forgotten(void **state)
{
	struct refusals *refusals = ((struct test *) *state)->refusals;
	const struct remote_peer first = peer(0), second = peer(1);

	for (unsigned int i = 0; i < API_REFUSED_PEERS_MAX; i++) {
		struct remote_peer one = peer(i);

		for (int n = 0; n < API_GUESSES_MAX; n++)
			refusals_guessed(refusals, &one, NOW + i);
	}
	assert_int_not_equal(refusals_wait(refusals, &first, NULL, NOW), 0);
	refusals_guessed(refusals, &(struct remote_peer){ .family = AF_UNIX }, NOW + 1000);
	assert_int_equal(refusals_wait(refusals, &first, NULL, NOW), 0);
	assert_int_not_equal(refusals_wait(refusals, &second, NULL, NOW), 0);
}

/* ---- lines ---- */

static FILE *file;
static int saved_stderr;
static char output[65536];

static const char *written(void)
{
	size_t length;

	rewind(file);
	length = fread(output, 1, sizeof(output) - 1, file);
	output[length] = '\0';
	rewind(file);
	assert_int_equal(ftruncate(fileno(file), 0), 0);
	return output;
}

static void capture(void)
{
	file = tmpfile();
	assert_non_null(file);
	saved_stderr = dup(STDERR_FILENO);
	assert_true(dup2(fileno(file), STDERR_FILENO) >= 0);
}

static void release(void)
{
	assert_true(dup2(saved_stderr, STDERR_FILENO) >= 0);
	(void) close(saved_stderr);
	(void) fclose(file);
}

static unsigned int lines_of(struct refusals *refusals, unsigned int number, unsigned int times)
{
	static uint64_t now_usec = NOW;
	const struct remote_peer one = peer(number);
	unsigned int lines = 0;

	while (times-- > 0)
		lines += refusals_log(refusals, &one, now_usec++);
	return lines;
}

static void repeated_refusals_are_summed_up(void **state)
{
	struct refusals *refusals = ((struct test *) *state)->refusals;

	capture();
	assert_int_equal(lines_of(refusals, htonl(0xc0000201), 5000),
			 API_REFUSAL_LINES_OF_PEER_MAX);
	assert_int_equal(lines_of(refusals, htonl(0xc0000202), 3), 3);
	refusals_sum_up(refusals);
	assert_string_equal(written(), "notice: api: 4980 more requests from 192.0.2.1 were "
				       "refused within a minute\n");
	/* A new minute. */
	assert_int_equal(lines_of(refusals, htonl(0xc0000201), 1), 1);
	refusals_sum_up(refusals);
	assert_string_equal(written(), "");
	release();
}

static void many_peers_write_no_more_than_all_may(void **state)
{
	struct refusals *refusals = ((struct test *) *state)->refusals;
	unsigned int lines = 0, sums = 0;

	capture();
	for (unsigned int i = 0; i < 1000; i++)
		lines += lines_of(refusals, i, 10);
	assert_int_equal(lines, API_REFUSAL_LINES_MAX);
	refusals_sum_up(refusals);
	for (const char *at = written(); (at = strchr(at, '\n')); at++)
		sums++;
	assert_int_equal(sums, API_REFUSED_PEERS_MAX + 1);
	assert_non_null(strstr(output, "7240 more requests from other clients were refused"));
	release();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(guesses_are_throttled),
		TEST(a_client_is_not_shut_out_by_a_guesser_beside_it),
		TEST(the_peer_seen_longest_ago_is_forgotten),
		TEST(repeated_refusals_are_summed_up),
		TEST(many_peers_write_no_more_than_all_may),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
