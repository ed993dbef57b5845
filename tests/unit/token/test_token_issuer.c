/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_token_issuer - what tokens say, how long they are kept, what becomes of keys
 *
 * The real clock is the test's, which moves it.
 */
#include "token/token_issuer.h"

#include "base/cleanup.h"
#include "tests/unit/object/object_text.h"
#include "token/key_ring.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <gnutls/abstract.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define BEGIN  1800000000 /* seconds of real time, when each test begins */
#define DAY    86400
#define WEEK   (7 * DAY)
#define ISSUER "https://example.com"

static int64_t now;
static char directory[64];
static struct token_issuer *issuer;
static const struct object *pod, *account, *secret;

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret)
{
	*ret = (struct timespec){ .tv_sec = now };
	return 0;
}

static unsigned int parsed; /* private keys */

int __real_gnutls_privkey_import_x509_raw(gnutls_privkey_t key, const gnutls_datum_t *text,
					  gnutls_x509_crt_fmt_t format, const char *password,
					  unsigned int flags);
int __wrap_gnutls_privkey_import_x509_raw(gnutls_privkey_t key, const gnutls_datum_t *text,
					  gnutls_x509_crt_fmt_t format, const char *password,
					  unsigned int flags);
int __wrap_gnutls_privkey_import_x509_raw(gnutls_privkey_t key, const gnutls_datum_t *text,
					  gnutls_x509_crt_fmt_t format, const char *password,
					  unsigned int flags)
{
	parsed++;
	return __real_gnutls_privkey_import_x509_raw(key, text, format, password, flags);
}

static void start(int64_t longest, int64_t key_seconds)
{
	const struct token_issuer_options options = {
		.state_dir = directory,
		.url = ISSUER,
		.node_name = "n1",
		.longest_seconds = longest,
		.key_seconds = key_seconds,
	};

	issuer = token_issuer_free(issuer);
	assert_int_equal(token_issuer_new(&options, &issuer, NULL), 0);
	token_issuer_set_node_uid(issuer, "node-uid");
}

static int set_up(void **state)
{
	now = BEGIN;
	(void) snprintf(directory, sizeof(directory), "/tmp/test_token_issuer.XXXXXX");
	assert_non_null(mkdtemp(directory));
	pod = object_of(
		"apiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: ns, uid: pod-uid}\n"
		"spec: {serviceAccountName: robot, containers: [{name: c}]}\n");
	account = object_of("apiVersion: v1\nkind: ServiceAccount\n"
			    "metadata: {name: robot, namespace: ns, uid: robot-uid}\n");
	secret = object_of("apiVersion: v1\nkind: Secret\n"
			   "metadata: {name: s, namespace: ns, uid: secret-uid}\n");
	start(WEEK, 0);
	return 0;
}

static int tear_down(void **state)
{
	int fd = open(directory, O_RDONLY | O_DIRECTORY);

	issuer = token_issuer_free(issuer);
	(void) object_unref(pod);
	(void) object_unref(account);
	(void) object_unref(secret);
	(void) unlinkat(fd, KEY_RING_FILE, 0);
	(void) close(fd);
	assert_int_equal(unlinkat(AT_FDCWD, directory, AT_REMOVEDIR), 0);
	return 0;
}

static struct issued_token token_for(const char *audience, int64_t seconds, const char *current)
{
	const struct token_source *source = token_issuer_source(issuer);
	const struct token_order want = { .pod = pod,
					  .service_account = account,
					  .audience = audience,
					  .seconds = seconds,
					  .current = current };
	struct issued_token token = { .text = NULL };

	assert_int_equal(source->issue(source->userdata, &want, &token, NULL), 0);
	return token;
}

static struct cJSON *claims_of(const char *text)
{
	struct cJSON *claims = NULL;

	assert_int_equal(token_issuer_review(issuer, text, &claims, NULL), 0);
	return claims;
}

static void assert_claim(const struct cJSON *claims, const char *key, const char *value)
{
	cleanup_free char *text = json_print(json_get(claims, key));

	assert_string_equal(text, value);
}

/* ---- what they say ---- */

static void test_what_a_pods_token_says(void **state)
{
	struct issued_token token = token_for("vault", 3600, NULL);
	cleanup_json struct cJSON *claims = claims_of(token.text);

	assert_claim(claims, "iss", "\"" ISSUER "\"");
	assert_claim(claims, "sub", "\"system:serviceaccount:ns:robot\"");
	assert_claim(claims, "aud", "[\"vault\"]");
	assert_claim(claims, "iat", "1800000000");
	assert_claim(claims, "nbf", "1800000000");
	assert_claim(claims, "exp", "1800003600");
	assert_claim(claims, "kubernetes.io",
		     "{\"namespace\":\"ns\",\"node\":{\"name\":\"n1\",\"uid\":\"node-uid\"},"
		     "\"pod\":{\"name\":\"web\",\"uid\":\"pod-uid\"},"
		     "\"serviceaccount\":{\"name\":\"robot\",\"uid\":\"robot-uid\"}}");
	assert_int_equal(strlen(json_string(json_get(claims, "jti"), "")), 36);
	assert_int_equal(token.expires_usec, 1800003600000000);
	issued_token_done(&token);
	assert_null(token.text);
}

static void test_no_audience_is_the_issuers_own(void **state)
{
	struct issued_token token = token_for("", 3600, NULL);
	cleanup_json struct cJSON *claims = claims_of(token.text);

	assert_claim(claims, "aud", "[\"" ISSUER "\"]");
	issued_token_done(&token);
}

static void test_bound_to_a_secret_or_to_nothing(void **state)
{
	static const char *const audiences[] = { "a", "b" };
	struct token_grant grant = { .service_account = account,
				     .bound = secret,
				     .audiences = audiences,
				     .audience_count = 2,
				     .seconds = 600 };
	struct issued_token token;
	struct cJSON *claims;

	assert_int_equal(token_issuer_issue(issuer, &grant, &token, NULL), 0);
	claims = claims_of(token.text);
	assert_claim(claims, "aud", "[\"a\",\"b\"]");
	assert_claim(claims, "kubernetes.io",
		     "{\"namespace\":\"ns\",\"secret\":{\"name\":\"s\",\"uid\":\"secret-uid\"},"
		     "\"serviceaccount\":{\"name\":\"robot\",\"uid\":\"robot-uid\"}}");
	json_free(claims);
	issued_token_done(&token);
	grant.bound = NULL;
	assert_int_equal(token_issuer_issue(issuer, &grant, &token, NULL), 0);
	claims = claims_of(token.text);
	assert_claim(claims, "kubernetes.io",
		     "{\"namespace\":\"ns\","
		     "\"serviceaccount\":{\"name\":\"robot\",\"uid\":\"robot-uid\"}}");
	json_free(claims);
	issued_token_done(&token);
}

/* The bound is a difference from Kubernetes. */
static void test_how_long_a_token_may_live(void **state)
{
	struct token_grant grant = { .service_account = account, .seconds = 599 };
	struct issued_token token;
	struct failure why;

	assert_int_equal(token_issuer_issue(issuer, &grant, &token, &why), -EINVAL);
	assert_string_equal(why.text, "a token lives for 600 seconds at least, not for 599");
	grant.seconds = 2 * WEEK;
	assert_int_equal(token_issuer_issue(issuer, &grant, &token, &why), 0);
	assert_int_equal(token.expires_usec / 1000000, BEGIN + WEEK);
	issued_token_done(&token);
	grant.audience_count = 33;
	assert_int_equal(token_issuer_issue(issuer, &grant, &token, &why), -E2BIG);
}

/* ---- how long they are kept ---- */

static void assert_between(uint64_t usec, int64_t from_seconds, int64_t to_seconds)
{
	assert_in_range(usec, from_seconds * 1000000, to_seconds * 1000000);
}

/* 80 % of the life, or a day; at most ten seconds earlier. */
static void test_when_a_token_is_due(void **state)
{
	struct issued_token token = token_for("a", 3600, NULL);

	assert_between(token.refresh_usec, BEGIN + 2870, BEGIN + 2880);
	issued_token_done(&token);
	token = token_for("a", 600, NULL);
	assert_between(token.refresh_usec, BEGIN + 470, BEGIN + 480);
	issued_token_done(&token);
	token = token_for("a", WEEK, NULL);
	assert_between(token.refresh_usec, BEGIN + DAY - 10, BEGIN + DAY);
	issued_token_done(&token);
}

/* A thousand pods do not ask in the same moment. */
static void test_tokens_are_due_at_different_times(void **state)
{
	struct issued_token first = token_for("a", 3600, NULL);
	unsigned int same = 0;

	for (int i = 0; i < 20; i++) {
		struct issued_token token = token_for("a", 3600, NULL);

		same += token.refresh_usec == first.refresh_usec;
		issued_token_done(&token);
	}
	assert_true(same < 20);
	issued_token_done(&first);
}

static bool is_kept(const struct issued_token *current, const char *audience, int64_t seconds)
{
	struct issued_token token = token_for(audience, seconds, current->text);
	bool same = strcmp(token.text, current->text) == 0;

	if (same) {
		assert_int_equal(token.refresh_usec, current->refresh_usec);
		assert_int_equal(token.expires_usec, current->expires_usec);
	}
	issued_token_done(&token);
	return same;
}

static void test_a_token_is_kept_until_it_is_due(void **state)
{
	struct issued_token token = token_for("a", 3600, NULL);

	assert_true(is_kept(&token, "a", 3600));
	now = BEGIN + 2869;
	assert_true(is_kept(&token, "a", 3600));
	now = BEGIN + 2880;
	assert_false(is_kept(&token, "a", 3600));
	issued_token_done(&token);
}

static void test_another_want_gets_another_token(void **state)
{
	struct issued_token token = token_for("a", 3600, NULL);

	assert_false(is_kept(&token, "b", 3600));
	assert_false(is_kept(&token, "", 3600));
	assert_false(is_kept(&token, "a", 3601));
	token_issuer_set_node_uid(issuer, "another-node");
	assert_false(is_kept(&token, "a", 3600));
	token_issuer_set_node_uid(issuer, "node-uid");
	assert_true(is_kept(&token, "a", 3600));
	token.text[strlen(token.text) - 2] ^= 1;
	assert_false(is_kept(&token, "a", 3600));
	issued_token_done(&token);
}

static void test_another_pod_or_account_gets_another_token(void **state)
{
	struct issued_token token = token_for("a", 3600, NULL);
	const struct object *first_pod = pod, *first_account = account;

	pod = object_of(
		"apiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: ns, uid: later}\n"
		"spec: {containers: [{name: c}]}\n");
	assert_false(is_kept(&token, "a", 3600));
	(void) object_unref(pod);
	pod = first_pod;
	account = object_of("apiVersion: v1\nkind: ServiceAccount\n"
			    "metadata: {name: robot, namespace: ns, uid: made-again}\n");
	assert_false(is_kept(&token, "a", 3600));
	(void) object_unref(account);
	account = first_account;
	assert_true(is_kept(&token, "a", 3600));
	issued_token_done(&token);
}

/* A token with a time that is yet to come would be refused until then. */
static void test_a_clock_that_jumps_back(void **state)
{
	struct issued_token token = token_for("a", 3600, NULL);
	struct cJSON *claims = NULL;

	now = BEGIN - DAY;
	assert_int_equal(token_issuer_review(issuer, token.text, &claims, NULL), -EAGAIN);
	assert_false(is_kept(&token, "a", 3600));
	issued_token_done(&token);
}

static void test_a_token_ends(void **state)
{
	struct issued_token token = token_for("a", 3600, NULL);
	struct cJSON *claims = NULL;

	now = BEGIN + 3599;
	json_free(claims_of(token.text));
	now = BEGIN + 3600;
	assert_int_equal(token_issuer_review(issuer, token.text, &claims, NULL), -EKEYEXPIRED);
	issued_token_done(&token);
}

/* ---- keys ---- */

static size_t published(void)
{
	cleanup_json struct cJSON *set = token_issuer_key_set(issuer);

	return json_count(json_get(set, "keys"));
}

static void test_a_restart_keeps_the_key(void **state)
{
	struct issued_token token = token_for("a", 3600, NULL);

	start(WEEK, 0);
	assert_true(is_kept(&token, "a", 3600));
	assert_int_equal(published(), 1);
	issued_token_done(&token);
}

/* Once, by the first token. */
static void test_a_start_parses_no_key(void **state)
{
	struct issued_token token;

	start(WEEK, 0);
	parsed = 0;
	start(WEEK, 0);
	assert_int_equal(parsed, 0);
	for (int i = 0; i < 2; i++) {
		token = token_for("a", 3600, NULL);
		json_free(claims_of(token.text));
		issued_token_done(&token);
		assert_int_equal(parsed, 1);
	}
}

static void test_only_root_reads_the_key(void **state)
{
	struct stat st;
	int fd = open(directory, O_RDONLY | O_DIRECTORY);

	assert_int_equal(fstatat(fd, KEY_RING_FILE, &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	(void) close(fd);
}

/* The old key is believed, and published, until the last of its tokens has ended; over restarts. */
static void test_an_old_key_stays_published(void **state)
{
	struct issued_token old = token_for("a", WEEK, NULL), token;
	cleanup_json struct cJSON *claims = NULL;

	now += 100;
	assert_int_equal(token_issuer_renew_key(issuer, NULL), 0);
	token = token_for("a", 3600, NULL);
	assert_int_equal(published(), 2);
	start(600, 0);
	assert_int_equal(published(), 2);
	json_free(claims_of(old.text));
	json_free(claims_of(token.text));
	now = BEGIN + WEEK - 1;
	json_free(claims_of(old.text));
	now = BEGIN + 100 + WEEK + 2;
	assert_int_equal(published(), 1);
	assert_int_equal(token_issuer_review(issuer, old.text, &claims, NULL), -EINVAL);
	issued_token_done(&old);
	issued_token_done(&token);
}

static void read_ring(char *text, size_t size)
{
	int fd = open(directory, O_RDONLY | O_DIRECTORY);
	int file = openat(fd, KEY_RING_FILE, O_RDONLY);
	ssize_t length = read(file, text, size - 1);

	assert_true(length > 0);
	text[length] = '\0';
	(void) close(file);
	(void) close(fd);
}

/* Of the old key nothing that could sign is left. */
static void test_one_private_key_only(void **state)
{
	char text[8192], *at;

	assert_int_equal(token_issuer_renew_key(issuer, NULL), 0);
	assert_int_equal(token_issuer_renew_key(issuer, NULL), 0);
	read_ring(text, sizeof(text));
	at = strstr(text, "BEGIN PRIVATE KEY");
	assert_non_null(at);
	assert_null(strstr(at + 1, "BEGIN PRIVATE KEY"));
	at = strstr(text, "BEGIN PUBLIC KEY");
	assert_non_null(at);
	assert_non_null(strstr(at + 1, "BEGIN PUBLIC KEY"));
}

static void test_a_key_is_replaced_at_its_age(void **state)
{
	struct issued_token token;

	start(3600, 30 * DAY);
	token = token_for("a", 3600, NULL);
	issued_token_done(&token);
	assert_int_equal(published(), 1);
	now = BEGIN + 30 * DAY;
	token = token_for("a", 3600, NULL);
	assert_int_equal(published(), 2);
	json_free(claims_of(token.text));
	issued_token_done(&token);
}

static void test_old_keys_are_not_without_end(void **state)
{
	struct failure why = { .error = 0 };
	int r = 0;

	for (int i = 0; i < KEY_RING_MAX && r == 0; i++)
		r = token_issuer_renew_key(issuer, &why);
	assert_int_equal(r, -EDQUOT);
	assert_int_equal(published(), KEY_RING_MAX);
	start(WEEK, 0);
	assert_int_equal(published(), KEY_RING_MAX);
}

static void write_ring(const char *text)
{
	int fd = open(directory, O_RDONLY | O_DIRECTORY);
	int file = openat(fd, KEY_RING_FILE, O_WRONLY | O_TRUNC);

	assert_int_equal(write(file, text, strlen(text)), strlen(text));
	(void) close(file);
	(void) close(fd);
}

/* What cannot be read is not replaced: everybody's tokens would end. */
static void test_a_damaged_file_is_refused(void **state)
{
	static const char *const damaged[] = {
		"words\n",
		"created: 2026-01-01T00:00:00Z\nlongest-token-seconds: 600\n"
		"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
		"longest-token-seconds: 600\n-----BEGIN PRIVATE KEY-----\n",
		"published-until: 2099-01-01T00:00:00Z\nlongest-token-seconds: 600\n"
		"-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----\n",
	};
	struct token_issuer_options options = {
		.state_dir = directory, .url = ISSUER, .node_name = "n1", .longest_seconds = 600
	};

	for (size_t i = 0; i < ARRAY_SIZE(damaged); i++) {
		struct token_issuer *second = NULL;

		write_ring(damaged[i]);
		assert_int_equal(token_issuer_new(&options, &second, NULL), -EINVAL);
		assert_null(second);
	}
}

/* Each byte of a key counts, although it is not parsed; a file of before has no sum. */
static void test_a_damaged_key_is_refused(void **state)
{
	const struct token_issuer_options options = {
		.state_dir = directory, .url = ISSUER, .node_name = "n1", .longest_seconds = 600
	};
	char text[8192], *key, *sum;
	struct issued_token token = token_for("a", 3600, NULL);

	read_ring(text, sizeof(text));
	sum = strstr(text, "text-sum: ");
	key = strstr(text, "KEY-----\n") + strlen("KEY-----\n");
	for (char *at = key; *at != '-'; at++) {
		struct token_issuer *second = NULL;
		char before = *at;

		*at = before == 'A' ? 'B' : 'A';
		write_ring(text);
		assert_int_equal(token_issuer_new(&options, &second, NULL), -EINVAL);
		*at = before;
	}
	memcpy(sum, "whatever:", strlen("whatever:"));
	write_ring(text);
	start(WEEK, 0);
	json_free(claims_of(token.text));
	issued_token_done(&token);
}

static void test_what_an_issuer_is_called(void **state)
{
	static const char *const wrong[] = { "",
					     "https://",
					     "http://example.com",
					     "https://example.com/",
					     "https://example.com b",
					     "https://example.com?x",
					     "https://example.com#x" };
	struct token_issuer_options options = { .state_dir = directory,
						.node_name = "n1",
						.longest_seconds = 600 };

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct token_issuer *second = NULL;

		options.url = wrong[i];
		assert_int_equal(token_issuer_new(&options, &second, NULL), -EINVAL);
	}
}

static void test_how_keys_are_found(void **state)
{
	cleanup_json struct cJSON *tree = token_issuer_configuration(issuer);

	assert_claim(tree, "issuer", "\"" ISSUER "\"");
	assert_claim(tree, "jwks_uri", "\"" ISSUER "/openid/v1/jwks\"");
	assert_claim(tree, "id_token_signing_alg_values_supported", "[\"ES256\"]");
}

static void test_the_view_of_keys(void **state)
{
	cleanup_json struct cJSON *view = NULL;
	const struct cJSON *first, *second;

	assert_int_equal(token_issuer_renew_key(issuer, NULL), 0);
	view = token_issuer_view(issuer);
	first = json_at(json_get(view, "items"), 0);
	second = json_at(json_get(view, "items"), 1);
	assert_claim(first, "signs", "true");
	assert_claim(first, "created", "\"2027-01-15T08:00:00Z\"");
	assert_null(json_get(first, "publishedUntil"));
	assert_claim(second, "signs", "false");
	assert_claim(second, "publishedUntil", "\"2027-01-22T08:00:01Z\"");
}

#define ISSUER_TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ISSUER_TEST(test_what_a_pods_token_says),
		ISSUER_TEST(test_no_audience_is_the_issuers_own),
		ISSUER_TEST(test_bound_to_a_secret_or_to_nothing),
		ISSUER_TEST(test_how_long_a_token_may_live),
		ISSUER_TEST(test_when_a_token_is_due),
		ISSUER_TEST(test_tokens_are_due_at_different_times),
		ISSUER_TEST(test_a_token_is_kept_until_it_is_due),
		ISSUER_TEST(test_another_want_gets_another_token),
		ISSUER_TEST(test_another_pod_or_account_gets_another_token),
		ISSUER_TEST(test_a_clock_that_jumps_back),
		ISSUER_TEST(test_a_token_ends),
		ISSUER_TEST(test_a_restart_keeps_the_key),
		ISSUER_TEST(test_a_start_parses_no_key),
		ISSUER_TEST(test_only_root_reads_the_key),
		ISSUER_TEST(test_an_old_key_stays_published),
		ISSUER_TEST(test_one_private_key_only),
		ISSUER_TEST(test_a_key_is_replaced_at_its_age),
		ISSUER_TEST(test_old_keys_are_not_without_end),
		ISSUER_TEST(test_a_damaged_file_is_refused),
		ISSUER_TEST(test_a_damaged_key_is_refused),
		ISSUER_TEST(test_what_an_issuer_is_called),
		ISSUER_TEST(test_how_keys_are_found),
		ISSUER_TEST(test_the_view_of_keys),
	};

	return cmocka_run_group_tests_name("token_issuer", tests, NULL, NULL);
}
