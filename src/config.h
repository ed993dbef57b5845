/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config - podvold's options, its configuration file and every limit, in one table
 *
 * A row of the table is an option of the command line, a key of the file (the same word) and an
 * entry of the manual page, with its default. Later wins: default, file, command line. The file is
 * YAML: one mapping from key to scalar. An unknown key or a bad value is an error that names file,
 * line and key.
 */
#pragma once

#include "base/failure.h"
#include "object/select/selector.h"

#include <stdbool.h>
#include <stdint.h>

/* What is done about volumes that stay in use although unreferenced. */
enum config_unmount { CONFIG_UNMOUNT_WAIT, CONFIG_UNMOUNT_LAZY, CONFIG_UNMOUNT_FORCE };

/* What becomes of volumes below the root directory that the ledger does not know. */
enum config_takeover {
	CONFIG_TAKEOVER_NONE,   /* foreign: reported; used when a listed pod wants them */
	CONFIG_TAKEOVER_ADOPT,  /* managed; those of unlisted pods are held */
	CONFIG_TAKEOVER_REMOVE, /* those of unlisted pods that nothing uses are taken down */
};

struct config {
	char *config_file; /* --config; "/etc/podvol/podvold.conf"; may be missing when not named */
	struct {
		char *root_dir;     /* "/var/lib/kubelet" */
		char *state_dir;    /* "/var/lib/podvol" */
		char *run_dir;      /* "/run/podvol" */
		char *manifest_dir; /* "/etc/podvol/manifests" */
		char *volume_paths; /* "/a,/b": sources of hostPath and local volumes; "" anywhere
				     */
	};
	struct {
		char *node_name;   /* the host name, lower case */
		char *node_labels; /* "key=value,..."; kubernetes.io/hostname, os, arch are added */
		char *kubeconfig; /* absolute path or in-cluster: a node of that cluster; "" none */
		bool keep_secrets;  /* of the cluster, on disk, too */
		bool provisioner;   /* for claims of the cluster that selected this node */
		bool register_node; /* in the cluster, and keep it Ready */
		bool new_cluster;   /* command line only: the objects of another one go */
	};
	char *log_level; /* "error", "warning", "notice", "info", "debug" */
	struct {
		char *policy; /* "heal" or "report": what others did to our mounts */
		bool heals;   /* the same */
	} drift;
	struct {
		char *who;     /* "podvol" or "external": who does the work of CSI sidecars */
		bool external; /* the same */
	} csi_controllers;
	int log_priority; /* the same as LOG_ERR .. LOG_DEBUG */
	struct {
		char *tls;       /* "ADDRESS:PORT"; "" none */
		char *names;     /* "name,address": more of them in the certificate */
		char *plain;     /* "ADDRESS:PORT" without TLS, loopback only; "" none */
		char *client_ca; /* file of authorities of clients' certificates; "" none */
	} listen;
	char *docker_plugin_socket; /* absolute path; "" none */
	char *token_file;           /* "": state_dir's own */
	char *group_role;           /* "operator": of group podvol on the socket */
	struct {
		char *issuer; /* URL; "": of the node's name */
		int64_t seconds_max, key_days;
	} tokens; /* of service accounts */
	int64_t worker_threads, worker_threads_max;
	int64_t operation_seconds, tool_seconds;
	int64_t connections_max, waits_max, watches_max;
	int64_t holds_max;
	int64_t usage_files_per_second; /* 0: no files are counted */
	struct {
		int64_t request_bytes, manifest_objects;
	} input_max; /* of one request, of one manifest */
	struct {
		int64_t max, seconds_max;
	} events; /* that are kept */
	struct {
		int64_t stored, in_memory;
	} objects_bytes_max; /* of all objects together */
	struct {
		int64_t idle, request; /* of connections */
		int64_t fault_check;   /* between looks at file systems; 0 never */
	} seconds;
	struct {
		struct {
			char *how;                  /* "wait", "lazy", "force" */
			enum config_unmount manner; /* the same */
			int64_t seconds;
		} stuck_unmount;
		struct {
			char *what;               /* "none", "adopt", "remove" */
			enum config_takeover how; /* the same */
		} takeover;
	}; /* what becomes of what is mounted */
	struct {
		bool others_may_read;
		bool idmapped_fs_group; /* pods may ask for fsGroup as a map of the mount */
		bool force_detach;      /* other nodes that are not ready lose volumes in the end */
		bool drain, hand_back;  /* command line only */
	};
	struct labels labels; /* of the node, from node_labels; owned */
};

/* It ends when it is done, and no pod is known meanwhile. */
static inline bool config_has_no_store(const struct config *config)
{
	return config->drain || config->hand_back;
}

enum config_kind { CONFIG_STRING, CONFIG_INTEGER, CONFIG_FLAG };

struct config_row {
	const char *name;     /* "root-dir": --root-dir=DIR and key root-dir */
	const char *argument; /* "DIR"; NULL for flags */
	enum config_kind kind;
	size_t offset;            /* in struct config */
	const char *implied;      /* of an option without "=..."; NULL: a value must be given */
	const char *default_text; /* NULL: worked out at start (host name) */
	int64_t minimum, maximum; /* CONFIG_INTEGER */
	bool command_line_only;
	bool reloads; /* SIGHUP changes it; else a restart does. Read it on the loop, each time. */
	const char *help;
};
/* The table, for who compares it with documents, too. */
enum { CONFIG_ROWS_MAX = 60 };
extern const struct config_row config_rows[];
extern const size_t config_row_count;

enum config_outcome { CONFIG_RUN, CONFIG_EXIT }; /* CONFIG_EXIT: --help or --version was printed */

/**
 * config_load - read defaults, file and command line
 * @ret: to be given to config_done()
 *
 * Return: CONFIG_RUN, CONFIG_EXIT, or a negative errno with @reterr: -EINVAL usage or value,
 * -ENOENT a named file is missing.
 */
int config_load(int argc, char **argv, struct config *ret, struct failure *reterr);
/* Frees the strings and labels; an empty config is fine. */
void config_done(struct config *config);

/* ---- config_file.c: podvold.conf: one YAML mapping from key to scalar ---- */

/**
 * config_file_read - every key and value of a configuration file, in its order
 * @path: named in every failure
 * @set:  called with key and value as text; what it refuses ends the reading
 *
 * An empty file is fine. Blocks: at start, and on a thread of its own after.
 *
 * Return: 0; -ENOENT no such file; -EINVAL no mapping, a value that is no scalar, or what @set
 * said.
 */
int config_file_read(const char *path,
		     int (*set)(const char *key, const char *value, void *userdata,
				struct failure *reterr),
		     void *userdata, struct failure *reterr);
