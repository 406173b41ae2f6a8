// SPDX-License-Identifier: BSD-3-Clause
// One walk over the instructions. Programs reuse planned memory and state views as other tensors over the
// same bytes, so WrittenRanges finds the call whose result an argument reads. Each call's arguments are
// compared with the kernel's signature.
#include "backends/rewrite/read_method.h"

#include <cctype>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "backends/rewrite/written_ranges.h"
#include "runtime/program/layout.h"
#include "runtime/program/method_meta.h"
#include "runtime/program/schema.h"

namespace rushlight::rewrite {

namespace {

using flatbuffer::Table;
using flatbuffer::TableVector;
using schema::ValueKind;
using Kind = CallList::Kind;

// Larger methods stay as they are: passes take n log n time.
constexpr size_t kMostCalls = 100'000;

constexpr char kView[] = "executorch_prim::et_view.default";

class MethodReader {
 public:
  MethodReader(const Program& program, Table plan, const OperatorTable& operators,
               const NamedDataMap* external, ConstantPool* pool, CallList* list)
      : program_(program),
        plan_(plan),
        values_(plan.tables(schema::plan::kValues)),
        operators_(operators),
        external_(external),
        pool_(*pool),
        list_(*list) {}

  bool run() {
    const TableVector chains = plan_.tables(schema::plan::kChains);
    if (chains.size() != 1 || plan_.tables(schema::plan::kDelegates).size() != 0) return false;
    places_.resize(values_.size());
    ranges_.resize(MethodMeta(plan_).num_planned_buffers() + 1);
    for (size_t i = 0; i < values_.size(); ++i) {
      if (!add_value(i)) return false;
    }
    for (const int32_t input : plan_.vector<int32_t>(schema::plan::kInputs)) {
      if (!add_input(input)) return false;
    }
    const TableVector instructions = chains[0].tables(schema::chain::kInstructions);
    if (instructions.size() > kMostCalls) return false;
    for (size_t i = 0; i < instructions.size(); ++i) {
      if (!add_instruction(i, instructions[i])) return false;
    }
    return add_outputs();
  }

 private:
  // The memory that the program states for a value.
  struct Place {
    uint32_t buffer = 0;  // 0: none planned
    uint64_t begin = 0, end = 0;
    bool is_tensor = false, is_constant = false;
    bool is_known = false;  // an input, or written by a call, or a view
  };

  bool add_value(size_t index) {
    const Table content = values_[index].table(schema::evalue::kVal);
    switch (static_cast<ValueKind>(values_[index].scalar<uint8_t>(schema::evalue::kValType))) {
      case ValueKind::Null:
        list_.none();
        return true;
      case ValueKind::Int:
        list_.integer(content.scalar<int64_t>(schema::boxed::kItem));
        return true;
      case ValueKind::Bool:
        list_.boolean(content.scalar<uint8_t>(schema::boxed::kItem) != 0);
        return true;
      case ValueKind::Double: {
        const auto bits = content.scalar<uint64_t>(schema::boxed::kItem);
        double number = 0;
        std::memcpy(&number, &bits, sizeof number);
        list_.real(number);
        return true;
      }
      case ValueKind::String:
        list_.text(content.string(schema::boxed::kItem));
        return true;
      case ValueKind::IntList:
        list_.integer_values(items<int64_t>(content));
        return true;
      case ValueKind::DoubleList:
        list_.reals(items<double>(content));
        return true;
      case ValueKind::BoolList: {
        const auto bits = content.vector<uint8_t>(schema::boxed::kItem);
        list_.booleans(std::vector<int64_t>(bits.begin(), bits.end()));
        return true;
      }
      case ValueKind::TensorList:
        list_.tensors(items<int32_t>(content));
        return true;
      case ValueKind::OptionalTensorList:
        list_.optional_tensors(items<int32_t>(content));
        return true;
      case ValueKind::Tensor:
        return add_tensor(index, content);
    }
    return false;
  }

  template <class T>
  static std::vector<T> items(Table content) {
    const auto vector = content.vector<T>(schema::boxed::kItem);
    return std::vector<T>(vector.begin(), vector.end());
  }

  bool add_tensor(size_t index, Table content) {
    TensorView view;
    if (read_tensor(content, &view) != Error::Ok) return false;
    const TensorLayout& layout = view.layout;
    if (view.dynamism != TensorShapeDynamism::STATIC) return false;
    Place& place = places_[index];
    place.is_tensor = true;
    std::vector<int32_t> sizes(layout.sizes.begin(), layout.sizes.end());
    std::vector<uint8_t> order(layout.dim_order.begin(), layout.dim_order.end());
    const auto constant = content.scalar<uint32_t>(schema::tensor::kDataBufferIdx);
    if (const Table allocation = content.table(schema::tensor::kAllocationInfo)) {
      // Planned memory with an initial state is state of the method.
      if (view.is_external || constant != 0) return false;
      place.buffer = allocation.scalar<uint32_t>(schema::allocation::kMemoryId);
      place.begin = static_cast<uint64_t>(allocation.scalar<uint32_t>(schema::allocation::kMemoryOffsetHigh))
                        << 32 |
                    allocation.scalar<uint32_t>(schema::allocation::kMemoryOffsetLow);
      place.end = place.begin + layout.nbytes;
      if (place.buffer == 0 || place.buffer >= ranges_.size() || place.end < place.begin) return false;
      list_.tensor(layout.scalar_type, std::move(sizes), std::move(order));
      return true;
    }
    if (!view.is_external && constant == 0) {
      list_.tensor(layout.scalar_type, std::move(sizes), std::move(order));
      return true;
    }
    place.is_constant = place.is_known = true;
    Span<const uint8_t> bytes;
    if (view.is_external) {
      const char* key =
          content.table(schema::tensor::kExtraTensorInfo).string(schema::extra::kFullyQualifiedName);
      if (external_ == nullptr) return false;
      const auto has = external_->has(key);
      if (!has.ok() || !*has) return false;
      auto data = external_->tensor_data(key, layout);
      if (!data.ok()) return false;
      bytes = pool_.keep(std::move(*data));
    } else {
      const auto data = program_.constant(constant, layout.nbytes);
      if (!data.ok()) return false;
      bytes = {static_cast<const uint8_t*>(*data), layout.nbytes};
    }
    if (bytes.size() < layout.nbytes) return false;
    list_.constant(layout.scalar_type, std::move(sizes), std::move(order), {bytes.data(), layout.nbytes});
    return true;
  }

  bool add_input(int32_t id) {
    Place& place = places_[static_cast<size_t>(id)];
    if (!place.is_tensor) return true;
    if (place.is_known) return false;  // a constant, or listed twice
    place.is_known = true;
    write_range(id);
    return true;
  }

  void write_range(int32_t id) {
    const Place& place = places_[static_cast<size_t>(id)];
    if (place.buffer != 0 && place.end > place.begin) ranges_[place.buffer].write(place.begin, place.end, id);
  }

  // Proves that a tensor has the bytes of one value, and shares that value's memory if it is a view.
  bool read(int32_t id) {
    if (id < 0) return true;  // absent from a list
    Place& place = places_[static_cast<size_t>(id)];
    if (!place.is_tensor) return true;
    if (place.is_constant || place.begin == place.end) return place.is_known || place.buffer != 0;
    if (place.buffer == 0) return place.is_known;
    const int32_t written = ranges_[place.buffer].written(place.begin, place.end);
    if (written == WrittenRanges::kNone) return false;
    if (place.is_known) return list_.value(written).storage == list_.value(id).storage;
    place.is_known = true;
    list_.merge(id, written);
    return true;
  }

  bool write(int32_t id) {
    if (id < 0) return false;
    Place& place = places_[static_cast<size_t>(id)];
    // Written twice, or read as a view before: memory that changes.
    if (!place.is_tensor || place.is_known) return false;
    place.is_known = true;
    write_range(id);
    return true;
  }

  bool add_instruction(size_t index, Table instruction) {
    const auto kind = static_cast<schema::InstructionKind>(
        instruction.scalar<uint8_t>(schema::instruction::kInstrArgsType));
    if (kind == schema::InstructionKind::FreeCall) return true;
    if (kind != schema::InstructionKind::KernelCall) return false;
    const Table call = instruction.table(schema::instruction::kInstrArgs);
    const Table name = plan_.tables(
        schema::plan::kOperators)[static_cast<size_t>(call.scalar<int32_t>(schema::kernel_call::kOpIndex))];
    const char* base = name.string(schema::operator_name::kName);
    const char* overload = name.string(schema::operator_name::kOverload);
    const KernelEntry* kernel = operators_.find(base, overload);
    const auto given = call.vector<int32_t>(schema::kernel_call::kArgs);
    if (kernel == nullptr || std::strlen(kernel->signature) > given.size()) return false;
    // The value that a program repeats behind the arguments, as the result, is no argument.
    const std::vector<ValueId> arguments(given.begin(), given.begin() + std::strlen(kernel->signature));
    if (std::strcmp(kernel->name, kView) == 0) return add_view(arguments);
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (!fits(kernel->signature[i], arguments[i])) return false;
    }
    list_.set_debug_handle(static_cast<uint32_t>(index));
    for (const bool writes : {false, true}) {
      for (size_t i = 0; i < arguments.size(); ++i) {
        if (is_written(kernel->signature[i]) == writes && !visit(arguments[i], writes)) return false;
      }
    }
    list_.call(base, overload, arguments);
    return true;
  }

  // Reads or writes a value, or each item of a list.
  bool visit(ValueId id, bool writes) {
    const Kind kind = list_.value(id).kind;
    if (kind != Kind::TensorList && kind != Kind::OptionalTensorList) return writes ? write(id) : read(id);
    for (const int64_t item : list_.value(id).integers) {
      if (!(writes ? write(static_cast<ValueId>(item)) : read(static_cast<ValueId>(item)))) return false;
    }
    return true;
  }

  // A view of planned memory or a constant needs no call.
  bool add_view(const std::vector<ValueId>& arguments) {
    const ValueId from = arguments.front(), to = arguments.back();
    Place& place = places_[static_cast<size_t>(to)];
    const CallList::Value &before = list_.value(from), &behind = list_.value(to);
    if (before.kind != Kind::Tensor || behind.kind != Kind::Tensor || !read(from) || place.is_known)
      return false;
    const bool alike = before.dtype == behind.dtype && before.order == row_major(before.sizes.size()) &&
                       behind.order == row_major(behind.sizes.size());
    const Place& source = places_[static_cast<size_t>(from)];
    // A view of the caller's memory, or of memory in another place, stays a call.
    const bool shares =
        source.is_constant || (source.buffer != 0 && (place.buffer == 0 || place.buffer == source.buffer));
    if (!alike || numel(before.sizes) != numel(behind.sizes) || !shares) return false;
    if (place.buffer != 0 && (place.begin != source.begin || place.end != source.end)) return false;
    place.is_known = true;
    if (place.buffer == 0) place = {source.buffer, source.begin, source.end, true, source.is_constant, true};
    list_.merge(to, from);
    return true;
  }

  static std::vector<uint8_t> row_major(size_t rank) {
    std::vector<uint8_t> order(rank);
    for (size_t i = 0; i < rank; ++i) order[i] = static_cast<uint8_t>(i);
    return order;
  }

  static int64_t numel(const std::vector<int32_t>& sizes) {
    int64_t count = 1;
    for (const int32_t size : sizes) count *= size;  // read_tensor() checked the product
    return count;
  }

  // Returns true if a value has a kind that the signature's character accepts; see boxing.h.
  [[nodiscard]] bool fits(char code, ValueId id) const {
    const Kind kind = list_.value(id).kind;
    if (std::isupper(static_cast<unsigned char>(code)) != 0 && kind == Kind::None) return true;
    switch (std::tolower(static_cast<unsigned char>(code))) {
      case 't':
      case 'w':
        return kind == Kind::Tensor;
      case 'i':
        return kind == Kind::Int;
      case 'd':
        return kind == Kind::Double || kind == Kind::Int;
      case 'b':
        return kind == Kind::Bool;
      case 's':
        return kind == Kind::Int || kind == Kind::Double || kind == Kind::Bool;
      case 'z':
        return kind == Kind::String;
      case 'n':
        return kind == Kind::IntList;
      case 'f':
        return kind == Kind::DoubleList;
      case 'o':
        return kind == Kind::BoolList;
      case 'l':
      case 'k':
        return kind == Kind::TensorList;
      case 'p':
        return kind == Kind::OptionalTensorList || kind == Kind::TensorList;
      default:
        return false;
    }
  }

  bool add_outputs() {
    const auto inputs = plan_.vector<int32_t>(schema::plan::kInputs);
    const auto outputs = plan_.vector<int32_t>(schema::plan::kOutputs);
    for (const int32_t id : outputs) {
      if (!visit(id, false)) return false;
      // Outputs in lists, and those in the caller's memory that are inputs too, stay as they are.
      const Kind kind = list_.value(id).kind;
      if (kind == Kind::TensorList || kind == Kind::OptionalTensorList) return false;
    }
    list_.set_inputs(std::vector<ValueId>(inputs.begin(), inputs.end()));
    list_.set_outputs(std::vector<ValueId>(outputs.begin(), outputs.end()));
    for (const int32_t id : inputs) {
      const Place& place = places_[static_cast<size_t>(id)];
      if (place.is_tensor && place.buffer != 0) list_.plan_input(id);
    }
    for (const int32_t id : outputs) {
      const Place& place = places_[static_cast<size_t>(id)];
      if (place.is_tensor && !place.is_constant && place.buffer != 0) list_.plan_output(id);
    }
    return true;
  }

  const Program& program_;
  Table plan_;
  TableVector values_;
  const OperatorTable& operators_;
  const NamedDataMap* external_;
  ConstantPool& pool_;
  CallList& list_;
  std::vector<Place> places_;
  std::vector<WrittenRanges> ranges_;
};

}  // namespace

bool read_method(const Program& program, const char* name, const OperatorTable& operators,
                 const NamedDataMap* external, ConstantPool* pool, CallList* list) {
  const auto meta = program.method_meta(name);
  if (!meta.ok()) return false;
  list->set_name(name);
  return MethodReader(program, meta->plan(), operators, external, pool, list).run();
}

}  // namespace rushlight::rewrite
