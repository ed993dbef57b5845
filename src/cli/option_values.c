/* SPDX-License-Identifier: Apache-2.0 */
/*
 * option_values - reading the values of options, each by a function of its own; see verb.h
 *
 * Before anything is sent, so that a wrong value does nothing.
 */
#include "cli/get.h"
#include "cli/verb.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <limits.h>
#include <string.h>

static bool take_format(struct cli *cli, const char *text, const char *others)
{
	static const char *const names[] = {
		[OUTPUT_TABLE] = "table", [OUTPUT_WIDE] = "wide", [OUTPUT_JSON] = "json",
		[OUTPUT_YAML] = "yaml",   [OUTPUT_NAME] = "name",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strcmp(names[i], text) == 0) {
			cli->format = (enum cli_format) i;
			return true;
		}
	}
	cli_complain(cli, "--output '%s' is none of table, wide, json, yaml, name%s", text, others);
	return false;
}

bool option_take_format(struct cli *cli, const char *text)
{
	return take_format(cli, text, "");
}

/* Of descriptions and sentences, which have no other format. */
bool option_take_wide(struct cli *cli, const char *text)
{
	if (strcmp(text, "wide") == 0)
		return option_take_format(cli, text);
	cli_complain(cli, "--output '%s' is not wide: get shows objects in other formats", text);
	return false;
}

/* Of get alone: formats with a text of the user's. */
bool option_take_any_format(struct cli *cli, const char *text)
{
	static const struct {
		const char *prefix;
		enum cli_format format;
	} rows[] = { { "jsonpath=", OUTPUT_JSONPATH }, { "custom-columns=", OUTPUT_COLUMNS } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (strncmp(text, rows[i].prefix, strlen(rows[i].prefix)) != 0)
			continue;
		cli->format = rows[i].format;
		cli->template = text + strlen(rows[i].prefix);
		return template_check(cli, cli->format, cli->template);
	}
	return take_format(cli, text, ", jsonpath=TEMPLATE, custom-columns=NAME:.path,...");
}

bool option_take_socket(struct cli *cli, const char *text)
{
	cli->socket_path = text;
	return true;
}

bool option_take_namespace(struct cli *cli, const char *text)
{
	if (*text == '\0')
		cli_complain(cli, "--namespace is empty: name one, or leave it out");
	cli->name_space = text;
	return *text != '\0';
}

bool option_take_show_labels(struct cli *cli, const char *text)
{
	cli->show_labels = true;
	return true;
}

bool option_take_no_headers(struct cli *cli, const char *text)
{
	cli->no_headers = true;
	return true;
}

bool option_take_timeout(struct cli *cli, const char *text)
{
	uint64_t usec;

	if (duration_parse(text, &usec) < 0 || usec / 1000 > INT_MAX) {
		cli_complain(cli, "--timeout '%s' is not a duration: write 30s, 2m or 1h", text);
		return false;
	}
	cli->timeout_msec = (unsigned int) (usec / 1000);
	return true;
}

bool option_take_wait_for(struct cli *cli, const char *text)
{
	if (strcmp(text, "mounted") != 0 && strcmp(text, "unmounted") != 0) {
		cli_complain(cli, "--for '%s' is neither 'mounted' nor 'unmounted'", text);
		return false;
	}
	cli->wait_for = *text == 'm' ? PODVOL_MOUNTED : PODVOL_UNMOUNTED;
	return true;
}

/* Of csi alone: what a driver answers is a tree. */
bool option_take_tree_format(struct cli *cli, const char *text)
{
	if (strcmp(text, "json") != 0 && strcmp(text, "yaml") != 0) {
		cli_complain(cli, "--output '%s' is neither 'json' nor 'yaml'", text);
		return false;
	}
	cli->format = *text == 'j' ? OUTPUT_JSON : OUTPUT_YAML;
	return true;
}
