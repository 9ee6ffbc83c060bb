#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace sonde::ort {

// What is called of ONNX Runtime's C API. The library exports one function, OrtGetApiBase, which gives a table of
// functions; their places in it stay the same in every later version. Here are the places and types of those that are
// used, so that nothing of ONNX Runtime is needed to build.

struct Environment;
struct MemoryInfo;
struct Options;
struct RunOptions;
struct Runtime;  ///< a model that was opened: OrtSession
struct Status;   ///< an error; null: none
struct TypeAndShape;
struct TypeInfo;
struct RuntimeValue;
struct Allocator;

/// What OrtGetApiBase returns.
struct ApiBase {
    void* const* (*table)(std::uint32_t version);  ///< null: the library is older than that
    const char* (*versionText)();                  ///< "1.30.0"
};
using GetApiBase = const ApiBase* (*)();
inline constexpr const char* kGetApiBase = "OrtGetApiBase";

/// The first version that has all of it: ONNX Runtime 1.5.
inline constexpr std::uint32_t kApiVersion = 5;

/// Element types have the numbers of ONNX, as tensor::DType. Levels: 0 is none of the optimisations; 3 logs errors.
/// Functions that return a Status are to have it released.
struct Api {
    const char* (*errorMessage)(const Status*) = nullptr;
    Status* (*createEnvironment)(int logLevel, const char* name, Environment**) = nullptr;
    Status* (*openBytes)(const Environment*, const void* model, std::size_t bytes, const Options*, Runtime**) = nullptr;
    Status* (*run)(Runtime*, const RunOptions*, const char* const* inputNames, const RuntimeValue* const* inputs,
                   std::size_t inputCount, const char* const* outputNames, std::size_t outputCount,
                   RuntimeValue** outputs) = nullptr;
    Status* (*createOptions)(Options**) = nullptr;
    Status* (*enableProfiling)(Options*, const char* filePrefix) = nullptr;
    Status* (*setOptimisation)(Options*, int level) = nullptr;
    Status* (*setThreads)(Options*, int threads) = nullptr;
    Status* (*inputCount)(const Runtime*, std::size_t*) = nullptr;
    Status* (*inputType)(const Runtime*, std::size_t index, TypeInfo**) = nullptr;
    Status* (*inputName)(const Runtime*, std::size_t index, Allocator*, char**) = nullptr;
    /// On memory of the caller, in row-major order.
    Status* (*tensorOn)(const MemoryInfo*, void* data, std::size_t bytes, const std::int64_t* shape, std::size_t rank,
                        int elementType, RuntimeValue**) = nullptr;
    Status* (*isTensor)(const RuntimeValue*, int*) = nullptr;
    Status* (*tensorData)(RuntimeValue*, void**) = nullptr;
    Status* (*tensorInfo)(const TypeInfo*, const TypeAndShape**) = nullptr;
    Status* (*elementType)(const TypeAndShape*, int*) = nullptr;
    Status* (*rank)(const TypeAndShape*, std::size_t*) = nullptr;
    Status* (*shape)(const TypeAndShape*, std::int64_t* shape, std::size_t rank) = nullptr;
    Status* (*typeAndShape)(const RuntimeValue*, TypeAndShape**) = nullptr;
    Status* (*createCpuMemoryInfo)(int allocator, int memory, MemoryInfo**) = nullptr;
    Status* (*freeMemory)(Allocator*, void*) = nullptr;
    Status* (*defaultAllocator)(Allocator**) = nullptr;
    void (*releaseStatus)(Status*) = nullptr;
    void (*releaseRuntime)(Runtime*) = nullptr;
    void (*releaseValue)(RuntimeValue*) = nullptr;
    void (*releaseTypeInfo)(TypeInfo*) = nullptr;
    void (*releaseTypeAndShape)(TypeAndShape*) = nullptr;
    Status* (*endProfiling)(Runtime*, Allocator*, char** file) = nullptr;
    Status* (*setConfiguration)(Options*, const char* key, const char* value) = nullptr;

    static Api of(void* const* table) {
        Api api;
        const auto take = [table](auto& function, std::size_t place) {
            function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(table[place]);
        };
        take(api.errorMessage, 2), take(api.createEnvironment, 3), take(api.openBytes, 8), take(api.run, 9);
        take(api.createOptions, 10), take(api.enableProfiling, 14), take(api.setOptimisation, 23);
        take(api.setThreads, 24), take(api.inputCount, 30), take(api.inputType, 33), take(api.inputName, 36);
        take(api.tensorOn, 49), take(api.isTensor, 50), take(api.tensorData, 51), take(api.tensorInfo, 55);
        take(api.elementType, 60), take(api.rank, 61), take(api.shape, 62), take(api.typeAndShape, 65);
        take(api.createCpuMemoryInfo, 69), take(api.freeMemory, 76), take(api.defaultAllocator, 78);
        take(api.releaseStatus, 93), take(api.releaseRuntime, 95), take(api.releaseValue, 96);
        take(api.releaseTypeInfo, 98), take(api.releaseTypeAndShape, 99), take(api.endProfiling, 110);
        take(api.setConfiguration, 130);
        return api;
    }
};

}  // namespace sonde::ort
