/* SPDX-License-Identifier: Apache-2.0 */
/*
 * other_kubelet - is a kubelet running on our root directory? Two agents on one root would tear
 * down each other's volumes
 */
#pragma once

#include "base/failure.h"

/**
 * other_kubelet_check - refuse when a kubelet runs on this root directory
 * @proc_dir: "/proc"
 * @root_dir: absolute; compared as text with the kubelet's --root-dir, or its default
 *
 * Looks once at every process, at start-up; a kubelet that starts later is that operator's mistake.
 * A process that cannot be read is passed over: the lock on the root directory is what protects
 * from another podvold.
 *
 * Return: 0 none; -EBUSY with its pid in @reterr; -errno of reading @proc_dir.
 */
int other_kubelet_check(const char *proc_dir, const char *root_dir, struct failure *reterr);

/* Of the kubelet's pod resources, below its root directory. */
#define OTHER_KUBELET_SOCKET "pod-resources/kubelet.sock"

/* Does anything answer there? A kubelet inside another program (k3s, k0s) has no process of its
 * name. Return: 0 no; -EBUSY yes; else as the directory is opened. */
int other_kubelet_check_socket(const char *root_dir, struct failure *reterr);
