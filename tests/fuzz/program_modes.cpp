// SPDX-License-Identifier: BSD-3-Clause
// The run on one thread in zeroed memory gives the expected results. A second run in memory of other bytes
// finds programs that read memory before they write it, whose results mean nothing; only the others are
// compared.
#include "tests/fuzz/program_modes.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <vector>

#include "runtime/executor/method.h"
#include "runtime/kernel/random.h"
#include "runtime/program/schema.h"
#include "tests/fuzz/heap.h"
#include "tests/fuzz/inputs.h"
#include "tests/fuzz/load_method.h"
#include "tests/fuzz/pieces.h"
#include "tests/fuzz/require.h"
#include "tests/fuzz/results.h"

namespace rushlight::fuzz {

namespace {

constexpr size_t kTemporary = 1 << 18;
constexpr size_t kMost = 64;  // inputs, outputs, planned buffers

struct Mode {
  bool in_pieces = false;
  bool prepares = false;
  uint8_t before = 0;  // each byte of planned memory
};

// True if no call has two overlapping tensors of which it may write one.
bool are_apart(const Method& method) {
  struct Range {
    int32_t value;
    const uint8_t *begin, *end;
  };
  const auto values = method.meta().plan().tables(schema::plan::kValues);
  const auto operators = method.meta().plan().tables(schema::plan::kOperators);
  const auto chains = method.meta().plan().tables(schema::plan::kChains);
  for (size_t c = 0; c < chains.size(); ++c) {
    const auto instructions = chains[c].tables(schema::chain::kInstructions);
    for (size_t i = 0; i < instructions.size(); ++i) {
      const auto kind = instructions[i].scalar<uint8_t>(schema::instruction::kInstrArgsType);
      if (kind != static_cast<uint8_t>(schema::InstructionKind::KernelCall)) continue;
      const auto call = instructions[i].table(schema::instruction::kInstrArgs);
      const auto op = operators[static_cast<size_t>(call.scalar<int32_t>(schema::kernel_call::kOpIndex))];
      // et_view writes no memory: its result is a view.
      if (std::strcmp(op.string(schema::operator_name::kName), "executorch_prim::et_view") == 0) continue;
      std::vector<Range> ranges;
      for (const int32_t value : call.vector<int32_t>(schema::kernel_call::kArgs)) {
        if (value < 0) continue;
        const auto held = values[static_cast<size_t>(value)].scalar<uint8_t>(schema::evalue::kValType);
        if (held == static_cast<uint8_t>(schema::ValueKind::TensorList) ||
            held == static_cast<uint8_t>(schema::ValueKind::OptionalTensorList)) {
          return false;
        }
        if (held != static_cast<uint8_t>(schema::ValueKind::Tensor)) continue;
        const Tensor tensor = method.tensor(static_cast<size_t>(value));
        const auto* begin = static_cast<const uint8_t*>(tensor.const_data_ptr());
        const size_t size = tensor.impl()->numel_bound() * tensor.element_size();
        ranges.push_back({value, begin, begin == nullptr ? nullptr : begin + size});
      }
      // The last tensor is written, and others may be. The official exporter lists it twice, the second time
      // as the returned value.
      if (ranges.size() > 1 && ranges.back().value == ranges[ranges.size() - 2].value) ranges.pop_back();
      for (size_t a = 0; a < ranges.size(); ++a) {
        for (size_t b = a + 1; b < ranges.size(); ++b) {
          if (ranges[a].value == ranges[b].value) {
            if (b + 1 == ranges.size()) return false;
          } else if (ranges[a].begin < ranges[b].end && ranges[b].begin < ranges[a].end) {
            return false;
          }
        }
      }
    }
  }
  return true;
}

// True if float32 sums of the elements agree in any order: large elements may cancel each other.
bool is_moderate(const TensorImpl& tensor) {
  if (tensor.scalar_type() != ScalarType::Float || tensor.data() == nullptr) return true;
  constexpr float kMost = 1e6f;
  const auto* elements = static_cast<const float*>(tensor.data());
  return std::none_of(elements, elements + tensor.numel(),
                      [](float value) { return std::isfinite(value) && std::fabs(value) > kMost; });
}

class Run {
 public:
  Run(const Program& program, const MethodMeta& meta, const NamedDataMap* external, uint64_t seed)
      : program_(program), meta_(meta), external_(external), choices_(seed) {}

  // Empty if the method cannot be loaded, fails, or is left out.
  std::optional<Results> results(const Mode& mode) {
    if (meta_.num_backends() > 0 || !load(mode.before, mode.in_pieces) || !are_apart(*method_)) return {};
    if (mode.prepares && !prepare()) return {};
    Results results;
    set_seed(kDefaultSeed);
    results.error = execute();
    if (results.error != Error::Ok) return {};
    for (size_t i = 0; i < meta_.num_outputs(); ++i) {
      const EValue& value = method_->output(i);
      if (value.is_tensor()) results.add(*value.payload.as_tensor.impl());
    }
    return results;
  }

  // True if the inputs and constants of this run are moderate.
  bool is_moderate() const {
    for (size_t i = 0; i < meta_.num_inputs(); ++i) {
      const EValue& value = method_->input(i);
      if (value.is_tensor() && !fuzz::is_moderate(*value.payload.as_tensor.impl())) return false;
    }
    const auto values = meta_.plan().tables(schema::plan::kValues);
    for (size_t i = 0; i < values.size(); ++i) {
      const auto kind = values[i].scalar<uint8_t>(schema::evalue::kValType);
      if (kind != static_cast<uint8_t>(schema::ValueKind::Tensor)) continue;
      const TensorImpl& tensor = *method_->tensor(i).impl();
      if (tensor.storage() == Storage::Constant && !fuzz::is_moderate(tensor)) return false;
    }
    return true;
  }

 private:
  bool load(uint8_t before, bool in_pieces) {
    const auto arena_bytes = meta_.arena_bytes();
    if (!arena_bytes.ok() || meta_.num_planned_buffers() > kMost || meta_.num_outputs() > kMost) return false;
    for (size_t i = 0; i < meta_.num_planned_buffers(); ++i) {
      const auto size = meta_.planned_buffer_size(i);
      if (!size.ok()) return false;
      memory_.planned.push_back(heap_.allocate(*size));
      if (memory_.planned.back().data() == nullptr) return false;
      std::memset(memory_.planned.back().data(), before, *size);
    }
    memory_.method = Arena(heap_.allocate(*arena_bytes));
    memory_.temporary = Arena(heap_.allocate(kTemporary));
    auto method = load_method(program_, meta_, memory_, external_, in_pieces ? &pieces_ : nullptr);
    if (!method.ok()) return false;
    method_.emplace(std::move(*method));
    return true;
  }

  bool prepare() {
    Preparation needs;
    if (method_->measure(nullptr, &needs) != Error::Ok) return false;
    weights_ = PreparedWeights(heap_.allocate(needs.prepared_bytes + needs.index_bytes));
    return method_->prepare(&weights_) == Error::Ok;
  }

  Error execute() {
    Inputs inputs(heap_, choices_);
    for (size_t i = 0; i < meta_.num_inputs(); ++i) {
      EValue value;
      if (i == kMost || !inputs.make(meta_, i, &value)) return Error::NotSupported;
      const Error error = method_->set_input(i, value);
      if (error != Error::Ok) return error;
    }
    for (size_t i = 0; i < meta_.num_outputs(); ++i) {
      const EValue& value = method_->output(i);
      if (!value.is_tensor() || value.to_tensor().const_data_ptr() != nullptr) continue;
      const TensorImpl* tensor = value.payload.as_tensor.impl();
      const Span<uint8_t> memory =
          heap_.allocate(tensor->numel_bound() * element_size(tensor->scalar_type()));
      const Error error =
          memory.data() == nullptr ? Error::MemoryAllocationFailed : method_->set_output_buffer(i, memory);
      if (error != Error::Ok) return error;
    }
    return method_->execute();
  }

  const Program& program_;
  const MethodMeta& meta_;
  const NamedDataMap* external_;
  Choices choices_;
  Heap heap_;
  Pieces pieces_;
  MethodMemory memory_;
  PreparedWeights weights_;
  std::optional<Method> method_;
};

}  // namespace

void require_same_in_all_modes(const Program& program, const MethodMeta& meta, const NamedDataMap* external,
                               uint64_t seed) {
  const auto run = [&](const Mode& mode) { return Run(program, meta, external, seed).results(mode); };
  Run first(program, meta, external, seed);
  const auto plain = first.results({});
  if (!plain) return;
  Mode mode;
  mode.before = 0x71;
  const auto other_memory = run(mode);
  if (!other_memory || !are_same(*plain, *other_memory)) return;  // some memory is read before it is written
  mode = {};
  mode.in_pieces = true;
  const auto in_pieces = run(mode);
  require(in_pieces && are_same(*plain, *in_pieces), "another result of a program in pieces");
  if (!first.is_moderate()) return;  // prepared weights are summed in another order
  mode.prepares = true;
  for (const bool cut : {false, true}) {
    mode.in_pieces = cut;
    const auto prepared = run(mode);
    require(prepared && are_close(*plain, *prepared), "another result of a program that was prepared");
  }
}

}  // namespace rushlight::fuzz
