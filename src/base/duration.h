/* SPDX-License-Identifier: Apache-2.0 */
/*
 * duration - "30s", "1h30m", "500ms": lengths of time as people and Kubernetes write them
 */
#ifndef PODVOL_BASE_DURATION_H
#define PODVOL_BASE_DURATION_H

#include <stdint.h>

/* No wait lasts longer: 30 days. */
#define DURATION_USEC_MAX (30ULL * 24 * 3600 * 1000000)

/**
 * duration_parse - read a duration
 * @text: numbers with units h, m, s, ms, us in any order ("1h30m", "1.5" is refused); a bare number
 * means seconds
 * @ret_usec: microseconds
 *
 * Return: 0; -EINVAL no duration; -ERANGE longer than DURATION_USEC_MAX.
 */
int duration_parse(const char *text, uint64_t *ret_usec);

#endif
