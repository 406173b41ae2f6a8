// SPDX-License-Identifier: BSD-3-Clause
// Builds a method of plain operator calls in memory. Backends use it to translate the payload of a delegate,
// and the rewriter (backends/rewrite) to change the calls of a program:
//
//   CallList list;
//   const ValueId x = list.tensor(ScalarType::Float, {2, 3}), y = list.tensor(ScalarType::Float, {2, 3});
//   list.call("aten::relu", "out", {x, y}, {y});
//   list.set_inputs({x});
//   list.set_outputs({y});
//   Result<std::vector<uint8_t>> program = list.program();
//
// The program is a .pte file with one method. Its constants are external: the list is also the
// data map that provides them. Callers verify what they add; program() checks the total size of memory.
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

// Index of a value in the list. It stays valid as values are added.
using ValueId = int32_t;

class CallList final : public NamedDataMap {
 public:
  enum class Kind : uint8_t {
    None,
    Int,
    Double,
    Bool,
    String,
    IntList,
    DoubleList,
    BoolList,
    TensorList,
    OptionalTensorList,
    Tensor
  };

  // Memory that one tensor, or several aliases, occupy.
  struct Storage {
    uint64_t bytes = 0;
    size_t first_use = SIZE_MAX, last_use = 0;  // index of calls
    bool is_external = false;                   // memory of the caller: an input or output
    bool is_input = false, is_output = false;   // planned memory that holds an input or output
    int32_t constant = -1;                      // index of the constant, or -1
    uint64_t offset = 0;                        // in planned memory
  };

  // A constant tensor: its key in the data map ("c0", "c1" and so on) and its bytes.
  struct Constant {
    std::string key;
    ValueId value;
    Span<const uint8_t> bytes;
  };

  // A value. `kind` tells which members are valid; `number` also holds a bool.
  struct Value {
    Kind kind = Kind::None;
    int64_t number = 0;
    double real = 0;
    std::string text;
    std::vector<int64_t> integers;  // items of a list: bools, or values that hold integers or tensors;
                                    // -1 for an optional tensor that is absent
    std::vector<double> reals;
    ScalarType dtype = ScalarType::Float;
    std::vector<int32_t> sizes;
    std::vector<uint8_t> order;
    int32_t storage = -1;
  };

  // One operator call: index of the operator's name, arguments in the order of its schema, and the exporter's
  // handle.
  struct Call {
    int32_t op;
    std::vector<ValueId> arguments;
    uint32_t debug_handle;
  };

  // If `is_dynamic`, tensors that calls write may be smaller than declared. `constants` owns the bytes of
  // constants and may be shared with other lists.
  explicit CallList(std::shared_ptr<ConstantPool> constants = std::make_shared<ConstantPool>(),
                    bool is_dynamic = false)
      : is_dynamic_(is_dynamic), pool_(std::move(constants)) {}
  CallList(const CallList&) = delete;
  CallList& operator=(const CallList&) = delete;

  [[nodiscard]] bool is_dynamic() const { return is_dynamic_; }

  // Add a value of each kind and return its index. Each call adds a new value, also for equal ones.
  ValueId none();
  ValueId integer(int64_t value);
  ValueId real(double value);
  ValueId boolean(bool value);
  ValueId text(const char* value);
  ValueId integers(std::vector<int64_t> values);
  // A list of integers that values hold.
  ValueId integer_values(std::vector<int64_t> values);
  ValueId reals(std::vector<double> values);
  ValueId booleans(std::vector<int64_t> values);
  ValueId tensors(const std::vector<ValueId>& values);
  // The same with -1 for absent tensors.
  ValueId optional_tensors(const std::vector<ValueId>& values);

  // A copy of a number, text or list of another list, whose items are `integers` here.
  ValueId plain(Value value, std::vector<int64_t> integers);

  // A tensor that a call writes. An empty `order` means row-major.
  ValueId tensor(ScalarType dtype, std::vector<int32_t> sizes, std::vector<uint8_t> order = {});
  // The same bytes with other sizes. Precondition: the list is not dynamic.
  ValueId alias(ValueId of, std::vector<int32_t> sizes, std::vector<uint8_t> order);
  // A constant tensor. Its bytes must outlive the pool.
  ValueId constant(ScalarType dtype, std::vector<int32_t> sizes, std::vector<uint8_t> order,
                   Span<const uint8_t> bytes);
  // The same; the pool takes over the bytes.
  ValueId own_constant(ScalarType dtype, std::vector<int32_t> sizes, std::vector<uint8_t> order,
                       std::vector<uint8_t> bytes);
  // A constant tensor of rank 1 with the given elements.
  template <class T>
  ValueId scalars(const std::vector<T>& values) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
    return own_constant(ScalarTypeOf<T>::value, {static_cast<int32_t>(values.size())}, {},
                        std::vector<uint8_t>(bytes, bytes + values.size() * sizeof(T)));
  }

  [[nodiscard]] const Value& value(ValueId id) const { return values_[static_cast<size_t>(id)]; }

  // Adds a call of an operator with all arguments of its schema. The call has the debug handle set last.
  void call(const char* name, const char* overload, std::vector<ValueId> arguments);
  // Replaces `result` by `other` in the arguments of the last call. Precondition: there is one.
  void redirect(ValueId result, ValueId other);
  void set_debug_handle(uint32_t handle) { debug_handle_ = handle; }

  // Set the inputs and outputs; their memory belongs to the caller.
  void set_inputs(std::vector<ValueId> values);
  void set_outputs(std::vector<ValueId> values);
  // Moves an input or output from the caller's memory to planned memory: an input is copied there, and
  // nothing overwrites an output before the next execution.
  void plan_input(ValueId id);
  void plan_output(ValueId id);
  // The method's name, "forward" by default.
  void set_name(const char* name) { name_ = name; }

  // ---- For passes that change the calls ----

  [[nodiscard]] const std::vector<ValueId>& inputs() const { return inputs_; }
  [[nodiscard]] const std::vector<ValueId>& outputs() const { return outputs_; }
  [[nodiscard]] const Storage& storage_of(ValueId id) const {
    return storages_[static_cast<size_t>(value(id).storage)];
  }
  [[nodiscard]] size_t num_values() const { return values_.size(); }
  [[nodiscard]] size_t num_storages() const { return storages_.size(); }
  [[nodiscard]] const Constant& constant_of(ValueId id) const {
    return constants_[static_cast<size_t>(storage_of(id).constant)];
  }
  // Index of the operator's name of call `index`: equal for calls of one operator. -1 for removed calls.
  [[nodiscard]] int32_t operator_of(size_t index) const { return calls_[index].op; }
  // Replaces a call by another, which keeps the debug handle.
  void replace_call(size_t index, const char* name, const char* overload, std::vector<ValueId> arguments);
  void set_argument(size_t index, size_t argument, ValueId id) { calls_[index].arguments[argument] = id; }
  // Replaces the items of a list of tensors.
  void set_items(ValueId list, std::vector<int64_t> items) {
    values_[static_cast<size_t>(list)].integers = std::move(items);
  }
  // Removes a call; indices of calls change in tidy() only.
  void remove_call(size_t index);
  // Inserts a call before call `index` with the debug handle of call `like`, in tidy().
  void insert_call(size_t index, size_t like, const char* name, const char* overload,
                   std::vector<ValueId> arguments);
  // Lets all tensors over the storage of `id` use the memory of `of`, whose bytes are the same.
  // Preconditions: neither is an alias in memory of the caller, and at most one is an input or an output.
  void merge(ValueId id, ValueId of);
  // Drops removed calls, adds inserted ones, drops values that nothing uses, and computes lifetimes anew.
  void tidy();

  // Fuses integer clamps into the layers before them (fuse.cpp). Call it after set_outputs().
  void fuse_clamps();

  // Plans memory and returns the program file. Errors: OutOfResources (more values or bytes than the format
  // can count).
  [[nodiscard]] Result<std::vector<uint8_t>> program();

  [[nodiscard]] size_t num_calls() const { return calls_.size(); }
  [[nodiscard]] const std::vector<ValueId>& arguments(size_t index) const { return calls_[index].arguments; }
  // Name of the operator of call `index`, such as "aten::add.out"; without an overload there is no dot.
  [[nodiscard]] std::string operator_name(size_t index) const;
  // The exporter's debug handle of call `index`.
  [[nodiscard]] uint32_t debug_handle(size_t index) const { return calls_[index].debug_handle; }
  [[nodiscard]] const std::vector<Constant>& constants() const { return constants_; }

  // See NamedDataMap: serves the constants.
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
  // Records that call number `call` uses a tensor, or each tensor of a list.
  void use(ValueId id, size_t call);
  void find_lifetimes();
  // Marks the memory of an input or output as the caller's.
  void lend(ValueId id);
  // Calls `use(id)` for each value that a call, input or output needs, items of lists too.
  template <class F>
  void for_each_use(F use) const;
  // The index of an operator's name, which is added if it is new.
  int32_t operator_index(const char* name, const char* overload);
  // See fuse.cpp: the number of arguments that use each storage; fuses two calls if possible.
  [[nodiscard]] std::vector<size_t> count_uses() const;
  bool fuse_clamp(Call* layer, const Call& clamp);
  // Returns null if there is no such key.
  [[nodiscard]] const Constant* find(std::string_view key) const;

  bool is_dynamic_;
  uint32_t debug_handle_ = 0;
  std::string name_ = "forward";
  std::vector<Value> values_;
  std::vector<Storage> storages_;
  std::vector<std::vector<ValueId>> holders_;  // by storage, the tensors over it
  std::vector<Call> calls_;
  std::vector<std::pair<size_t, Call>> inserted_;  // before the call of that index
  std::vector<std::pair<std::string, std::string>> operators_;
  std::vector<ValueId> inputs_, outputs_;
  std::vector<Constant> constants_;
  std::shared_ptr<ConstantPool> pool_;
};

}  // namespace rushlight
