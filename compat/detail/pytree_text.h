// SPDX-License-Identifier: BSD-3-Clause
// Parses and prints structures, for executorch/extension/pytree/pytree.h, which describes the text. A
// recursive descent without backtracking: one character decides the kind of a node.
#pragma once

#include <executorch/extension/pytree/pytree.h>

namespace executorch::extension::pytree {

namespace internal {

constexpr size_t kDeepest = 256;  // nesting limit: bounds the stack for a text of parentheses

// The letter of a container's kind; std::runtime_error for leaves, Custom and None.
inline char letter_of(Kind kind) {
  switch (kind) {
    case Kind::List:
      return 'L';
    case Kind::Tuple:
      return 'T';
    case Kind::NamedTuple:
      return 'N';
    case Kind::Dict:
      return 'D';
    default:
      refuse<std::runtime_error>("pytree: kind of node without a text form");
  }
}

// Parses nodes from the front of a text. Memory is at most proportional to the text's length, because each
// child takes a character; the stack is bounded by kDeepest.
template <class Aux>
class SpecReader {
 public:
  explicit SpecReader(const StrTreeSpec& text) : text_(text) {}

  // Parses one node with its children. The counts that the text states are compared with the parsed children,
  // which costs a visit of each node per level above it.
  TreeSpec<Aux> node(size_t depth = 0) {
    if (depth > kDeepest) refuse<std::out_of_range>("pytree: nested too deeply");
    const char letter = next();
    // A leaf without a value.
    if (letter == '$') return TreeSpec<Aux>(static_cast<TreeSpecLeaf*>(nullptr));
    const Kind kind = kind_of(letter);
    // The numbers of leaves come first, one for each child.
    TreeSpec<Aux> read(kind, count());
    arr<size_t> leaves(read.size());
    // One #n for each child.
    for (size_t& number : leaves) {
      expect('#');
      number = this->number();
    }
    expect('(');
    for (size_t i = 0; i < read.size(); ++i) {
      if (i > 0) expect(',');
      // A dict's children have their keys in front.
      if (read.isDict()) {
        read.key(i) = key();
        expect(':');
      }
      read[i] = node(depth + 1);
      if (refresh_leaves_num(read[i]) != leaves[i]) {
        refuse<std::out_of_range>("pytree: number of leaves differs from the child");
      }
    }
    expect(')');
    return read;
  }

  // Refuses text after the node.
  void expect_end() const {
    if (at_ != text_.size()) refuse<std::out_of_range>("pytree: unexpected text after the end");
  }

 private:
  // The next character, which must exist.
  char next() {
    if (at_ >= text_.size()) refuse<std::out_of_range>("pytree: the text ends early");
    return text_[at_++];
  }
  // The next character, which must be `wanted`.
  void expect(char wanted) {
    if (next() != wanted) refuse<std::out_of_range>("pytree: unexpected character");
  }
  // The inverse of letter_of().
  static Kind kind_of(char letter) {
    for (const Kind kind : {Kind::List, Kind::Tuple, Kind::NamedTuple, Kind::Dict}) {
      if (letter_of(kind) == letter) return kind;
    }
    refuse<std::runtime_error>("pytree: expected one of $ L T N D");
  }
  // A decimal integer up to `most`. It cannot be the last thing in a text: a #, a bracket or a colon
  // follows.
  size_t number(size_t most = INT32_MAX) {
    uint64_t value = 0;
    const size_t begin = at_;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      value = value * 10 + static_cast<uint64_t>(text_[at_] - '0');
      if (value > most) refuse<std::out_of_range>("pytree: number too large");
    }
    if (at_ == text_.size()) refuse<std::out_of_range>("pytree: the text ends early");
    if (at_ == begin) refuse<std::runtime_error>("pytree: expected a number");
    return static_cast<size_t>(value);
  }
  // Each child takes a character, so a count cannot exceed the rest of the text.
  size_t count() {
    const size_t value = number();
    if (value > text_.size() - at_) refuse<std::out_of_range>("pytree: more children than characters");
    return value;
  }
  // INT32_MIN to INT32_MAX.
  KeyInt integer_key() {
    if (text_[at_] != '-') return static_cast<KeyInt>(number());
    ++at_;
    return static_cast<KeyInt>(-static_cast<int64_t>(number(size_t{1} << 31)));
  }
  // A key in quotes ends at the next quote: the text form has no escapes.
  Key key() {
    if (at_ < text_.size() && text_[at_] != '\'') return Key(integer_key());
    expect('\'');
    const size_t end = text_.find('\'', at_);
    if (end == StrTreeSpec::npos) refuse<std::out_of_range>("pytree: key without closing quote");
    Key key(text_.substr(at_, end - at_));
    at_ = end + 1;
    return key;
  }

  // The whole text, not owned, and the position of the next character.
  const StrTreeSpec& text_;
  size_t at_ = 0;
};

// Appends the text of a node. Precondition: leaves_num is set in all nodes.
template <class Aux>
void write(const TreeSpec<Aux>& spec, StrTreeSpec& text) {
  if (spec.isLeaf()) {
    text += '$';
    return;
  }
  // Writes nothing: from_str() refuses such a text.
  if (spec.kind() == Kind::None) return;
  text += letter_of(spec.kind());
  text += std::to_string(spec.size());
  for (size_t i = 0; i < spec.size(); ++i) text += '#' + std::to_string(spec[i].leaves_num());
  text += '(';
  for (size_t i = 0; i < spec.size(); ++i) {
    if (i > 0) text += ',';
    if (spec.isDict()) {
      const Key& key = spec.key(i);
      text += key.kind() == Key::Kind::Int ? std::to_string(key.as_int()) : '\'' + key.as_str() + '\'';
      text += ':';
    }
    write(spec[i], text);
  }
  text += ')';
}

}  // namespace internal

// The text holds one node and nothing else.
template <class Aux>
TreeSpec<Aux> from_str(const StrTreeSpec& spec) {
  internal::SpecReader<Aux> reader(spec);
  TreeSpec<Aux> read = reader.node();
  reader.expect_end();
  refresh_leaves_num(read);
  return read;
}

// A constant specification, but its counts are mutable: they are written to be printed.
template <class Aux>
StrTreeSpec to_str(const TreeSpec<Aux>& spec) {
  refresh_leaves_num(spec);
  StrTreeSpec text;
  internal::write(spec, text);
  return text;
}

}  // namespace executorch::extension::pytree
