// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/optimized/softmax.h"

#include "kernels/shared/axes.h"
#include "kernels/shared/checks.h"

namespace rushlight::kernels {

namespace {

constexpr ptrdiff_t kFloat = sizeof(float);
constexpr size_t kGrain = 8192;   // elements worth another thread
constexpr size_t kColumns = 256;  // of a piece of work

size_t grain_of(size_t elements) { return elements >= kGrain ? 1 : kGrain / (elements + 1) + 1; }

struct Work {
  const SoftmaxFunctions& functions;
  Axis lane{1, 0, 0};
  PairedAxes others;
  const char* input;
  char* output;

  [[nodiscard]] bool runs() const { return lane.input == kFloat && lane.output == kFloat; }

  void along_runs(KernelContext& context) const {
    context.parallel_for(others.count(), grain_of(lane.size), [&](size_t begin, size_t end, size_t) {
      others.walk_part(input, output, 0, begin, end, [&](const char* from, char* to) {
        functions.run(lane.size, reinterpret_cast<const float*>(from), reinterpret_cast<float*>(to));
      });
    });
  }

  void down_columns(KernelContext& context) const {
    const Axis& inner = others.inner();
    const bool beside = inner.input == kFloat && inner.output == kFloat;
    const size_t columns = beside ? inner.size : 1;
    const size_t first = beside ? 1 : 0;
    const size_t blocks = (columns + kColumns - 1) / kColumns;
    const size_t elements = lane.size * (columns < kColumns ? columns : kColumns);
    const size_t count = others.count(first) * blocks;
    context.parallel_for(count, grain_of(elements), [&](size_t begin, size_t end, size_t) {
      while (begin < end) {
        const size_t j = begin % blocks * kColumns;
        const size_t n = columns - j < kColumns ? columns - j : kColumns;
        const size_t step = begin / blocks;
        others.walk_part(input + j * kFloat, output + j * kFloat, first, step, step + 1,
                         [&](const char* from, char* to) {
                           functions.rows(lane.size, lane.input / kFloat, lane.output / kFloat, n,
                                          reinterpret_cast<const float*>(from), reinterpret_cast<float*>(to));
                         });
        ++begin;
      }
    });
  }
};

}  // namespace

Error softmax_along(KernelContext& context, const SoftmaxFunctions& functions, const Tensor& self,
                    int64_t dim, const Tensor& out) {
  size_t along = 0;
  RL_TRY(normalize_dim(dim, self.dim(), &along));
  RL_TRY(resize_out(out, self.sizes()));
  if (self.numel() == 0) return Error::Ok;
  Work work{functions, {1, 0, 0}, {}, self.const_data_ptr<char>(), out.mutable_data_ptr<char>()};
  for (size_t i = self.sizes().size(); i-- > 0;) {
    const size_t d = self.dim_order()[i];
    const Axis axis{static_cast<size_t>(self.sizes()[d]), byte_stride(self, d), byte_stride(out, d)};
    if (d == along) {
      work.lane = axis;
    } else {
      work.others.add(axis);
    }
  }
  if (work.runs()) {
    work.along_runs(context);
  } else {
    work.down_columns(context);
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels
