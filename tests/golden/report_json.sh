# SPDX-License-Identifier: Apache-2.0
# The JSON report, which has to be JSON for others too.
cp "$CAIRN_ROOT"/tests/fuzz/corpus/container/v2-*.cairn .
cairn report --stable --json v2-closed.cairn
cairn report --stable --json v2-negative.cairn | python3 -m json.tool --compact
cairn check --json v2-closed.cairn v2-negative.cairn
