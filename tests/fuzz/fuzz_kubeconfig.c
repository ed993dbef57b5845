/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_kubeconfig - a kubeconfig of any origin
 *
 * It is taken whole, with a server and something to authenticate by, or refused with a sentence.
 */
#include "fuzz.h"

#include "store/remote/kubeconfig.h"

#include "base/cleanup.h"

#include <string.h>
#include <strings.h>

static void check_taken(const struct kubeconfig *config)
{
	bool has_certificate = config->certificate.data || config->certificate.file;
	bool has_key = config->key.data || config->key.file;

	HOLDS(config->context && config->server);
	HOLDS(strncasecmp(config->server, "http", 4) == 0);
	HOLDS(!strpbrk(config->server, "@ \r\n") && !strstr(config->server, ":///"));
	HOLDS(has_certificate == has_key);
	HOLDS(has_certificate || config->token || config->token_file);
	HOLDS(!config->token_file || *config->token_file == '/');
	HOLDS(!config->key.file || *config->key.file == '/');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kubeconfig config;
	struct failure why = { 0 };
	int r = kubeconfig_parse((const char *) data, size, "/etc", &config, &why);

	if (r == 0)
		check_taken(&config);
	else
		HOLDS(why.error == r && why.text[0] != '\0');
	kubeconfig_done(&config);
	return 0;
}
