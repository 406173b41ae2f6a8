// SPDX-License-Identifier: BSD-3-Clause
// Lowers elementwise nodes and softmax. Quantized sums and products use XNNPACK's arithmetic, to give the
// same integers; floating-point nodes use this build's kernels and may differ in the last bits.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "backends/xnnpack/node_lowering.h"
#include "runtime/base/log.h"

namespace rushlight::xnnpack {

namespace {

namespace one = schema::xnn::_xnnnode1x1_table;
namespace two = schema::xnn::_xnnnode2x1_table;

// Shapes broadcast from the last dimension, as in numpy.
std::vector<int32_t> broadcast_dims(const std::vector<int32_t>& a, const std::vector<int32_t>& b) {
  std::vector<int32_t> dims = a.size() < b.size() ? b : a;
  const std::vector<int32_t>& other = a.size() < b.size() ? a : b;
  for (size_t i = 0; i < other.size(); ++i) {
    // Sizes that do not broadcast are refused later, by the kernel.
    int32_t& dim = dims[dims.size() - other.size() + i];
    if (dim == 1) dim = other[i];
  }
  return dims;
}

// The integer constants of XNNPACK's quantized addition (xnn_init_qs8_add_minmax_scalar_params): the larger
// scale keeps 20 to 21 bits.
struct SumConstants {
  int32_t a, b, shift;
  int64_t offset;
};

Result<SumConstants> sum_constants(const Value& a, const Value& b, const Value& out, bool is_difference) {
  const float a_scale = a.scale / out.scale, b_scale = b.scale / out.scale;
  const float largest = std::max(a_scale, b_scale);
  RL_CHECK(largest >= 0x1p-10f && largest < 0x1p+8f, Error::NotSupported,
           "its scales are too far apart: the larger is %g times that of the result",
           static_cast<double>(largest));
  // ilogb(largest) is in [-10, 7], so the shift is in [13, 30] and the larger factor at most 2^21.
  const int shift = 20 - std::ilogb(largest);
  SumConstants constants{};
  constants.shift = shift;
  constants.a = static_cast<int32_t>(std::lrint(std::ldexp(a_scale, shift)));
  constants.b = static_cast<int32_t>(std::lrint(std::ldexp(b_scale, shift)));
  // a - b is a + (-b): one kernel serves both.
  if (is_difference) constants.b = -constants.b;
  // Half of the divisor rounds to nearest; the zero points' share of the sum is constant.
  constants.offset =
      (int64_t{1} << (shift - 1)) - int64_t{constants.a} * a.zero_point - int64_t{constants.b} * b.zero_point;
  return constants;
}

}  // namespace

ValueId NodeLowering::bound(float limit) { return std::isinf(limit) ? list_.none() : list_.real(limit); }

int64_t NodeLowering::quantized(float real, const Value& out) {
  const float least = out.datatype == Datatype::XnnDatatypeQuint8 ? 0 : -128, most = least + 255;
  // Clamped before it is rounded, because lrint is unspecified for values out of range. std::max() drops NaN.
  return std::lrint(std::min(std::max(least, real / out.scale + static_cast<float>(out.zero_point)), most));
}

void NodeLowering::quantized_bounds(const Value& out, int64_t* least, int64_t* most) const {
  *least = quantized(low_, out);
  *most = quantized(high_, out);
}

Error NodeLowering::clamp_result(uint32_t out, ValueId tensor) {
  // Integer layers have applied their bounds as stored values.
  if (!has_bounds() || is_byte(value(out).datatype)) return Error::Ok;
  ValueId from = tensor;
  if (list_.is_dynamic()) {  // a dynamic call must not resize its own input
    const CallList::Value shape = list_.value(tensor);
    from = list_.tensor(shape.dtype, shape.sizes, shape.order);
    list_.redirect(tensor, from);
  }
  list_.call("aten::clamp", "out", {from, bound(low_), bound(high_), tensor});
  return Error::Ok;
}

// Keeps the channels-last form if the input exists only in it, which avoids a transpose.
Error NodeLowering::lower_unary(const char* name, std::vector<ValueId> parameters, unsigned input_slot,
                                unsigned output_slot) {
  RL_TRY_ASSIGN(const uint32_t in, id_at(input_slot));
  RL_TRY_ASSIGN(const uint32_t out, id_at(output_slot));
  // The file may give the dims of an inner result in another layout; see infer_dims().
  forms_.infer_dims(out, value(in).dims);
  const bool as_pixels = forms_.prefers_pixels(in) && value(out).dims == value(in).dims;
  RL_TRY_ASSIGN(const ValueId from, as_pixels ? forms_.pixels(in) : forms_.plain(in));
  RL_TRY_ASSIGN(const ValueId to, as_pixels ? forms_.new_pixels(out) : forms_.new_plain(out));
  std::vector<ValueId> arguments = {from};
  arguments.insert(arguments.end(), parameters.begin(), parameters.end());
  arguments.push_back(to);
  list_.call(name, "out", std::move(arguments));
  return clamp_result(out, to);
}

Error NodeLowering::lower_gelu() {
  return lower_unary("aten::gelu", {list_.text("none")}, one::kInputId, one::kOutputId);
}

Error NodeLowering::lower_softmax() {
  const ValueId last = list_.integer(-1), half_to_float = list_.boolean(false);
  RL_TRY_ASSIGN(const uint32_t in, id_at(one::kInputId));
  RL_TRY_ASSIGN(const uint32_t out, id_at(one::kOutputId));
  forms_.infer_dims(out, value(in).dims);
  RL_TRY_ASSIGN(const ValueId from, forms_.plain(in));
  RL_TRY_ASSIGN(const ValueId to, forms_.new_plain(out));
  list_.call("aten::_softmax", "out", {from, last, half_to_float, to});
  return Error::Ok;
}

// An integer clamp compares stored values, unless input and output are quantized differently: then it
// rescales.
Error NodeLowering::lower_clamp() {
  RL_TRY_ASSIGN(const uint32_t out, id_at(one::kOutputId));
  ValueId least = 0, most = 0;
  if (is_byte(value(out).datatype)) {
    RL_TRY_ASSIGN(const uint32_t in, id_at(one::kInputId));
    if (!same_quantization(value(in), value(out))) return rescale(in, out);
    int64_t low = 0, high = 0;
    quantized_bounds(value(out), &low, &high);
    least = list_.integer(low);
    most = list_.integer(high);
  } else {
    least = bound(low_);
    most = bound(high_);
    if (!has_bounds()) return lower_copy();
  }
  // The bounds are arguments of the clamp now; lower_unary() must not apply them again.
  low_ = -kInfinity;
  high_ = kInfinity;
  return lower_unary("aten::clamp", {least, most}, one::kInputId, one::kOutputId);
}

// PReLU(x) = max(x, 0) + slope * min(x, 0).
Error NodeLowering::lower_prelu() {
  RL_TRY_ASSIGN(const uint32_t in, id_at(two::kInput1Id));
  RL_TRY_ASSIGN(const uint32_t slope, id_at(two::kInput2Id));
  RL_TRY_ASSIGN(const uint32_t out, id_at(two::kOutputId));
  forms_.infer_dims(out, value(in).dims);
  RL_TRY_ASSIGN(const ValueId from, forms_.plain(in));
  RL_TRY_ASSIGN(const ValueId factors, forms_.plain(slope));
  RL_TRY_ASSIGN(const ValueId to, forms_.new_plain(out));
  const CallList::Value shape = list_.value(to);
  const ValueId above = list_.tensor(shape.dtype, shape.sizes),
                below = list_.tensor(shape.dtype, shape.sizes);
  const ValueId zero = list_.real(0), none = list_.none();
  list_.call("aten::clamp", "out", {from, zero, none, above});
  list_.call("aten::clamp", "out", {from, none, zero, below});
  // A dynamic call must not resize its own input; a static one may write in place.
  const ValueId scaled = list_.is_dynamic() ? list_.tensor(shape.dtype, shape.sizes) : below;
  list_.call("aten::mul", "out", {below, factors, scaled});
  list_.call("aten::add", "out", {above, scaled, list_.integer(1), to});
  return Error::Ok;
}

Error NodeLowering::lower_binary(NodeKind kind) {
  RL_TRY_ASSIGN(const uint32_t a, id_at(two::kInput1Id));
  RL_TRY_ASSIGN(const uint32_t b, id_at(two::kInput2Id));
  RL_TRY_ASSIGN(const uint32_t out, id_at(two::kOutputId));
  forms_.infer_dims(out, broadcast_dims(value(a).dims, value(b).dims));
  if (is_byte(value(out).datatype)) {
    if (kind == NodeKind::XNNMultiply) return lower_quantized_product(a, b, out);
    const bool is_difference = kind == NodeKind::XNNSubtract;
    if (is_difference || kind == NodeKind::XNNAdd) return lower_quantized_sum(a, b, out, is_difference);
  }
  const bool alike = value(a).dims == value(b).dims && value(a).dims == value(out).dims;
  const bool as_pixels = alike && (forms_.prefers_pixels(a) || forms_.prefers_pixels(b));
  RL_TRY_ASSIGN(const ValueId left, as_pixels ? forms_.pixels(a) : forms_.plain(a));
  RL_TRY_ASSIGN(const ValueId right, as_pixels ? forms_.pixels(b) : forms_.plain(b));
  RL_TRY_ASSIGN(const ValueId to, as_pixels ? forms_.new_pixels(out) : forms_.new_plain(out));
  switch (kind) {
    case NodeKind::XNNAdd:
    case NodeKind::XNNSubtract:
      list_.call(kind == NodeKind::XNNAdd ? "aten::add" : "aten::sub", "out",
                 {left, right, list_.integer(1), to});
      break;
    case NodeKind::XNNMultiply:
      list_.call("aten::mul", "out", {left, right, to});
      break;
    case NodeKind::XNNDiv:
      list_.call("aten::div", "out", {left, right, to});
      break;
    case NodeKind::XNNMinimum:
      list_.call("aten::minimum", "out", {left, right, to});
      break;
    default:
      list_.call("aten::maximum", "out", {left, right, to});
  }
  return clamp_result(out, to);
}

Error NodeLowering::lower_quantized_sum(uint32_t a, uint32_t b, uint32_t out, bool is_difference) {
  RL_CHECK(is_byte(value(a).datatype) && is_byte(value(b).datatype), Error::NotSupported,
           "expected two tensors of bytes");
  RL_TRY_ASSIGN(const SumConstants constants, sum_constants(value(a), value(b), value(out), is_difference));
  int64_t least = 0, most = 0;
  quantized_bounds(value(out), &least, &most);
  RL_TRY_ASSIGN(const ValueId left, forms_.plain(a));
  RL_TRY_ASSIGN(const ValueId right, forms_.plain(b));
  RL_TRY_ASSIGN(const ValueId to, forms_.new_plain(out));
  list_.call("rushlight::quantized_add", "out",
             {left, right, list_.integer(constants.a), list_.integer(constants.b),
              list_.integer(constants.offset), list_.integer(constants.shift),
              list_.integer(value(out).zero_point), list_.integer(least), list_.integer(most), to});
  return Error::Ok;
}

// The product of the scales relative to the output's is one float32 multiplier, as in XNNPACK.
Error NodeLowering::lower_quantized_product(uint32_t a, uint32_t b, uint32_t out) {
  RL_CHECK(is_byte(value(a).datatype) && is_byte(value(b).datatype), Error::NotSupported,
           "expected two tensors of bytes");
  const float scale = value(a).scale * value(b).scale / value(out).scale;
  RL_CHECK(std::isfinite(scale) && scale > 0, Error::InvalidProgram, "its scales are out of range");
  int64_t least = 0, most = 0;
  quantized_bounds(value(out), &least, &most);
  RL_TRY_ASSIGN(const ValueId left, forms_.plain(a));
  RL_TRY_ASSIGN(const ValueId right, forms_.plain(b));
  RL_TRY_ASSIGN(const ValueId to, forms_.new_plain(out));
  list_.call("rushlight::quantized_mul", "out",
             {left, list_.integer(value(a).zero_point), right, list_.integer(value(b).zero_point),
              list_.scalars(std::vector<float>{scale}), list_.none(), list_.text("float"),
              list_.integer(value(out).zero_point), list_.integer(least), list_.integer(most), to});
  return Error::Ok;
}

}  // namespace rushlight::xnnpack
