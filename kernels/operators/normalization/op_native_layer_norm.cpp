// SPDX-License-Identifier: BSD-3-Clause
// Layer normalization (Ba, Kiros and Hinton, 2016) over the trailing dimensions, in any layout. Three passes
// over a group: mean, variance about the mean, and normalization. A missing weight or bias is one element
// with stride 0, so that one loop serves all four combinations.
#include "kernels/backs/backs.h"
#include "kernels/normalization/layer_norm.h"

namespace rushlight::kernels {

namespace {

using Layout = LayerNormLayout;

// E gives access to elements, P to weight and bias. Only the innermost axis is a loop here; walk() advances
// all four pointers along the others.
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

// `types`: the dtypes of mean and rstd.
template <class E, class P>
void normalize(const Layout& layout, const ScalarType* types, const E& values, const P& numbers,
               const NormalizationParameters& parameters, char* const* start) {
  using A = typename E::Held;
  // Substitutes for missing parameters, stored in the dtype that the accessor reads.
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
    write_statistic(group[Layout::kGroupMean], types[0], moments.mean);
    write_statistic(group[Layout::kGroupRstd], types[1], moments.rstd);
  });
}

}  // namespace

// out1 and out2: mean and inverse standard deviation of every group.
Error native_layer_norm_out(KernelContext& context, const Tensor& input, Span<const int64_t> normalized_shape,
                            const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
                            double eps, Tensor& out0, Tensor& out1, Tensor& out2) {
  constexpr TypeSet kTypes = selected_types("aten::native_layer_norm.out");
  const NormalizationParameters parameters{weight, bias, eps};
  Layout layout;
  RL_TRY(plan_layer_norm(input, normalized_shape, parameters, out0, out1, out2, &layout));
  const LayerNormProblem problem{{input, parameters, out0, out1, out2}, layout};
  return backs::native_layer_norm_out(context, problem, [&] {
    const ScalarType types[] = {out1.scalar_type(), out2.scalar_type()};
    char* const start[] = {input.mutable_data_ptr<char>(), out0.mutable_data_ptr<char>(),
                           out1.mutable_data_ptr<char>(), out2.mutable_data_ptr<char>()};
    const ScalarType type = input.scalar_type();
    return dispatch_normalization<kTypes>(type, parameters.type(type),
                                          [&](const auto& values, const auto& numbers) {
                                            normalize(layout, types, values, numbers, parameters, start);
                                            return Error::Ok;
                                          });
  });
}

}  // namespace rushlight::kernels
