// SPDX-License-Identifier: BSD-3-Clause
// Invariants, checked by require(): memory of exactly the requested size suffices and one byte less is
// refused; a method that was measured can be prepared; accessors refuse indices beyond their counts; each key
// of a data map loads in full and not beyond. Values of outputs are only read, for the sanitizers.
#include "tests/fuzz/program_case.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "runtime/program/program_data_map.h"
#include "tests/fuzz/heap.h"
#include "tests/fuzz/inputs.h"
#include "tests/fuzz/load_method.h"
#include "tests/fuzz/program_modes.h"
#include "tests/fuzz/require.h"

namespace rushlight::fuzz {

namespace {

constexpr size_t kMaxMethods = 8;
constexpr int kExecutions = 3;
constexpr size_t kTemporary = 16384;

void note(Error error, Outcome* outcome) {
  if (outcome->error == Error::Ok) outcome->error = error;
}

// Reads all metadata of a method, and some beyond the last entry.
void describe(const MethodMeta& meta) {
  uint64_t sum = std::strlen(meta.name());
  const size_t counts[] = {meta.num_inputs(), meta.num_outputs()};
  for (const bool outputs : {false, true}) {
    for (size_t i = 0; i <= std::min<size_t>(counts[outputs], 64); ++i) {
      const auto tag = outputs ? meta.output_tag(i) : meta.input_tag(i);
      require(i < counts[outputs] || !tag.ok(), "a tag for a missing value");
      const auto info = outputs ? meta.output_tensor(i) : meta.input_tensor(i);
      if (!info.ok()) continue;
      for (const int32_t size : info->sizes) sum += static_cast<uint32_t>(size);
      for (const uint8_t d : info->dim_order) sum += d;
    }
  }
  for (size_t i = 0; i <= std::min<size_t>(meta.num_planned_buffers(), 64); ++i) {
    const auto size = meta.planned_buffer_size(i);
    require(i < meta.num_planned_buffers() || !size.ok(), "a size for a missing buffer");
    static_cast<void>(meta.planned_buffer_device(i));
  }
  for (size_t i = 0; i <= std::min<size_t>(meta.num_backends(), 64); ++i) {
    const auto name = meta.backend_name(i);
    require(name.ok() == (i < meta.num_backends()), "a missing backend");
    if (name.ok()) require(meta.uses_backend(*name), "a backend that is not used");
  }
  for (const size_t pointer_bytes : {4, 8}) static_cast<void>(meta.arena_bytes(pointer_bytes));
  keep(sum);
}

class MethodCase {
 public:
  MethodCase(const Program& program, const MethodMeta& meta, const NamedDataMap* external, Choices& choices)
      : program_(program), meta_(meta), external_(external), choices_(choices) {}

  void run(Outcome* outcome, const Then& then) {
    const auto arena_bytes = meta_.arena_bytes();
    if (!arena_bytes.ok()) return note(arena_bytes.error(), outcome);
    if (!claim(*arena_bytes)) return note(Error::MemoryAllocationFailed, outcome);
    require_short_memory_is_refused(*arena_bytes);
    auto method = load(arena_.data(), *arena_bytes);
    if (!method.ok()) {
      require(method.error() != Error::MemoryAllocationFailed,
              "too little memory, and it was what it asked for");
      return note(method.error(), outcome);
    }
    outcome->stage = std::max(outcome->stage, Stage::Loaded);
    if (choices_.one_in(2)) {
      const Error error = prepare(*method);
      if (error != Error::Ok) return note(error, outcome);
    }
    for (int i = 0; i < kExecutions; ++i) {
      const Error error = execute(*method);
      note(error, outcome);
      if (error == Error::Ok) outcome->stage = Stage::Executed;
    }
    if (then) then(*method);
    execute_prepared(*arena_bytes, outcome);
  }

 private:
  // Loads a separate method, as hosts do: its prepared weights get exactly the memory that it asks for.
  void execute_prepared(size_t arena_bytes, Outcome* outcome) {
    Heap heap;
    auto method = load(heap.allocate(arena_bytes).data(), arena_bytes);
    Preparation needs;
    if (!method.ok() || method->measure(nullptr, &needs) != Error::Ok || needs.index_bytes == 0) return;
    const Span<uint8_t> memory = heap.allocate(needs.prepared_bytes + needs.index_bytes);
    if (memory.data() == nullptr) return;
    PreparedWeights weights(memory);
    require(method->prepare(&weights) == Error::Ok, "a method that was measured cannot be prepared");
    note(execute(*method), outcome);
  }

  bool claim(size_t arena_bytes) {
    arena_ = heap_.allocate(arena_bytes);
    if (arena_.data() == nullptr) return false;
    for (size_t i = 0; i < meta_.num_planned_buffers(); ++i) {
      const auto size = meta_.planned_buffer_size(i);
      // A buffer that cannot be allocated is passed as an empty span, and the method must refuse it.
      memory_.planned.push_back(size.ok() ? heap_.allocate(*size) : Span<uint8_t>());
      if (size.ok() && *size > 0 && memory_.planned.back().data() == nullptr) return false;
      if (i == 64) return false;
    }
    const size_t temporary = choices_.of<size_t>({0, 64, 1024, kTemporary, kTemporary, kTemporary});
    memory_.temporary = Arena(heap_.allocate(temporary));
    return true;
  }

  Result<Method> load(uint8_t* memory, size_t size) {
    memory_.method = Arena({memory, size});
    return load_method(program_, meta_, memory_, external_);
  }

  // Prepares in exactly the memory that the method asks for.
  Error prepare(Method& method) {
    memory_.temporary = Arena(heap_.allocate(method.preparing_bytes()));
    Preparation needs;
    const Error error = method.measure(nullptr, &needs);
    if (error != Error::Ok) return error;
    memory_.temporary = Arena(heap_.allocate(std::max(method.preparing_bytes(), needs.scratch_bytes)));
    weights_ = PreparedWeights(heap_.allocate(needs.prepared_bytes + needs.index_bytes));
    return method.prepare(&weights_);
  }

  // A name that several methods share finds the first one.
  [[nodiscard]] bool is_found_by_name() const {
    const auto found = program_.method_meta(meta_.name());
    return found.ok() && found->plan().address() == meta_.plan().address();
  }

  void require_short_memory_is_refused(size_t arena_bytes) {
    if (!is_found_by_name()) return;
    if (arena_bytes > 0) {
      Heap heap;
      const size_t size = arena_bytes - 1;
      const auto method = load(heap.allocate(size).data(), size);
      require(!method.ok(), "a method loaded into an arena that is a byte short");
    }
    for (Span<uint8_t>& buffer : memory_.planned) {
      if (buffer.empty()) continue;
      Heap heap;
      const Span<uint8_t> whole = buffer;
      buffer = heap.allocate(whole.size() - 1);
      Heap arena;
      const auto method = load(arena.allocate(arena_bytes).data(), arena_bytes);
      require(!method.ok(), "a method loaded into a planned buffer that is a byte short");
      buffer = whole;
      break;  // one short buffer is enough
    }
  }

  Error execute(Method& method) {
    Error error = Error::Ok;
    Inputs inputs(heap_, choices_);
    for (size_t i = 0; i < std::min<size_t>(meta_.num_inputs(), 64); ++i) {
      EValue value;
      if (!inputs.make(meta_, i, &value)) continue;
      const Error set = method.set_input(i, value);
      if (error == Error::Ok) error = set;
    }
    give_outputs(method);
    const Error executed = method.execute();
    if (executed == Error::Ok) read_outputs(method);
    return executed == Error::Ok ? error : executed;
  }

  void give_outputs(Method& method) {
    for (size_t i = 0; i < std::min<size_t>(meta_.num_outputs(), 64); ++i) {
      const EValue& value = method.output(i);
      if (!value.is_tensor() || value.to_tensor().const_data_ptr() != nullptr) continue;
      const TensorImpl* tensor = value.payload.as_tensor.impl();
      const size_t size = tensor->numel_bound() * element_size(tensor->scalar_type());
      const Span<uint8_t> memory = heap_.allocate(size);
      if (memory.data() == nullptr) continue;
      if (size > 0) {
        require(method.set_output_buffer(i, {memory.data(), size - 1}) != Error::Ok,
                "an output took a buffer that is a byte short");
      }
      static_cast<void>(method.set_output_buffer(i, memory));
    }
  }

  void read_outputs(Method& method) {
    for (size_t i = 0; i < std::min<size_t>(meta_.num_outputs(), 64); ++i) read_value(method.output(i));
  }

  const Program& program_;
  const MethodMeta& meta_;
  const NamedDataMap* external_;
  Choices& choices_;
  Heap heap_;
  Span<uint8_t> arena_;
  MethodMemory memory_;
  PreparedWeights weights_;
};

}  // namespace

Outcome run_program(DataLoader& loader, const NamedDataMap* external, Choices& choices, const Then& then) {
  Outcome outcome;
  const auto program = Program::load(loader);
  if (!program.ok()) return {Stage::Refused, program.error()};
  read_map(ProgramDataMap(*program));
  for (size_t i = 0; i < std::min(program->num_methods(), kMaxMethods); ++i) {
    const auto meta = program->method_meta(program->method_name(i));
    if (!meta.ok()) {
      note(meta.error(), &outcome);
      continue;
    }
    describe(*meta);
    MethodCase(*program, *meta, external, choices).run(&outcome, then);
    require_same_in_all_modes(*program, *meta, external, choices.word());
  }
  return outcome;
}

void read_map(const NamedDataMap& map) {
  constexpr uint32_t kMaxKeys = 64;
  const auto count = map.num_keys();
  if (!count.ok()) return;
  for (uint32_t i = 0; i < std::min(*count, kMaxKeys); ++i) {
    const auto key = map.key(i);
    require(key.ok(), "a missing key");
    const auto data = map.data(*key);
    if (!data.ok()) continue;
    read_bytes(data->bytes());
    Heap heap;
    const Span<uint8_t> copy = heap.allocate(data->size());
    if (copy.data() == nullptr) continue;
    require(map.load_into(*key, copy.data(), copy.size()) == Error::Ok,
            "a key that loads, and does not load");
    require(map.load_into(*key, copy.data(), copy.size() + 1) != Error::Ok, "more bytes than a key has");
    const auto layout = map.tensor_layout(*key);
    if (!layout.ok()) continue;
    require(layout->nbytes <= data->size(), "a tensor that is larger than its data");
    uint64_t sum = 0;
    for (const int32_t size : layout->sizes) sum += static_cast<uint32_t>(size);
    for (const uint8_t d : layout->dim_order) sum += d;
    keep(sum);
  }
  require(!map.key(*count).ok(), "a key beyond the last");
}

}  // namespace rushlight::fuzz
