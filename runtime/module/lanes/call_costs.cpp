// SPDX-License-Identifier: BSD-3-Clause
// Rates of one core of a recent desktop or server. Decisions depend on ratios of costs and on their size
// beside a join; executions check each decision (trial.h).
#include "runtime/module/lanes/call_costs.h"

#include <algorithm>

namespace rushlight {

namespace {

constexpr double kProducts = 25;  // multiply-accumulates per ns
constexpr double kBytes = 4;      // bytes per ns, between caches and memory
constexpr double kCall = 150;     // ns of any call

// The part of a kernel's time that is divided: packing, and what follows the last piece, are not.
constexpr double kDivided = 0.92;
// Calls below this time (ns) are not divided; kernels' grains are about as large.
constexpr double kLeast = 12000;

double bytes_of(const Method& method, const Instruction& instruction) {
  const auto values = method.meta().plan().tables(schema::plan::kValues);
  double bytes = 0;
  for (const InstructionUse& use : instruction.uses) {
    if (values[use.value].scalar<uint8_t>(schema::evalue::kValType) !=
        static_cast<uint8_t>(schema::ValueKind::Tensor))
      continue;
    const TensorImpl& tensor = *method.tensor(use.value).impl();
    bytes +=
        static_cast<double>(tensor.numel_bound()) * static_cast<double>(element_size(tensor.scalar_type()));
  }
  return bytes;
}

// The bytes that the results have: what a call without an estimate certainly touches, also if it gathers a
// few rows of a large table.
double time_of(const Method& method, const Instruction& instruction, const CallWork& work) {
  if (work.products > 0) return kCall + work.products / kProducts;
  Instruction results;
  for (const InstructionUse& use : instruction.uses) {
    if (use.writes()) results.uses.push_back(use);
  }
  // Twice the results: most calls read as much as they write; a reduction reads more.
  const double all = bytes_of(method, instruction), written = bytes_of(method, results);
  return kCall + std::max(2 * written, std::min(all, 16 * written)) / kBytes;
}

}  // namespace

float CallCost::on(size_t threads) const {
  if (threads <= 1 || divided == 0) return alone;
  const float shared = alone - divided + divided / static_cast<float>(threads) + joins * kJoin;
  return std::min(alone, shared);
}

std::vector<CallCost> call_costs(const Method& method, const CallGraph& graph,
                                 const std::vector<CallWork>& work, const std::vector<double>& seconds) {
  std::vector<CallCost> costs;
  costs.reserve(graph.instructions().size());
  for (const Instruction& instruction : graph.instructions()) {
    CallCost& cost = costs.emplace_back();
    if (instruction.is_folded || instruction.uses.empty()) continue;
    const size_t number = instruction.site.number;
    const CallWork stated = number < work.size() ? work[number] : CallWork();
    const bool measured = number < seconds.size() && seconds[number] > 0;
    const double alone = measured ? seconds[number] * 1e9 : time_of(method, instruction, stated);
    cost.alone = static_cast<float>(alone);
    cost.joins = static_cast<float>(std::max<uint32_t>(stated.joins, 1));
    if (alone / cost.joins >= kLeast) cost.divided = static_cast<float>(kDivided * alone);
  }
  return costs;
}

}  // namespace rushlight
