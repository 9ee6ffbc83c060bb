#include "core/analysis/reference_keys.h"

#include <algorithm>
#include <limits>

#include "core/analysis/compared_values.h"
#include "core/base/number_text.h"
#include "core/exec/flatten.h"

namespace sonde::analysis {

using graph::InternalGraph;
using graph::NodeId;
using tensor::Value;
using tensor::ValueKind;

namespace {

constexpr std::string_view kPass = "pass";
constexpr int kMaxDots = 256;  // behind the name of a node: each is a place where that may end

/// The loops that the node is in, outermost last. Several bodies are branches, and those of calls are run once.
std::vector<graph::ExprId> loopsAround(const InternalGraph& graph, NodeId node) {
    std::vector<graph::ExprId> loops;
    for (graph::BodyId body = graph.expr(graph.node(node).producer).body; body != graph.mainId();) {
        const graph::Expr& owner = graph.expr(graph.body(body).owner);
        if (owner.bodies.size() == 1 && !exec::isCall(owner)) loops.push_back(owner.id);
        body = owner.body;
    }
    return loops;
}

/// Takes a part off the beginning of a path, with its dot.
std::string_view takePart(std::string_view& path) {
    const std::size_t dot = path.find('.');
    const std::string_view part = path.substr(0, dot);
    path.remove_prefix(dot == std::string_view::npos ? path.size() : dot + 1);
    return part;
}

/// A position, or a key that is a number, a bool or None; "1.5" has two such parts.
bool isPlainPart(std::string_view part) {
    if (part == "True" || part == "False" || part == "None") return true;
    return part.find_first_of("0123456789") != std::string_view::npos &&
           part.find_first_not_of("0123456789+-e") == std::string_view::npos;
}

bool arePlainParts(std::string_view path) {
    if (path.empty() || path.ends_with('.')) return false;
    while (!path.empty())
        if (!isPlainPart(takePart(path))) return false;
    return true;
}

/// Whether a path could lead into a value. Text as a key is in quotes, and may have dots and quotes itself: what is
/// between the first quote and the last may be any number of parts.
bool isPath(std::string_view path) {
    const std::size_t dot = path.starts_with('\'') ? std::string_view::npos : path.find(".'");
    if (dot == std::string_view::npos && !path.starts_with('\'')) return arePlainParts(path);
    const std::size_t first = dot == std::string_view::npos ? 0 : dot + 1, last = path.rfind('\'');
    const std::string_view behind = path.substr(last + 1);
    return last > first && (first == 0 || arePlainParts(path.substr(0, dot))) &&
           (behind.empty() || (behind.starts_with('.') && arePlainParts(behind.substr(1))));
}

/// What is behind the name of a node: "pass2.0", "pass2.1.'mean'", "'mean'".
std::optional<KeyedValue> valueOf(const InternalGraph& graph, NodeId node, std::string_view rest) {
    KeyedValue found{node};
    if (rest.starts_with(kPass)) {
        const std::size_t loops = loopsAround(graph, node).size();
        if (loops == 0) return std::nullopt;
        rest.remove_prefix(kPass.size());
        while (found.pass.size() < loops) {
            const auto number = base::parseNumber<std::int64_t>(takePart(rest));
            if (!number) return std::nullopt;
            found.pass.push_back(*number);
        }
        if (rest.empty()) return found;
    }
    if (!isPath(rest)) return std::nullopt;
    found.path = rest;
    return found;
}

std::string keyText(const Value& key) { return key.text(std::numeric_limits<std::size_t>::max()); }

/// The item of a dict whose key a path begins with, and what it leads to from there.
const Value* itemAt(const tensor::ValueDict& items, std::string_view path) {
    for (const auto& [key, item] : items) {
        const std::string text = keyText(key);
        if (!path.starts_with(text)) continue;
        if (path.size() == text.size()) return &item;
        if (path[text.size()] != '.') continue;
        if (const Value* const found = elementAt(item, path.substr(text.size() + 1))) return found;
    }
    return nullptr;
}

/// Whether the run went on until the loops around the node had ended, so that the last value is that of the last
/// iteration.
bool hasLastIteration(const InternalGraph& graph, const exec::Recording& recording, NodeId node) {
    const std::vector<graph::ExprId> loops = loopsAround(graph, node);
    if (loops.empty()) return true;
    const graph::Expr& outermost = graph.expr(loops.back());
    return recording.state(outermost.id) == exec::ExprState::Done &&
           (outermost.outputs.empty() || recording.computed(outermost.outputs.front()));
}

/// Passes are kept in the order of their numbers.
std::optional<std::size_t> iterationOfPass(const exec::Recording& recording, NodeId node,
                                           const std::vector<std::int64_t>& pass) {
    const auto passes = recording.keptPasses.find(node);
    if (passes == recording.keptPasses.end()) return std::nullopt;
    const auto found = std::ranges::lower_bound(passes->second, pass);
    if (found == passes->second.end() || *found != pass) return std::nullopt;
    return static_cast<std::size_t>(found - passes->second.begin());
}

const Value* valueOfPass(const exec::Recording& recording, NodeId node, const std::vector<std::int64_t>& pass) {
    const auto iteration = iterationOfPass(recording, node, pass);
    return iteration ? recording.value(node, *iteration) : nullptr;
}

}  // namespace

std::optional<KeyedValue> keyedValue(const InternalGraph& graph, const std::string& name) {
    if (const NodeId node = graph.findNode(name); node.valid()) return KeyedValue{node};
    std::size_t dot = name.rfind('.');
    for (int dots = 0; dot != std::string::npos && dot > 0 && dots < kMaxDots; ++dots, dot = name.rfind('.', dot - 1))
        if (const NodeId node = graph.findNode(name.substr(0, dot)); node.valid())
            return valueOf(graph, node, std::string_view(name).substr(dot + 1));
    return std::nullopt;
}

const Value* elementAt(const Value& value, std::string_view path) {
    if (path.empty()) return &value;
    const bool isDict = value.kind() == ValueKind::Dict;
    if (isDict) {
        if (const Value* const found = itemAt(value.dictItems(), path)) return found;
        if (std::ranges::any_of(value.dictItems(), [](const auto& item) { return item.first.isNumber(); }))
            return nullptr;
    } else if (!value.isListLike()) {
        return nullptr;
    }
    const auto index = base::parseNumber<std::uint64_t>(takePart(path));
    if (!index || *index >= (isDict ? value.dictItems().size() : value.items().size())) return nullptr;
    return elementAt(isDict ? value.dictItems()[*index].second : value.items()[*index], path);
}

const Value* valueAt(const exec::Recording& recording, const KeyedValue& place) {
    const Value* value =
        place.pass.empty() ? recording.value(place.node) : valueOfPass(recording, place.node, place.pass);
    return value ? elementAt(*value, place.path) : nullptr;
}

std::optional<std::size_t> iterationAt(const exec::Recording& recording, const KeyedValue& place) {
    if (!place.pass.empty()) return iterationOfPass(recording, place.node, place.pass);
    const std::size_t count = recording.iterations(place.node);
    return count > 0 ? std::optional(count - 1) : std::nullopt;
}

void addValue(const Value& value, const std::string& key, KeyedTensors& arrays) {
    if (auto tensor = asTensor(value)) {
        arrays.emplace_back(key, std::move(*tensor));
    } else if (value.isListLike()) {
        for (std::size_t i = 0; i < value.items().size(); ++i)
            addValue(value.items()[i], key + "." + std::to_string(i), arrays);
    } else if (value.kind() == ValueKind::Dict) {
        for (const auto& [name, item] : value.dictItems()) addValue(item, key + "." + keyText(name), arrays);
    }
}

void addPass(const exec::Recording& recording, NodeId node, std::size_t iteration, const std::string& key,
             KeyedTensors& arrays) {
    const Value* const value = recording.value(node, iteration);
    const std::string pass = recording.passText(node, iteration);
    if (value && !pass.empty()) addValue(*value, key + "." + std::string(kPass) + pass, arrays);
}

void addKept(const InternalGraph& graph, const exec::Recording& recording, NodeId node, const std::string& key,
             KeyedTensors& arrays) {
    for (std::size_t i = 0; i < recording.iterations(node); ++i) addPass(recording, node, i, key, arrays);
    if (!hasLastIteration(graph, recording, node)) return;
    if (const Value* const last = recording.value(node)) addValue(*last, key, arrays);
}

}  // namespace sonde::analysis
