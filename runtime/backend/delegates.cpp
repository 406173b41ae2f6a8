// SPDX-License-Identifier: BSD-3-Clause
// Kept apart from the executor and reached through DelegateSupport, so that programs without delegates do not
// link it.
#include "runtime/backend/delegates.h"

#include <new>

#include "runtime/base/log.h"
#include "runtime/program/merged_data_map.h"
#include "runtime/program/program_data_map.h"
#include "runtime/program/schema.h"

namespace rushlight {

namespace {

using flatbuffer::Table;
using flatbuffer::TableVector;

// Logs every missing backend before failing.
Error find(Table plan, const BackendTable& backends) {
  const TableVector delegates = plan.tables(schema::plan::kDelegates);
  Error error = Error::Ok;
  for (size_t i = 0; i < delegates.size(); ++i) {
    const char* id = delegates[i].string(schema::delegate::kId);
    const Backend* backend = backends.find(id);
    if (backend != nullptr && backend->is_available()) continue;
    RL_LOG(Error, "delegate %s: %s", id,
           backend == nullptr ? "this runtime has no such backend" : "its backend is not available");
    error = Error::NotFound;
  }
  return error;
}

Error init_one(Table delegate, const Program& program, const Backend& backend, BackendInitContext context,
               Span<const CompileSpec> specs, DelegateList* delegates) {
  RL_TRY_ASSIGN(FreeableBuffer processed,
                program.delegate_data(delegate.table(schema::delegate::kProcessed)));
  // The payload must have its final address before init(): backends may keep pointers to it.
  auto* placed = new (delegates->items + delegates->size) Delegate{&backend, nullptr, std::move(processed)};
  auto handle = backend.init(context, &placed->processed, specs);
  if (!handle.ok()) {
    placed->~Delegate();
    return handle.error();
  }
  placed->handle = *handle;
  // Counted only when complete: destroy() handles counted delegates.
  ++delegates->size;
  return Error::Ok;
}

// Fills the compile specs of one delegate after another in the same array; they stay valid as long as the
// method.
Error init(Table plan, const Program& program, const BackendTable& backends,
           const NamedDataMap* external_data, const MemoryManager& memory, EventTracer* tracer,
           ThreadPool* threads, BackendHost* host, CompileSpec* specs, DelegateList* delegates) {
  const ProgramDataMap own(program);
  const NamedDataMap* const maps[] = {&own, external_data};
  // Keys of the program and of data files must differ; backends see one map.
  RL_TRY_ASSIGN(const MergedDataMap named_data, MergedDataMap::merge(maps));
  const BackendInitContext context(memory.method, plan.string(schema::plan::kName), &named_data, tracer,
                                   threads, host);
  const TableVector tables = plan.tables(schema::plan::kDelegates);
  for (size_t i = 0; i < tables.size(); ++i) {
    const TableVector entries = tables[i].tables(schema::delegate::kCompileSpecs);
    for (size_t k = 0; k < entries.size(); ++k) {
      new (specs + k) CompileSpec{entries[k].string(schema::compile_spec::kKey),
                                  entries[k].vector<uint8_t>(schema::compile_spec::kValue)};
    }
    const char* id = tables[i].string(schema::delegate::kId);
    const Error error =
        init_one(tables[i], program, *backends.find(id), context, {specs, entries.size()}, delegates);
    RL_CHECK(error == Error::Ok, error, "delegate %s: %s", id, to_string(error));
    specs += entries.size();
  }
  return Error::Ok;
}

Error execute(const Delegate& delegate, BackendExecuteContext& context, const char* id,
              Span<EValue* const> arguments) {
  const Error error = delegate.backend->execute(context, delegate.handle, arguments);
  RL_CHECK(error == Error::Ok, error, "delegate %s: %s", id, to_string(error));
  return Error::Ok;
}

void destroy(DelegateList* delegates) {
  // In reverse order of creation.
  for (size_t i = delegates->size; i-- > 0;) {
    delegates->items[i].backend->destroy(delegates->items[i].handle);
    delegates->items[i].~Delegate();
  }
  delegates->size = 0;
}

}  // namespace

const DelegateSupport delegate_support = {find, init, execute, destroy};

}  // namespace rushlight
