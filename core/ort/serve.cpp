#include "core/ort/serve.h"

#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <optional>

#include "core/base/mapped_file.h"
#include "core/document/native_library.h"
#include "core/io/npz/npz.h"
#include "core/ort/api_calls.h"
#include "core/ort/request.h"

namespace sonde::ort {

namespace {

namespace fs = std::filesystem;
using base::Result;
using base::runError;
using tensor::DType;
using tensor::Tensor;

constexpr int kErrorsOnly = 3, kNoOptimisation = 0, kDeviceAllocator = 0, kDefaultMemory = 0;

class Server {
  public:
    Server(fs::path folder, Request request) : m_folder(std::move(folder)), m_request(std::move(request)) {}

    /// Nothing is released at the end: the process ends.
    Result<void> run() {
        SONDE_TRY(load());
        SONDE_TRY(open());
        SONDE_TRY(giveInputs());
        begin("running the model");
        SONDE_TRY(runModel());
        begin("reading the values");
        SONDE_TRY(takeOutputs());
        return endProfile();
    }

    Reply& reply() { return m_reply; }

  private:
    void begin(const std::string& stage) {
        m_reply.stage = stage;
        std::ofstream(m_folder / kStageFile) << stage << '\n';
    }

    Result<void> check(Status* status) const { return ort::check(m_api, status); }

    Result<void> load() {
        begin("loading the library");
        SONDE_ASSIGN(const auto library, document::NativeLibrary::read(m_request.library));
        if (library->hash() != m_request.hash)
            return runError("the file is no longer the one that was agreed to", m_request.library);
        SONDE_ASSIGN(void* const handle, library->load());
        const auto getBase = reinterpret_cast<GetApiBase>(dlsym(handle, kGetApiBase));
        const ApiBase* const api = getBase ? getBase() : nullptr;
        if (!api || !api->table) return runError("this is no ONNX Runtime: it does not export OrtGetApiBase");
        if (const char* const version = api->versionText ? api->versionText() : nullptr) m_reply.version = version;
        void* const* const table = api->table(kApiVersion);
        if (!table)
            return runError("this ONNX Runtime (" + m_reply.version +
                            ") has not the functions of version 1.5 or later");
        m_api = Api::of(table);
        return {};
    }

    Result<void> open() {
        begin("opening the model");
        SONDE_TRY(check(m_api.createEnvironment(kErrorsOnly, "sonde", &m_environment)));
        Options* options = nullptr;
        SONDE_TRY(check(m_api.createOptions(&options)));
        SONDE_TRY(check(m_api.setOptimisation(options, kNoOptimisation)));
        if (m_request.threads > 0) SONDE_TRY(check(m_api.setThreads(options, m_request.threads)));
        SONDE_TRY(check(m_api.enableProfiling(options, (m_folder / "profile").c_str())));
        // Older libraries do not know the key, and look into the current folder.
        SONDE_TRY(check(m_api.setConfiguration(options, "session.model_external_initializers_file_folder_path",
                                               m_request.weightsFolder.c_str())));
        std::error_code ignored;
        fs::current_path(m_request.weightsFolder, ignored);
        SONDE_ASSIGN(const auto model, base::MappedFile::open(m_folder / kModelFile));
        SONDE_TRY(check(m_api.defaultAllocator(&m_allocator)));
        return check(m_api.openBytes(m_environment, model->bytes().data(), model->sizeBytes(), options, &m_runtime));
    }

    /// By the input's name: the element type that the model expects. npz files have no bfloat16, for one.
    Result<DType> expectedType(const std::string& name) const {
        std::size_t count = 0;
        SONDE_TRY(check(m_api.inputCount(m_runtime, &count)));
        for (std::size_t i = 0; i < count; ++i) {
            char* text = nullptr;
            SONDE_TRY(check(m_api.inputName(m_runtime, i, m_allocator, &text)));
            const bool isThis = name == text;
            SONDE_TRY(check(m_api.freeMemory(m_allocator, text)));
            if (!isThis) continue;
            TypeInfo* type = nullptr;
            const TypeAndShape* info = nullptr;
            SONDE_TRY(check(m_api.inputType(m_runtime, i, &type)));
            SONDE_TRY(check(m_api.tensorInfo(type, &info)));
            int element = 0;
            if (info) SONDE_TRY(check(m_api.elementType(info, &element)));
            m_api.releaseTypeInfo(type);
            if (!info) return runError("input '" + name + "' is no tensor");
            return dtypeOfNumber(element);
        }
        return runError("the model has no input '" + name + "'");
    }

    /// Whether elements are in memory as Sonde has them: strings are objects, and types of less than a byte are packed.
    static bool isPlain(DType dtype) {
        return dtype != DType::Undefined && dtype != DType::String && tensor::bitsInFile(dtype) >= 8;
    }

    Result<void> giveInputs() {
        begin("giving the inputs");
        MemoryInfo* memory = nullptr;
        SONDE_TRY(check(m_api.createCpuMemoryInfo(kDeviceAllocator, kDefaultMemory, &memory)));
        SONDE_ASSIGN(const io::NpzFile file, io::NpzFile::open(m_folder / kInputsFile));
        for (std::size_t i = 0; i < m_request.inputs.size(); ++i) {
            const std::string& name = m_request.inputs[i];
            SONDE_ASSIGN(const Tensor given, file.read(std::to_string(i)));
            SONDE_ASSIGN(const DType dtype, expectedType(name));
            if (!isPlain(dtype))
                return runError("input '" + name + "' has elements of type " + std::string(tensor::name(dtype)) +
                                ", which cannot be given to another engine");
            SONDE_ASSIGN(const Tensor converted, given.cast(dtype));
            SONDE_ASSIGN(Tensor own, converted.clone());
            RuntimeValue* value = nullptr;
            SONDE_TRY(check(m_api.tensorOn(memory, own.mutableBytes(), own.sizeBytes(), own.shape().dims().data(),
                                           own.rank(), static_cast<int>(dtype), &value)));
            m_inputs.push_back(std::move(own));
            m_inputValues.push_back(value);
        }
        return {};
    }

    Result<void> runModel() {
        const auto textsOf = [](const std::vector<std::string>& names) {
            std::vector<const char*> texts;
            for (const std::string& name : names) texts.push_back(name.c_str());
            return texts;
        };
        const std::vector<const char*> inputs = textsOf(m_request.inputs), outputs = textsOf(m_request.outputs);
        m_outputs.assign(outputs.size(), nullptr);
        return check(m_api.run(m_runtime, nullptr, inputs.data(), m_inputValues.data(), inputs.size(), outputs.data(),
                               outputs.size(), m_outputs.data()));
    }

    /// Nothing for what is no tensor of plain elements.
    Result<std::optional<Tensor>> tensorOf(RuntimeValue* value) const {
        int isTensor = 0;
        if (value) SONDE_TRY(check(m_api.isTensor(value, &isTensor)));
        if (isTensor == 0) return std::optional<Tensor>();
        TypeAndShape* info = nullptr;
        SONDE_TRY(check(m_api.typeAndShape(value, &info)));
        SONDE_ASSIGN(const TensorType type, typeOf(m_api, info));
        m_api.releaseTypeAndShape(info);
        if (!isPlain(type.dtype)) return std::optional<Tensor>();
        SONDE_ASSIGN(Tensor tensor, Tensor::allocate(type.dtype, tensor::Shape(type.dims)));
        void* data = nullptr;
        SONDE_TRY(check(m_api.tensorData(value, &data)));
        if (tensor.sizeBytes() > 0 && data) std::memcpy(tensor.mutableBytes(), data, tensor.sizeBytes());
        return std::optional<Tensor>(std::move(tensor));
    }

    Result<void> takeOutputs() {
        std::vector<io::NamedTensor> arrays;
        for (std::size_t i = 0; i < m_outputs.size(); ++i) {
            SONDE_ASSIGN(auto value, tensorOf(m_outputs[i]));
            if (value) arrays.emplace_back(std::to_string(i), std::move(*value));
            else
                m_reply.notes.push_back("value '" + m_request.outputs[i] + "' is no tensor of numbers and is left out");
            if (m_outputs[i]) m_api.releaseValue(m_outputs[i]);
        }
        return io::writeNpz(m_folder / kValuesFile, arrays);
    }

    Result<void> endProfile() {
        char* file = nullptr;
        SONDE_TRY(check(m_api.endProfiling(m_runtime, m_allocator, &file)));
        if (file) m_reply.profile = file;
        return {};
    }

    fs::path m_folder;
    Request m_request;
    Reply m_reply;
    Api m_api;
    Environment* m_environment = nullptr;
    Allocator* m_allocator = nullptr;
    Runtime* m_runtime = nullptr;
    std::vector<Tensor> m_inputs;  ///< the memory of the values
    std::vector<RuntimeValue*> m_inputValues, m_outputs;
};

}  // namespace

int serve(const fs::path& folder) {
    auto request = readRequest(folder);
    if (!request) return 1;
    Server server(folder, std::move(*request));
    if (const auto ran = server.run(); !ran) server.reply().failure = ran.error().text();
    return write(server.reply(), folder) ? 0 : 1;
}

}  // namespace sonde::ort
