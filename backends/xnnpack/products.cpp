// SPDX-License-Identifier: BSD-3-Clause
// Lowers linear layers, convolutions and matrix products. Weights stay in the payload if some dim order
// describes their layout; otherwise they are transposed once, at load. Quantized layers follow XNNPACK's
// arithmetic: int32 sums and one float32 multiplier per output.
#include <cmath>
#include <cstring>
#include <utility>

#include "backends/xnnpack/node_lowering.h"
#include "runtime/base/checked.h"
#include "runtime/base/log.h"

namespace rushlight::xnnpack {

namespace {

namespace two = schema::xnn::_xnnnode2x1_table;
namespace linear = schema::xnn::xnnfully_connected_table;
namespace conv = schema::xnn::_xnnnode_conv_table;

// The smallest scale of dynamic quantization: the smallest normal float32.
constexpr double kLeastScale = 0x1p-126;

bool is_float(const Value& value) {
  return value.datatype == Datatype::XnnDatatypeFp32 || value.datatype == Datatype::XnnDatatypeFp16;
}

int32_t number_at(Span<const uint8_t> bytes, size_t index) {
  int32_t number = 0;
  std::memcpy(&number, bytes.data() + index * sizeof number, sizeof number);
  return number;
}

// The sum of the weights of output `index`.
int64_t weight_sum(const Value& filter, size_t index, size_t outputs, bool is_interleaved) {
  const auto* weights = reinterpret_cast<const int8_t*>(filter.data.data());
  const size_t count = filter.data.size() / outputs;
  const size_t first = is_interleaved ? index : index * count, step = is_interleaved ? outputs : 1;
  // No overflow: at most 2^40 weights of 8 bits.
  int64_t sum = 0;
  for (size_t i = 0; i < count; ++i) sum += weights[first + i * step];
  return sum;
}

// Returns false if an argument, a uint32 in XNNPACK, is too large for an operator.
bool fits(std::initializer_list<int64_t> sizes) {
  for (const int64_t size : sizes) {
    if (size > int64_t{kMostSize}) return false;
  }
  return true;
}

}  // namespace

// A constant bias is converted to the layer's dtype; another one is a tensor of the graph.
Result<ValueId> NodeLowering::bias_of(uint32_t id, ScalarType dtype) {
  if (id == kNoValue) return list_.none();
  RL_CHECK(id < forms_.size(), Error::InvalidProgram, "expected one of %lu values, got %lu",
           log_number(forms_.size()), log_number(id));
  return value(id).is_constant ? forms_.constant_as(dtype, value(id).dims, {}, id) : forms_.plain(id);
}

// Folds the zero point's share of each sum into the int32 bias, and computes XNNPACK's float32 scale of each
// output.
Error NodeLowering::fold(uint32_t input, uint32_t filter, uint32_t bias, uint32_t output, size_t outputs,
                         bool is_interleaved, Layer* layer) {
  const Value &in = value(input), &weights = value(filter), &out = value(output);
  const bool is_known = weights.is_constant && element_type(weights.datatype).ok() &&
                        *element_type(weights.datatype) == ScalarType::Char && weights.zero_point == 0;
  RL_CHECK(is_known, Error::NotSupported, "expected constant weights of int8 with a zero point of 0");
  RL_CHECK(in.scale > 0 && out.scale > 0 && weights.is_quantized(), Error::InvalidProgram,
           "it has no scales");
  const bool is_per_output = weights.scales.size() == outputs;
  RL_CHECK(weights.data.size() >= outputs, Error::InvalidProgram, "it has no weights");
  RL_CHECK(outputs != 0 && (weights.scales.empty() || is_per_output), Error::InvalidProgram,
           "expected %lu scales of weights, got %lu", log_number(outputs), log_number(weights.scales.size()));
  Span<const uint8_t> addends;
  if (bias != kNoValue) {
    RL_CHECK(bias < forms_.size(), Error::InvalidProgram, "its bias is not a value");
    const Value& known = value(bias);
    const bool is_whole = known.is_constant && (known.datatype == Datatype::XnnDatatypeQint32 ||
                                                known.datatype == Datatype::XnnDatatypeQcint32);
    RL_CHECK(is_whole && known.data.size() == outputs * sizeof(int32_t), Error::InvalidProgram,
             "expected a constant bias of %lu int32", log_number(outputs));
    addends = known.data;
  }
  std::vector<int32_t> folded(outputs);
  // One scale for all outputs stays a single element.
  std::vector<float> scales(weights.scales.empty() ? 1 : outputs);
  for (size_t i = 0; i < outputs; ++i) {
    // sum((x - zero) * w) = sum(x * w) - zero * sum(w): the second term is constant. Padded pixels hold the
    // zero point, so they count in both sums.
    const int64_t sum = (addends.empty() ? 0 : int64_t{number_at(addends, i)}) -
                        in.zero_point * weight_sum(weights, i, outputs, is_interleaved);
    RL_CHECK(checked_add(sum, 0, &folded[i]), Error::NotSupported, "its sums have more than 32 bits");
  }
  for (size_t i = 0; i < scales.size(); ++i) {
    // In float32 and in this order, as XNNPACK: another order could change the last bit.
    scales[i] = in.scale * weights.scale_of(i) / out.scale;
    RL_CHECK(std::isfinite(scales[i]) && scales[i] > 0, Error::InvalidProgram, "its scales are out of range");
  }
  layer->folded = list_.scalars(folded);
  layer->multipliers = list_.scalars(scales);
  quantized_bounds(out, &layer->least, &layer->most);
  return Error::Ok;
}

// Transposes weights [inputs, outputs] to [outputs, inputs]: constants once, others by a call.
Result<ValueId> NodeLowering::transposed(uint32_t filter) {
  const Value& weights = value(filter);
  RL_TRY_ASSIGN(const ScalarType type, element_type(weights.datatype));
  const std::vector<int32_t> sizes = {weights.dims[1], weights.dims[0]};
  if (!weights.is_constant) {
    RL_TRY_ASSIGN(const ValueId from, forms_.plain(filter));
    const ValueId to = list_.tensor(type, sizes);
    list_.call("aten::permute_copy", "out", {from, list_.integers({1, 0}), to});
    return to;
  }
  const size_t width = element_size(type);
  const auto rows = static_cast<size_t>(sizes[0]), columns = static_cast<size_t>(sizes[1]);
  std::vector<uint8_t> moved(weights.data.size());
  for (size_t r = 0; r < rows; ++r) {
    for (size_t c = 0; c < columns; ++c)
      std::memcpy(moved.data() + (r * columns + c) * width, weights.data.data() + (c * rows + r) * width,
                  width);
  }
  return list_.own_constant(type, sizes, {}, std::move(moved));
}

// Multiplies dynamically quantized rows (one range per row) by `weight`, which holds the integers of
// `weights`.
Error NodeLowering::multiply_dynamic(uint32_t input, const Value& weights, ValueId weight, ValueId addend,
                                     uint32_t output) {
  std::vector<float> scales = weights.scales;
  if (scales.empty()) scales.push_back(weights.scale);
  const auto* bytes = reinterpret_cast<const uint8_t*>(scales.data());
  std::vector<int32_t> shape = {static_cast<int32_t>(scales.size())};
  // Groups: one scale per group of inputs, row by row.
  if (weights.group_size != 0) shape = {weights.dims[0], weights.dims[1] / weights.group_size};
  const ValueId factors = list_.own_constant(
      ScalarType::Float, shape, {}, std::vector<uint8_t>(bytes, bytes + scales.size() * sizeof(float)));
  RL_TRY_ASSIGN(const ValueId from, forms_.plain(input));
  RL_TRY_ASSIGN(const ValueId to, forms_.new_plain(output));
  // Activations are quantized to int8, [-128, 127], with a range for each row.
  list_.call("rushlight::dynamic_linear", "out",
             {from, weight, factors, addend, list_.boolean(true), list_.text("xnnpack"), list_.integer(-128),
              list_.integer(127), list_.real(kLeastScale), to});
  return clamp_result(output, to);
}

// Three cases, by the input: statically quantized, dynamically quantized, floating point.
Error NodeLowering::lower_linear() {
  RL_TRY_ASSIGN(const uint32_t input, id_at(linear::kInput1Id));
  RL_TRY_ASSIGN(const uint32_t filter, id_at(linear::kFilterId, 2));
  RL_TRY_ASSIGN(const uint32_t output, id_at(linear::kOutputId));
  const auto bias = fields_.scalar<uint32_t>(linear::kBiasId);
  const Value &in = value(input), &weights = value(filter);
  const bool is_transposed = (fields_.scalar<uint32_t>(linear::kFlags) & kTransposeWeights) != 0;
  RL_CHECK(!is_transposed || is_float(weights), Error::NotSupported, "its quantized weights are transposed");
  RL_TRY_ASSIGN(const ValueId from, forms_.plain(input));
  // Statically quantized: integers in, integers out.
  if (is_byte(in.datatype)) {
    Layer layer{};
    const auto outputs = static_cast<size_t>(weights.dims[0]);
    RL_TRY(fold(input, filter, bias, output, outputs, false, &layer));
    RL_TRY_ASSIGN(const ValueId weight, forms_.plain(filter));
    RL_TRY_ASSIGN(const ValueId to, forms_.new_plain(output));
    list_.call(
        "rushlight::quantized_linear", "out",
        {from, weight, layer.folded, layer.multipliers, list_.none(), list_.text("float"),
         list_.integer(value(output).zero_point), list_.integer(layer.least), list_.integer(layer.most), to});
    return Error::Ok;
  }
  RL_TRY_ASSIGN(const ValueId addend, bias_of(bias, *element_type(in.datatype)));
  if (is_dynamic(in.datatype)) {
    // nonbatch_dims == 1: each row of the input has its own range.
    RL_CHECK(weights.is_constant && weights.is_quantized() && in.nonbatch_dims == 1, Error::NotSupported,
             "expected constant quantized weights, and a range for each row");
    const bool is_half = *element_type(weights.datatype) == ScalarType::Byte;
    // 4-bit weights, two per byte; an odd row is padded.
    const ValueId weight =
        is_half
            ? list_.constant(ScalarType::Byte, {weights.dims[0], (weights.dims[1] + 1) / 2}, {}, weights.data)
            : *forms_.plain(filter);
    return multiply_dynamic(input, weights, weight, addend, output);
  }
  RL_CHECK(is_float(in) && in.datatype == weights.datatype, Error::NotSupported, "it multiplies %s by %s",
           to_string(in.datatype), to_string(weights.datatype));
  RL_TRY_ASSIGN(const ValueId weight, is_transposed ? transposed(filter) : forms_.plain(filter));
  RL_TRY_ASSIGN(const ValueId to, forms_.new_plain(output));
  list_.call("rushlight::linear_act", "clamp_out",
             {from, weight, addend, list_.none(), list_.real(low_), list_.real(high_), to});
  return Error::Ok;
}

// Checks the geometry first, because XNNPACK stores it redundantly, in the node and in the shapes of its
// values.
Error NodeLowering::lower_convolution(NodeKind kind) {
  // Images are [n, height, width, channels], so dims[3] is the number of channels.
  RL_TRY_ASSIGN(const uint32_t input, id_at(conv::kInput1Id, kPixelRank));
  RL_TRY_ASSIGN(const uint32_t filter, id_at(conv::kFilterId, kPixelRank));
  RL_TRY_ASSIGN(const uint32_t output, id_at(conv::kOutputId, kPixelRank));
  const auto bias = fields_.scalar<uint32_t>(conv::kBiasId);
  const Value &in = value(input), &weights = value(filter);
  const bool is_transposed = kind == NodeKind::XNNConvTranspose2d;
  const bool is_depthwise = kind == NodeKind::XNNDepthwiseConv2d;
  const int64_t groups = size_at(conv::kGroups), per_group = size_at(conv::kGroupOutputChannels);
  const int64_t top = size_at(conv::kPaddingTop), left = size_at(conv::kPaddingLeft);
  // Kernels take one padding per dimension.
  RL_CHECK(top == size_at(conv::kPaddingBottom) && left == size_at(conv::kPaddingRight), Error::NotSupported,
           "expected equal padding on both sides");
  RL_CHECK(fits({groups, per_group, size_at(conv::kGroupInputChannels), top, left}), Error::InvalidProgram,
           "its channels or paddings are out of range");
  const int64_t outputs = groups * per_group, inputs = size_at(conv::kGroupInputChannels);
  RL_CHECK(outputs == value(output).dims[3] && groups * inputs == in.dims[3] && weights.is_constant,
           Error::InvalidProgram, "its channels do not match its values");
  const int64_t height = size_at(conv::kKernelHeight), width = size_at(conv::kKernelWidth);
  // Depthwise weights interleave the outputs; others are [output, height, width, input].
  const std::vector<int64_t> expected = is_depthwise ? std::vector<int64_t>{1, height, width, outputs}
                                                     : std::vector<int64_t>{outputs, height, width, inputs};
  RL_CHECK(std::vector<int64_t>(weights.dims.begin(), weights.dims.end()) == expected &&
               (!is_depthwise || inputs == 1),
           Error::InvalidProgram, "its weights have other dims than its kernel");
  const Window window{list_.integers({size_at(conv::kSubsamplingHeight), size_at(conv::kSubsamplingWidth)}),
                      list_.integers({top, left}),
                      list_.integers({size_at(conv::kDilationHeight), size_at(conv::kDilationWidth)}),
                      list_.boolean(is_transposed),
                      list_.integers({size_at(conv::kAdjustmentHeight), size_at(conv::kAdjustmentWidth)}),
                      list_.integer(groups)};
  const ScalarType dtype = is_byte(in.datatype) ? ScalarType::Char : *element_type(in.datatype);
  // XNNPACK executes these as linear layers (xnn_define_convolution_2d), so each pixel is quantized with its
  // own range.
  const bool is_pointwise = kind == NodeKind::XNNConv2d && height == 1 && width == 1 && groups == 1 &&
                            top == 0 && left == 0 && size_at(conv::kSubsamplingHeight) == 1 &&
                            size_at(conv::kSubsamplingWidth) == 1;
  if (is_pointwise && is_dynamic(in.datatype) && weights.is_quantized()) {
    RL_TRY_ASSIGN(const ScalarType type, element_type(weights.datatype));
    RL_CHECK(type == ScalarType::Char, Error::NotSupported, "expected weights of int8");
    RL_TRY_ASSIGN(const ValueId addend, bias_of(bias, dtype));
    const ValueId rows = list_.constant(type, {weights.dims[0], weights.dims[3]}, {}, weights.data);
    return multiply_dynamic(input, weights, rows, addend, output);
  }
  RL_TRY_ASSIGN(const ValueId weight, filter_of(filter, dtype, is_depthwise, is_transposed ? groups : 0));
  if (is_byte(in.datatype)) {
    Layer layer{};
    RL_TRY(fold(input, filter, bias, output, static_cast<size_t>(outputs), is_depthwise, &layer));
    return convolve_integers(input, output, weight, layer, window);
  }
  RL_CHECK(is_dynamic(in.datatype) ? weights.is_quantized() : is_float(in) && is_float(weights),
           Error::NotSupported, "it multiplies %s by %s", to_string(in.datatype),
           to_string(weights.datatype));
  RL_TRY_ASSIGN(const ValueId addend, bias_of(bias, dtype));
  RL_TRY_ASSIGN(const ValueId from, is_dynamic(in.datatype) ? fake_quantized(input) : forms_.pixels(input));
  RL_TRY_ASSIGN(const ValueId to, forms_.new_pixels(output));
  list_.call("rushlight::convolution_act", "clamp_out",
             {from, weight, addend, window.stride, window.padding, window.dilation, window.transposed,
              window.extra, window.groups, list_.none(), list_.real(low_), list_.real(high_), to});
  return Error::Ok;
}

Error NodeLowering::convolve_integers(uint32_t input, uint32_t output, ValueId weight, const Layer& layer,
                                      const Window& window) {
  RL_TRY_ASSIGN(const ValueId from, forms_.pixels(input));
  RL_TRY_ASSIGN(const ValueId to, forms_.new_pixels(output));
  list_.call("rushlight::quantized_convolution", "out",
             {from, list_.integer(value(input).zero_point), weight, layer.folded, layer.multipliers,
              list_.none(), window.stride, window.padding, window.dilation, window.transposed, window.extra,
              window.groups, list_.text("float"), list_.integer(value(output).zero_point),
              list_.integer(layer.least), list_.integer(layer.most), to});
  return Error::Ok;
}

// Quantizes and dequantizes pixels with one range per image. No operator convolves these integers; the
// convolution sums floats that are multiples of the scale.
Result<ValueId> NodeLowering::fake_quantized(uint32_t input) {
  const Value& in = value(input);
  RL_TRY_ASSIGN(const ValueId from, forms_.plain(input));
  const ValueId to = list_.tensor(ScalarType::Float, in.dims);
  list_.call("rushlight::dynamic_fake_quantize", "out",
             {from, list_.integer(in.nonbatch_dims), list_.text("xnnpack"), list_.integer(-128),
              list_.integer(127), list_.real(kLeastScale), to});
  return forms_.pixels_of(to);
}

// Weights as [outputs, inputs, height, width], or for transposed convolutions [inputs, outputs, height,
// width]. Uses the payload's bytes if a dim order describes their layout.
Result<ValueId> NodeLowering::filter_of(uint32_t filter, ScalarType dtype, bool is_depthwise,
                                        int64_t transposed_groups) {
  const Value& weights = value(filter);
  const std::vector<int32_t>& dims = weights.dims;
  // [1, height, width, outputs] in memory is [outputs, 1, height, width] with the outputs innermost.
  if (is_depthwise) return forms_.constant_as(dtype, {dims[3], 1, dims[1], dims[2]}, {1, 2, 3, 0}, filter);
  if (transposed_groups == 0)
    return forms_.constant_as(dtype, {dims[0], dims[3], dims[1], dims[2]}, {0, 2, 3, 1}, filter);
  if (transposed_groups == 1)
    return forms_.constant_as(dtype, {dims[3], dims[0], dims[1], dims[2]}, {1, 2, 3, 0}, filter);
  // Dimension 0 is groups * outputs in the payload, and groups * inputs in the operator's weights: no dim
  // order can express that.
  std::vector<uint8_t> made;
  RL_TRY_ASSIGN(const Span<const uint8_t> elements, forms_.elements_as(dtype, filter, &made));
  // Transposed with groups: [groups, outputs, taps, inputs] to [groups, inputs, outputs, taps].
  const auto groups = static_cast<size_t>(transposed_groups), outputs = static_cast<size_t>(dims[0]) / groups;
  const size_t taps = static_cast<size_t>(dims[1]) * static_cast<size_t>(dims[2]);
  const auto inputs = static_cast<size_t>(dims[3]);
  const size_t width = element_size(dtype);
  std::vector<uint8_t> moved(elements.size());
  for (size_t g = 0; g < groups; ++g) {
    for (size_t o = 0; o < outputs; ++o) {
      for (size_t t = 0; t < taps; ++t) {
        for (size_t i = 0; i < inputs; ++i) {
          const size_t from = ((g * outputs + o) * taps + t) * inputs + i;
          const size_t to = ((g * inputs + i) * outputs + o) * taps + t;
          std::memcpy(moved.data() + to * width, elements.data() + from * width, width);
        }
      }
    }
  }
  return list_.own_constant(
      dtype, {static_cast<int32_t>(groups * inputs), static_cast<int32_t>(outputs), dims[1], dims[2]}, {},
      std::move(moved));
}

Error NodeLowering::lower_matmul() {
  RL_TRY_ASSIGN(const uint32_t a, id_at(two::kInput1Id, 3));
  RL_TRY_ASSIGN(const uint32_t b, id_at(two::kInput2Id, 3));
  RL_TRY_ASSIGN(const uint32_t out, id_at(two::kOutputId, 3));
  RL_CHECK(fields_.scalar<uint32_t>(two::kFlags) == 0, Error::NotSupported, "it has flags");
  RL_TRY_ASSIGN(const ValueId left, forms_.plain(a));
  RL_TRY_ASSIGN(const ValueId right, forms_.plain(b));
  RL_TRY_ASSIGN(const ValueId to, forms_.new_plain(out));
  list_.call("aten::bmm", "out", {left, right, to});
  return clamp_result(out, to);
}

}  // namespace rushlight::xnnpack
