// SPDX-License-Identifier: BSD-3-Clause
// Works fiber by fiber with element access functions, which are compiled once for all dtypes; builds for
// speed have loops for each dtype, and add whole slices where all fibers have the same indices. 16-bit
// sums are held in float for the whole fiber, and a mean counts in scratch memory.
#include "kernels/index/combine.h"

#include <cstring>
#include <type_traits>

#include "kernels/checks/selection.h"
#include "kernels/elements/convert.h"
#include "kernels/elements/element.h"
#include "kernels/elements/element_access.h"
#include "kernels/index/index.h"
#include "kernels/math/arithmetic.h"
#include "kernels/math/complex_view.h"
#include "kernels/walk/fibers.h"
#include "kernels/walk/paired_axes.h"
#include "runtime/base/log.h"
#include "runtime/tensor/complex.h"
#include "runtime/tensor/dispatch.h"

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

#ifndef __OPTIMIZE_SIZE__
// The dtypes with loops. 16-bit floats are converted to float.
constexpr TypeSet kTyped = (computed_in(kAnySelectedType & types::kReal) & types::kReal) |
                           (kAnySelectedType & types::kBool) |
                           (complex_needs(kAnySelectedType) & types::kComplex);

// True for the loops of dispatch_combine(). Elements of others are combined by combine_elements().
bool has_loops(ScalarType source, ScalarType held, Combine how) {
  return source == held && contains(kTyped & ~types::kReducedFloat, held) &&
         (how == Combine::kSum || !contains(types::kComplex, held));
}

// Calls f(combine, type) with the function and the type of a loop. Precondition: has_loops().
template <class F>
Error dispatch_combine(ScalarType type, Combine how, F f) {
  return dispatch<(kTyped & ~types::kReducedFloat)>(type, [&](auto of) {
    using T = typename decltype(of)::Element;
    const auto with = [&](auto combine) { return f(combine, Type<T>{}); };
    if constexpr (is_complex_number<T>) {
      return with([](T a, T b) { return a + b; });
    } else {
      switch (how) {
        case Combine::kProduct:
          return with([](T a, T b) { return combined(a, b, Combine::kProduct); });
        case Combine::kLargest:
          return with([](T a, T b) { return combined(a, b, Combine::kLargest); });
        case Combine::kSmallest:
          return with([](T a, T b) { return combined(a, b, Combine::kSmallest); });
        default:
          return with([](T a, T b) { return combined(a, b, Combine::kSum); });
      }
    }
  });
}

// True if several fibers have the same indices: index_add broadcasts a vector.
bool is_uniform(const IndexedCombine& combine) {
  bool are_several = false;
  for (size_t d = 0; d < combine.index.dim; ++d) {
    if (d == combine.dim || combine.index.sizes[d] == 1) continue;
    if (combine.index.strides[d] != 0) return false;
    are_several = true;
  }
  return are_several;
}

// Combines whole slices: one walk over the other dimensions for each index.
Error combine_slices(const IndexedCombine& combine) {
  const size_t dim = combine.dim;
  PairedAxes axes;
  for (size_t d = combine.index.dim; d-- > 0;) {
    if (d == dim) continue;
    axes.add(
        {static_cast<size_t>(combine.index.sizes[d]), combine.source.strides[d], combine.target.strides[d]});
  }
  if (axes.count() == 0) return Error::Ok;
  const Fiber indices{combine.index.data, combine.index.strides[dim], combine.index.sizes[dim]};
  const Fiber targets{combine.target.data, combine.target.strides[dim], combine.target.sizes[dim]};
  const Fiber sources{combine.source.data, combine.source.strides[dim], combine.source.sizes[dim]};
  return dispatch_combine(combine.target.type, combine.how, [&](auto f, auto of) {
    using T = typename decltype(of)::Element;
    const Axis& inner = axes.inner();
    const bool contiguous = inner.input == ptrdiff_t{sizeof(T)} && inner.output == inner.input;
    return for_each_indexed(indices, combine.index.type, targets, sources, [&](char* to, const char* from) {
      axes.walk(from, to, 1, [&](const char* in, char* out) {
        if (contiguous) {
          auto* const results = reinterpret_cast<T*>(out);
          const auto* const values = reinterpret_cast<const T*>(in);
          for (size_t i = 0; i < inner.size; ++i) results[i] = f(load(results + i), load(values + i));
          return;
        }
        for (size_t i = 0; i < inner.size; ++i, in += inner.input, out += inner.output) {
          auto* const result = reinterpret_cast<T*>(out);
          *result = f(load(result), load(reinterpret_cast<const T*>(in)));
        }
      });
    });
  });
}
#endif

// Processes one fiber.
struct Walk {
  const IndexedCombine& combine;
  uint32_t* counts = nullptr;  // mean only: number of elements combined into each one of the target
  float* sums = nullptr;       // 16-bit floats only: the fiber in float
  float* values = nullptr;     // the same of the source, in builds for speed

  Error operator()(const Fiber* fibers) const {
    const Fiber& target = fibers[1];
    // All elements that are combined into this fiber come from one fiber of the source, so its state is
    // needed only for one fiber at a time.
    const auto size = static_cast<size_t>(target.size);
    const ScalarType type = combine.target.type;
    if (counts != nullptr) std::memset(counts, 0, size * sizeof *counts);
    if (sums == nullptr) return run(fibers, type, type);
    convert_span(sums, sizeof(float), ScalarType::Float, target.data, target.stride, type, size);
    Fiber held[] = {fibers[0], {reinterpret_cast<char*>(sums), sizeof(float), target.size}, fibers[2]};
    ScalarType source = type;
#ifndef __OPTIMIZE_SIZE__
    if (values != nullptr) {
      const ptrdiff_t count = fibers[0].size;
      convert_span(values, sizeof(float), ScalarType::Float, fibers[2].data, fibers[2].stride, type,
                   static_cast<size_t>(count));
      held[2] = {reinterpret_cast<char*>(values), sizeof(float), count};
      source = ScalarType::Float;
    }
#endif
    RL_TRY(run(held, ScalarType::Float, source));
    convert_span(target.data, target.stride, type, sums, sizeof(float), ScalarType::Float, size);
    return Error::Ok;
  }

 private:
  // `held` is the dtype of the accumulators: float for 16-bit floats, else the target's.
  Error run(const Fiber* fibers, ScalarType held, ScalarType source) const {
    // A first pass over the indices; elements without an index keep their old value.
    if (!combine.include_target) RL_TRY(start(fibers, held, source));
#ifndef __OPTIMIZE_SIZE__
    if (counts == nullptr && has_loops(source, held, combine.how)) {
      return dispatch_combine(held, combine.how, [&](auto f, auto of) {
        using T = typename decltype(of)::Element;
        return for_each_indexed(fibers[0], combine.index.type, fibers[1], fibers[2],
                                [&](char* to, const char* from) {
                                  auto* const result = reinterpret_cast<T*>(to);
                                  *result = f(load(result), load(reinterpret_cast<const T*>(from)));
                                });
      });
    }
#endif
    RL_TRY(for_each_indexed(
        fibers[0], combine.index.type, fibers[1], fibers[2], [&](char* to, const char* from) {
          combine_elements(to, held, from, source, combine.how);
          if (counts != nullptr)
            ++counts[fibers[1].stride == 0 ? 0 : (to - fibers[1].data) / fibers[1].stride];
        }));
    if (counts != nullptr) divide(fibers[1], held);
    return Error::Ok;
  }

  // Writes the neutral element to each indexed element whose old value does not count: 0, 1, or for extrema
  // one of the candidates.
  Error start(const Fiber* fibers, ScalarType held, ScalarType source) const {
    const bool ordered = combine.how == Combine::kLargest || combine.how == Combine::kSmallest;
    return for_each_indexed(fibers[0], combine.index.type, fibers[1], fibers[2],
                            [&](char* to, const char* from) {
                              store_integer(to, held, combine.how == Combine::kProduct ? 1 : 0);
                              if (ordered) combine_elements(to, held, from, source, Combine::kSum);
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
  bool by_parts = pairs && combine.how == Combine::kSum;
#ifndef __OPTIMIZE_SIZE__
  by_parts = by_parts &&
             !(combine.include_target && has_loops(combine.source.type, combine.target.type, combine.how));
#endif
  // Sums of complex elements are independent sums of the parts.
  if (by_parts) {
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
#ifndef __OPTIMIZE_SIZE__
    const auto count = static_cast<size_t>(combine.index.sizes[combine.dim]);
    walk.values = static_cast<float*>(context.allocate_temp(count * sizeof(float), alignof(float)));
#endif
  }
  if (combine.how == Combine::kMean) {
    walk.counts = static_cast<uint32_t*>(context.allocate_temp(size * sizeof(uint32_t), alignof(uint32_t)));
    RL_CHECK(walk.counts != nullptr || size == 0, Error::MemoryAllocationFailed,
             "out of scratch memory: need %lu bytes for a mean", log_number(size * sizeof(uint32_t)));
  }
#ifndef __OPTIMIZE_SIZE__
  const bool plain = combine.include_target && walk.counts == nullptr && walk.sums == nullptr;
  if (plain && has_loops(combine.source.type, combine.target.type, combine.how) && is_uniform(combine) &&
      combine.index.dim == combine.source.dim) {
    return combine_slices(combine);
  }
#endif
  const View views[] = {combine.index, combine.target, combine.source};
  return for_each_fiber(views, combine.dim, walk);
}

}  // namespace rushlight::kernels
