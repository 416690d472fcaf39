# SPDX-License-Identifier: Apache-2.0
# What the command line says about itself, and about mistakes.
cairn --help
for command in report merge pack check; do
	echo "== $command"
	cairn $command --help
done
cairn
cairn nonsense
cairn report
cairn report --nonsense x
cairn report --sort nonsense x
cairn merge x
cairn pack -o x a b
cairn check
