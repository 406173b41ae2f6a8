// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/quantization/integer_linear.h"

#include "kernels/checks/selection.h"
#include "kernels/quantization/requantization.h"
#include "kernels/walk/view.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes = kQuantizedElements & (selected_types("rushlight::quantized_linear.out") |
                                                 selected_types("cortex_m::quantized_linear.out"));

// One dot product of `depth` multiply-accumulates for each output, for any strides. Rows of input and output
// are paired by their leading dimensions, whatever the dim order.
template <class T>
void multiply(const IntegerLinear& linear) {
  const Tensor& weight = linear.weight;
  const size_t last = linear.input.sizes().size() - 1;
  const SizesType depth = weight.sizes()[1], features = weight.sizes()[0];
  const ptrdiff_t in_step = linear.input.strides()[last], out_step = linear.out.strides()[last];
  const auto* bias = linear.bias ? linear.bias->const_data_ptr<ProductSum<T>>() : nullptr;
  // Rows of input and result that have constant strides in both form one loop.
  View source = View::of(linear.input), target = View::of(linear.out);
  PairedLoops(target.select(last, 0), source.select(last, 0))
      .for_each_span([&](char* to, const char* from, const auto& rows) {
        for (ptrdiff_t i = 0; i < rows.size; ++i, to += rows.target, from += rows.source) {
          const T* in = reinterpret_cast<const T*>(from);
          for (SizesType j = 0; j < features; ++j) {
            const int8_t* w = weight.const_data_ptr<int8_t>() + j * ptrdiff_t{weight.strides()[0]};
            // The bias includes the contribution of the input's zero point; only the weight's is subtracted.
            ProductSum<T> sum = bias == nullptr ? 0 : bias[j];
            for (SizesType k = 0; k < depth; ++k)
              sum += int32_t{in[k * in_step]} * (w[k * weight.strides()[1]] - linear.weight_zero_point);
            reinterpret_cast<T*>(to)[j * out_step] =
                static_cast<T>(ukernel::requantize_sum(linear.to, sum, static_cast<size_t>(j)));
          }
        }
      });
}

}  // namespace

// [..., depth] times [features, depth] transposed: the leading dimensions of the input stay.
Error plan_linear(const IntegerLinear& linear, TypeSet types, Shape* shape) {
  const Tensor& input = linear.input;
  const Tensor& weight = linear.weight;
  if (!contains(types, input.scalar_type())) return unsupported_type(input.scalar_type());
  RL_TRY(check_same_dtype(input, linear.out, "input and out"));
  RL_CHECK(weight.scalar_type() == ScalarType::Char, Error::InvalidType,
           "weight: expected dtype int8, got %s", to_string(weight.scalar_type()));
  RL_CHECK(input.dim() >= 1 && weight.dim() == 2, Error::InvalidArgument,
           "weight: expected rank 2 and an input with dimensions, got rank %d and %d",
           static_cast<int>(weight.dim()), static_cast<int>(input.dim()));
  const SizesType depth = input.sizes()[input.sizes().size() - 1];
  RL_CHECK(depth == weight.sizes()[1], Error::InvalidArgument, "weight: expected %ld input features, got %ld",
           static_cast<long>(depth), static_cast<long>(weight.sizes()[1]));
  *shape = Shape::of(input, 1);
  shape->push(weight.sizes()[0]);
  return Error::Ok;
}

Error multiply_integers(const IntegerLinear& linear) {
  return dispatch<kTypes>(linear.input.scalar_type(), [&](auto type) {
    multiply<typename decltype(type)::Element>(linear);
    return Error::Ok;
  });
}

}  // namespace rushlight::kernels
