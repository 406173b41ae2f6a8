// SPDX-License-Identifier: BSD-3-Clause
// Reads calls.bin: "RLCALLS1", uint32 number of calls; per call uint8 length of the name, uint32 bytes of the
// arguments, name, uint8 number of arguments, and a tag with the value for each. Calls of operators that this
// build lacks are skipped.
#include "tests/fuzz/recorded_call.h"

#include <cstring>
#include <fstream>
#include <iterator>

#include "runtime/base/checked.h"
#include "tests/fuzz/require.h"

namespace rushlight::fuzz {

namespace {

// The file is our own: an unreadable file is an error of the script.
class Reader {
 public:
  explicit Reader(std::vector<char> bytes) : bytes_(std::move(bytes)) {}

  template <class T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof value), sizeof value);
    return value;
  }
  std::string text(size_t size) { return {take(size), size}; }

  RecordedCall call() {
    RecordedCall call;
    const auto name = number<uint8_t>();
    number<uint32_t>();  // the bytes of the arguments
    call.name = text(name);
    for (auto count = number<uint8_t>(); count > 0; --count) call.arguments.push_back(value());
    return call;
  }

 private:
  const char* take(size_t size) {
    require(size <= bytes_.size() - at_, "calls.bin is cut");
    at_ += size;
    return bytes_.data() + at_ - size;
  }

  CallValue value() {
    CallValue value;
    switch (number<uint8_t>()) {
      case 1:
        value.kind = CallValue::Kind::Tensor;
        value.tensor = tensor();
        break;
      case 2:
        value.kind = CallValue::Kind::Int;
        value.number = number<int64_t>();
        break;
      case 3:
        value.kind = CallValue::Kind::Double;
        value.real = number<double>();
        break;
      case 4:
        value.kind = CallValue::Kind::Bool;
        value.number = number<uint8_t>();
        break;
      case 5:
        value.kind = CallValue::Kind::String;
        value.text = text(number<uint8_t>());
        break;
      case 6:
        value.kind = CallValue::Kind::List;
        for (auto count = number<uint8_t>(); count > 0; --count) value.items.push_back(this->value());
        break;
      default:
        break;
    }
    return value;
  }

  CallTensor tensor() {
    CallTensor tensor;
    tensor.type = static_cast<ScalarType>(number<uint8_t>());
    const auto dim = number<uint8_t>();
    const bool is_repeated = number<uint8_t>() != 0;
    for (size_t i = 0; i < dim; ++i) tensor.sizes.push_back(number<SizesType>());
    for (size_t i = 0; i < dim; ++i) tensor.order.push_back(number<DimOrderType>());
    const auto size = number<uint32_t>();
    const std::string bytes = text(is_repeated ? element_size(tensor.type) : size);
    tensor.bytes.assign(bytes.begin(), bytes.end());
    return tensor;
  }

  std::vector<char> bytes_;
  size_t at_ = 0;
};

void collect(std::vector<CallValue>& values, bool is_written, std::vector<RecordedCall::Named>* all) {
  for (CallValue& value : values) {
    if (value.kind == CallValue::Kind::Tensor) all->push_back({&value.tensor, is_written});
    collect(value.items, is_written, all);
  }
}

}  // namespace

size_t CallTensor::nbytes() const {
  size_t numel = 0;
  size_t bytes = 0;
  if (sizes.size() > kTensorDimensionLimit || !checked_numel({sizes.data(), sizes.size()}, &numel) ||
      !checked_mul(numel, element_size(type), &bytes)) {
    return SIZE_MAX;
  }
  return bytes;
}

std::vector<RecordedCall::Named> RecordedCall::tensors(const KernelEntry& kernel) {
  std::vector<Named> all;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const bool is_written = kernel.signature[i] == 'w' || kernel.signature[i] == 'k';
    if (arguments[i].kind == CallValue::Kind::Tensor) {
      all.push_back({&arguments[i].tensor, is_written});
    } else {
      collect(arguments[i].items, is_written, &all);
    }
  }
  return all;
}

const std::vector<RecordedCall>& recorded_calls() {
  static const std::vector<RecordedCall> calls = [] {
    std::ifstream file(RUSHLIGHT_FUZZ_CALLS, std::ios::binary);
    require(static_cast<bool>(file), RUSHLIGHT_FUZZ_CALLS " cannot be read");
    Reader reader({std::istreambuf_iterator<char>(file), {}});
    require(reader.text(8) == "RLCALLS1", "calls.bin is of another version");
    std::vector<RecordedCall> found;
    for (auto count = reader.number<uint32_t>(); count > 0; --count) {
      RecordedCall call = reader.call();
      const KernelEntry* kernel = selected_operators.find(call.name.c_str(), "");
      if (kernel == nullptr) continue;
      require(std::strlen(kernel->signature) == call.arguments.size(), "calls.bin is of another table");
      found.push_back(std::move(call));
    }
    return found;
  }();
  return calls;
}

}  // namespace rushlight::fuzz
