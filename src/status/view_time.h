/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_time - times as views of the node show them
 */
#pragma once

#include <stdint.h>

struct cJSON;

enum { VIEW_TIME_BYTES = 40 };
/* RFC 3339 with milliseconds. */
void view_print_time(uint64_t real_usec, char text[VIEW_TIME_BYTES]);
/* "22:37:41Z": of a monotonic time, by the real clock as it is set now. */
void view_print_clock(uint64_t monotonic_time_usec, char text[VIEW_TIME_BYTES]);
/* As view_print_time(), of a monotonic time as a member; 0 stays absent. */
void view_set_time(struct cJSON *item, const char *key, uint64_t monotonic_time_usec);
