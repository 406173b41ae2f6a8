// SPDX-License-Identifier: BSD-3-Clause
// Writes FlatBuffers data field by field, including data that no schema allows: a tree of nodes, parents
// first. A node that is used twice is shared in the file.
//
//   const NodePtr root = table({{0, number(uint32_t{1})}, {1, link(text("name"))}});
//   Bytes file = flat_file(root, "ET12");
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace rushlight::testing {

using Bytes = std::vector<uint8_t>;

struct Node;
using NodePtr = std::shared_ptr<Node>;

// The content of one slot of a table: bytes in place, or another node.
struct FlatField {
  Bytes bytes;
  NodePtr node;
};

// An object of the file: a table, or a vector of scalars, bytes or tables. Tests may edit it, for example its
// count.
struct Node {
  bool is_table = false;
  std::map<unsigned, FlatField> fields;  // a table's
  uint32_t count = 0;                    // a vector's
  uint32_t alignment = 4;
  Bytes data;                  // elements of a vector of scalars, or a string with its zero
  std::vector<NodePtr> items;  // a vector of tables
};

// A scalar in place, little-endian like the host, aligned to its size within the table.
template <class T>
FlatField number(T value) {
  FlatField field;
  field.bytes.resize(sizeof value);
  std::memcpy(field.bytes.data(), &value, sizeof value);
  return field;
}
// An offset to another node, which is written behind this one.
FlatField link(NodePtr node);

// Fields by slot (0, 1, ...); a string with its zero byte; a vector of tables; a vector of scalars.
NodePtr table(std::map<unsigned, FlatField> fields);
NodePtr text(const std::string& value);
NodePtr tables(std::vector<NodePtr> items);
template <class T>
NodePtr vector(const std::vector<T>& values) {
  auto node = std::make_shared<Node>();
  node->count = static_cast<uint32_t>(values.size());
  node->alignment = sizeof(T);
  node->data.resize(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(node->data.data(), values.data(), node->data.size());
  return node;
}

// The file: root offset, 4 bytes of identifier, `head` bytes after it, then the nodes.
Bytes flat_file(const NodePtr& root, const std::string& identifier, const Bytes& head = {});

}  // namespace rushlight::testing
