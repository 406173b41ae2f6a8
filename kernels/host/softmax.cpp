// SPDX-License-Identifier: BSD-3-Clause
// Softmax along any dimension, in float32: contiguous fibers one by one, otherwise up to 256 adjacent fibers
// together, a row of elements at a time. 16-bit floats pass through blocks of 4096 floats on the stack; a
// longer fiber takes three passes: maximum, sum, result.
#include "kernels/backs/softmax.h"

#include <algorithm>
#include <cmath>

#include "kernels/checks/selected_calls.h"
#include "kernels/checks/selection.h"
#include "kernels/host/elements.h"
#include "kernels/ukernel/reduce.h"
#include "kernels/ukernel/softmax.h"
#include "kernels/ukernel/vector_math.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels::host {

namespace {

constexpr ptrdiff_t kFloat = sizeof(float);
constexpr size_t kGrain = 8192;   // elements worth another thread
constexpr size_t kColumns = 256;  // adjacent fibers in a piece of work

// Fibers for one thread.
size_t grain_of(size_t elements) { return elements >= kGrain ? 1 : kGrain / (elements + 1) + 1; }

// The microkernels of kernels/ukernel/softmax.h for softmax or log_softmax.
struct SoftmaxFunctions {
  void (*run)(size_t n, const float* x, float* y);
  void (*rows)(size_t rows, ptrdiff_t x_stride, ptrdiff_t y_stride, size_t n, const float* x, float* y);
  bool logarithm;
};

struct Work {
  const SoftmaxFunctions& functions;
  const Axis& fiber;
  const PairedAxes& others;
  const char* input;
  char* output;

  [[nodiscard]] bool is_contiguous() const { return fiber.input == kFloat && fiber.output == kFloat; }

  // One microkernel call for each fiber.
  void along_spans(KernelContext& context) const {
    context.parallel_for(others.count(), grain_of(fiber.size), [&](size_t begin, size_t end, size_t) {
      others.walk_part(input, output, 0, begin, end, [&](const char* from, char* to) {
        functions.run(fiber.size, reinterpret_cast<const float*>(from), reinterpret_cast<float*>(to));
      });
    });
  }

  void down_columns(KernelContext& context) const {
    const Axis& inner = others.inner();
    // Fibers whose elements are adjacent in memory are lanes of one vector loop over the rows.
    const bool beside = inner.input == kFloat && inner.output == kFloat;
    const size_t columns = beside ? inner.size : 1;
    const size_t first = beside ? 1 : 0;
    // A piece of work is up to kColumns adjacent fibers at one position of the outer axes.
    const size_t blocks = (columns + kColumns - 1) / kColumns;
    const size_t elements = fiber.size * (columns < kColumns ? columns : kColumns);
    const size_t count = others.count(first) * blocks;
    context.parallel_for(count, grain_of(elements), [&](size_t begin, size_t end, size_t) {
      while (begin < end) {
        const size_t j = begin % blocks * kColumns;
        const size_t n = columns - j < kColumns ? columns - j : kColumns;
        const size_t step = begin / blocks;
        others.walk_part(input + j * kFloat, output + j * kFloat, first, step, step + 1,
                         [&](const char* from, char* to) {
                           functions.rows(fiber.size, fiber.input / kFloat, fiber.output / kFloat, n,
                                          reinterpret_cast<const float*>(from), reinterpret_cast<float*>(to));
                         });
        ++begin;
      }
    });
  }
};

// Softmax of 16-bit floats: as many adjacent fibers as fit in a block, or one long fiber in three passes.
struct Converted {
  static constexpr size_t kBlock = 4096;  // floats
  static constexpr ptrdiff_t kElement = 2;

  const SoftmaxFunctions& functions;
  ScalarType type;
  const Axis& fiber;
  const PairedAxes& others;
  const char* input;
  char* output;

  void run(KernelContext& context) const {
    const Axis& inner = others.inner();
    const bool beside = inner.input == kElement && inner.output == kElement && fiber.input != kElement;
    const size_t columns = beside ? inner.size : 1;
    // As many fibers as fit in a block of kBlock floats (16 KiB of stack).
    const size_t most = std::clamp<size_t>(kBlock / fiber.size, 1, kColumns);
    const size_t blocks = (columns + most - 1) / most;
    const size_t first = beside ? 1 : 0;
    const size_t elements = fiber.size * std::min(columns, most);
    context.parallel_for(others.count(first) * blocks, grain_of(elements),
                         [&](size_t begin, size_t end, size_t) {
                           for (; begin < end; ++begin) {
                             const size_t j = begin % blocks * most;
                             const size_t step = begin / blocks;
                             const auto offset = static_cast<ptrdiff_t>(j) * kElement;
                             others.walk_part(input + offset, output + offset, first, step, step + 1,
                                              [&](const char* from, char* to) {
                                                if (fiber.size > kBlock) {
                                                  long_fiber(from, to);
                                                } else {
                                                  block(std::min(most, columns - j), from, to);
                                                }
                                              });
                           }
                         });
  }

  // Fibers of at most kBlock elements in all, stored as rows of one element of each fiber.
  void block(size_t columns, const char* from, char* to) const {
    alignas(64) float floats[kBlock];
    if (columns == 1) {
      load_floats(floats, type, from, fiber.input / kElement, fiber.size);
      functions.run(fiber.size, floats, floats);
      return store_floats(to, fiber.output / kElement, type, floats, fiber.size);
    }
    const auto stride = static_cast<ptrdiff_t>(columns);
    // Row i has element i of each fiber.
    for (size_t i = 0; i < fiber.size; ++i, from += fiber.input)
      load_floats(floats + i * columns, type, from, 1, columns);
    functions.rows(fiber.size, stride, stride, columns, floats, floats);
    for (size_t i = 0; i < fiber.size; ++i, to += fiber.output)
      store_floats(to, 1, type, floats + i * columns, columns);
  }

  // Calls f(floats, n, address in the output) for pieces of a fiber.
  template <class F>
  void for_each_piece(const char* from, char* to, F f) const {
    float floats[kBlock];
    for (size_t i = 0; i < fiber.size; i += kBlock) {
      const size_t n = std::min(kBlock, fiber.size - i);
      load_floats(floats, type, from + static_cast<ptrdiff_t>(i) * fiber.input, fiber.input / kElement, n);
      f(floats, n, to + static_cast<ptrdiff_t>(i) * fiber.output);
    }
  }

  void long_fiber(const char* from, char* to) const {
    float largest = -INFINITY;
    for_each_piece(from, to, [&](const float* x, size_t n, char*) {
      // Three passes, each of which converts the fiber again: less memory instead of less work.
      const float here = ukernel::max_span(n, x);
      if (!(here <= largest)) largest = here;  // also takes NaN
    });
    // In double, as the sums of many blocks are added one after the other.
    double sum = 0;
    const auto exponentials = [&](float* x, size_t n) {
      for (size_t i = 0; i < n; ++i) x[i] -= largest;
      ukernel::exp_f32(n, x, x);
    };
    for_each_piece(from, to, [&](float* x, size_t n, char*) {
      exponentials(x, n);
      sum += static_cast<double>(ukernel::sum_span(n, x));
    });
    // log_softmax subtracts largest + log(sum); softmax multiplies exp(x - largest) by 1 / sum.
    const float scale =
        functions.logarithm ? largest + static_cast<float>(std::log(sum)) : static_cast<float>(1 / sum);
    for_each_piece(from, to, [&](float* x, size_t n, char* at) {
      if (functions.logarithm) {
        for (size_t i = 0; i < n; ++i) x[i] -= scale;
      } else {
        exponentials(x, n);
        for (size_t i = 0; i < n; ++i) x[i] *= scale;
      }
      store_floats(at, fiber.output / kElement, type, x, n);
    });
  }
};

// True if a call of the build may have fibers whose elements are apart.
constexpr bool kReachesColumns = is_reached({"softmax", "log_softmax"}, [](const SelectedCall& call) {
  const CallValue& self = call["self"];
  const CallValue& out = call["out"];
  const int64_t dim = call["dim"].numbers[0];
  const int64_t positive = dim < 0 ? dim + static_cast<int64_t>(self.count) : dim;
  if (positive < 0 || positive >= static_cast<int64_t>(self.count) || out.count != self.count) return true;
  return self.strides()[static_cast<size_t>(positive)] != 1 ||
         out.strides()[static_cast<size_t>(positive)] != 1;
});

Error compute(KernelContext& context, const SoftmaxFunctions& functions, const SoftmaxProblem& problem) {
  if (problem.self.numel() == 0) return Error::Ok;
  const PairedFibers& fibers = problem.fibers;
  const Work work{functions, fibers.fiber(), fibers.others(), fibers.input(), fibers.output()};
  constexpr TypeSet kTypes = selected_types("aten::_softmax.out") | selected_types("aten::_log_softmax.out");
  constexpr bool kConverts = (kTypes & types::kReducedFloat) != 0;
  if (kConverts && problem.type() != ScalarType::Float) {
    Converted{functions, problem.type(), work.fiber, work.others, work.input, work.output}.run(context);
  } else if (work.is_contiguous()) {
    work.along_spans(context);
  } else {
    if constexpr (!kReachesColumns) return not_selected("softmax");
    work.down_columns(context);
  }
  return Error::Ok;
}

}  // namespace

Error softmax(KernelContext& context, const SoftmaxProblem& problem) {
  const auto rows = kReachesColumns ? ukernel::softmax_rows : nullptr;
  return compute(context, {ukernel::softmax_span, rows, false}, problem);
}

Error log_softmax(KernelContext& context, const SoftmaxProblem& problem) {
  // The constants of both functions are linked together: without its operator this one is empty.
  if constexpr (selected_types("aten::_log_softmax.out") == 0) return unsupported_type(problem.type());
  const auto rows = kReachesColumns ? ukernel::log_softmax_rows : nullptr;
  return compute(context, {ukernel::log_softmax_span, rows, true}, problem);
}

}  // namespace rushlight::kernels::host
