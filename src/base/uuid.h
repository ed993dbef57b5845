/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uuid - UUIDs as text: random ones, and the one of this boot
 *
 * sd-id128(3) has both; the text is lower case with dashes, as Kubernetes and the kernel print it.
 */
#pragma once

enum { UUID_BYTES = 37 };

/**
 * uuid_make - a random UUID, version 4 (RFC 9562)
 *
 * Return: 0; the error of getentropy(3). Any thread.
 */
int uuid_make(char ret[UUID_BYTES]);

/**
 * uuid_of_boot - what /proc/sys/kernel/random/boot_id holds: another one after each boot
 *
 * Return: 0; else as reading that file. Any thread; read once.
 */
int uuid_of_boot(char ret[UUID_BYTES]);
