// SPDX-License-Identifier: BSD-3-Clause
#include "backends/calls/call_list.h"

#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/calls/blob_map.h"
#include "runtime/module/module.h"
#include "runtime/module/shared_data_loader.h"
#include "runtime/program/flatbuffer.h"
#include "runtime/program/schema.h"

namespace rushlight {
namespace {

using ::testing::ElementsAre;

std::unique_ptr<Module> loaded(const CallList& list, const std::vector<uint8_t>& program) {
  ModuleOptions options;
  options.method.external_data = &list;
  const std::shared_ptr<const void> bytes(program.data(), [](const void*) {});
  auto module =
      Module::load(std::make_shared<SharedDataLoader>(bytes, program.size()), selected_operators, options);
  EXPECT_TRUE(module.ok());
  return module.ok() ? std::move(*module) : nullptr;
}

// |-x| + (1, 2, 3), in three calls.
struct Sum {
  CallList list;
  std::vector<float> addend = {1, 2, 3};

  Sum() {
    const ValueId x = list.tensor(ScalarType::Float, {3}), a = list.tensor(ScalarType::Float, {3});
    const ValueId b = list.tensor(ScalarType::Float, {3}), y = list.tensor(ScalarType::Float, {3});
    const ValueId c = list.scalars(addend);
    list.call("aten::neg", "out", {x, a});
    list.set_debug_handle(5);
    list.call("aten::abs", "out", {a, b});
    list.call("aten::add", "out", {b, c, list.integer(1), y});
    list.set_inputs({x});
    list.set_outputs({y});
  }
};

TEST(CallList, AProgramOfThreeCalls_Runs) {
  Sum sum;
  const auto program = sum.list.program();
  ASSERT_TRUE(program.ok());
  ASSERT_EQ(flatbuffer::verify({program->data(), program->size()}, schema::kProgramTables), Error::Ok);
  const auto module = loaded(sum.list, *program);
  ASSERT_NE(module, nullptr);
  const auto method = module->method("forward");
  ASSERT_TRUE(method.ok());
  float x[] = {1, -5, 0};
  SizesType sizes[] = {3};
  DimOrderType order[] = {0};
  StridesType strides[] = {1};
  TensorImpl tensor(ScalarType::Float, 1, sizes, x, order, strides);
  float y[3] = {};
  ASSERT_EQ((*method)->method().set_output_buffer(0, {reinterpret_cast<uint8_t*>(y), sizeof y}), Error::Ok);
  ASSERT_EQ((*method)->method().set_input(0, EValue(Tensor(&tensor))), Error::Ok);
  ASSERT_EQ((*method)->execute(), Error::Ok);
  EXPECT_THAT(y, ElementsAre(2, 7, 3));
}

TEST(CallList, EachCall_HasTheHandleThatWasSet) {
  const Sum sum;
  ASSERT_EQ(sum.list.num_calls(), 3u);
  EXPECT_EQ(sum.list.debug_handle(0), 0u);
  EXPECT_EQ(sum.list.debug_handle(1), 5u);
  EXPECT_EQ(sum.list.debug_handle(2), 5u);
}

TEST(CallList, Constants_AreFoundByTheirNames) {
  const Sum sum;
  ASSERT_EQ(*sum.list.num_keys(), 1u);
  const char* key = *sum.list.key(0);
  const auto data = sum.list.data(key);
  ASSERT_TRUE(data.ok());
  EXPECT_EQ(data->size(), 12u);
  float copy[3] = {};
  ASSERT_EQ(sum.list.load_into(key, copy, sizeof copy), Error::Ok);
  EXPECT_THAT(copy, ElementsAre(1, 2, 3));
  EXPECT_EQ(sum.list.load_into(key, copy, 13), Error::InvalidArgument);
  EXPECT_EQ(sum.list.load_into("none", copy, 1), Error::NotFound);
  EXPECT_EQ(sum.list.data("none").error(), Error::NotFound);
  EXPECT_EQ(sum.list.tensor_layout("none").error(), Error::NotFound);
  EXPECT_EQ(sum.list.tensor_layout(key)->sizes[0], 3);
  EXPECT_FALSE(sum.list.key(1).ok());
}

TEST(CallList, AnAlias_SharesTheMemory) {
  CallList list;
  const ValueId x = list.tensor(ScalarType::Float, {2, 3}), t = list.tensor(ScalarType::Float, {2, 3});
  const ValueId flat = list.alias(t, {6}, {0}), y = list.tensor(ScalarType::Float, {6});
  EXPECT_EQ(list.value(flat).storage, list.value(t).storage);
  list.call("aten::neg", "out", {x, t});
  list.call("aten::neg", "out", {flat, y});
  list.set_inputs({x});
  list.set_outputs({y});
  EXPECT_TRUE(list.program().ok());
}

TEST(CallList, ATensorOfTooManyBytes_HasNoProgram) {
  CallList list;
  const ValueId x = list.tensor(ScalarType::Float, {1}), y = list.tensor(ScalarType::Float, {1});
  const ValueId t = list.tensor(ScalarType::Double, {INT32_MAX, INT32_MAX, 64});
  list.call("aten::neg", "out", {x, t});
  list.call("aten::neg", "out", {t, y});
  list.set_inputs({x});
  list.set_outputs({y});
  EXPECT_EQ(list.program().error(), Error::OutOfResources);
}

TEST(BlobMap, ABlob_IsFoundAndOthersAreNot) {
  const uint8_t bytes[] = {1, 2, 3};
  BlobMap map;
  map.add("a", {bytes, 3});
  EXPECT_EQ(map.data("a")->size(), 3u);
  EXPECT_FALSE(map.data("b").ok());
  EXPECT_EQ(*map.num_keys(), 1u);
  EXPECT_STREQ(*map.key(0), "a");
  EXPECT_FALSE(map.key(1).ok());
}

}  // namespace
}  // namespace rushlight
