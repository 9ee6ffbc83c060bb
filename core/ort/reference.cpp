#include "core/ort/reference.h"

#include <algorithm>
#include <unordered_map>

#include "core/base/mapped_file.h"
#include "core/exec/flatten.h"
#include "core/export/write_export.h"
#include "core/ort/model_outputs.h"
#include "core/ort/work_folder.h"

namespace sonde::ort {

namespace {

namespace fs = std::filesystem;
using document::Document;
using tensor::Value;

/// The model as ONNX Runtime gets it, and where its external data is.
struct GivenModel {
    OpenModel model;
    fs::path weightsFolder;
};

std::string_view textOf(const base::MappedFile& file) {
    return {reinterpret_cast<const char*>(file.bytes().data()), file.sizeBytes()};
}

base::Result<GivenModel> givenModel(const Document& document, const std::vector<Value>& inputs, const fs::path& folder,
                                    const base::WorkContext& work) {
    fs::path path = document.location;
    if (!isItsFile(document)) {
        path = folder / "exported.onnx";
        exporting::ExportChoice choice;
        choice.format = exporting::ExportFormat::Onnx;
        SONDE_TRY(exporting::writeExport(document, choice, path, inputs, work));
    }
    SONDE_ASSIGN(const auto file, base::MappedFile::open(path));
    SONDE_ASSIGN(OpenModel model, withAllOutputs(textOf(*file)));
    SONDE_TRY(base::checkUnchanged({file}, "model file"));
    return GivenModel{std::move(model), path.has_parent_path() ? path.parent_path() : fs::path(".")};
}

/// The document's inputs under the names of the model: the same, or by position.
base::Result<std::vector<io::NamedTensor>> namedInputs(const Document& document, const std::vector<Value>& inputs,
                                                       const OpenModel& model) {
    std::vector<io::NamedTensor> named;
    for (std::size_t i = 0; i < document.inputs.size(); ++i) {
        const Value value = valueOf(document, i, inputs);
        std::string name = document.inputs[i].name;
        if (std::ranges::find(model.inputs, name) == model.inputs.end()) {
            // One with an initializer has a value of its own.
            if (!value.isTensor()) continue;
            if (model.inputs.size() != document.inputs.size()) continue;
            name = model.inputs[i];
        }
        if (!value.isTensor())
            return base::usageError(
                "input '" + document.inputs[i].name + "' is no tensor: only tensors can be given to another engine",
                document.location);
        named.emplace_back(std::move(name), value.tensor());
    }
    return named;
}

/// Whether it is in no branch or loop.
bool isOnce(const graph::InternalGraph& graph, graph::NodeId node) {
    return exec::rowOf(graph, graph.expr(graph.node(node).producer).body) == graph.mainId();
}

void addValues(const Document& document, const EngineTask& task, const OpenModel& model, const EngineRun& run,
               EngineReference& reference) {
    for (std::size_t i = 0; i < task.inputs.size(); ++i) {
        // The key is the document's name: names differ only where all inputs are given by position.
        const bool isByName = std::ranges::any_of(
            document.inputs, [&](const document::NamedNode& each) { return each.name == task.inputs[i].first; });
        const std::string& name = isByName ? task.inputs[i].first : document.inputs[i].name;
        reference.arrays.emplace_back("in." + name, task.inputs[i].second);
    }
    std::size_t unknown = 0;
    for (const std::string& name : model.values) {
        const auto value = run.values.find(name);
        if (value == run.values.end()) continue;
        const graph::NodeId node = document.graph->findNode(name);
        if (!node.valid()) ++unknown;
        // Of a loop that is written out the name is that of the first iteration, and says so nowhere.
        else if (isOnce(*document.graph, node)) reference.arrays.emplace_back("node." + name, value->second);
    }
    if (unknown > 0)
        reference.notes.push_back(std::to_string(unknown) + " values of the ONNX form are no nodes of the model");
    for (std::size_t i = 0; i < document.outputs.size(); ++i) {
        auto value = run.values.find(document.outputs[i].name);
        if (value == run.values.end() && model.outputs.size() == document.outputs.size())
            value = run.values.find(model.outputs[i]);
        if (value != run.values.end()) reference.arrays.emplace_back("out." + document.outputs[i].name, value->second);
    }
}

}  // namespace

bool isItsFile(const Document& document) {
    return document.format == "ONNX" && !document.session && !document.original && document.options.passes.empty();
}

Value valueOf(const Document& document, std::size_t input, const std::vector<Value>& inputs) {
    const auto& nodes = document.graph->inputs();
    const auto at = static_cast<std::size_t>(std::ranges::find(nodes, document.inputs[input].node) - nodes.begin());
    return at < inputs.size() ? inputs[at] : Value();
}

base::Result<EngineReference> engineReference(const Document& document, const std::vector<Value>& inputs,
                                              const EngineOptions& options, const base::WorkContext& work) {
    WorkFolder folder;
    SONDE_TRY(folder.make());
    SONDE_ASSIGN(const GivenModel given, givenModel(document, inputs, folder.path(), work));
    EngineTask task{given.model.bytes, given.weightsFolder, {}, given.model.values};
    SONDE_ASSIGN(task.inputs, namedInputs(document, inputs, given.model));
    SONDE_ASSIGN(const EngineRun run, runInEngine(task, options, work));
    EngineReference reference{run.version, {}, {}, run.notes};
    addValues(document, task, given.model, run, reference);
    for (const auto& [operation, output] : given.model.operations)
        if (const auto time = run.elapsedNs.find(operation); time != run.elapsedNs.end())
            reference.elapsedNs.emplace_back(output, time->second);
    return reference;
}

}  // namespace sonde::ort
