// SPDX-License-Identifier: BSD-3-Clause
// A method of plain calls that a backend puts together in memory, out of what a delegate's payload says:
//
//   CallList list;
//   const ValueId x = list.tensor(ScalarType::Float, {2, 3}), y = list.tensor(ScalarType::Float, {2, 3});
//   list.call("aten::relu", "out", {x, y}, {y});
//   list.set_inputs({x});
//   list.set_outputs({y});
//   Result<std::vector<uint8_t>> program = list.program();
//
// The program is a .pte with one method, "forward", whose constants lie outside of it: the list is the map
// that has them. What is asked of it was proven by the caller; program() proves the sizes of memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/calls/constant_pool.h"
#include "runtime/base/result.h"
#include "runtime/base/span.h"
#include "runtime/program/named_data.h"
#include "runtime/tensor/scalar_type.h"

namespace rushlight {

using ValueId = int32_t;

class CallList final : public NamedDataMap {
 public:
  enum class Kind : uint8_t { None, Int, Double, Bool, String, IntList, TensorList, Tensor };

  // Where the bytes of some tensors are.
  struct Storage {
    uint64_t bytes = 0;
    size_t first_use = SIZE_MAX, last_use = 0;  // calls
    bool is_external = false;                   // the caller's: of an input or output
    int32_t constant = -1;                      // index, or none
    uint64_t offset = 0;                        // in planned memory
  };

  struct Constant {
    std::string key;
    ValueId value;
    Span<const uint8_t> bytes;
  };

  struct Value {
    Kind kind = Kind::None;
    int64_t number = 0;
    double real = 0;
    std::string text;
    std::vector<int64_t> integers;  // of a list: numbers, or values that are tensors
    ScalarType dtype = ScalarType::Float;
    std::vector<int32_t> sizes;
    std::vector<uint8_t> order;
    int32_t storage = -1;
  };

  struct Call {
    int32_t op;
    std::vector<ValueId> arguments;
    uint32_t debug_handle;
  };

  // With `is_dynamic`, tensors that calls write may be smaller than they are here. `constants` has the
  // bytes of constants, and those of other lists.
  explicit CallList(std::shared_ptr<ConstantPool> constants = std::make_shared<ConstantPool>(),
                    bool is_dynamic = false)
      : is_dynamic_(is_dynamic), pool_(std::move(constants)) {}
  CallList(const CallList&) = delete;
  CallList& operator=(const CallList&) = delete;

  [[nodiscard]] bool is_dynamic() const { return is_dynamic_; }

  ValueId none();
  ValueId integer(int64_t value);
  ValueId real(double value);
  ValueId boolean(bool value);
  ValueId text(const char* value);
  ValueId integers(std::vector<int64_t> values);
  ValueId tensors(const std::vector<ValueId>& values);

  // A tensor that a call writes. `order` is row major if it is left out.
  ValueId tensor(ScalarType dtype, std::vector<int32_t> sizes, std::vector<uint8_t> order = {});
  // The same bytes under other sizes; the list is not dynamic.
  ValueId alias(ValueId of, std::vector<int32_t> sizes, std::vector<uint8_t> order);
  // A tensor of bytes that outlive the pool.
  ValueId constant(ScalarType dtype, std::vector<int32_t> sizes, std::vector<uint8_t> order,
                   Span<const uint8_t> bytes);
  // Likewise, bytes that the pool keeps.
  ValueId own_constant(ScalarType dtype, std::vector<int32_t> sizes, std::vector<uint8_t> order,
                       std::vector<uint8_t> bytes);
  template <class T>
  ValueId numbers(const std::vector<T>& values) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
    return own_constant(ScalarTypeOf<T>::value, {static_cast<int32_t>(values.size())}, {},
                        std::vector<uint8_t>(bytes, bytes + values.size() * sizeof(T)));
  }

  [[nodiscard]] const Value& value(ValueId id) const { return values_[static_cast<size_t>(id)]; }

  // An operator with all arguments of its schema. `debug_handle` is the exporter's, for whoever traces.
  void call(const char* name, const char* overload, std::vector<ValueId> arguments);
  // Lets the last call write `other` where it wrote `result`.
  void redirect(ValueId result, ValueId other);
  void set_debug_handle(uint32_t handle) { debug_handle_ = handle; }

  // Tensors whose memory is the caller's.
  void set_inputs(std::vector<ValueId> values);
  void set_outputs(std::vector<ValueId> values);

  // Leaves out clamps of integers that the layer before can do itself (fuse.cpp). Behind set_outputs().
  void fuse_clamps();

  // The file. Errors: OutOfResources (more values or bytes than the format has numbers for).
  [[nodiscard]] Result<std::vector<uint8_t>> program();

  [[nodiscard]] size_t num_calls() const { return calls_.size(); }
  [[nodiscard]] const std::vector<ValueId>& arguments(size_t index) const { return calls_[index].arguments; }
  // "aten::add.out" of call `index`.
  [[nodiscard]] std::string operator_name(size_t index) const;
  // Of call `index`, the exporter's number for it.
  [[nodiscard]] uint32_t debug_handle(size_t index) const { return calls_[index].debug_handle; }
  [[nodiscard]] const std::vector<Constant>& constants() const { return constants_; }

  // See NamedDataMap: the constants.
  [[nodiscard]] Result<TensorLayout> tensor_layout(std::string_view key) const override;
  [[nodiscard]] Result<FreeableBuffer> data(std::string_view key) const override;
  Error load_into(std::string_view key, void* buffer, size_t size) const override;
  [[nodiscard]] Result<uint32_t> num_keys() const override;
  [[nodiscard]] Result<const char*> key(uint32_t index) const override;

 private:
  friend class ProgramWriter;

  ValueId add(Value value);
  ValueId add_tensor(ScalarType dtype, std::vector<int32_t> sizes, std::vector<uint8_t> order,
                     Storage storage);
  void use(ValueId id, size_t call);
  int32_t operator_index(const char* name, const char* overload);
  [[nodiscard]] std::vector<size_t> count_uses() const;
  bool fuse_clamp(Call* layer, const Call& clamp);
  [[nodiscard]] const Constant* find(std::string_view key) const;

  bool is_dynamic_;
  uint32_t debug_handle_ = 0;
  std::vector<Value> values_;
  std::vector<Storage> storages_;
  std::vector<Call> calls_;
  std::vector<std::pair<std::string, std::string>> operators_;
  std::vector<ValueId> inputs_, outputs_;
  std::vector<Constant> constants_;
  std::shared_ptr<ConstantPool> pool_;
};

}  // namespace rushlight
