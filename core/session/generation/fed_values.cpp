#include "core/session/generation/fed_values.h"

#include <algorithm>
#include <optional>
#include <string_view>

namespace sonde::session {

namespace {

using base::Result;
using base::usageError;
using document::NamedNode;

/// Names of an output and of the input that it goes to, each with one `*` at its end.
struct NamePair {
    std::string_view output, input;
};

/// Of Optimum's `onnx` task text-generation-with-past, and of the converters of onnxruntime.transformers.
constexpr NamePair kUsualPairs[] = {
    {"present.*", "past_key_values.*"},
    {"present_key_values.*", "past_key_values.*"},
    {"present.*", "past.*"},
    {"present_*", "past_*"},
};

/// What the `*` of a pattern stands for in a name; none: the name is another one.
std::optional<std::string_view> starOf(std::string_view pattern, std::string_view name) {
    const std::size_t star = pattern.find('*');
    if (star == std::string_view::npos) return pattern == name ? std::optional<std::string_view>("") : std::nullopt;
    const std::string_view before = pattern.substr(0, star), after = pattern.substr(star + 1);
    if (name.size() < before.size() + after.size() || !name.starts_with(before) || !name.ends_with(after))
        return std::nullopt;
    return name.substr(before.size(), name.size() - before.size() - after.size());
}

std::string filled(std::string_view pattern, std::string_view star) {
    const std::size_t at = pattern.find('*');
    if (at == std::string_view::npos) return std::string(pattern);
    return std::string(pattern.substr(0, at)) + std::string(star) + std::string(pattern.substr(at + 1));
}

/// Adds the pairs that go by the names; the count of them. Error: an input has an output already.
Result<std::size_t> addPairs(const document::Document& document, const NamePair& names, std::vector<FedValue>& pairs) {
    std::size_t count = 0;
    for (std::size_t output = 0; output < document.outputs.size(); ++output) {
        const auto star = starOf(names.output, document.outputs[output].name);
        if (!star) continue;
        const auto input = std::ranges::find(document.inputs, filled(names.input, *star), &NamedNode::name);
        if (input == document.inputs.end()) continue;
        const FedValue pair{output, static_cast<std::size_t>(input - document.inputs.begin())};
        const auto same = std::ranges::find(pairs, pair.input, &FedValue::input);
        if (same != pairs.end() && same->output != output)
            return usageError("both '" + document.outputs[same->output].name + "' and '" +
                                  document.outputs[output].name + "' would be fed to '" + input->name + "'",
                              "--feed");
        if (same == pairs.end()) pairs.push_back(pair);
        ++count;
    }
    return count;
}

}  // namespace

Result<std::vector<FedValue>> fedValues(const document::Document& document, const std::vector<std::string>& asked) {
    std::vector<FedValue> pairs;
    for (const std::string& text : asked) {
        const std::size_t equals = text.find('=');
        const std::string_view whole = text;
        if (equals == std::string::npos || equals == 0 || equals + 1 == text.size() ||
            std::ranges::count(whole.substr(0, equals), '*') > 1 ||
            std::ranges::count(whole.substr(0, equals), '*') != std::ranges::count(whole.substr(equals + 1), '*'))
            return usageError("'" + text + "' is not OUTPUT=INPUT, with one * or none on each side", "--feed");
        SONDE_ASSIGN(const std::size_t count,
                     addPairs(document, {whole.substr(0, equals), whole.substr(equals + 1)}, pairs));
        if (count == 0)
            return usageError("no output and input of the model go by '" + text + "'", "--feed",
                              "sonde info MODEL lists them");
    }
    if (asked.empty())
        for (const NamePair& names : kUsualPairs) SONDE_TRY(addPairs(document, names, pairs));
    std::ranges::sort(pairs, {}, &FedValue::input);
    return pairs;
}

Result<std::string> emptyState(const NamedNode& input, const graph::InternalGraph& graph) {
    const tensor::TypeInfo& type = graph.node(input.node).type;
    if (!type.isTensor() || !type.shape)
        return usageError("the shape of '" + input.name + "' is not known: give its first value", "--input-data");
    std::string sizes;
    const std::string batch = type.shape->empty() ? "" : type.shape->front().symbol;
    for (std::size_t axis = 0; axis < type.shape->size(); ++axis) {
        const tensor::Dim& dim = (*type.shape)[axis];
        const bool isBatch = axis == 0 || (!batch.empty() && dim.symbol == batch) || dim.symbol.starts_with("batch");
        const std::int64_t size = dim.known() ? dim.value : isBatch ? 1 : 0;
        sizes += "," + std::to_string(size);
    }
    return "#rand(0,0" + sizes + ")";
}

}  // namespace sonde::session
