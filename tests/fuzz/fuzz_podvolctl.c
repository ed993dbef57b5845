/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_podvolctl - whatever a server answers, podvolctl prints it and ends
 *
 * The first byte of the input chooses a command, the second the status; the rest is the body of
 * every answer, discovery's too where the first byte is large. The terminal is safe: no control
 * character comes out but line ends and tabs.
 *
 * With tests/unit/cli/cli_world.c
 */
#include "fuzz.h"

#include "tests/unit/cli/cli_world.h"

#include "base/cleanup.h"

#include <string.h>

static const struct {
	const char *words;
	bool is_raw; /* prints the answer's bytes as they are */
} commands[] = {
	{ "podvolctl get pods", false },
	{ "podvolctl get pods -o wide --sort-by .metadata.name", false },
	{ "podvolctl get pods -o json", true },
	{ "podvolctl get pods -o yaml", true },
	{ "podvolctl get pods -o name", false },
	{ "podvolctl get pods -o jsonpath={.items[*].metadata.name}", true },
	{ "podvolctl get pods -o custom-columns=A:.metadata.name,B:.spec", false },
	{ "podvolctl get volumes", false },
	{ "podvolctl get pods,pv web", false },
	{ "podvolctl describe pod web", false },
	{ "podvolctl describe volume some", false },
	{ "podvolctl describe pv some", false },
	{ "podvolctl events", false },
	{ "podvolctl events web", false },
	{ "podvolctl explain-state web", false },
	{ "podvolctl kinds", false },
	{ "podvolctl kubeconfig", true },
	{ "podvolctl token list", false },
	{ "podvolctl mount web", false },
	{ "podvolctl mounts web", false },
	{ "podvolctl mounts web --format podman", true },
	{ "podvolctl hold web --container c", false },
	{ "podvolctl release web 0123456789", false },
	{ "podvolctl unmount web", false },
	{ "podvolctl delete pod web --wait=false", false },
	{ "podvolctl label pod web a=b", false },
	{ "podvolctl version", false },
	{ "podvolctl wait web", false },
	{ "podvolctl --complete get pods", false },
};

static const int statuses[] = { 200, 201, 400, 401, 403, 404, 409, 410, 422, 500, 503, 504 };

/* An error comes as the library has it: with the sentence that it found in the body. */
static int error_of(int status)
{
	static const int errors[] = { -ENOENT, -EACCES, -EBUSY, -EPROTO, -EIO };

	return status < 400 ? 0 : errors[(size_t) status % ARRAY_SIZE(errors)];
}

static void check_printed(const char *text)
{
	for (; *text; text++)
		HOLDS(*text == '\n' || *text == '\t' ||
		      ((unsigned char) *text >= 0x20 && *text != 0x7f));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct answer answer = { .request = "" };
	char *body;
	int status;

	if (size < 2)
		return 0;
	body = strndup((const char *) data + 2, size - 2);
	HOLDS(body);
	answer.status = statuses[data[1] % ARRAY_SIZE(statuses)];
	answer.error = error_of(answer.status);
	answer.body = body;
	no_discovery = data[0] >= 128;
	status = run_with(&answer, 1, commands[data[0] % 128 % ARRAY_SIZE(commands)].words);
	HOLDS(status >= EXIT_DONE && status <= EXIT_UNREACHABLE);
	HOLDS(out_text && err_text);
	if (!commands[data[0] % 128 % ARRAY_SIZE(commands)].is_raw)
		check_printed(out_text);
	check_printed(err_text);
	free(body);
	return 0;
}
