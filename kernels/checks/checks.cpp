// SPDX-License-Identifier: BSD-3-Clause
// Messages name the argument and both values. Builds whose log level excludes errors contain neither the
// texts nor the formatting of shapes.
#include "kernels/checks/checks.h"

#include <cstdio>

namespace rushlight::kernels {

namespace {

#if RUSHLIGHT_LOG_LEVEL < 3
// Formats a shape as "[2, 3]"; long shapes are truncated.
struct ShapeText {
  char text[96];
  explicit ShapeText(Span<const SizesType> sizes) {
    size_t used = static_cast<size_t>(snprintf(text, sizeof text, "["));
    for (size_t i = 0; i < sizes.size() && used < sizeof text - 16; ++i) {
      used += static_cast<size_t>(snprintf(text + used, sizeof text - used, "%s%ld", i == 0 ? "" : ", ",
                                           static_cast<long>(sizes[i])));
    }
    snprintf(text + used, sizeof text - used, "]");
  }
};
#else
struct ShapeText {
  const char* text = "";
  explicit ShapeText(Span<const SizesType>) {}
};
#endif

}  // namespace

Error out_of_scratch() {
  RL_CHECK(false, Error::MemoryAllocationFailed, "scratch memory: too small for this call");
  return Error::MemoryAllocationFailed;
}

// Static tensors only accept their own sizes, dynamic ones any sizes up to their bounds.
Error resize_out(const Tensor& out, Span<const SizesType> sizes) {
  const Error error = out.impl()->resize(sizes);
  RL_CHECK(error == Error::Ok, Error::InvalidArgument, "out: expected shape %s, got %s",
           ShapeText(sizes).text, ShapeText(out.sizes()).text);
  return Error::Ok;
}

Error broadcast_shape(Span<const SizesType> a, Span<const SizesType> b, Shape* result) {
  const size_t dim = a.size() > b.size() ? a.size() : b.size();
  result->dim = dim;
  for (size_t i = 0; i < dim; ++i) {
    // Aligned at the last dimension; missing ones count as 1. A size of 0 broadcasts with 1, to 0.
    const SizesType size_a = i < a.size() ? a[a.size() - 1 - i] : 1;
    const SizesType size_b = i < b.size() ? b[b.size() - 1 - i] : 1;
    RL_CHECK(size_a == size_b || size_a == 1 || size_b == 1, Error::InvalidArgument,
             "shapes %s and %s do not broadcast", ShapeText(a).text, ShapeText(b).text);
    result->sizes[dim - 1 - i] = size_a == 1 ? size_b : size_a;
  }
  return Error::Ok;
}

Error normalize_dim(int64_t dim, ptrdiff_t rank, size_t* normalized) {
  // A scalar accepts dimensions 0 and -1, as in PyTorch.
  const ptrdiff_t effective = rank == 0 ? 1 : rank;
  RL_CHECK(dim >= -effective && dim < effective, Error::InvalidArgument,
           "dim: expected one in [%ld, %ld), got %ld", -static_cast<long>(effective),
           static_cast<long>(effective), static_cast<long>(dim));
  *normalized = static_cast<size_t>(dim < 0 ? dim + effective : dim);
  return Error::Ok;
}

Error check_requested_dtype(std::optional<int64_t> dtype, const Tensor& out) {
  RL_CHECK(!dtype.has_value() || *dtype == static_cast<int64_t>(out.scalar_type()), Error::InvalidType,
           "dtype: expected out's %s, got %s", to_string(out.scalar_type()),
           to_string(static_cast<ScalarType>(*dtype)));
  return Error::Ok;
}

Error check_not_bool(ScalarType type, const char* name) {
  RL_CHECK(type != ScalarType::Bool, Error::InvalidType, "%s: expected a dtype other than bool", name);
  return Error::Ok;
}

// As in PyTorch: a float alpha would be truncated, a bool alpha would change a number's meaning.
Error check_alpha_kind(const Scalar& alpha, ScalarType compute) {
  RL_CHECK(!alpha.is_floating() || is_floating(compute) || is_complex(compute), Error::InvalidArgument,
           "alpha: expected an integer for a result of dtype %s, got a floating number", to_string(compute));
  RL_CHECK(!alpha.is_bool() || compute == ScalarType::Bool, Error::InvalidArgument,
           "alpha: expected a number for a result of dtype %s, got a bool", to_string(compute));
  return Error::Ok;
}

Error check_same_dtype(const Tensor& a, const Tensor& b, const char* what) {
  RL_CHECK(a.scalar_type() == b.scalar_type(), Error::InvalidType, "%s: expected equal dtypes, got %s and %s",
           what, to_string(a.scalar_type()), to_string(b.scalar_type()));
  return Error::Ok;
}

bool can_cast(ScalarType from, ScalarType to) {
  // A result may only move up: bool, integer, floating, complex. Widths do not matter.
  if (is_complex(from) && !is_complex(to)) return false;
  if (is_floating(from) && is_integral(to, true)) return false;
  return from == ScalarType::Bool || to != ScalarType::Bool;
}

Error check_can_cast(ScalarType from, const Tensor& out) {
  RL_CHECK(can_cast(from, out.scalar_type()), Error::InvalidType,
           "out: expected a dtype that holds %s, got %s", to_string(from), to_string(out.scalar_type()));
  return Error::Ok;
}

}  // namespace rushlight::kernels
