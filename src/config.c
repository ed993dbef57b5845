/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config - podvold's options, its configuration file and every limit, in one table; see config.h
 */
#include "config.h"

#include "base/cleanup.h"
#include "build-config.h"
#include "config_file.h"

#include <assert.h>
#include <ctype.h>
#include <getopt.h>
#include <stddef.h>
#include <string.h>
#include <sys/utsname.h>
#include <syslog.h>

enum { CONFIG_ROWS_MAX = 32, LABELS_MAX = 256 };

#define FIELD(name_) .offset = offsetof(struct config, name_)

static const struct config_row rows[] = {
	{ .name = "config",
	  .argument = "FILE",
	  .kind = CONFIG_STRING,
	  FIELD(config_file),
	  .default_text = "/etc/podvol/podvold.conf",
	  .command_line_only = true,
	  .help = "configuration file; may be missing unless named" },
	{ .name = "root-dir",
	  .argument = "DIR",
	  .kind = CONFIG_STRING,
	  FIELD(root_dir),
	  .default_text = "/var/lib/kubelet",
	  .help = "where volumes are mounted, in kubelet's layout" },
	{ .name = "state-dir",
	  .argument = "DIR",
	  .kind = CONFIG_STRING,
	  FIELD(state_dir),
	  .default_text = "/var/lib/podvol",
	  .help = "where the objects are stored" },
	{ .name = "run-dir",
	  .argument = "DIR",
	  .kind = CONFIG_STRING,
	  FIELD(run_dir),
	  .default_text = "/run/podvol",
	  .help = "the socket and the ledger of what is mounted" },
	{ .name = "manifest-dir",
	  .argument = "DIR",
	  .kind = CONFIG_STRING,
	  FIELD(manifest_dir),
	  .default_text = "/etc/podvol/manifests",
	  .help = "manifests of pods, claims and volumes" },
	{ .name = "node-name",
	  .argument = "NAME",
	  .kind = CONFIG_STRING,
	  FIELD(node_name),
	  .help = "name of this node; default: the host name" },
	{ .name = "node-labels",
	  .argument = "LIST",
	  .kind = CONFIG_STRING,
	  FIELD(node_labels),
	  .default_text = "",
	  .help = "labels of this node: key=value,key=value" },
	{ .name = "log-level",
	  .argument = "LEVEL",
	  .kind = CONFIG_STRING,
	  FIELD(log_level),
	  .default_text = "info",
	  .help = "error, warning, notice, info or debug" },
	{ .name = "listen",
	  .argument = "ADDRESS:PORT",
	  .kind = CONFIG_STRING,
	  FIELD(listen),
	  .default_text = "",
	  .help = "serve TLS there, to whoever has the token" },
	{ .name = "listen-names",
	  .argument = "LIST",
	  .kind = CONFIG_STRING,
	  FIELD(listen_names),
	  .default_text = "",
	  .help = "more names and addresses of the TLS server: name,address" },
	{ .name = "listen-plain",
	  .argument = "ADDRESS:PORT",
	  .kind = CONFIG_STRING,
	  FIELD(listen_plain),
	  .default_text = "",
	  .help = "serve reads without TLS and token there; loopback only" },
	{ .name = "docker-plugin-socket",
	  .argument = "PATH",
	  .kind = CONFIG_STRING,
	  FIELD(docker_plugin_socket),
	  .default_text = "",
	  .help = "serve docker and podman volumes there, to root" },
	{ .name = "token-file",
	  .argument = "FILE",
	  .kind = CONFIG_STRING,
	  FIELD(token_file),
	  .default_text = "",
	  .help = "the token of TLS clients; default: one is made in state-dir" },
	{ .name = "others-may-read",
	  .kind = CONFIG_FLAG,
	  FIELD(others_may_read),
	  .default_text = "false",
	  .help = "who is neither root nor in group podvol may read, no Secrets" },
	{ .name = "idmapped-fs-group",
	  .kind = CONFIG_FLAG,
	  FIELD(idmapped_fs_group),
	  .default_text = "false",
	  .help = "pods may have fsGroup as a map of the mount; docs/ownership.md" },
	{ .name = "worker-threads",
	  .argument = "N",
	  .kind = CONFIG_INTEGER,
	  FIELD(worker_threads),
	  .default_text = "2",
	  .minimum = 1,
	  .maximum = 64,
	  .help = "threads that look up, make and remove at the same time" },
	{ .name = "worker-threads-max",
	  .argument = "N",
	  .kind = CONFIG_INTEGER,
	  FIELD(worker_threads_max),
	  .default_text = "64",
	  .minimum = 1,
	  .maximum = 1024,
	  .help = "threads in all, those stuck on dead servers included" },
	{ .name = "connections-max",
	  .argument = "N",
	  .kind = CONFIG_INTEGER,
	  FIELD(connections_max),
	  .default_text = "256",
	  .minimum = 1,
	  .maximum = 65536,
	  .help = "connections to the socket at the same time" },
	{ .name = "request-bytes-max",
	  .argument = "N",
	  .kind = CONFIG_INTEGER,
	  FIELD(request_bytes_max),
	  .default_text = "16777216",
	  .minimum = 1024,
	  .maximum = 268435456,
	  .help = "body of one request" },
	{ .name = "waits-max",
	  .argument = "N",
	  .kind = CONFIG_INTEGER,
	  FIELD(waits_max),
	  .default_text = "20000",
	  .minimum = 1,
	  .maximum = 1000000,
	  .help = "waits for pods at the same time" },
	{ .name = "watches-max",
	  .argument = "N",
	  .kind = CONFIG_INTEGER,
	  FIELD(watches_max),
	  .default_text = "1024",
	  .minimum = 1,
	  .maximum = 65536,
	  .help = "watches of collections at the same time" },
	{ .name = "events-max",
	  .argument = "N",
	  .kind = CONFIG_INTEGER,
	  FIELD(events_max),
	  .default_text = "1000",
	  .minimum = 1,
	  .maximum = 1000000,
	  .help = "events kept; older ones are forgotten" },
	{ .name = "idle-seconds",
	  .argument = "N",
	  .kind = CONFIG_INTEGER,
	  FIELD(idle_seconds),
	  .default_text = "60",
	  .minimum = 1,
	  .maximum = 86400,
	  .help = "until a connection's next request begins; of unread answers" },
	{ .name = "request-seconds",
	  .argument = "N",
	  .kind = CONFIG_INTEGER,
	  FIELD(request_seconds),
	  .default_text = "60",
	  .minimum = 1,
	  .maximum = 86400,
	  .help = "from a request's first line to its last byte" },
	{ .name = "holds-max",
	  .argument = "N",
	  .kind = CONFIG_INTEGER,
	  FIELD(holds_max),
	  .default_text = "4096",
	  .minimum = 1,
	  .maximum = 1000000,
	  .help = "holds of containers at the same time; a descriptor each" },
	{ .name = "drain",
	  .kind = CONFIG_FLAG,
	  FIELD(drain),
	  .default_text = "false",
	  .command_line_only = true,
	  .help = "unmount everything that podvold mounted, then exit" },
};

const struct config_row *config_rows(size_t *ret_count)
{
	*ret_count = ARRAY_SIZE(rows);
	return rows;
}

/* The one place that goes from a row to the member it fills: offset and kind must agree in the
 * table. */
static void *field(struct config *config, const struct config_row *row)
{
	return (char *) config + row->offset;
}

/* A later word replaces an earlier one: defaults, then the file, then the command line. */
static int set_string(struct config *config, const struct config_row *row, const char *text)
{
	char **value = field(config, row);
	char *copy = strdup(text);

	if (!copy)
		return -ENOMEM;
	free(*value);
	*value = copy;
	return 0;
}

/* The bounds of the row are the limits of the manual; a value outside is refused, never cut. */
static int set_integer(struct config *config, const struct config_row *row, const char *text,
		       struct failure *reterr)
{
	long long value;
	char *end;

	errno = 0;
	value = strtoll(text, &end, 10);
	if (errno || end == text || *end != '\0')
		return failed_plain(reterr, -EINVAL, "%s: '%s' is not a number", row->name, text);
	if (value < row->minimum || value > row->maximum)
		return failed_plain(reterr, -EINVAL, "%s: %lld is not between %lld and %lld",
				    row->name, value, (long long) row->minimum,
				    (long long) row->maximum);
	*(int64_t *) field(config, row) = value;
	return 0;
}

static int set_flag(struct config *config, const struct config_row *row, const char *text,
		    struct failure *reterr)
{
	bool *value = field(config, row);

	if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
		return failed_plain(reterr, -EINVAL, "%s: '%s' is neither true nor false",
				    row->name, text);
	*value = text[0] == 't';
	return 0;
}

static int set_row(struct config *config, const struct config_row *row, const char *text,
		   struct failure *reterr)
{
	switch (row->kind) {
	case CONFIG_STRING:
		if (set_string(config, row, text) < 0)
			return failed(reterr, -ENOMEM, "%s", row->name);
		return 0;
	case CONFIG_INTEGER:
		return set_integer(config, row, text, reterr);
	case CONFIG_FLAG:
		return set_flag(config, row, text, reterr);
	}
	assert(false);
	return -EINVAL;
}

/* The node is named after its host, in lower case, as a Node object of Kubernetes must be. */
static int set_defaults(struct config *config, struct failure *reterr)
{
	struct utsname host;
	int r;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (!rows[i].default_text)
			continue;
		r = set_row(config, &rows[i], rows[i].default_text, reterr);
		if (r < 0)
			return r;
	}
	if (uname(&host) < 0)
		return failed(reterr, -errno, "cannot read the host name");
	for (char *c = host.nodename; *c; c++)
		*c = (char) tolower((unsigned char) *c);
	config->node_name = strdup(host.nodename);
	return config->node_name ? 0 : failed(reterr, -ENOMEM, "node-name");
}

/* ---- the file ---- */

static const struct config_row *row_by_name(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (strcmp(rows[i].name, name) == 0)
			return &rows[i];
	return NULL;
}

static int set_from_file(const char *key, const char *value, void *userdata, struct failure *reterr)
{
	const struct config_row *row = row_by_name(key);

	if (!row)
		return failed_plain(reterr, -EINVAL, "unknown key '%s'", key);
	if (row->command_line_only)
		return failed_plain(reterr, -EINVAL, "'%s' works on the command line only", key);
	return set_row(userdata, row, value, reterr);
}

/* The default file may be missing; one that somebody named may not. */
static int load_file(struct config *config, bool named, struct failure *reterr)
{
	int r = config_file_read(config->config_file, set_from_file, config, reterr);

	if (r == -ENOENT && !named)
		return 0;
	return r;
}

/* ---- the command line ---- */

enum {
	OPTION_HELP = 1000,
	OPTION_VERSION,
	OPTION_LIST,
};

static void print_help(void)
{
	printf("podvold [OPTION...]\n\nKeeps the volumes of this node's pods mounted.\n\n");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char option[64];

		(void) snprintf(option, sizeof(option), "--%s%s%s", rows[i].name,
				rows[i].argument ? "=" : "", rows[i].argument ?: "");
		printf("  %-28s %s\n", option, rows[i].help);
	}
	printf("  %-28s this text\n  %-28s version and exit\n", "--help", "--version");
	printf("\nAll but --config and --drain are keys of the configuration file, too; see "
	       "podvold(8).\n");
}

/* For the checks that compare manual pages with this table: name, argument, default, file or not.
 */
static void print_list(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		printf("%s\t%s\t%s\t%s\n", rows[i].name, rows[i].argument ?: "",
		       rows[i].default_text ?: "", rows[i].command_line_only ? "" : "file");
}

/* From the same table: an option cannot be read and missing from the help, or the reverse. */
static void make_long_options(struct option *options)
{
	size_t i;

	static_assert(ARRAY_SIZE(rows) + 4 <= CONFIG_ROWS_MAX, "room for every option");
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		options[i] = (struct option){ rows[i].name,
					      rows[i].argument ? required_argument : no_argument,
					      NULL, (int) i };
	options[i++] = (struct option){ "help", no_argument, NULL, OPTION_HELP };
	options[i++] = (struct option){ "version", no_argument, NULL, OPTION_VERSION };
	options[i++] = (struct option){ "list-options", no_argument, NULL, OPTION_LIST };
	options[i] = (struct option){ NULL, 0, NULL, 0 };
}

/* After an option that is known, getopt leaves its value in optopt; of an unknown long one, 0. */
static const char *option_complaint(int chosen)
{
	bool known = (optopt > 0 && optopt < (int) ARRAY_SIZE(rows)) || optopt >= OPTION_HELP;

	if (chosen == ':')
		return "a value is missing after";
	return known ? "no value is taken by the option in" : "unknown option";
}

/* Two passes: the first finds --config, the second lets the command line win over the file. */
static int read_command_line(int argc, char **argv, struct config *config, bool config_only,
			     bool *ret_named, struct failure *reterr)
{
	struct option options[CONFIG_ROWS_MAX];
	int chosen, r;

	make_long_options(options);
	optind = 0;
	opterr = 0;
	while ((chosen = getopt_long(argc, argv, ":", options, NULL)) != -1) {
		if (chosen == OPTION_HELP)
			print_help();
		else if (chosen == OPTION_VERSION)
			printf("podvold %s\n", PACKAGE_VERSION);
		else if (chosen == OPTION_LIST)
			print_list();
		if (chosen >= OPTION_HELP)
			return CONFIG_EXIT;
		if (chosen == '?' || chosen == ':')
			return failed_plain(reterr, -EINVAL, "%s '%s'; see podvold --help",
					    option_complaint(chosen), argv[optind - 1]);
		if (config_only != (rows[chosen].offset == offsetof(struct config, config_file)))
			continue;
		r = set_row(config, &rows[chosen], optarg ?: "true", reterr);
		if (r < 0)
			return failure_prefix(reterr, "command line");
		*ret_named = true;
	}
	if (optind < argc)
		return failed_plain(reterr, -EINVAL, "unexpected argument '%s'; see podvold --help",
				    argv[optind]);
	return CONFIG_RUN;
}

/* ---- labels ---- */

/* Go's names, which node affinities use, for those of uname(2). */
static const char *kubernetes_architecture(const char *machine)
{
	static const struct {
		const char *machine, *name;
	} names[] = {
		{ "x86_64", "amd64" },
		{ "aarch64", "arm64" },
		{ "armv7l", "arm" },
		{ "i686", "386" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(machine, names[i].machine) == 0)
			return names[i].name;
	return machine;
}

/* Strings of its own: config_done() frees them, wherever they came from. */
static int add_label(struct config *config, struct label *labels, const char *key,
		     const char *value)
{
	char *key_copy = strdup(key), *value_copy = strdup(value);

	if (!key_copy || !value_copy) {
		free(key_copy);
		free(value_copy);
		return -ENOMEM;
	}
	labels[config->labels.count].key = key_copy;
	labels[config->labels.count].value = value_copy;
	config->labels.count++;
	return 0;
}

/* "key=value,key=value"; a key given here wins over the three that every node has. */
static int parse_labels(struct config *config, struct label *labels, struct failure *reterr)
{
	cleanup_free char *list = strdup(config->node_labels);
	char *rest = list, *word, *equals;

	if (!list)
		return failed(reterr, -ENOMEM, "node-labels");
	while ((word = strsep(&rest, ","))) {
		if (*word == '\0')
			continue;
		equals = strchr(word, '=');
		if (!equals || equals == word)
			return failed_plain(reterr, -EINVAL, "node-labels: '%s' is not key=value",
					    word);
		if (config->labels.count + 3 >= LABELS_MAX)
			return failed_plain(reterr, -E2BIG, "node-labels: more than %d labels",
					    LABELS_MAX - 3);
		*equals = '\0';
		if (add_label(config, labels, word, equals + 1) < 0)
			return failed(reterr, -ENOMEM, "node-labels");
	}
	return 0;
}

static bool has_label(const struct labels *labels, const char *key)
{
	for (size_t i = 0; i < labels->count; i++)
		if (strcmp(labels->labels[i].key, key) == 0)
			return true;
	return false;
}

/* What kubelet puts on its node, so that affinities written for a cluster hold here too. */
static int make_labels(struct config *config, struct failure *reterr)
{
	struct label *labels = calloc(LABELS_MAX, sizeof(*labels));
	struct utsname host;
	int r;

	if (!labels)
		return failed(reterr, -ENOMEM, "node-labels");
	config->labels.labels = labels;
	r = parse_labels(config, labels, reterr);
	if (r < 0)
		return r;
	if (uname(&host) < 0)
		return failed(reterr, -errno, "cannot read the machine's architecture");

	if (!has_label(&config->labels, "kubernetes.io/hostname"))
		r = add_label(config, labels, "kubernetes.io/hostname", config->node_name);
	if (r >= 0 && !has_label(&config->labels, "kubernetes.io/os"))
		r = add_label(config, labels, "kubernetes.io/os", "linux");
	if (r >= 0 && !has_label(&config->labels, "kubernetes.io/arch"))
		r = add_label(config, labels, "kubernetes.io/arch",
			      kubernetes_architecture(host.machine));
	return r < 0 ? failed(reterr, r, "node-labels") : 0;
}

/* Later code opens these once and works below them; "/" would make the whole host ours. */
static int check_directories(const struct config *config, struct failure *reterr)
{
	const char *const names[] = { "root-dir", "state-dir", "run-dir", "manifest-dir" };
	const char *const paths[] = { config->root_dir, config->state_dir, config->run_dir,
				      config->manifest_dir };

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		if (paths[i][0] != '/' || strcmp(paths[i], "/") == 0)
			return failed_plain(reterr, -EINVAL,
					    "%s: '%s' is not an absolute path below '/'", names[i],
					    paths[i]);
	return 0;
}

static int check_node_name(const struct config *config, struct failure *reterr)
{
	const char *name = config->node_name;

	if (*name && name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-._")] == '\0')
		return 0;
	return failed_plain(reterr, -EINVAL,
			    "node-name: '%s' is not made of lower case letters, digits, '-', '.' "
			    "and '_'",
			    name);
}

static int find_log_priority(struct config *config, struct failure *reterr)
{
	static const struct {
		const char *name;
		int priority;
	} levels[] = {
		{ "error", LOG_ERR }, { "warning", LOG_WARNING }, { "notice", LOG_NOTICE },
		{ "info", LOG_INFO }, { "debug", LOG_DEBUG },
	};

	for (size_t i = 0; i < ARRAY_SIZE(levels); i++)
		if (strcmp(config->log_level, levels[i].name) == 0) {
			config->log_priority = levels[i].priority;
			return 0;
		}
	return failed_plain(reterr, -EINVAL,
			    "log-level: '%s' is not error, warning, notice, info or debug",
			    config->log_level);
}

int config_load(int argc, char **argv, struct config *ret, struct failure *reterr)
{
	bool named = false, ignored = false;
	int r;

	*ret = (struct config){ .config_file = NULL };
	r = set_defaults(ret, reterr);
	if (r < 0)
		return r;
	r = read_command_line(argc, argv, ret, true, &named, reterr);
	if (r != CONFIG_RUN)
		return r;
	r = load_file(ret, named, reterr);
	if (r < 0)
		return r;
	r = read_command_line(argc, argv, ret, false, &ignored, reterr);
	if (r != CONFIG_RUN)
		return r;
	r = check_directories(ret, reterr);
	if (r >= 0)
		r = check_node_name(ret, reterr);
	if (r >= 0)
		r = find_log_priority(ret, reterr);
	return r < 0 ? r : make_labels(ret, reterr);
}

void config_done(struct config *config)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].kind == CONFIG_STRING)
			free(*(char **) field(config, &rows[i]));
	for (size_t i = 0; i < config->labels.count; i++) {
		free((char *) config->labels.labels[i].key);
		free((char *) config->labels.labels[i].value);
	}
	free((void *) config->labels.labels);
	*config = (struct config){ .config_file = NULL };
}
