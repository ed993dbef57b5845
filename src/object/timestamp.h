/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timestamp - times of RFC 3339, as objects write them
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Microseconds of real time. Printed to the second, to the millisecond as in views, or to the
 * microsecond as in events and leases; parsed to the microsecond, 0 when @text is none or lies
 * before 1970. */
enum { TIMESTAMP_BYTES = 32 };
void timestamp_print(uint64_t usec, char text[TIMESTAMP_BYTES]);
void timestamp_print_milli(uint64_t usec, char text[TIMESTAMP_BYTES]);
void timestamp_print_micro(uint64_t usec, char text[TIMESTAMP_BYTES]);
uint64_t timestamp_parse(const char *text);
bool timestamp_is_valid(const char *text);
