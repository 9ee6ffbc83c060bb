#include "core/document/format_zoo.h"

#include "core/document/traced_model.h"
#include "core/document/weights.h"
#include "core/zoo/zoo.h"

namespace sonde::document {

namespace {

base::Result<std::shared_ptr<Document>> openZoo(const std::filesystem::path& path, const OpenOptions& options,
                                                const base::WorkContext& work) {
    const std::string name = path.string();
    work.report("making zoo:" + name);
    SONDE_ASSIGN(const auto module, zoo::makeModel(name));
    const zoo::ModelEntry& entry = *zoo::find(name);
    if (!options.weights.empty()) SONDE_TRY(loadWeights(*module, options.weights, work));
    std::vector<KnownInput> inputs;
    SONDE_ASSIGN(const auto examples, zoo::inputsOf(name));
    for (const zoo::InputExample& input : examples) inputs.push_back({input.name, input.type});
    SONDE_ASSIGN(std::string description, zoo::describe(name));
    OpenOptions traced = options;
    if (traced.tracer.empty()) traced.tracer = entry.tracer;
    SONDE_ASSIGN(auto document, traceModel(module, traced, inputs, work));
    document->title = name;
    document->location = "zoo:" + name;
    document->format = "built-in model";
    document->properties = {{"description", std::move(description)},
                            {"weights", options.weights.empty() ? "random, from seed 0" : options.weights}};
    document->fingerprint = std::hash<std::string>{}("zoo:" + name + '\n' + options.weights);
    return document;
}

}  // namespace

Format zooFormat() {
    Format format{
        "zoo", "built-in model", "built-in models, traced when they are opened (zoo:NAME)", {}, nullptr, openZoo, true};
    format.scheme = "zoo";
    return format;
}

}  // namespace sonde::document
