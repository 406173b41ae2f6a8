// SPDX-License-Identifier: BSD-3-Clause
// Computes one row at a time; intermediate rows alternate between two buffers of scratch memory.
#include "dense.h"

#include <algorithm>
#include <cstring>

#include "runtime/base/checked.h"

namespace example {

namespace {

constexpr char kMagic[4] = {'D', 'N', 'S', '1'};
constexpr uint32_t kMostLayers = 64;
constexpr uint32_t kMostFeatures = 1U << 20;  // products of two still fit in 64 bits

struct Layer {
  uint32_t inputs, outputs;
  bool relu;
  const float* bias;     // [outputs], in the payload
  const float* weights;  // [outputs][inputs], likewise
};

struct Chain {
  Layer* layers;
  uint32_t size;
  uint32_t widest;  // features of the widest intermediate row

  [[nodiscard]] uint32_t inputs() const { return layers[0].inputs; }
  [[nodiscard]] uint32_t outputs() const { return layers[size - 1].outputs; }
};

// Takes parts off the front of the payload, never more than is left.
class Reader {
 public:
  explicit Reader(Span<const uint8_t> bytes) : rest_(bytes) {}

  [[nodiscard]] size_t left() const { return rest_.size(); }

  Result<const uint8_t*> take(uint64_t size) {
    RL_CHECK(size <= rest_.size(), Error::DelegateInvalidCompatibility,
             "dense payload: expected %lu more bytes, got %lu", log_number(size), log_number(rest_.size()));
    const uint8_t* part = rest_.data();
    rest_ = rest_.subspan(static_cast<size_t>(size), rest_.size() - static_cast<size_t>(size));
    return part;
  }

  Result<uint32_t> number(const char* name, uint32_t least, uint32_t most) {
    uint32_t value = 0;
    RL_TRY_ASSIGN(const uint8_t* bytes, take(sizeof value));
    std::memcpy(&value, bytes, sizeof value);
    RL_CHECK(value >= least && value <= most, Error::DelegateInvalidCompatibility,
             "dense payload: %s: expected %lu to %lu, got %lu", name, log_number(least), log_number(most),
             log_number(value));
    return value;
  }

  Result<const float*> floats(uint64_t count) {
    RL_TRY_ASSIGN(const uint8_t* bytes, take(count * sizeof(float)));
    return reinterpret_cast<const float*>(bytes);
  }

 private:
  Span<const uint8_t> rest_;
};

Result<Layer> read_layer(Reader& reader) {
  Layer layer{};
  RL_TRY_ASSIGN(layer.inputs, reader.number("inputs", 1, kMostFeatures));
  RL_TRY_ASSIGN(layer.outputs, reader.number("outputs", 1, kMostFeatures));
  RL_TRY_ASSIGN(const uint32_t relu, reader.number("relu", 0, 1));
  layer.relu = relu == 1;
  RL_TRY_ASSIGN(layer.bias, reader.floats(layer.outputs));
  RL_TRY_ASSIGN(layer.weights, reader.floats(uint64_t{layer.inputs} * layer.outputs));
  return layer;
}

Error read_layers(Reader& reader, Chain& chain) {
  for (uint32_t i = 0; i < chain.size; ++i) {
    RL_TRY_ASSIGN(chain.layers[i], read_layer(reader));
    if (i == 0) continue;
    const uint32_t before = chain.layers[i - 1].outputs;
    RL_CHECK(chain.layers[i].inputs == before, Error::DelegateInvalidCompatibility,
             "dense payload: inputs of layer %lu: expected %lu, got %lu", log_number(i), log_number(before),
             log_number(chain.layers[i].inputs));
    chain.widest = std::max(chain.widest, before);
  }
  RL_CHECK(reader.left() == 0, Error::DelegateInvalidCompatibility,
           "dense payload: expected the end, got %lu more bytes", log_number(reader.left()));
  return Error::Ok;
}

void compute_row(const Layer& layer, const float* x, float* y) {
  const float* weights = layer.weights;
  for (uint32_t i = 0; i < layer.outputs; ++i, weights += layer.inputs) {
    float sum = layer.bias[i];
    for (uint32_t k = 0; k < layer.inputs; ++k) sum += weights[k] * x[k];
    y[i] = layer.relu && sum < 0 ? 0 : sum;
  }
}

// `scratch` are two rows of `widest` features; a chain of one layer needs none.
void compute_row(const Chain& chain, const float* x, float* y, float* scratch) {
  for (uint32_t i = 0; i < chain.size; ++i) {
    float* to = i + 1 == chain.size ? y : scratch + (i % 2) * size_t{chain.widest};
    compute_row(chain.layers[i], x, to);
    x = to;
  }
}

Error check_input(const Chain& chain, const Tensor& x) {
  RL_CHECK(x.scalar_type() == ScalarType::Float, Error::InvalidType, "dense input: expected float32, got %s",
           to_string(x.scalar_type()));
  RL_CHECK(x.dim() > 0 && is_contiguous_dim_order(x.dim_order()), Error::InvalidArgument,
           "dense input: expected rows in row-major order");
  const auto features = static_cast<uint32_t>(x.size(x.dim() - 1));
  RL_CHECK(features == chain.inputs(), Error::InvalidArgument, "dense input: expected %lu features, got %lu",
           log_number(chain.inputs()), log_number(features));
  return Error::Ok;
}

// Gives the output the input's sizes, but for the last dimension.
Error resize_output(const Chain& chain, const Tensor& x, const Tensor& y) {
  RL_CHECK(y.scalar_type() == ScalarType::Float, Error::InvalidType, "dense output: expected float32, got %s",
           to_string(y.scalar_type()));
  SizesType sizes[kTensorDimensionLimit];
  const auto rank = static_cast<size_t>(x.dim());
  std::copy(x.sizes().begin(), x.sizes().end(), sizes);
  sizes[rank - 1] = static_cast<SizesType>(chain.outputs());
  RL_TRY(y.impl()->resize({sizes, rank}));
  RL_CHECK(is_contiguous_dim_order(y.dim_order()), Error::InvalidArgument,
           "dense output: expected rows in row-major order");
  return Error::Ok;
}

}  // namespace

Result<DelegateHandle*> Dense::init(BackendInitContext& context, FreeableBuffer* processed,
                                    Span<const CompileSpec>) const {
  Reader reader(processed->bytes());
  RL_TRY_ASSIGN(const uint8_t* magic, reader.take(sizeof kMagic));
  RL_CHECK(std::memcmp(magic, kMagic, sizeof kMagic) == 0, Error::DelegateInvalidCompatibility,
           "dense payload: expected the magic DNS1");
  RL_CHECK(is_aligned(magic, alignof(float)), Error::DelegateInvalidCompatibility,
           "dense payload: expected an address that is a multiple of 4");
  RL_TRY_ASSIGN(const uint32_t size, reader.number("layers", 1, kMostLayers));
  auto* chain = static_cast<Chain*>(context.allocate(sizeof(Chain)));
  auto* layers = static_cast<Layer*>(context.allocate(size * sizeof(Layer)));
  if (chain == nullptr || layers == nullptr) return Error::DelegateMemoryAllocationFailed;
  *chain = {layers, size, 0};
  RL_TRY(read_layers(reader, *chain));
  return static_cast<DelegateHandle*>(chain);
}

Error Dense::execute(BackendExecuteContext& context, DelegateHandle* handle,
                     Span<EValue* const> arguments) const {
  const auto& chain = *static_cast<const Chain*>(handle);
  RL_CHECK(arguments.size() == 2, Error::InvalidProgram, "dense: expected 2 arguments, got %lu",
           log_number(arguments.size()));
  RL_TRY_ASSIGN(const Tensor x, input_tensor(arguments, 0));
  RL_TRY_ASSIGN(const Tensor y, output_tensor(arguments, 1));
  RL_TRY(check_input(chain, x));
  RL_TRY(resize_output(chain, x, y));
  auto* scratch = static_cast<float*>(context.allocate_temp(2 * sizeof(float) * chain.widest));
  if (scratch == nullptr) return Error::MemoryAllocationFailed;
  const auto rows = static_cast<size_t>(x.numel()) / chain.inputs();
  const auto* from = x.const_data_ptr<float>();
  auto* to = y.mutable_data_ptr<float>();
  for (size_t row = 0; row < rows; ++row) {
    compute_row(chain, from + row * chain.inputs(), to + row * chain.outputs(), scratch);
  }
  return Error::Ok;
}

}  // namespace example
