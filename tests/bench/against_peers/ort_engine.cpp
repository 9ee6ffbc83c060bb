#include <algorithm>
#include <cstring>
#include <dlfcn.h>

#include "core/base/mapped_file.h"
#include "core/ort/api_calls.h"
#include "core/ort/model_outputs.h"
#include "tests/bench/against_peers/engine.h"

namespace sonde::bench {

using base::Result;
using base::runError;
using tensor::DType;
using tensor::Tensor;

namespace {

constexpr int kErrorsOnly = 3, kDeviceAllocator = 0, kDefaultMemory = 0;

/// ONNX Runtime by its C API (core/ort/c_api.h), with its default settings but for threads and optimisation. Nothing of
/// it is released: the process ends.
class OrtEngine : public Engine {
  public:
    OrtEngine(const Way& way, std::size_t threads) : m_way(way), m_threads(threads) {}

    Result<void> open(const std::string& model, const std::string& library) {
        SONDE_TRY(load(library));
        SONDE_ASSIGN(const auto file, base::MappedFile::open(model));
        const std::string_view bytes(reinterpret_cast<const char*>(file->bytes().data()), file->sizeBytes());
        SONDE_ASSIGN(ort::OpenModel opened, ort::withAllOutputs(bytes));
        const std::string_view given = m_way.watchesAll ? std::string_view(opened.bytes) : bytes;
        m_outputNames = m_way.watchesAll ? opened.values : opened.outputs;
        m_firstOutput =
            std::find(m_outputNames.begin(), m_outputNames.end(), opened.outputs.front()) - m_outputNames.begin();
        ort::Environment* environment = nullptr;
        ort::Options* options = nullptr;
        SONDE_TRY(check(m_api.createEnvironment(kErrorsOnly, "bench", &environment)));
        SONDE_TRY(check(m_api.createOptions(&options)));
        SONDE_TRY(check(m_api.setOptimisation(options, m_way.optimisation)));
        SONDE_TRY(check(m_api.setThreads(options, static_cast<int>(m_threads))));
        SONDE_TRY(check(m_api.openBytes(environment, given.data(), given.size(), options, &m_runtime)));
        return giveInputs();
    }

    Result<void> run() override {
        for (ort::RuntimeValue* value : m_outputs)
            if (value) m_api.releaseValue(value);
        m_outputs.assign(m_outputNames.size(), nullptr);
        return check(m_api.run(m_runtime, nullptr, m_inputTexts.data(), m_inputs.data(), m_inputs.size(),
                               m_outputTexts.data(), m_outputTexts.size(), m_outputs.data()));
    }

    Result<Tensor> output() override {
        ort::RuntimeValue* const value = m_outputs[static_cast<std::size_t>(m_firstOutput)];
        ort::TypeAndShape* info = nullptr;
        SONDE_TRY(check(m_api.typeAndShape(value, &info)));
        SONDE_ASSIGN(const ort::TensorType type, ort::typeOf(m_api, info));
        m_api.releaseTypeAndShape(info);
        SONDE_ASSIGN(Tensor tensor, Tensor::allocate(type.dtype, tensor::Shape(type.dims)));
        void* data = nullptr;
        SONDE_TRY(check(m_api.tensorData(value, &data)));
        std::memcpy(tensor.mutableBytes(), data, tensor.sizeBytes());
        return tensor.cast(DType::Float32);
    }

    std::string version() const override { return m_version; }

  private:
    Result<void> check(ort::Status* status) const { return ort::check(m_api, status); }

    Result<void> load(const std::string& library) {
        void* const handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (!handle) return runError(::dlerror());
        const auto getBase = reinterpret_cast<ort::GetApiBase>(::dlsym(handle, ort::kGetApiBase));
        const ort::ApiBase* const api = getBase ? getBase() : nullptr;
        void* const* const table = api ? api->table(ort::kApiVersion) : nullptr;
        if (!table) return runError("this is no ONNX Runtime of version 1.5 or later", library);
        m_version = api->versionText();
        m_api = ort::Api::of(table);
        return {};
    }

    Result<void> giveInputs() {
        ort::MemoryInfo* memory = nullptr;
        ort::Allocator* allocator = nullptr;
        SONDE_TRY(check(m_api.createCpuMemoryInfo(kDeviceAllocator, kDefaultMemory, &memory)));
        SONDE_TRY(check(m_api.defaultAllocator(&allocator)));
        std::size_t count = 0;
        SONDE_TRY(check(m_api.inputCount(m_runtime, &count)));
        for (std::size_t i = 0; i < count; ++i) {
            char* name = nullptr;
            ort::TypeInfo* type = nullptr;
            const ort::TypeAndShape* info = nullptr;
            SONDE_TRY(check(m_api.inputName(m_runtime, i, allocator, &name)));
            SONDE_TRY(check(m_api.inputType(m_runtime, i, &type)));
            SONDE_TRY(check(m_api.tensorInfo(type, &info)));
            if (!info) return base::usageError("an input is no tensor", name);
            SONDE_ASSIGN(const ort::TensorType given, ort::typeOf(m_api, info));
            m_api.releaseTypeInfo(type);
            if (std::ranges::any_of(given.dims, [](std::int64_t dim) { return dim < 0; }))
                return base::usageError("an input has open dimensions", name);
            SONDE_ASSIGN(Tensor x, inputOf(given.dtype, tensor::Shape(given.dims)));
            SONDE_ASSIGN(Tensor own, x.clone());
            ort::RuntimeValue* value = nullptr;
            SONDE_TRY(check(m_api.tensorOn(memory, own.mutableBytes(), own.sizeBytes(), own.shape().dims().data(),
                                           own.rank(), static_cast<int>(given.dtype), &value)));
            m_memory.push_back(std::move(own));
            m_inputs.push_back(value);
            m_inputTexts.push_back(name);
        }
        for (const std::string& name : m_outputNames) m_outputTexts.push_back(name.c_str());
        return {};
    }

    const Way& m_way;
    std::size_t m_threads;
    ort::Api m_api;
    std::string m_version;
    ort::Runtime* m_runtime = nullptr;
    std::vector<Tensor> m_memory;  ///< of the inputs
    std::vector<ort::RuntimeValue*> m_inputs, m_outputs;
    std::vector<std::string> m_outputNames;
    std::vector<const char*> m_inputTexts, m_outputTexts;
    std::ptrdiff_t m_firstOutput = 0;
};

}  // namespace

Result<std::unique_ptr<Engine>> openInOrt(const std::string& model, const Way& way, std::size_t threads,
                                          const std::string& library) {
    auto engine = std::make_unique<OrtEngine>(way, threads);
    SONDE_TRY(engine->open(model, library));
    return std::unique_ptr<Engine>(std::move(engine));
}

}  // namespace sonde::bench
