/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kubeconfig - which kube-apiserver to use and with which credentials, as client-go reads the file
 *
 * One file; the context is current-context. Certificates, keys and tokens are given as data or as
 * names of files; client_credentials.h reads those files, again when they may have changed. What
 * podvold cannot do is refused with the field's name and never passed over: auth-provider plugins,
 * passwords, impersonation, insecure-skip-tls-verify, and http:// to anything but loopback. YAML
 * anchors are refused, as everywhere.
 */
#pragma once

#include "base/failure.h"

#include <stdbool.h>
#include <stddef.h>

/* A PEM text or the absolute path of a file with one; both NULL: none. */
struct kubeconfig_pem {
	char *data, *file;
};

enum { KUBECONFIG_EXEC_TEXTS_MAX = 1000 }; /* arguments, and variables, of a plugin */

/* A credential plugin; command NULL: none. */
struct kubeconfig_exec {
	char *api_version;  /* client.authentication.k8s.io/v1 or v1beta1 */
	char *command;      /* absolute, or a bare name */
	char **arguments;   /* NULL behind the last */
	char **environment; /* "NAME=value"; the same */
	char *install_hint; /* for people */
	bool provides_cluster;
	char *cluster_config; /* JSON that the cluster's entry has for plugins */
};

/* Strings are owned; NULL: not given. */
struct kubeconfig {
	char *context;         /* its name */
	char *server;          /* URL without user, query and a slash at the end */
	char *tls_server_name; /* expected in the server's certificate instead of HOST */
	char *proxy_url;       /* http, https or socks5 */
	bool disable_compression;
	struct kubeconfig_pem authority; /* none: the system's */
	struct kubeconfig_pem certificate, key;
	char *token;      /* used when there is no token_file */
	char *token_file; /* absolute path */
	struct kubeconfig_exec exec;
};

/**
 * kubeconfig_read - read the file that an operator named
 * @path: absolute; root's alone, as secret_file_read() has it
 * @ret:  given to kubeconfig_done(), also after a failure
 *
 * Blocks on the disk. Return: 0; -EINVAL with path, field and reason; else as secret_file_read().
 */
int kubeconfig_read(const char *path, struct kubeconfig *ret, struct failure *reterr);

/* The same of a text. Relative paths in it begin at @directory, an absolute path. */
int kubeconfig_parse(const char *text, size_t length, const char *directory, struct kubeconfig *ret,
		     struct failure *reterr);

/* In place of a path: the files and variables that kubelet gives to containers. */
#define KUBECONFIG_IN_CLUSTER "in-cluster"
#define IN_CLUSTER_DIRECTORY  "/var/run/secrets/kubernetes.io/serviceaccount"

/**
 * kubeconfig_in_cluster - the server that KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT name,
 * with @directory's token and ca.crt, as client-go's InClusterConfig
 * @directory: absolute; its files are read by client_credentials_read()
 *
 * Return: 0; -EINVAL a variable is missing or names no host and port; -ENOMEM.
 */
int kubeconfig_in_cluster(const char *directory, struct kubeconfig *ret, struct failure *reterr);

/* Frees the strings, secrets after overwriting them; an empty one is fine. */
void kubeconfig_done(struct kubeconfig *kubeconfig);

/* ---- what kubeconfig.c and kubeconfig_exec.c share ---- */

struct cJSON;

/* A copy of a text; NULL in @ret when it is not set. */
int kubeconfig_take_text(const struct cJSON *entry, const char *field, char **ret,
			 struct failure *reterr);
/* The same, as a path from @directory. */
int kubeconfig_take_path(const struct cJSON *entry, const char *field, const char *directory,
			 char **ret, struct failure *reterr);

/* The exec of a user; what its cluster says to plugins, as JSON. */
int kubeconfig_exec_take(const struct cJSON *tree, const char *directory,
			 struct kubeconfig_exec *ret, struct failure *reterr);
int kubeconfig_exec_take_cluster(const struct cJSON *cluster, struct kubeconfig_exec *ret,
				 struct failure *reterr);
void kubeconfig_exec_done(struct kubeconfig_exec *exec);
