// SPDX-License-Identifier: BSD-3-Clause
// The default mode in the process of ATen mode: both run the same program. Compiled without USE_ATEN_LIB.
#include <executorch/extension/module/module.h>
#include <executorch/extension/tensor/tensor.h>
#include <gtest/gtest.h>

namespace {

using executorch::extension::Module;
using executorch::runtime::EValue;

static_assert(std::is_same_v<executorch::aten::SizesType, int32_t>);

TEST(BothModes, Forward_DefaultMode_GivesRushlightsTensors) {
  Module module(std::string(RUSHLIGHT_TEST_PROGRAMS) + "/f64_add/model.pte");
  const auto one = executorch::extension::ones({4, 6}, executorch::aten::ScalarType::Double);
  const auto outputs = module.forward({EValue(one), EValue(one)});
  ASSERT_TRUE(outputs.ok());
  EXPECT_EQ(outputs->at(0).toTensor().const_data_ptr<double>()[3], 2);
}

}  // namespace
