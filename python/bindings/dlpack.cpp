// SPDX-License-Identifier: BSD-3-Clause
// DLPack 0.8's structures, which every version reads from a capsule named "dltensor"
// (https://dmlc.github.io/dlpack/latest/c_api.html). The consumer calls the deleter once; a capsule that
// nobody consumed does so itself.
#include "python/bindings/dlpack.h"

#include <cstddef>
#include <cstring>
#include <memory>
#include <vector>

namespace py = pybind11;

namespace rushlight {

namespace {

constexpr char kUnused[] = "dltensor";
constexpr int32_t kCpu = 1;

// DLDataTypeCode.
enum class Code : uint8_t { kInt = 0, kUInt = 1, kFloat = 2, kBFloat = 4, kComplex = 5, kBool = 6 };

struct Device {
  int32_t type;
  int32_t id;
};
struct DataType {
  Code code;
  uint8_t bits;
  uint16_t lanes;
};
struct Content {
  void* data;
  Device device;
  int32_t ndim;
  DataType dtype;
  int64_t* shape;
  int64_t* strides;  // in elements
  uint64_t byte_offset;
};
struct Managed {
  Content tensor;
  void* context;
  void (*deleter)(Managed*);
};

// The structure with the arrays to which it points.
struct Lent {
  Managed managed{};
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
  std::vector<std::max_align_t> copy;
};

Code code_of(ScalarType type) {
  switch (type) {
    case ScalarType::Bool:
      return Code::kBool;
    case ScalarType::BFloat16:
      return Code::kBFloat;
    case ScalarType::Byte:
    case ScalarType::QUInt8:
    case ScalarType::UInt16:
    case ScalarType::UInt32:
    case ScalarType::UInt64:
      return Code::kUInt;
    default:
      return is_complex(type) ? Code::kComplex : is_floating(type) ? Code::kFloat : Code::kInt;
  }
}

void release(Managed* managed) { delete static_cast<Lent*>(managed->context); }

// A consumer renames the capsule, and then releases the tensor itself.
void release_unused(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, kUnused) == 0) return;
  release(static_cast<Managed*>(PyCapsule_GetPointer(capsule, kUnused)));
}

enum class Memory { Own, Copy };

py::object capsule(const TensorImpl& tensor, std::vector<int64_t> shape, std::vector<int64_t> strides,
                   Memory memory = Memory::Own) {
  auto lent = std::make_unique<Lent>();
  lent->shape = std::move(shape);
  lent->strides = std::move(strides);
  void* data = tensor.mutable_data();
  if (memory == Memory::Copy && tensor.nbytes() > 0) {
    lent->copy.resize(tensor.nbytes() / sizeof(std::max_align_t) + 1);
    data = std::memcpy(lent->copy.data(), tensor.data(), tensor.nbytes());
  }
  const ScalarType type = tensor.scalar_type();
  const auto bits = static_cast<uint8_t>(8 * element_size(type));
  lent->managed.tensor = {data,
                          {kCpu, 0},
                          static_cast<int32_t>(lent->shape.size()),
                          {code_of(type), bits, 1},
                          lent->shape.data(),
                          lent->strides.data(),
                          0};
  lent->managed.context = lent.get();
  lent->managed.deleter = &release;
  auto made = py::reinterpret_steal<py::object>(PyCapsule_New(&lent->managed, kUnused, &release_unused));
  if (!made) throw py::error_already_set();
  static_cast<void>(lent.release());  // the capsule owns it
  return made;
}

}  // namespace

py::object lend_tensor(const TensorImpl& tensor) {
  const auto sizes = tensor.sizes();
  const auto strides = tensor.strides();
  return capsule(tensor, {sizes.begin(), sizes.end()}, {strides.begin(), strides.end()});
}

py::object lend_copy(const TensorImpl& tensor) {
  const auto sizes = tensor.sizes();
  const auto strides = tensor.strides();
  return capsule(tensor, {sizes.begin(), sizes.end()}, {strides.begin(), strides.end()}, Memory::Copy);
}

py::object lend_memory(const TensorImpl& tensor) {
  return capsule(tensor, {static_cast<int64_t>(tensor.numel_bound())}, {1});
}

}  // namespace rushlight
