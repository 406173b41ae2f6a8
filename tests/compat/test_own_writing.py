# SPDX-License-Identifier: BSD-3-Clause
"""The C++ is our own: apart from its interface it shares no long spans of tokens with official headers."""

from __future__ import annotations

import pytest

from support import own_writing
from support.own_writing import Official, Shared, prose, unnamed, writing

LONGEST = 40  # tokens in one run
# Runs of 15 tokens and more, together, in files of some length: short ones are mostly what an interface makes
# of them.
SHARE = 0.40
LENGTH = 150
# With every name replaced: what renaming would leave of a copy. Checks and plain accessors of an interface
# look alike without their names; copies of whole bodies have been far longer.
LONGEST_UNNAMED = 105


@pytest.fixture(scope="module")
def rows() -> list[tuple[str, Shared, Shared]]:
    include = own_writing.official_headers()
    if include is None:
        pytest.skip("the package executorch is missing (tests/constraints.txt)")
    return list(own_writing.table(include))


def test_no_file_shares_a_long_run_with_an_official_header(rows: list[tuple[str, Shared, Shared]]) -> None:
    assert len(rows) > 1000
    long = [
        f"{name}: {named.longest} tokens of {named.shared[0][2]}"
        for name, named, _ in rows
        if named.longest > LONGEST
    ]
    assert not long, "write these anew (tests/compat/own_writing.py FILE shows the runs): " + ", ".join(long)


def test_no_file_is_made_of_short_runs_of_official_headers(rows: list[tuple[str, Shared, Shared]]) -> None:
    much = [
        f"{name}: {named.share:.0%}"
        for name, named, _ in rows
        if named.tokens >= LENGTH and named.share > SHARE
    ]
    assert not much, "write these anew: " + ", ".join(much)


def test_renaming_does_not_hide_a_copy(rows: list[tuple[str, Shared, Shared]]) -> None:
    long = [
        f"{name}: {form.longest} tokens"
        for name, named, form in rows
        if form.longest > LONGEST_UNNAMED and named.tokens >= LENGTH and form.share > SHARE
    ]
    assert not long, "write these anew: " + ", ".join(long)


def test_no_comment_shares_a_sentence_with_an_official_header() -> None:
    include = own_writing.official_headers()
    if include is None:
        pytest.skip("the package executorch is missing (tests/constraints.txt)")
    theirs = Official(own_writing.official(include, prose))
    shared = {name: theirs.compare(words) for name, words in own_writing.own(prose).items()}
    assert not [f"{name}: {each.longest} words" for name, each in shared.items() if each.longest]


_BODY = (
    "{ int total = 0; for (int i = 0; i < count; ++i) { total += values[i] * weights[i] + offset; } "
    "if (total < lowest) return lowest; return total; }"
)


def test_a_copied_body_is_seen_wherever_it_stands() -> None:
    official = Official({"sum.h": writing(f"namespace n {{ int sum(int count) {_BODY} }}")})
    for copy in (
        f"class Sum {{ public: int sum(int a, int b) const {_BODY} }};",
        f"#define SUM(count) {_BODY}",
        f"namespace mine::internal {{ template <class T> struct Any {{ T sum(T) {_BODY} }}; }}",
        f"// other words\nnamespace m {{ static int other() /* here */ {_BODY} }}",
    ):
        assert official.compare(writing(copy)).longest > 40, copy
    renamed = official.compare(writing("void f() " + _BODY.replace("total", "sum")))
    assert 0 < renamed.longest < 40
    by_form = Official({name: unnamed(tokens) for name, tokens in official.files.items()})
    assert by_form.compare(unnamed(writing("void f() " + _BODY.replace("total", "sum")))).longest > 40


def test_interface_is_no_writing() -> None:
    interface = """
        #include <vector>
        namespace a::b {
        using other::Name;
        enum class Color : int { Red = 1, Green, Blue };
        template <class T> Result<T> function(const T& a, std::vector<int> b = {}) noexcept;
        class Named : public Base {
         public:
          Named(const Named&) = delete;
          int size() const { return size_; }
          int public_member = 3;
        };
        }  // namespace a::b
    """
    assert writing(interface) == []
    kept = writing("class A { public: void f(int a) : a_(a) { g(a); } private: int a_; };")
    assert " ".join(kept) == ": a_ ( a ) { g ( a ) ; } int a_ ;"
