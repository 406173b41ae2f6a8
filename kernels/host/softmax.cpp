// SPDX-License-Identifier: BSD-3-Clause
// Softmax along any dimension, in float32 or float64: contiguous fibers one by one, otherwise up to 256
// adjacent fibers together, a row of elements at a time. 16-bit floats pass through blocks of 8192 floats on
// the stack; longer fibers take three passes: maximum, sum, result.
#include "kernels/backs/softmax.h"

#include <algorithm>
#include <cmath>

#include "kernels/checks/selected_calls.h"
#include "kernels/checks/selection.h"
#include "kernels/host/elements.h"
#include "kernels/ukernel/doubles.h"
#include "kernels/ukernel/normalize.h"
#include "kernels/ukernel/reduce.h"
#include "kernels/ukernel/softmax.h"
#include "kernels/ukernel/vector_math.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels::host {

namespace {

constexpr size_t kGrain = 8192;   // elements worth another thread
constexpr size_t kColumns = 256;  // adjacent fibers in a piece of work

// Fibers for one thread.
size_t grain_of(size_t elements) { return elements >= kGrain ? 1 : kGrain / (elements + 1) + 1; }

// The microkernels for softmax or log_softmax in T, float or double.
template <class T>
struct SoftmaxLoops {
  void (*run)(size_t n, const T* x, T* y);
  void (*rows)(size_t rows, ptrdiff_t x_stride, ptrdiff_t y_stride, size_t n, const T* x, T* y);
  bool logarithm;
};
using SoftmaxFunctions = SoftmaxLoops<float>;

template <class T>
struct Work {
  static constexpr ptrdiff_t kSize = sizeof(T);

  const SoftmaxLoops<T>& functions;
  const Axis& fiber;
  const PairedAxes& others;
  const char* input;
  char* output;

  [[nodiscard]] bool is_contiguous() const { return fiber.input == kSize && fiber.output == kSize; }

  // One microkernel call for each fiber.
  void along_spans(KernelContext& context) const {
    context.parallel_for(others.count(), grain_of(fiber.size), [&](size_t begin, size_t end, size_t) {
      others.walk_part(input, output, 0, begin, end, [&](const char* from, char* to) {
        functions.run(fiber.size, reinterpret_cast<const T*>(from), reinterpret_cast<T*>(to));
      });
    });
  }

  void down_columns(KernelContext& context) const {
    const Axis& inner = others.inner();
    // Fibers whose elements are adjacent in memory are lanes of one vector loop over the rows.
    const bool beside = inner.input == kSize && inner.output == kSize;
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
        others.walk_part(input + j * kSize, output + j * kSize, first, step, step + 1,
                         [&](const char* from, char* to) {
                           functions.rows(fiber.size, fiber.input / kSize, fiber.output / kSize, n,
                                          reinterpret_cast<const T*>(from), reinterpret_cast<T*>(to));
                         });
        ++begin;
      }
    });
  }
};

// Softmax of 16-bit floats: as many adjacent fibers as fit in a block, or some long fibers in three passes.
// A block has a row for each element of the fibers, with one element of each.
struct Converted {
  static constexpr size_t kBlock = 8192;  // floats
  static constexpr size_t kLong = 64;     // long fibers that are computed together
  static constexpr size_t kLeast = 16;    // fibers in a block that are worth it
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
    const bool is_long = fiber.size > kBlock / std::min(columns, kLeast);
    const size_t most = is_long ? kLong : std::clamp<size_t>(kBlock / fiber.size, 1, kColumns);
    const size_t blocks = (columns + most - 1) / most;
    const size_t first = beside ? 1 : 0;
    const size_t elements = fiber.size * std::min(columns, most);
    context.parallel_for(
        others.count(first) * blocks, grain_of(elements), [&](size_t begin, size_t end, size_t) {
          for (; begin < end; ++begin) {
            const size_t j = begin % blocks * most;
            const size_t n = std::min(most, columns - j);
            const size_t step = begin / blocks;
            const auto offset = static_cast<ptrdiff_t>(j) * kElement;
            others.walk_part(
                input + offset, output + offset, first, step, step + 1,
                [&](const char* from, char* to) { is_long ? long_fibers(n, from, to) : block(n, from, to); });
          }
        });
  }

  // Rows [row, row + rows) of `columns` fibers.
  void load(float* floats, size_t columns, const char* from, size_t row, size_t rows) const {
    from += static_cast<ptrdiff_t>(row) * fiber.input;
    if (columns == 1) return load_floats(floats, type, from, fiber.input / kElement, rows);
    for (size_t i = 0; i < rows; ++i, from += fiber.input) {
      load_floats(floats + i * columns, type, from, 1, columns);
    }
  }
  void store(const float* floats, size_t columns, char* to, size_t row, size_t rows) const {
    to += static_cast<ptrdiff_t>(row) * fiber.output;
    if (columns == 1) return store_floats(to, fiber.output / kElement, type, floats, rows);
    for (size_t i = 0; i < rows; ++i, to += fiber.output) {
      store_floats(to, 1, type, floats + i * columns, columns);
    }
  }

  // Fibers of at most kBlock elements in all.
  void block(size_t columns, const char* from, char* to) const {
    alignas(64) float floats[kBlock];
    load(floats, columns, from, 0, fiber.size);
    if (columns == 1) {
      functions.run(fiber.size, floats, floats);
    } else {
      const auto stride = static_cast<ptrdiff_t>(columns);
      functions.rows(fiber.size, stride, stride, columns, floats, floats);
    }
    store(floats, columns, to, 0, fiber.size);
  }

  // Calls f(floats, first row, rows) for pieces of the fibers.
  template <class F>
  void for_each_piece(size_t columns, const char* from, F f) const {
    alignas(64) float floats[kBlock];
    const size_t most = kBlock / columns;
    for (size_t row = 0; row < fiber.size; row += most) {
      const size_t rows = std::min(most, fiber.size - row);
      load(floats, columns, from, row, rows);
      f(floats, row, rows);
    }
  }

  // Three passes, each of which converts the fibers again: less memory instead of less work.
  void long_fibers(size_t columns, const char* from, char* to) const {
    const auto stride = static_cast<ptrdiff_t>(columns);
    float largest[kLong];
    std::fill_n(largest, columns, -INFINITY);
    for_each_piece(columns, from, [&](const float* x, size_t, size_t rows) {
      float here[kLong];
      if (columns == 1) {
        *here = ukernel::max_span(rows, x);
      } else {
        ukernel::max_rows(rows, stride, columns, x, here);
      }
      for (size_t j = 0; j < columns; ++j) {
        if (!(here[j] <= largest[j])) largest[j] = here[j];  // also takes NaN
      }
    });
    const auto map = [&](float* x, size_t rows, const float* factor, const float* summand) {
      if (columns == 1) return ukernel::scale_span(rows, x, *factor, *summand, x);
      ukernel::scale_rows(rows, stride, stride, columns, x, factor, summand, x);
    };
    float factor[kLong];
    float summand[kLong];
    const auto exponentials = [&](float* x, size_t rows) {
      std::fill_n(factor, columns, 1.0f);
      for (size_t j = 0; j < columns; ++j) summand[j] = -largest[j];
      map(x, rows, factor, summand);
      ukernel::exp_f32(rows * columns, x, x);
    };
    // In double, as the sums of many pieces are added one after the other.
    double sums[kLong] = {};
    for_each_piece(columns, from, [&](float* x, size_t, size_t rows) {
      exponentials(x, rows);
      float here[kLong];
      if (columns == 1) {
        *here = ukernel::sum_span(rows, x);
      } else {
        ukernel::sum_rows(rows, stride, columns, x, here);
      }
      for (size_t j = 0; j < columns; ++j) sums[j] += static_cast<double>(here[j]);
    });
    // log_softmax subtracts largest + log(sum); softmax multiplies exp(x - largest) by 1 / sum.
    for_each_piece(columns, from, [&](float* x, size_t row, size_t rows) {
      if (!functions.logarithm) exponentials(x, rows);
      for (size_t j = 0; j < columns; ++j) {
        factor[j] = functions.logarithm ? 1.0f : static_cast<float>(1 / sums[j]);
        summand[j] = functions.logarithm ? -(largest[j] + static_cast<float>(std::log(sums[j]))) : 0.0f;
      }
      map(x, rows, factor, summand);
      store(x, columns, to, row, rows);
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

template <class T>
Error compute_as(KernelContext& context, const SoftmaxLoops<T>& functions, const PairedFibers& fibers) {
  const Work<T> work{functions, fibers.fiber(), fibers.others(), fibers.input(), fibers.output()};
  if (work.is_contiguous()) {
    work.along_spans(context);
    return Error::Ok;
  }
  if constexpr (!kReachesColumns) return not_selected("softmax");
  work.down_columns(context);
  return Error::Ok;
}

// `doubles` returns the loops for float64: builds without it do not link them.
template <class Doubles>
Error compute(KernelContext& context, const SoftmaxFunctions& functions, Doubles doubles,
              const SoftmaxProblem& problem) {
  if (problem.self.numel() == 0) return Error::Ok;
  const PairedFibers& fibers = problem.fibers;
  const ScalarType type = problem.type();
  if (widens(type)) {
    Converted{functions, type, fibers.fiber(), fibers.others(), fibers.input(), fibers.output()}.run(context);
  } else if (is_double(type)) {
    return compute_as<double>(context, doubles(), fibers);
  } else {
    return compute_as<float>(context, functions, fibers);
  }
  return Error::Ok;
}

}  // namespace

Error softmax(KernelContext& context, const SoftmaxProblem& problem) {
  const auto rows = kReachesColumns ? ukernel::softmax_rows : nullptr;
  return compute(
      context, {ukernel::softmax_span, rows, false},
      [] { return SoftmaxLoops<double>{ukernel::softmax_span_f64, ukernel::softmax_rows_f64, false}; },
      problem);
}

Error log_softmax(KernelContext& context, const SoftmaxProblem& problem) {
  // The constants of both functions are linked together: without its operator this one is empty.
  if constexpr (selected_types("aten::_log_softmax.out") == 0) return unsupported_type(problem.type());
  const auto rows = kReachesColumns ? ukernel::log_softmax_rows : nullptr;
  return compute(
      context, {ukernel::log_softmax_span, rows, true},
      [] { return SoftmaxLoops<double>{ukernel::log_softmax_span_f64, ukernel::log_softmax_rows_f64, true}; },
      problem);
}

}  // namespace rushlight::kernels::host
