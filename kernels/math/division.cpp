// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/math/division.h"

namespace rushlight::kernels {

Error parse_rounding(std::optional<std::string_view> mode, Rounding* rounding) {
  if (!mode.has_value()) {
    *rounding = Rounding::kNone;
  } else if (*mode == "trunc") {
    *rounding = Rounding::kTruncate;
  } else {
    RL_CHECK(*mode == "floor", Error::InvalidArgument,
             "rounding_mode: expected None, 'trunc' or 'floor', got '%.*s'", static_cast<int>(mode->size()),
             mode->data());
    *rounding = Rounding::kFloor;
  }
  return Error::Ok;
}

// Loops set a flag instead of stopping; the result has zeros at these elements.
Error check_no_division_by_zero(bool happened) {
  RL_CHECK(!happened, Error::InvalidArgument, "other: expected nonzero integers, got 0");
  return Error::Ok;
}

}  // namespace rushlight::kernels
