// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/quantized_lookup.h"

#include "kernels/ukernel/lookup.h"
#include "kernels/walk/view.h"

namespace rushlight::kernels::host {

namespace {

// Fewest elements for a thread.
constexpr ptrdiff_t kGrain = 1 << 15;

}  // namespace

Error quantized_lookup(KernelContext& context, const QuantizedLookupProblem& problem) {
  // An int8 function of one operand is a table of 256 results.
  const uint8_t* table = problem.table;
  PairedLoops(View::of(problem.out), View::of(problem.input))
      .for_each_span([&](char* to, const char* from, const auto& loop) {
        const auto some = [&](size_t begin, size_t end, size_t) {
          if (loop.target == 1 && loop.source == 1) {
            return ukernel::look_up_bytes(table, end - begin, reinterpret_cast<const uint8_t*>(from + begin),
                                          reinterpret_cast<uint8_t*>(to + begin));
          }
          for (auto i = static_cast<ptrdiff_t>(begin); i < static_cast<ptrdiff_t>(end); ++i)
            to[i * loop.target] = static_cast<char>(table[static_cast<uint8_t>(from[i * loop.source])]);
        };
        // Short loops run on the calling thread, as there may be many of them.
        if (loop.size >= 2 * kGrain) {
          context.parallel_for(static_cast<size_t>(loop.size), kGrain, some);
        } else {
          some(0, static_cast<size_t>(loop.size), 0);
        }
      });
  return Error::Ok;
}

}  // namespace rushlight::kernels::host
