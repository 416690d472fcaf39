/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAIRN_TESTS_ALIAS_H
#define CAIRN_TESTS_ALIAS_H

// Its constructors are one function with two names, and so are its destructors.
class counted
{
      public:
	explicit counted(int n);
	~counted();

	int value;
};

#endif /* CAIRN_TESTS_ALIAS_H */
