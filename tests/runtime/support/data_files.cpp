// SPDX-License-Identifier: BSD-3-Clause
// Field numbers and header layouts are written out here, independent of the readers and of the generated
// schema, so that an error in those cannot cancel itself. Segments are aligned to the requested multiple, as
// exporters do.
#include "tests/runtime/support/data_files.h"

#include <fstream>
#include <iterator>
#include <random>

namespace rushlight::testing {

namespace {

NodePtr layout_table(const LayoutSpec& layout) {
  return table({{0, number(static_cast<int8_t>(layout.type))},
                {1, link(vector(layout.sizes))},
                {2, link(vector(layout.dim_order))}});
}

void append_number(Bytes* out, uint64_t value) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(&value);
  out->insert(out->end(), bytes, bytes + sizeof value);
}

NodePtr bundled_value(uint8_t kind, NodePtr content) {
  return table({{0, number(kind)}, {1, link(std::move(content))}});
}

}  // namespace

Bytes build(const DataFileSpec& spec) {
  std::vector<NodePtr> segments;
  std::vector<NodePtr> named;
  Bytes data;
  for (const NamedSpec& entry : spec.entries) {
    while (data.size() % spec.segment_alignment != 0) data.push_back(0);
    const auto own = static_cast<uint32_t>(segments.size());
    segments.push_back(table({{0, number<uint64_t>(data.size())}, {1, number<uint64_t>(entry.data.size())}}));
    data.insert(data.end(), entry.data.begin(), entry.data.end());
    std::map<unsigned, FlatField> fields = {{0, link(text(entry.key))},
                                            {1, number(entry.segment.value_or(own))}};
    if (entry.layout) fields[2] = link(layout_table(*entry.layout));
    named.push_back(table(std::move(fields)));
  }
  Bytes file =
      flat_file(table({{0, number(spec.version)}, {1, link(tables(segments))}, {2, link(tables(named))}}),
                spec.identifier, Bytes(48));
  const uint64_t size = file.size();
  while (file.size() % 128 != 0) file.push_back(0);
  Bytes header(spec.header.begin(), spec.header.end());
  header.resize(4);
  header.insert(header.end(), reinterpret_cast<const uint8_t*>(&spec.header_length),
                reinterpret_cast<const uint8_t*>(&spec.header_length) + 4);
  append_number(&header, 48);
  append_number(&header, size - 48);
  append_number(&header, file.size());
  append_number(&header, data.size());
  std::copy(header.begin(), header.end(), file.begin() + 8);
  file.insert(file.end(), data.begin(), data.end());
  file.resize(file.size() - spec.cut);
  return file;
}

NodePtr bundled_tensor(const Bytes& data, const LayoutSpec& layout) {
  return bundled_value(1, table({{0, number(static_cast<int8_t>(layout.type))},
                                 {1, link(vector(layout.sizes))},
                                 {2, link(vector(data))},
                                 {3, link(vector(layout.dim_order))}}));
}
NodePtr bundled_int(int64_t value) { return bundled_value(2, table({{0, number(value)}})); }
NodePtr bundled_bool(uint8_t value) { return bundled_value(3, table({{0, number(value)}})); }
NodePtr bundled_double(double value) { return bundled_value(4, table({{0, number(value)}})); }

Bytes build(const BundleSpec& spec) {
  std::vector<NodePtr> cases;
  for (const BundledCaseSpec& one : spec.cases) {
    cases.push_back(table({{0, link(tables(one.inputs))}, {1, link(tables(one.outputs))}}));
  }
  const NodePtr suite = table({{0, link(text(spec.method))}, {1, link(tables(cases))}});
  return flat_file(
      table({{0, number(spec.version)}, {1, link(tables({suite}))}, {2, link(vector(spec.program))}}),
      spec.identifier);
}

Bytes interop_file(const std::string& name) {
  std::ifstream file(std::string(RUSHLIGHT_TEST_PROGRAMS) + "/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void for_each_mutant(const Bytes& file, unsigned rounds, const std::function<void(const Bytes&)>& use) {
  std::mt19937 random(20261121);
  const uint32_t extremes[] = {0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffff0};
  for (unsigned round = 0; round < rounds; ++round) {
    Bytes cut(file.begin(), file.begin() + static_cast<ptrdiff_t>(random() % file.size()));
    use(cut);
    Bytes flipped = file;
    for (unsigned i = 0; i <= random() % 3; ++i) {
      flipped[random() % file.size()] = static_cast<uint8_t>(random());
    }
    use(flipped);
    Bytes extreme = file;
    const size_t at = random() % (file.size() / 4) * 4;
    std::memcpy(&extreme[at], &extremes[random() % std::size(extremes)], 4);
    use(extreme);
  }
}

}  // namespace rushlight::testing
