// SPDX-License-Identifier: BSD-3-Clause
// Before a method runs: what its kernels need, and the constants that they prepare.
#include "runtime/base/checked.h"
#include "runtime/base/log.h"
#include "runtime/executor/method.h"
#include "runtime/program/schema.h"

namespace rushlight {

using flatbuffer::Table;
using flatbuffer::TableVector;
using schema::InstructionKind;

size_t Method::first_instruction(size_t chain) const {
  const TableVector chains = plan_.tables(schema::plan::kChains);
  size_t count = 0;
  for (size_t c = 0; c < chain; ++c) count += chains[c].tables(schema::chain::kInstructions).size();
  return count;
}

bool Method::has_prepare() const {
  const size_t count = plan_.tables(schema::plan::kOperators).size();
  for (size_t i = 0; i < count; ++i) {
    if (kernels_[i]->prepare != nullptr) return true;
  }
  return false;
}

// Calls the prepare functions of all calls.
Error Method::prepare_calls(Preparation* preparation) {
  const TableVector chains = plan_.tables(schema::plan::kChains);
  size_t number = 0;
  for (size_t c = 0; c < chains.size(); ++c) {
    const TableVector instructions = chains[c].tables(schema::chain::kInstructions);
    for (size_t i = 0; i < instructions.size(); ++i, ++number) {
      const Table instruction = instructions[i];
      if (instruction.scalar<uint8_t>(schema::instruction::kKind) !=
          static_cast<uint8_t>(InstructionKind::KernelCall))
        continue;
      const Table call = instruction.table(schema::instruction::kArguments);
      const KernelEntry& kernel = *kernels_[call.scalar<int32_t>(schema::kernel_call::kOpIndex)];
      if (kernel.prepare == nullptr) continue;
      const auto indices = call.vector<int32_t>(schema::kernel_call::kArgs);
      values_.gather(indices, arguments_);
      preparation->prepared = nullptr;
      KernelContext context(preparation, kernel, indices.size(), threads_);
      const Error error = kernel.function(context, arguments_, kernel.prepare);
      RL_CHECK(error == Error::Ok, error, "operator %s, instruction %lu, preparing: %s", kernel.name,
               log_number(number), to_string(error));
      if (prepared_ != nullptr) prepared_[number] = preparation->prepared;
    }
  }
  return Error::Ok;
}

Error Method::measure(const PreparedWeights* shared, Preparation* needs) {
  *needs = Preparation();
  if (!has_prepare()) return Error::Ok;
  needs->shared = shared;
  RL_TRY(prepare_calls(needs));
  const size_t count = first_instruction(plan_.tables(schema::plan::kChains).size());
  needs->index_bytes = count * sizeof(void*) + alignof(void*);
  return Error::Ok;
}

Error Method::prepare(PreparedWeights* weights) {
  if (!has_prepare()) return Error::Ok;
  const size_t count = first_instruction(plan_.tables(schema::plan::kChains).size());
  size_t bytes = 0;
  if (!checked_mul(count, sizeof(void*), &bytes)) return Error::Ok;
  auto* prepared = static_cast<const void**>(weights->arena().allocate(bytes, alignof(void*)));
  if (prepared == nullptr) return Error::Ok;
  for (size_t i = 0; i < count; ++i) prepared[i] = nullptr;
  prepared_ = prepared;
  Preparation preparation;
  preparation.weights = weights;
  return prepare_calls(&preparation);
}

}  // namespace rushlight
