// SPDX-License-Identifier: BSD-3-Clause
// The official core types mean what they mean there, on rushlight's.
#include <array>
#include <cstring>
#include <memory>

#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/exec_aten/util/tensor_shape_to_c_string.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/core/freeable_buffer.h>
#include <executorch/runtime/core/function_ref.h>
#include <executorch/runtime/core/hierarchical_allocator.h>
#include <executorch/runtime/core/tensor_layout.h>
#include <gtest/gtest.h>

namespace {

using executorch::aten::ArrayRef;
using executorch::aten::BFloat16;
using executorch::aten::DimOrderType;
using executorch::aten::Half;
using executorch::aten::Scalar;
using executorch::aten::ScalarType;
using executorch::aten::SizesType;
using executorch::aten::Tensor;
using executorch::aten::TensorImpl;
using executorch::runtime::BoxedEvalueList;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::Result;
using executorch::runtime::Span;
using executorch::runtime::Tag;
using executorch::runtime::TensorShapeDynamism;

static_assert(static_cast<int>(Error::DelegateInvalidHandle) == 0x32);
static_assert(static_cast<int>(ScalarType::UInt64) == 29);
static_assert(std::is_same_v<exec_aten::Tensor, torch::executor::Tensor>);
static_assert(std::is_same_v<executorch::aten::optional<int>, std::optional<int>>);
static_assert(executorch::runtime::CppTypeToScalarType<Half>::value == ScalarType::Half);
static_assert(executorch::runtime::promoteTypes(ScalarType::Int, ScalarType::Half) == ScalarType::Half);
static_assert(executorch::runtime::promoteTypes(ScalarType::Byte, ScalarType::Char) == ScalarType::Short);
static_assert(executorch::runtime::promoteTypes(ScalarType::Half, ScalarType::BFloat16) == ScalarType::Float);
static_assert(executorch::runtime::promoteTypes(ScalarType::ComplexHalf, ScalarType::Float) ==
              ScalarType::ComplexFloat);
static_assert(executorch::runtime::promoteTypes(ScalarType::Bool, ScalarType::ComplexDouble) ==
              ScalarType::ComplexDouble);
static_assert(!executorch::runtime::canCast(ScalarType::Float, ScalarType::Int));
static_assert(std::numeric_limits<BFloat16>::max().x == 0x7f7f);

TEST(TensorImpl, WithoutDimOrder_IsRowMajor) {
  SizesType sizes[] = {2, 3};
  float data[6] = {};
  TensorImpl impl(ScalarType::Float, 2, sizes, data);
  const Tensor tensor(&impl);
  EXPECT_EQ(tensor.dim_order(), (ArrayRef<DimOrderType>({0, 1})));
  EXPECT_EQ(tensor.strides()[0], 3);
  EXPECT_EQ(tensor.numel(), 6);
  EXPECT_EQ(tensor.nbytes(), 24u);
  EXPECT_EQ(tensor.element_size(), 4);
  EXPECT_EQ(tensor.const_data_ptr<float>(), data);
  EXPECT_EQ(tensor.unsafeGetTensorImpl(), &impl);
}

TEST(TensorImpl, Copied_OwnsItsStrides) {
  SizesType sizes[] = {2, 3};
  float data[6] = {};
  auto first = std::make_unique<TensorImpl>(ScalarType::Float, 2, sizes, data);
  const TensorImpl copy(*first);
  first.reset();
  EXPECT_EQ(copy.strides()[0], 3);
}

TEST(TensorImpl, Copied_OwnsTheDimOrderThatItsMakerOmitted) {
  SizesType sizes[] = {2, 3};
  float data[6] = {};
  alignas(TensorImpl) uint8_t memory[sizeof(TensorImpl)];
  auto* first = new (memory) TensorImpl(ScalarType::Float, 2, sizes, data);
  const TensorImpl copy(*first);
  first->~TensorImpl();
  std::memset(memory, 0xff, sizeof memory);
  EXPECT_EQ(copy.dim_order(), (ArrayRef<DimOrderType>({0, 1})));
  EXPECT_EQ(copy.strides(), (ArrayRef<executorch::aten::StridesType>({3, 1})));
}

TEST(TensorImpl, OfAConstantCopied_IsNotWritable) {
  SizesType sizes[] = {2};
  float data[2] = {};
  TensorImpl constant(ScalarType::Float, 1, sizes);
  constant.rushlight::TensorImpl::set_data(data, rushlight::Storage::Constant);
  const TensorImpl copy(constant);
  EXPECT_EQ(copy.data(), data);
  EXPECT_FALSE(copy.is_writable());
}

TEST(TensorImpl, CopiedAfterAResize_KeepsItsCapacity) {
  SizesType sizes[] = {4, 4};
  DimOrderType dim_order[] = {0, 1};
  executorch::aten::StridesType strides[2];
  float data[16] = {};
  TensorImpl impl(ScalarType::Float, 2, sizes, data, dim_order, strides, TensorShapeDynamism::DYNAMIC_BOUND);
  const SizesType smaller[] = {2, 3};
  ASSERT_EQ(impl.internal_resize_contiguous({smaller, 2}), Error::Ok);
  TensorImpl copy(impl);
  EXPECT_EQ(copy.numel(), 6);
  const SizesType full[] = {4, 4};
  EXPECT_EQ(copy.internal_resize_contiguous({full, 2}), Error::Ok);
  EXPECT_EQ(copy.numel(), 16);
}

TEST(TensorImpl, SizeOutOfRange_Aborts) {
  SizesType sizes[] = {2};
  TensorImpl impl(ScalarType::Float, 1, sizes);
  EXPECT_DEATH(static_cast<void>(impl.size(1)), "");
}

TEST(ResizeTensor, WithinTheBound_ChangesSizesAndStrides) {
  SizesType sizes[] = {4, 4};
  DimOrderType dim_order[] = {0, 1};
  executorch::aten::StridesType strides[] = {4, 1};
  float data[16] = {};
  TensorImpl impl(ScalarType::Float, 2, sizes, data, dim_order, strides, TensorShapeDynamism::DYNAMIC_BOUND);
  const Tensor tensor(&impl);
  const SizesType smaller[] = {2, 3};
  EXPECT_EQ(executorch::runtime::resize_tensor(tensor, {smaller, 2}), Error::Ok);
  EXPECT_EQ(strides[0], 3);
  const int64_t larger[] = {5, 5};
  EXPECT_NE(executorch::runtime::resize_tensor(tensor, ArrayRef<int64_t>(larger)), Error::Ok);
  EXPECT_EQ(executorch::runtime::resize_tensor(tensor, {smaller, 1}), Error::NotSupported);
  EXPECT_EQ(tensor.sizes()[1], 3);
}

TEST(ResizeTensor, SizesBeyondInt32_AreRefused) {
  SizesType sizes[] = {1};
  float data[1] = {};
  TensorImpl impl(ScalarType::Float, 1, sizes, data);
  const auto resize = [&impl](auto size) {
    return executorch::runtime::resize_tensor(Tensor(&impl), ArrayRef<decltype(size)>(&size, 1));
  };
  EXPECT_EQ(resize((int64_t{1} << 32) + 1), Error::InvalidArgument);
  EXPECT_EQ(resize(1 - (int64_t{1} << 32)), Error::InvalidArgument);
  EXPECT_EQ(resize((uint64_t{1} << 32) + 1), Error::InvalidArgument);
  EXPECT_EQ(resize(uint64_t{1}), Error::Ok);
  EXPECT_EQ(resize(uint8_t{1}), Error::Ok);
  EXPECT_EQ(resize(int64_t{1}), Error::Ok);
}

TEST(EValue, OfEachKind_KnowsItAndGivesItBack) {
  EXPECT_TRUE(EValue().isNone());
  EXPECT_EQ(EValue(int64_t{7}).toInt(), 7);
  EXPECT_EQ(EValue(2.5).to<double>(), 2.5);
  EXPECT_TRUE(EValue(true).toBool());
  EXPECT_EQ(EValue(Scalar(3)).tag, Tag::Int);
  EXPECT_EQ(EValue(int64_t{6}).toScalarType(), ScalarType::Float);
  EXPECT_EQ(EValue(int64_t{7}).tryTo<double>().error(), Error::InvalidType);
  EXPECT_FALSE(EValue().toOptional<int64_t>().has_value());
  EXPECT_EQ(*EValue(int64_t{7}).tryToOptional<int64_t>().get(), 7);
  EXPECT_DEATH(static_cast<void>(EValue(2.5).toInt()), "");
  const char characters[] = {'a', 'b'};
  ArrayRef<char> text(characters);
  EXPECT_EQ(EValue(&text).toString(), "ab");
  const double numbers[] = {1, 2};
  ArrayRef<double> list(numbers);
  EXPECT_EQ(EValue(&list).toDoubleList().size(), 2u);
}

TEST(EValue, Tensor_IsGivenByReference) {
  SizesType sizes[] = {1};
  TensorImpl impl(ScalarType::Float, 1, sizes);
  TensorImpl other(ScalarType::Int, 1, sizes);
  EValue value{Tensor(&impl)};
  value.toTensor() = Tensor(&other);
  EXPECT_EQ(value.toTensor().scalar_type(), ScalarType::Int);
  EXPECT_EQ(value.to_tensor().impl(), &other);
  auto pointer = std::make_shared<Tensor>(&impl);
  EXPECT_EQ(EValue(pointer).toTensor().unsafeGetTensorImpl(), &impl);
}

TEST(EValue, OfAListLongerThanItsLength_Aborts) {
  if constexpr (sizeof(size_t) > sizeof(uint32_t)) {
    const size_t size = (size_t{1} << 32) + 1;
    const bool item = true;
    ArrayRef<bool> bools(&item, size);
    EXPECT_DEATH(static_cast<void>(EValue(&bools)), "");
    const double number = 1;
    ArrayRef<double> numbers(&number, size);
    EXPECT_DEATH(static_cast<void>(EValue(&numbers)), "");
    ArrayRef<char> text("a", size);
    EXPECT_DEATH(static_cast<void>(EValue(&text)), "");
  }
}

TEST(EValue, Lists_AreGatheredWhenRead) {
  SizesType sizes[] = {1};
  TensorImpl impl(ScalarType::Float, 1, sizes);
  EValue values[] = {EValue(int64_t{1}), EValue(int64_t{2}), EValue(Tensor(&impl)), EValue()};
  EValue* ints[] = {&values[0], &values[1]};
  int64_t numbers[2];
  BoxedEvalueList<int64_t> list(ints, numbers, 2);
  const EValue int_list(&list);
  values[1] = EValue(int64_t{5});
  EXPECT_EQ(int_list.toIntList()[1], 5);
  EValue* tensors[] = {&values[2], &values[3]};
  std::optional<Tensor> items[2];
  EValue* some[] = {&values[0], nullptr};
  std::optional<int64_t> some_items[2];
  auto some_ints = BoxedEvalueList<std::optional<int64_t>>(some, some_items, 2).tryGet();
  ASSERT_TRUE(some_ints.ok());
  EXPECT_EQ((*some_ints)[0], values[0].toInt());
  EXPECT_FALSE((*some_ints)[1].has_value());
  BoxedEvalueList<std::optional<Tensor>> optionals(tensors, items, 2);
  const auto read = EValue(&optionals).toListOptionalTensor();
  ASSERT_EQ(read.size(), 2u);
  EXPECT_TRUE(read[0].has_value());
  EXPECT_FALSE(read[1].has_value());
}

TEST(Scalar, ReadAsAnotherKind_Aborts) {
  EXPECT_EQ(Scalar(true).to<int64_t>(), 1);
  EXPECT_EQ(Scalar(Half(1.5f)).to<double>(), 1.5);
  EXPECT_TRUE(Scalar(3u).isIntegral(false));
  EXPECT_DEATH(static_cast<void>(Scalar(1.5).to<int64_t>()), "");
}

TEST(Half, Arithmetic_RoundsToHalf) {
  EXPECT_EQ(static_cast<float>(Half(1.0f) + Half(2.0f)), 3.0f);
  EXPECT_EQ(static_cast<float>(Half(2048.0f) + Half(1.0f)), 2048.0f);
  EXPECT_EQ(Half(1.0f) + 0.25, 1.25);
  EXPECT_EQ(std::nextafter(Half(1.0f), Half(2.0f)).x, 0x3c01);
  EXPECT_EQ(static_cast<float>(std::exp(BFloat16(0.0f))), 1.0f);
}

TEST(Complex, Division_IsTheInverseOfMultiplication) {
  const executorch::aten::complex<float> a(3, 4);
  const executorch::aten::complex<float> b(1, -2);
  const auto quotient = (a * b) / b;
  EXPECT_FLOAT_EQ(quotient.real(), 3);
  EXPECT_FLOAT_EQ(quotient.imag(), 4);
  EXPECT_FLOAT_EQ(std::abs(a), 5);
  EXPECT_FLOAT_EQ(std::expm1(executorch::aten::complex<float>(1e-6f, 0)).real(), 1e-6f);
}

Result<int> half_of(int value) {
  ET_CHECK_OR_RETURN_ERROR(value % 2 == 0, InvalidArgument, "%d is odd", value);
  return value / 2;
}
Result<int> quarter_of(int value) { return half_of(ET_UNWRAP(half_of(value), "no half of %d", value)); }
Error check_quarter(int value) {
  ET_ASSIGN_OR_RETURN(quarter, quarter_of(value));
  ET_CHECK_OK_OR_RETURN_ERROR(quarter == 2 ? Error::Ok : Error::NotFound, "quarter %d", quarter);
  return Error::Ok;
}

TEST(Result, Macros_PassErrorsUp) {
  EXPECT_EQ(check_quarter(8), Error::Ok);
  EXPECT_EQ(check_quarter(6), Error::InvalidArgument);
  EXPECT_EQ(check_quarter(4), Error::NotFound);
  EXPECT_STREQ(executorch::runtime::to_string(Error::NotFound), "Error::NotFound");
  EXPECT_DEATH(static_cast<void>(half_of(1).get()), "");
}

TEST(ComputeNumel, OfAnySizes_IsThatOfTheOfficialRuntime) {
  using executorch::aten::compute_numel;
  using executorch::aten::safe_numel;
  const SizesType sizes[] = {INT32_MAX, INT32_MAX, INT32_MAX, 0, -1};
  EXPECT_EQ(compute_numel(nullptr, 0), 1);
  EXPECT_EQ(compute_numel(sizes, 2), 4611686014132420609);
  // executorch 1.5.1 wraps around on overflow.
  EXPECT_EQ(compute_numel(sizes, 3), 4611686024869838847);
  EXPECT_EQ(compute_numel(sizes, 4), 0);
  EXPECT_EQ(safe_numel(sizes, 3).error(), Error::InvalidArgument);
  EXPECT_DEATH(static_cast<void>(executorch::aten::compute_numel(sizes + 4, 1)),
               "expected at least 0, got -1");
  EXPECT_DEATH(static_cast<void>(executorch::aten::compute_numel(nullptr, 1)), "expected sizes, got null");
}

TEST(DimOrder, Strides_AreThoseOfTheLayout) {
  const SizesType sizes[] = {2, 3, 4, 5};
  const DimOrderType channels_last[] = {0, 2, 3, 1};
  SizesType strides[4];
  ASSERT_EQ(executorch::runtime::dim_order_to_stride(sizes, channels_last, 4, strides), Error::Ok);
  EXPECT_EQ(ArrayRef<SizesType>(strides), (ArrayRef<SizesType>({60, 1, 15, 3})));
  DimOrderType back[4];
  ASSERT_EQ(executorch::runtime::stride_to_dim_order(strides, 4, back), Error::Ok);
  EXPECT_TRUE(executorch::runtime::is_channels_last_dim_order(back, 4));
  const DimOrderType twice[] = {0, 0};
  EXPECT_EQ(executorch::runtime::dim_order_to_stride(sizes, twice, 2, strides), Error::InvalidArgument);
}

TEST(TensorShape, AsText_HasEverySize) {
  const int32_t sizes[] = {2, 3, -1};
  const Span<const int32_t> shape(sizes);
  EXPECT_STREQ(executorch::runtime::tensor_shape_to_c_string(shape).data(), "(2, 3, ERR)");
}

TEST(ExtractScalarTensor, OutOfRange_IsRefused) {
  SizesType sizes[] = {1};
  int32_t data = 300;
  TensorImpl impl(ScalarType::Int, 1, sizes, &data);
  uint8_t small = 0;
  int64_t large = 0;
  float real = 0;
  EXPECT_FALSE(executorch::runtime::extract_scalar_tensor(Tensor(&impl), &small));
  EXPECT_TRUE(executorch::runtime::extract_scalar_tensor(Tensor(&impl), &large));
  EXPECT_EQ(large, 300);
  EXPECT_TRUE(executorch::runtime::extract_scalar_tensor(Tensor(&impl), &real));
  EXPECT_EQ(real, 300.0f);
}

TEST(ExtractScalarTensor, NegativeIntoUnsigned_IsRefused) {
  SizesType sizes[] = {1};
  const auto refused = [&sizes](auto value, ScalarType type, auto out) {
    TensorImpl impl(type, 1, sizes, &value);
    const auto before = out;
    return !executorch::runtime::extract_scalar_tensor(Tensor(&impl), &out) && out == before;
  };
  EXPECT_TRUE(refused(int8_t{-1}, ScalarType::Char, uint32_t{7}));
  EXPECT_TRUE(refused(int32_t{-1}, ScalarType::Int, uint32_t{7}));
  EXPECT_TRUE(refused(int64_t{-1}, ScalarType::Long, uint32_t{7}));
  EXPECT_TRUE(refused(int64_t{1} << 32, ScalarType::Long, uint32_t{7}));
  EXPECT_TRUE(refused(int16_t{-1}, ScalarType::Short, uint64_t{7}));
  EXPECT_TRUE(refused(INT64_MIN, ScalarType::Long, uint64_t{7}));
  EXPECT_FALSE(refused(INT64_MAX, ScalarType::Long, uint64_t{7}));
  EXPECT_FALSE(refused(uint8_t{255}, ScalarType::Byte, uint32_t{7}));
}

TEST(TensorChecks, Mismatch_AbortsOrSaysFalse) {
  SizesType sizes[] = {2};
  SizesType others[] = {3};
  TensorImpl a(ScalarType::Float, 1, sizes);
  TensorImpl b(ScalarType::Float, 1, others);
  EXPECT_FALSE(executorch::runtime::tensors_have_same_shape(Tensor(&a), Tensor(&b)));
  ET_CHECK_SAME_SHAPE_AND_DTYPE2(Tensor(&a), Tensor(&a));
  EXPECT_DEATH(ET_CHECK_SAME_SHAPE2(Tensor(&a), Tensor(&b)), "");
}

TEST(FreeableBuffer, Moved_IsFreedOnce) {
  int freed = 0;
  const auto free = [](void* context, void*, size_t) { ++*static_cast<int*>(context); };
  {
    executorch::runtime::FreeableBuffer buffer("data", 4, free, &freed);
    const executorch::runtime::FreeableBuffer moved(std::move(buffer));
    EXPECT_EQ(moved.size(), 4u);
  }
  EXPECT_EQ(freed, 1);
}

TEST(MemoryAllocator, Full_GivesNull) {
  alignas(16) uint8_t memory[64];
  executorch::runtime::MemoryAllocator allocator(sizeof memory, memory);
  EXPECT_EQ(allocator.allocate(1), memory);
  EXPECT_EQ(allocator.allocate(8, 16), memory + 16);
  EXPECT_EQ(allocator.allocateList<int64_t>(100), nullptr);
  EXPECT_EQ(allocator.used_size(), 24u);
  allocator.reset();
  EXPECT_NE(allocator.allocate(64), nullptr);
}

TEST(HierarchicalAllocator, BeyondABuffer_IsRefused) {
  uint8_t memory[32];
  Span<uint8_t> buffers[] = {{memory, size_t{32}}};
  executorch::runtime::HierarchicalAllocator allocator({buffers, size_t{1}});
  EXPECT_EQ(allocator.get_offset_address(0, 16, 16).get(), memory + 16);
  EXPECT_EQ(allocator.get_offset_address(0, 16, 17).error(), Error::MemoryAllocationFailed);
  EXPECT_EQ(allocator.get_offset_address(1, 0, 1).error(), Error::InvalidArgument);
  EXPECT_EQ(allocator.get_offset_address(0, SIZE_MAX, 2).error(), Error::InvalidArgument);
}

TEST(FunctionRef, Called_CallsWhatItRefersTo) {
  int sum = 0;
  const auto add = [&sum](int value) { sum += value; };
  const executorch::runtime::FunctionRef<void(int)> reference(add);
  reference(3);
  EXPECT_EQ(sum, 3);
}

TEST(TensorLayout, OfWrongDimOrder_IsRefused) {
  const int32_t sizes[] = {2, 3};
  const uint8_t order[] = {0, 1};
  const uint8_t wrong[] = {1, 1};
  EXPECT_EQ(executorch::runtime::TensorLayout::create(sizes, order, ScalarType::Int)->nbytes(), 24u);
  EXPECT_EQ(executorch::runtime::TensorLayout::create(sizes, wrong, ScalarType::Int).error(),
            Error::InvalidArgument);
}

}  // namespace
