// SPDX-License-Identifier: BSD-3-Clause
// A bundled program is a FlatBuffers file that contains a whole .pte. open() verifies everything once;
// accessors then read in place.
#include "runtime/program/bundled_program.h"

#include <cstring>

#include "runtime/base/log.h"
#include "runtime/program/bpte_tables.inc"
#include "runtime/program/schema.h"

namespace rushlight {

namespace {

using flatbuffer::read;
using flatbuffer::Table;
using flatbuffer::TableVector;

namespace bundle = schema::bpte::bundled_program_table;
namespace suites = schema::bpte::bundled_method_test_suite_table;
namespace cases = schema::bpte::bundled_method_test_case_table;
namespace value = schema::bpte::value_table;
namespace tensors = schema::bpte::tensor_table;
using ValueKind = schema::bpte::ValueUnion;

constexpr uint32_t kKnownVersion = 2;
constexpr size_t kSmallest = 12;

// The layout of a Tensor table; cannot fail after BundledProgram::open().
Result<TensorLayout> layout_of(Table table, const char* what) {
  return make_tensor_layout(table.scalar<int8_t>(tensors::kScalarType),
                            table.vector<int32_t>(tensors::kSizes), table.vector<uint8_t>(tensors::kDimOrder),
                            what);
}

BundledValue read_value(Table entry) {
  const Table content = entry.table(value::kVal);
  BundledValue result{};
  switch (static_cast<ValueKind>(entry.scalar<uint8_t>(value::kValType))) {
    // Field 0 of each boxed number is its value.
    case ValueKind::Int:
      result.number = EValue(content.scalar<int64_t>(0));
      break;
    case ValueKind::Bool:
      result.number = EValue(content.scalar<uint8_t>(0) != 0);
      break;
    case ValueKind::Double:
      result.number = EValue(content.scalar<double>(0));
      break;
    case ValueKind::Tensor: {
      // Cannot fail: check_values() has made the same layout.
      result.layout = *layout_of(content, "bundled tensor");
      result.data = content.vector<uint8_t>(tensors::kData);
      result.tag = Tag::Tensor;
      return result;
    }
  }
  result.tag = result.number.tag;
  return result;
}

Error check_values(TableVector values, const char* method) {
  for (size_t i = 0; i < values.size(); ++i) {
    const auto kind = values[i].scalar<uint8_t>(value::kValType);
    const Table content = values[i].table(value::kVal);
    RL_CHECK(kind != 0 && content, Error::InvalidProgram, "cases of %s: value %lu has no kind", method,
             log_number(i));
    if (static_cast<ValueKind>(kind) != ValueKind::Tensor) continue;
    const Result<TensorLayout> layout = layout_of(content, method);
    RL_CHECK(layout.ok(), Error::InvalidProgram, "cases of %s: tensor %lu is damaged", method, log_number(i));
    // Exactly the elements, densely in dim order.
    const size_t held = content.vector<uint8_t>(tensors::kData).size();
    // Elements beyond the layout would be dead bytes; fewer would be read out of range.
    RL_CHECK(held == layout->nbytes, Error::InvalidProgram,
             "cases of %s: tensor %lu takes %lu bytes, the file has %lu", method, log_number(i),
             log_number(layout->nbytes), log_number(held));
  }
  return Error::Ok;
}

}  // namespace

size_t BundledCase::num_inputs() const { return table_.tables(cases::kInputs).size(); }
size_t BundledCase::num_outputs() const { return table_.tables(cases::kExpectedOutputs).size(); }
BundledValue BundledCase::input(size_t index) const {
  return read_value(table_.tables(cases::kInputs)[index]);
}
BundledValue BundledCase::expected_output(size_t index) const {
  return read_value(table_.tables(cases::kExpectedOutputs)[index]);
}

bool BundledProgram::is_bundled_program(Span<const uint8_t> bytes) {
  return bytes.size() >= kSmallest && std::memcmp(bytes.data() + 4, "BP08", 4) == 0;
}

Result<BundledProgram> BundledProgram::open(Span<const uint8_t> bytes) {
  RL_CHECK(bytes.size() >= kSmallest, Error::InvalidProgram, "bundle: %lu bytes are too few for a .bpte",
           log_number(bytes.size()));
  RL_CHECK(is_bundled_program(bytes), Error::InvalidProgram,
           "bundle: expected the identifier BP08 at byte 4, found %02x %02x %02x %02x", bytes[4], bytes[5],
           bytes[6], bytes[7]);
  // Verifies the bundle only. The program inside is bytes here; Program::load() verifies it.
  RL_TRY(flatbuffer::verify(bytes, schema::kBundledProgramTables));
  const BundledProgram bundled(bytes);
  RL_TRY(bundled.check());
  return bundled;
}

Error BundledProgram::check() const {
  const auto version = root().scalar<uint32_t>(bundle::kVersion);
  RL_CHECK(version == kKnownVersion, Error::NotSupported,
           "bundle: schema version %lu, this runtime reads %lu", log_number(version),
           log_number(kKnownVersion));
  RL_CHECK(!program().empty(), Error::InvalidProgram, "bundle: holds no program");
  const TableVector all = root().tables(bundle::kMethodTestSuites);
  for (size_t i = 0; i < all.size(); ++i) {
    const char* method = all[i].string(suites::kMethodName);
    const TableVector listed = all[i].tables(suites::kTestCases);
    for (size_t j = 0; j < listed.size(); ++j) {
      RL_TRY(check_values(listed[j].tables(cases::kInputs), method));
      RL_TRY(check_values(listed[j].tables(cases::kExpectedOutputs), method));
    }
  }
  return Error::Ok;
}

Table BundledProgram::root() const { return Table(bytes_.data() + read<uint32_t>(bytes_.data())); }

Span<const uint8_t> BundledProgram::program() const { return root().vector<uint8_t>(bundle::kProgram); }

size_t BundledProgram::num_suites() const { return root().tables(bundle::kMethodTestSuites).size(); }

const char* BundledProgram::method_name(size_t suite) const {
  return root().tables(bundle::kMethodTestSuites)[suite].string(suites::kMethodName);
}

// Linear search, so that the first of several entries with the same name counts.
Result<Table> BundledProgram::suite(std::string_view method) const {
  const TableVector all = root().tables(bundle::kMethodTestSuites);
  for (size_t i = 0; i < all.size(); ++i) {
    if (method == all[i].string(suites::kMethodName)) return all[i];
  }
  RL_LOG(Error, "method %.*s: the bundle has no cases for it", static_cast<int>(method.size()),
         method.data());
  return Error::NotFound;
}

Result<size_t> BundledProgram::num_cases(std::string_view method) const {
  RL_TRY_ASSIGN(const Table found, suite(method));
  return found.tables(suites::kTestCases).size();
}

Result<BundledCase> BundledProgram::test_case(std::string_view method, size_t index) const {
  RL_TRY_ASSIGN(const Table found, suite(method));
  const TableVector listed = found.tables(suites::kTestCases);
  RL_CHECK(index < listed.size(), Error::InvalidArgument, "method %.*s: case %lu of %lu",
           static_cast<int>(method.size()), method.data(), log_number(index), log_number(listed.size()));
  return BundledCase(listed[index]);
}

}  // namespace rushlight
