#include <algorithm>

#include "core/analysis/inference.h"
#include "core/ops/support/common_type.h"

namespace sonde::analysis {

using graph::Argument;
using graph::Body;
using graph::BodyId;
using graph::Expr;
using tensor::Dim;
using tensor::DType;
using tensor::Symbolic;
using tensor::TypeInfo;
using tensor::Value;
using tensor::ValueKind;

namespace {

/// A loop's body is inferred until its carried types no longer change, at most so often; deeper inside loops once.
constexpr int kMaxPasses = 4;
constexpr int kMaxRepeatedDepth = 3;
/// Loops that are gone through pass by pass.
constexpr std::int64_t kMaxUnrolled = 64, kMaxUnrolledExprs = 1024;
constexpr int kMaxUnrolledDepth = 2;

}  // namespace

void Inference::inferBranches(const Expr& expr, int depth) {
    if (expr.bodies.size() != 2 || expr.arguments.empty()) {
        for (BodyId body : expr.bodies) inferBody(body, depth + 1);
        return;
    }
    std::size_t first = 0, second = 1;
    const Value condition = knownOf(expr.arguments.front()).value;
    if (const auto isTrue = toBool(condition)) first = second = branchOf(expr, *isTrue);
    for (std::size_t i = 0; i < 2; ++i) {
        // What never runs is nothing to report.
        base::Diagnostics* const findings = m_findings;
        base::Diagnostics ofDead;
        if (first == second && i != first) m_findings = &ofDead;
        inferBody(expr.bodies[i], depth + 1);
        m_findings = findings;
    }
    const Body &one = m_graph.body(expr.bodies[first]), &other = m_graph.body(expr.bodies[second]);
    for (std::size_t i = 0; i < expr.outputs.size() && i < one.outputs.size() && i < other.outputs.size(); ++i) {
        const TypeInfo &oneType = m_graph.node(one.outputs[i]).type, &otherType = m_graph.node(other.outputs[i]).type;
        Known known = m_known[one.outputs[i].index()];
        if (first != second)
            known = {{},
                     {},
                     known.isWhole && m_known[other.outputs[i].index()].isWhole &&
                         oneType.elements.size() == otherType.elements.size()};
        settle(expr.outputs[i], ops::commonType(oneType, otherType), std::move(known));
    }
}

void Inference::inferConditional(const Expr& expr, int depth) {
    std::optional<TypeInfo> both;
    for (BodyId id : expr.bodies) {
        const Body& body = m_graph.body(id);
        for (std::size_t i = 0;
             expr.arguments.size() > 3 && i < body.inputs.size() && i < expr.arguments[3].items.size(); ++i)
            settle(body.inputs[i], typeOf(expr.arguments[3].items[i]), knownOf(expr.arguments[3].items[i]));
        inferBody(id, depth + 1);
        const TypeInfo type = resultOf(body);
        both = both ? ops::commonType(*both, type) : type;
    }
    if (both && expr.outputs.size() == 1) settle(expr.outputs.front(), *both, {});
}

TypeInfo Inference::resultOf(const Body& body) const {
    return body.outputs.size() == 1 ? m_graph.node(body.outputs.front()).type : typeOf(body.result);
}

std::optional<bool> Inference::toBool(const Value& value) {
    if (value.isNumber()) return value.number() != 0;
    if (value.isTensor() && value.tensor().numel() == 1 && value.tensor().dtype() != DType::String)
        return value.tensor().toDouble(0) != 0;
    return std::nullopt;
}

std::size_t Inference::branchOf(const Expr& expr, bool holds) {
    const auto* value = expr.attributes.find(holds ? "then_branch" : "else_branch");
    const std::size_t fallback = holds ? 0 : 1;
    if (expr.op.domain == "prim" || !value || !std::holds_alternative<tensor::BodyRef>(*value)) return fallback;
    return std::min<std::size_t>(std::get<tensor::BodyRef>(*value).index, 1);
}

std::vector<TypeInfo> Inference::inferRepeated(const Body& body, std::vector<TypeInfo> carried, std::size_t firstInput,
                                               std::size_t firstResult, int depth) {
    base::Diagnostics* const findings = m_findings;
    ++m_loops;
    const int passes = m_loops > kMaxRepeatedDepth ? 1 : kMaxPasses;
    for (int pass = 1; pass <= passes; ++pass) {
        if (pass == passes) {
            for (TypeInfo& type : carried) {
                type.shape.reset();
                for (TypeInfo& element : type.elements) element.shape.reset();
            }
        }
        base::Diagnostics ofPass;
        m_findings = &ofPass;
        for (std::size_t i = 0; i < carried.size() && firstInput + i < body.inputs.size(); ++i)
            settle(body.inputs[firstInput + i], carried[i], {});
        inferBody(body.id, depth + 1);
        bool isStable = true;
        for (std::size_t i = 0; i < carried.size() && firstResult + i < body.outputs.size(); ++i) {
            const TypeInfo both = ops::commonType(carried[i], m_graph.node(body.outputs[firstResult + i]).type);
            if (both != carried[i]) isStable = false;
            carried[i] = both;
        }
        if (isStable || pass == passes) {
            findings->insert(findings->end(), ofPass.begin(), ofPass.end());
            break;
        }
    }
    m_findings = findings;
    --m_loops;
    return carried;
}

void Inference::inferLoop(const Expr& expr, int depth) {
    const Body& body = m_graph.body(expr.bodies.front());
    const bool isScript = expr.op.domain == "prim";
    std::vector<TypeInfo> carried;
    for (std::size_t i = 2; i < expr.arguments.size(); ++i) carried.push_back(typeOf(expr.arguments[i]));
    const auto exact = isScript ? passByPass(expr, body, depth) : std::nullopt;
    if (!body.inputs.empty())
        settle(body.inputs[0], isScript ? kindOf(ValueKind::Int) : TypeInfo::tensor(DType::Int64, Dims{}), {});
    if (body.inputs.size() > 1) {
        // The body runs only while the condition holds.
        const Value yes = isScript ? Value::ofBool(true) : Value(tensor::Tensor::scalar<bool>(true));
        const TypeInfo declared = m_declared[body.inputs[1].index()];
        settle(body.inputs[1], declared.shape ? declared : TypeInfo::of(yes), {yes, {}});
    }
    carried = inferRepeated(body, std::move(carried), 2, 1, depth);
    for (std::size_t i = 0; i < expr.outputs.size() && i < carried.size(); ++i) {
        if (exact && i < exact->size()) settle(expr.outputs[i], (*exact)[i].first, (*exact)[i].second);
        else settle(expr.outputs[i], carried[i], {});
    }
    for (std::size_t i = carried.size(); i < expr.outputs.size() && i + 1 < body.outputs.size(); ++i) {
        settle(expr.outputs[i], stacked(m_graph.node(body.outputs[i + 1]).type, tripCount(expr, body).dim(), 0), {});
    }
}

auto Inference::passByPass(const Expr& expr, const Body& body, int depth)
    -> std::optional<std::vector<std::pair<TypeInfo, Known>>> {
    if (expr.arguments.size() < 2 || body.inputs.size() != expr.arguments.size() ||
        body.outputs.size() + 1 != body.inputs.size())
        return std::nullopt;
    const Value trips = knownOf(expr.arguments[0]).value;
    if (trips.kind() != ValueKind::Int || toBool(knownOf(expr.arguments[1]).value) != true ||
        m_loops >= kMaxUnrolledDepth)
        return std::nullopt;
    if (trips.toInt() < 0 || trips.toInt() > kMaxUnrolled ||
        trips.toInt() * static_cast<std::int64_t>(body.order.size()) > kMaxUnrolledExprs)
        return std::nullopt;
    std::vector<std::pair<TypeInfo, Known>> carried;
    for (std::size_t i = 2; i < expr.arguments.size(); ++i)
        carried.emplace_back(typeOf(expr.arguments[i]), knownOf(expr.arguments[i]));
    base::Diagnostics* const findings = m_findings;
    base::Diagnostics ofPasses;
    m_findings = &ofPasses;
    ++m_loops;
    bool goesOn = true;
    for (std::int64_t pass = 0; pass < trips.toInt() && goesOn; ++pass) {
        settle(body.inputs[0], kindOf(ValueKind::Int), {Value::ofInt(pass), {}, false});
        settle(body.inputs[1], kindOf(ValueKind::Bool), {Value::ofBool(true), {}, false});
        for (std::size_t i = 0; i < carried.size(); ++i)
            settle(body.inputs[i + 2], carried[i].first, carried[i].second);
        inferBody(body.id, depth + 1);
        for (std::size_t i = 0; i < carried.size(); ++i)
            carried[i] = {m_graph.node(body.outputs[i + 1]).type, m_known[body.outputs[i + 1].index()]};
        goesOn = toBool(m_known[body.outputs[0].index()].value) == true;
    }
    --m_loops;
    m_findings = findings;
    if (!goesOn) return std::nullopt;
    return carried;
}

Symbolic Inference::tripCount(const Expr& expr, const Body& body) const {
    const bool goesOn = !body.outputs.empty() && toBool(m_known[body.outputs[0].index()].value) == true;
    const bool begins = expr.arguments.size() < 2 || expr.arguments[1].kind == Argument::Kind::Omitted ||
                        toBool(knownOf(expr.arguments[1]).value) == true;
    if (!goesOn || !begins || expr.arguments.empty()) return {};
    const auto trips = elementsOf(expr.arguments[0]);
    return trips && trips->size() == 1 ? larger(trips->front(), Symbolic::of(std::int64_t{0})) : Symbolic();
}

void Inference::inferScan(const Expr& expr, int depth) {
    const Body& body = m_graph.body(expr.bodies.front());
    const std::int64_t count = expr.attributes.getInt("num_scan_inputs", 0);
    if (count < 1 || count > static_cast<std::int64_t>(expr.arguments.size())) return;
    const std::size_t states = expr.arguments.size() - static_cast<std::size_t>(count);
    const std::vector<std::int64_t> inputAxes = expr.attributes.getInts("scan_input_axes"),
                                    outputAxes = expr.attributes.getInts("scan_output_axes");
    std::vector<TypeInfo> carried;
    for (std::size_t i = 0; i < states; ++i) carried.push_back(typeOf(expr.arguments[i]));
    Dim length;
    for (std::size_t i = states; i < expr.arguments.size() && i < body.inputs.size(); ++i) {
        TypeInfo type = typeOf(expr.arguments[i]);
        if (type.shape) {
            const auto axis =
                tensor::normalizedAxis(i - states < inputAxes.size() ? inputAxes[i - states] : 0, type.shape->size());
            if (!axis) return;
            const Dim& own = (*type.shape)[*axis];
            if (own.known() || (!length.known() && length.symbol.empty())) length = own;
            type.shape->erase(type.shape->begin() + static_cast<std::ptrdiff_t>(*axis));
        }
        settle(body.inputs[i], type, {});
    }
    carried = inferRepeated(body, std::move(carried), 0, 0, depth);
    for (std::size_t i = 0; i < expr.outputs.size() && i < body.outputs.size(); ++i) {
        if (i < carried.size()) {
            settle(expr.outputs[i], carried[i], {});
            continue;
        }
        const std::int64_t axis = i - states < outputAxes.size() ? outputAxes[i - states] : 0;
        settle(expr.outputs[i], stacked(m_graph.node(body.outputs[i]).type, length, axis), {});
    }
}

void Inference::inferScanByBatch(const Expr& expr, int depth) {
    const Body& body = m_graph.body(expr.bodies.front());
    const std::int64_t count = expr.attributes.getInt("num_scan_inputs", 0);
    if (count < 1 || count >= static_cast<std::int64_t>(expr.arguments.size())) return;
    const std::size_t states = expr.arguments.size() - 1 - static_cast<std::size_t>(count);
    std::vector<TypeInfo> carried;
    Dim batch, length;
    const auto takeFront = [](TypeInfo& type, Dim& into) {
        if (!type.shape || type.shape->empty()) return type.shape.reset();
        const Dim& own = type.shape->front();
        if (own.known() || (!into.known() && into.symbol.empty())) into = own;
        type.shape->erase(type.shape->begin());
    };
    for (std::size_t i = 0; i + 1 < expr.arguments.size() && i < body.inputs.size(); ++i) {
        TypeInfo type = typeOf(expr.arguments[i + 1]);
        takeFront(type, batch);
        if (i < states) {
            carried.push_back(std::move(type));
            continue;
        }
        takeFront(type, length);
        settle(body.inputs[i], type, {});
    }
    carried = inferRepeated(body, std::move(carried), 0, 0, depth);
    for (std::size_t i = 0; i < expr.outputs.size() && i < body.outputs.size(); ++i) {
        TypeInfo type = i < carried.size() ? carried[i] : stacked(m_graph.node(body.outputs[i]).type, length, 0);
        settle(expr.outputs[i], stacked(std::move(type), batch, 0), {});
    }
}

void Inference::inferMap(const Expr& expr, int depth) {
    const Body& body = m_graph.body(expr.bodies.front());
    for (std::size_t i = 0; i < expr.arguments.size() && i < body.inputs.size(); ++i) {
        TypeInfo type = typeOf(expr.arguments[i]);
        if (type.kind == ValueKind::Sequence)
            type = type.elements.empty() ? TypeInfo{} : TypeInfo(type.elements.front());
        settle(body.inputs[i], type, {});
    }
    inferBody(body.id, depth + 1);
    for (std::size_t i = 0; i < expr.outputs.size() && i < body.outputs.size(); ++i) {
        TypeInfo type = kindOf(ValueKind::Sequence);
        type.elements = {m_graph.node(body.outputs[i]).type};
        settle(expr.outputs[i], type, {});
    }
}

void Inference::inferCall(const Expr& expr, int depth) {
    const Body& body = m_graph.body(expr.bodies.front());
    for (std::size_t i = 0; i < body.inputs.size() && i < expr.inputs.size(); ++i) {
        settle(body.inputs[i], m_graph.node(expr.inputs[i]).type, m_known[expr.inputs[i].index()]);
    }
    inferBody(body.id, depth + 1);
    if (expr.outputs.size() == 1) {
        settle(expr.outputs.front(), typeOf(body.result), knownOf(body.result));
        return;
    }
    for (std::size_t i = 0; i < expr.outputs.size() && i < body.outputs.size(); ++i) {
        settle(expr.outputs[i], m_graph.node(body.outputs[i]).type, m_known[body.outputs[i].index()]);
    }
}

}  // namespace sonde::analysis
