#include <algorithm>
#include <cmath>
#include <map>

#include "core/analysis/model_summary.h"
#include "core/analysis/node_measures.h"
#include "core/analysis/parameters.h"
#include "core/analysis/query/query_term.h"
#include "core/analysis/reach.h"
#include "core/analysis/tensor_stats.h"
#include "core/base/unicode.h"

namespace sonde::analysis {

using graph::Expr;
using graph::ExprId;
using graph::ExprKind;
using graph::InternalGraph;
using graph::Node;
using graph::NodeId;
using tensor::Value;

namespace {

/// Texts of a file may be megabytes long; what a person searches for stands at their beginning.
constexpr std::size_t kMaxTextLength = 4096;

/// '*' any text, '?' any one code point. Linear but for backtracking to the last '*'.
bool fitsWildcards(std::string_view pattern, std::string_view text) {
    std::size_t p = 0, t = 0, star = std::string_view::npos, mark = 0;
    while (t < text.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            mark = t;
        } else if (p < pattern.size() && pattern[p] == '?') {
            ++p, t += base::firstCodePoint(text.substr(t)).bytes;
        } else if (p < pattern.size() && pattern[p] == text[t]) {
            ++p, ++t;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            t = mark += base::firstCodePoint(text.substr(mark)).bytes;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*') ++p;
    return p == pattern.size();
}

/// "Conv2d" of "torch.nn.modules.conv.Conv2d".
std::string_view lastPart(std::string_view dotted) { return dotted.substr(dotted.rfind('.') + 1); }

const std::string& operatorName(const Expr& expr) {
    static const std::string kInput = "Input", kOutput = "Output";
    if (expr.kind == ExprKind::Input) return kInput;
    if (expr.kind == ExprKind::Output) return kOutput;
    if (expr.kind == ExprKind::CallModule && !expr.moduleClass.empty()) return expr.moduleClass;
    return expr.op.name.empty() ? expr.target : expr.op.name;
}

bool isConstant(const Expr& expr) { return expr.kind == ExprKind::Constant || expr.kind == ExprKind::GetAttr; }

using Bits = std::vector<bool>;  // by NodeId

class Matcher {
  public:
    Matcher(const InternalGraph& graph, const QueryFacts& facts) : m_graph(graph), m_facts(facts) {}

    /// Which of the candidates fit.
    Bits match(const QueryTerm& term, const Bits& candidates) {
        switch (term.kind) {
            case QueryTerm::Kind::And: {
                Bits left = candidates;
                for (const auto& part : term.parts) left = match(*part, left);
                return left;
            }
            case QueryTerm::Kind::Or: {
                Bits found(candidates.size(), false), open = candidates;
                for (const auto& part : term.parts) {
                    const Bits more = match(*part, open);
                    for (std::size_t i = 0; i < more.size(); ++i)
                        if (more[i]) found[i] = true, open[i] = false;
                }
                return found;
            }
            case QueryTerm::Kind::Not: {
                const Bits fits = match(*term.parts.front(), candidates);
                Bits rest = candidates;
                for (std::size_t i = 0; i < rest.size(); ++i)
                    if (fits[i]) rest[i] = false;
                return rest;
            }
            case QueryTerm::Kind::Relation: return related(term, candidates);
            case QueryTerm::Kind::Field: break;
        }
        Bits found(candidates.size(), false);
        for (std::size_t i = 0; i < candidates.size(); ++i)
            if (candidates[i]) found[i] = fits(term, NodeId(i));
        return found;
    }

  private:
    const Expr& producer(NodeId id) const { return m_graph.expr(m_graph.node(id).producer); }

    Bits related(const QueryTerm& term, const Bits& candidates) {
        Bits all(candidates.size(), false);
        for (std::size_t i = 0; i < all.size(); ++i) all[i] = !m_graph.isErased(m_graph.node(NodeId(i)).producer);
        const Bits seeds = match(*term.parts.front(), all);
        std::vector<ExprId> from;
        for (std::size_t i = 0; i < seeds.size(); ++i)
            if (seeds[i]) from.push_back(m_graph.node(NodeId(i)).producer);
        const bool up = term.relation != QueryRelation::OutputsOf && term.relation != QueryRelation::DownstreamOf;
        const bool down = term.relation == QueryRelation::Near || !up;
        Bits found(candidates.size(), false);
        for (const Flow flow : {Flow::Upstream, Flow::Downstream}) {
            if (flow == Flow::Upstream ? !up : !down) continue;
            const std::vector<std::uint32_t> distance = distances(m_graph, from, flow, term.distance);
            for (std::size_t i = 0; i < found.size(); ++i) {
                if (!candidates[i] || seeds[i]) continue;
                if (distance[m_graph.node(NodeId(i)).producer.index()] != kUnreached) found[i] = true;
            }
        }
        return found;
    }

    bool fits(const QueryTerm& term, NodeId id) {
        const Node& node = m_graph.node(id);
        const Expr& expr = m_graph.expr(node.producer);
        if (!term.condition.empty()) return fitsCondition(term.condition, id);
        switch (term.field) {
            case QueryField::Number: return static_cast<double>(id.value) == term.number;
            case QueryField::Attribute: return fitsAttribute(term, expr);
            case QueryField::Shape: return fitsShape(term, id) != (term.compare == QueryCompare::Unequal);
            case QueryField::Any:
                return term.pattern.fits(node.name) || (expr.qualname && term.pattern.fits(*expr.qualname)) ||
                       fitsOperator(term.pattern, expr) || term.pattern.fits(expr.name) ||
                       term.pattern.fits(expr.moduleClass);
            default: return fitsText(term, id, node, expr) != (term.compare == QueryCompare::Unequal);
        }
    }

    static bool fitsOperator(const TextPattern& pattern, const Expr& expr) {
        return pattern.fits(operatorName(expr)) || pattern.fits(lastPart(operatorName(expr))) ||
               pattern.fits(expr.op.name);
    }

    bool fitsText(const QueryTerm& term, NodeId id, const Node& node, const Expr& expr) {
        const TextPattern& pattern = term.pattern;
        switch (term.field) {
            case QueryField::Name: return pattern.fits(node.name);
            case QueryField::Op: return fitsOperator(pattern, expr);
            case QueryField::Module: return expr.qualname && pattern.fits(*expr.qualname);
            case QueryField::Class: return pattern.fits(expr.moduleClass) || pattern.fits(lastPart(expr.moduleClass));
            case QueryField::DType: return fitsDType(pattern, id);
            case QueryField::Kind: return pattern.fits(graph::name(expr.kind));
            case QueryField::Domain: return pattern.fits(expr.op.domain.empty() ? "ai.onnx" : expr.op.domain);
            case QueryField::Source: {
                const graph::SourcePlace place = expr.source.place();
                return pattern.fits(place.text()) || pattern.fits(place.stack);
            }
            case QueryField::Category: return pattern.fits(category(expr));
            case QueryField::Is: return fitsState(pattern.text, id, node, expr);
            default: return false;
        }
    }

    bool fitsDType(const TextPattern& pattern, NodeId id) const {
        const Value* value = valueOf(id);
        const tensor::TypeInfo& type = m_graph.node(id).type;
        if (value)
            return pattern.fits(value->isTensor() ? tensor::name(value->tensor().dtype())
                                                  : tensor::name(value->kind()));
        if (type.dtype != tensor::DType::Undefined) return pattern.fits(tensor::name(type.dtype));
        return type.kind && pattern.fits(tensor::name(*type.kind));
    }

    std::string_view category(const Expr& expr) {
        const auto key = std::pair(expr.op.domain, expr.op.name);
        const auto [found, isNew] = m_categories.try_emplace(key);
        if (isNew) {
            const ops::OpDef* def = definitionOf(expr);
            found->second = def ? base::foldCase(ops::name(def->category)) : std::string();
        }
        return found->second;
    }

    bool fitsState(const std::string& state, NodeId id, const Node& node, const Expr& expr) {
        if (state == "input") return expr.kind == ExprKind::Input;
        if (state == "output") return isOutput(id);
        if (state == "constant") return isConstant(expr) && !expr.isParameter;
        if (state == "weight") return isConstant(expr) && expr.isParameter;
        if (state == "inferred") return m_graph.scope(expr.scope).inferred;
        if (state == "watched") return m_facts.watched && m_facts.watched(id);
        if (state == "reached") return m_facts.recording && m_facts.recording->computed(id);
        return node.users.empty() && !isOutput(id);  // unused
    }

    bool isOutput(NodeId id) const {
        const auto& outputs = m_graph.outputs();
        return std::find(outputs.begin(), outputs.end(), id) != outputs.end();
    }

    const Value* valueOf(NodeId id) const {
        if (m_facts.value)
            if (const Value* value = m_facts.value(id)) return value;
        const auto& constant = m_graph.node(id).constant;
        return constant ? &*constant : nullptr;
    }

    // --- shapes -----------------------------------------------------------------------------------------------------

    bool fitsShape(const QueryTerm& term, NodeId id) const {
        std::vector<tensor::Dim> dims;
        if (const Value* value = valueOf(id)) {
            if (!value->isTensor()) return false;
            for (const std::int64_t dimSize : value->tensor().shape().dims()) dims.push_back(tensor::Dim::of(dimSize));
        } else if (m_graph.node(id).type.shape) {
            dims = *m_graph.node(id).type.shape;
        } else {
            return false;
        }
        if (term.anyDimSize)
            return std::any_of(dims.begin(), dims.end(),
                               [&](const auto& dim) { return fitsDimSize(term.dimSizes.front(), dim); });
        const auto rest = std::find_if(term.dimSizes.begin(), term.dimSizes.end(), [](const DimSizePattern& dimSize) {
            return dimSize.kind == DimSizePattern::Kind::Rest;
        });
        const auto before = static_cast<std::size_t>(rest - term.dimSizes.begin());
        const std::size_t after = rest == term.dimSizes.end() ? 0 : term.dimSizes.size() - before - 1;
        if (rest == term.dimSizes.end() ? dims.size() != before : dims.size() < before + after) return false;
        for (std::size_t i = 0; i < before; ++i)
            if (!fitsDimSize(term.dimSizes[i], dims[i])) return false;
        for (std::size_t i = 0; i < after; ++i)
            if (!fitsDimSize(term.dimSizes[term.dimSizes.size() - 1 - i], dims[dims.size() - 1 - i])) return false;
        return true;
    }

    static bool fitsDimSize(const DimSizePattern& dimSize, const tensor::Dim& dim) {
        switch (dimSize.kind) {
            case DimSizePattern::Kind::Any:
            case DimSizePattern::Kind::Rest: return true;
            case DimSizePattern::Kind::Symbol: return !dim.known() && base::foldCase(dim.symbol) == dimSize.symbol;
            case DimSizePattern::Kind::Number: break;
        }
        return dim.known() &&
               compares(static_cast<double>(dim.value), dimSize.compare, static_cast<double>(dimSize.number));
    }

    // --- attributes -------------------------------------------------------------------------------------------------

    static bool fitsAttribute(const QueryTerm& term, const Expr& expr) {
        for (const tensor::Attribute& attribute : expr.attributes.items())
            if (fitsWildcards(term.attribute, base::foldCase(attribute.name)) &&
                (!term.wantsValue || fitsValue(term, attribute.value)))
                return true;
        for (const auto& [name, argument] : expr.keywords) {
            if (argument.kind != graph::Argument::Kind::Constant ||
                !fitsWildcards(term.attribute, base::foldCase(name)))
                continue;
            if (!term.wantsValue || fitsConstant(term, argument.constant)) return true;
        }
        return false;
    }

    static bool fitsNumber(const QueryTerm& term, double number) {
        return term.valueIsNumber && compares(number, term.compare, term.number);
    }

    static bool fitsWord(const QueryTerm& term, std::string_view text) {
        const bool same = term.pattern.fits(text);
        return term.compare == QueryCompare::Equal ? same : term.compare == QueryCompare::Unequal && !same;
    }

    static bool fitsConstant(const QueryTerm& term, const Value& value) {
        if (value.isNumber()) return fitsNumber(term, value.number());
        return fitsWord(term, value.kind() == tensor::ValueKind::String ? value.toString() : value.text());
    }

    static bool fitsValue(const QueryTerm& term, const tensor::AttributeValue& value) {
        const auto anyOf = [](const auto& list, auto fits) { return std::any_of(list.begin(), list.end(), fits); };
        const auto number = [&](auto each) { return fitsNumber(term, static_cast<double>(each)); };
        if (const auto* one = std::get_if<std::int64_t>(&value)) return number(*one);
        if (const auto* one = std::get_if<double>(&value)) return number(*one);
        if (const auto* one = std::get_if<std::string>(&value)) return fitsWord(term, *one);
        if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value); list && term.valueIsNumber)
            return anyOf(*list, number);
        if (const auto* list = std::get_if<std::vector<double>>(&value); list && term.valueIsNumber)
            return anyOf(*list, number);
        if (const auto* list = std::get_if<std::vector<std::string>>(&value))
            return anyOf(*list, [&](const std::string& each) { return fitsWord(term, each); });
        // "[3,3]" is compared without regard to blanks.
        std::string text = tensor::text(value, 400);
        std::erase(text, ' ');
        return fitsWord(term, text);
    }

    /// False also if a value or a number is not known, or cannot be computed with.
    bool fitsCondition(const expression::Expression& condition, NodeId id) {
        // Most conditions are of one number that most nodes do not have: no error is made for each of them.
        std::optional<Value> only;
        if (condition.names().size() == 1 && !(only = named(condition.names().front(), id))) return false;
        const base::Result<bool> isMet =
            expression::isTrue(condition, [&](std::string_view name) -> base::Result<Value> {
                if (const std::optional<Value> value = only ? only : named(name, id)) return *value;
                return base::usageError("it is not known");
            });
        return isMet && *isMet;
    }

    /// What a name of a condition stands for.
    std::optional<Value> named(std::string_view name, NodeId id) {
        const Value* value = name == kValueName ? valueOf(id) : nullptr;
        if (value) return *value;
        const auto field = numericField(name);
        const std::optional<double> number = field ? measure(*field, id) : std::nullopt;
        return number ? std::optional(Value::ofFloat(*number)) : std::nullopt;
    }

    // --- numbers ----------------------------------------------------------------------------------------------------

    std::optional<double> measure(QueryField field, NodeId id) {
        const Node& node = m_graph.node(id);
        const auto number = [](auto count) { return std::optional(static_cast<double>(count)); };
        switch (field) {
            case QueryField::Readers: return number(node.users.size());
            case QueryField::Inputs: return number(m_graph.expr(node.producer).inputs.size());
            case QueryField::Elements:
                if (const auto n = elementCount(node, valueOf(id))) return number(*n);
                return std::nullopt;
            case QueryField::Bytes:
                if (const auto n = byteCount(node, valueOf(id))) return number(*n);
                return std::nullopt;
            case QueryField::Parameters:
                if (m_parameters.empty())
                    m_parameters =
                        countParameters(m_graph, m_facts.modules ? *m_facts.modules : graph::ModuleTree()).ofExpr;
                return number(m_parameters[node.producer.index()]);
            case QueryField::Time:
                if (!m_facts.recording || !m_facts.recording->computed(id)) return std::nullopt;
                return static_cast<double>(m_facts.recording->elapsedNs(node.producer)) / 1e6;
            case QueryField::Rank: {
                const Value* value = valueOf(id);
                if (value) return value->isTensor() ? number(value->tensor().shape().rank()) : std::nullopt;
                return node.type.shape ? number(node.type.shape->size()) : std::nullopt;
            }
            default: return statistic(field, id);
        }
    }

    std::optional<double> statistic(QueryField field, NodeId id) {
        const Value* value = valueOf(id);
        if (!value || !value->isTensor() || value->tensor().dtype() == tensor::DType::String) return std::nullopt;
        const auto [found, isNew] = m_stats.try_emplace(id);
        if (isNew) found->second = tensorStats(value->tensor());
        const TensorStats& stats = found->second;
        const bool finite = stats.finiteCount() > 0;
        switch (field) {
            case QueryField::Nan: return static_cast<double>(stats.nanCount);
            case QueryField::Inf: return static_cast<double>(stats.infCount);
            case QueryField::Zeros:
                return stats.count ? static_cast<double>(stats.zeroCount) / static_cast<double>(stats.count) : 0.0;
            case QueryField::Min: return finite ? std::optional(stats.minimum) : std::nullopt;
            case QueryField::Max: return finite ? std::optional(stats.maximum) : std::nullopt;
            case QueryField::Mean: return finite ? std::optional(stats.mean) : std::nullopt;
            default: return finite ? std::optional(stats.deviation) : std::nullopt;
        }
    }

    const InternalGraph& m_graph;
    const QueryFacts& m_facts;
    std::map<std::pair<std::string, std::string>, std::string> m_categories;
    std::vector<std::int64_t> m_parameters;
    std::map<NodeId, TensorStats> m_stats;
};

}  // namespace

bool compares(double left, QueryCompare compare, double right) {
    switch (compare) {
        case QueryCompare::Has:
        case QueryCompare::Equal: return left == right;
        case QueryCompare::Unequal: return left != right;
        case QueryCompare::Less: return left < right;
        case QueryCompare::LessEqual: return left <= right;
        case QueryCompare::Greater: return left > right;
        case QueryCompare::GreaterEqual: return left >= right;
    }
    return false;
}

bool TextPattern::fits(std::string_view candidate) const {
    candidate = base::utf8Prefix(candidate, kMaxTextLength);
    if (regex) return regex->matchesPart(candidate);
    const std::string low = base::foldCase(candidate);
    return whole ? fitsWildcards(text, low) : low.find(text) != std::string::npos;
}

std::vector<NodeId> Query::run(const InternalGraph& graph, const QueryFacts& facts) const {
    std::vector<NodeId> hits, constants;
    if (!m_root) return hits;
    Bits all(graph.nodeCount(), false);
    const std::vector<ExprId> order = graph.recursiveOrder(graph.mainId());
    for (const ExprId id : order)
        for (const NodeId node : graph.expr(id).outputs) all[node.index()] = true;
    const Bits found = Matcher(graph, facts).match(*m_root, all);
    const bool asked = asksForConstants();
    for (const ExprId id : order)
        for (const NodeId node : graph.expr(id).outputs)
            if (found[node.index()]) (isConstant(graph.expr(id)) && !asked ? constants : hits).push_back(node);
    return hits.empty() ? constants : hits;
}

}  // namespace sonde::analysis
