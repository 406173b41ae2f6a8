// SPDX-License-Identifier: BSD-3-Clause
// Rates of one core of a recent desktop or server. Decisions depend on ratios of costs and on their size
// beside a join; executions check each decision (trial.h).
#include "runtime/module/lanes/call_costs.h"

#include <algorithm>

#include "runtime/module/lanes/planned_range.h"

namespace rushlight {

namespace {

constexpr double kProducts = 25;  // multiply-accumulates per ns
constexpr double kBytes = 4;      // bytes per ns, between caches and memory
constexpr double kCall = 150;     // ns of any call

// The part of a kernel's time that is divided: packing, and what follows the last piece, are not.
constexpr double kDivided = 0.92;
// Calls below this time (ns) are not divided; kernels' grains are about as large.
constexpr double kLeast = 12000;

// The bytes of the tensors that an instruction uses, or only of the tensors that it writes.
double bytes_of(const Method& method, const Instruction& instruction, bool only_written) {
  const auto values = method.meta().plan().tables(schema::plan::kValues);
  double bytes = 0;
  for (const InstructionUse& use : instruction.uses) {
    if ((only_written && !use.writes()) || !is_tensor(values, use.value)) continue;
    const TensorImpl& tensor = *method.tensor(use.value).impl();
    bytes +=
        static_cast<double>(tensor.numel_bound()) * static_cast<double>(element_size(tensor.scalar_type()));
  }
  return bytes;
}

// A call without an estimate touches at least its results, also if it gathers a few rows of a large table.
double time_of(const Method& method, const Instruction& instruction, const CallWork& work) {
  if (work.products > 0) return kCall + work.products / kProducts;
  // Twice the results: most calls read as much as they write; a reduction reads more.
  const double all = bytes_of(method, instruction, false), written = bytes_of(method, instruction, true);
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
