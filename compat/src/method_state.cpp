// SPDX-License-Identifier: BSD-3-Clause
// Loads and executes an official method as a rushlight method. The official interface has allocators where
// rushlight has arenas: the arena of values is one allocation of the size that the program states, and
// scratch is one block per execution.
#include "compat/detail/method_state.h"

#include <algorithm>
#include <cstring>

#include <executorch/schema/extended_header.h>
#include <executorch/schema/program_generated.h>

#include "compat/detail/temporary.h"

namespace rushlight::compat RUSHLIGHT_TENSOR_MODE {

namespace {

using Segment = et::DataLoader::SegmentInfo;

// The delegate whose payload the segment holds; null if there is none. Linear in the delegates of all
// methods: only at load, once per segment.
const executorch_flatbuffer::BackendDelegate* delegate_of(const executorch_flatbuffer::Program& program,
                                                          uint32_t segment) {
  for (const auto* plan : *program.execution_plan()) {
    if (plan->delegates() == nullptr) continue;
    for (const auto* delegate : *plan->delegates()) {
      const auto* data = delegate->processed();
      if (data != nullptr && data->location() == executorch_flatbuffer::DataLocation::SEGMENT &&
          data->index() == segment)
        return delegate;
    }
  }
  return nullptr;
}

// The kind of a segment follows from the table that refers to it: mutable state, a delegate's payload,
// otherwise constants.
Segment describe(const executorch_flatbuffer::Program& program, uint32_t segment) {
  if (program.mutable_data_segments() != nullptr) {
    for (const auto* state : *program.mutable_data_segments())
      if (state->segment_index() == segment) return Segment(Segment::Type::Mutable, segment);
  }
  const auto* delegate = program.execution_plan() == nullptr ? nullptr : delegate_of(program, segment);
  if (delegate != nullptr && delegate->id() != nullptr)
    return Segment(Segment::Type::Backend, segment, delegate->id()->c_str());
  return Segment(Segment::Type::Constant, segment);  // or named data, as in ExecuTorch
}

}  // namespace

Result<FreeableBuffer> ProgramLoader::load(size_t offset, size_t size) {
  auto loaded = loader_->load(offset, size, info_of(offset));
  if (!loaded.ok()) return ours(loaded.error());
  auto buffer = aligned(loaded->release());
  // Program::load() reads the start of the file twice: its head, then all tables, which it verifies before it
  // loads a segment. The program owns the bytes.
  if (buffer.ok() && offset == 0) program_ = buffer->bytes();
  return buffer;
}

Segment ProgramLoader::info_of(size_t offset) const {
  if (offset == 0) return Segment(Segment::Type::Program);
  // Beyond offset 0: the tables are loaded and verified.
  const auto* program = executorch_flatbuffer::GetProgram(program_.data());
  const auto head = et::ExtendedHeader::Parse(program_.data(), program_.size());
  if (!head.ok() || program->segments() == nullptr) return Segment(Segment::Type::Program);
  for (uint32_t i = 0; i < program->segments()->size(); ++i) {
    const uint64_t begin = head->segment_base_offset + program->segments()->Get(i)->offset();
    if (offset >= begin && offset - begin < program->segments()->Get(i)->size()) return describe(*program, i);
  }
  return Segment(Segment::Type::Program);
}

et::Error ProgramState::load() {
  auto program = Program::load(loader_);
  if (!program.ok()) return official(program.error());
  program_.emplace(std::move(*program));
  const auto* names = tables()->named_data();
  if (names == nullptr || names->size() == 0) return et::Error::Ok;
  auto map = et::internal::PteDataMap::create(loader_.official_loader(), program_->segment_base(), names,
                                              tables()->segments());
  if (!map.ok()) return et::Error::InvalidProgram;  // names without segments
  named_data_.emplace(std::move(*map));
  return et::Error::Ok;
}

MethodState::MethodState(et::MemoryManager* memory, et::EventTracer* tracer,
                         const et::NamedDataMap* external_data,
                         const et::LoadBackendOptionsMap* backend_options)
    : memory_(memory), tracer_(tracer), backend_options_(backend_options) {
  if (external_data != nullptr) external_data_.emplace(*external_data);
}

et::Error MethodState::load(const Program& program, const char* name, et::Span<const et::Kernel> kernels) {
  auto meta = program.method_meta(name);
  // Officially, a missing method is an invalid argument.
  if (!meta.ok())
    return meta.error() == Error::NotFound ? et::Error::InvalidArgument : official(meta.error());
  auto arena_bytes = meta->arena_bytes();
  if (!arena_bytes.ok()) return official(arena_bytes.error());
  // The runtime allocates nothing beyond this arena, so one request to the allocator suffices.
  auto* values = static_cast<uint8_t*>(memory_->method_allocator()->allocate(*arena_bytes, 16));
  ET_CHECK_OR_RETURN_ERROR(values != nullptr, MemoryAllocationFailed,
                           "method %s: method allocator: %zu bytes do not fit", name, *arena_bytes);
  arena_ = Arena({values, *arena_bytes});
  if (memory_->planned_memory() != nullptr) {
    for (const auto& buffer : memory_->planned_memory()->buffers()) {
      planned_.push_back({buffer.data(), buffer.size()});
    }
  }
  // Tables and options must be at their final addresses, because the method keeps pointers to them.
  list_backends();
  MemoryManager memory;
  memory.method = &arena_;
  memory.planned = {planned_.data(), planned_.size()};
  memory.temporary = &temporary_;
  MethodOptions options;
  options.backends = &backend_table_;
  options.external_data = external_data_.has_value() ? external_data_->get() : nullptr;
  options.tracer = tracer_.get();
  // No scratch yet: prepare() provides it, and execute() replaces it in each call.
#ifdef USE_ATEN_LIB
  // PyTorch computes what no kernel here does.
  aten_operators_.emplace(all_operators());
  ET_CHECK_OK_OR_RETURN_ERROR(official(aten_operators_->add(program)));
  const OperatorTable& table = operators(kernels, aten_operators_->table());
#else
  const OperatorTable& table = operators(kernels, all_operators());
#endif
  auto method = Method::load(program, name, memory, table, options);
  if (!method.ok()) return official(method.error());
  method_.emplace(std::move(*method));
  has_input.assign(meta->num_inputs(), false);
  return official(prepare());
}

// Packs constants into heap memory, like rushlight::Module, because callers provide no memory for it: first
// measures what kernels request, then allocates and prepares. Scratch is replaced in `temporary_` itself, to
// which the method has a pointer.
Error MethodState::prepare() {
  scratch_.resize(method_->preparing_bytes());
  temporary_ = Arena({scratch_.data(), scratch_.size()});
  Preparation needs;
  // No limit: the official API has no setting for one.
  RL_TRY(weights_.measure(*method_, UINT64_MAX, &needs));
  scratch_.resize(std::max(scratch_.size(), needs.scratch_bytes));
  temporary_ = Arena({scratch_.data(), scratch_.size()});
  // Without this memory kernels pack weights on each call.
  if (weights_.extend(needs.prepared_bytes + needs.index_bytes))
    RL_TRY(method_->prepare(&weights_.weights()));
  temporary_ = Arena();
  scratch_.resize(needs.scratch_bytes);
  return Error::Ok;
}

// Puts each kernel's operator before the registered ones; kernels with the same name form one operator.
const OperatorTable& MethodState::operators(et::Span<const et::Kernel> kernels, const OperatorTable& others) {
  const OperatorTable* first = &others;
  for (const et::Kernel& kernel : kernels) {
    RegisteredOperator* entry = nullptr;
    for (auto& own : own_operators_) {
      if (std::strcmp(own->name, kernel.name_) == 0) entry = own.get();
    }
    // Each new operator precedes the tables so far, so that it is found first and has the others as fallback.
    if (entry == nullptr) {
      entry = own_operators_.emplace_back(std::make_unique<RegisteredOperator>()).get();
      init_operator(entry, kernel.name_, first);
      first = &entry->table;
    }
    add_choice(entry, choices_.emplace_back(std::make_unique<Choice>()).get(), &kernel);
  }
  return *first;
}

void MethodState::list_backends() {
  const auto registered = registered_backends();
  // Entries point to the adapters, so the vector must not grow later.
  backends_.reserve(registered.size());
  for (const et::Backend& backend : registered) {
    backends_.emplace_back(backend, this);
    backend_entries_.push_back({backend.name, &backends_.back()});
  }
  backend_table_ = {backend_entries_.data(), backend_entries_.size(), &selected_backends};
}

et::Error MethodState::execute() {
  et::MemoryAllocator* allocator = memory_->temp_allocator();
  if (allocator == nullptr) allocator = &platform_memory_;
  // The scratch that measure() found replaces a smaller block.
  const Span<uint8_t> block = take_block(*allocator);
  temporary_ =
      Arena(block.size() < scratch_.size() ? Span<uint8_t>(scratch_.data(), scratch_.size()) : block);
  // Adopts the tracer's levels, which may have changed since the last execution.
  static_cast<void>(tracer_.get());
  const Error error = method_->execute();
  // The block belongs to the allocator again; nothing of it may be used between executions.
  temporary_ = Arena();
  allocator->reset();
  return official(error);
}

}  // namespace rushlight::compatRUSHLIGHT_TENSOR_MODE
