#include "core/session/reference_value.h"

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <vector>

#include "core/document/reference.h"
#include "core/io/npz/npz.h"
#include "core/session/comparison.h"

namespace sonde::session {

namespace {

using Keys = std::vector<std::string>;

/// "case3.node.conv1" is one of the key "node.conv1".
bool isOfCase(const std::string& key, const std::string& wanted) {
    if (!key.ends_with('.' + wanted)) return false;
    return key.find('.') == key.size() - wanted.size() - 1;
}

/// What a file may have the value under, without the case.
Keys keysOf(const document::Document& document, graph::NodeId node, const ReferenceIteration& iteration) {
    const std::string& name = document.graph->node(node).name;
    Keys keys;
    if (!iteration.pass.empty()) keys.push_back("node." + name + ".pass" + iteration.pass);
    if (!iteration.isLast) return keys;
    keys.push_back("node." + name);
    for (const document::NamedNode& output : document.outputs)
        if (output.node == node) keys.push_back("out." + output.name);
    for (const document::NamedNode& input : document.inputs)
        if (input.node == node) keys.push_back("in." + input.name);
    return keys;
}

/// The first case is case0 too, unless the file has keys that begin so.
std::string prefixOf(const Keys& keys, const std::string& label) {
    const auto isOfFirst = [](const std::string& key) { return key.starts_with("case0."); };
    if (label.empty() || (label == "case0" && std::ranges::none_of(keys, isOfFirst))) return {};
    return label + '.';
}

bool isOfFirstCase(const std::string& key) {
    return key.starts_with("node.") || key.starts_with("out.") || key.starts_with("in.");
}

/// Only what the case has: values of another one belong to other inputs.
const std::string* keyIn(const Keys& keys, const Keys& wanted, const std::string& label) {
    for (const std::string& key : wanted)
        if (const auto found = std::ranges::find(keys, prefixOf(keys, label) + key); found != keys.end())
            return &*found;
    if (!label.empty() || std::ranges::any_of(keys, isOfFirstCase)) return nullptr;
    for (const std::string& key : wanted)
        for (const std::string& each : keys)
            if (isOfCase(each, key)) return &each;
    return nullptr;
}

/// Of a file that has no inputs, or others than the model, its arrays under their own names: a value can be compared
/// with one of them all the same.
base::Result<analysis::ReferenceValues> valuesOf(const document::Document& document, const std::string& file) {
    auto reference = document::openReference(document, file);
    if (reference) return std::move(reference->values);
    if (reference.error().kind != base::ErrorKind::Usage) return std::move(reference).error();
    SONDE_ASSIGN(io::NpzFile opened, io::NpzFile::open(file));
    const auto plain = std::make_shared<const io::NpzFile>(std::move(opened));
    return analysis::ReferenceValues{plain->keys(), [plain](const std::string& key) { return plain->read(key); }};
}

}  // namespace

std::pair<std::string, std::string> fileAndCase(const std::string& path) {
    const std::size_t hash = path.rfind('#');
    if (hash == std::string::npos || path.compare(hash + 1, 4, "case") != 0) return {path, {}};
    return {path.substr(0, hash), path.substr(hash + 1)};
}

std::string comparedFile(const Comparison& comparison) {
    const std::vector<std::string>& files = comparison.references();
    // Those of another engine are not among them.
    if (!comparison.isKnown() || files.empty()) return {};
    const std::string &file = files.front(), &title = comparison.title(), text = comparison.referenceText();
    if (file != title && std::filesystem::path(file).filename().string() != title) return {};
    if (text.size() <= title.size() || !text.ends_with(" of " + title)) return file;
    const std::string label = text.substr(0, text.size() - title.size() - std::string_view(" of ").size());
    return file + '#' + (label == "case 0" ? "case0" : label);
}

base::Result<tensor::Value> referenceValue(const document::Document& document, const std::string& path,
                                           graph::NodeId node, const base::WorkContext& work,
                                           const ReferenceIteration& iteration) {
    const auto place = fileAndCase(path);
    const auto& file = place.first;
    const auto& label = place.second;
    SONDE_ASSIGN(const analysis::ReferenceValues values, valuesOf(document, file));
    if (work.cancelled()) return base::cancelled();
    const Keys wanted = keysOf(document, node, iteration);
    const Keys& keys = values.keys;
    if (const std::string* const key = keyIn(keys, wanted, label)) {
        SONDE_ASSIGN(tensor::Tensor tensor, values.read(*key));
        return tensor::Value(std::move(tensor));
    }
    const bool isSummary = std::ranges::any_of(wanted, [&](const std::string& one) {
        return std::ranges::any_of(std::initializer_list<const char*>{".shape", ".stats", ".head"},
                                   [&](const char* part) {
                                       return std::ranges::find(keys, prefixOf(keys, label) + one + part) != keys.end();
                                   });
    });
    const std::string& name = document.graph->node(node).name;
    const std::string what = iteration.isLast ? "'" + name + "'" : "'" + name + "' in iteration " + iteration.pass;
    return base::usageError(isSummary ? "the reference has a summary of " + what + " only"
                                      : "the reference has no value of " + what);
}

}  // namespace sonde::session
