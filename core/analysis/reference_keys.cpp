#include "core/analysis/reference_keys.h"

#include <algorithm>
#include <string_view>

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
constexpr std::size_t kMaxDigits = 5;  // of a position in a tuple

/// How many numbers a pass of the node has: one for each loop that it is in. Several bodies are branches, and those of
/// calls are run once.
std::size_t loopsAround(const InternalGraph& graph, NodeId node) {
    std::size_t count = 0;
    for (graph::BodyId body = graph.expr(graph.node(node).producer).body; body != graph.mainId();) {
        const graph::Expr& owner = graph.expr(graph.body(body).owner);
        if (owner.bodies.size() == 1 && !exec::isCall(owner)) ++count;
        body = owner.body;
    }
    return count;
}

/// The number behind "pass".
std::optional<std::int64_t> passNumber(std::string_view part) {
    if (!part.starts_with(kPass)) return std::nullopt;
    return base::parseNumber<std::int64_t>(part.substr(kPass.size()));
}

/// The parts of a name behind that of a node.
std::optional<KeyedValue> valueOf(const InternalGraph& graph, NodeId node, std::optional<std::int64_t> pass,
                                  std::vector<std::size_t> numbers) {
    if (!pass) return KeyedValue{node, {}, std::move(numbers)};
    const std::size_t loops = loopsAround(graph, node);
    if (loops == 0 || numbers.size() + 1 < loops) return std::nullopt;
    const auto ofPath = numbers.begin() + static_cast<std::ptrdiff_t>(loops - 1);
    KeyedValue found{node, {*pass}, {ofPath, numbers.end()}};
    for (auto number = numbers.begin(); number != ofPath; ++number)
        found.pass.push_back(static_cast<std::int64_t>(*number));
    return found;
}

const Value* element(const Value& value, const std::vector<std::size_t>& path) {
    const Value* current = &value;
    for (const std::size_t index : path) {
        if (current->kind() == ValueKind::Dict) {
            if (index >= current->dictItems().size()) return nullptr;
            current = &current->dictItems()[index].second;
        } else {
            if (!current->isListLike() || index >= current->items().size()) return nullptr;
            current = &current->items()[index];
        }
    }
    return current;
}

/// Passes are kept in the order of their numbers.
const Value* valueOfPass(const exec::Recording& recording, NodeId node, const std::vector<std::int64_t>& pass) {
    const auto passes = recording.keptPasses.find(node);
    if (passes == recording.keptPasses.end()) return nullptr;
    const auto found = std::ranges::lower_bound(passes->second, pass);
    if (found == passes->second.end() || *found != pass) return nullptr;
    return recording.value(node, static_cast<std::size_t>(found - passes->second.begin()));
}

}  // namespace

std::optional<KeyedValue> keyedValue(const InternalGraph& graph, const std::string& name) {
    std::string rest = name;
    std::vector<std::size_t> numbers;
    std::optional<std::int64_t> pass;
    while (true) {
        if (const NodeId node = graph.findNode(rest); node.valid()) {
            std::ranges::reverse(numbers);
            return valueOf(graph, node, pass, std::move(numbers));
        }
        const std::size_t dot = rest.rfind('.');
        if (pass || dot == std::string::npos) return std::nullopt;
        const std::string_view part = std::string_view(rest).substr(dot + 1);
        pass = passNumber(part);
        if (!pass) {
            const auto number = part.size() > kMaxDigits ? std::nullopt : base::parseNumber<std::uint64_t>(part);
            if (!number) return std::nullopt;
            numbers.push_back(*number);
        }
        rest.resize(dot);
    }
}

const Value* valueAt(const exec::Recording& recording, const KeyedValue& place) {
    const Value* value =
        place.pass.empty() ? recording.value(place.node) : valueOfPass(recording, place.node, place.pass);
    return value ? element(*value, place.path) : nullptr;
}

void addValue(const Value& value, const std::string& key, KeyedTensors& arrays) {
    if (auto tensor = asTensor(value)) {
        arrays.emplace_back(key, std::move(*tensor));
    } else if (value.isListLike()) {
        for (std::size_t i = 0; i < value.items().size(); ++i)
            addValue(value.items()[i], key + "." + std::to_string(i), arrays);
    } else if (value.kind() == ValueKind::Dict) {
        for (const auto& [name, item] : value.dictItems()) addValue(item, key + "." + name.text(), arrays);
    }
}

void addPass(const exec::Recording& recording, NodeId node, std::size_t iteration, const std::string& key,
             KeyedTensors& arrays) {
    const Value* const value = recording.value(node, iteration);
    const std::string pass = recording.passText(node, iteration);
    if (value && !pass.empty()) addValue(*value, key + "." + std::string(kPass) + pass, arrays);
}

void addKept(const exec::Recording& recording, NodeId node, const std::string& key, KeyedTensors& arrays) {
    for (std::size_t i = 0; i < recording.iterations(node); ++i) addPass(recording, node, i, key, arrays);
    if (const Value* const last = recording.value(node)) addValue(*last, key, arrays);
}

}  // namespace sonde::analysis
