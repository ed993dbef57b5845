/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config - reads options and configuration file into the table of config_table.c; see config.h
 */
#include "config.h"

#include "api/auth/authorize.h"
#include "base/cleanup.h"
#include "build-config.h"
#include "store/remote/kubeconfig.h"
#include "token/token_issuer.h"

#include <assert.h>
#include <ctype.h>
#include <getopt.h>
#include <stddef.h>
#include <string.h>
#include <sys/utsname.h>
#include <syslog.h>

enum { LABELS_MAX = 256 };

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

	for (size_t i = 0; i < config_row_count; i++) {
		if (!config_rows[i].default_text)
			continue;
		r = set_row(config, &config_rows[i], config_rows[i].default_text, reterr);
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
	for (size_t i = 0; i < config_row_count; i++)
		if (strcmp(config_rows[i].name, name) == 0)
			return &config_rows[i];
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

/* The default file may be missing; one that was named may not. */
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
	for (size_t i = 0; i < config_row_count; i++) {
		char option[64];

		(void) snprintf(option, sizeof(option), "--%s%s%s%s%s", config_rows[i].name,
				config_rows[i].implied ? "[" : "",
				config_rows[i].argument ? "=" : "", config_rows[i].argument ?: "",
				config_rows[i].implied ? "]" : "");
		printf("  %-28s %s\n", option, config_rows[i].help);
	}
	printf("  %-28s this text\n  %-28s version and exit\n", "--help", "--version");
	printf("\nAll but --config, --drain, --hand-back and --new-cluster are keys of the "
	       "configuration file, too; see podvold(8).\n");
}

/* For the checks that compare manual pages with this table: name, argument, default, file or not.
 */
static void print_list(void)
{
	for (size_t i = 0; i < config_row_count; i++)
		printf("%s\t%s\t%s\t%s\n", config_rows[i].name, config_rows[i].argument ?: "",
		       config_rows[i].default_text ?: "",
		       config_rows[i].command_line_only ? "" : "file");
}

/* From the same table: an option cannot be read and missing from the help, or the reverse. */
static void make_long_options(struct option *options)
{
	size_t i;

	for (i = 0; i < config_row_count; i++) {
		const struct config_row *row = &config_rows[i];
		int takes = row->argument ? required_argument : no_argument;

		options[i] = (struct option){ row->name, row->implied ? optional_argument : takes,
					      NULL, (int) i };
	}
	options[i++] = (struct option){ "help", no_argument, NULL, OPTION_HELP };
	options[i++] = (struct option){ "version", no_argument, NULL, OPTION_VERSION };
	options[i++] = (struct option){ "list-options", no_argument, NULL, OPTION_LIST };
	options[i] = (struct option){ NULL, 0, NULL, 0 };
}

/* After an option that is known, getopt leaves its value in optopt; of an unknown long one, 0. */
static const char *option_complaint(int chosen)
{
	bool known = (optopt > 0 && optopt < (int) config_row_count) || optopt >= OPTION_HELP;

	if (chosen == ':')
		return "a value must follow";
	return known ? "no value is taken by the option in" : "unknown option";
}

/* Two passes: the first finds --config, the second lets the command line win over the file. */
static int read_command_line(int argc, char **argv, struct config *config, bool config_only,
			     bool *ret_named, struct failure *reterr)
{
	struct option options[CONFIG_ROWS_MAX + 4];
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
		if (config_only !=
		    (config_rows[chosen].offset == offsetof(struct config, config_file)))
			continue;
		r = set_row(config, &config_rows[chosen], optarg ?: config_rows[chosen].implied ?: "true",
			    reterr);
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

/* Later code opens these once and works below them; "/" would manage the whole host. */
static int check_directories(const struct config *config, struct failure *reterr)
{
	const struct {
		const char *name, *path;
	} rows[] = {
		{ "root-dir", config->root_dir },
		{ "state-dir", config->state_dir },
		{ "run-dir", config->run_dir },
		{ "manifest-dir", config->manifest_dir },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].path[0] != '/' || strcmp(rows[i].path, "/") == 0)
			return failed_plain(reterr, -EINVAL,
					    "%s: '%s' is not an absolute path below '/'",
					    rows[i].name, rows[i].path);
	if (*config->kubeconfig && *config->kubeconfig != '/' &&
	    strcmp(config->kubeconfig, KUBECONFIG_IN_CLUSTER) != 0)
		return failed_plain(reterr, -EINVAL,
				    "kubeconfig: '%s' is neither an absolute path nor "
				    "'" KUBECONFIG_IN_CLUSTER "'",
				    config->kubeconfig);
	if (config->provisioner && !*config->kubeconfig)
		return failed_plain(
			reterr, -EINVAL,
			"provisioner: there is no kubeconfig; without a cluster volumes "
			"are made in any case");
	if (config->register_node && !*config->kubeconfig)
		return failed_plain(reterr, -EINVAL,
				    "register-node: there is no kubeconfig, so no cluster");
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

static int find_unmount(struct config *config, struct failure *reterr)
{
	static const char *const names[] = {
		[CONFIG_UNMOUNT_WAIT] = "wait",
		[CONFIG_UNMOUNT_LAZY] = "lazy",
		[CONFIG_UNMOUNT_FORCE] = "force",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(config->stuck_unmount.how, names[i]) == 0) {
			config->stuck_unmount.manner = (enum config_unmount) i;
			return 0;
		}
	return failed_plain(reterr, -EINVAL, "stuck-unmount: '%s' is not wait, lazy or force",
			    config->stuck_unmount.how);
}

static int read_takeover(struct config *config, struct failure *reterr)
{
	static const char *const names[] = {
		[CONFIG_TAKEOVER_NONE] = "none",
		[CONFIG_TAKEOVER_ADOPT] = "adopt",
		[CONFIG_TAKEOVER_REMOVE] = "remove",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(config->takeover.what, names[i]) == 0) {
			config->takeover.how = (enum config_takeover) i;
			return 0;
		}
	return failed_plain(reterr, -EINVAL, "takeover: '%s' is not none, adopt or remove",
			    config->takeover.what);
}

static int read_drift(struct config *config, struct failure *reterr)
{
	config->drift.heals = strcmp(config->drift.policy, "heal") == 0;
	if (config->drift.heals || strcmp(config->drift.policy, "report") == 0)
		return 0;
	return failed_plain(reterr, -EINVAL, "drift: '%s' is not heal or report",
			    config->drift.policy);
}

static int read_csi_controllers(struct config *config, struct failure *reterr)
{
	const char *who = config->csi_controllers.who;

	config->csi_controllers.external = strcmp(who, "external") == 0;
	if (config->csi_controllers.external || strcmp(who, "podvol") == 0)
		return 0;
	return failed_plain(reterr, -EINVAL, "csi-controllers: '%s' is not podvol or external",
			    who);
}

static int check_issuer(const struct config *config, struct failure *reterr)
{
	const char *issuer = config->tokens.issuer;
	int r = *issuer ? token_issuer_check_url(issuer, reterr) : 0;

	return r < 0 ? failure_prefix(reterr, "token-issuer"), r : 0;
}

static int check_group_role(const struct config *config, struct failure *reterr)
{
	if (role_rights(config->group_role) != 0)
		return 0;
	return failed_plain(reterr, -EINVAL, "group-role: '%s' is not %s", config->group_role,
			    role_names);
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
	if (r >= 0)
		r = find_unmount(ret, reterr);
	if (r >= 0)
		r = read_drift(ret, reterr);
	if (r >= 0)
		r = read_takeover(ret, reterr);
	if (r >= 0)
		r = read_csi_controllers(ret, reterr);
	if (r >= 0)
		r = check_issuer(ret, reterr);
	if (r >= 0 && ret->drain && ret->hand_back)
		r = failed_plain(reterr, -EINVAL, "--drain cannot be combined with --hand-back");
	if (r >= 0)
		r = check_group_role(ret, reterr);
	return r < 0 ? r : make_labels(ret, reterr);
}

void config_done(struct config *config)
{
	for (size_t i = 0; i < config_row_count; i++)
		if (config_rows[i].kind == CONFIG_STRING)
			free(*(char **) field(config, &config_rows[i]));
	for (size_t i = 0; i < config->labels.count; i++) {
		free((char *) config->labels.labels[i].key);
		free((char *) config->labels.labels[i].value);
	}
	free((void *) config->labels.labels);
	*config = (struct config){ .config_file = NULL };
}
