// SPDX-License-Identifier: BSD-3-Clause
// Lowers nodes that move elements or change their representation. Integer-to-integer conversions become a
// lookup table of 256 entries: exact for any rule of rounding, and one load per element.
#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "backends/xnnpack/node_lowering.h"
#include "runtime/base/log.h"

namespace rushlight::xnnpack {

namespace {

namespace one = schema::xnn::_xnnnode1x1_table;

int64_t least_of(Datatype type) { return type == Datatype::XnnDatatypeQuint8 ? 0 : -128; }

}  // namespace

Error NodeLowering::lower_convert() {
  RL_TRY_ASSIGN(const uint32_t in, id_at(one::kInputId));
  RL_TRY_ASSIGN(const uint32_t out, id_at(one::kOutputId));
  const Datatype from = value(in).datatype, to = value(out).datatype;
  if (is_dynamic(to)) return forms_.share(out, in);  // its readers quantize
  if (is_byte(from) && is_byte(to)) return requantize(in, out);
  RL_TRY_ASSIGN(const ScalarType type, element_type(to));
  forms_.infer_dims(out, value(in).dims);
  const bool as_pixels = forms_.prefers_pixels(in) && value(out).dims == value(in).dims;
  RL_TRY_ASSIGN(const ValueId source, as_pixels ? forms_.pixels(in) : forms_.plain(in));
  RL_TRY_ASSIGN(const ValueId result, as_pixels ? forms_.new_pixels(out) : forms_.new_plain(out));
  if (is_byte(to) || is_byte(from)) {
    const Value& quantized = value(is_byte(to) ? out : in);
    // quint8 is [0, 255], qint8 [-128, 127].
    const int64_t least = least_of(quantized.datatype);
    const ScalarType stored = least == 0 ? ScalarType::Byte : ScalarType::Char;
    const std::vector<ValueId> range = {list_.real(quantized.scale), list_.integer(quantized.zero_point),
                                        list_.integer(least), list_.integer(least + 255),
                                        list_.integer(static_cast<int64_t>(stored))};
    std::vector<ValueId> arguments = {source};
    arguments.insert(arguments.end(), range.begin(), range.end());
    if (is_byte(from)) arguments.push_back(list_.integer(static_cast<int64_t>(type)));
    arguments.push_back(result);
    const char* name = is_byte(to) ? "quantized_decomposed::quantize_per_tensor"
                                   : "quantized_decomposed::dequantize_per_tensor";
    list_.call(name, "out", std::move(arguments));
    return Error::Ok;
  }
  list_.call("aten::_to_copy", "out", {source, list_.boolean(false), list_.none(), result});
  return Error::Ok;
}

// Follows XNNPACK (xnn_init_qs8_cvt_scalar_params): the ratio of the scales has 8 fractional bits. A lookup
// table covers all 256 inputs.
Error NodeLowering::requantize(uint32_t in, uint32_t out) {
  const Value &from = value(in), &to = value(out);
  const float quotient = from.scale / to.scale;
  // XNNPACK's limits for this conversion: the multiplier has at most 16 bits.
  RL_CHECK(quotient >= 0x1p-8f && quotient <= 0x1p+7f, Error::NotSupported,
           "its scales are too far apart: one is %g times the other", static_cast<double>(quotient));
  const auto multiplier = static_cast<int32_t>(std::lrint(256.0f * quotient));
  return look_up(in, out, [&](int32_t number) {
    // 128 rounds to nearest before the shift by 8.
    return int64_t{((number - from.zero_point) * multiplier + 128) >> 8} + to.zero_point;
  });
}

// A clamp with different scales: computes each result from the real value of its input.
Error NodeLowering::rescale(uint32_t in, uint32_t out) {
  const Value &from = value(in), &to = value(out);
  const float inverse = 1.0f / to.scale;
  return look_up(in, out, [&](int32_t number) {
    const float real = static_cast<float>(number - from.zero_point) * from.scale;
    // Clamped in real numbers first, so that lrint cannot overflow.
    return int64_t{std::lrint(std::min(std::max(real * inverse, -512.0f), 512.0f))} + to.zero_point;
  });
}

// Builds the lookup table, within the node's bounds.
Error NodeLowering::look_up(uint32_t in, uint32_t out, const std::function<int64_t(int32_t)>& result) {
  const Value &from = value(in), &to = value(out);
  RL_CHECK(from.datatype == to.datatype, Error::NotSupported, "it changes %s into %s",
           to_string(from.datatype), to_string(to.datatype));
  int64_t low = 0, high = 0;
  quantized_bounds(to, &low, &high);
  const auto least = static_cast<int32_t>(least_of(from.datatype));
  std::vector<uint8_t> table;
  // Entry 0 belongs to the least integer.
  for (int32_t number = least; number < least + 256; ++number) {
    table.push_back(static_cast<uint8_t>(std::min(std::max(result(number), low), high)));
  }
  const ScalarType type = least == 0 ? ScalarType::Byte : ScalarType::Char;
  const ValueId numbers = list_.own_constant(type, {256}, {}, std::move(table));
  return lower_unary("rushlight::quantized_lookup", {numbers}, one::kInputId, one::kOutputId);
}

// A copy between different shapes is a reshape.
Error NodeLowering::lower_copy() {
  RL_TRY_ASSIGN(const uint32_t in, id_at(one::kInputId));
  RL_TRY_ASSIGN(const uint32_t out, id_at(one::kOutputId));
  if (value(in).numel() == value(out).numel() && value(in).dims != value(out).dims) {
    RL_TRY_ASSIGN(const ValueId from, forms_.plain(in));
    RL_TRY_ASSIGN(const ValueId to, forms_.new_plain(out));
    std::vector<int64_t> dims(value(out).dims.begin(), value(out).dims.end());
    list_.call("aten::view_copy", "out", {from, list_.integers(std::move(dims)), to});
    return Error::Ok;
  }
  return lower_unary("aten::clone", {list_.none()}, one::kInputId, one::kOutputId);
}

Error NodeLowering::lower_transpose() {
  namespace slot = schema::xnn::xnnstatic_transpose_table;
  const auto order = fields_.vector<uint32_t>(slot::kPerm);
  RL_TRY_ASSIGN(const uint32_t in, id_at(slot::kInputId, order.size()));
  RL_TRY_ASSIGN(const uint32_t out, id_at(slot::kOutputId, order.size()));
  RL_TRY_ASSIGN(const ValueId from, forms_.plain(in));
  RL_TRY_ASSIGN(const ValueId to, forms_.new_plain(out));
  list_.call("aten::permute_copy", "out",
             {from, list_.integers(std::vector<int64_t>(order.begin(), order.end())), to});
  return Error::Ok;
}

Error NodeLowering::lower_reshape() {
  namespace slot = schema::xnn::xnnstatic_reshape_table;
  const auto sizes = fields_.vector<uint32_t>(slot::kNewShape);
  RL_TRY_ASSIGN(const uint32_t in, id_at(slot::kInputId));
  RL_TRY_ASSIGN(const uint32_t out, id_at(slot::kOutputId, sizes.size()));
  // An alias costs nothing; a copy is the fallback.
  RL_TRY_ASSIGN(const bool is_shared, forms_.share_reshaped(out, in));
  if (is_shared) return Error::Ok;
  std::vector<int64_t> listed;
  size_t open = 0;
  for (const uint32_t size : sizes) {
    listed.push_back(size == 0 ? -1 : int64_t{size});  // 0: inferred
    open += size == 0 ? 1 : 0;
  }
  RL_CHECK(open <= 1, Error::NotSupported, "expected at most one inferred size, got %lu", log_number(open));
  RL_TRY_ASSIGN(const ValueId from, forms_.plain(in));
  RL_TRY_ASSIGN(const ValueId to, forms_.new_plain(out));
  list_.call("aten::view_copy", "out", {from, list_.integers(std::move(listed)), to});
  return Error::Ok;
}

Error NodeLowering::lower_concatenate() {
  namespace slot = schema::xnn::_xnncat_table;
  constexpr unsigned kInputs[] = {slot::kInput1Id, slot::kInput2Id, slot::kInput3Id, slot::kInput4Id,
                                  slot::kInput5Id};
  // Concatenate5 was added later and does not follow 2 to 4 in the enumeration.
  const size_t count = kind_ == NodeKind::XNNConcatenate5
                           ? 5
                           : static_cast<size_t>(kind_) - static_cast<size_t>(NodeKind::XNNConcatenate2) + 2;
  RL_TRY_ASSIGN(const uint32_t out, id_at(slot::kOutputId));
  std::vector<ValueId> parts;
  for (size_t i = 0; i < count; ++i) {
    RL_TRY_ASSIGN(const uint32_t in, id_at(kInputs[i], value(out).rank()));
    RL_TRY_ASSIGN(const ValueId part, forms_.plain(in));
    parts.push_back(part);
  }
  const auto axis = fields_.scalar<int32_t>(slot::kAxis);
  RL_TRY_ASSIGN(const ValueId to, forms_.new_plain(out));
  list_.call("aten::cat", "out", {list_.tensors(parts), list_.integer(axis), to});
  return Error::Ok;
}

// Slices one dimension per call; only the last call writes the node's output.
Error NodeLowering::lower_slice() {
  namespace slot = schema::xnn::xnnstatic_slice_table;
  const auto offsets = fields_.vector<uint32_t>(slot::kOffsets),
             sizes = fields_.vector<uint32_t>(slot::kSizes);
  RL_TRY_ASSIGN(const uint32_t in, id_at(slot::kInputId, offsets.size()));
  RL_TRY_ASSIGN(const uint32_t out, id_at(slot::kOutputId, sizes.size()));
  RL_CHECK(offsets.size() == sizes.size(), Error::InvalidProgram, "expected as many sizes as offsets");
  std::vector<size_t> cut;
  for (size_t d = 0; d < sizes.size(); ++d) {
    // A size of 0 means up to the end.
    if (offsets[d] != 0 || (sizes[d] != 0 && sizes[d] != static_cast<uint32_t>(value(in).dims[d])))
      cut.push_back(d);
  }
  if (cut.empty()) {
    RL_TRY_ASSIGN(const ValueId from, forms_.plain(in));
    RL_TRY_ASSIGN(const ValueId to, forms_.new_plain(out));
    list_.call("aten::clone", "out", {from, list_.none(), to});
    return Error::Ok;
  }
  RL_TRY_ASSIGN(ValueId from, forms_.plain(in));
  RL_TRY_ASSIGN(const ValueId last, forms_.new_plain(out));
  std::vector<int32_t> dims = value(in).dims;
  for (const size_t d : cut) {
    // slice_copy clamps the end to the tensor.
    const int64_t end = sizes[d] == 0 ? INT64_MAX : int64_t{offsets[d]} + sizes[d];
    dims[d] = value(out).dims[d];
    const ValueId to = d == cut.back() ? last : list_.tensor(list_.value(last).dtype, dims);
    list_.call("aten::slice_copy", "Tensor_out",
               {from, list_.integer(static_cast<int64_t>(d)), list_.integer(offsets[d]), list_.integer(end),
                list_.integer(1), to});
    from = to;
  }
  return Error::Ok;
}

// The fill value of a quantized tensor is quantized like a bound.
Error NodeLowering::lower_pad() {
  namespace slot = schema::xnn::xnnstatic_constant_pad_table;
  const auto before = fields_.vector<uint32_t>(slot::kPrePaddings);
  const auto behind = fields_.vector<uint32_t>(slot::kPostPaddings);
  RL_TRY_ASSIGN(const uint32_t in, id_at(slot::kInputId, before.size()));
  RL_TRY_ASSIGN(const uint32_t out, id_at(slot::kOutputId, behind.size()));
  RL_CHECK(before.size() == behind.size(), Error::InvalidProgram,
           "expected paddings before and after each dim");
  std::vector<int64_t> paddings;  // last dimension first
  // constant_pad_nd counts dimensions from the last, XNNPACK from the first.
  for (size_t d = before.size(); d-- > 0;) {
    paddings.push_back(before[d]);
    paddings.push_back(behind[d]);
  }
  const auto real = fields_.scalar<float>(slot::kPaddingValue);
  ValueId fill = 0;
  if (is_byte(value(out).datatype)) {
    fill = list_.integer(quantized(real, value(out)));
  } else {
    fill = list_.real(real);
  }
  RL_TRY_ASSIGN(const ValueId from, forms_.plain(in));
  RL_TRY_ASSIGN(const ValueId to, forms_.new_plain(out));
  list_.call("aten::constant_pad_nd", "out", {from, list_.integers(std::move(paddings)), fill, to});
  return Error::Ok;
}

}  // namespace rushlight::xnnpack
