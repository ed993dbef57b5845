/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_vol_data - any bytes as a vol_data.json, in each of its places
 *
 * Whatever is accepted names a driver and a volume, and neither leads out of a directory.
 */
#include "fuzz.h"

#include "object/kinds/vol_data.h"

#include <assert.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	for (int place = 0; place < VOL_DATA_PLACE_COUNT; place++) {
		struct vol_data parsed;

		if (vol_data_parse((const char *) data, size, (enum vol_data_place) place, &parsed,
				   NULL) < 0)
			continue;
		assert(size <= VOL_DATA_BYTES_MAX);
		assert(*parsed.driver_name != '\0' && *parsed.volume_handle != '\0');
		assert(!strchr(parsed.driver_name, '/') && parsed.driver_name[0] != '.');
		assert(!strchr(parsed.spec_name, '/') && strcmp(parsed.spec_name, "..") != 0);
		assert(*parsed.spec_name != '\0' || place == VOL_DATA_STAGING);
		vol_data_done(&parsed);
	}
	return 0;
}
