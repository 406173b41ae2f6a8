// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "kernels/shared/joint_axes.h"
#include "kernels/shared/normalization.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

// Where everything lies: `groups` steps from one group of elements that is normalized to the next,
// `elements` within such a group.
struct Layout {
  enum Group { kGroupInput, kGroupOutput, kGroupMean, kGroupRstd, kGroupOperands };
  enum Element { kInput, kOutput, kWeight, kBias, kElementOperands };
  JointAxes<kGroupOperands> groups;
  JointAxes<kElementOperands> elements;
  size_t count = 1;  // elements of a group
  ScalarType mean_type;
  ScalarType rstd_type;
};

ptrdiff_t parameter_stride(const std::optional<Tensor>& parameter, size_t d) {
  return parameter ? byte_stride(*parameter, d) : 0;
}

void plan_layout(const Tensor& input, const NormalizationParameters& parameters, size_t first,
                 const Tensor* const* outs, Layout* layout) {
  layout->mean_type = outs[1]->scalar_type();
  layout->rstd_type = outs[2]->scalar_type();
  for (size_t i = input.sizes().size(); i-- > 0;) {
    const size_t d = input.dim_order()[i];
    const auto size = static_cast<size_t>(input.sizes()[d]);
    const ptrdiff_t from = byte_stride(input, d);
    const ptrdiff_t to = byte_stride(*outs[0], d);
    if (d < first) {
      layout->groups.add({size, {from, to, byte_stride(*outs[1], d), byte_stride(*outs[2], d)}});
    } else {
      layout->count *= size;
      layout->elements.add({size,
                            {from, to, parameter_stride(parameters.weight, d - first),
                             parameter_stride(parameters.bias, d - first)}});
    }
  }
}

Error check_shapes(const Tensor& input, Span<const int64_t> normalized_shape,
                   const NormalizationParameters& parameters) {
  const size_t rank = input.sizes().size();
  RL_CHECK(!normalized_shape.empty() && normalized_shape.size() <= rank, Error::InvalidArgument,
           "normalized_shape: expected 1 to %lu sizes, got %lu", static_cast<unsigned long>(rank),
           static_cast<unsigned long>(normalized_shape.size()));
  const size_t first = rank - normalized_shape.size();
  for (size_t i = 0; i < normalized_shape.size(); ++i) {
    RL_CHECK(input.sizes()[first + i] == normalized_shape[i], Error::InvalidArgument,
             "normalized_shape: expected the input's size %ld at %lu, got %ld",
             static_cast<long>(input.sizes()[first + i]), static_cast<unsigned long>(i),
             static_cast<long>(normalized_shape[i]));
  }
  const auto shape = input.sizes().subspan(first, normalized_shape.size());
  RL_TRY(check_parameter_shape(parameters.weight, shape, "weight"));
  return check_parameter_shape(parameters.bias, shape, "bias");
}

// E are the elements, P weight and bias.
template <class E, class P>
void normalize_group(const Layout& layout, const E& values, const P& numbers, char* const* start,
                     const Moments<typename E::Held>& moments) {
  using A = typename E::Held;
  const auto& run = layout.elements.inner();
  layout.elements.walk(start, 1, [&](char* const* pointers) {
    for (size_t i = 0; i < run.size; ++i) {
      const auto at = [&](size_t k) { return pointers[k] + static_cast<ptrdiff_t>(i) * run.strides[k]; };
      const A x = values.load(at(Layout::kInput));
      const A weight = numbers.load(at(Layout::kWeight));
      const A bias = numbers.load(at(Layout::kBias));
      values.store(at(Layout::kOutput), (x - moments.mean) * moments.rstd * weight + bias);
    }
  });
}

template <class E, class P>
void normalize(const Layout& layout, const E& values, const P& numbers,
               const NormalizationParameters& parameters, char* const* start) {
  using A = typename E::Held;
  alignas(A) char one[sizeof(A)];
  alignas(A) char zero[sizeof(A)];
  numbers.store(one, 1);
  numbers.store(zero, 0);
  char* const weight = parameters.weight ? parameters.weight->mutable_data_ptr<char>() : one;
  char* const bias = parameters.bias ? parameters.bias->mutable_data_ptr<char>() : zero;
  layout.groups.walk(start, 0, [&](char* const* group) {
    char* const elements[] = {group[Layout::kGroupInput], group[Layout::kGroupOutput], weight, bias};
    const Moments<A> moments = moments_of<A>(layout.count, parameters.eps, [&](auto visit) {
      const auto& run = layout.elements.inner();
      layout.elements.walk(elements, 1, [&](char* const* pointers) {
        const char* value = pointers[Layout::kInput];
        for (size_t i = 0; i < run.size; ++i, value += run.strides[Layout::kInput]) {
          visit(values.load(value));
        }
      });
    });
    normalize_group(layout, values, numbers, elements, moments);
    write_statistic(group[Layout::kGroupMean], layout.mean_type, moments.mean);
    write_statistic(group[Layout::kGroupRstd], layout.rstd_type, moments.rstd);
  });
}

}  // namespace

// out1 and out2 are the mean and the inverse of the standard deviation of every group.
Error native_layer_norm_out(KernelContext&, const Tensor& input, Span<const int64_t> normalized_shape,
                            const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
                            double eps, Tensor& out0, Tensor& out1, Tensor& out2) {
  constexpr TypeSet kTypes = selected_types("aten::native_layer_norm.out");
  const NormalizationParameters parameters{weight, bias, eps};
  RL_TRY(check_shapes(input, normalized_shape, parameters));
  RL_TRY(check_normalization_types(input, parameters, out0, out1, out2));
  const size_t first = input.sizes().size() - normalized_shape.size();
  Shape statistics;
  for (size_t d = 0; d < input.sizes().size(); ++d) statistics.push(d < first ? input.sizes()[d] : 1);
  RL_TRY(resize_out(out0, input.sizes()));
  RL_TRY(resize_out(out1, statistics.span()));
  RL_TRY(resize_out(out2, statistics.span()));
  const Tensor* const outs[] = {&out0, &out1, &out2};
  Layout layout;
  plan_layout(input, parameters, first, outs, &layout);
  char* const start[] = {input.mutable_data_ptr<char>(), out0.mutable_data_ptr<char>(),
                         out1.mutable_data_ptr<char>(), out2.mutable_data_ptr<char>()};
  const ScalarType type = input.scalar_type();
  return dispatch_normalization<kTypes>(type, parameters.type(type),
                                        [&](const auto& values, const auto& numbers) {
                                          normalize(layout, values, numbers, parameters, start);
                                          return Error::Ok;
                                        });
}

}  // namespace rushlight::kernels
