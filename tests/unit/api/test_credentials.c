/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_credentials - authority, token and server certificate: made, kept, refused, renewed
 *
 * The calls that change the disk are counted: each in turn fails, or is the last thing that the
 * process does.
 */
#include "api/auth/credentials.h"

#include "api/http/listen.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/secret_file.h"
#include "object/kinds/root_ca.h"

#include <fcntl.h>
#include <gnutls/x509.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>

enum { DAY = 86400, KILLED = 77 };

/* ---- the disk ---- */

static unsigned int calls, fault_at; /* 0: none */
static int fault_error;              /* 0: the process ends there */

static bool is_fault(void)
{
	if (fault_at == 0 || ++calls != fault_at)
		return false;
	if (fault_error == 0)
		_exit(KILLED);
	errno = fault_error;
	return true;
}

#define WRAP(type, name, parameters, arguments)                                                    \
	type __real_##name parameters;                                                             \
	type __wrap_##name parameters;                                                             \
	type __wrap_##name parameters                                                              \
	{                                                                                          \
		return is_fault() ? -1 : __real_##name arguments;                                  \
	}

WRAP(ssize_t, write, (int fd, const void *bytes, size_t length), (fd, bytes, length))
WRAP(int, fsync, (int fd), (fd))
WRAP(int, renameat, (int old_fd, const char *old, int new_fd, const char *new),
     (old_fd, old, new_fd, new))
WRAP(int, unlinkat, (int fd, const char *name, int flags), (fd, name, flags))

/* ---- a state directory ---- */

struct fixture {
	char directory[64], file[96];
	struct api_credentials_options options;
	struct failure why;
};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	(void) snprintf(fixture->directory, sizeof(fixture->directory), "/tmp/podvol-keys-XXXXXX");
	assert_non_null(mkdtemp(fixture->directory));
	fixture->options = (struct api_credentials_options){
		.state_dir = fixture->directory,
		.token_file = "",
		.client_ca_file = "",
		.node_name = "node",
		.names = "",
		.listen_fd = listen_tcp("listen", "127.0.0.1:0", false, &fixture->why),
	};
	assert_true(fixture->options.listen_fd >= 0);
	fault_at = 0;
	*state = fixture;
	return 0;
}

static const char *in(struct fixture *fixture, const char *name)
{
	(void) snprintf(fixture->file, sizeof(fixture->file), "%s/%s", fixture->directory, name);
	return fixture->file;
}

static int tear_down(void **state)
{
	static const char *const names[] = { "ca.pem", "token", ".ca.pem.new", ".token.new",
					     "other" };
	struct fixture *fixture = *state;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		(void) unlink(in(fixture, names[i]));
	assert_int_equal(rmdir(fixture->directory), 0);
	assert_int_equal(close(fixture->options.listen_fd), 0);
	free(fixture);
	return 0;
}

static int load(struct fixture *fixture, struct api_credentials **ret)
{
	*ret = NULL;
	fixture->why.text[0] = '\0';
	return api_credentials_new(&fixture->options, ret, &fixture->why);
}

static void write_file(struct fixture *fixture, const char *name, const char *text, mode_t mode)
{
	cleanup_close int fd =
		open(in(fixture, name), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, mode);

	assert_true(fd >= 0);
	assert_int_equal(fchmod(fd, mode), 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

static mode_t mode_of(struct fixture *fixture, const char *name)
{
	struct stat status;

	return stat(in(fixture, name), &status) < 0 ? 0 : status.st_mode & 07777;
}

/* ---- made and kept ---- */

static void test_made_once(void **state)
{
	struct fixture *fixture = *state;
	struct api_credentials *first, *second;

	assert_int_equal(load(fixture, &first), 0);
	assert_int_equal(mode_of(fixture, "ca.pem"), 0600);
	assert_int_equal(mode_of(fixture, "token"), 0600);
	assert_int_equal(mode_of(fixture, ".ca.pem.new"), 0);
	assert_int_equal(strlen(credentials_token(first)), 64);
	assert_non_null(strstr(credentials_server(first), "https://127.0.0.1:"));

	assert_int_equal(load(fixture, &second), 0);
	assert_string_equal(credentials_token(first), credentials_token(second));
	assert_string_equal(credentials_authority(first), credentials_authority(second));
	assert_null(strstr(credentials_authority(first), "PRIVATE"));
	assert_null(api_credentials_free(first));
	assert_null(api_credentials_free(second));
	assert_null(api_credentials_free(NULL));
}

/* The process ends at each of the calls that change the disk; the next start finds all or nothing.
 */
static void test_killed_anywhere(void **state)
{
	struct fixture *fixture = *state;
	struct api_credentials *credentials;
	unsigned int nth = 0;
	int status = 0;

	do {
		pid_t pid = fork();

		nth++;
		if (pid == 0) {
			calls = 0;
			fault_at = nth;
			fault_error = 0;
			_exit(load(fixture, &credentials) == 0 ? 0 : 1);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFEXITED(status));
		assert_int_not_equal(WEXITSTATUS(status), 1);
		assert_int_equal(load(fixture, &credentials), 0);
		(void) api_credentials_free(credentials);
		if (WEXITSTATUS(status) == KILLED) {
			(void) unlink(in(fixture, "ca.pem"));
			(void) unlink(in(fixture, "token"));
		}
	} while (WEXITSTATUS(status) == KILLED);
	/* Two files: unlink, write, flush, rename, flush the directory. */
	assert_int_equal(nth - 1, 2 * 5);
}

static void test_a_full_disk(void **state)
{
	struct fixture *fixture = *state;
	struct api_credentials *credentials;
	unsigned int nth, failed_loads = 0;

	for (nth = 1; nth <= 10; nth++) {
		calls = 0;
		fault_at = nth;
		fault_error = ENOSPC;
		if (load(fixture, &credentials) < 0) {
			failed_loads++;
			assert_int_equal(fixture->why.error, -ENOSPC);
			assert_non_null(strstr(fixture->why.text, "cannot write '"));
			assert_int_equal(mode_of(fixture, ".ca.pem.new"), 0);
			assert_int_equal(mode_of(fixture, ".token.new"), 0);
		}
		(void) api_credentials_free(credentials);
		fault_at = 0;
		(void) unlink(in(fixture, "ca.pem"));
		(void) unlink(in(fixture, "token"));
	}
	/* Only that a file left behind cannot be removed is passed over. */
	assert_int_equal(failed_loads, 2 * 4);
	assert_int_equal(load(fixture, &credentials), 0);
	(void) api_credentials_free(credentials);
}

/* ---- refused ---- */

static void assert_refused(struct fixture *fixture, int error, const char *words)
{
	struct api_credentials *credentials;
	int r = load(fixture, &credentials);

	if (r != error || !strstr(fixture->why.text, words))
		print_message("%d: %s\n", r, fixture->why.text);
	assert_int_equal(r, error);
	assert_non_null(strstr(fixture->why.text, words));
}

static void test_others_can_read_or_write(void **state)
{
	struct fixture *fixture = *state;
	struct api_credentials *credentials;

	assert_int_equal(load(fixture, &credentials), 0);
	(void) api_credentials_free(credentials);
	assert_int_equal(chmod(in(fixture, "token"), 0640), 0);
	assert_refused(fixture, -EPERM, "'token' can be read or written by others");
	assert_int_equal(chmod(in(fixture, "token"), 0600), 0);
	assert_int_equal(chmod(in(fixture, "ca.pem"), 0604), 0);
	assert_refused(fixture, -EPERM, "'ca.pem' can be read or written by others");
	assert_int_equal(chmod(in(fixture, "ca.pem"), 0600), 0);
	assert_int_equal(chmod(fixture->directory, 0770), 0);
	assert_refused(fixture, -EPERM, "can write in it");
	/* To be read by others is no harm: the files are not. */
	assert_int_equal(chmod(fixture->directory, 0755), 0);
	assert_int_equal(load(fixture, &credentials), 0);
	(void) api_credentials_free(credentials);
}

static void test_something_else_is_there(void **state)
{
	struct fixture *fixture = *state;
	char *certificate = NULL;

	write_file(fixture, "ca.pem", "", 0600);
	assert_refused(fixture, -EINVAL, "'ca.pem' is not a file of 1 to");
	write_file(fixture, "ca.pem", "nonsense\n", 0600);
	assert_refused(fixture, -EINVAL, "'ca.pem' cannot be read");
	assert_int_equal(
		api_root_certificate(fixture->directory, "node", NULL, &certificate, &fixture->why),
		-EINVAL);
	assert_non_null(strstr(fixture->why.text, "'ca.pem' cannot be read"));
	assert_int_equal(unlink(in(fixture, "ca.pem")), 0);
	assert_int_equal(mkdir(in(fixture, "ca.pem"), 0700), 0);
	assert_refused(fixture, -EINVAL, "'ca.pem' is not a file of 1 to");
	assert_int_equal(rmdir(in(fixture, "ca.pem")), 0);
	assert_int_equal(symlink("/dev/null", in(fixture, "ca.pem")), 0);
	assert_refused(fixture, -ELOOP, "cannot open 'ca.pem'");
	assert_int_equal(unlink(in(fixture, "ca.pem")), 0);
	fixture->options.state_dir = "/nonexistent-podvol";
	assert_refused(fixture, -ENOENT, "cannot open the directory '/nonexistent-podvol'");
}

static void test_an_authority_that_is_none(void **state)
{
	struct fixture *fixture = *state;
	struct authority *authority = NULL;
	cleanup_close int directory_fd = open(fixture->directory, O_DIRECTORY | O_CLOEXEC);
	time_t now = (time_t) (realtime_usec() / USEC_PER_SEC);

	assert_int_equal(authority_load(directory_fd, "node", now, &authority, &fixture->why), 0);
	authority = authority_free(authority);
	/* It lasts for decades, and then says so. */
	assert_int_equal(authority_load(directory_fd, "node", now + (time_t) 70 * 365 * DAY,
					&authority, &fixture->why),
			 0);
	authority = authority_free(authority);
	assert_int_equal(authority_load(directory_fd, "node", now + (time_t) 90 * 365 * DAY,
					&authority, &fixture->why),
			 -EKEYEXPIRED);
	assert_non_null(strstr(fixture->why.text, "has expired: move it away"));
	assert_null(authority);
}

static void assert_root(struct fixture *fixture, const struct object *published, const char *wanted)
{
	cleanup_free char *certificate = NULL;

	assert_int_equal(api_root_certificate(fixture->directory, "node", published, &certificate,
					      &fixture->why),
			 0);
	assert_string_equal(certificate, wanted);
}

/* That the key is missing shows whether it was checked. */
static void test_a_published_certificate(void **state)
{
	struct fixture *fixture = *state;
	cleanup_object const struct object *same = NULL, *other = NULL;
	cleanup_close int directory_fd = open(fixture->directory, O_DIRECTORY | O_CLOEXEC);
	cleanup_free char *certificate = NULL, *whole = NULL, *none = NULL;

	assert_int_equal(
		api_root_certificate(fixture->directory, "node", NULL, &certificate, &fixture->why),
		0);
	assert_int_equal(root_ca_new("default", certificate, &same, NULL), 0);
	assert_int_equal(root_ca_new("default", "another", &other, NULL), 0);
	assert_int_equal(secret_file_read(directory_fd, "ca.pem", &whole, NULL), 0);
	whole[strlen(whole) - 1] = '\0'; /* another form of the same */
	write_file(fixture, "ca.pem", whole, 0600);
	assert_root(fixture, same, certificate);
	write_file(fixture, "ca.pem", certificate, 0600);
	assert_root(fixture, same, certificate);
	assert_int_equal(
		api_root_certificate(fixture->directory, "node", other, &none, &fixture->why),
		-EINVAL);
}

/* ---- the token ---- */

static void test_a_token_of_the_operator(void **state)
{
	static const char *const bad[] = { "short", "0123456789abcdef\nmore\n", "0123456789 abcdef",
					   "0123456789abcdef\x01" };
	struct fixture *fixture = *state;
	struct api_credentials *credentials;

	fixture->options.token_file = in(fixture, "other");
	assert_refused(fixture, -ENOENT, "cannot open '");
	write_file(fixture, "other", "0123456789abcdef\r\n", 0400);
	assert_int_equal(load(fixture, &credentials), 0);
	assert_string_equal(credentials_token(credentials), "0123456789abcdef");
	assert_int_equal(mode_of(fixture, "token"), 0); /* none was made beside */
	assert_int_equal(mode_of(fixture, "ca.pem"), 0600);
	fixture->options.token_file = in(fixture, "other");
	(void) api_credentials_free(credentials);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		write_file(fixture, "other", bad[i], 0600);
		assert_refused(fixture, -EINVAL, "one line of 16 to 512");
	}
	write_file(fixture, "other", "0123456789abcdef\n", 0644);
	assert_refused(fixture, -EPERM, "can be read or written by others");
}

static void test_who_has_the_token(void **state)
{
	struct fixture *fixture = *state;
	struct api_credentials *credentials;

	fixture->options.token_file = in(fixture, "other");
	write_file(fixture, "other", "0123456789abcdef", 0600);
	assert_int_equal(load(fixture, &credentials), 0);
#define GIVEN(text) credentials_token_is_given(credentials, text)
	assert_true(GIVEN("Bearer 0123456789abcdef"));
	assert_true(GIVEN("bearer  0123456789abcdef"));
	assert_false(GIVEN(NULL));
	assert_false(GIVEN(""));
	assert_false(GIVEN("Bearer"));
	assert_false(GIVEN("Bearer "));
	assert_false(GIVEN("0123456789abcdef"));
	assert_false(GIVEN("Basic 0123456789abcdef"));
	assert_false(GIVEN("Bearer 0123456789abcde"));
	assert_false(GIVEN("Bearer 0123456789abcdeg"));
	assert_false(GIVEN("Bearer 0123456789abcdef0123456789abcdef"));
	assert_false(GIVEN("Bearer 0123456789abcdef "));
	(void) api_credentials_free(credentials);
}

/* ---- the server's certificate ---- */

static gnutls_x509_crt_t parse(const gnutls_datum_t *text, gnutls_x509_crt_fmt_t form)
{
	gnutls_x509_crt_t certificate;

	assert_int_equal(gnutls_x509_crt_init(&certificate), 0);
	assert_int_equal(gnutls_x509_crt_import(certificate, text, form), 0);
	return certificate;
}

static void assert_signed(const struct api_credentials *credentials,
			  struct server_certificate *server, const char *host, bool is_host)
{
	const char *pem = credentials_authority(credentials);
	const gnutls_datum_t text = { .data = (unsigned char *) (uintptr_t) pem,
				      .size = (unsigned int) strlen(pem) };
	gnutls_x509_crt_t authority = parse(&text, GNUTLS_X509_FMT_PEM);
	gnutls_x509_crt_t certificate = parse(&server->certificate.cert, GNUTLS_X509_FMT_DER);
	unsigned int result = 0;

	assert_int_equal(gnutls_x509_crt_verify(certificate, &authority, 1,
						GNUTLS_VERIFY_DISABLE_TIME_CHECKS, &result),
			 0);
	assert_int_equal(result, 0);
	assert_int_equal(gnutls_x509_crt_get_ca_status(certificate, NULL), 0);
	assert_int_equal(gnutls_x509_crt_check_hostname(certificate, host) != 0, is_host);
	gnutls_x509_crt_deinit(authority);
	gnutls_x509_crt_deinit(certificate);
}

static void test_whom_it_is_for(void **state)
{
	struct fixture *fixture = *state;
	static const char *const names[] = { "node",        "localhost", "127.0.0.1",  "::1",
					     "example.com", "192.0.2.7", "2001:db8::7" };
	time_t now = (time_t) (realtime_usec() / USEC_PER_SEC);
	struct api_credentials *credentials;

	fixture->options.names = "example.com,192.0.2.7,,2001:db8::7,node";
	assert_int_equal(load(fixture, &credentials), 0);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_signed(credentials, credentials_certificate(credentials, now), names[i],
			      true);
	assert_signed(credentials, credentials_certificate(credentials, now), "example.org", false);
	assert_signed(credentials, credentials_certificate(credentials, now), "192.0.2.8", false);
	(void) api_credentials_free(credentials);

	fixture->options.names = "a b";
	assert_refused(fixture, -EINVAL, "listen-names: 'a b' is neither a name nor an address");
}

static void test_every_address(void **state)
{
	struct fixture *fixture = *state;
	struct api_credentials *credentials;

	assert_int_equal(close(fixture->options.listen_fd), 0);
	fixture->options.listen_fd = listen_tcp("listen", "0.0.0.0:0", false, &fixture->why);
	assert_true(fixture->options.listen_fd >= 0);
	assert_int_equal(load(fixture, &credentials), 0);
	assert_non_null(strstr(credentials_server(credentials), "https://127.0.0.1:"));
	(void) api_credentials_free(credentials);
}

static void test_renewed_in_time(void **state)
{
	struct fixture *fixture = *state;
	time_t now = (time_t) (realtime_usec() / USEC_PER_SEC);
	struct api_credentials *credentials;
	struct server_certificate *first, *second, *third;

	assert_int_equal(load(fixture, &credentials), 0);
	first = credentials_certificate(credentials, now);
	assert_ptr_equal(credentials_certificate(credentials, now + (time_t) 304 * DAY), first);
	second = credentials_certificate(credentials, now + (time_t) 306 * DAY);
	assert_ptr_not_equal(second, first);
	assert_signed(credentials, second, "node", true);
	/* A handshake that began with the first may still go on. */
	assert_signed(credentials, first, "node", true);
	assert_ptr_equal(credentials_certificate(credentials, now + (time_t) 400 * DAY), second);
	/* A clock that goes back needs one that is valid then. */
	third = credentials_certificate(credentials, now);
	assert_ptr_not_equal(third, second);
	assert_ptr_equal(credentials_certificate(credentials, now), third);
	(void) api_credentials_free(credentials);
}

int main(void)
{
#define FIXTURE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		FIXTURE(test_made_once),
		FIXTURE(test_killed_anywhere),
		FIXTURE(test_a_full_disk),
		FIXTURE(test_others_can_read_or_write),
		FIXTURE(test_something_else_is_there),
		FIXTURE(test_an_authority_that_is_none),
		FIXTURE(test_a_published_certificate),
		FIXTURE(test_a_token_of_the_operator),
		FIXTURE(test_who_has_the_token),
		FIXTURE(test_whom_it_is_for),
		FIXTURE(test_every_address),
		FIXTURE(test_renewed_in_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
