#include "core/session/reference_value.h"

#include <algorithm>

#include "core/document/reference.h"

namespace sonde::session {

namespace {

/// "case3.node.conv1" is one of the key "node.conv1".
bool isOfCase(const std::string& key, const std::string& wanted) {
    if (!key.ends_with('.' + wanted)) return false;
    return key.find('.') == key.size() - wanted.size() - 1;
}

}  // namespace

base::Result<tensor::Value> referenceValue(const document::Document& document, const std::string& path,
                                           graph::NodeId node, const base::WorkContext& work) {
    SONDE_ASSIGN(const document::Reference reference, document::openReference(document, path));
    if (work.cancelled()) return base::cancelled();
    const std::string& name = document.graph->node(node).name;
    std::vector<std::string> wanted{"node." + name};
    for (const document::NamedNode& output : document.outputs)
        if (output.node == node) wanted.push_back("out." + output.name);
    for (const document::NamedNode& input : document.inputs)
        if (input.node == node) wanted.push_back("in." + input.name);
    const std::vector<std::string>& keys = reference.values.keys;
    const auto read = [&](const std::string& key) -> base::Result<tensor::Value> {
        SONDE_ASSIGN(tensor::Tensor tensor, reference.values.read(key));
        return tensor::Value(std::move(tensor));
    };
    for (const std::string& key : wanted)
        if (std::ranges::find(keys, key) != keys.end()) return read(key);
    for (const std::string& key : wanted)
        for (const std::string& each : keys)
            if (isOfCase(each, key)) return read(each);
    const bool isSummary = std::ranges::any_of(keys, [&](const std::string& key) {
        return std::ranges::any_of(wanted, [&](const std::string& one) { return key.starts_with(one + '.'); });
    });
    return base::usageError(isSummary ? "the reference has a summary of '" + name + "' only"
                                      : "the reference has no value of '" + name + "'");
}

}  // namespace sonde::session
