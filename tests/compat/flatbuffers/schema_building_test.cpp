// SPDX-License-Identifier: BSD-3-Clause
// Programs made with Google's FlatBufferBuilder and the Create functions of program_generated.h.
#include <cstring>
#include <vector>

#include <executorch/extension/data_loader/buffer_data_loader.h>
#include <executorch/extension/memory_allocator/malloc_memory_allocator.h>
#include <executorch/extension/tensor/tensor.h>
#include <executorch/runtime/executor/program.h>
#include <executorch/runtime/executor/tensor_parser.h>
#include <executorch/schema/program_generated.h>
#include <gtest/gtest.h>

// get_output_flattening_encoding() is deprecated, and tried all the same.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static_assert(RUSHLIGHT_FLATBUFFERS_LIBRARY == 1);

namespace {

namespace flat = executorch_flatbuffer;

using executorch::aten::ScalarType;
using executorch::extension::BufferDataLoader;
using executorch::extension::MallocMemoryAllocator;
using executorch::runtime::Error;
using executorch::runtime::HierarchicalAllocator;
using executorch::runtime::MemoryManager;
using executorch::runtime::Program;
using executorch::runtime::Span;
using executorch::runtime::TensorLayout;
using executorch::runtime::deserialization::validateTensorLayout;
using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

// Moves its input to its output, which needs no operator.
std::vector<uint8_t> moving_program(FlatBufferBuilder& builder, bool says_structure) {
  const auto tensor = [&](uint32_t offset) {
    const auto allocation = flat::CreateAllocationDetails(builder, 1, offset);
    return flat::CreateEValue(
        builder, flat::KernelTypes::Tensor,
        flat::CreateTensor(builder, flat::ScalarType::FLOAT, 0, builder.CreateVector(std::vector<int32_t>{2}),
                           builder.CreateVector(std::vector<uint8_t>{0}), false, 0, allocation)
            .Union());
  };
  const auto values = builder.CreateVector(std::vector<Offset<flat::EValue>>{tensor(0), tensor(16)});
  const auto move = flat::CreateInstruction(builder, flat::InstructionArguments::MoveCall,
                                            flat::CreateMoveCall(builder, 0, 1).Union());
  const auto chain =
      flat::CreateChain(builder, 0, 0, builder.CreateVector(std::vector<Offset<flat::Instruction>>{move}));
  const auto structure = says_structure ? flat::CreateContainerMetadata(builder, builder.CreateString("in"),
                                                                        builder.CreateString("out"))
                                        : Offset<flat::ContainerMetadata>(0);
  const auto plan = flat::CreateExecutionPlan(builder, builder.CreateString("forward"), structure, values,
                                              builder.CreateVector(std::vector<int32_t>{0}),
                                              builder.CreateVector(std::vector<int32_t>{1}),
                                              builder.CreateVector(std::vector<Offset<flat::Chain>>{chain}),
                                              0, 0, builder.CreateVector(std::vector<int64_t>{0, 32}));
  const auto root =
      flat::CreateProgram(builder, 0, builder.CreateVector(std::vector<Offset<flat::ExecutionPlan>>{plan}));
  flat::FinishProgramBuffer(builder, root);
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

struct alignas(16) Aligned {
  uint8_t bytes[2048];
};

TEST(SchemaBuilding, AProgramOfGooglesBuilder_LoadsAndRuns) {
  FlatBufferBuilder builder;
  const auto made = moving_program(builder, true);
  flatbuffers::Verifier verifier(made.data(), made.size());
  EXPECT_TRUE(flat::VerifyProgramBuffer(verifier));
  Aligned file{};
  ASSERT_LE(made.size(), sizeof file.bytes);
  std::memcpy(file.bytes, made.data(), made.size());
  BufferDataLoader loader(file.bytes, made.size());
  auto program = Program::load(&loader, Program::Verification::InternalConsistency);
  ASSERT_TRUE(program.ok());
  EXPECT_STREQ(program->get_output_flattening_encoding().get(), "out");
  EXPECT_EQ(program->get_named_data_map().error(), Error::NotFound);

  alignas(16) uint8_t planned[32];
  Span<uint8_t> span(planned, sizeof planned);
  HierarchicalAllocator planner(Span<Span<uint8_t>>(&span, size_t{1}));
  MallocMemoryAllocator allocator;
  MemoryManager memory(&allocator, &planner);
  auto method = program->load_method("forward", &memory);
  ASSERT_TRUE(method.ok());
  const auto input = executorch::extension::make_tensor_ptr({2}, {3.0f, 4.0f});
  ASSERT_EQ(method->set_input(input, 0), Error::Ok);
  ASSERT_EQ(method->execute(), Error::Ok);
  EXPECT_EQ(method->get_output(0).toTensor().const_data_ptr<float>()[1], 4);
}

TEST(SchemaBuilding, AProgramWithoutStructure_IsSaidToHaveNone) {
  FlatBufferBuilder builder;
  const auto made = moving_program(builder, false);
  Aligned file{};
  std::memcpy(file.bytes, made.data(), made.size());
  BufferDataLoader loader(file.bytes, made.size());
  auto program = Program::load(&loader);
  ASSERT_TRUE(program.ok());
  EXPECT_EQ(program->get_output_flattening_encoding().error(), Error::InvalidProgram);
}

TEST(SchemaBuilding, TablesMadeDirectly_HaveWhatWasGiven) {
  FlatBufferBuilder builder;
  const std::vector<Offset<flat::NamedData>> names = {flat::CreateNamedDataDirect(builder, "key0", 1),
                                                      flat::CreateNamedDataDirect(builder)};
  builder.Finish(
      flat::CreateProgramDirect(builder, 0, nullptr, nullptr, nullptr, nullptr, 0, nullptr, &names));
  const auto* root = flat::GetProgram(builder.GetBufferPointer());
  EXPECT_EQ(root->named_data()->Get(0)->key()->str(), "key0");
  EXPECT_EQ(root->named_data()->Get(0)->segment_index(), 1u);
  EXPECT_EQ(root->named_data()->Get(1)->key(), nullptr);
  EXPECT_EQ(root->segments(), nullptr);
}

TEST(SchemaBuilding, ATensorWithoutFields_HasNoLayout) {
  const int32_t sizes[] = {2, 3};
  const uint8_t order[] = {0, 1};
  const auto layout = TensorLayout::create({sizes, 2}, {order, 2}, ScalarType::Float);
  const auto checked = [&](bool with_sizes, const std::vector<uint8_t>& dim_order) {
    FlatBufferBuilder builder;
    const auto stated = with_sizes ? builder.CreateVector(std::vector<int32_t>{2, 3})
                                   : Offset<flatbuffers::Vector<int32_t>>(0);
    const auto ordered =
        dim_order.empty() ? Offset<flatbuffers::Vector<uint8_t>>(0) : builder.CreateVector(dim_order);
    builder.Finish(flat::CreateTensor(builder, flat::ScalarType::FLOAT, 0, stated, ordered));
    return validateTensorLayout(flatbuffers::GetRoot<flat::Tensor>(builder.GetBufferPointer()), layout.get());
  };
  EXPECT_EQ(checked(true, {0, 1}), Error::Ok);
  EXPECT_EQ(checked(true, {0}), Error::InvalidExternalData);
  EXPECT_EQ(checked(true, {}), Error::InvalidExternalData);
  EXPECT_EQ(checked(false, {0, 1}), Error::InvalidExternalData);
}

}  // namespace
