// SPDX-License-Identifier: Apache-2.0
// Runs inside a page of a C++ program, behind its own script: the short names
// that functions have in the table.  page.py knows what they should be.
"use strict";
const seen = {
	rows: [...document.querySelectorAll(".frow .name")]
		.map((el) => el.textContent),
	short: Object.fromEntries([
		"main", "int fact<5>()", "void f<unsigned int>(unsigned int)",
		"geo::Box<int>::twice() const", "bool operator<(A, B)",
		"auto main::$_0::operator()<int>(int) const",
		"bool std::operator< <char, std::char_traits<char> >(A const&)",
		"std::map<std::basic_string<char>, int>::operator[](int&&)",
		"a<b<c>, d>::k<char const*>(int) [clone .cold]",
		"(anonymous namespace)::g(int)",
	].map((name) => [name, shortName(name).replace(/\u00a0/g, " ")])),
};
document.body.replaceChildren(make("pre", {id: "seen"},
	JSON.stringify({seen, errors: window.pageErrors})));
