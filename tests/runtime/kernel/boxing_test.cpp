// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/kernel/boxing.h"

#include <gtest/gtest.h>

namespace rushlight {
namespace {

Error all_kinds(KernelContext&, const Tensor&, Tensor&, int64_t, double, bool, const Scalar&,
                std::string_view, Span<const int64_t>, Span<const double>, Span<const bool>,
                Span<const Tensor>, Span<const std::optional<Tensor>>, Span<Tensor>) {
  return Error::Ok;
}

Error all_optional(KernelContext&, const std::optional<Tensor>&, std::optional<int64_t>,
                   std::optional<double>, std::optional<bool>, const std::optional<Scalar>&,
                   std::optional<std::string_view>, std::optional<Span<const int64_t>>,
                   std::optional<Span<const double>>) {
  return Error::Ok;
}

Error add_numbers(KernelContext&, const EValue& a, int64_t b, std::optional<int64_t> c, EValue& out) {
  out = EValue(a.to_int() + b + c.value_or(1000));
  return Error::Ok;
}

Error become_a_tensor(KernelContext&, EValue& out) {
  out.tag = Tag::Tensor;
  out.payload.as_int = 0x1234;
  return Error::Ok;
}

Error fail(KernelContext&, bool) { return Error::NotSupported; }

Error use_scratch(KernelContext& context, int64_t bytes) {
  return context.allocate_temp(static_cast<size_t>(bytes)) == nullptr ? Error::MemoryAllocationFailed
                                                                      : Error::Ok;
}

TEST(Signature, HasOneCharacterForEachArgument) {
  EXPECT_STREQ(signature_of<&all_kinds>(), "twidbsznfolpk");
  EXPECT_STREQ(signature_of<&all_optional>(), "TIDBSZNF");
  EXPECT_STREQ(signature_of<&add_numbers>(), "eiIe");
}

TEST(Boxed, UnpacksItsArguments_AndWritesNumbers) {
  EValue a(int64_t{1});
  EValue b(int64_t{20});
  EValue c;
  EValue out(int64_t{0});
  EValue* arguments[] = {&a, &b, &c, &out};
  KernelContext context;
  EXPECT_EQ(boxed<&add_numbers>(context, arguments), Error::Ok);
  EXPECT_EQ(out.to_int(), 1021);
  c = EValue(int64_t{300});
  EXPECT_EQ(boxed<&add_numbers>(context, arguments), Error::Ok);
  EXPECT_EQ(out.to_int(), 321);
}

TEST(Boxed, LetsNumbersChangeTheirKind) {
  EValue one(int64_t{1});
  EValue none;
  EValue out(2.5);
  EValue* arguments[] = {&one, &one, &none, &out};
  KernelContext context;
  EXPECT_EQ(boxed<&add_numbers>(context, arguments), Error::Ok);
  EXPECT_TRUE(out.is_int());
}

TEST(Boxed, UndoesAWrite_ThatChangesWhatAValueIs) {
  KernelContext context;
  TensorImpl impl(ScalarType::Float, 0, nullptr, nullptr, nullptr, nullptr);
  EValue one(int64_t{1});
  EValue none;
  EValue tensor{Tensor(&impl)};
  EValue* into_tensor[] = {&one, &one, &none, &tensor};
  EXPECT_EQ(boxed<&add_numbers>(context, into_tensor), Error::InvalidType);
  EXPECT_EQ(tensor.to_tensor().impl(), &impl);
  EValue* from_number[] = {&one};
  EXPECT_EQ(boxed<&become_a_tensor>(context, from_number), Error::InvalidType);
  EXPECT_EQ(one.to_int(), 1);
}

TEST(Boxed, PassesTheKernelsErrorOn) {
  EValue value(true);
  EValue* arguments[] = {&value};
  KernelContext context;
  EXPECT_EQ(boxed<&fail>(context, arguments), Error::NotSupported);
}

TEST(KernelContext, GivesScratch_AsLongAsThereIs) {
  alignas(16) uint8_t memory[64];
  Arena arena(memory);
  KernelContext context(&arena);
  EValue bytes(int64_t{64});
  EValue* arguments[] = {&bytes};
  EXPECT_EQ(boxed<&use_scratch>(context, arguments), Error::Ok);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(boxed<&use_scratch>(context, arguments), Error::MemoryAllocationFailed);
  ::testing::internal::GetCapturedStderr();
  KernelContext without;
  EXPECT_EQ(boxed<&use_scratch>(without, arguments), Error::MemoryAllocationFailed);
}

}  // namespace
}  // namespace rushlight
