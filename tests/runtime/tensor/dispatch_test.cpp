// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/tensor/dispatch.h"

#include <string>

#include <gtest/gtest.h>

namespace rushlight {
namespace {

template <TypeSet kSet>
Error size_by_dispatch(ScalarType type, size_t* size) {
  return dispatch<kSet>(type, [&](auto element) {
    *size = sizeof(typename decltype(element)::Element);
    EXPECT_EQ(decltype(element)::value, type);
    return Error::Ok;
  });
}

TEST(Dispatch, ReachesEveryTypeOfItsSet) {
  for (int number = 0; number < 32; ++number) {
    const auto type = static_cast<ScalarType>(number);
    size_t size = 0;
    const Error error = size_by_dispatch<types::kAll>(type, &size);
    EXPECT_EQ(error == Error::Ok, contains(types::kAll, type)) << number;
    EXPECT_EQ(size, error == Error::Ok ? element_size(type) : 0) << number;
  }
}

TEST(Dispatch, RefusesAndNames_TypesOutsideItsSet) {
  size_t size = 0;
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(size_by_dispatch<types::kFloating>(ScalarType::Int, &size), Error::InvalidType);
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("int32"), std::string::npos);
  EXPECT_EQ(size, 0u);
}

TEST(Dispatch, PassesTheErrorOn) {
  EXPECT_EQ(dispatch<types::kReal>(ScalarType::Float, [](auto) { return Error::Internal; }), Error::Internal);
}

}  // namespace
}  // namespace rushlight
