// SPDX-License-Identifier: BSD-3-Clause
// Programs for tests, as plain structures, and classes that load them into exact arenas. Nothing is checked
// when a program is written, so tests can build programs that the loader must refuse.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "runtime/executor/method.h"
#include "tests/runtime/support/flat_builder.h"

namespace rushlight::testing {

// ---- Values ----

// A tensor value: float32 [2] of static shape unless set. Without a constant or planned memory its data is
// the caller's.
struct TensorSpec {
  std::vector<int32_t> sizes = {2};
  ScalarType type = ScalarType::Float;
  TensorShapeDynamism dynamism = TensorShapeDynamism::STATIC;
  std::optional<std::vector<uint8_t>> dim_order = std::nullopt;  // row major unless given
  uint32_t constant = 0;
  int memory_id = 0;  // planned if not 0
  uint64_t offset = 0;
  std::optional<uint64_t> mutable_segment = std::nullopt;
  bool external = false;  // under the name layer.weight
  uint8_t device = 0;
  int8_t device_index = 0;
};

// Values of a method, to be listed in PlanSpec::values. Items of lists of integers and tensors are indices of
// other values; -1 is an absent optional tensor.
NodePtr none();
NodePtr integer(int64_t value);
NodePtr boolean(uint8_t value);
NodePtr real(double value);
NodePtr string(const std::string& value);
NodePtr tensor(const TensorSpec& spec);
NodePtr int_list(const std::vector<int64_t>& indices);
NodePtr double_list(const std::vector<double>& values);
NodePtr bool_list(const std::vector<uint8_t>& values);
NodePtr tensor_list(const std::vector<int32_t>& indices);
NodePtr optional_tensor_list(const std::vector<int32_t>& indices);
// An EValue of any kind and content.
NodePtr value(uint8_t kind, NodePtr content);

// ---- Instructions ----

// Instructions: `op` and `delegate` are indices of the plan's lists, arguments are indices of values, and a
// jump's destination is an instruction of its chain.
NodePtr call(int32_t op, const std::vector<int32_t>& arguments);
NodePtr delegate_call(int32_t delegate, const std::vector<int32_t>& arguments);
NodePtr move(int32_t from, int32_t to);
NodePtr jump_false(int32_t condition, int32_t destination);
NodePtr free_value(int32_t value);

// ---- Programs ----

// A delegate of the backend `id`, its payload, and its compile specs (key, bytes).
struct DelegateSpec {
  std::string id;
  uint32_t index = 0;       // into ProgramSpec::inline_delegates, or its segments
  bool in_segment = false;  // the program has one segment, number 0
  std::vector<std::pair<std::string, Bytes>> specs = {};
};

// One method. Operators are pairs of name and overload. Entry 0 of buffer_sizes is reserved, as in every
// program.
struct PlanSpec {
  std::string name = "forward";
  std::vector<NodePtr> values;
  std::vector<int32_t> inputs;
  std::vector<int32_t> outputs;
  std::vector<std::pair<std::string, std::string>> operators;
  std::vector<NodePtr> instructions;
  std::vector<int64_t> buffer_sizes = {0};
  std::vector<DelegateSpec> delegates;
  // {buffer number as in buffer_sizes, device type, device index}
  std::vector<std::tuple<int32_t, uint8_t, uint8_t>> devices = {};
  bool has_chain = true;
  std::vector<std::vector<NodePtr>> more_chains = {};  // after the one of `instructions`
};

// A file: the flatbuffer, padded to 128 bytes, then one segment.
struct ProgramSpec {
  std::vector<PlanSpec> plans;
  uint32_t version = 0;
  std::string identifier = "ET12";
  std::vector<Bytes> inline_constants;  // entry 0 is reserved
  std::vector<Bytes> inline_delegates = {};
  // In the segment that follows the program: constants, then mutable state.
  std::vector<uint64_t> constant_offsets;
  std::vector<uint64_t> mutable_offsets;
  Bytes segment;
  std::vector<std::pair<std::string, uint32_t>> named_data = {};  // key and segment
  uint32_t header_length = 32;                                    // the extended header's; 0 leaves it out
};

// The bytes of the .pte file; of a program with one method.
Bytes build(const ProgramSpec& program);
Bytes build(const PlanSpec& plan);

// Bytes of floats, for constants.
Bytes floats(const std::vector<float>& values);

// ---- Loading ----

// Memory of exactly `size` bytes, aligned to 16; only the allocator guards the bytes around it.
class Block {
 public:
  explicit Block(size_t size)
      : memory_(new(std::align_val_t{16}) uint8_t[size == 0 ? 1 : size]{}), size_(size) {}
  [[nodiscard]] Span<uint8_t> span() const { return {memory_.get(), size_}; }

 private:
  struct Delete {
    void operator()(uint8_t* memory) const { ::operator delete[](memory, std::align_val_t{16}); }
  };
  std::unique_ptr<uint8_t[], Delete> memory_;
  size_t size_;
};

// A program from bytes and its first method, in memory of exactly the sizes that it asks for, plus or minus
// the bytes of Change. The constructor loads both; error() is the first error, and the method may only be
// used if it is Ok.
class Loaded {
 public:
  struct Change {
    long arena = 0;
    long planned = 0;
    size_t backends = 0;  // additional bytes in the arena, for what backends allocate
    MethodOptions options = {};
    size_t temporary = 4096;
    PreparedWeights* prepared = nullptr;
  };

  Loaded(const Bytes& file, const OperatorTable& operators) : Loaded(file, operators, Change{}) {}
  Loaded(const Bytes& file, const OperatorTable& operators, Change change);
  Loaded(const Loaded&) = delete;

  [[nodiscard]] Error error() const { return error_; }
  // Size of the arena, and the bytes of it that loading took.
  [[nodiscard]] size_t arena_bytes() const { return arena_.size(); }
  [[nodiscard]] size_t arena_used() const { return arena_.used(); }
  Method& operator*() { return *method_; }
  Method* operator->() { return &*method_; }
  [[nodiscard]] const Block& planned(size_t i) const { return *planned_[i]; }

 private:
  Error load(const OperatorTable& operators, Change change);

  Block file_;
  BufferDataLoader loader_;
  std::optional<Program> program_;
  std::optional<Block> arena_block_;
  Block temporary_block_{4096};
  Arena arena_;
  Arena temporary_{temporary_block_.span()};
  std::vector<std::unique_ptr<Block>> planned_;
  std::vector<Span<uint8_t>> planned_spans_;
  std::optional<Method> method_;
  Error error_ = Error::Ok;
};

// A float tensor over `data`, static, row major. It refers to this object, which must outlive it; the
// elements can be changed between executions.
class FloatTensor {
 public:
  FloatTensor(std::vector<int32_t> sizes, std::vector<float> data);
  FloatTensor(const FloatTensor&) = delete;
  [[nodiscard]] EValue value() { return EValue(Tensor(&*impl_)); }
  std::vector<float> data;

 private:
  std::vector<int32_t> sizes_;
  std::vector<uint8_t> order_;
  std::vector<int32_t> strides_;
  std::optional<TensorImpl> impl_;
};

// The elements of a float tensor value.
std::vector<float> elements(const EValue& value);

}  // namespace rushlight::testing
