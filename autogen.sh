#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes ./configure from a checkout.
set -eu
cd "$(dirname "$0")"
exec autoreconf --install --warnings=all,no-portability
