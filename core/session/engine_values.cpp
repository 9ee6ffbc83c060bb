#include "core/session/engine_values.h"

#include <algorithm>
#include <cctype>

#include "core/io/npz/npz.h"
#include "core/ort/reference.h"

namespace sonde::session {

namespace {

/// The library says what it is: no path of its making.
std::string asFileName(std::string text) {
    std::ranges::replace_if(
        text, [](unsigned char c) { return !std::isalnum(c) && c != '.' && c != '-'; }, '_');
    return text.substr(0, 40);
}

}  // namespace

base::Result<std::shared_ptr<const EngineValues>> engineValues(const document::Document& document,
                                                               const std::vector<tensor::Value>& inputs,
                                                               const ort::EngineOptions& options,
                                                               const base::WorkContext& work) {
    auto values = std::make_shared<EngineValues>();
    SONDE_TRY(values->folder.make());
    work.report("running the model in ONNX Runtime");
    SONDE_ASSIGN(const ort::EngineReference reference, ort::engineReference(document, inputs, options, work));
    values->version = reference.version;
    values->notes = reference.notes;
    values->file = (values->folder.path() / ("ONNX Runtime " + asFileName(reference.version) + ".npz")).string();
    SONDE_TRY(io::writeNpz(values->file, reference.arrays));
    for (const auto& [name, ns] : reference.elapsedNs)
        if (const graph::NodeId node = document.graph->findNode(name); node.valid()) values->elapsedNs[node] = ns;
    return std::shared_ptr<const EngineValues>(std::move(values));
}

}  // namespace sonde::session
