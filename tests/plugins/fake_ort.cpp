// Stands for ONNX Runtime in tests: every output is its first input with the other sign. SONDE_FAKE_ORT says what it
// does otherwise: "old", "refuse", "fail", "crash", "exit", "hang". Written against the documented places of the
// functions, not against core/ort.

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

struct Value {
    std::vector<std::int64_t> shape;
    std::vector<float> elements;
};

std::string profile;

bool does(const char* what) {
    const char* const mode = std::getenv("SONDE_FAKE_ORT");
    return mode && std::strcmp(mode, what) == 0;
}

constexpr const char* kRefusal = "no kernel for Frobnicate(1)";
const char* errorMessage(const void* status) { return static_cast<const char*>(status); }
const void* makeAny(void** made) {
    *made = std::malloc(1);
    return nullptr;
}
const void* createEnvironment(int, const char*, void** made) { return makeAny(made); }
const void* createOptions(void** made) { return makeAny(made); }
const void* enableProfiling(void*, const char* prefix) {
    profile = std::string(prefix) + "_fake.json";
    return nullptr;
}
const void* setNumber(void*, int) { return nullptr; }
const void* setText(void*, const char*, const char*) { return nullptr; }
const void* openBytes(const void*, const void*, std::size_t, const void*, void** made) {
    if (does("refuse")) return kRefusal;
    return makeAny(made);
}
const void* inputCount(const void*, std::size_t* count) {
    *count = 1;
    return nullptr;
}
const void* inputName(const void*, std::size_t, void*, char** name) {
    *name = ::strdup("x");
    return nullptr;
}
const void* inputType(const void*, std::size_t, void** type) { return makeAny(type); }
const void* tensorInfo(const void* type, const void** info) {
    *info = type;
    return nullptr;
}
const void* elementType(const void*, int* type) {
    *type = 1;  // float32
    return nullptr;
}
const void* tensorOn(const void*, void* data, std::size_t bytes, const std::int64_t* shape, std::size_t rank, int,
                     void** made) {
    auto* const value = new Value{{shape, shape + rank}, std::vector<float>(bytes / sizeof(float))};
    std::memcpy(value->elements.data(), data, bytes);
    *made = value;
    return nullptr;
}
const void* run(void*, const void*, const char* const*, const void* const* inputs, std::size_t, const char* const*,
                std::size_t outputCount, void** outputs) {
    if (does("fail")) return "shapes {2} and {3} do not go together";
    if (does("crash")) std::raise(SIGSEGV);
    if (does("exit")) ::_exit(7);
    while (does("hang")) ::sleep(1);
    for (std::size_t i = 0; i < outputCount; ++i) {
        auto* const value = new Value(*static_cast<const Value*>(inputs[0]));
        for (float& element : value->elements) element = -element;
        outputs[i] = value;
    }
    return nullptr;
}
const void* isTensor(const void*, int* answer) {
    *answer = 1;
    return nullptr;
}
const void* typeAndShape(const void* value, const void** info) {
    *info = value;
    return nullptr;
}
const void* rank(const void* value, std::size_t* rank) {
    *rank = static_cast<const Value*>(value)->shape.size();
    return nullptr;
}
const void* shape(const void* value, std::int64_t* dims, std::size_t rank) {
    std::memcpy(dims, static_cast<const Value*>(value)->shape.data(), rank * sizeof(std::int64_t));
    return nullptr;
}
const void* tensorData(void* value, void** data) {
    *data = static_cast<Value*>(value)->elements.data();
    return nullptr;
}
const void* createCpuMemoryInfo(int, int, void** made) { return makeAny(made); }
const void* defaultAllocator(void** made) { return makeAny(made); }
const void* freeMemory(void*, void* memory) {
    std::free(memory);
    return nullptr;
}
void release(void*) {}
const void* endProfiling(void*, void*, char** file) {
    std::FILE* const written = std::fopen(profile.c_str(), "w");
    if (written) {
        std::fputs(
            R"([{"cat":"Session","name":"model_run","dur":99},{"cat":"Node","name":"negate_kernel_time","dur":12.5}])",
            written);
        std::fclose(written);
    }
    *file = ::strdup(profile.c_str());
    return nullptr;
}

void* functions[131];

template <typename Function>
void put(std::size_t place, Function* function) {
    functions[place] = reinterpret_cast<void*>(function);
}

void* const* table(std::uint32_t version) {
    if (does("old") || version > 5) return nullptr;
    put(2, errorMessage), put(3, createEnvironment), put(8, openBytes), put(9, run), put(10, createOptions);
    put(14, enableProfiling), put(23, setNumber), put(24, setNumber), put(30, inputCount), put(33, inputType);
    put(36, inputName), put(49, tensorOn), put(50, isTensor), put(51, tensorData), put(55, tensorInfo);
    put(60, elementType), put(61, rank), put(62, shape), put(65, typeAndShape), put(69, createCpuMemoryInfo);
    put(76, freeMemory), put(78, defaultAllocator), put(110, endProfiling), put(130, setText);
    for (const std::size_t place : {93, 95, 96, 98, 99}) put(place, release);
    return functions;
}
const char* versionText() { return "1.4.9"; }

struct {
    void* const* (*table)(std::uint32_t);
    const char* (*versionText)();
} const base{table, versionText};

}  // namespace

extern "C" const void* OrtGetApiBase() { return &base; }
