// SPDX-License-Identifier: BSD-3-Clause
// Values are mostly small and valid, so that kernels get past their checks, and sometimes extreme. All
// tensors of a call derive from one shape and one dtype, about half of them with a change. A repeated entry
// of a list is that much likelier. No results are expected: a failure is a sanitizer's report.
#include "tests/fuzz/argument_values.h"

#include <algorithm>
#include <limits>

namespace rushlight::fuzz {

namespace {

using Limits = std::numeric_limits<int64_t>;

ScalarType any_type(Choices& choices) {
  return choices.of<ScalarType>(
      {ScalarType::Float,  ScalarType::Float,        ScalarType::Float,         ScalarType::Float,
       ScalarType::Double, ScalarType::Half,         ScalarType::BFloat16,      ScalarType::Long,
       ScalarType::Long,   ScalarType::Int,          ScalarType::Short,         ScalarType::Char,
       ScalarType::Byte,   ScalarType::Bool,         ScalarType::UInt16,        ScalarType::UInt32,
       ScalarType::UInt64, ScalarType::ComplexFloat, ScalarType::ComplexDouble, ScalarType::ComplexHalf,
       ScalarType::QInt8,  ScalarType::QUInt8,       ScalarType::QInt32});
}

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }

}  // namespace

ArgumentValues::ArgumentValues(Choices& choices, WrittenType type, size_t rank)
    : choices_(choices), written_(type), rank_(rank), tensors_(heap_, choices), dtype_(any_type(choices)) {
  const size_t dims = choices.of<size_t>({0, 1, 2, 2, 3, 3, 4, 4, 4, 5});
  for (size_t i = 0; i < dims; ++i) {
    shape_.push_back(choices.of<SizesType>({0, 1, 1, 2, 2, 3, 3, 4, 5, 6}));
  }
}

EValue* ArgumentValues::make(char code) {
  EValue value;
  if (!is_lower(code)) {
    if (choices_.one_in(2)) return keep(value);
    code = static_cast<char>(code - 'A' + 'a');
  }
  return make_value(code, &value) ? keep(value) : nullptr;
}

EValue* ArgumentValues::keep(const EValue& value) { return &values_.emplace_back(value); }

bool ArgumentValues::make_value(char kind, EValue* value) {
  static constexpr std::string_view kStrings[] = {"none", "tanh", "floor", "trunc", "mean", "sum", ""};
  switch (kind) {
    case 't':
      return read_tensor(value);
    case 'w':
      return written_tensor(value);
    case 'i':
      *value = EValue(integer());
      return true;
    case 'd':
      *value = EValue(real());
      return true;
    case 'b':
      *value = EValue(choices_.one_in(2));
      return true;
    case 's':
      *value = number();
      return true;
    case 'e':
      if (choices_.one_in(3)) return read_tensor(value);
      *value = number();
      return true;
    case 'z':
      *value = EValue(kStrings[choices_.below(std::size(kStrings))]);
      return true;
    default:
      return make_list(kind, value);
  }
}

int64_t ArgumentValues::integer() {
  if (choices_.one_in(24)) {
    return choices_.of<int64_t>({Limits::min(), Limits::max(), Limits::min() + 1, Limits::max() - 1,
                                 int64_t{1} << 31, -(int64_t{1} << 31), (int64_t{1} << 32) + 1, 1 << 20, 127,
                                 15, int64_t{1} << 62, 1000});
  }
  return choices_.of<int64_t>({-2, -1, -1, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 4, 5, 7});
}

double ArgumentValues::real() {
  return choices_.of<double>({0, 1, -1.5, 2, 0.5, 1e-5, 1e300, -1e300,
                              std::numeric_limits<double>::infinity(),
                              -std::numeric_limits<double>::infinity(),
                              std::numeric_limits<double>::quiet_NaN(), 9.3e18, -9.3e18, 5e-324, 3, 1});
}

EValue ArgumentValues::number() {
  const size_t kind = choices_.below(4);
  if (kind == 0) return EValue(choices_.one_in(2));
  return kind == 1 ? EValue(real()) : EValue(integer());
}

bool ArgumentValues::read_tensor(EValue* value) {
  std::vector<SizesType> shape = shape_;
  const size_t change = choices_.below(12);
  if (change == 0 && !shape.empty()) {
    shape[choices_.below(shape.size())] = choices_.of<SizesType>({0, 1, 2, 6, 8});
  } else if (change == 1) {
    shape.push_back(choices_.of<SizesType>({1, 2, 3}));
  } else if (change == 2 && !shape.empty()) {
    shape.erase(shape.begin());
  } else if (change == 3 && shape.size() > 1) {
    std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
  } else if (change == 4) {
    shape.assign(1, shape.size() > 1 ? shape[1] : 1);
  } else if (change == 5) {
    shape.clear();
  } else if (change == 6 && !shape.empty() && choices_.one_in(4)) {
    // A shape without elements, but with large dimensions.
    shape[0] = 0;
    shape.back() = choices_.of<SizesType>({0x7fffffff, 0x10000, 0x7ffffffe});
  }
  std::vector<DimOrderType> order(shape.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<DimOrderType>(i);
  if (order.size() > 1 && choices_.one_in(8)) {
    // Channels-last, or two dimensions swapped.
    if (choices_.one_in(2)) {
      std::rotate(order.begin() + 1, order.begin() + 2, order.end());
    } else {
      std::swap(order[choices_.below(order.size())], order[choices_.below(order.size())]);
    }
  }
  const ScalarType type = choices_.one_in(12)  ? any_type(choices_)
                          : choices_.one_in(8) ? ScalarType::Long
                                               : dtype_;
  return tensors_.make_tensor(type, {shape.data(), shape.size()}, {order.data(), order.size()},
                              TensorShapeDynamism::STATIC, value);
}

bool ArgumentValues::written_tensor(EValue* value) {
  const ScalarType type = written_ == WrittenType::First  ? dtype_
                          : written_ == WrittenType::Bool ? ScalarType::Bool
                          : written_ == WrittenType::Long ? ScalarType::Long
                                                          : any_type(choices_);
  std::vector<SizesType> shape(rank_, 1);
  if (rank_ > 0) shape[0] = choices_.of<SizesType>({4096, 4096, 64, 12, 1});
  if (choices_.one_in(6)) shape.assign(shape_.begin(), shape_.end());
  std::vector<DimOrderType> order(shape.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<DimOrderType>(i);
  if (order.size() > 2 && choices_.one_in(12)) std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  const auto dynamism = choices_.one_in(8) ? TensorShapeDynamism::STATIC : TensorShapeDynamism::DYNAMIC_BOUND;
  return tensors_.make_tensor(type, {shape.data(), shape.size()}, {order.data(), order.size()}, dynamism,
                              value);
}

bool ArgumentValues::make_list(char kind, EValue* value) {
  if (std::string_view("nfolkp").find(kind) == std::string_view::npos) return false;
  ListStorage& list = lists_.emplace_back();
  const size_t length = choices_.of<size_t>({0, 1, 1, 2, 2, 2, 3, 3, 4, 5});
  for (size_t i = 0; i < length; ++i) {
    EValue item;
    if (kind == 'n') item = EValue(integer());
    if (kind == 'f') list.doubles.push_back(real());
    if (kind == 'o') list.bools.push_back(choices_.one_in(2) ? 1 : 0);
    const bool absent = kind == 'p' && choices_.one_in(3);
    if ((kind == 'l' || kind == 'p') && !absent && !read_tensor(&item)) return false;
    if (kind == 'k' && !written_tensor(&item)) return false;
    list.values.push_back(absent && choices_.one_in(2) ? nullptr : keep(item));
  }
  list.box(kind, value);
  return true;
}

}  // namespace rushlight::fuzz
