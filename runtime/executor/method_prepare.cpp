// SPDX-License-Identifier: BSD-3-Clause
// Preparation of a method: sizes scratch, lets kernels prepare constants (for example pack weights), and
// folds calls whose arguments are all constants. One pass over the calls; ValueUses (value_uses.h) tells
// which values are constant.
#include <cstring>
#include <optional>

#include "runtime/base/checked.h"
#include "runtime/base/log.h"
#include "runtime/executor/call_key.h"
#include "runtime/executor/method.h"
#include "runtime/executor/value_uses.h"
#include "runtime/program/schema.h"

namespace rushlight {

using flatbuffer::Table;
using flatbuffer::TableVector;
using schema::InstructionKind;

namespace {

// Limit for folding: the result's size as a multiple of the size of its constants. Without it, expanding a
// scalar to a large tensor would store the tensor.
constexpr size_t kMostGrowth = 8;

// Index of the only written argument, if there is exactly one and it is a tensor; otherwise the signature's
// length.
size_t find_written(const char* signature) {
  const char* written = std::strpbrk(signature, "wke");
  if (written == nullptr || *written != 'w' || std::strpbrk(written + 1, "wke") != nullptr)
    return std::strlen(signature);
  return static_cast<size_t>(written - signature);
}

}  // namespace

// Visits all calls in program order. While sizes are only counted, results of folded calls are marked
// constant until the pass ends, so that calls that depend on them are counted too.
class MethodPreparer {
 public:
  MethodPreparer(Method& method, Preparation* preparation) : method_(method), preparation_(preparation) {
    // Without temporary memory for the analysis, no value counts as constant: kernels only size their
    // scratch.
    if (method.frame_.temporary == nullptr || method.frame_.temporary->size() < method.preparing_bytes())
      return;
    scratch_ = *method.frame_.temporary;  // a copy: allocations here are not the kernels'
    scratch_.reset();
    uses_.emplace(method.plan_, method.frame_.values, method.kernels_, method.num_planned(), &scratch_);
    if (!uses_->ok()) uses_.reset();
  }

  static Error measure(Method& method, Preparation* needs) {
    if (!has_prepare(method)) return Error::Ok;
    RL_TRY(MethodPreparer(method, needs).run());
    // For prepare(): a pointer per instruction, and its alignment.
    needs->index_bytes = method.num_instructions() * sizeof(void*) + alignof(void*);
    return Error::Ok;
  }

  static Error prepare(Method& method, PreparedWeights* weights) {
    if (!has_prepare(method)) return Error::Ok;
    const size_t count = method.num_instructions();
    size_t bytes = 0;
    // If the index does not fit, nothing is prepared; execution is slower and equal.
    if (!checked_mul(count, sizeof(void*), &bytes)) return Error::Ok;
    auto* prepared = static_cast<const void**>(weights->arena().allocate(bytes, alignof(void*)));
    if (prepared == nullptr) return Error::Ok;
    for (size_t i = 0; i < count; ++i) prepared[i] = nullptr;
    method.prepared_ = prepared;
    Preparation preparation;
    preparation.weights = weights;
    return MethodPreparer(method, &preparation).run();
  }

 private:
  static bool has_prepare(const Method& method) {
    const size_t count = method.plan_.tables(schema::plan::kOperators).size();
    for (size_t i = 0; i < count; ++i) {
      if (method.kernels_[i]->prepare != nullptr) return true;
    }
    return false;
  }

  Error run() {
    const Error error = prepare_calls();
    // measure() has only pretended: tensors get back their planned memory.
    if (preparation_->weights == nullptr && uses_.has_value()) restore();
    return error;
  }

  struct Call {
    const KernelEntry& kernel;
    Span<const int32_t> indices;
    size_t number;
  };

  Error prepare_calls() {
    const TableVector chains = method_.plan_.tables(schema::plan::kChains);
    size_t number = 0;
    Method::Budget budget = {UINT64_MAX, 0};  // only polls the interrupt
    for (size_t c = 0; c < chains.size(); ++c) {
      const TableVector instructions = chains[c].tables(schema::chain::kInstructions);
      for (size_t i = 0; i < instructions.size(); ++i, ++number) {
        const Table instruction = instructions[i];
        if (instruction.scalar<uint8_t>(schema::instruction::kInstrArgsType) !=
            static_cast<uint8_t>(InstructionKind::KernelCall))
          continue;
        const Table call = instruction.table(schema::instruction::kInstrArgs);
        const KernelEntry& kernel = *method_.kernels_[call.scalar<int32_t>(schema::kernel_call::kOpIndex)];
        if (kernel.prepare == nullptr) continue;
        RL_TRY(method_.count_instruction(&budget, i));
        const auto indices = call.vector<int32_t>(schema::kernel_call::kArgs);
        method_.frame_.values.gather(indices, method_.frame_.arguments);
        RL_TRY(prepare_call({kernel, indices, number}));
      }
    }
    return Error::Ok;
  }

  Error prepare_call(const Call& call) {
    const bool stays = arguments_stay(call);
    if (call.kernel.folds()) {
      if (stays) fold(call);
      return Error::Ok;
    }
    // Data derived from a constant must not be used for another: without constant arguments only scratch is
    // sized.
    Preparation scratch_only;
    Preparation* preparation = stays ? preparation_ : &scratch_only;
    preparation->prepared = nullptr;
    preparation->work = {};
    KernelContext context(preparation, call.kernel, call.indices.size(), method_.frame_.threads);
    const Error error = call.kernel.function(context, method_.frame_.arguments, call.kernel.prepare);
    RL_CHECK(error == Error::Ok, error, "operator %s, instruction %lu, preparing: %s", call.kernel.name,
             log_number(call.number), to_string(error));
    // A kernel's scratch is reset after each call, so the largest one counts.
    if (preparation_->scratch_bytes < preparation->scratch_bytes)
      preparation_->scratch_bytes = preparation->scratch_bytes;
    if (method_.prepared_ != nullptr) method_.prepared_[call.number] = preparation->prepared;
    if (preparation_->works != nullptr) preparation_->works[call.number] = preparation->work;
    return Error::Ok;
  }

  // Returns true if the values that the call reads keep their number, or their tensor and its memory.
  [[nodiscard]] bool arguments_stay(const Call& call) const {
    if (!uses_.has_value()) return false;
    for (size_t i = 0; call.kernel.signature[i] != '\0'; ++i) {
      if (uses_->changes(static_cast<size_t>(call.indices[i]))) return false;
    }
    return true;
  }

  // Folds the call if its result is written by nothing else and its arguments are constants. The result is
  // then a constant as well.
  void fold(const Call& call) {
    const size_t written = find_written(call.kernel.signature);
    if (call.kernel.signature[written] == '\0') return;
    const auto index = static_cast<size_t>(call.indices[written]);
    TensorImpl* out = method_.frame_.arguments[written]->payload.as_tensor.impl();
    const bool folded_before = out->storage() == Storage::Constant;  // programs write to no constant
    if (!folded_before && !(uses_->is_written_once(index) && fold(call, written, out))) return;
    if (method_.prepared_ != nullptr) method_.prepared_[call.number] = method_.prepared_;
  }

  bool fold(const Call& call, size_t written, TensorImpl* out) {
    if (out->storage() != Storage::Planned || out->shape_dynamism() != TensorShapeDynamism::STATIC)
      return false;
    const auto index = static_cast<size_t>(call.indices[written]);
    const void* source = find_constants(call, written, out->nbytes());
    if (source == nullptr) return false;
    const uint64_t key = call_key(call.kernel, method_.frame_.arguments);
    if (preparation_->weights == nullptr) {
      if (!preparation_->count(source, key, out->nbytes())) return false;
      // While sizes are counted, the planned memory stands for the result, unless another method has computed
      // it: addresses are compared, contents are not read.
      const PreparedWeights* shared = preparation_->shared;
      void* there = shared == nullptr ? nullptr : shared->find(source, key, out->nbytes());
      set_constant(index, there == nullptr ? out->mutable_data() : there);
      return true;
    }
    void* made = preparation_->weights->find(source, key, out->nbytes());
    if (made == nullptr) made = make(call, source, key, out);
    if (made != nullptr) set_constant(index, made);
    return made != nullptr;
  }

  // Moves the tensor and its aliases to constant memory.
  void set_constant(size_t value, void* made) {
    auto* planned = method_.frame_.values.tensor(value).mutable_data_ptr<uint8_t>();
    // An alias keeps its offset in the moved tensor.
    uses_->for_each_view(value, [&](size_t view) {
      const auto* shown = method_.frame_.values.tensor(view).const_data_ptr<uint8_t>();
      move(view, static_cast<uint8_t*>(made) + (shown - planned));
    });
    move(value, made);
  }

  void move(size_t value, void* to) {
    method_.frame_.values.tensor(value).impl()->set_data(to, Storage::Constant);
  }

  // Returns the memory of the first tensor that the call reads; null unless all are constant and not much
  // smaller than the result.
  [[nodiscard]] const void* find_constants(const Call& call, size_t written, size_t result_bytes) const {
    const void* source = nullptr;
    size_t bytes = 0;
    bool constant = true;
    for (size_t i = 0; call.kernel.signature[i] != '\0'; ++i) {
      if (i == written) continue;
      // The first tensor stands for the call in the index of prepared data; the key tells calls with the same
      // one apart.
      for_each_tensor(*method_.frame_.arguments[i], [&](const Tensor& tensor) {
        constant = constant && tensor.impl()->storage() == Storage::Constant;
        if (source == nullptr) source = tensor.const_data_ptr();
        bytes += tensor.nbytes();
      });
    }
    return constant && bytes != 0 && result_bytes != 0 && result_bytes / kMostGrowth <= bytes ? source
                                                                                              : nullptr;
  }

  // Computes the result in the memory of prepared constants. Returns null if it does not fit or the call
  // fails; the call then fails again at execution, where the error is reported.
  void* make(const Call& call, const void* source, uint64_t key, TensorImpl* out) {
    void* made = preparation_->weights->add(source, key, out->nbytes());
    if (made == nullptr) return nullptr;
    void* planned = out->mutable_data();
    // Planned, so that the kernel may write it.
    out->set_data(made, Storage::Planned);
    // A copy: what the kernel allocates ends with the block.
    Arena temporary = scratch_;
    KernelContext context(&temporary, nullptr, call.kernel, call.indices.size(), method_.frame_.threads);
    const Error error = call.kernel.call(context, method_.frame_.arguments);
    out->set_data(planned, Storage::Planned);
    if (error == Error::Ok) return made;
    preparation_->weights->drop_last();
    RL_LOG(Info, "operator %s, instruction %lu, with constants: %s", call.kernel.name,
           log_number(call.number), to_string(error));
    return nullptr;
  }

  void restore() {
    for (const Slot& slot : uses_->slots()) {
      TensorImpl* tensor = method_.frame_.values.tensor(slot.value).impl();
      tensor->set_data(reinterpret_cast<void*>(slot.begin), Storage::Planned);
    }
  }

  Method& method_;
  Preparation* preparation_;
  Arena scratch_;
  std::optional<ValueUses> uses_;
};

const PrepareSupport prepare_support = {&MethodPreparer::measure, &MethodPreparer::prepare};

}  // namespace rushlight
