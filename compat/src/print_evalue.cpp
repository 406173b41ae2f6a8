// SPDX-License-Identifier: BSD-3-Clause
// Prints values in the style of Python. The stream's flags and precision apply to numbers; elements are
// printed in the order of memory, without brackets for each dimension.
#include <sstream>
#include <type_traits>

#include <executorch/extension/evalue_util/print_evalue.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>

namespace executorch::runtime RUSHLIGHT_TENSOR_MODE {

namespace {

using executorch::aten::ArrayRef;
using executorch::aten::ScalarType;
using executorch::aten::Tensor;

constexpr size_t kItemsPerLine = 10;

// Prints integral doubles with a decimal point.
template <class T>
void print_number(std::ostream& os, const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    os << (value ? "True" : "False");
  } else if constexpr (std::is_integral_v<T>) {
    os << +value;  // prints a char as a number
  } else if constexpr (std::is_convertible_v<T, double>) {
    // Printed to a text first, to see if it has a point, an exponent or letters (inf, nan).
    std::ostringstream text;
    text.copyfmt(os);
    text << static_cast<std::conditional_t<std::is_same_v<T, double>, double, float>>(value);
    os << text.str();
    if (text.str().find_first_not_of("-0123456789") == std::string::npos) os << '.';
  } else {
    os << '(';
    print_number(os, value.real());
    os << ", ";
    print_number(os, value.imag());
    os << ')';
  }
}

// Prints items [begin, end), each followed by a comma, in lines of kItemsPerLine; the incomplete line comes
// first if `ends_full`, otherwise last.
template <class T>
void print_lines(std::ostream& os, const T* items, size_t begin, size_t end, bool ends_full) {
  size_t left = ends_full ? (end - begin) % kItemsPerLine : 0;
  if (left == 0) left = kItemsPerLine;
  while (begin < end) {
    os << "  ";
    // `left` items remain on this line.
    for (; left > 0 && begin < end; --left) {
      print_number(os, items[begin++]);
      os << ", ";
    }
    os << '\n';
    left = kItemsPerLine;
  }
}

// Prints "[1, 2, 3, ..., 7, 8, 9]", over several lines if there are more than kItemsPerLine items.
// `edge_items` 0 prints all.
template <class T>
void print_items(std::ostream& os, ArrayRef<T> list, size_t edge_items) {
  const bool is_cut = edge_items > 0 && list.size() > 2 * edge_items;
  const size_t head = is_cut ? edge_items : list.size();
  const size_t tail = is_cut ? list.size() - edge_items : list.size();
  os << '[';
  // Counts the items that will be printed, without those omitted.
  if (head + (list.size() - tail) > kItemsPerLine) {
    os << '\n';
    print_lines(os, list.data(), 0, head, false);
    if (is_cut) {
      os << "  ...,\n";
      print_lines(os, list.data(), tail, list.size(), true);
    }
  } else {
    for (size_t i = 0; i < head; ++i) {
      if (i > 0) os << ", ";
      print_number(os, list[i]);
    }
    if (is_cut) os << ", ...";
    for (size_t i = tail; i < list.size(); ++i) {
      os << ", ";
      print_number(os, list[i]);
    }
  }
  os << ']';
}

size_t edge_items_of(std::ostream& os) {
  return static_cast<size_t>(executorch::extension::evalue_edge_items::of(os));
}

template <class T>
void print_list(std::ostream& os, ArrayRef<T> list) {
  os << "(len=" << list.size() << ')';
  print_items(os, list, edge_items_of(os));
}

void print_elements(std::ostream& os, const Tensor& tensor) {
  const auto count = static_cast<size_t>(tensor.numel());
  // Inputs and outputs whose memory the caller provides later.
  if (tensor.const_data_ptr() == nullptr && count > 0) {
    os << "<no memory>";
    return;
  }
#define RUSHLIGHT_PRINT(type, name) \
  case ScalarType::name:            \
    return print_items(os, ArrayRef<type>(tensor.const_data_ptr<type>(), count), edge_items_of(os));
  switch (tensor.scalar_type()) {
    ET_FORALL_REALHBBF16_TYPES(RUSHLIGHT_PRINT)
    ET_FORALL_COMPLEX_TYPES(RUSHLIGHT_PRINT)
    RUSHLIGHT_PRINT(uint16_t, UInt16)
    RUSHLIGHT_PRINT(uint32_t, UInt32)
    RUSHLIGHT_PRINT(uint64_t, UInt64)
    default:
      os << "<elements of dtype " << runtime::toString(tensor.scalar_type()) << '>';
  }
#undef RUSHLIGHT_PRINT
}

void print_tensor(std::ostream& os, const Tensor& tensor) {
  os << "tensor(sizes=";
  print_items(os, tensor.sizes(), 0);
  os << ", ";
  print_elements(os, tensor);
  os << ')';
}

void print_tensor(std::ostream& os, const std::optional<Tensor>& tensor) {
  if (!tensor.has_value()) {
    os << "None";
  } else {
    print_tensor(os, *tensor);
  }
}

// Prints one tensor per line, and omits none.
template <class T>
void print_tensors(std::ostream& os, ArrayRef<T> list) {
  os << "(len=" << list.size() << ")[";
  if (list.size() == 1) print_tensor(os, list[0]);
  if (list.size() > 1) {
    os << '\n';
    for (size_t i = 0; i < list.size(); ++i) {
      os << "  [" << i << "]: ";
      print_tensor(os, list[i]);
      os << ",\n";
    }
  }
  os << ']';
}

void print_string(std::ostream& os, std::string_view text) {
  os << '"';
  for (const char character : text) {
    if (character == '"' || character == '\\') os << '\\';
    os << character;
  }
  os << '"';
}

}  // namespace

std::ostream& operator<<(std::ostream& os, const EValue& value) {
  switch (value.tag) {
    case Tag::None:
      return os << "None";
    case Tag::Bool:
      return print_number(os, value.toBool()), os;
    case Tag::Int:
      return print_number(os, value.toInt()), os;
    case Tag::Double:
      return print_number(os, value.toDouble()), os;
    case Tag::String:
      return print_string(os, value.toString()), os;
    case Tag::Tensor:
      return print_tensor(os, value.toTensor()), os;
    case Tag::ListBool:
      return print_list(os, value.toBoolList()), os;
    case Tag::ListInt:
      return print_list(os, value.toIntList()), os;
    case Tag::ListDouble:
      return print_list(os, value.toDoubleList()), os;
    case Tag::ListTensor:
      return print_tensors(os, value.toTensorList()), os;
    case Tag::ListOptionalTensor:
      return print_tensors(os, value.toListOptionalTensor()), os;
    // No program has such a list: the format lacks it.
    case Tag::ListScalar:
      break;
  }
  return os << "<Unknown EValue tag " << static_cast<uint32_t>(value.tag) << '>';
}

}  // namespace executorch::runtimeRUSHLIGHT_TENSOR_MODE
