// SPDX-License-Identifier: BSD-3-Clause
// Loading a method: placing its values in the arena and binding its operators.
#include <cstring>
#include <new>

#include "runtime/base/checked.h"
#include "runtime/base/log.h"
#include "runtime/executor/layout.h"
#include "runtime/executor/method.h"
#include "runtime/program/schema.h"

namespace rushlight {

namespace {

using flatbuffer::Table;
using flatbuffer::TableVector;
using schema::InstructionKind;
using schema::ValueKind;

unsigned long number(uint64_t value) { return static_cast<unsigned long>(value); }

// Takes arrays off one block; with a null block it only measures. `count` comes from a file of at
// most 2 GiB, whose elements take at least 4 bytes each, so that sums stay far below 64 bits.
class Carver {
 public:
  explicit Carver(uint8_t* block) : block_(block) {}

  template <class T>
  T* take(size_t count) {
    static_assert(alignof(T) <= Arena::kDefaultAlignment);
    used_ = (used_ + alignof(T) - 1) & ~static_cast<uint64_t>(alignof(T) - 1);
    T* start = block_ == nullptr ? nullptr : reinterpret_cast<T*>(block_ + used_);
    used_ += static_cast<uint64_t>(count) * sizeof(T);
    return start;
  }
  [[nodiscard]] uint64_t used() const { return used_; }

 private:
  uint8_t* block_;
  uint64_t used_ = 0;
};

template <class Item>
struct ListPool {
  BoxedList<Item>* lists;
  EValue** values;
  Item* items;

  void carve(Carver* carver, size_t list_count, size_t item_count) {
    lists = carver->take<BoxedList<Item>>(list_count);
    values = carver->take<EValue*>(item_count);
    items = carver->take<Item>(item_count);
  }

  // The next list, over `indices` of `all`; index -1 is an absent item.
  template <class Index>
  const BoxedList<Item>* place(Span<const Index> indices, EValue* all) {
    BoxedList<Item>* list = new (lists++) BoxedList<Item>{values, items};
    for (const Index index : indices) *values++ = index < 0 ? nullptr : all + index;
    items += indices.size();
    return list;
  }
};

// Everything of a method that lies in the arena, in the order it lies there.
struct Block {
  EValue* values;
  TensorImpl* tensors;
  ListPool<int64_t> int_lists;
  ListPool<Tensor> tensor_lists;
  ListPool<std::optional<Tensor>> optional_tensor_lists;
  const KernelEntry** kernels;
  EValue** arguments;
  StridesType* strides;
  SizesType* sizes;
  uint64_t size;

  Block(const PlanCounts& counts, uint8_t* memory) {
    Carver carver(memory);
    values = carver.take<EValue>(counts.values);
    tensors = carver.take<TensorImpl>(counts.tensors);
    int_lists.carve(&carver, counts.int_lists, counts.ints);
    tensor_lists.carve(&carver, counts.tensor_lists, counts.list_tensors);
    optional_tensor_lists.carve(&carver, counts.optional_tensor_lists, counts.optional_tensors);
    kernels = carver.take<const KernelEntry*>(counts.operators);
    arguments = carver.take<EValue*>(counts.max_arguments);
    strides = carver.take<StridesType>(counts.dims);
    sizes = carver.take<SizesType>(counts.dynamic_dims);
    size = carver.used();
  }
};

// In EValue::length of a tensor, which has no other use for it: its memory must not be written.
constexpr uint32_t kConstant = 1;

bool is_constant(const EValue& value) { return value.is_tensor() && value.length == kConstant; }

bool accepts(char code, Tag tag) {
  const bool may_be_none = code >= 'A' && code <= 'Z';
  if (may_be_none && tag == Tag::None) return true;
  const bool is_number = tag == Tag::Int || tag == Tag::Double || tag == Tag::Bool;
  switch (may_be_none ? code - 'A' + 'a' : code) {
    case 't':
    case 'w':
      return tag == Tag::Tensor;
    case 'i':
      return tag == Tag::Int || tag == Tag::Bool;
    case 'd':
      return is_number;
    case 'b':
      return tag == Tag::Bool || tag == Tag::Int;
    case 's':
      return is_number;
    case 'z':
      return tag == Tag::String;
    case 'n':
      return tag == Tag::ListInt;
    case 'f':
      return tag == Tag::ListDouble;
    case 'o':
      return tag == Tag::ListBool;
    case 'l':
    case 'k':
      return tag == Tag::ListTensor;
    case 'p':
      return tag == Tag::ListOptionalTensor;
    case 'e':
      return true;
    default:
      return false;
  }
}

}  // namespace

class Method::Loader {
 public:
  Loader(const Program& program, Table plan, const MemoryManager& memory, const OperatorTable& operators,
         Block block)
      : program_(program), plan_(plan), memory_(memory), operators_(operators), block_(block), next_(block) {}

  Error run() {
    RL_TRY(check_planned_buffers());
    const TableVector values = plan_.tables(schema::plan::kValues);
    for (size_t i = 0; i < values.size(); ++i) RL_TRY(place_value(i, values[i]));
    RL_TRY(check_delegates());
    RL_TRY(bind_operators());
    RL_TRY(mark_moved_constants());
    return check_calls();
  }

  // Whether a tensor that is no input has no memory yet.
  [[nodiscard]] bool has_late_tensors() const {
    const size_t count = plan_.tables(schema::plan::kValues).size();
    for (size_t i = 0; i < count; ++i) {
      const EValue& value = block_.values[i];
      if (!value.is_tensor() || value.payload.as_tensor->data() != nullptr) continue;
      if (value.payload.as_tensor->numel() > 0 && !is_input(i)) return true;
    }
    return false;
  }

 private:
  Error check_planned_buffers() const {
    const MethodMeta meta(plan_);
    for (size_t i = 0; i < meta.num_planned_buffers(); ++i) {
      RL_TRY_ASSIGN(const size_t size, meta.planned_buffer_size(i));
      const size_t given = i < memory_.planned.size() ? memory_.planned[i].size() : 0;
      RL_CHECK(given >= size, Error::MemoryAllocationFailed,
               "planned buffer %lu: the method needs %lu bytes, %lu were given, %lu short", number(i),
               number(size), number(given), number(size - given));
      RL_CHECK(size == 0 || is_aligned(memory_.planned[i].data(), 16), Error::InvalidArgument,
               "planned buffer %lu: not aligned to 16 bytes", number(i));
    }
    return Error::Ok;
  }

  [[nodiscard]] bool is_input(size_t index) const {
    for (const int32_t input : plan_.vector<int32_t>(schema::plan::kInputs)) {
      if (static_cast<size_t>(input) == index) return true;
    }
    return false;
  }

  Error place_value(size_t index, Table entry) {
    const Table content = entry.table(schema::evalue::kValue);
    EValue value;
    switch (static_cast<ValueKind>(entry.scalar<uint8_t>(schema::evalue::kKind))) {
      case ValueKind::Null:
        break;
      case ValueKind::Int:
        value = EValue(content.scalar<int64_t>(schema::boxed::kItem));
        break;
      case ValueKind::Bool:
        value = EValue(content.scalar<uint8_t>(schema::boxed::kItem) != 0);
        break;
      case ValueKind::Double:
        value = EValue(content.scalar<double>(schema::boxed::kItem));
        break;
      case ValueKind::String:
        value = EValue(std::string_view(content.string(schema::boxed::kItem),
                                        content.string_length(schema::boxed::kItem)));
        break;
      case ValueKind::Tensor: {
        RL_TRY(place_tensor(content));
        value = EValue(Tensor(next_.tensors++));
        if (!content.table(schema::tensor::kAllocationInfo) &&
            content.scalar<uint32_t>(schema::tensor::kDataBufferIdx) != 0) {
          value.length = kConstant;
        }
        break;
      }
      case ValueKind::DoubleList: {
        const auto items = content.vector<double>(schema::boxed::kItem);
        set_list(&value, Tag::ListDouble, items.size());
        value.payload.as_double_list = items.data();
        break;
      }
      case ValueKind::BoolList: {
        // Bytes proven to be 0 or 1, which is what a bool is made of.
        const auto items = content.vector<uint8_t>(schema::boxed::kItem);
        set_list(&value, Tag::ListBool, items.size());
        value.payload.as_bool_list = reinterpret_cast<const bool*>(items.data());
        break;
      }
      case ValueKind::IntList: {
        const auto items = content.vector<int64_t>(schema::boxed::kItem);
        set_list(&value, Tag::ListInt, items.size());
        value.payload.as_int_list = next_.int_lists.place(items, block_.values);
        break;
      }
      case ValueKind::TensorList: {
        const auto items = content.vector<int32_t>(schema::boxed::kItem);
        set_list(&value, Tag::ListTensor, items.size());
        value.payload.as_tensor_list = next_.tensor_lists.place(items, block_.values);
        break;
      }
      case ValueKind::OptionalTensorList: {
        const auto items = content.vector<int32_t>(schema::boxed::kItem);
        set_list(&value, Tag::ListOptionalTensor, items.size());
        value.payload.as_optional_tensor_list = next_.optional_tensor_lists.place(items, block_.values);
        break;
      }
    }
    new (block_.values + index) EValue(value);
    return Error::Ok;
  }

  static void set_list(EValue* value, Tag tag, size_t length) {
    value->tag = tag;
    value->length = static_cast<uint32_t>(length);
  }

  Error place_tensor(Table content) {
    TensorView view;
    RL_TRY(read_tensor(content, &view));
    void* data = nullptr;
    RL_TRY(find_data(content, view, &data));
    const size_t dim = view.sizes.size();
    // A static tensor only reads its sizes, a tensor of any kind its dim order: both may stay in the file.
    auto* sizes = const_cast<SizesType*>(view.sizes.data());
    if (view.dynamism != TensorShapeDynamism::STATIC) {
      sizes = next_.sizes;
      next_.sizes += dim;
      for (size_t d = 0; d < dim; ++d) sizes[d] = view.sizes[d];
    }
    new (next_.tensors)
        TensorImpl(view.scalar_type, static_cast<ptrdiff_t>(dim), sizes, data,
                   const_cast<DimOrderType*>(view.dim_order.data()), next_.strides, view.dynamism);
    next_.strides += dim;
    return Error::Ok;
  }

  // Constant, planned, planned with an initial state, or none yet: by which of the two fields there are.
  Error find_data(Table tensor, const TensorView& view, void** data) const {
    const Table extra = tensor.table(schema::tensor::kExtraTensorInfo);
    RL_CHECK(extra.scalar<uint8_t>(schema::extra::kLocation) == 0, Error::NotSupported,
             "tensor %s: stored outside the program", extra.string(schema::extra::kFullyQualifiedName));
    const auto constant = tensor.scalar<uint32_t>(schema::tensor::kDataBufferIdx);
    const Table allocation = tensor.table(schema::tensor::kAllocationInfo);
    if (allocation) {
      RL_TRY(find_planned(allocation, view, data));
      if (constant == 0) return Error::Ok;
      const auto segment = extra.scalar<uint64_t>(schema::extra::kMutableDataSegmentsIdx);
      return program_.load_mutable(segment, constant, *data, view.nbytes);
    }
    if (constant == 0) return Error::Ok;
    RL_TRY_ASSIGN(const void* bytes, program_.constant(constant, view.nbytes));
    RL_CHECK(is_aligned(bytes, element_size(view.scalar_type)), Error::InvalidProgram,
             "constant %lu: not aligned for %s", number(constant), to_string(view.scalar_type));
    *data = const_cast<void*>(bytes);
    return Error::Ok;
  }

  Error find_planned(Table allocation, const TensorView& view, void** data) const {
    const auto id = allocation.scalar<uint32_t>(schema::allocation::kMemoryId);
    const uint64_t offset =
        (static_cast<uint64_t>(allocation.scalar<uint32_t>(schema::allocation::kMemoryOffsetHigh)) << 32) |
        allocation.scalar<uint32_t>(schema::allocation::kMemoryOffsetLow);
    const MethodMeta meta(plan_);
    RL_CHECK(id >= 1 && id <= meta.num_planned_buffers(), Error::InvalidProgram,
             "tensor: memory id %lu of %lu", number(id), number(meta.num_planned_buffers()));
    RL_TRY_ASSIGN(const size_t size, meta.planned_buffer_size(id - 1));
    RL_CHECK(range_fits(offset, view.nbytes, size), Error::InvalidProgram,
             "tensor: %lu bytes at %lu leave the planned buffer of %lu", number(view.nbytes), number(offset),
             number(size));
    RL_CHECK((offset & (element_size(view.scalar_type) - 1)) == 0, Error::InvalidProgram,
             "tensor: offset %lu is not aligned for %s", number(offset), to_string(view.scalar_type));
    *data = memory_.planned[id - 1].data() + static_cast<size_t>(offset);
    return Error::Ok;
  }

  Error check_delegates() const {
    const TableVector delegates = plan_.tables(schema::plan::kDelegates);
    for (size_t i = 0; i < delegates.size(); ++i) {
      RL_LOG(Error, "delegate %s: this runtime has no such backend",
             delegates[i].string(schema::delegate::kId));
    }
    return delegates.size() == 0 ? Error::Ok : Error::NotFound;
  }

  // Looks all of them up before it fails, so that one run names everything that is missing.
  Error bind_operators() {
    const TableVector operators = plan_.tables(schema::plan::kOperators);
    Error error = Error::Ok;
    for (size_t i = 0; i < operators.size(); ++i) {
      const KernelEntry* entry = find_operator(i);
      if (entry == nullptr) {
        RL_LOG(Error, "operator %s.%s: no library in this build has it",
               operators[i].string(schema::operator_name::kName),
               operators[i].string(schema::operator_name::kOverload));
        error = Error::OperatorMissing;
      }
      block_.kernels[i] = entry;
    }
    return error;
  }

  [[nodiscard]] const KernelEntry* find_operator(size_t index) const {
    const Table name = plan_.tables(schema::plan::kOperators)[index];
    return operators_.find(name.string(schema::operator_name::kName),
                           name.string(schema::operator_name::kOverload));
  }

  // A constant must not be written, not even under another value's name: a move hands its mark on,
  // and check_arguments refuses marked values where a kernel writes.
  Error mark_moved_constants() {
    constexpr int kMaxChainedMoves = 16;
    bool changed = true;
    for (int pass = 0; changed; ++pass) {
      RL_CHECK(pass < kMaxChainedMoves, Error::InvalidProgram, "moves: constants pass through too many");
      changed = false;
      RL_TRY(for_each_instruction(InstructionKind::MoveCall, [&](Table move) {
        const EValue& from = block_.values[move.scalar<int32_t>(schema::move_call::kFrom)];
        EValue& to = block_.values[move.scalar<int32_t>(schema::move_call::kTo)];
        if (is_constant(from) && !is_constant(to)) {
          to.length = kConstant;
          changed = true;
        }
        return Error::Ok;
      }));
    }
    for (const int32_t input : plan_.vector<int32_t>(schema::plan::kInputs)) {
      RL_CHECK(!is_constant(block_.values[input]), Error::InvalidProgram, "input value %ld: is a constant",
               static_cast<long>(input));
    }
    return Error::Ok;
  }

  // Compares each call's values with its kernel's signature, once, so that calling needs no check.
  Error check_calls() const {
    return for_each_instruction(InstructionKind::KernelCall, [&](Table call) {
      const KernelEntry& kernel = *block_.kernels[call.scalar<int32_t>(schema::kernel_call::kOpIndex)];
      return check_arguments(kernel, call.vector<int32_t>(schema::kernel_call::kArgs));
    });
  }

  Error check_arguments(const KernelEntry& kernel, Span<const int32_t> arguments) const {
    const size_t expected = std::strlen(kernel.signature);
    RL_CHECK(arguments.size() >= expected, Error::InvalidProgram,
             "operator %s: expected %lu arguments, got %lu", kernel.name, number(expected),
             number(arguments.size()));
    for (size_t i = 0; i < expected; ++i) {
      const EValue& value = block_.values[arguments[i]];
      const char code = kernel.signature[i];
      RL_CHECK(accepts(code, value.tag), Error::InvalidProgram,
               "operator %s: argument %lu is a %s, its signature has '%c' there", kernel.name, number(i),
               to_string(value.tag), code);
      RL_CHECK(!writes_constant(code, value), Error::InvalidProgram,
               "operator %s: argument %lu is written and constant", kernel.name, number(i));
    }
    return Error::Ok;
  }

  static bool writes_constant(char code, const EValue& value) {
    if (code == 'w') return is_constant(value);
    if (code != 'k') return false;
    for (uint32_t i = 0; i < value.length; ++i) {
      if (is_constant(*value.payload.as_tensor_list->values[i])) return true;
    }
    return false;
  }

  template <class F>
  Error for_each_instruction(InstructionKind wanted, F f) const {
    const TableVector chains = plan_.tables(schema::plan::kChains);
    for (size_t c = 0; c < chains.size(); ++c) {
      const TableVector instructions = chains[c].tables(schema::chain::kInstructions);
      for (size_t i = 0; i < instructions.size(); ++i) {
        if (instructions[i].scalar<uint8_t>(schema::instruction::kKind) != static_cast<uint8_t>(wanted))
          continue;
        RL_TRY(f(instructions[i].table(schema::instruction::kArguments)));
      }
    }
    return Error::Ok;
  }

  const Program& program_;
  Table plan_;
  const MemoryManager& memory_;
  const OperatorTable& operators_;
  const Block block_;
  Block next_;  // where the next tensor and list go
};

Result<size_t> Method::arena_size(const MethodMeta& meta) {
  PlanCounts counts;
  RL_TRY(count_plan(meta.plan(), &counts));
  const uint64_t size = Block(counts, nullptr).size;
  RL_CHECK(size <= SIZE_MAX, Error::MemoryAllocationFailed, "method %s: needs %lu bytes", meta.name(),
           number(size));
  return static_cast<size_t>(size);
}

Result<Method> Method::load(const Program& program, const char* name, const MemoryManager& memory,
                            const OperatorTable& operators) {
  RL_TRY_ASSIGN(const MethodMeta meta, program.method_meta(name));
  PlanCounts counts;
  RL_TRY(count_plan(meta.plan(), &counts));
  const uint64_t size = Block(counts, nullptr).size;
  void* block_memory = size > SIZE_MAX ? nullptr : memory.method->allocate(static_cast<size_t>(size));
  RL_CHECK(block_memory != nullptr, Error::MemoryAllocationFailed, "method %s: its values need %lu bytes",
           name, number(size));
  const Block block(counts, static_cast<uint8_t*>(block_memory));
  Loader loader(program, meta.plan(), memory, operators, block);
  RL_TRY(loader.run());

  Method method(meta.plan(), memory.temporary);
  method.values_ = block.values;
  method.kernels_ = block.kernels;
  method.arguments_ = block.arguments;
  method.has_late_tensors_ = loader.has_late_tensors();
  return method;
}

}  // namespace rushlight
