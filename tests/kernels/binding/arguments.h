// SPDX-License-Identifier: BSD-3-Clause
// EValues converted from Python objects, owned until the kernel has returned. For the binding by which pytest
// calls kernels: one signature character and one object per argument.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "runtime/tensor/evalue.h"

namespace rushlight::testing {

// A tensor over memory that Python keeps alive. A dynamic one has `sizes` as its bound and starts with every
// size 0; after a call `sizes` holds the result's shape.
struct TensorArgument {
  uintptr_t address;
  int dtype;
  std::vector<SizesType> sizes;
  std::vector<DimOrderType> dim_order;
  bool dynamic;
};

// Holds the arguments of one call. Python's objects must outlive it; elements of tensors are used in place.
class Arguments {
 public:
  // `code` is one character of a kernel's signature, see runtime/kernel/boxing.h. Throws py::type_error if
  // the object does not match.
  void add(char code, pybind11::handle object);

  // The arguments in the order of add(); valid as long as this object.
  [[nodiscard]] std::vector<EValue*>& values() { return values_; }

  // Writes the shapes of dynamic tensors back to their Python objects.
  void store_shapes();

 private:
  // A tensor's description, and the Python object that receives its shape.
  struct BuiltTensor {
    TensorArgument* source;
    std::vector<SizesType> sizes;
    std::vector<StridesType> strides;
    std::optional<TensorImpl> impl;
  };
  // Items by kind, and the boxed lists that refer to them. char instead of bool, because std::vector<bool>
  // packs bits.
  struct BuiltList {
    std::vector<EValue*> values;
    std::vector<int64_t> ints;
    std::vector<double> doubles;
    std::vector<char> bools;
    std::vector<Tensor> tensors;
    std::vector<std::optional<Tensor>> optional_tensors;
    BoxedList<int64_t> int_list{};
    BoxedList<Tensor> tensor_list{};
    BoxedList<std::optional<Tensor>> optional_tensor_list{};
  };

  EValue build(char code, pybind11::handle object);
  EValue build_number(char code, pybind11::handle object);
  EValue build_tensor(TensorArgument* source);
  EValue build_list(char code, pybind11::handle object);
  EValue* keep(EValue value) { return &owned_.emplace_back(value); }

  std::vector<EValue*> values_;
  // Deques: addresses stay valid while items are added.
  std::deque<EValue> owned_;
  std::deque<BuiltTensor> tensors_;
  std::deque<BuiltList> lists_;
  std::deque<std::string> strings_;
};

}  // namespace rushlight::testing
