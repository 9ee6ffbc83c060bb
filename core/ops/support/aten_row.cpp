// Reads operator schemas as torch prints them (native_functions.yaml syntax).

#include <cassert>

#include "core/base/number_text.h"
#include "core/base/trimmed.h"
#include "core/ops/support/row.h"

namespace sonde::ops {

namespace {

/// Splits at commas that stand outside brackets.
std::vector<std::string_view> splitOutside(std::string_view text) {
    std::vector<std::string_view> parts;
    int depth = 0;
    std::size_t start = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '(' || text[i] == '[') ++depth;
        if (text[i] == ')' || text[i] == ']') --depth;
        if (text[i] == ',' && depth == 0) {
            parts.push_back(base::trimmed(text.substr(start, i - start)));
            start = i + 1;
        }
    }
    if (const std::string_view last = base::trimmed(text.substr(start)); !last.empty()) parts.push_back(last);
    return parts;
}

Value parseDefault(std::string_view text) {
    if (text == "None") return Value();
    if (text == "True" || text == "False") return Value::ofBool(text == "True");
    if (text == "Mean") return Value::ofInt(1);  // at::Reduction
    if (text == "long") return Value::ofInt(4);  // at::ScalarType
    if (text == "contiguous_format") return Value::ofInt(0);
    if (text.front() == '[') {
        tensor::ValueList items;
        for (std::string_view item : splitOutside(text.substr(1, text.size() - 2))) items.push_back(parseDefault(item));
        return Value::list(std::move(items));
    }
    if (text.front() == '"' || text.front() == '\'') return Value(std::string(text.substr(1, text.size() - 2)));
    if (const auto whole = base::parseNumber<std::int64_t>(text)) return Value::ofInt(*whole);
    const std::optional<double> number = base::parseNumber<double>(text);
    assert(number);
    return Value::ofFloat(*number);
}

/// "Tensor(a!) self" or "int[2] stride=1" → type without alias marks, name, default.
Parameter parseParameter(std::string_view text, bool keywordOnly) {
    Parameter parameter;
    parameter.keywordOnly = keywordOnly;
    // The default follows the last '=' that is not inside brackets; no default of a schema has one itself.
    if (const std::size_t equals = text.find('='); equals != std::string_view::npos) {
        parameter.fallback = parseDefault(text.substr(equals + 1));
        text = text.substr(0, equals);
    }
    const std::size_t space = text.rfind(' ');
    parameter.name = base::trimmed(text.substr(space + 1));
    parameter.type = base::trimmed(text.substr(0, space));
    if (parameter.type.starts_with("Tensor(") && parameter.type.back() == ')')
        parameter.type = parameter.type.substr(0, 6);
    return parameter;
}

}  // namespace

OpDef atenRow(std::string_view schema, std::string_view summary, Category category,
              std::function<base::Result<void>(KernelContext&)> kernel,
              std::function<base::Result<void>(InferContext&)> infer) {
    OpDef def;
    def.domain = "aten";
    def.since = 0;  // ATen has no opset versions
    def.summary = summary;
    def.category = category;
    const std::size_t open = schema.find('(');
    const std::size_t arrow = schema.rfind(" -> ");
    assert(open != std::string_view::npos && arrow != std::string_view::npos);
    def.name = schema.substr(0, open);
    const std::size_t close = schema.rfind(')', arrow);
    bool keywordOnly = false;
    for (std::string_view part : splitOutside(schema.substr(open + 1, close - open - 1))) {
        if (part == "*") keywordOnly = true;
        else def.parameters.push_back(parseParameter(part, keywordOnly));
    }
    for (const Parameter& parameter : def.parameters) {
        def.inputs.push_back({parameter.name, kAnyDType, parameter.fallback ? Arity::Optional : Arity::One, false, {}});
    }
    std::string_view results = base::trimmed(schema.substr(arrow + 4));
    if (results.starts_with("(")) results = results.substr(1, results.size() - 2);
    for (std::string_view part : splitOutside(results)) {
        def.outputs.push_back({part, kAnyDType, Arity::One, false, {}});
    }
    def.kernel = std::move(kernel);
    def.infer = std::move(infer);
    return def;
}

}  // namespace sonde::ops
