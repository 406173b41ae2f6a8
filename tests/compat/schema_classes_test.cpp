// SPDX-License-Identifier: BSD-3-Clause
// Files read through the classes of program_generated.h and its like, beside what rushlight's own readers
// say; and tensors made from these tables. Compiled with and without Google's library.
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <executorch/devtools/bundled_program/schema/bundled_program_schema_generated.h>
#include <executorch/extension/data_loader/buffer_data_loader.h>
#include <executorch/extension/flat_tensor/flat_tensor_data_map.h>
#include <executorch/extension/flat_tensor/serialize/flat_tensor_generated.h>
#include <executorch/extension/memory_allocator/malloc_memory_allocator.h>
#include <executorch/runtime/executor/program.h>
#include <executorch/runtime/executor/pte_data_map.h>
#include <executorch/runtime/executor/tensor_parser.h>
#include <executorch/runtime/platform/runtime.h>
#include <executorch/schema/program_generated.h>
#include <gtest/gtest.h>

#include "tests/runtime/support/program_builder.h"

namespace executorch::runtime::testing {
// ExecuTorch's own tests have a class of this name.
class ProgramTestFriend final {
 public:
  static const executorch_flatbuffer::Program* root(const Program& program) {
    return program.internal_program_;
  }
  static Result<FreeableBuffer> segment(const Program& program, size_t index) {
    return program.LoadSegment(DataLoader::SegmentInfo(DataLoader::SegmentInfo::Type::Constant, index));
  }
  static Error state(const Program& program, size_t segment, size_t entry, size_t size, void* buffer) {
    return program.load_mutable_subsegment_into(segment, entry, size, buffer);
  }
  static Error delegate(const Program& program, size_t index, const void** data, size_t* size) {
    return program.get_backend_delegate_data(index, data, size);
  }
};
}  // namespace executorch::runtime::testing

namespace {

namespace t = rushlight::testing;
namespace flat = executorch_flatbuffer;

using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::extension::BufferDataLoader;
using executorch::extension::FlatTensorDataMap;
using executorch::extension::MallocMemoryAllocator;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::FreeableBuffer;
using executorch::runtime::HierarchicalAllocator;
using executorch::runtime::MemoryManager;
using executorch::runtime::Program;
using executorch::runtime::Span;
using executorch::runtime::TensorLayout;
using executorch::runtime::deserialization::getTensorDataPtr;
using executorch::runtime::deserialization::NamedData;
using executorch::runtime::deserialization::parseListOptionalType;
using executorch::runtime::deserialization::parseTensor;
using executorch::runtime::deserialization::parseTensorList;
using executorch::runtime::deserialization::validateTensorLayout;
using executorch::runtime::testing::ProgramTestFriend;

// A file of tests/interop, where a loader may use it in place.
class File {
 public:
  explicit File(const char* name) : File(read(name)) {}
  explicit File(const t::Bytes& bytes) : block_(bytes.size()), loader_(block_.span().data(), bytes.size()) {
    std::copy(bytes.begin(), bytes.end(), block_.span().data());
  }

  [[nodiscard]] uint8_t* data() { return block_.span().data(); }
  [[nodiscard]] size_t size() const { return block_.span().size(); }
  BufferDataLoader* loader() { return &loader_; }

  static t::Bytes read(const char* name) {
    std::ifstream in(std::string(RUSHLIGHT_TEST_PROGRAMS "/") + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  t::Block block_;
  BufferDataLoader loader_;
};

// Memory as an application gives it.
class Memory {
 public:
  explicit Memory(size_t planned)
      : planned_(planned),
        span_(planned_.data(), planned),
        planner_(Span<Span<uint8_t>>(&span_, size_t{1})) {}
  MemoryManager* manager() { return &manager_; }
  HierarchicalAllocator* planner() { return &planner_; }
  uint8_t* at(size_t offset) { return planned_.data() + offset; }

 private:
  std::vector<uint8_t> planned_;
  Span<uint8_t> span_;
  HierarchicalAllocator planner_;
  MallocMemoryAllocator allocator_;
  MemoryManager manager_{&allocator_, &planner_};
};

TEST(SchemaClasses, OfOfficialPrograms_SayWhatMethodMetaSays) {
  size_t tensors = 0;
  for (const char* name : {"model_mlp/model.pte", "mutable_counter/model.pte", "cond_sum/model.pte",
                           "multi_method/model.pte", "external_ptd/model.pte"}) {
    SCOPED_TRACE(name);
    File file(name);
    auto program = Program::load(file.loader());
    ASSERT_TRUE(program.ok());
    ASSERT_TRUE(flat::ProgramBufferHasIdentifier(file.data()));
    const flat::Program* root = flat::GetProgram(file.data());
    EXPECT_EQ(root, ProgramTestFriend::root(*program));
    EXPECT_EQ(root->version(), 0u);
    ASSERT_EQ(root->execution_plan()->size(), program->num_methods());
    for (const flat::ExecutionPlan* plan : *root->execution_plan()) {
      auto meta = program->method_meta(plan->name()->c_str());
      ASSERT_TRUE(meta.ok());
      ASSERT_EQ(plan->inputs()->size(), meta->num_inputs());
      ASSERT_EQ(plan->outputs()->size(), meta->num_outputs());
      EXPECT_EQ(plan->non_const_buffer_sizes()->size(), meta->num_memory_planned_buffers() + 1);
      for (uint32_t i = 0; i < plan->inputs()->size(); ++i) {
        const flat::EValue* value = plan->values()->Get(static_cast<uint32_t>(plan->inputs()->Get(i)));
        if (value->val_type() != flat::KernelTypes::Tensor) continue;
        const flat::Tensor* tensor = value->val_as_Tensor();
        ASSERT_EQ(value->val(), tensor);
        auto described = meta->input_tensor_meta(i);
        ASSERT_TRUE(described.ok());
        EXPECT_EQ(static_cast<int>(tensor->scalar_type()), static_cast<int>(described->scalar_type()));
        ASSERT_EQ(tensor->sizes()->size(), described->sizes().size());
        EXPECT_TRUE(
            std::equal(described->sizes().begin(), described->sizes().end(), tensor->sizes()->begin()));
        EXPECT_TRUE(std::equal(described->dim_order().begin(), described->dim_order().end(),
                               tensor->dim_order()->begin()));
        ++tensors;
      }
    }
  }
  EXPECT_EQ(tensors, 7u);
}

TEST(SchemaClasses, OfAProgram_LeadToItsInstructions) {
  File file("cond_sum/model.pte");
  const auto* plan = flat::GetProgram(file.data())->execution_plan()->GetMutableObject(0);
  std::vector<std::string> names;
  for (const flat::Operator* one : *plan->operators()) {
    names.push_back(one->name()->str() + "." + std::string(one->overload()->string_view()));
  }
  EXPECT_EQ(names, (std::vector<std::string>{"aten::sum.IntList_out", "aten::gt.Scalar_out",
                                             "dim_order_ops::_to_dim_order_copy.out", "aten::add.out",
                                             "aten::sub.out"}));
  ASSERT_EQ(plan->chains()->size(), 1u);
  std::vector<std::string> steps;
  for (const flat::Instruction* step : *plan->chains()->Get(0)->instructions()) {
    steps.emplace_back(flat::EnumNameInstructionArguments(step->instr_args_type()));
    if (const auto* call = step->instr_args_as_KernelCall()) {
      EXPECT_LT(call->op_index(), 5);
      EXPECT_GT(call->args()->size(), 2u);
      EXPECT_EQ(step->instr_args_as_MoveCall(), nullptr);
    }
    if (const auto* jump = step->instr_args_as_JumpFalseCall()) {
      EXPECT_GT(jump->destination_instruction(), 0);
    }
  }
  EXPECT_EQ(steps.front(), "KernelCall");
  EXPECT_NE(std::find(steps.begin(), steps.end(), "JumpFalseCall"), steps.end());
  EXPECT_NE(std::find(steps.begin(), steps.end(), "MoveCall"), steps.end());
}

TEST(SchemaClasses, OfADataFile_SayWhatItsMapSays) {
  File file("external_ptd/weights.ptd");
  auto map = FlatTensorDataMap::load(file.loader());
  ASSERT_TRUE(map.ok());
  ASSERT_TRUE(flat_tensor_flatbuffer::FlatTensorBufferHasIdentifier(file.data()));
  const auto* root = flat_tensor_flatbuffer::GetFlatTensor(file.data());
  ASSERT_EQ(root->named_data()->size(), map->get_num_keys().get());
  for (const auto* entry : *root->named_data()) {
    auto layout = map->get_tensor_layout(entry->key()->string_view());
    ASSERT_TRUE(layout.ok()) << entry->key()->c_str();
    const auto* stated = entry->tensor_layout();
    EXPECT_EQ(static_cast<int>(stated->scalar_type()), static_cast<int>(layout->scalar_type()));
    ASSERT_EQ(stated->sizes()->size(), layout->sizes().size());
    EXPECT_TRUE(std::equal(layout->sizes().begin(), layout->sizes().end(), stated->sizes()->begin()));
    EXPECT_GE(root->segments()->Get(entry->segment_index())->size(), layout->nbytes());
  }
}

TEST(SchemaClasses, OfABundle_LeadToItsProgramAndCases) {
  namespace bundles = bundled_program_flatbuffer;
  File file("bundled/model.bpte");
  ASSERT_TRUE(bundles::BundledProgramBufferHasIdentifier(file.data()));
  const auto* root = bundles::GetBundledProgram(file.data());
  const t::Bytes alone = File::read("bundled/model.pte");
  ASSERT_EQ(root->program()->size(), alone.size());
  EXPECT_EQ(std::memcmp(root->program()->data(), alone.data(), alone.size()), 0);
  ASSERT_GE(root->method_test_suites()->size(), 1u);
  const auto* suite = root->method_test_suites()->Get(0);
  EXPECT_EQ(suite->method_name()->str(), "forward");
  ASSERT_GE(suite->test_cases()->size(), 1u);
  for (const auto* one : *suite->test_cases()) {
    ASSERT_GE(one->inputs()->size(), 1u);
    const auto* tensor = one->inputs()->Get(0)->val_as_Tensor();
    ASSERT_NE(tensor, nullptr);
    size_t elements = 1;
    for (const int32_t size : *tensor->sizes()) elements *= static_cast<size_t>(size);
    EXPECT_EQ(tensor->data()->size(), elements * sizeof(float));
    EXPECT_EQ(tensor->scalar_type(), flat::ScalarType::FLOAT);
  }
}

TEST(SchemaClasses, Verifiers_LetThroughWhatIsSound) {
  const auto verifies = [](t::Bytes bytes, auto verify) {
    File file(bytes);
    flatbuffers::Verifier verifier(file.data(), file.size());
    return verify(verifier);
  };
  const auto program = [&](const t::Bytes& bytes) { return verifies(bytes, flat::VerifyProgramBuffer); };
  const auto sound = File::read("model_mlp/model.pte");
  EXPECT_TRUE(program(sound));
  EXPECT_TRUE(
      verifies(File::read("external_ptd/weights.ptd"), flat_tensor_flatbuffer::VerifyFlatTensorBuffer));
  EXPECT_TRUE(
      verifies(File::read("bundled/model.bpte"), bundled_program_flatbuffer::VerifyBundledProgramBuffer));
  EXPECT_FALSE(program(File::read("external_ptd/weights.ptd")));
  EXPECT_FALSE(program(t::Bytes(sound.begin(), sound.begin() + 200)));
  EXPECT_FALSE(program({}));
  auto moved = sound;
  moved[3] = 0x7f;  // the root lies outside
  EXPECT_FALSE(program(moved));
}

// Each field of a tensor away from 0.
t::PlanSpec one_tensor(const t::TensorSpec& spec) {
  t::PlanSpec plan;
  plan.values = {t::tensor(spec)};
  plan.inputs = {0};
  plan.outputs = {0};
  plan.buffer_sizes = {0, 64};
  return plan;
}

const flat::Tensor* first_tensor(const flat::Program* root) {
  return root->execution_plan()->Get(0)->values()->Get(0)->val_as_Tensor();
}

TEST(SchemaClasses, OfATensor_ReadEachField) {
  t::TensorSpec spec;
  spec.sizes = {2, 3};
  spec.type = rushlight::ScalarType::Long;
  spec.dynamism = rushlight::TensorShapeDynamism::DYNAMIC_BOUND;
  spec.dim_order = {1, 0};
  spec.memory_id = 1;
  spec.offset = (uint64_t{3} << 32) + 16;
  spec.external = true;
  spec.device = 1;
  File file(t::build(one_tensor(spec)));
  const flat::Tensor* tensor = first_tensor(flat::GetProgram(file.data()));
  EXPECT_EQ(tensor->scalar_type(), flat::ScalarType::LONG);
  EXPECT_EQ(tensor->storage_offset(), 0);
  EXPECT_EQ(tensor->sizes()->Get(1), 3);
  EXPECT_EQ(tensor->dim_order()->Get(0), 1);
  EXPECT_FALSE(tensor->requires_grad());
  EXPECT_EQ(tensor->shape_dynamism(), flat::TensorShapeDynamism::DYNAMIC_BOUND);
  EXPECT_EQ(tensor->allocation_info()->memory_id(), 1u);
  EXPECT_EQ(tensor->allocation_info()->memory_offset_low(), 16u);
  EXPECT_EQ(tensor->allocation_info()->memory_offset_high(), 3u);
  EXPECT_EQ(tensor->extra_tensor_info()->location(), flat::TensorDataLocation::EXTERNAL);
  EXPECT_EQ(tensor->extra_tensor_info()->device_type(), flat::DeviceType::CUDA);
  EXPECT_EQ(tensor->extra_tensor_info()->fully_qualified_name()->str(), "layer.weight");
}

// ---- Tensors from their tables ----

TEST(TensorParser, OfAProgram_MakesItsTensors) {
  File file("model_mlp/model.pte");
  auto program = Program::load(file.loader());
  ASSERT_TRUE(program.ok());
  Memory memory(806976);
  const auto* plan = ProgramTestFriend::root(*program)->execution_plan()->Get(0);
  std::vector<EValue> made;
  for (const flat::EValue* value : *plan->values()) {
    const flat::Tensor* described = value->val_as_Tensor();
    if (described == nullptr) continue;
    auto tensor = parseTensor(&*program, memory.manager(), described);
    ASSERT_TRUE(tensor.ok());
    ASSERT_EQ(static_cast<size_t>(tensor->dim()), described->sizes()->size());
    if (described->data_buffer_idx() > 0) {
      auto constant = program->get_constant_buffer_data(described->data_buffer_idx(), tensor->nbytes());
      ASSERT_TRUE(constant.ok());
      EXPECT_EQ(tensor->const_data_ptr(), *constant);
      EXPECT_FALSE(tensor->unsafeGetTensorImpl()->is_writable());
    } else {
      EXPECT_TRUE(tensor->unsafeGetTensorImpl()->is_writable());
      EXPECT_EQ(tensor->const_data_ptr(), memory.at(described->allocation_info()->memory_offset_low()));
    }
    made.emplace_back(*tensor);
  }
  ASSERT_EQ(made.size(), 10u);
  const Tensor weight = made[0].toTensor();
  EXPECT_EQ(weight.size(0), 256);
  EXPECT_EQ(weight.size(1), 784);
  EXPECT_EQ(weight.strides()[0], 784);
  EXPECT_EQ(weight.scalar_type(), ScalarType::Float);
}

TEST(TensorParser, OfAStatefulTensor_CopiesItsInitialState) {
  t::TensorSpec spec;
  spec.constant = 1;
  spec.memory_id = 1;
  spec.offset = 16;
  spec.mutable_segment = 0;
  t::ProgramSpec made;
  made.plans = {one_tensor(spec)};
  made.mutable_offsets = {0, 0};
  made.segment = t::floats({1.5f, -2});
  File file(t::build(made));
  auto program = Program::load(file.loader());
  ASSERT_TRUE(program.ok());
  Memory memory(64);
  Memory other(64);
  const flat::Tensor* described = first_tensor(ProgramTestFriend::root(*program));
  auto tensor = parseTensor(&*program, memory.manager(), described);
  ASSERT_TRUE(tensor.ok());
  EXPECT_EQ(tensor->const_data_ptr(), memory.at(16));
  EXPECT_EQ(tensor->const_data_ptr<float>()[1], -2);
  tensor->mutable_data_ptr<float>()[1] = 7;
  auto again = parseTensor(&*program, other.manager(), described);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->const_data_ptr<float>()[1], -2);
  EXPECT_EQ(tensor->const_data_ptr<float>()[1], 7);

  float state[2] = {};
  EXPECT_EQ(ProgramTestFriend::state(*program, 0, 1, sizeof state, state), Error::Ok);
  EXPECT_EQ(state[0], 1.5f);
  EXPECT_NE(ProgramTestFriend::state(*program, 0, 1, 500, state), Error::Ok);
  EXPECT_NE(ProgramTestFriend::state(*program, 0, 500, 1, state), Error::Ok);
  EXPECT_NE(ProgramTestFriend::state(*program, 500, 1, 1, state), Error::Ok);
  auto segment = ProgramTestFriend::segment(*program, 0);
  ASSERT_TRUE(segment.ok());
  EXPECT_EQ(std::memcmp(segment->data(), made.segment.data(), made.segment.size()), 0);
  EXPECT_EQ(ProgramTestFriend::segment(*program, 1).error(), Error::NotFound);
}

TEST(TensorParser, OfExternalData_TakesItFromWhereItIs) {
  File file("external_ptd/model.pte");
  File data("external_ptd/weights.ptd");
  auto program = Program::load(file.loader());
  auto map = FlatTensorDataMap::load(data.loader());
  ASSERT_TRUE(program.ok() && map.ok());
  Memory memory(2816);
  const flat::Tensor* weight = first_tensor(ProgramTestFriend::root(*program));
  EXPECT_EQ(parseTensor(&*program, memory.manager(), weight, &*map).error(), Error::NotFound);
  auto bytes = map->get_data("0.weight");
  ASSERT_TRUE(bytes.ok());
  const void* const expected = bytes->data();
  NamedData constants[] = {{"0.weight", std::move(*bytes)}};
  auto tensor = parseTensor(&*program, memory.manager(), weight, &*map, {constants, 1});
  ASSERT_TRUE(tensor.ok());
  EXPECT_EQ(tensor->const_data_ptr(), expected);
  EXPECT_FALSE(tensor->unsafeGetTensorImpl()->is_writable());
  NamedData small[] = {{"0.weight", FreeableBuffer(expected, 8, nullptr)}};
  EXPECT_EQ(parseTensor(&*program, memory.manager(), weight, &*map, {small, 1}).error(),
            Error::InvalidExternalData);
}

TEST(TensorParser, OfExternalState_CopiesItIntoPlannedMemory) {
  t::TensorSpec spec;
  spec.sizes = {8};
  spec.external = true;
  spec.memory_id = 1;
  File file(t::build(one_tensor(spec)));
  auto program = Program::load(file.loader());
  ASSERT_TRUE(program.ok());
  File data("external_ptd/weights.ptd");
  auto map = FlatTensorDataMap::load(data.loader());
  ASSERT_TRUE(map.ok());
  Memory memory(64);
  // There is no layer.weight in this file.
  const flat::Tensor* tensor = first_tensor(ProgramTestFriend::root(*program));
  EXPECT_EQ(getTensorDataPtr(tensor, &*program, 32, memory.planner(), &*map).error(), Error::NotFound);
  EXPECT_EQ(getTensorDataPtr(tensor, &*program, 32, memory.planner()).error(), Error::InvalidExternalData);
}

TEST(TensorParser, OfWhatIsNoTensor_IsRefused) {
  const auto parsed = [](const t::TensorSpec& spec, size_t planned = 64) {
    File file(t::build(one_tensor(spec)));
    auto program = Program::load(file.loader());
    if (!program.ok()) return program.error();
    Memory memory(planned);
    return parseTensor(&*program, memory.manager(), first_tensor(ProgramTestFriend::root(*program))).error();
  };
  t::TensorSpec sound;
  sound.memory_id = 1;
  EXPECT_EQ(parsed(sound), Error::Ok);
  EXPECT_EQ(parsed(sound, 4), Error::MemoryAllocationFailed);
  auto negative = sound;
  negative.sizes = {-1};
  EXPECT_EQ(parsed(negative), Error::InvalidProgram);
  auto long_order = sound;
  long_order.dim_order = {0, 1};
  EXPECT_EQ(parsed(long_order), Error::InvalidProgram);
  auto unknown = sound;
  unknown.type = static_cast<rushlight::ScalarType>(77);
  EXPECT_EQ(parsed(unknown), Error::InvalidProgram);
  auto deep = sound;
  deep.sizes.assign(40, 1);
  EXPECT_EQ(parsed(deep), Error::InvalidProgram);
  auto elsewhere = sound;
  elsewhere.memory_id = 3;
  EXPECT_EQ(parsed(elsewhere), Error::InvalidArgument);
  auto later = sound;
  later.memory_id = 0;
  EXPECT_EQ(parsed(later), Error::Ok);
}

TEST(TensorParser, OfATensorOnADevice_KeepsIt) {
  t::TensorSpec spec;
  spec.memory_id = 1;
  spec.device = 1;
  const t::Bytes bytes = t::build(one_tensor(spec));
  File file(bytes);
  auto program = Program::load(file.loader());
  ASSERT_TRUE(program.ok());
  Memory memory(64);
  const flat::Tensor* described = first_tensor(ProgramTestFriend::root(*program));
  auto tensor = parseTensor(&*program, memory.manager(), described);
  ASSERT_TRUE(tensor.ok());
  EXPECT_EQ(tensor->unsafeGetTensorImpl()->device_type(), executorch::runtime::etensor::DeviceType::CUDA);
  EXPECT_EQ(tensor->unsafeGetTensorImpl()->device_index(), 0);
}

TEST(TensorParser, OfATensorOnADeviceBeforeTheFirst_IsRefused) {
  t::TensorSpec spec;
  spec.memory_id = 1;
  spec.device = 1;
  spec.device_index = -1;
  File file(t::build(one_tensor(spec)));
  auto program = Program::load(file.loader());
  ASSERT_TRUE(program.ok());
  Memory memory(64);
  const flat::Tensor* described = first_tensor(ProgramTestFriend::root(*program));
  EXPECT_EQ(parseTensor(&*program, memory.manager(), described).error(), Error::InvalidProgram);
}

TEST(TensorParser, OfLists_TakesTheValuesItNames) {
  float data[] = {1, 2};
  int32_t sizes[] = {2};
  executorch::aten::TensorImpl impl(ScalarType::Float, 1, sizes, data);
  EValue values[] = {EValue(Tensor(&impl)), EValue(int64_t{7}), EValue()};
  Memory memory(0);
  const auto indices = [](std::vector<int32_t> numbers) {
    numbers.insert(numbers.begin(), static_cast<int32_t>(numbers.size()));
    return numbers;
  };
  const auto as_vector = [](const std::vector<int32_t>& numbers) {
    return reinterpret_cast<const flatbuffers::Vector<int32_t>*>(numbers.data());
  };
  const auto twice = indices({0, 0});
  auto list = parseTensorList(as_vector(twice), values, 3, memory.manager());
  ASSERT_TRUE(list.ok());
  ASSERT_EQ(list->get().size(), 2u);
  EXPECT_EQ(list->get()[1].const_data_ptr(), data);
  const auto none = indices({});
  EXPECT_EQ(parseTensorList(as_vector(none), values, 3, memory.manager())->get().size(), 0u);
  const auto number = indices({1});
  EXPECT_EQ(parseTensorList(as_vector(number), values, 3, memory.manager()).error(), Error::InvalidType);
  for (const int32_t outside : {3, -1}) {
    const auto wrong = indices({outside});
    EXPECT_EQ(parseTensorList(as_vector(wrong), values, 3, memory.manager()).error(), Error::InvalidProgram);
  }
  const auto some = indices({-1, 0, 2});
  auto optional = parseListOptionalType<Tensor>(as_vector(some), values, 3, memory.manager());
  ASSERT_TRUE(optional.ok());
  EXPECT_FALSE(optional->get()[0].has_value());
  EXPECT_EQ(optional->get()[1]->const_data_ptr(), data);
  EXPECT_FALSE(optional->get()[2].has_value());
  const auto some_numbers = indices({-1, 1, 2});
  auto ints = parseListOptionalType<int64_t>(as_vector(some_numbers), values, 3, memory.manager());
  ASSERT_TRUE(ints.ok());
  const auto read = ints->tryGet();
  ASSERT_TRUE(read.ok());
  EXPECT_FALSE((*read)[0].has_value());
  EXPECT_EQ((*read)[1], values[1].toInt());
  EXPECT_FALSE((*read)[2].has_value());
  EXPECT_EQ(parseListOptionalType<Tensor>(as_vector(number), values, 3, memory.manager()).error(),
            Error::InvalidType);
}

TEST(TensorParser, OfAnotherLayout_SaysSo) {
  File file(t::build(one_tensor({.sizes = {2, 3}})));
  const flat::Tensor* tensor = first_tensor(flat::GetProgram(file.data()));
  const auto checked = [&](std::vector<int32_t> sizes, std::vector<uint8_t> order, ScalarType dtype) {
    auto layout = TensorLayout::create({sizes.data(), sizes.size()}, {order.data(), order.size()}, dtype);
    return validateTensorLayout(tensor, layout.get());
  };
  EXPECT_EQ(checked({2, 3}, {0, 1}, ScalarType::Float), Error::Ok);
  EXPECT_EQ(checked({2, 4}, {0, 1}, ScalarType::Float), Error::InvalidExternalData);
  EXPECT_EQ(checked({2, 3, 1}, {0, 1, 2}, ScalarType::Float), Error::InvalidExternalData);
  EXPECT_EQ(checked({2, 3}, {1, 0}, ScalarType::Float), Error::InvalidExternalData);
  EXPECT_EQ(checked({2, 3}, {0, 1}, ScalarType::Int), Error::InvalidExternalData);
}

// ---- What programs mean, before a method is loaded ----

TEST(ProgramValidation, OfTensorsThatAreNone_SaysSo) {
  const auto loaded = [](const t::TensorSpec& spec, bool is_input, Program::Verification verification) {
    t::PlanSpec plan = one_tensor(spec);
    if (!is_input) plan.inputs = {};
    File file(t::build(plan));
    return Program::load(file.loader(), verification).error();
  };
  constexpr auto kAll = Program::Verification::InternalConsistency;
  constexpr auto kSome = Program::Verification::Minimal;
  EXPECT_EQ(loaded({}, true, kAll), Error::Ok);
  const t::TensorSpec huge = {.sizes = {2000000000, 2000000000, 2000000000}};
  EXPECT_EQ(loaded(huge, false, kAll), Error::InvalidProgram);
  EXPECT_EQ(loaded(huge, true, kAll), Error::InvalidProgram);
  EXPECT_EQ(loaded(huge, true, kSome), Error::Ok);
  auto dynamic = huge;
  dynamic.dynamism = rushlight::TensorShapeDynamism::DYNAMIC_BOUND;
  EXPECT_EQ(loaded(dynamic, true, kAll), Error::Ok);
  EXPECT_EQ(loaded(dynamic, false, kAll), Error::InvalidProgram);
  EXPECT_EQ(loaded({.sizes = {10, -5}}, true, kAll), Error::InvalidProgram);
  EXPECT_EQ(loaded({.type = static_cast<rushlight::ScalarType>(77)}, true, kAll), Error::InvalidProgram);
}

TEST(ProgramValidation, OfListsOfOtherThings_SaysSo) {
  const auto loaded = [](const std::vector<int32_t>& items) {
    t::PlanSpec plan = one_tensor({});
    plan.values.push_back(t::integer(42));
    plan.values.push_back(t::tensor_list(items));
    File file(t::build(plan));
    return Program::load(file.loader(), Program::Verification::InternalConsistency).error();
  };
  EXPECT_EQ(loaded({0, 0}), Error::Ok);
  EXPECT_EQ(loaded({0, 1}), Error::InvalidProgram);
  EXPECT_EQ(loaded({0, 99}), Error::InvalidProgram);
  EXPECT_EQ(loaded({-1}), Error::InvalidProgram);
}

// ---- Named data ----

TEST(PteDataMap, OfAProgram_HasItsKeys) {
  t::ProgramSpec spec;
  spec.plans = {one_tensor({})};
  spec.segment = {1, 2, 3, 4};
  spec.named_data = {{"first", 0}, {"nowhere", 10}};
  File file(t::build(spec));
  auto program = Program::load(file.loader());
  ASSERT_TRUE(program.ok());
  auto map = program->get_named_data_map();
  ASSERT_TRUE(map.ok());
  EXPECT_EQ((*map)->get_num_keys().get(), 2u);
  EXPECT_STREQ((*map)->get_key(1).get(), "nowhere");
  EXPECT_EQ((*map)->get_key(2).error(), Error::InvalidArgument);
  auto data = (*map)->get_data("first");
  ASSERT_TRUE(data.ok());
  ASSERT_EQ(data->size(), 4u);
  EXPECT_EQ(static_cast<const uint8_t*>(data->data())[3], 4);
  EXPECT_EQ((*map)->get_data("nowhere").error(), Error::InvalidArgument);
  EXPECT_EQ((*map)->get_data("absent").error(), Error::NotFound);
  EXPECT_EQ((*map)->get_tensor_layout("first").error(), Error::NotImplemented);
  EXPECT_EQ((*map)->load_data_into("first", nullptr, 0), Error::NotImplemented);
  using executorch::runtime::internal::PteDataMap;
  const auto* root = ProgramTestFriend::root(*program);
  EXPECT_EQ(PteDataMap::create(nullptr, 0, root->named_data(), root->segments()).error(),
            Error::InvalidArgument);
  EXPECT_EQ(PteDataMap::create(file.loader(), 0, root->named_data(), nullptr).error(),
            Error::InvalidArgument);
}

TEST(ProgramFriend, DelegateData_IsWhatTheProgramHolds) {
  t::PlanSpec plan = one_tensor({});
  plan.delegates = {{.id = "Any"}};
  t::ProgramSpec spec;
  spec.plans = {plan};
  spec.inline_delegates = {{1, 2, 3}};
  File file(t::build(spec));
  auto program = Program::load(file.loader());
  ASSERT_TRUE(program.ok());
  const void* data = nullptr;
  size_t size = 0;
  ASSERT_EQ(ProgramTestFriend::delegate(*program, 0, &data, &size), Error::Ok);
  ASSERT_EQ(size, 3u);
  EXPECT_EQ(static_cast<const uint8_t*>(data)[2], 3);
  EXPECT_EQ(ProgramTestFriend::delegate(*program, 1, &data, &size), Error::NotFound);
}

}  // namespace
