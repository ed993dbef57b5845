/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec_plugin - runs the credential plugin of a kubeconfig once, beside the loop
 *
 * As client-go has it: KUBERNETES_EXEC_INFO in the environment, an ExecCredential of the same
 * version on its output. The program has to be root's and writable by no other user. It has nothing
 * of podvold's environment and none of its descriptors, /dev/null as its input, a process group of
 * its own, EXEC_PLUGIN_SECONDS_MAX, and EXEC_PLUGIN_BYTES_MAX for what it says. The loop thread
 * only; it does not block.
 */
#pragma once

#include "store/remote/client_credentials.h"

#include <stdint.h>
#include <systemd/sd-event.h>

enum {
	EXEC_PLUGIN_SECONDS_MAX = 60, /* then its group is killed */
	EXEC_PLUGIN_BYTES_MAX = 1048576,
};

struct exec_plugin;

struct exec_credential {
	struct client_credentials credentials; /* without an authority */
	uint64_t expires_usec;                 /* real time; 0: it does not say */
};

struct exec_plugin_order {
	sd_event *event;
	const struct kubeconfig *kubeconfig; /* with an exec; borrowed until the run is over */
	const char *authority;               /* what provideClusterInfo shows; NULL: none */
	/* Once, and the run is gone; @credential is taken over, NULL with an @error. */
	void (*done)(void *userdata, int error, struct exec_credential *credential,
		     const struct failure *why);
	void *userdata;
};

/**
 * exec_plugin_run - begin a run
 *
 * Return: 0; -ENOENT no such program; -EPERM others could have written it; else as posix_spawn.
 * Then done() is not called.
 */
int exec_plugin_run(const struct exec_plugin_order *order, struct exec_plugin **ret,
		    struct failure *reterr);
/* Its group is killed, and reaped. Accepts NULL. Return: NULL. */
struct exec_plugin *exec_plugin_cancel(struct exec_plugin *plugin);
