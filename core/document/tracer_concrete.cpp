#include "core/document/tracer_concrete.h"

#include <algorithm>

#include "core/document/evaluator.h"
#include "core/io/inputs/inputs.h"

namespace sonde::document {

base::Result<std::map<std::string, tensor::Value>> exampleInputs(const TraceRequest& request) {
    std::map<std::string, tensor::Value> examples;
    if (request.options.inputData.empty()) return examples;
    std::vector<io::InputInfo> infos;
    for (const trace::ForwardParameter& parameter : request.root->signature()) {
        const auto fixed = request.concrete.find(parameter.name);
        if (!takesValue(parameter, request.inputs) || (fixed != request.concrete.end() && !fixed->second.isTensor()))
            continue;
        io::InputInfo info{parameter.name, {}};
        const auto known = std::ranges::find(request.inputs, parameter.name, &KnownInput::name);
        if (known != request.inputs.end()) info = {parameter.name, known->type, known->isGuide, known->usual};
        infos.push_back(std::move(info));
    }
    io::InputOptions options;
    options.hasDefault = [&request](const std::string& name) { return request.concrete.contains(name); };
    SONDE_ASSIGN(const auto cases, io::makeInputs(request.options.inputData, infos, options, request.work));
    if (cases.empty()) return base::usageError("the example has no inputs", request.options.inputData);
    for (std::size_t i = 0; i < infos.size() && i < cases.front().values.size(); ++i)
        examples.emplace(infos[i].name, cases.front().values[i]);
    return examples;
}

namespace {

/// Another rank, or another size of a dimension that the layers fix.
bool isApart(const tensor::Shape& given, const std::vector<tensor::Dim>& taken) {
    if (given.rank() != taken.size()) return true;
    for (std::size_t axis = 0; axis < taken.size(); ++axis)
        if (taken[axis].known() && taken[axis].value != given[axis]) return true;
    return false;
}

}  // namespace

std::vector<std::string> examplesApart(const TraceRequest& request) {
    std::vector<std::string> texts;
    if (std::ranges::none_of(request.inputs, &KnownInput::isGuide)) return texts;
    const auto given = exampleInputs(request);
    if (!given) return texts;
    for (const auto& [name, value] : *given) {
        const auto known = std::ranges::find(request.inputs, name, &KnownInput::name);
        if (known == request.inputs.end() || !known->isGuide || !known->type.shape || !value.isTensor()) continue;
        if (!isApart(value.tensor().shape(), *known->type.shape)) continue;
        texts.push_back("the layers take " + typeAndRank(known->type) + " for input '" + name + "', the example is " +
                        value.typeText());
    }
    return texts;
}

std::string typeAndRank(const tensor::TypeInfo& type) {
    const std::size_t rank = type.shape ? type.shape->size() : 0;
    return type.text() + " (" + std::to_string(rank) + (rank == 1 ? " dimension)" : " dimensions)");
}

trace::ConcreteArguments withAbsent(const TraceRequest& request) {
    trace::ConcreteArguments fixed = request.concrete;
    for (const trace::ForwardParameter& parameter : request.root->signature()) {
        if (parameter.fallback && parameter.fallback->isNone() && !takesValue(parameter, request.inputs))
            fixed.try_emplace(parameter.name);
    }
    return fixed;
}

base::Result<std::shared_ptr<trace::ConcreteRun>> followExample(trace::Tracer& tracer, const TraceRequest& request) {
    if (request.options.inputData.empty()) return std::shared_ptr<trace::ConcreteRun>();
    SONDE_ASSIGN(auto examples, exampleInputs(request));
    for (const auto& [name, value] : request.concrete) examples.emplace(name, value);
    auto run = std::make_shared<trace::ConcreteRun>(std::move(examples), kernelEvaluator());
    tracer.setValueOracle(run);
    return run;
}

}  // namespace sonde::document
