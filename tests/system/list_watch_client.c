/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list_watch_client - what podvold's list and watch of a server reports, a line each, for tests
 *
 *   list_watch_client KUBECONFIG KIND PATH SELECTOR [KIND PATH SELECTOR]...
 *
 * Lines, words separated by blanks: BEGIN; ITEM name; LIST went-back (0 or 1); ADDED, MODIFIED or
 * DELETED name; FAILED status reason. SIGHUP reads the kubeconfig's credentials again and says
 * CREDENTIALS. WATCH_SECONDS and HEARTBEAT_MSEC of the environment: of each watch, and of the
 * heartbeat's silence and answer. Ends by a signal.
 */
#include "store/remote/heartbeat.h"
#include "store/remote/list_watch.h"

#include "base/cleanup.h"

#include <err.h>
#include <signal.h>
#include <string.h>

struct client {
	sd_event *event;
	struct kubeconfig kubeconfig;
	struct http_client *http;
};

static void begin_list(void *userdata)
{
	(void) puts("BEGIN");
}

static void take(void *userdata, const struct server_object *object)
{
	(void) printf("%s %s\n", object->object ? "ITEM" : "UNKNOWN", object->name);
}

static void end_list(void *userdata, bool went_back)
{
	(void) printf("LIST %d\n", went_back);
}

static void change(void *userdata, const struct server_event *event)
{
	static const char *const words[] = { [SERVER_ADDED] = "ADDED",
					     [SERVER_MODIFIED] = "MODIFIED",
					     [SERVER_DELETED] = "DELETED" };

	(void) printf("%s %s\n", words[event->type], event->object.name);
}

static void failed_try(void *userdata, int status, const struct failure *why)
{
	(void) printf("FAILED %d %s\n", status, why->text);
}

static void read_credentials(struct client *client)
{
	struct client_credentials credentials;
	struct failure why = { 0 };

	if (client_credentials_read(&client->kubeconfig, &credentials, &why) < 0)
		errx(1, "%s", why.text);
	http_client_set_credentials(client->http, &credentials);
	(void) puts("CREDENTIALS");
}

static int on_hangup(sd_event_source *source, const struct signalfd_siginfo *info, void *userdata)
{
	read_credentials(userdata);
	return 0;
}

static const struct kind_row *kind_of(const char *path, const char *name)
{
	char version[API_VERSION_BYTES] = "v1";
	const char *group = path + 6; /* "/apis/" */
	const struct kind_row *row;

	if (strncmp(path, "/apis/", 6) == 0)
		(void) snprintf(version, sizeof(version), "%.*s",
				(int) (strchrnul(strchrnul(group, '/') + 1, '/') - group), group);
	row = kind_by_name(version, name);
	if (!row)
		errx(2, "no kind '%s' in '%s'", name, version);
	return row;
}

/* @words: kind, path and selector. */
static void begin(const struct client *client, char **words)
{
	struct list_watch_options options = { .event = client->event,
					      .client = client->http,
					      .kind = kind_of(words[1], words[0]),
					      .path = words[1],
					      .selector = words[2],
					      .is_selective = strstr(words[2], "spec.nodeName"),
					      .begin_list = begin_list,
					      .take = take,
					      .end_list = end_list,
					      .change = change,
					      .failed = failed_try };
	struct list_watch *list_watch = NULL;

	if (getenv("WATCH_SECONDS"))
		options.watch_seconds = (unsigned int) strtoul(getenv("WATCH_SECONDS"), NULL, 10);
	if (list_watch_new(&options, &list_watch) < 0)
		errx(1, "out of memory");
}

static void begin_heartbeat(const struct client *client, const char *msec)
{
	unsigned int each = (unsigned int) strtoul(msec, NULL, 10);
	struct heartbeat *heartbeat = NULL;

	if (heartbeat_new(client->event, client->http, each, each, &heartbeat) < 0)
		errx(1, "out of memory");
}

int main(int argc, char **argv)
{
	struct client client = { 0 };
	struct failure why = { 0 };
	sigset_t hangup;

	if (argc < 5 || (argc - 2) % 3 != 0)
		errx(2, "usage: list_watch_client KUBECONFIG KIND PATH SELECTOR [KIND PATH "
			"SELECTOR]...");
	(void) setvbuf(stdout, NULL, _IOLBF, 0);
	(void) sigemptyset(&hangup);
	(void) sigaddset(&hangup, SIGHUP);
	(void) sigprocmask(SIG_BLOCK, &hangup, NULL);
	if (sd_event_new(&client.event) < 0 ||
	    sd_event_add_signal(client.event, NULL, SIGHUP, on_hangup, &client) < 0)
		errx(1, "no event loop");
	if (kubeconfig_read(argv[1], &client.kubeconfig, &why) < 0 ||
	    http_client_new(client.event, &client.kubeconfig, &client.http, &why) < 0)
		errx(1, "%s", why.text);
	read_credentials(&client);
	if (getenv("HEARTBEAT_MSEC"))
		begin_heartbeat(&client, getenv("HEARTBEAT_MSEC"));
	for (int i = 2; i < argc; i += 3)
		begin(&client, argv + i);
	return sd_event_loop(client.event) < 0;
}
