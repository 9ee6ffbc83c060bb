#include "core/trace/overloads.h"

#include <algorithm>

#include "core/trace/error.h"
#include "core/trace/tracer.h"

namespace sonde::trace {

namespace {

using tensor::ValueKind;

ArgumentKind kindOf(ValueKind kind) {
    switch (kind) {
        case ValueKind::None: return ArgumentKind::None;
        case ValueKind::Bool: return ArgumentKind::Bool;
        case ValueKind::Int: return ArgumentKind::Int;
        case ValueKind::Float: return ArgumentKind::Float;
        case ValueKind::String: return ArgumentKind::String;
        case ValueKind::Tensor: return ArgumentKind::Tensor;
        default: return ArgumentKind::Other;
    }
}

ArgumentKind kindOf(const Var& var);

ArgumentKind kindOfList(const std::vector<ArgumentKind>& items) {
    const auto all = [&](ArgumentKind kind) {
        return std::ranges::all_of(items,
                                   [&](ArgumentKind each) { return each == kind || each == ArgumentKind::Unknown; });
    };
    if (items.empty() || all(ArgumentKind::Int)) return ArgumentKind::Ints;
    const bool anyTensor = std::ranges::find(items, ArgumentKind::Tensor) != items.end();
    return anyTensor ? ArgumentKind::Tensors : ArgumentKind::Other;
}

ArgumentKind kindOf(const tensor::Value& value) {
    if (value.kind() != ValueKind::List && value.kind() != ValueKind::Tuple) return kindOf(value.kind());
    std::vector<ArgumentKind> items;
    for (const tensor::Value& item : value.items()) items.push_back(kindOf(item));
    return kindOfList(items);
}

ArgumentKind kindOf(const Var& var) {
    switch (var.kind()) {
        case Var::Kind::Proxy: {
            // A tensor of one element selects as a number does, and is a tensor all the same.
            if (var.tracer().knowsValues() && var.tracer().recording().isTensor(var.node()))
                return ArgumentKind::Tensor;
            const auto kind = var.tracer().recording().kindOf(var.node());
            return kind ? kindOf(*kind) : ArgumentKind::Unknown;
        }
        case Var::Kind::Value: return kindOf(var.value());
        case Var::Kind::List:
        case Var::Kind::Tuple: {
            std::vector<ArgumentKind> items;
            for (const Var& item : var.items()) items.push_back(kindOf(item));
            return kindOfList(items);
        }
        default: return ArgumentKind::Other;
    }
}

std::string joined(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
}

}  // namespace

std::string resolvedOverload(const Function& function, const std::vector<Var>& arguments, const Keywords& keywords) {
    const std::string name(function.op);
    if (function.domain != "aten" || name.find('.') != std::string::npos) return name;
    const auto evaluator = EvaluatorScope::current();
    const auto* table = dynamic_cast<const OverloadTable*>(evaluator.get());
    if (!table) return name;
    std::vector<ArgumentKind> kinds;
    for (const Var& argument : arguments) kinds.push_back(kindOf(argument));
    // What has a row of its own is meant as it is, unless that takes fewer arguments, or a tensor where there is a
    // number.
    const std::size_t own = evaluator->parameterNames({"aten", name, 0}).size();
    const bool hasOut = std::ranges::any_of(keywords, [](const auto& entry) { return entry.first == "out"; });
    const bool hasNumber = kinds.size() > 1 && (kinds[1] == ArgumentKind::Int || kinds[1] == ArgumentKind::Float);
    if (hasOut || (own > 0 && arguments.size() <= own && !hasNumber)) return name;
    std::vector<std::pair<std::string, ArgumentKind>> named;
    for (const auto& [keyword, argument] : keywords) named.emplace_back(keyword, kindOf(argument));
    const std::vector<std::string> fitting = table->overloadsFor(name, kinds, named);
    if (fitting.size() == 1) return fitting.front();
    const std::vector<std::string> all = table->overloadsOf(name);
    if (all.empty() || own > 0) return name;  // whoever runs it says so
    if (fitting.empty())
        throw TraceError(TraceErrorKind::Type,
                         "no overload of aten::" + name + " takes these arguments; there are " + joined(all));
    throw TraceError(TraceErrorKind::Type, "aten::" + name + " may be " + joined(fitting) + " here: name the overload");
}

std::size_t outputsOfMethod(const Function& function, const Keywords& keywords) {
    const auto evaluator = EvaluatorScope::current();
    const auto* table = dynamic_cast<const OverloadTable*>(evaluator.get());
    const bool hasOut = std::ranges::any_of(keywords, [](const auto& entry) { return entry.first == "out"; });
    if (!table || hasOut || function.domain != "aten" || function.outputs > 1) return function.outputs;
    return table->outputsOf(function.op);
}

}  // namespace sonde::trace
