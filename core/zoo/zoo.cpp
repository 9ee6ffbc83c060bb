#include "core/zoo/zoo.h"

#include "core/nn/initialize.h"
#include "core/zoo/resnet.h"

namespace sonde::zoo {

namespace {

std::vector<InputExample> image(std::int64_t size) {
    return {{"x", tensor::TypeInfo::tensor(tensor::DType::Float32, tensor::Shape{1, 3, size, size})}};
}

}  // namespace

const std::vector<ModelEntry>& models() {
    static const std::vector<ModelEntry> table{
        {"resnet18", "ResNet-18, the residual network of the tracer's examples: 11.7 million parameters, 1000 classes",
         resnet18, image(224)},
        {"resnet34", "ResNet-34: 21.8 million parameters, 1000 classes", resnet34, image(224)},
        {"resnet50", "ResNet-50 with bottleneck blocks: 25.6 million parameters, 1000 classes", resnet50, image(224)},
    };
    return table;
}

const ModelEntry* find(std::string_view name) {
    for (const ModelEntry& entry : models()) {
        if (entry.name == name) return &entry;
    }
    return nullptr;
}

base::Result<std::shared_ptr<nn::Module>> makeModel(std::string_view name, std::uint64_t seed) {
    const ModelEntry* entry = find(name);
    if (!entry) {
        std::string known;
        for (const ModelEntry& model : models()) known += (known.empty() ? "" : ", ") + std::string(model.name);
        return base::unreadable("there is no built-in model '" + std::string(name) + "'", {}, "built-in models: " + known);
    }
    try {
        std::shared_ptr<nn::Module> model = entry->make();
        nn::initialize(*model, seed);
        model->setTraining(false);
        return model;
    } catch (const trace::TraceError& error) {
        return error.toError("zoo:" + std::string(name));
    }
}

}  // namespace sonde::zoo
