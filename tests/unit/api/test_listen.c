/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_listen - how the listening sockets come to be where nothing is in their way, and which of
 * the service manager's sockets is which
 */
#include "api/http/listen.h"
#include "base/cleanup.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <systemd/sd-daemon.h>

#include <cmocka.h>

/* ---- the unix socket ---- */

struct room {
	char directory[32], path[64];
};

static int set_up(void **state)
{
	struct room *room = calloc(1, sizeof(*room));

	(void) snprintf(room->directory, sizeof(room->directory), "/tmp/podvol-listen-XXXXXX");
	assert_non_null(mkdtemp(room->directory));
	(void) snprintf(room->path, sizeof(room->path), "%s/sock", room->directory);
	*state = room;
	return 0;
}

static int tear_down(void **state)
{
	struct room *room = *state;

	(void) unlink(room->path);
	assert_int_equal(rmdir(room->directory), 0);
	free(room);
	return 0;
}

static int connect_to(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	cleanup_close int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void) snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	return connect(fd, &address, sizeof(address)) < 0 ? -errno : 0;
}

static void test_unix(void **state)
{
	const struct room *room = *state;
	struct stat status;
	struct failure why;
	int fd;

	fd = listen_unix(room->path, LISTEN_GROUP, &why);
	assert_true(fd >= 0);
	assert_int_equal(stat(room->path, &status), 0);
	assert_true(S_ISSOCK(status.st_mode));
	assert_int_equal(status.st_mode & 07777, 0660);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(connect_to(room->path), 0);

	/* A server answers: it stays. */
	assert_int_equal(listen_unix(room->path, LISTEN_GROUP, &why), -EADDRINUSE);
	assert_non_null(strstr(why.text, room->path));
	assert_int_equal(connect_to(room->path), 0);

	/* No server answers any more: it is replaced. */
	assert_int_equal(close(fd), 0);
	assert_int_equal(connect_to(room->path), -ECONNREFUSED);
	fd = listen_unix(room->path, LISTEN_GROUP, &why);
	assert_true(fd >= 0);
	assert_int_equal(connect_to(room->path), 0);
	assert_int_equal(close(fd), 0);
}

static void test_something_else_is_there(void **state)
{
	const struct room *room = *state;
	cleanup_close int fd = open(room->path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	struct stat status;
	struct failure why;

	assert_true(fd >= 0);
	assert_int_equal(listen_unix(room->path, LISTEN_GROUP, &why), -EEXIST);
	assert_int_equal(stat(room->path, &status), 0);
	assert_true(S_ISREG(status.st_mode));
	assert_int_equal(unlink(room->path), 0);

	/* A link to a socket is no socket. */
	assert_int_equal(symlink("elsewhere", room->path), 0);
	assert_int_equal(listen_unix(room->path, LISTEN_GROUP, &why), -EEXIST);
}

static void test_access_is_the_mode(void **state)
{
	static const struct {
		enum listen_access access;
		mode_t mode;
	} rows[] = { { LISTEN_GROUP, 0660 }, { LISTEN_ALL, 0666 }, { LISTEN_OWNER, 0600 } };
	const struct room *room = *state;
	struct stat status;
	struct failure why;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_close int fd = listen_unix(room->path, rows[i].access, &why);

		assert_true(fd >= 0);
		assert_int_equal(stat(room->path, &status), 0);
		assert_int_equal(status.st_mode & 07777, rows[i].mode);
	}
}

static void test_bad_places(void **state)
{
	struct failure why;
	char path[256];

	assert_int_equal(listen_unix("relative", LISTEN_GROUP, &why), -EINVAL);
	assert_int_equal(listen_unix("/tmp/", LISTEN_GROUP, &why), -EINVAL);
	assert_int_equal(listen_unix("/nonexistent-podvol/sock", LISTEN_GROUP, &why), -ENOENT);
	(void) snprintf(path, sizeof(path), "/tmp/%0110d", 0);
	assert_int_equal(listen_unix(path, LISTEN_GROUP, &why), -ENAMETOOLONG);
}

static void test_others_may_connect_when_told_so(void **state)
{
	const struct room *room = *state;
	struct stat status;
	struct failure why;
	cleanup_close int fd = listen_unix(room->path, LISTEN_ALL, &why);

	assert_true(fd >= 0);
	assert_int_equal(stat(room->path, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0666);
}

/* ---- TCP ---- */

static void test_tcp(void **state)
{
	struct listen_address address;
	struct failure why;
	cleanup_close int fd = listen_tcp("listen", "127.0.0.1:0", false, &why);
	char text[64];

	assert_true(fd >= 0);
	assert_int_equal(listen_address_of(fd, &address), 0);
	assert_string_equal(address.text, "127.0.0.1");
	assert_true(address.loopback);
	assert_false(address.any);
	assert_in_range(address.port, 1, 65535);

	(void) snprintf(text, sizeof(text), "127.0.0.1:%u", address.port);
	assert_int_equal(listen_tcp("listen", text, false, &why), -EADDRINUSE);
	assert_non_null(strstr(why.text, "listen: cannot listen on '127.0.0.1:"));
}

static void test_any_address(void **state)
{
	struct listen_address address;
	struct failure why;
	int fd = listen_tcp("listen", "0.0.0.0:0", false, &why);

	assert_true(fd >= 0);
	assert_int_equal(listen_address_of(fd, &address), 0);
	assert_true(address.any);
	assert_int_equal(address.family, AF_INET);
	assert_int_equal(close(fd), 0);
	fd = listen_tcp("listen", ":0", false, &why);
	if (fd == -EAFNOSUPPORT)
		return; /* a kernel without IPv6 */
	assert_true(fd >= 0);
	assert_int_equal(listen_address_of(fd, &address), 0);
	assert_true(address.any);
	assert_int_equal(address.family, AF_INET6);
	assert_int_equal(close(fd), 0);
}

static void test_bad_addresses(void **state)
{
	static const char *const bad[] = {
		"",          "127.0.0.1", "127.0.0.1:", "localhost:1",    "::1:6443",
		"[::1:6443", "[]x:1",     "1.2.3",      "127.0.0.1:http", "127.0.0.1:99999999",
		"a b:1",     "[::1]6443",
	};
	struct failure why;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		int fd = listen_tcp("listen", bad[i], false, &why);

		if (fd >= 0)
			print_message("'%s' was taken\n", bad[i]);
		assert_int_equal(fd, -EINVAL);
		assert_non_null(strstr(why.text, "127.0.0.1:6443"));
	}
}

static void test_plain_is_for_loopback(void **state)
{
	static const char *const refused[] = {
		"0.0.0.0:0", ":0", "[::]:0", "192.0.2.1:0", "[::ffff:127.0.0.1]:0", "128.0.0.1:0"
	};
	struct failure why;
	int fd = listen_tcp("listen-plain", "127.1.2.3:0", true, &why);

	assert_true(fd >= 0);
	assert_int_equal(close(fd), 0);
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		assert_int_equal(listen_tcp("listen-plain", refused[i], true, &why), -EINVAL);
		assert_non_null(strstr(why.text, "listen-plain: '"));
		assert_non_null(strstr(why.text, "is not a loopback address"));
	}
}

/* ---- sockets of the service manager ---- */

/* A process of its own, in which the descriptors lie where a service manager puts them. */
static int in_child(const int *fds, const char *names, int count,
		    void (*child)(const struct room *room), const struct room *room)
{
	char text[16];
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid > 0) {
		assert_int_equal(waitpid(pid, &status, 0), pid);
		return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	}
	for (int i = 0; i < count; i++)
		(void) dup2(fds[i], SD_LISTEN_FDS_START + i);
	(void) snprintf(text, sizeof(text), "%d", getpid());
	(void) setenv("LISTEN_PID", text, 1);
	(void) snprintf(text, sizeof(text), "%d", count);
	(void) setenv("LISTEN_FDS", text, 1);
	(void) setenv("LISTEN_FDNAMES", names, 1);
	child(room);
	_exit(100); /* the child said nothing */
}

/* High enough that nothing is overwritten by those that are put at 3 and after. */
static int at_least_20(int fd)
{
	int moved = fcntl(fd, F_DUPFD_CLOEXEC, 20);

	assert_true(fd >= 0 && moved >= 0);
	assert_int_equal(close(fd), 0);
	return moved;
}

static const char *tls_address = "", *plain_address = "", *docker_path = "";

/* Exit status: which kinds there are, as bits; 64 and more: refused. */
static void listen_and_tell(const struct room *room)
{
	const struct api_listen_options options = { .socket_path = room->path,
						    .tls_address = tls_address,
						    .plain_address = plain_address,
						    .docker_path = docker_path };
	struct api_listener listeners[API_LISTENER_COUNT];
	struct failure why = { 0 };
	size_t count = 0;
	int kinds = 0;

	if (api_listen(&options, listeners, &count, &why) < 0)
		_exit(strstr(why.text, "loopback") ? 65 : strstr(why.text, "two") ? 66 : 64);
	for (size_t i = 0; i < count; i++) {
		if (!(fcntl(listeners[i].fd, F_GETFL) & O_NONBLOCK))
			_exit(99);
		kinds |= 1 << listeners[i].kind;
	}
	_exit(kinds);
}

enum { UNIX = 1 << API_UNIX, TLS = 1 << API_TLS, PLAIN = 1 << API_PLAIN, DOCKER = 1 << API_DOCKER };

static void test_handed_over(void **state)
{
	const struct room *room = *state;
	struct failure why;
	char other[80];
	int fds[3];

	(void) snprintf(other, sizeof(other), "%s2", room->path);
	fds[0] = at_least_20(listen_unix(other, LISTEN_GROUP, &why));
	fds[1] = at_least_20(listen_tcp("listen", "127.0.0.1:0", false, &why));
	fds[2] = at_least_20(listen_tcp("listen", "127.0.0.1:0", false, &why));
	assert_int_equal(in_child(fds, "podvol.socket", 1, listen_and_tell, room), UNIX);
	assert_int_equal(access(room->path, F_OK), -1); /* it was not made beside */
	assert_int_equal(in_child(fds, "podvol.socket:tls:plain", 3, listen_and_tell, room),
			 UNIX | TLS | PLAIN);
	/* Without one for it, the unix socket is made. */
	assert_int_equal(in_child(fds + 1, "tls", 1, listen_and_tell, room), UNIX | TLS);
	assert_int_equal(access(room->path, F_OK), 0);

	assert_int_equal(in_child(fds, "docker", 1, listen_and_tell, room), UNIX | DOCKER);
	assert_int_equal(in_child(fds + 1, "docker", 1, listen_and_tell, room), 64);
	assert_int_equal(in_child(fds + 1, "tls:tls", 2, listen_and_tell, room), 66);
	assert_int_equal(in_child(fds + 1, "unknown", 1, listen_and_tell, room), 64);
	assert_int_equal(in_child(fds, "tls", 1, listen_and_tell, room), 64);
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		assert_int_equal(close(fds[i]), 0);
	assert_int_equal(unlink(other), 0);
}

static void test_handed_over_plain_is_for_loopback(void **state)
{
	const struct room *room = *state;
	struct failure why;
	int fd = at_least_20(listen_tcp("listen", "0.0.0.0:0", false, &why));

	assert_int_equal(in_child(&fd, "plain", 1, listen_and_tell, room), 65);
	assert_int_equal(in_child(&fd, "tls", 1, listen_and_tell, room), UNIX | TLS);
	assert_int_equal(close(fd), 0);
}

static void test_made_and_handed_over(void **state)
{
	const struct room *room = *state;
	struct failure why;
	char other[80];
	int fd;

	(void) snprintf(other, sizeof(other), "%s2", room->path);
	fd = at_least_20(listen_unix(other, LISTEN_GROUP, &why));
	tls_address = plain_address = "127.0.0.1:0";
	assert_int_equal(in_child(&fd, "podvol.socket", 1, listen_and_tell, room),
			 UNIX | TLS | PLAIN);
	docker_path = room->path;
	assert_int_equal(in_child(&fd, "podvol.socket", 1, listen_and_tell, room),
			 UNIX | TLS | PLAIN | DOCKER);
	docker_path = "";
	plain_address = "0.0.0.0:0";
	assert_int_equal(in_child(&fd, "podvol.socket", 1, listen_and_tell, room), 65);
	tls_address = plain_address = "";
	assert_int_equal(close(fd), 0);
	assert_int_equal(unlink(other), 0);
}

int main(void)
{
#define ROOM(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		ROOM(test_unix),
		ROOM(test_access_is_the_mode),
		ROOM(test_something_else_is_there),
		cmocka_unit_test(test_bad_places),
		ROOM(test_others_may_connect_when_told_so),
		cmocka_unit_test(test_tcp),
		cmocka_unit_test(test_any_address),
		cmocka_unit_test(test_bad_addresses),
		cmocka_unit_test(test_plain_is_for_loopback),
		ROOM(test_handed_over),
		ROOM(test_handed_over_plain_is_for_loopback),
		ROOM(test_made_and_handed_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
