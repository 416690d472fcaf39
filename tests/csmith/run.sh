#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh [SEED... | --count N]: see run.py, which does the work.
exec python3 "$(dirname "$0")/run.py" "$@"
