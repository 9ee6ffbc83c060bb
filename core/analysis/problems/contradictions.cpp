#include "core/analysis/problems/contradictions.h"

#include <algorithm>

namespace sonde::analysis {

using tensor::Dim;
using tensor::TypeInfo;

std::string contradiction(const TypeInfo& told, const TypeInfo& actual,
                          const std::unordered_map<std::string, std::int64_t>* sizes) {
    if (!told.isTensor() || !actual.isTensor()) return {};
    if (told.dtype != tensor::DType::Undefined && actual.dtype != tensor::DType::Undefined &&
        told.dtype != actual.dtype)
        return "its dtype is " + std::string(tensor::name(actual.dtype)) + " instead of " +
               std::string(tensor::name(told.dtype));
    if (!told.shape || !actual.shape) return {};
    if (told.shape->size() != actual.shape->size())
        return "it has " + std::to_string(actual.shape->size()) + " dimensions instead of " +
               std::to_string(told.shape->size());
    for (std::size_t i = 0; i < told.shape->size(); ++i) {
        const Dim &expected = (*told.shape)[i], &found = (*actual.shape)[i];
        if (!found.known()) continue;
        const auto named = sizes && !expected.symbol.empty() ? sizes->find(expected.symbol) : decltype(sizes->end())();
        const bool isNamed = sizes && !expected.symbol.empty() && named != sizes->end();
        if (!expected.known() && !isNamed) continue;
        const std::int64_t size = expected.known() ? expected.value : named->second;
        if (size == found.value) continue;
        return "dimension " + std::to_string(i) + " is " + std::to_string(found.value) + " instead of " +
               (expected.known() ? "" : expected.symbol + " = ") + std::to_string(size);
    }
    return {};
}

Contradictions::Contradictions(std::shared_ptr<const graph::InternalGraph> graph) : m_graph(std::move(graph)) {}

void Contradictions::bindInputs(std::span<const tensor::Value> inputs) {
    for (std::size_t i = 0; i < std::min(inputs.size(), m_graph->inputs().size()); ++i) {
        const TypeInfo& told = m_graph->node(m_graph->inputs()[i]).type;
        if (!inputs[i].isTensor()) continue;
        const TypeInfo actual = TypeInfo::of(inputs[i]);
        if (!contradiction(told, actual).empty()) m_types.emplace(m_graph->inputs()[i], actual);
        if (!told.shape || actual.shape->size() != told.shape->size()) continue;
        for (std::size_t k = 0; k < told.shape->size(); ++k)
            if (const Dim& dim = (*told.shape)[k]; !dim.known() && !dim.symbol.empty())
                m_sizes.try_emplace(dim.symbol, inputs[i].tensor().shape()[k]);
    }
}

void Contradictions::add(graph::ExprId id, std::span<const tensor::Value> outputs) {
    const graph::Expr& expr = m_graph->expr(id);
    if (expr.kind == graph::ExprKind::Input) return;  // refused before a run if it does not fit
    for (std::size_t i = 0; i < std::min(expr.outputs.size(), outputs.size()); ++i) {
        const TypeInfo& told = m_graph->node(expr.outputs[i]).type;
        if (!outputs[i].isTensor() || !told.isTensor() || m_types.contains(expr.outputs[i])) continue;
        const TypeInfo actual = TypeInfo::of(outputs[i]);
        if (!contradiction(told, actual, &m_sizes).empty()) m_types.emplace(expr.outputs[i], actual);
    }
}

}  // namespace sonde::analysis
