// How TracedModuleTracer records operations: what they give, and how they are called in a graph.

#include <algorithm>

#include "core/operators/traits.h"
#include "core/trace/traced_module/traced_module_tracer.h"

namespace sonde::trace {

using tensor::Value;
using tensor::ValueKind;
using Kind = TracedExpr::Kind;

namespace {

std::string stripped(std::string_view name) {
    while (name.size() > 1 && name.front() == '_') name.remove_prefix(1);
    while (name.size() > 1 && name.back() == '_') name.remove_suffix(1);
    return std::string(name);
}

/// "torch.nn.functional.relu" -> "functional.relu": a function and the last part of its module.
std::string shortTarget(std::string_view target) {
    std::size_t dot = target.rfind('.');
    if (dot == std::string_view::npos || dot == 0) return std::string(target);
    dot = target.rfind('.', dot - 1);
    return std::string(dot == std::string_view::npos ? target : target.substr(dot + 1));
}

/// Python's name of the method after an operator, and of the one that is called if only the right side is a tensor.
struct Method {
    std::string name;
    std::string reflected;
};

Method methodOf(std::string_view function) {
    if (function == "lt") return {"__lt__", "__gt__"};
    if (function == "gt") return {"__gt__", "__lt__"};
    if (function == "le") return {"__le__", "__ge__"};
    if (function == "ge") return {"__ge__", "__le__"};
    const std::string name(function);
    if (function == "eq" || function == "ne") return {"__" + name + "__", "__" + name + "__"};
    return {"__" + name + "__", "__r" + name + "__"};
}

}  // namespace

Var TracedModuleTracer::outputsOf(TracedExpr& expr, const Value& result, const std::string& base,
                                  const std::string& qualname, Structure& structure) {
    if (result.isTensor()) {
        structure.kind = Structure::Kind::Tensor;
        TracedNode* node = GraphBuilder(*frame().graph).addOutput(expr, base, qualname);
        GraphBuilder::setType(*node, tensor::TypeInfo::of(result));
        return varOf(node, result);
    }
    if (!containsTensor(result)) {
        structure = Structure::of(Operand(result));
        return Var(result);
    }
    std::vector<Var> items;
    if (result.kind() == ValueKind::Dict) {
        structure.kind = Structure::Kind::Dict;
        std::vector<Value> keys;
        for (const auto& [key, item] : result.dictItems()) keys.push_back(key);
        std::vector<std::pair<Value, Var>> entries;
        for (std::size_t i : sortedKeys(keys)) {
            structure.keys.push_back(keys[i]);
            const Value& item = result.dictItems()[i].second;
            entries.emplace_back(keys[i], outputsOf(expr, item, base, qualname, structure.items.emplace_back()));
        }
        return Var::dict(std::move(entries));
    }
    const bool isTuple = result.kind() == ValueKind::Tuple;
    structure.kind = isTuple ? Structure::Kind::Tuple : Structure::Kind::List;
    for (const Value& item : result.items())
        items.push_back(outputsOf(expr, item, base, qualname, structure.items.emplace_back()));
    return isTuple ? Var::tuple(std::move(items)) : Var::list(std::move(items));
}

Var TracedModuleTracer::numberOutput(TracedExpr& expr, const Value& result, const std::string& base,
                                     const std::string& qualname, Structure& structure) {
    structure.kind = Structure::Kind::Number;
    TracedNode* node = GraphBuilder(*frame().graph).addOutput(expr, base, qualname);
    GraphBuilder::setType(*node, tensor::TypeInfo::of(result));
    return varOf(node, result);
}

/// However it was asked (`x.shape`, `x.size()`, `len(x)`), it is an Apply of the operator that answers it.
Var TracedModuleTracer::recordSizeQuery(graph::OpKey op, std::vector<Var> arguments, Keywords keywords) {
    if (operators::traitsOf(op.domain, op.name).opClass == operators::OpClass::GetAttr) {
        op = {"aten", arguments[1].value().toString() == "shape" ? "size" : "dim", 0};
        arguments.resize(1);
    }
    const std::string name = op.name.substr(0, op.name.find('.'));
    return record(graph::ExprKind::Apply, std::move(op), name, name, std::move(arguments), std::move(keywords), false,
                  1);
}

Var TracedModuleTracer::unknownOutput(TracedExpr& expr, const std::string& base, const std::string& qualname) {
    return varOf(GraphBuilder(*frame().graph).addOutput(expr, base, qualname), std::nullopt);
}

void TracedModuleTracer::checkAgain(const graph::OpKey& op, const std::vector<Value>& values,
                                    const std::vector<std::pair<std::string, Value>>& named, std::size_t outputs,
                                    const std::vector<Value>& results, const std::string& what) {
    auto again = EvaluatorScope::current()->evaluate(op, values, named, outputs);
    if (!again) throw TraceError(TraceErrorKind::Assertion, what + " failed when run again: " + again.error().text());
    for (std::size_t i = 0; i < results.size(); ++i) {
        if (const auto same = compareResults(results[i], (*again)[i], 1e-7); !same) {
            throw TraceError(TraceErrorKind::Assertion,
                             what + " returns different values when run again: " + same.error().what);
        }
    }
}

Var TracedModuleTracer::record(graph::ExprKind kind, graph::OpKey op, std::string target, std::string_view candidate,
                               std::vector<Var> arguments, Keywords keywords, bool, std::size_t outputs) {
    TracedOperation operation{op, std::string(candidate), target, kind == graph::ExprKind::CallMethod, false, outputs};
    const auto evaluator = EvaluatorScope::current();
    std::vector<Value> values;
    std::vector<std::pair<std::string, Value>> named;
    bool isUnknown = !evaluator;
    for (const Var& var : arguments) {
        isUnknown = isUnknown || hasUnknown(var);
        values.push_back(valueIn(var));
    }
    for (const auto& [name, var] : keywords) {
        isUnknown = isUnknown || hasUnknown(var);
        named.emplace_back(name, valueIn(var));
    }
    std::optional<Value> result;
    if (op.domain == "wrap" && !isUnknown) {
        std::vector<Var> in(values.begin(), values.end());
        const PausedTracing paused;
        result = (*wrappedFunction(op.name))(in).toValue();
    } else if (!isUnknown) {
        auto results = evaluator->evaluate(op, values, named, outputs);
        if (!results) throw TraceError(TraceErrorKind::Runtime, std::string(candidate) + ": " + results.error().text());
        if (m_options.checkExprs) checkAgain(op, values, named, outputs, *results, std::string(candidate));
        result = outputs == 1 ? std::move(results->front()) : Value::tuple(std::move(*results));
    }
    // Numbers that are read from tensors are constants of the program, as everything that is no tensor; sizes are not.
    const bool isPlain = result && !containsTensor(*result);
    const bool isCheck =
        isPlain && m_options.guardsData && operators::traitsOf(op.domain, op.name).is(operators::Trait::Effect);
    const bool isSize = isPlain && !isCheck && dependsOnSize(op, arguments, keywords);
    const bool isRead = isPlain && !isCheck && !isSize && result->isNumber() && m_options.guardsData &&
                        readsData(op, arguments, keywords);
    if (isPlain && !isCheck && !isSize && !isRead) return Var(*result);
    if (isSize && isSizeQuery(op, arguments) && kind != graph::ExprKind::Apply && !hasNumber(arguments.front())) {
        return recordSizeQuery(std::move(op), std::move(arguments), std::move(keywords));
    }

    const bool isOperator = target.starts_with("operator.");
    if (isOperator) {
        const Method method = methodOf(candidate);
        const auto isTensorVar = [&](const Var& var) {
            return var.isProxy() || (var.kind() == Var::Kind::Value && var.value().isTensor());
        };
        operation.swapped = arguments.size() == 2 && !isTensorVar(arguments[0]);
        target = operation.swapped ? method.reflected : method.name;
        if (operation.swapped) std::swap(arguments[0], arguments[1]);
    } else if (kind == graph::ExprKind::CallFunction) {
        target = shortTarget(target);
    }
    const Kind as = isOperator || kind == graph::ExprKind::CallMethod ? Kind::CallMethod
                    : kind == graph::ExprKind::Apply                  ? Kind::Apply
                                                                      : Kind::CallFunction;
    std::vector<Operand> args;
    for (const Var& var : arguments) args.push_back(operandOf(var));
    std::vector<std::pair<std::string, Operand>> namedArgs;
    for (const auto& [name, var] : keywords) namedArgs.emplace_back(name, operandOf(var));
    const std::string display = as == Kind::CallMethod ? stripped(target) : std::string(candidate);
    const std::string graphName = frame().graph->qualname();
    const std::string tag = as == Kind::CallMethod ? "method" : as == Kind::Apply ? "def" : "func";
    std::string base = display + "_out";
    if (as == Kind::Apply)
        std::ranges::transform(base, base.begin(),
                               [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    const std::string qualname = graphName + ".[" + tag + '_' + display + ']';
    TracedExpr* expr = GraphBuilder(*frame().graph)
                           .addCall(as, std::move(target), std::move(args), std::move(namedArgs), std::move(operation));
    if (!result) return unknownOutput(*expr, base, qualname);
    Structure structure;
    if (isCheck) {
        expr->disableRemove();
        structure.kind = Structure::Kind::Tuple;
        GraphBuilder::setOutDef(*expr, std::move(structure));
        return Var(*result);
    }
    const Var made = isPlain ? numberOutput(*expr, *result, base, qualname, structure)
                             : outputsOf(*expr, *result, base, qualname, structure);
    GraphBuilder::setOutDef(*expr, std::move(structure));
    if (!isRead) return made;
    TracedNode& number = *nodeOf(made);
    m_read.insert(&number);
    addGuard(number, plainUseOf(*result), *result);
    return Var(*result);
}

}  // namespace sonde::trace
