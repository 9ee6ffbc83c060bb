#pragma once

// A model of one's own for the window and the verbs. Write modules (core/nn/module.h shows how), name one with
//
//     SONDE_MODEL(MyNet, "my_net", sonde::nn::input("x", {1, 3, 32, 32}));
//
// after its class, in the class's namespace, and compile it to a shared library (sonde_add_model of the installed CMake
// package). `sonde my_net.so` opens it. A library may hold several: `sonde my_net.so#my_net`.
//
// The macro puts a note into the file, from which Sonde learns what it holds and for which Sonde it was built before
// any of its code runs, and a function that makes the model. The class is made with its default constructor; weights
// are what that leaves (layers begin with zeros: nn::initialize(*this, seed) fills them), or come from `--weights
// FILE`.

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/version.h"
#include "core/nn/module.h"
#include "core/tensor/type_info.h"

namespace sonde::nn {

/// An input of a model; the name is a parameter of forward.
struct ModelInput {
    std::string name;
    tensor::TypeInfo type;
};
inline ModelInput input(std::string name, const tensor::Shape& shape, tensor::DType dtype = tensor::DType::Float32) {
    return {std::move(name), tensor::TypeInfo::tensor(dtype, shape)};
}
/// Sizes as they are in the text: input("x", {1, 3, 32, 32}), input("x", {4}).
inline ModelInput input(std::string name, std::initializer_list<std::int64_t> shape,
                        tensor::DType dtype = tensor::DType::Float32) {
    return input(std::move(name), tensor::Shape(shape), dtype);
}
/// With dim sizes that are only named: input("x", {Dim::named("N"), Dim::of(4)}).
inline ModelInput input(std::string name, std::vector<tensor::Dim> shape,
                        tensor::DType dtype = tensor::DType::Float32) {
    return {std::move(name), tensor::TypeInfo::tensor(dtype, std::move(shape))};
}

/// What a library's function fills in.
struct PluginModel {
    std::shared_ptr<Module> root;
    std::vector<ModelInput> inputs;
};
using PluginFunction = void (*)(PluginModel&);

#define SONDE_TEXT_(x) #x
#define SONDE_TEXT(x) SONDE_TEXT_(x)
#if defined(_GLIBCXX_RELEASE)
#define SONDE_STANDARD_LIBRARY "libstdc++ " SONDE_TEXT(_GLIBCXX_RELEASE) " cxx11=" SONDE_TEXT(_GLIBCXX_USE_CXX11_ABI)
#elif defined(_LIBCPP_VERSION)
#define SONDE_STANDARD_LIBRARY "libc++ " SONDE_TEXT(_LIBCPP_VERSION)
#else
#define SONDE_STANDARD_LIBRARY "unknown standard library"
#endif
#if defined(_GLIBCXX_DEBUG)
#define SONDE_DEBUG_CONTAINERS ", debug containers"
#else
#define SONDE_DEBUG_CONTAINERS ""
#endif
// A library with a sanitizer cannot be loaded into a program without it: the process would end.
#if defined(__SANITIZE_ADDRESS__)
#define SONDE_SANITIZER ", address sanitizer"
#elif defined(__SANITIZE_THREAD__)
#define SONDE_SANITIZER ", thread sanitizer"
#else
#define SONDE_SANITIZER ""
#endif
/// What must agree between Sonde and a library: classes cross the border.
#define SONDE_PLUGIN_ABI "Sonde " SONDE_CORE_VERSION ", " SONDE_STANDARD_LIBRARY SONDE_DEBUG_CONTAINERS SONDE_SANITIZER

/// A number of the sizes of the classes that cross the border, for headers that changed within a version.
constexpr std::uint32_t pluginLayout() {
    std::uint32_t hash = 0x811c9dc5u;  // FNV-1a (Fowler, Noll, Vo)
    for (const std::size_t size : {sizeof(Module), sizeof(Layer), sizeof(Var), sizeof(tensor::Value), sizeof(Tensor),
                                   sizeof(tensor::TypeInfo), sizeof(ForwardParameter), sizeof(trace::Slot),
                                   sizeof(Attribute), sizeof(trace::Function), sizeof(PluginModel)}) {
        hash = (hash ^ static_cast<std::uint32_t>(size)) * 0x01000193u;
    }
    return hash;
}

/// One model of a library: an ELF note (System V ABI, "Note Section") of type 1 by the owner "Sonde".
struct PluginNote {
    static constexpr std::uint32_t kType = 1;
    struct Content {
        char abi[128] = SONDE_PLUGIN_ABI;
        std::uint32_t layout = pluginLayout();
        std::uint32_t line = 0;   ///< where the macro stands: compilers write variables in an order of their own
        char model[64] = {};      ///< "my_net"
        char className[64] = {};  ///< "MyNet"; the function is sonde_model_MyNet
    };
    std::uint32_t ownerBytes = sizeof("Sonde");
    std::uint32_t contentBytes = sizeof(Content);
    std::uint32_t type = kType;
    char owner[8] = "Sonde";
    Content content;
};
static_assert(sizeof(PluginNote) == 12 + 8 + sizeof(PluginNote::Content) &&
              sizeof(PluginNote::Content) == 128 + 8 + 64 + 64);

}  // namespace sonde::nn

/// SONDE_MODEL(Class, "name", inputs…): see above. Class stands without its namespace.
#define SONDE_MODEL(Class, modelName, ...)                                                                \
    [[gnu::used, gnu::section(".note.sonde"),                                                             \
      gnu::aligned(4)]] static constexpr ::sonde::nn::PluginNote sondePluginNote_##Class{                 \
        .content = {.line = __LINE__, .model = modelName, .className = #Class}};                          \
    extern "C" [[gnu::visibility("default")]] void sonde_model_##Class(::sonde::nn::PluginModel& model) { \
        model.root = std::make_shared<Class>();                                                           \
        model.inputs = {__VA_ARGS__};                                                                     \
    }                                                                                                     \
    static_assert(true, "")
