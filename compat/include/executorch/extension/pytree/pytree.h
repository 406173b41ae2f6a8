// SPDX-License-Identifier: BSD-3-Clause
// Nested lists, tuples and dicts around leaves, and the text form of such structures, which programs store
// for their inputs and outputs:
//
//   node   $ (a leaf), or kind count #leaves... ( children )
//   kind   L list, T tuple, N named tuple, D dict (its children are key:node)
//   count  number of children; #n for each of them: its number of leaves
//   key    a decimal integer without sign, or text in single quotes (without escapes)
//
// "D2#2#1('a':L2#1#1($,$),'b':$)" is {"a": [x, y], "b": z}. Invalid input throws std::out_of_range (truncated
// text, wrong counts) or std::runtime_error; without exceptions it aborts.
//
//   auto [leaves, spec] = flatten(tree);            // leaves refer to `tree`
//   auto again = unflatten(*spec, other_leaves);    // the same structure around other leaves
//
// All functions recurse once per level of nesting. Not thread-safe: they also write leaves_num of const
// nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

#include <executorch/extension/pytree/function_ref.h>
#include <executorch/runtime/platform/abort.h>
#include <executorch/runtime/platform/compiler.h>

namespace executorch::extension::pytree {

namespace internal {

// Throws, or aborts in builds without exceptions.
template <class Exception>
[[noreturn]] void refuse([[maybe_unused]] const char* message) {
#if ET_HAS_EXCEPTIONS
  throw Exception(message);
#else
  ::executorch::runtime::runtime_abort();
#endif
}

}  // namespace internal

// Refuses with std::runtime_error unless the condition holds.
inline void pytree_check(bool must_be_true) {
  if (!must_be_true) internal::refuse<std::runtime_error>("pytree: kind or size of node differs");
}

// Custom and None have no letter in the text form: to_str() refuses Custom and writes nothing for None.
enum class Kind : uint8_t { List, Tuple, NamedTuple, Dict, Leaf, Custom, None };

// The types of keys; integers have 32 bits.
using KeyStr = std::string;
using KeyInt = int32_t;

// A key of a dict: an integer, a text, or nothing. as_int() and as_str() refuse the other kind with
// std::runtime_error.
struct Key {
  enum class Kind : uint8_t { None, Int, Str };

  Key() = default;
  Key(KeyInt key) : value_(key) {}
  Key(KeyStr key) : value_(std::move(key)) {}

  // The enumerators follow the order of the variant's types.
  Kind kind() const { return static_cast<Kind>(value_.index()); }
  KeyInt as_int() const { return get<KeyInt>(); }
  const KeyStr& as_str() const { return get<KeyStr>(); }
  // Implicit conversions, with the errors of as_int() and as_str().
  operator KeyInt() const { return as_int(); }
  operator const KeyStr&() const { return as_str(); }
  bool operator==(const Key& other) const { return value_ == other.value_; }
  bool operator!=(const Key& other) const { return !(*this == other); }

 private:
  template <class T>
  const T& get() const {
    pytree_check(std::holds_alternative<T>(value_));
    return *std::get_if<T>(&value_);
  }

  std::variant<std::monostate, KeyInt, KeyStr> value_;
};

struct Empty {};

template <class T, class Aux = Empty>
struct ContainerHandle;

// A node: a leaf, or `size` children in `items`. Aux is user data stored in each, as a base class.
//
//   ContainerHandle<float> tree(Kind::Dict, 1);   // {"x": value}
//   tree.key(0) = KeyStr("x");
//   tree[0] = ContainerHandle<float>(&value);
template <class T, class Aux = Empty>
struct Container final : public Aux {
  using handle_type = ContainerHandle<T, Aux>;
  using leaf_type = T;

  Kind kind = Kind::None;
  size_t size = 0;
  leaf_type* leaf = nullptr;  // not owned
  // Children, and for dicts their keys, at the same index.
  std::unique_ptr<handle_type[]> items;
  std::unique_ptr<Key[]> keys;
  // The name of a Custom node's type; clone() copies it, the text form lacks it.
  std::string custom_type;
  mutable size_t leaves_num = 0;  // leaves below; set by refresh_leaves_num()

  // The children start without a node (null handles), and dict keys as Key::Kind::None.
  Container(Kind kind, size_t size = 0)
      : kind(kind), size(size), items(std::make_unique<handle_type[]>(size)) {
    if (kind == Kind::Dict) keys = std::make_unique<Key[]>(size);
  }
  // A leaf: the value is the caller's and must outlive the node.
  Container(leaf_type* leaf) : kind(Kind::Leaf), leaf(leaf), leaves_num(1) {}
  Container(const Container&) = delete;
  Container& operator=(const Container&) = delete;
};

// Owns a node. A default-constructed handle owns none: assign one before any other use.
template <class T, class Aux>
struct ContainerHandle {
  using container_type = Container<T, Aux>;
  using leaf_type = T;

  std::unique_ptr<container_type> handle;

  ContainerHandle() = default;
  // A new container of `size` empty handles, or a new leaf; the last two forms take over a node.
  ContainerHandle(Kind kind, size_t size = 0) : handle(std::make_unique<container_type>(kind, size)) {}
  ContainerHandle(leaf_type* leaf) : handle(std::make_unique<container_type>(leaf)) {}
  ContainerHandle(container_type* node) : handle(node) {}
  ContainerHandle(std::unique_ptr<container_type> node) : handle(std::move(node)) {}

  // Access to a leaf; std::runtime_error for other kinds. A leaf's pointer must not be null when it is read.
  void set_leaf(leaf_type* leaf) { *checked_leaf() = leaf; }
  // A copy of the leaf's value, and references to it.
  operator leaf_type() const { return leaf(); }
  const leaf_type& leaf() const { return *leaf_ptr(); }
  leaf_type& leaf() { return *leaf_ptr(); }
  const leaf_type* leaf_ptr() const { return *checked_leaf(); }
  leaf_type* leaf_ptr() { return *checked_leaf(); }

  // The child at `index`; std::runtime_error if it is out of range. A leaf has no children.
  const ContainerHandle& operator[](size_t index) const { return handle->items[checked(index)]; }
  ContainerHandle& operator[](size_t index) { return handle->items[checked(index)]; }

  // For dicts; std::runtime_error for other kinds, and of at() for a missing key. Lookup is linear in the
  // size.
  bool contains(const KeyStr& key) const { return find(key) < size(); }
  const ContainerHandle& at(const Key& key) const {
    const size_t index = find(key);
    if (index == size()) internal::refuse<std::runtime_error>("pytree: key not found");
    return handle->items[index];
  }
  const ContainerHandle& at(const KeyInt& key) const { return at(Key(key)); }
  const ContainerHandle& at(const KeyStr& key) const { return at(Key(key)); }
  const Key& key(size_t index) const { return *key_at(index); }
  Key& key(size_t index) { return *key_at(index); }

  // Number of children, 0 for a leaf; and number of leaves at the last refresh_leaves_num().
  size_t size() const { return handle->size; }
  size_t leaves_num() const { return handle->leaves_num; }
  Kind kind() const { return handle->kind; }
  bool isDict() const { return kind() == Kind::Dict; }
  bool isList() const { return kind() == Kind::List; }
  bool isNamedTuple() const { return kind() == Kind::NamedTuple; }
  bool isTuple() const { return kind() == Kind::Tuple; }
  bool isLeaf() const { return kind() == Kind::Leaf; }

  // Compares structures: kinds, sizes and keys in order. Leaves compare equal.
  bool operator==(const ContainerHandle& other) const {
    if (kind() != other.kind()) return false;
    if (isLeaf()) return true;
    if (size() != other.size()) return false;
    for (size_t i = 0; i < size(); ++i) {
      if (isDict() && key(i) != other.key(i)) return false;
      if (!((*this)[i] == other[i])) return false;
    }
    return true;
  }
  bool operator!=(const ContainerHandle& other) const { return !(*this == other); }

 private:
  // The pointer to the leaf, checked; the checks of indices and keys.
  leaf_type** checked_leaf() const {
    pytree_check(isLeaf());
    return &handle->leaf;
  }
  size_t checked(size_t index) const {
    pytree_check(index < size());
    return index;
  }
  // The key of a dict's child; std::runtime_error for other kinds and out of range.
  Key* key_at(size_t index) const {
    pytree_check(isDict());
    return &handle->keys[checked(index)];
  }
  // Returns size() if there is none.
  size_t find(const Key& key) const {
    pytree_check(isDict());
    size_t index = 0;
    while (index < size() && handle->keys[index] != key) ++index;
    return index;
  }
};

// A structure without values of leaves: its leaves' pointers are null. from_str() and flatten() create such
// specs, and to_str() prints them.
struct TreeSpecLeaf {};
template <class Aux>
using TreeSpec = ContainerHandle<TreeSpecLeaf, Aux>;
template <class Aux>
using TreeSpecContainer = Container<TreeSpecLeaf, Aux>;
using StrTreeSpec = std::string;

// Copies the structure with other leaves, in order: the n-th leaf refers to leaves[n], and to nothing if
// `leaves` is null. `leaves` must outlive the copy and have as many entries as the structure has leaves. Call
// refresh_leaves_num() first: the counts tell where the leaves of each child begin.
template <class T, class U, class Aux>
ContainerHandle<U, Aux> clone(const ContainerHandle<T, Aux>& node, U* leaves) {
  // The first leaf that remains belongs to this node.
  if (node.isLeaf()) return ContainerHandle<U, Aux>(leaves);
  ContainerHandle<U, Aux> copy(node.kind(), node.size());
  copy.handle->custom_type = node.handle->custom_type;
  copy.handle->leaves_num = node.leaves_num();
  for (size_t i = 0; i < node.size(); ++i) {
    copy[i] = clone(node[i], leaves);
    if (leaves != nullptr) leaves += node[i].leaves_num();
    if (node.isDict()) copy.key(i) = node.key(i);
  }
  return copy;
}

// Calls `func` for each node, children before their parent and in order. `func` may change the node that it
// gets, but not its siblings. It is called by reference and need only live for the call.
template <class T, class Aux>
void traverse(ContainerHandle<T, Aux>& node, FunctionRef<void(ContainerHandle<T, Aux>&)> func) {
  for (size_t i = 0; i < node.size(); ++i) traverse(node[i], func);
  func(node);
}
template <class T, class Aux>
void traverse(const ContainerHandle<T, Aux>& node, FunctionRef<void(const ContainerHandle<T, Aux>&)> func) {
  for (size_t i = 0; i < node.size(); ++i) traverse(node[i], func);
  func(node);
}

// Recounts the leaves below each node, and returns the total. Edits of a tree leave old counts behind.
template <class T, class Aux>
size_t refresh_leaves_num(const ContainerHandle<T, Aux>& node) {
  size_t count = node.isLeaf() ? 1 : 0;
  for (size_t i = 0; i < node.size(); ++i) count += refresh_leaves_num(node[i]);
  node.handle->leaves_num = count;
  return count;
}

// An array of fixed length, as flatten() returns leaves; its items are value-initialised. at() refuses an
// index out of range with std::out_of_range; operator[] does not check.
template <class T>
struct arr {
  explicit arr(const size_t n) : data_(std::make_unique<T[]>(n)), size_(n) {}

  T& operator[](size_t index) { return data_[index]; }
  const T& operator[](size_t index) const { return data_[index]; }
  T& at(size_t index) { return data_[checked(index)]; }
  const T& at(size_t index) const { return data_[checked(index)]; }
  T* data() { return data_.get(); }
  T* begin() { return data_.get(); }
  T* end() { return data_.get() + size_; }
  const T* begin() const { return data_.get(); }
  const T* end() const { return data_.get() + size_; }
  size_t size() const { return size_; }

 private:
  size_t checked(size_t index) const {
    if (index >= size_) internal::refuse<std::out_of_range>("pytree: index out of range");
    return index;
  }

  std::unique_ptr<T[]> data_;
  size_t size_;
};

// Parses and prints the text form. from_str() permits 256 levels of nesting and at most as many children as
// the text has characters. to_str() recounts the leaves first.
template <class Aux = Empty>
TreeSpec<Aux> from_str(const StrTreeSpec& spec);
template <class Aux>
StrTreeSpec to_str(const TreeSpec<Aux>& spec);

// Combines a structure with `leaves`, which must have as many entries as the spec has leaves and outlive the
// result; their number is not checked.
template <class T, class Aux>
ContainerHandle<T, Aux> unflatten(const TreeSpec<Aux>& spec, T* leaves) {
  refresh_leaves_num(spec);
  return clone(spec, leaves);
}
// Parses the text first, with its errors.
template <class T, class Aux = Empty>
ContainerHandle<T, Aux> unflatten(const StrTreeSpec& spec, T* leaves) {
  return unflatten(from_str<Aux>(spec), leaves);
}

namespace internal {

// Addresses of the leaves, depth first, after recounting them.
template <class Leaf, class Tree>
arr<Leaf*> leaves_of(Tree& tree) {
  arr<Leaf*> leaves(refresh_leaves_num(tree));
  size_t found = 0;
  const auto collect = [&](Tree& node) {
    if (node.isLeaf()) leaves[found++] = node.leaf_ptr();
  };
  traverse(tree, FunctionRef<void(Tree&)>(collect));
  return leaves;
}

// The structure alone: a copy with null leaves.
template <class T, class Aux>
std::unique_ptr<TreeSpec<Aux>> spec_of(const ContainerHandle<T, Aux>& tree) {
  return std::make_unique<TreeSpec<Aux>>(clone(tree, static_cast<TreeSpecLeaf*>(nullptr)));
}

}  // namespace internal

// Returns the leaves in order, depth first, and the structure. The leaves belong to the tree's user.
template <class T, class Aux>
std::pair<arr<T*>, std::unique_ptr<TreeSpec<Aux>>> flatten(ContainerHandle<T, Aux>& tree) {
  auto leaves = internal::leaves_of<T>(tree);
  return {std::move(leaves), internal::spec_of(tree)};
}
template <class T, class Aux>
std::pair<arr<const T*>, std::unique_ptr<TreeSpec<Aux>>> flatten(const ContainerHandle<T, Aux>& tree) {
  auto leaves = internal::leaves_of<const T>(tree);
  return {std::move(leaves), internal::spec_of(tree)};
}

}  // namespace executorch::extension::pytree

namespace torch::executor::pytree {
using ::executorch::extension::pytree::Empty;
using ::executorch::extension::pytree::from_str;
using ::executorch::extension::pytree::TreeSpec;
}  // namespace torch::executor::pytree

#include "compat/detail/pytree_text.h"
