// SPDX-License-Identifier: BSD-3-Clause
// Works fiber by fiber with element access functions: rare operators, so compiled once for all dtypes. 16-bit
// sums are held in float for the whole fiber, and a mean counts in scratch memory.
#include "kernels/index/combine.h"

#include <cstring>

#include "kernels/checks/selection.h"
#include "kernels/elements/convert.h"
#include "kernels/elements/element_access.h"
#include "kernels/index/index.h"
#include "kernels/math/arithmetic.h"
#include "kernels/math/complex_view.h"
#include "kernels/walk/fibers.h"
#include "runtime/base/log.h"

namespace rushlight::kernels {

namespace {

template <class N>
N combined(N a, N b, Combine how) {
  switch (how) {
    case Combine::kProduct:
      return wrapping_multiply(a, b);
    // NaN wins, whichever operand it is.
    case Combine::kLargest:
      return b > a || b != b ? b : a;
    case Combine::kSmallest:
      return b < a || b != b ? b : a;
    default:
      return wrapping_add(a, b);
  }
}

// Processes one fiber. `held` is the dtype of the accumulators: float for 16-bit floats, else the target's.
struct Walk {
  const IndexedCombine& combine;
  uint32_t* counts = nullptr;  // mean only: number of elements combined into each one of the target
  float* sums = nullptr;       // 16-bit floats only: the fiber in float

  Error operator()(const Fiber* fibers) const {
    const Fiber& target = fibers[1];
    // All elements that are combined into this fiber come from one fiber of the source, so its state is
    // needed only for one fiber at a time.
    const auto size = static_cast<size_t>(target.size);
    const ScalarType type = combine.target.type;
    if (counts != nullptr) std::memset(counts, 0, size * sizeof *counts);
    if (sums == nullptr) return run(fibers, type);
    convert_span(sums, sizeof(float), ScalarType::Float, target.data, target.stride, type, size);
    const Fiber held[] = {fibers[0], {reinterpret_cast<char*>(sums), sizeof(float), target.size}, fibers[2]};
    RL_TRY(run(held, ScalarType::Float));
    convert_span(target.data, target.stride, type, sums, sizeof(float), ScalarType::Float, size);
    return Error::Ok;
  }

 private:
  Error run(const Fiber* fibers, ScalarType held) const {
    // A first pass over the indices; elements without an index keep their old value.
    if (!combine.include_target) RL_TRY(start(fibers, held));
    RL_TRY(for_each_indexed(
        fibers[0], combine.index.type, fibers[1], fibers[2], [&](char* to, const char* from) {
          combine_elements(to, held, from, combine.source.type, combine.how);
          if (counts != nullptr)
            ++counts[fibers[1].stride == 0 ? 0 : (to - fibers[1].data) / fibers[1].stride];
        }));
    if (counts != nullptr) divide(fibers[1], held);
    return Error::Ok;
  }

  // Writes the neutral element to each indexed element whose old value does not count: 0, 1, or for extrema
  // one of the candidates.
  Error start(const Fiber* fibers, ScalarType held) const {
    const bool ordered = combine.how == Combine::kLargest || combine.how == Combine::kSmallest;
    return for_each_indexed(fibers[0], combine.index.type, fibers[1], fibers[2],
                            [&](char* to, const char* from) {
                              store_integer(to, held, combine.how == Combine::kProduct ? 1 : 0);
                              if (ordered)
                                combine_elements(to, held, from, combine.source.type, Combine::kSum);
                            });
  }

  void divide(const Fiber& target, ScalarType held) const {
    for (ptrdiff_t i = 0; i < target.size; ++i) {
      // Integers divide with rounding down, as in PyTorch.
      const uint32_t count = counts[i] + (combine.include_target ? 1 : 0);
      if (count < 2) continue;
      char* const at = target.data + i * target.stride;
      if (is_integer_like(held)) {
        store_integer(at, held, floored_divide<int64_t>(load_integer(at, held), count));
      } else {
        store_number(at, held, load_number(at, held) / count);
      }
    }
  }
};

}  // namespace

Error read_combine(std::string_view word, Combine* combine) {
  // The words of scatter_reduce and index_reduce.
  static constexpr struct {
    const char* word;
    Combine combine;
  } kWords[] = {{"sum", Combine::kSum},
                {"prod", Combine::kProduct},
                {"mean", Combine::kMean},
                {"amax", Combine::kLargest},
                {"amin", Combine::kSmallest}};
  for (const auto& known : kWords) {
    if (word != known.word) continue;
    *combine = known.combine;
    return Error::Ok;
  }
  RL_LOG(Error, "reduce: expected sum, prod, mean, amax or amin, got %.*s", static_cast<int>(word.size()),
         word.data());
  return Error::InvalidArgument;
}

void combine_elements(char* target, ScalarType target_type, const char* source, ScalarType source_type,
                      Combine how) {
  // Arithmetic is in int64, double or complex128 and rounds to the dtype of the target at each step.
  if (kSelectsComplex && is_complex(target_type)) {
    const auto a = load_complex(target, target_type);
    const auto b = load_complex(source, source_type);
    store_complex(target, target_type, how == Combine::kProduct ? a * b : a + b);
  } else if (is_integer_like(target_type)) {
    const int64_t result =
        combined(load_integer(target, target_type), load_integer(source, source_type), how);
    store_integer(target, target_type, result);
  } else {
    const double result = combined(load_number(target, target_type), load_number(source, source_type), how);
    store_number(target, target_type, result);
  }
}

Error combine_indexed(KernelContext& context, const IndexedCombine& combine) {
  const bool pairs = kSelectsComplex && is_complex(combine.target.type);
  RL_CHECK(
      !pairs || combine.how == Combine::kSum || (combine.how == Combine::kProduct && combine.include_target),
      Error::InvalidType, "self: complex elements only add and multiply");
  // Sums of complex elements are independent sums of the parts.
  if (pairs && combine.how == Combine::kSum) {
    for (const size_t which : {0, 1}) {
      IndexedCombine parts = combine;
      parts.target = parts_of(combine.target, which);
      parts.source = parts_of(combine.source, which);
      RL_TRY(combine_indexed(context, parts));
    }
    return Error::Ok;
  }
  Walk walk{combine};
  const auto size = static_cast<size_t>(combine.target.sizes[combine.dim]);
  const bool adds = combine.how != Combine::kLargest && combine.how != Combine::kSmallest;
  if (adds && contains(types::kReducedFloat, combine.target.type)) {
    // Null is no error: without the memory each step rounds to 16 bits.
    walk.sums = static_cast<float*>(context.allocate_temp(size * sizeof(float), alignof(float)));
  }
  if (combine.how == Combine::kMean) {
    walk.counts = static_cast<uint32_t*>(context.allocate_temp(size * sizeof(uint32_t), alignof(uint32_t)));
    RL_CHECK(walk.counts != nullptr || size == 0, Error::MemoryAllocationFailed,
             "out of scratch memory: need %lu bytes for a mean", log_number(size * sizeof(uint32_t)));
  }
  const View views[] = {combine.index, combine.target, combine.source};
  return for_each_fiber(views, combine.dim, walk);
}

}  // namespace rushlight::kernels
