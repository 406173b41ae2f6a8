// SPDX-License-Identifier: BSD-3-Clause
// Loads a method: lays its values out in the arena, binds operators and delegates, and checks each call once,
// so that execution needs no checks. Cost: a few passes over the values and instructions.
#include <new>

#include "runtime/base/checked.h"
#include "runtime/base/log.h"
#include "runtime/executor/arena_block.h"
#include "runtime/executor/arguments.h"
#include "runtime/executor/method.h"
#include "runtime/program/layout.h"
#include "runtime/program/named_data.h"
#include "runtime/program/schema.h"

namespace rushlight {

namespace {

using flatbuffer::Table;
using flatbuffer::TableVector;
using schema::InstructionKind;
using schema::ValueKind;

constexpr bool kPrepares = RUSHLIGHT_PREPARE_KERNELS != 0;

// Marks an input in EValue::length, which tensors do not use otherwise.
constexpr uint32_t kInput = 1;

}  // namespace

class Method::Loader {
 public:
  Loader(const Program& program, const MemoryManager& memory, const OperatorTable& operators,
         const MethodOptions& options, const PlanCounts& counts, const ArenaLayout& layout, uint8_t* block,
         Method* method)
      : program_(program),
        plan_(method->plan_),
        memory_(memory),
        operators_(operators),
        options_(options),
        method_(*method) {
    assign(ArenaBlock(layout, block), kCompact && counts.plain);
    method->num_tensors_ = counts[ArenaPart::Tensors];
    next_tensor_ = value_tables().tensors;
  }

  // Order matters: tensors before values, which refer to them; operators before calls are checked.
  Error run() {
    RL_TRY(check_planned_buffers());
    RL_TRY(assign_tensors());
    assign_values();
    // Logs everything that this build lacks before the first failure.
    const Error backends = find_backends();
    RL_TRY(bind_operators());
    RL_TRY(backends);
    for (const OperatorTable* table = &operators_; table != nullptr; table = table->next)
      if (table->support != nullptr) method_.prepare_support_ = table->support;
    RL_TRY(mark_inputs());
    RL_TRY(check_moves());
    RL_TRY(check_calls());
    method_.memory_changes_ = memory_changes();
    // Last, because backends may take long and see a method that is verified.
    return init_delegates();
  }

 private:
  void assign(const ArenaBlock& block, bool compact) {
    MethodValues::ValueTables values;
    if (!compact) block.assign<ArenaPart::Values>(&values.kept);
    block.assign<ArenaPart::Ends>(&method_.ends_);
    block.assign<ArenaPart::Tensors>(&values.tensors);
    block.assign<ArenaPart::TensorRanks>(&values.ranks);
    assign_frame(block, &values, &method_.frame_.arguments);
    method_.frame_.values = MethodValues(plan_.tables(schema::plan::kValues), values);
    block.assign<ArenaPart::Kernels>(&method_.kernels_);
    block.assign<ArenaPart::Delegates>(&method_.delegates_.items);
    block.assign<ArenaPart::CompileSpecs>(&compile_specs_);
    block.assign<ArenaPart::ExternalData>(&method_.external_data_);
    block.assign<ArenaPart::Strides>(&next_strides_);
    block.assign<ArenaPart::Sizes>(&next_sizes_);
  }

  [[nodiscard]] const MethodValues::ValueTables& value_tables() const {
    return method_.frame_.values.value_tables();
  }

  // Returns true if tensors get memory, or become aliases, during execution.
  [[nodiscard]] bool memory_changes() const {
    if (moves_tensors_ || makes_views_) return true;
    // An input lent by the caller does not count: its storage is Lent, and set_input() checks it.
    for (const TensorImpl* tensor = value_tables().tensors; tensor != next_tensor_; ++tensor) {
      if (tensor->storage() == Storage::None && tensor->numel() > 0) return true;
    }
    return false;
  }

  // Checks number, size, device and alignment of the caller's buffers against the program.
  Error check_planned_buffers() {
    const MethodMeta meta(plan_);
    RL_CHECK(memory_.planned.size() >= meta.num_planned_buffers(), Error::MemoryAllocationFailed,
             "planned buffers: expected %lu, got %lu", log_number(meta.num_planned_buffers()),
             log_number(memory_.planned.size()));
    for (size_t i = 0; i < meta.num_planned_buffers(); ++i) {
      RL_TRY_ASSIGN(const size_t size, meta.planned_buffer_size(i));
      const size_t given = memory_.planned[i].size();
      if (given < size) RL_RECORD_SHORTAGE(size, given);
      RL_CHECK(given >= size, Error::MemoryAllocationFailed,
               "planned buffer %lu: expected %lu bytes, got %lu, %lu short", log_number(i), log_number(size),
               log_number(given), log_number(size - given));
      RL_TRY_ASSIGN(const Device device, meta.planned_buffer_device(i));
      RL_CHECK(device.type == 0, Error::NotSupported,
               "planned buffer %lu: on device %lu of type %lu, expected the CPU (type 0)", log_number(i),
               log_number(device.index), log_number(device.type));
      planned_bytes_ += size;
      RL_CHECK(size == 0 || is_aligned(memory_.planned[i].data(), 16), Error::InvalidArgument,
               "planned buffer %lu: not aligned to 16 bytes", log_number(i));
    }
    return Error::Ok;
  }

  Error assign_tensors() {
    const TableVector values = plan_.tables(schema::plan::kValues);
    for (size_t i = 0; i < values.size(); ++i) {
      TensorRank* rank = value_tables().ranks + i / 32;
      // `before` counts the tensors of all groups before this one.
      if (i % 32 == 0) new (rank) TensorRank{0, static_cast<uint32_t>(next_tensor_ - value_tables().tensors)};
      if (values[i].scalar<uint8_t>(schema::evalue::kValType) != static_cast<uint8_t>(ValueKind::Tensor))
        continue;
      rank->bits |= uint32_t{1} << (i % 32);
      RL_TRY(assign_tensor(values[i].table(schema::evalue::kVal)));
    }
    return Error::Ok;
  }

  void assign_values() {
    const MethodValues& values = method_.frame_.values;
    if (!method_.is_compact()) {
      const size_t count = plan_.tables(schema::plan::kValues).size();
      for (size_t i = 0; i < count; ++i) new (value_tables().kept + i) EValue(values.make(i));
      return;
    }
    // A compact method keeps inputs and outputs only, in this order (Method::input_value()).
    EValue* end = method_.ends_;
    for (const unsigned ends : {schema::plan::kInputs, schema::plan::kOutputs}) {
      for (const int32_t index : plan_.vector<int32_t>(ends))
        new (end++) EValue(values.make(static_cast<size_t>(index)));
    }
  }

  Error assign_tensor(Table content) {
    TensorView view;
    RL_TRY(read_tensor(content, &view));
    void* data = nullptr;
    Storage storage = Storage::None;
    RL_TRY(find_data(content, view, &data, &storage));
    const size_t dim = view.layout.sizes.size();
    // A static tensor only reads its sizes, and every tensor only reads its dim order: both may stay in the
    // file.
    auto* sizes = const_cast<SizesType*>(view.layout.sizes.data());
    if (view.dynamism != TensorShapeDynamism::STATIC) {
      sizes = next_sizes_;
      next_sizes_ += dim;
      for (size_t d = 0; d < dim; ++d) sizes[d] = view.layout.sizes[d];
    }
    // Files store no strides: they follow from sizes and dim order.
    auto* tensor = new (next_tensor_++)
        TensorImpl(view.layout.scalar_type, static_cast<ptrdiff_t>(dim), sizes, data,
                   const_cast<DimOrderType*>(view.layout.dim_order.data()), next_strides_, view.dynamism);
    tensor->set_data(data, storage);
    next_strides_ += dim;
    return Error::Ok;
  }

  // Finds the memory of a tensor: constant, planned, planned with an initial state, or none yet, depending on
  // which fields are present.
  Error find_data(Table tensor, const TensorView& view, void** data, Storage* storage) {
    const Table extra = tensor.table(schema::tensor::kExtraTensorInfo);
    const auto constant = tensor.scalar<uint32_t>(schema::tensor::kDataBufferIdx);
    const Table allocation = tensor.table(schema::tensor::kAllocationInfo);
    // With an allocation, a constant is the initial state of memory that the method may write.
    if (allocation) {
      RL_TRY(find_planned(allocation, view, data));
      *storage = Storage::Planned;
      if (!view.is_external && constant == 0) return Error::Ok;
      RL_TRY(count_initial_state(view.layout.nbytes));
      if (view.is_external) {
        const char* key = extra.string(schema::extra::kFullyQualifiedName);
        RL_TRY_ASSIGN(const NamedDataMap* map, data_file(key));
        return map->load_tensor(key, view.layout, *data);
      }
      const auto segment = extra.scalar<uint64_t>(schema::extra::kMutableDataSegmentsIdx);
      return program_.load_mutable(segment, constant, *data, view.layout.nbytes);
    }
    const void* bytes = nullptr;
    // External data: by its name from the data files, and kept alive by the method.
    if (view.is_external) {
      RL_TRY_ASSIGN(bytes, load_external(extra.string(schema::extra::kFullyQualifiedName), view));
    } else {
      if (constant == 0) return Error::Ok;
      RL_TRY_ASSIGN(bytes, program_.constant(constant, view.layout.nbytes));
    }
    // Program data is aligned by the exporter; a hostile or careless file may differ, and typed loads would
    // trap on some cores.
    RL_CHECK(is_aligned(bytes, element_size(view.layout.scalar_type)),
             view.is_external ? Error::InvalidExternalData : Error::InvalidProgram,
             "constant %lu %s: not aligned for %s", log_number(constant),
             extra.string(schema::extra::kFullyQualifiedName), to_string(view.layout.scalar_type));
    *data = const_cast<void*>(bytes);
    *storage = Storage::Constant;
    return Error::Ok;
  }

  // Tensors may share memory and the bytes of their initial state, so a small file could cause any amount of
  // copying. Legitimate state is copied once to memory that only it uses, which stays below this limit.
  Error count_initial_state(size_t nbytes) {
    // No overflow: nbytes is at most planned_bytes_, and the sum was at most twice that.
    initial_state_bytes_ += nbytes;
    RL_CHECK(initial_state_bytes_ <= 2 * planned_bytes_, Error::InvalidProgram,
             "method: more initial state than twice its %lu bytes of planned memory",
             log_number(planned_bytes_));
    return Error::Ok;
  }

  Result<const NamedDataMap*> data_file(const char* key) const {
    RL_CHECK(options_.external_data != nullptr, Error::NotFound,
             "tensor %s: stored outside the program, and no data file was given", key);
    return options_.external_data;
  }

  Result<const void*> load_external(const char* key, const TensorView& view) {
    RL_TRY_ASSIGN(const NamedDataMap* map, data_file(key));
    // The address stays valid when the buffer moves: it owns or borrows memory, and contains none.
    RL_TRY_ASSIGN(FreeableBuffer data, map->tensor_data(key, view.layout));
    const void* bytes = data.data();
    new (method_.external_data_ + method_.num_external_data_++) FreeableBuffer(std::move(data));
    return bytes;
  }

  // Resolves memory id and offset of a planned tensor, and checks range and alignment.
  Error find_planned(Table allocation, const TensorView& view, void** data) const {
    const auto id = allocation.scalar<uint32_t>(schema::allocation::kMemoryId);
    const uint64_t offset =
        (static_cast<uint64_t>(allocation.scalar<uint32_t>(schema::allocation::kMemoryOffsetHigh)) << 32) |
        allocation.scalar<uint32_t>(schema::allocation::kMemoryOffsetLow);
    const MethodMeta meta(plan_);
    RL_CHECK(id >= 1 && id <= meta.num_planned_buffers(), Error::InvalidProgram,
             "tensor: memory id %lu of %lu", log_number(id), log_number(meta.num_planned_buffers()));
    RL_TRY_ASSIGN(const size_t size, meta.planned_buffer_size(id - 1));
    RL_CHECK(range_fits(offset, view.layout.nbytes, size), Error::InvalidProgram,
             "tensor: %lu bytes at %lu exceed the planned buffer of %lu", log_number(view.layout.nbytes),
             log_number(offset), log_number(size));
    // Sizes of elements are powers of two; the buffer itself is aligned to 16 bytes.
    RL_CHECK((offset & (element_size(view.layout.scalar_type) - 1)) == 0, Error::InvalidProgram,
             "tensor: offset %lu is not aligned for %s", log_number(offset),
             to_string(view.layout.scalar_type));
    *data = memory_.planned[id - 1].data() + static_cast<size_t>(offset);
    return Error::Ok;
  }

  Error find_backends() const {
    const TableVector delegates = plan_.tables(schema::plan::kDelegates);
    if (delegates.size() == 0) return Error::Ok;
    const BackendTable* backends = options_.backends;
    if (backends != nullptr && backends->support != nullptr) return backends->support->find(plan_, *backends);
    for (size_t i = 0; i < delegates.size(); ++i) {
      RL_LOG(Error, "delegate %s: this runtime has no such backend",
             delegates[i].string(schema::delegate::kId));
    }
    return Error::NotFound;
  }

  Error init_delegates() {
    if (plan_.tables(schema::plan::kDelegates).size() == 0) return Error::Ok;
    method_.delegate_support_ = options_.backends->support;
    return method_.delegate_support_->init(plan_, program_, *options_.backends, options_.external_data,
                                           memory_, method_.tracer(), options_.threads, options_.host,
                                           compile_specs_, &method_.delegates_);
  }

  // Looks up all operators before failing, so that one attempt logs everything that is missing.
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
      method_.kernels_[i] = entry;
    }
    return error;
  }

  [[nodiscard]] const KernelEntry* find_operator(size_t index) const {
    const Table name = plan_.tables(schema::plan::kOperators)[index];
    return operators_.find(name.string(schema::operator_name::kName),
                           name.string(schema::operator_name::kOverload));
  }

  // Marks inputs. Inputs without planned memory use the caller's.
  Error mark_inputs() {
    const auto inputs = plan_.vector<int32_t>(schema::plan::kInputs);
    for (size_t i = 0; i < inputs.size(); ++i) {
      EValue& value = method_.input_value(i);
      if (!value.is_tensor()) continue;
      TensorImpl* tensor = value.payload.as_tensor.impl();
      RL_CHECK(tensor->storage() != Storage::Constant, Error::InvalidProgram,
               "input value %ld: is a constant", static_cast<long>(inputs[i]));
      // Lent: no memory yet, not writable; set_input() provides it.
      if (tensor->storage() == Storage::None) tensor->set_data(nullptr, Storage::Lent);
      value.length = kInput;
    }
    return Error::Ok;
  }

  // A move copies a tensor handle. An input must keep the tensor that set_input() fills.
  Error check_moves() {
    return for_each_instruction(InstructionKind::MoveCall, [&](Table move) {
      const auto to = move.scalar<int32_t>(schema::move_call::kMoveTo);
      const EValue& value = value_tables().kept[to];
      RL_CHECK(!value.is_tensor() || value.length != kInput, Error::InvalidProgram,
               "move: to value %ld, which is an input", static_cast<long>(to));
      // Moved tensors may exchange memory; moved numbers change no tensor.
      moves_tensors_ = moves_tensors_ || !value.is_number();
      return Error::Ok;
    });
  }

  // Checks each call once; this suffices unless memory changes during execution.
  Error check_calls() {
    return for_each_instruction(InstructionKind::KernelCall, [&](Table call) {
      const KernelEntry& kernel = *method_.kernels_[call.scalar<int32_t>(schema::kernel_call::kOpIndex)];
      const auto indices = call.vector<int32_t>(schema::kernel_call::kArgs);
      method_.frame_.values.gather(indices, method_.frame_.arguments);
      RL_TRY(check_kinds(kernel, {method_.frame_.arguments, indices.size()}));
      for (size_t i = 0; kernel.signature[i] != '\0'; ++i) {
        // An argument that becomes a view takes another tensor's memory, which makes checks at load
        // insufficient.
        makes_views_ =
            makes_views_ || (kernel.signature[i] == 'e' && may_become_view(*method_.frame_.arguments[i]));
      }
      return check_tensors(kernel, method_.frame_.arguments, When::Loading);
    });
  }

  static bool may_become_view(const EValue& value) {
    if (!value.is_tensor()) return false;
    const Storage storage = value.payload.as_tensor.impl()->storage();
    return storage != Storage::Planned && storage != Storage::Constant;
  }

  template <class F>
  Error for_each_instruction(InstructionKind wanted, F f) const {
    const TableVector chains = plan_.tables(schema::plan::kChains);
    for (size_t c = 0; c < chains.size(); ++c) {
      const TableVector instructions = chains[c].tables(schema::chain::kInstructions);
      for (size_t i = 0; i < instructions.size(); ++i) {
        if (instructions[i].scalar<uint8_t>(schema::instruction::kInstrArgsType) !=
            static_cast<uint8_t>(wanted))
          continue;
        RL_TRY(f(instructions[i].table(schema::instruction::kInstrArgs)));
      }
    }
    return Error::Ok;
  }

  const Program& program_;
  Table plan_;
  const MemoryManager& memory_;
  const OperatorTable& operators_;
  const MethodOptions& options_;
  TensorImpl* next_tensor_;
  StridesType* next_strides_;
  SizesType* next_sizes_;
  Method& method_;
  CompileSpec* compile_specs_;
  uint64_t planned_bytes_ = 0;
  uint64_t initial_state_bytes_ = 0;
  bool moves_tensors_ = false;
  bool makes_views_ = false;
};

Result<Method> Method::load(const Program& program, const char* name, const MemoryManager& memory,
                            const OperatorTable& operators, const MethodOptions& options) {
  trace_block(options.tracer, "Default");
  const ProfileScope loading(options.tracer, "Program::load_method");
  RL_TRY_ASSIGN(const MethodMeta meta, program.method_meta(name));
  const ProfileScope initializing(options.tracer, "Method::init");
  PlanCounts counts;
  RL_TRY(count_plan(meta.plan(), &counts));
  const ArenaLayout layout = lay_out_arena(counts, sizeof(void*));
  void* block = layout.size > SIZE_MAX ? nullptr : memory.method->allocate(static_cast<size_t>(layout.size));
  RL_CHECK(block != nullptr, Error::MemoryAllocationFailed, "method %s: its values need %lu bytes", name,
           log_number(layout.size));
  // From here on the destructor of `method` releases what an unfinished load has created.
  Method method(meta.plan(), memory.temporary, options);
  RL_TRY(Loader(program, memory, operators, options, counts, layout, static_cast<uint8_t*>(block), &method)
             .run());
  if (kPrepares && memory.prepared != nullptr) RL_TRY(method.prepare(memory.prepared));
  return method;
}

}  // namespace rushlight
