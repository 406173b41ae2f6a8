// SPDX-License-Identifier: BSD-3-Clause
// Recorded calls of every operator, changed. An input of four bytes is the index of a call, which itself must
// succeed; all its single changes and memory plans are tried. Any other input chooses several changes of one
// call.
//
// Each call runs on one thread and in pieces in another order, with much and with little scratch memory, and
// with prepared constants if the kernel prepares any; successful calls must give equal results. With
// overlapping tensors results are undefined, and only the sanitizers judge. RUSHLIGHT_FUZZ_LOG logs the
// calls.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "kernels/backs/portable_entry.h"
#include "runtime/executor/arguments.h"
#include "runtime/kernel/random.h"
#include "tests/fuzz/built_call.h"
#include "tests/fuzz/call_edits.h"
#include "tests/fuzz/pieces.h"
#include "tests/fuzz/require.h"
#include "tests/fuzz/results.h"
#include "tests/fuzz/target.h"

namespace rushlight::fuzz {

namespace {

constexpr size_t kTemporary = 1 << 19;  // enough for every recorded call
constexpr size_t kLittle = 64;

// The variant of a call.
struct Mode {
  bool is_dynamic = false;
  bool prepares = false;
  const RecordedCall* prepared_for = nullptr;  // another call, with larger inputs
  bool in_pieces = false;
  bool has_little = false;  // scratch memory
};

// Prepares the call's constants with the kernel: every tensor that it reads, except the first.
Error prepare(const KernelEntry& kernel, const BuiltCall& built, ThreadPool* threads, Heap* heap,
              const void** prepared) {
  bool is_first = true;
  for (const BuiltCall::Built& tensor : built.tensors()) {
    if (!tensor.is_written && !is_first)
      tensor.impl->set_data(tensor.impl->mutable_data(), Storage::Constant);
    is_first = false;
  }
  const auto run = [&](Preparation* preparation) {
    KernelContext context(preparation, kernel, built.arguments().size(), threads);
    return kernel.function(context, built.arguments().data(), kernel.prepare);
  };
  Preparation needs;
  RL_TRY(run(&needs));
  PreparedWeights weights(heap->allocate(needs.prepared_bytes));
  Preparation making;
  making.weights = &weights;
  RL_TRY(run(&making));
  *prepared = making.prepared;
  return Error::Ok;
}

// Large blocks are slow to allocate, and all calls may share one.
Span<uint8_t> scratch(const Mode& mode) {
  static Heap heap;
  static const Span<uint8_t> large = heap.allocate(kTemporary);
  static const Span<uint8_t> small = heap.allocate(kLittle);
  const Span<uint8_t> block = mode.has_little ? small : large;
  std::memset(block.data(), 0x71, std::min<size_t>(block.size(), 4096));
  return block;
}

Results call(const RecordedCall& recorded, const KernelEntry& kernel, const MemoryPlan& plan,
             const Mode& mode) {
  Results called;
  const BuiltCall built(recorded, kernel, plan, mode.is_dynamic);
  if (!built.is_built()) return called;
  const Span<EValue* const> arguments = built.arguments();
  called.error = check_kinds(kernel, arguments);
  if (called.error != Error::Ok) return called;
  Heap heap;
  Pieces pieces;
  ThreadPool* threads = mode.in_pieces ? &pieces : nullptr;
  const void* prepared = nullptr;
  std::optional<BuiltCall> larger;
  if (mode.prepared_for != nullptr) larger.emplace(*mode.prepared_for, kernel, plan, mode.is_dynamic);
  if (mode.prepares) called.error = prepare(kernel, larger ? *larger : built, threads, &heap, &prepared);
  if (called.error == Error::Ok) called.error = check_tensors(kernel, arguments.data(), When::Running);
  if (called.error != Error::Ok) return called;
  Arena temporary(scratch(mode));
  set_seed(kDefaultSeed);
  KernelContext context(&temporary, nullptr, kernel, arguments.size(), threads, prepared);
  called.error = kernel.call(context, arguments.data());
  for (const BuiltCall::Built& tensor : built.tensors()) {
    if (tensor.is_written) called.add(*tensor.impl);
  }
  return called;
}

void set_shapes(RecordedCall* recorded, const KernelEntry& kernel, const Results& called) {
  size_t next = 0;
  for (const RecordedCall::Named& named : recorded->tensors(kernel)) {
    if (named.is_written) named.tensor->sizes = called.shapes[next++];
  }
}

// Tensors without overlap: results must not depend on the variant of the call.
Error call_alone(RecordedCall recorded, const KernelEntry& kernel) {
  Mode dynamic;
  dynamic.is_dynamic = true;
  const Results shrunk = call(recorded, kernel, {}, dynamic);
  // Memory of exactly the size of the result, if there is one.
  if (shrunk.error == Error::Ok) set_shapes(&recorded, kernel, shrunk);
  const Results plain = call(recorded, kernel, {}, Mode());
  Mode pieces;
  pieces.in_pieces = true;
  const Results in_pieces = call(recorded, kernel, {}, pieces);
  require(in_pieces.error == plain.error, "another error in pieces");
  const bool is_sound = plain.error == Error::Ok;
  require(!is_sound || are_same(plain, in_pieces), "another result in pieces");
  Mode poor;
  poor.has_little = true;
  const Results without = call(recorded, kernel, {}, poor);
  require(!is_sound || without.error != Error::Ok || are_close(plain, without),
          "another result with little scratch memory");
  if (kernel.prepare != nullptr && !kernel.folds()) {
    Mode prepares;
    prepares.prepares = true;
    for (const bool cut : {false, true}) {
      prepares.in_pieces = cut;
      const Results prepared = call(recorded, kernel, {}, prepares);
      require(!is_sound || prepared.error == Error::Ok, "fails when it is prepared");
      require(!is_sound || are_close(plain, prepared), "another result when it is prepared");
    }
  }
  return plain.error;
}

// Calls a kernel that prepared its constants for a larger call: with dynamic shapes, a later call may have a
// smaller first tensor. All other tensors that it reads are constants.
void call_smaller(const RecordedCall& recorded, RecordedCall smaller, const KernelEntry& kernel) {
  if (kernel.prepare == nullptr || kernel.folds()) return;
  RecordedCall whole = recorded;
  const std::vector<RecordedCall::Named> before = whole.tensors(kernel);
  const std::vector<RecordedCall::Named> after = smaller.tensors(kernel);
  for (size_t i = 0; i < before.size(); ++i) {
    const CallTensor& a = *before[i].tensor;
    CallTensor& b = *after[i].tensor;
    if (before[i].is_written) {
      b.sizes = a.sizes;
    } else if (a.type != b.type || a.order != b.order || (i > 0 && a.sizes != b.sizes)) {
      return;
    }
    for (size_t d = 0; d < a.sizes.size(); ++d) {
      if (a.sizes.size() != b.sizes.size() || b.sizes[d] > a.sizes[d]) return;
    }
  }
  Mode mode;
  mode.is_dynamic = true;
  const Results plain = call(smaller, kernel, {}, mode);
  mode.prepares = true;
  mode.prepared_for = &recorded;
  const Results prepared = call(smaller, kernel, {}, mode);
  require(plain.error != Error::Ok || (prepared.error == Error::Ok && are_close(plain, prepared)),
          "another result with what was prepared for larger inputs");
}

// Overlapping tensors: results are undefined.
Error call_over(const RecordedCall& recorded, const KernelEntry& kernel, const MemoryPlan& plan) {
  Mode mode;
  const Error error = call(recorded, kernel, plan, mode).error;
  mode.is_dynamic = true;
  static_cast<void>(call(recorded, kernel, plan, mode));
  mode.is_dynamic = false;
  mode.in_pieces = true;
  static_cast<void>(call(recorded, kernel, plan, mode));
  mode.has_little = true;
  static_cast<void>(call(recorded, kernel, plan, mode));
  return error;
}

void say(const KernelEntry& kernel, const std::string& change) {
  static const bool wanted = std::getenv("RUSHLIGHT_FUZZ_LOG") != nullptr;
  if (wanted) std::fprintf(stderr, "%s: %s\n", kernel.name, change.c_str());
}

// An operator's kernel, and the portable kernel behind an optimized one.
std::vector<const KernelEntry*> kernels_of(const RecordedCall& recorded) {
  std::vector<const KernelEntry*> found;
  for (const char* prefix : {"", kernels::kPortablePrefix}) {
    const KernelEntry* kernel = selected_operators.find((prefix + recorded.name).c_str(), "");
    if (kernel != nullptr) found.push_back(kernel);
  }
  return found;
}

Outcome run_all(const RecordedCall& recorded) {
  Outcome outcome;
  for (const KernelEntry* kernel : kernels_of(recorded)) {
    say(*kernel, "as it is");
    const Error error = call_alone(recorded, *kernel);
    require(error == Error::Ok, ("a recorded call of " + recorded.name + " fails").c_str());
    outcome.stage = Stage::Executed;
    for (const Edit& edit : edits_of(recorded, *kernel)) {
      say(*kernel, to_text(edit));
      RecordedCall changed = recorded;
      apply(edit, *kernel, &changed);
      const bool is_size = edit.kind == Edit::Kind::Size || edit.kind == Edit::Kind::Sizes;
      if (is_size) call_smaller(recorded, changed, *kernel);
      static_cast<void>(call_alone(std::move(changed), *kernel));
    }
    for (const MemoryPlan& plan : plans_of(recorded, *kernel)) {
      say(*kernel, to_text(plan));
      static_cast<void>(call_over(recorded, *kernel, plan));
    }
  }
  return outcome;
}

Outcome run_chosen(const std::vector<RecordedCall>& calls, Choices& choices) {
  RecordedCall recorded = calls[static_cast<size_t>(choices.word() % calls.size())];
  const std::vector<const KernelEntry*> kernels = kernels_of(recorded);
  const KernelEntry& kernel = *kernels[choices.below(kernels.size())];
  for (size_t count = choices.below(4); count > 0; --count) {
    const std::vector<Edit> edits = edits_of(recorded, kernel);
    if (edits.empty()) break;
    const Edit& edit = edits[static_cast<size_t>(choices.word() % edits.size())];
    say(kernel, to_text(edit));
    apply(edit, kernel, &recorded);
  }
  const std::vector<MemoryPlan> plans = plans_of(recorded, kernel);
  Outcome outcome{Stage::Loaded, Error::Ok};
  if (plans.empty() || choices.one_in(2)) {
    outcome.error = call_alone(recorded, kernel);
  } else {
    const MemoryPlan& plan = plans[static_cast<size_t>(choices.word() % plans.size())];
    say(kernel, to_text(plan));
    outcome.error = call_over(recorded, kernel, plan);
  }
  if (outcome.error == Error::Ok) outcome.stage = Stage::Executed;
  return outcome;
}

}  // namespace

Outcome run_input(Span<const uint8_t> input) {
  const std::vector<RecordedCall>& calls = recorded_calls();
  if (input.size() == sizeof(uint32_t)) {
    uint32_t number = 0;
    std::memcpy(&number, input.data(), sizeof number);
    return number < calls.size() ? run_all(calls[number]) : Outcome();
  }
  if (input.empty() || calls.empty()) return {};
  Choices choices(input);
  return run_chosen(calls, choices);
}

// A new input: its bytes are choices, so that any bytes are equally good.
size_t mutate_input(uint8_t* data, size_t size, size_t capacity, Choices& choices) {
  constexpr size_t kLength = 64;
  if (size < kLength || choices.one_in(2)) {
    size = std::min(capacity, kLength);
    for (size_t i = 0; i < size; ++i) data[i] = choices.byte();
  }
  for (size_t i = choices.below(4); i-- > 0 && size > 0;) data[choices.below(size)] = choices.byte();
  return size;
}

}  // namespace rushlight::fuzz
