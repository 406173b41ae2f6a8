// SPDX-License-Identifier: BSD-3-Clause
// Gradients of a convolution. The input's is the transposed convolution of grad_output (and vice versa); an
// element of the weight's is the correlation of an input channel with an output channel at one offset; the
// bias's is a sum over samples and positions. Direct loops with pairwise summation: as many multiplications
// as the forward pass, and no im2col scratch. 16-bit floats accumulate in float and are rounded once.
#include "kernels/checks/selection.h"
#include "kernels/elements/element_access.h"
#include "kernels/geometry/convolution.h"
#include "kernels/geometry/spatial.h"
#include "kernels/reduction/sum.h"
#include "kernels/walk/paired_axes.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

// A tensor [batch, channels, spatial...] with the spatial dimensions right-aligned to three. Strides are in
// bytes.
struct Samples {
  const char* data;
  ScalarType type;
  ptrdiff_t batch_stride;
  ptrdiff_t channel_stride;
  ptrdiff_t sizes[kSpatial] = {1, 1, 1};
  ptrdiff_t strides[kSpatial] = {};

  explicit Samples(const Tensor& tensor)
      : data(tensor.const_data_ptr<char>()),
        type(tensor.scalar_type()),
        batch_stride(byte_stride(tensor, 0)),
        channel_stride(byte_stride(tensor, 1)) {
    const size_t spatial = tensor.sizes().size() - 2;
    for (size_t i = 0; i < spatial; ++i) {
      sizes[kSpatial - spatial + i] = tensor.sizes()[i + 2];
      strides[kSpatial - spatial + i] = byte_stride(tensor, i + 2);
    }
  }
};

// Position p of the small side corresponds to position p * step + shift of the large side.
struct Alignment {
  ptrdiff_t step[kSpatial] = {1, 1, 1};
  ptrdiff_t shift[kSpatial] = {};
};

// The products of one row of the small side with the corresponding elements of the large side, summed in
// sequence. Positions in the padding are skipped.
template <class A>
A row_sum(const Samples& small, const Samples& large, const Alignment& alignment, const char* a,
          const char* b) {
  A sum = 0;
  for (ptrdiff_t p = 0; p < small.sizes[2]; ++p, a += small.strides[2]) {
    const ptrdiff_t at = p * alignment.step[2] + alignment.shift[2];
    if (at < 0 || at >= large.sizes[2]) continue;
    sum += load_as<A>(a, small.type) * load_as<A>(b + at * large.strides[2], large.type);
  }
  return sum;
}

// The sum over samples and positions of the products of two channels. Pairwise over the rows, so the rounding
// error grows with the length of a row and only with the logarithm of their number.
template <class A>
A correlate(const Samples& small, const Samples& large, const Alignment& alignment, ptrdiff_t batch,
            ptrdiff_t small_channel, ptrdiff_t large_channel) {
  PairwiseSum<A> sum;
  for (ptrdiff_t n = 0; n < batch; ++n) {
    const char* a = small.data + n * small.batch_stride + small_channel * small.channel_stride;
    const char* b = large.data + n * large.batch_stride + large_channel * large.channel_stride;
    for (ptrdiff_t p = 0; p < small.sizes[0]; ++p) {
      const ptrdiff_t plane = p * alignment.step[0] + alignment.shift[0];
      if (plane < 0 || plane >= large.sizes[0]) continue;
      for (ptrdiff_t q = 0; q < small.sizes[1]; ++q) {
        const ptrdiff_t row = q * alignment.step[1] + alignment.shift[1];
        if (row < 0 || row >= large.sizes[1]) continue;
        sum.add(row_sum<A>(small, large, alignment, a + p * small.strides[0] + q * small.strides[1],
                           b + plane * large.strides[0] + row * large.strides[1]));
      }
    }
  }
  return sum.total();
}

// gradient[c0, c1, k] = sum over n and p of small[n, c0, p] * large[n, group * size(1) + c1, p * stride + k *
// dilation - padding]. `small` is the side whose channels the weight's first dimension counts: the output or,
// if transposed, the input.
template <class A>
void weight_gradient(const Samples& small, const Samples& large, ptrdiff_t batch,
                     const ConvolutionArguments& arguments, const Tensor& out) {
  const size_t spatial = out.sizes().size() - 2;
  const auto groups = static_cast<ptrdiff_t>(arguments.groups);
  Alignment alignment;
  ptrdiff_t kernel[kSpatial] = {1, 1, 1};
  ptrdiff_t strides[kSpatial] = {};
  for (size_t i = 0; i < spatial; ++i) {
    kernel[kSpatial - spatial + i] = out.sizes()[i + 2];
    strides[kSpatial - spatial + i] = byte_stride(out, i + 2);
    alignment.step[kSpatial - spatial + i] = static_cast<ptrdiff_t>(spatial_item(arguments.stride, i));
  }
  // Axes that the convolution does not have are aligned at 0.
  const auto shift = [&](size_t axis, ptrdiff_t k) {
    if (axis + spatial < kSpatial) return ptrdiff_t{0};
    const size_t i = axis + spatial - kSpatial;
    return static_cast<ptrdiff_t>(k * spatial_item(arguments.dilation, i) -
                                  spatial_item(arguments.padding, i));
  };
  for (ptrdiff_t c0 = 0; c0 < out.size(0); ++c0) {
    const ptrdiff_t group = c0 / (out.size(0) / groups);
    for (ptrdiff_t c1 = 0; c1 < out.size(1); ++c1) {
      char* element = out.mutable_data_ptr<char>() + c0 * byte_stride(out, 0) + c1 * byte_stride(out, 1);
      for (ptrdiff_t k0 = 0; k0 < kernel[0]; ++k0) {
        alignment.shift[0] = shift(0, k0);
        for (ptrdiff_t k1 = 0; k1 < kernel[1]; ++k1) {
          alignment.shift[1] = shift(1, k1);
          for (ptrdiff_t k2 = 0; k2 < kernel[2]; ++k2) {
            alignment.shift[2] = shift(2, k2);
            store_as<A>(element + k0 * strides[0] + k1 * strides[1] + k2 * strides[2], out.scalar_type(),
                        correlate<A>(small, large, alignment, batch, c0, group * out.size(1) + c1));
          }
        }
      }
    }
  }
}

// The sum of grad_output for each channel: its correlation with ones, which reuses the pairwise summation.
template <class A>
void bias_gradient(const Tensor& grad_output, const Tensor& out) {
  const Samples samples(grad_output);
  const A one = 1;
  Samples ones = samples;
  ones.data = reinterpret_cast<const char*>(&one);
  ones.type = scalar_type_of<A>;
  ones.batch_stride = 0;
  ones.channel_stride = 0;
  for (ptrdiff_t& stride : ones.strides) stride = 0;
  for (ptrdiff_t c = 0; c < out.size(0); ++c) {
    store_as<A>(out.mutable_data_ptr<char>() + c * byte_stride(out, 0), out.scalar_type(),
                correlate<A>(samples, ones, Alignment{}, grad_output.size(0), c, 0));
  }
}

// Proves that grad_output has the shape of the forward result. All loops then stay inside the tensors: they
// run over the sizes of the small side and test each position of the large one.
Error check_gradient(const Tensor& grad_output, const Tensor& input, const Tensor& weight,
                     const ConvolutionArguments& arguments, Span<const bool> output_mask) {
  RL_CHECK(output_mask.size() == 3, Error::InvalidArgument, "output_mask: expected 3 booleans, got %lu",
           log_number(output_mask.size()));
  Shape shape;
  RL_TRY(convolution_shape(input, weight, std::nullopt, arguments, &shape));
  RL_TRY(check_same_dtype(input, grad_output, "input and grad_output"));
  bool fits = shape.dim == grad_output.sizes().size();
  for (size_t d = 0; fits && d < shape.dim; ++d) fits = shape.sizes[d] == grad_output.sizes()[d];
  RL_CHECK(fits, Error::InvalidArgument, "grad_output: expected the shape of the convolution");
  return Error::Ok;
}

}  // namespace

// output_mask selects the gradients to compute: of input, weight and bias. The other outputs stay unchanged.
Error convolution_backward_out(KernelContext&, const Tensor& grad_output, const Tensor& input,
                               const Tensor& weight, std::optional<Span<const int64_t>>,
                               Span<const int64_t> stride, Span<const int64_t> padding,
                               Span<const int64_t> dilation, bool transposed,
                               Span<const int64_t> output_padding, int64_t groups,
                               Span<const bool> output_mask, Tensor& out0, Tensor& out1, Tensor& out2) {
  constexpr TypeSet kTypes = selected_types("aten::convolution_backward.out");
  const ConvolutionArguments arguments{stride, padding, dilation, transposed, output_padding, groups};
  RL_TRY(check_gradient(grad_output, input, weight, arguments, output_mask));
  const ScalarType type = input.scalar_type();
  if (!contains(kTypes, type)) return unsupported_type(type);
  // convolve() accepts an `out0` whose spatial sizes are the input's: with a stride, several input sizes have
  // the same output size.
  if (output_mask[0]) {
    RL_TRY(check_same_dtype(input, out0, "input and out0"));
    RL_TRY(resize_out(out0, input.sizes()));
    ConvolutionArguments back = arguments;
    back.transposed = !transposed;
    RL_TRY(convolve(grad_output, weight, std::nullopt, back, out0));
  }
  const SizesType channels = grad_output.sizes()[1];
  if (output_mask[1]) {
    RL_TRY(check_same_dtype(input, out1, "input and out1"));
    RL_TRY(resize_out(out1, weight.sizes()));
  }
  if (output_mask[2]) {
    RL_TRY(check_same_dtype(input, out2, "input and out2"));
    RL_TRY(resize_out(out2, {&channels, 1}));
  }
  return dispatch<computed_in(kTypes)>(computed_type(type), [&](auto held) {
    using A = typename decltype(held)::Element;
    const Samples output(grad_output);
    const Samples in(input);
    if (output_mask[1]) {
      weight_gradient<A>(transposed ? in : output, transposed ? output : in, input.size(0), arguments, out1);
    }
    if (output_mask[2]) bias_gradient<A>(grad_output, out2);
    return Error::Ok;
  });
}

}  // namespace rushlight::kernels
