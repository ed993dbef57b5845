/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor - is all there that podvold needs, and is it well? One line per finding, each that is not
 * with what to do
 *
 * Looks only. Also of use before podvold runs: then what the daemon would say is left out.
 */
#include "cli/doctor/doctor.h"

#include "cli/direct/direct.h"
#include "cli/get.h"
#include "cli/output/screen.h"

#include "base/cleanup.h"
#include "build-config.h"

#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

enum { TEXT_COLUMN = 22 };

void doctor_found(struct doctor *doctor, enum health health, const char *check, const char *remedy,
		  const char *format, ...)
{
	static const struct {
		const char *name, *colour;
	} rows[HEALTH_COUNT] = {
		[HEALTH_OK] = { "ok", "\033[32m" },
		[HEALTH_WARNING] = { "warning", "\033[33m" },
		[HEALTH_FAILED] = { "failed", "\033[31m" },
	};
	FILE *out = doctor->cli->out;
	bool colour = screen_has_colour(out);
	struct text_wrap wrap = { .column = TEXT_COLUMN,
				  .indent = TEXT_COLUMN,
				  .width = screen_wrap_width(doctor->cli) };
	va_list arguments;
	char text[1024];

	va_start(arguments, format);
	(void) vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	doctor->counts[health]++;
	(void) fprintf(out, "%s%-8s%s %-12s ", colour ? rows[health].colour : "", rows[health].name,
		       colour ? "\033[0m" : "", check);
	text_print_wrapped(out, text, wrap);
	(void) fputc('\n', out);
	if (!remedy)
		return;
	(void) fprintf(out, "%*s-> ", TEXT_COLUMN, "");
	wrap.column += 3;
	text_print_wrapped(out, remedy, wrap);
	(void) fputc('\n', out);
}

/* ---- the daemon ---- */

pid_t doctor_daemon(const char *path)
{
	cleanup_close int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct ucred peer = { 0 };
	socklen_t length = sizeof(peer);

	if (fd < 0 || strlen(path) >= sizeof(address.sun_path))
		return 0;
	memcpy(address.sun_path, path, strlen(path));
	if (connect(fd, (struct sockaddr *) &address, sizeof(address)) < 0 ||
	    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) < 0)
		return 0;
	return peer.pid;
}

static bool check_daemon(struct doctor *doctor)
{
	const struct podvol_request request = { .method = "GET",
						.path = "/podvol/v1/version",
						.accept = "application/json" };
	const char *path = podvol_socket(doctor->cli->podvol);
	cleanup_json struct cJSON *tree = NULL;
	int r = cli_request_tree(doctor->cli, &request, &tree);
	const char *version;

	if (r < 0 && r != -EILSEQ) {
		doctor_found(doctor, HEALTH_FAILED, "podvold",
			     "systemctl status podvol; journalctl -u podvol", "%s",
			     podvol_error(doctor->cli->podvol));
		return false;
	}
	version = json_text(tree, "podvol");
	(void) snprintf(doctor->root_dir, sizeof(doctor->root_dir), "%s",
			json_string(json_get(tree, "rootDir"), doctor->root_dir));
	doctor->daemon = doctor_daemon(path);
	if (strcmp(version, PACKAGE_VERSION) != 0)
		doctor_found(doctor, HEALTH_WARNING, "podvold", "systemctl restart podvol",
			     "it is version %s, podvolctl is %s", version, PACKAGE_VERSION);
	else
		doctor_found(doctor, HEALTH_OK, "podvold", NULL, "version %s answers on '%s'",
			     version, path);
	return true;
}

/* ---- what it says of itself ---- */

static struct cJSON *view(struct doctor *doctor, const char *path)
{
	struct cJSON *tree = NULL;

	return get_tree(doctor->cli, path, &tree) == EXIT_DONE ? tree : NULL;
}

static void check_drivers(struct doctor *doctor)
{
	cleanup_json struct cJSON *tree = view(doctor, "/podvol/v1/drivers");
	size_t ready = 0;

	JSON_FOREACH (item, json_get(tree, "items")) {
		const char *state = json_text(item, "state");
		const char *error = json_text(item, "error");

		if (json_bool(json_get(item, "inTree"), false))
			continue;
		if (strcmp(state, "ready") == 0)
			ready++;
		else
			doctor_found(doctor, HEALTH_WARNING, "drivers",
				     "podvolctl describe driver NAME; is the driver running?",
				     "CSI driver '%s' is %s%s%s", json_text(item, "name"), state,
				     *error ? ": " : "", error);
	}
	if (tree)
		doctor_found(doctor, HEALTH_OK, "drivers", NULL, "%zu CSI drivers are ready",
			     ready);
}

/* Views whose rows are each something that is not as it should be. */
static void check_views(struct doctor *doctor)
{
	static const struct {
		const char *check, *path, *what, *remedy;
	} rows[] = {
		{ "volumes", "/podvol/v1/volumes?fieldSelector=state%21%3Dmounted",
		  "volumes are not mounted, or faulty",
		  "podvolctl get volumes --field-selector state!=mounted" },
		{ "manifests", "/podvol/v1/manifests", "manifests are refused",
		  "podvolctl get manifests" },
		{ "foreign", "/podvol/v1/strangers",
		  "volumes below the root directory are managed by another agent, or orphaned",
		  "see --takeover in podvold(8), or end the other agent" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_json struct cJSON *tree = view(doctor, rows[i].path);
		size_t count = json_count(json_get(tree, "items"));

		if (tree)
			doctor_found(doctor, count ? HEALTH_WARNING : HEALTH_OK, rows[i].check,
				     count ? rows[i].remedy : NULL, "%zu %s", count, rows[i].what);
	}
}

static void check_threads(struct doctor *doctor)
{
	cleanup_json struct cJSON *tree = view(doctor, "/podvol/v1/threads");
	int64_t hanging = 0;

	JSON_FOREACH (item, json_get(tree, "items")) {
		int64_t count = 0;

		(void) json_int64(json_get(item, "hanging"), &count);
		hanging += count;
		if (json_bool(json_get(item, "allHang"), false))
			doctor_found(doctor, HEALTH_FAILED, "threads",
				     "podvolctl get operations -o wide names what they wait for",
				     "all threads of pool '%s' hang", json_text(item, "pool"));
	}
	if (tree)
		doctor_found(doctor, hanging ? HEALTH_WARNING : HEALTH_OK, "threads",
			     hanging ? "podvolctl get operations -o wide" : NULL,
			     "%lld threads hang in system calls", (long long) hanging);
}

static void check_plugin(void *userdata, bool is_wrong, const char *name, const char *text)
{
	doctor_found(userdata, is_wrong ? HEALTH_WARNING : HEALTH_OK, "plugins",
		     is_wrong ? "make it root's alone, or its settings as podvol-plugins(8) has "
				"them"
			      : NULL,
		     "plugin '%s': %s", name, text);
}

static void check_plugins(struct doctor *doctor)
{
	struct failure why = { .error = 0 };

	if (plugin_direct_list(check_plugin, doctor, &why) < 0)
		doctor_found(doctor, HEALTH_WARNING, "plugins", "run it as root", "%s", why.text);
}

int verb_doctor(struct cli *cli)
{
	struct doctor doctor = { .cli = cli, .root_dir = "/var/lib/kubelet" };
	bool answers = check_daemon(&doctor);

	doctor_check_host(&doctor);
	check_plugins(&doctor);
	if (answers) {
		check_drivers(&doctor);
		check_threads(&doctor);
		check_views(&doctor);
	}
	(void) fprintf(cli->out, "%zu failed, %zu warnings, %zu ok\n", doctor.counts[HEALTH_FAILED],
		       doctor.counts[HEALTH_WARNING], doctor.counts[HEALTH_OK]);
	return doctor.counts[HEALTH_FAILED] > 0 ? EXIT_FAILED : EXIT_DONE;
}
