// SPDX-License-Identifier: BSD-3-Clause
// Every value is checked when it is read, so that lowering can rely on its fields. The log names the value by
// index.
#include "backends/xnnpack/values.h"

#include <cmath>
#include <cstring>

#include "runtime/base/checked.h"
#include "runtime/base/log.h"

namespace rushlight::xnnpack {

namespace {

using flatbuffer::Table;
using flatbuffer::TableVector;
using schema::xnn::XNNQuantParams;
using schema::xnn::XValueUnion;

namespace value_slot = schema::xnn::xnntensor_value_table;
namespace quantized_slot = schema::xnn::xnnquantized_tensor_value_table;

// Limit of elements: with 8 bytes each, sizes in bytes stay far below 2^63.
constexpr int64_t kMostElements = int64_t{1} << 40;

// bfloat16 is the upper half of a float32.
float from_bfloat16(uint16_t bits) {
  const uint32_t wide = uint32_t{bits} << 16;
  float value = 0;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

bool is_scale(float scale) { return std::isfinite(scale) && scale > 0; }

class Reader {
 public:
  Reader(const Payload& payload, size_t index) : payload_(payload), index_(index) {}

  Error read(Table entry, Value* value) {
    const auto kind =
        static_cast<XValueUnion>(entry.scalar<uint8_t>(schema::xnn::xvalue_table::kXvalueUnionType));
    // A quantized value wraps a plain one, with its quantization beside it.
    Table table = entry.table(schema::xnn::xvalue_table::kXvalueUnion);
    Table quantized;
    if (kind == XValueUnion::XNNQuantizedTensorValue) {
      quantized = table;
      table = quantized.table(quantized_slot::kTensorValue);
    }
    RL_CHECK(table, Error::InvalidProgram, "value %lu: is empty", log_number(index_));
    RL_TRY(read_tensor(table, value));
    if (quantized) RL_TRY(read_quantization(quantized, value));
    return value->is_constant ? check_bytes(*value) : Error::Ok;
  }

 private:
  Error read_tensor(Table table, Value* value) {
    value->datatype = static_cast<Datatype>(table.scalar<int16_t>(value_slot::kDatatype));
    RL_TRY(element_type(value->datatype).error());
    const Span<const uint32_t> dims = table.vector<uint32_t>(value_slot::kDims);
    RL_CHECK(dims.size() <= kMostDims, Error::InvalidProgram, "value %lu: expected at most %lu dims, got %lu",
             log_number(index_), log_number(kMostDims), log_number(dims.size()));
    int64_t elements = 1;
    for (const uint32_t dim : dims) {
      const bool fits =
          dim <= kMostSize && checked_mul(elements, int64_t{dim}, &elements) && elements <= kMostElements;
      RL_CHECK(fits, Error::InvalidProgram, "value %lu: its dims are too large", log_number(index_));
      value->dims.push_back(static_cast<int32_t>(dim));
    }
    value->external_id = table.scalar<uint32_t>(value_slot::kExternalId);
    value->flags = table.scalar<uint32_t>(value_slot::kFlags);
    const auto constant = table.scalar<uint32_t>(value_slot::kConstantBufferIdx);
    // Index 0 means that the value is no constant.
    if (constant == 0) return Error::Ok;
    value->is_constant = true;
    RL_TRY_ASSIGN(value->data, payload_.constant(constant));
    return Error::Ok;
  }

  Error read_quantization(Table quantized, Value* value) {
    const auto kind =
        static_cast<XNNQuantParams>(quantized.scalar<uint8_t>(quantized_slot::kQuantParamsType));
    const Table table = quantized.table(quantized_slot::kQuantParams);
    switch (kind) {
      case XNNQuantParams::PerTensorQuant: {
        namespace slot = schema::xnn::per_tensor_quant_table;
        value->scale = table.scalar<float>(slot::kScale);
        value->zero_point = table.scalar<int32_t>(slot::kZeroPoint);
        RL_CHECK(is_scale(value->scale), Error::InvalidProgram, "value %lu: expected a positive scale",
                 log_number(index_));
        const bool is_wide = value->datatype == Datatype::XnnDatatypeQint32;
        const bool is_unsigned = value->datatype == Datatype::XnnDatatypeQuint8;
        const int32_t low = is_unsigned ? 0 : -128;
        // The bias of a layer (int32) has no zero point.
        RL_CHECK(
            is_wide ? value->zero_point == 0 : value->zero_point >= low && value->zero_point <= low + 255,
            Error::InvalidProgram, "value %lu: zero point %ld is out of range", log_number(index_),
            static_cast<long>(value->zero_point));
        return Error::Ok;
      }
      case XNNQuantParams::PerChannelQuant: {
        namespace slot = schema::xnn::per_channel_quant_table;
        RL_TRY(read_scales(table.vector<float>(slot::kScale), table.scalar<uint32_t>(slot::kScaleBufferIdx),
                           table.scalar<uint32_t>(slot::kNumScales), value));
        return read_channels(table.scalar<int32_t>(slot::kChannelDim), value);
      }
      case XNNQuantParams::PerChannelGroupQuant: {
        namespace slot = schema::xnn::per_channel_group_quant_table;
        value->group_size = table.scalar<int32_t>(slot::kGroupSize);
        RL_TRY(read_group_scales(table, value));
        return read_groups(value);
      }
      case XNNQuantParams::PerTokenDynamicQuant: {
        value->nonbatch_dims =
            table.scalar<int32_t>(schema::xnn::per_token_dynamic_quant_table::kNumNonbatchDims);
        const bool fits =
            value->nonbatch_dims >= 0 && static_cast<size_t>(value->nonbatch_dims) <= value->rank();
        RL_CHECK(fits, Error::InvalidProgram, "value %lu: %ld dims share a range, expected at most %lu",
                 log_number(index_), static_cast<long>(value->nonbatch_dims), log_number(value->rank()));
        return Error::Ok;
      }
    }
    RL_CHECK(false, Error::InvalidProgram, "value %lu: its quantization has no kind", log_number(index_));
  }

  // Reads scales from the graph, or from a float32 constant.
  Error read_scales(Span<const float> inside, uint32_t constant, uint32_t count, Value* value) {
    value->scales.assign(inside.begin(), inside.end());
    if (constant != 0) {
      RL_TRY_ASSIGN(const Span<const uint8_t> bytes, payload_.constant(constant));
      // The count is in the file as well, so it is compared with the bytes.
      RL_CHECK(bytes.size() / sizeof(float) >= count, Error::InvalidProgram,
               "value %lu: expected %lu scales, got %lu bytes", log_number(index_), log_number(count),
               log_number(bytes.size()));
      value->scales.resize(count);
      if (count != 0) std::memcpy(value->scales.data(), bytes.data(), count * sizeof(float));
    }
    return check_scales(*value);
  }

  // The same for bfloat16 scales of groups; files from before executorch 0.4 have float32 in the graph.
  Error read_group_scales(Table table, Value* value) {
    namespace slot = schema::xnn::per_channel_group_quant_table;
    const auto constant = table.scalar<uint32_t>(slot::kScaleBufferIdx);
    const auto count = table.scalar<uint32_t>(slot::kNumScales);
    Span<const uint16_t> narrow = table.vector<uint16_t>(slot::kScaleBf16);
    const Span<const float> wide = table.vector<float>(slot::kScale);
    // The newest form that is present counts: a constant, then bfloat16 in the graph, then float32.
    value->scales.assign(wide.begin(), wide.end());
    std::vector<uint16_t> read;
    if (constant != 0) {
      RL_TRY_ASSIGN(const Span<const uint8_t> bytes, payload_.constant(constant));
      RL_CHECK(bytes.size() / sizeof(uint16_t) >= count, Error::InvalidProgram,
               "value %lu: expected %lu scales, got %lu bytes", log_number(index_), log_number(count),
               log_number(bytes.size()));
      read.resize(count);
      if (count != 0) std::memcpy(read.data(), bytes.data(), count * sizeof(uint16_t));
      narrow = {read.data(), read.size()};
    }
    if (!narrow.empty()) {
      value->scales.clear();
      for (const uint16_t bits : narrow) value->scales.push_back(from_bfloat16(bits));
    }
    return check_scales(*value);
  }

  Error check_scales(const Value& value) const {
    bool fits = !value.scales.empty();
    for (const float scale : value.scales) fits = fits && is_scale(scale);
    RL_CHECK(fits, Error::InvalidProgram, "value %lu: expected positive scales", log_number(index_));
    return Error::Ok;
  }

  Error read_channels(int32_t dim, Value* value) const {
    const bool inside = dim >= 0 && static_cast<size_t>(dim) < value->rank();
    // One scale per index of the channel dimension.
    RL_CHECK(inside && value->scales.size() == static_cast<size_t>(value->dims[static_cast<size_t>(dim)]),
             Error::InvalidProgram, "value %lu: its %lu scales do not fit its dim %ld", log_number(index_),
             log_number(value->scales.size()), static_cast<long>(dim));
    value->channel_dim = dim;
    return Error::Ok;
  }

  Error read_groups(Value* value) const {
    const int32_t size = value->group_size;
    // A group must not span two rows.
    const bool divides = value->rank() == 2 && size > 0 && value->dims[1] % size == 0;
    RL_CHECK(divides && value->scales.size() ==
                            static_cast<size_t>(int64_t{value->dims[0]} * (value->dims[1] / size)),
             Error::InvalidProgram, "value %lu: its scales do not fit groups of %ld", log_number(index_),
             static_cast<long>(size));
    return Error::Ok;
  }

  // 4-bit values are stored two per byte; each row starts at a new byte.
  Error check_bytes(Value& value) const {
    const bool is_half =
        value.datatype == Datatype::XnnDatatypeQcint4 || value.datatype == Datatype::XnnDatatypeQbint4;
    RL_TRY_ASSIGN(const ScalarType type, element_type(value.datatype));
    auto needed = static_cast<uint64_t>(value.numel()) * element_size(type);
    if (is_half) {
      RL_CHECK(value.rank() == 2, Error::InvalidProgram, "value %lu: expected 2 dims of 4-bit numbers",
               log_number(index_));
      // No overflow: both factors are below 2^31.
      needed =
          uint64_t{static_cast<uint32_t>(value.dims[0])} * ((static_cast<uint32_t>(value.dims[1]) + 1) / 2);
    }
    RL_CHECK(value.data.size() >= needed, Error::InvalidProgram, "value %lu: expected %llu bytes, got %lu",
             log_number(index_), static_cast<unsigned long long>(needed), log_number(value.data.size()));
    // Bytes behind the elements are padding.
    value.data = value.data.subspan(0, static_cast<size_t>(needed));
    return Error::Ok;
  }

  const Payload& payload_;
  size_t index_;
};

}  // namespace

// Cannot overflow: Reader limits the product of the dimensions.
int64_t Value::numel() const {
  int64_t elements = 1;
  for (const int32_t dim : dims) elements *= dim;
  return elements;
}

const char* to_string(Datatype datatype) {
  // In the order of XNNPACK's enumeration.
  constexpr const char* kNames[] = {"invalid", "fp32",   "fp16",    "qint8",  "quint8",
                                    "qint32",  "qcint8", "qcint32", "qcint4", "qdint8",
                                    "qbint4",  "qpint8", "int32",   "pfp32",  "bf16"};
  const auto index = static_cast<size_t>(datatype);
  return index < sizeof kNames / sizeof *kNames ? kNames[index] : "unknown";
}

Result<ScalarType> element_type(Datatype datatype) {
  switch (datatype) {
    case Datatype::XnnDatatypeFp32:
    case Datatype::XnnDatatypePfp32:
    case Datatype::XnnDatatypeQdint8:  // quantized by the nodes that read it
    case Datatype::XnnDatatypeQpint8:
      return ScalarType::Float;
    case Datatype::XnnDatatypeFp16:
      return ScalarType::Half;
    case Datatype::XnnDatatypeBf16:
      return ScalarType::BFloat16;
    case Datatype::XnnDatatypeQint8:
    case Datatype::XnnDatatypeQcint8:
      return ScalarType::Char;
    case Datatype::XnnDatatypeQuint8:
    case Datatype::XnnDatatypeQcint4:
    case Datatype::XnnDatatypeQbint4:
      return ScalarType::Byte;
    case Datatype::XnnDatatypeQint32:
    case Datatype::XnnDatatypeQcint32:
    case Datatype::XnnDatatypeInt32:
      return ScalarType::Int;
    case Datatype::XnnDatatypeInvalid:
      break;
  }
  RL_CHECK(false, Error::NotSupported, "XNNPACK payload: datatype %ld is not known",
           static_cast<long>(datatype));
}

Result<std::vector<Value>> read_values(const Payload& payload) {
  const TableVector entries = payload.graph().tables(schema::xnn::xnngraph_table::kXvalues);
  std::vector<Value> values(entries.size());
  for (size_t i = 0; i < entries.size(); ++i) RL_TRY(Reader(payload, i).read(entries[i], &values[i]));
  return values;
}

}  // namespace rushlight::xnnpack
