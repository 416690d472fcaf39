# SPDX-License-Identifier: Apache-2.0
"""Mutants that readers once did not survive, made by hand: they are run before
the drawn ones, with every command that is named beside them."""

# Name, seed, what makes (profile, program or None), commands.
FOUND = []
