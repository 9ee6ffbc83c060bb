#include "core/nn/initialize.h"

#include <cmath>
#include <string_view>
#include <unordered_set>

#include "core/base/random.h"

namespace sonde::nn {

namespace {

/// FNV-1a, so that a parameter's numbers do not depend on which others there are.
std::uint64_t streamOf(std::uint64_t seed, std::string_view path) {
    std::uint64_t hash = 0xcbf29ce484222325ULL ^ seed;
    for (char c : path) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    return hash;
}

void fillUniform(std::span<float> values, double bound, std::uint64_t stream) {
    base::Random random(stream);
    const float scale = static_cast<float>(bound) / 8388608.0F;  // 24 bits, centred
    std::size_t i = 0;
    while (i < values.size()) {
        const std::uint64_t bits = random.bits();
        values[i++] = static_cast<float>(static_cast<std::int32_t>(bits >> 40U) - 8388608) * scale;
        if (i < values.size())
            values[i++] = static_cast<float>(static_cast<std::int32_t>((bits >> 8U) & 0xffffffU) - 8388608) * scale;
    }
}

double boundFor(const std::string& moduleClass, std::string_view name, const tensor::Shape& shape) {
    if (name.find("bias") != std::string_view::npos) return 0.05;
    if (moduleClass.starts_with("Embedding")) return 0.5;
    if (shape.rank() < 2 || name.find("weight") == std::string_view::npos) return 0.1;
    double fanIn = 1;
    for (std::size_t i = 1; i < shape.rank(); ++i) fanIn *= static_cast<double>(shape[i]);
    const bool linearUse = name != "weight";  // weight_ih_l0, in_proj_weight: no rectifier follows
    return std::sqrt((linearUse ? 3.0 : 6.0) / std::max(fanIn, 1.0));
}

}  // namespace

void initialize(Module& root, std::uint64_t seed) {
    std::unordered_set<const trace::Slot*> done;
    for (const auto& [path, module] : trace::namedModules(root)) {
        const std::string moduleClass = module->className();
        if (moduleClass.find("Norm") != std::string::npos) continue;
        for (const Module::NamedSlot& named : module->ownTensors()) {
            const bool fills =
                named.slot->kind == trace::Slot::Kind::Parameter && named.slot->value.dtype() == tensor::DType::Float32;
            if (!fills || !done.insert(named.slot.get()).second) continue;
            const std::string full = path.empty() ? named.name : path + '.' + named.name;
            Tensor& value = named.slot->value;
            const double bound = boundFor(moduleClass, named.name, value.shape());
            const std::uint64_t stream = streamOf(seed, full);
            if (value.numel() < kDeferredNumel) {
                fillUniform(value.mutableSpan<float>(), bound, stream);
            } else {
                value = deferred(value.shape(),
                                 [bound, stream](std::span<float> values) { fillUniform(values, bound, stream); });
            }
        }
    }
}

}  // namespace sonde::nn
