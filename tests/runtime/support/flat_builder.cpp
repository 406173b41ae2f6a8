// SPDX-License-Identifier: BSD-3-Clause
// Writes parents before children, as offsets point forward. It checks nothing: tests of the verifier build
// files with wrong offsets, shared tables and missing fields. Cost does not matter.
#include "tests/runtime/support/flat_builder.h"

#include <algorithm>

namespace rushlight::testing {

namespace {

class Writer {
 public:
  explicit Writer(Bytes* out) : out_(out) {}

  // The position of the node: the target of offsets to it.
  uint32_t write(const NodePtr& node) {
    const auto known = placed_.find(node.get());
    if (known != placed_.end()) return known->second;
    return node->is_table ? write_table(*node) : write_vector(*node);
  }

 private:
  void align(size_t alignment, size_t ahead = 0) {
    while ((out_->size() + ahead) % alignment != 0) out_->push_back(0);
  }

  template <class T>
  void put(T value) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(&value);
    out_->insert(out_->end(), bytes, bytes + sizeof value);
  }

  template <class T>
  void patch(size_t at, T value) {
    std::memcpy(out_->data() + at, &value, sizeof value);
  }

  // `at` holds an offset; children come later in the file, as offsets are unsigned. A shared child that was
  // written before is written once more.
  void point(size_t at, const NodePtr& child) {
    const auto known = placed_.find(child.get());
    if (known != placed_.end() && known->second < at) placed_.erase(known);
    patch(at, write(child) - static_cast<uint32_t>(at));
  }

  uint32_t write_vector(const Node& node) {
    align(std::max<size_t>(node.alignment, 4), 4);
    const auto position = static_cast<uint32_t>(out_->size());
    placed_[&node] = position;
    put(node.count);
    if (node.items.empty()) {
      out_->insert(out_->end(), node.data.begin(), node.data.end());
      return position;
    }
    for (size_t i = 0; i < node.items.size(); ++i) put(uint32_t{0});
    for (size_t i = 0; i < node.items.size(); ++i) point(position + 4 * (i + 1), node.items[i]);
    return position;
  }

  uint32_t write_table(const Node& node) {
    const unsigned slots = node.fields.empty() ? 0 : node.fields.rbegin()->first + 1;
    std::vector<uint16_t> offsets(slots, 0);
    size_t size = 4;
    for (const auto& [slot, field] : node.fields) {
      const size_t width = field.node ? 4 : field.bytes.size();
      size = (size + width - 1) / width * width;
      offsets[slot] = static_cast<uint16_t>(size);
      size += width;
    }
    align(2);
    const auto vtable = static_cast<uint32_t>(out_->size());
    put(static_cast<uint16_t>(4 + 2 * slots));
    put(static_cast<uint16_t>(size));
    for (const uint16_t offset : offsets) put(offset);
    align(8);
    const auto position = static_cast<uint32_t>(out_->size());
    placed_[&node] = position;
    put(static_cast<int32_t>(position - vtable));
    out_->resize(position + size);
    for (const auto& [slot, field] : node.fields) {
      if (!field.node)
        std::copy(field.bytes.begin(), field.bytes.end(), out_->begin() + position + offsets[slot]);
    }
    for (const auto& [slot, field] : node.fields) {
      if (field.node) point(position + offsets[slot], field.node);
    }
    return position;
  }

  Bytes* out_;
  std::map<const Node*, uint32_t> placed_;
};

}  // namespace

FlatField link(NodePtr node) { return {{}, std::move(node)}; }

NodePtr table(std::map<unsigned, FlatField> fields) {
  auto node = std::make_shared<Node>();
  node->is_table = true;
  node->fields = std::move(fields);
  return node;
}

NodePtr text(const std::string& value) {
  auto node = std::make_shared<Node>();
  node->count = static_cast<uint32_t>(value.size());
  node->data.assign(value.c_str(), value.c_str() + value.size() + 1);
  return node;
}

NodePtr tables(std::vector<NodePtr> items) {
  auto node = std::make_shared<Node>();
  node->count = static_cast<uint32_t>(items.size());
  node->items = std::move(items);
  return node;
}

Bytes flat_file(const NodePtr& root, const std::string& identifier, const Bytes& head) {
  Bytes out(4);
  out.insert(out.end(), identifier.begin(), identifier.begin() + 4);
  out.insert(out.end(), head.begin(), head.end());
  const uint32_t position = Writer(&out).write(root);
  std::memcpy(out.data(), &position, sizeof position);
  return out;
}

}  // namespace rushlight::testing
