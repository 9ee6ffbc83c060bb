#include "core/session/diff/parameter_diff.h"

#include <cmath>
#include <cstring>
#include <set>
#include <tuple>
#include <unordered_map>

#include "core/analysis/difference.h"
#include "core/analysis/parameters.h"
#include "core/session/diff/graph_side.h"

namespace sonde::session {

using graph::Expr;
using graph::ExprId;
using graph::ExprKind;
using graph::InternalGraph;
using graph::NodeId;
using tensor::Tensor;

namespace {

struct StoredParameter {
    std::string name;
    Tensor value;
    NodeId node;  ///< in the graph; none of one that nothing reads
    std::optional<std::size_t> other;
    bool isTransposed = false;  ///< of its counterpart
};

using Memory = std::tuple<const tensor::Storage*, std::int64_t, tensor::DType, std::int64_t>;

Memory memoryOf(const Tensor& tensor) {
    return {tensor.storage().get(), tensor.offsetElements(), tensor.dtype(), tensor.numel()};
}

/// In the order of the graph, then what only modules have.
std::vector<StoredParameter> parametersOf(const document::Document& document) {
    const InternalGraph& graph = *document.graph;
    const auto kinds = analysis::storedKinds(graph);
    std::vector<StoredParameter> all;
    std::set<Memory> known;
    const auto add = [&](std::string name, const Tensor& value, NodeId node) {
        if (!value.defined() || value.dtype() == tensor::DType::String) return;
        if (value.numel() > 0 && !known.insert(memoryOf(value)).second) return;
        all.push_back({std::move(name), value, node, {}, false});
    };
    std::set<Memory> registered;
    for (const graph::ModuleInfo& module : document.modules->modules())
        for (const graph::ParameterInfo& parameter : module.parameters)
            if (parameter.value && parameter.value->defined()) registered.insert(memoryOf(*parameter.value));
    for (const ExprId id : graph.recursiveOrder(graph.mainId())) {
        const Expr& expr = graph.expr(id);
        if ((expr.kind != ExprKind::Constant && expr.kind != ExprKind::GetAttr) || expr.outputs.empty()) continue;
        const graph::Node& node = graph.node(expr.outputs.front());
        if (!node.constant || !node.constant->isTensor()) continue;
        const auto& kind = kinds[node.id.index()];
        const bool isWeight =
            (kind && *kind != analysis::StoredKind::Constant) || registered.contains(memoryOf(node.constant->tensor()));
        if (isWeight) add(expr.kind == ExprKind::GetAttr ? expr.target : node.name, node.constant->tensor(), node.id);
    }
    for (const graph::ModuleInfo& module : document.modules->modules())
        for (const graph::ParameterInfo& parameter : module.parameters)
            if (parameter.value)
                add(module.qualname.empty() || document.format == "ONNX" ? parameter.name
                                                                         : module.qualname + '.' + parameter.name,
                    *parameter.value, {});
    return all;
}

diff::Hash hashOfElements(const Tensor& tensor) {
    const auto whole = tensor.contiguous();
    if (!whole) return 0;
    diff::Hash hash = static_cast<diff::Hash>(tensor.dtype());
    for (std::size_t axis = 0; axis < tensor.rank(); ++axis)
        hash = diff::mixed(hash, static_cast<diff::Hash>(tensor.shape()[axis]));
    const auto bytes = static_cast<std::size_t>(whole->numel()) * tensor::itemSize(whole->dtype());
    return diff::mixed(hash, diff::hashOf({reinterpret_cast<const char*>(whole->bytes()), bytes}));
}

bool areEqual(const Tensor& a, const Tensor& b) {
    if (a.dtype() != b.dtype() || !(a.shape() == b.shape())) return false;
    const auto one = a.contiguous(), other = b.contiguous();
    const auto bytes = static_cast<std::size_t>(a.numel()) * tensor::itemSize(a.dtype());
    return one && other && (bytes == 0 || std::memcmp(one->bytes(), other->bytes(), bytes) == 0);
}

/// All elements are the same, as a fresh normalisation has them: they do not say which tensor it is.
bool isUniform(const Tensor& tensor) {
    const auto whole = tensor.contiguous();
    if (!whole) return false;
    const std::size_t item = tensor::itemSize(whole->dtype());
    const auto bytes = static_cast<std::size_t>(whole->numel()) * item;
    return bytes <= item || std::memcmp(whole->bytes(), whole->bytes() + item, bytes - item) == 0;
}

Tensor transposed(const Tensor& matrix) { return matrix.transposed(0, 1); }

bool isMatrix(const Tensor& tensor) { return tensor.rank() == 2; }

std::string shapeOf(const Tensor& tensor) {
    return tensor::TypeInfo::tensor(tensor.dtype(), tensor.shape()).shapeText();
}

class ParameterMatcher {
  public:
    ParameterMatcher(const document::Document& first, const document::Document& second, const GraphPairs& pairs,
                     const base::WorkContext& work)
        : m_graphA(*first.graph), m_graphB(*second.graph), m_pairs(pairs), m_work(work), m_a(parametersOf(first)),
          m_b(parametersOf(second)) {}

    base::Result<ParameterDiff> differ() {
        // Names that are numbers may be those of other parameters in the other model.
        byName(true);
        byUsers(true);
        if (m_work.cancelled()) return base::cancelled("comparing parameters");
        byElements(false);
        byElements(true);
        byUsers(false);
        byName(false);
        ParameterDiff diff;
        for (std::size_t i = 0; i < m_a.size(); ++i) {
            if (m_work.cancelled()) return base::cancelled("comparing parameters");
            m_work.report("comparing parameters", i, m_a.size());
            if (m_a[i].other) compare(m_a[i], m_b[*m_a[i].other], diff);
            else diff.removed.push_back({m_a[i].name, m_a[i].node});
        }
        for (const StoredParameter& parameter : m_b)
            if (!parameter.other) diff.added.push_back({parameter.name, parameter.node});
        return diff;
    }

  private:
    void pair(std::size_t a, std::size_t b, bool isTransposed = false) {
        m_a[a].other = b;
        m_a[a].isTransposed = isTransposed;
        m_b[b].other = a;
    }

    void byName(bool onlyEqual) {
        std::unordered_map<std::string, std::size_t> named;
        for (std::size_t i = 0; i < m_b.size(); ++i) named.emplace(m_b[i].name, i);
        for (std::size_t i = 0; i < m_a.size(); ++i)
            if (const auto other = named.find(m_a[i].name);
                !m_a[i].other && other != named.end() && !m_b[other->second].other &&
                (!onlyEqual || areEqual(m_a[i].value, m_b[other->second].value)))
                pair(i, other->second);
    }

    /// The k-th of equal ones is the k-th of the other model. Not those that are filled with one number.
    void byElements(bool isTransposed) {
        std::unordered_multimap<diff::Hash, std::size_t> open;
        for (std::size_t i = m_b.size(); i-- > 0;)
            if (!m_b[i].other && !isUniform(m_b[i].value) && (!isTransposed || isMatrix(m_b[i].value)))
                open.emplace(hashOfElements(m_b[i].value), i);
        for (std::size_t i = 0; i < m_a.size() && !open.empty(); ++i) {
            if (m_work.cancelled()) return;
            const StoredParameter& own = m_a[i];
            if (own.other || isUniform(own.value) || (isTransposed && !isMatrix(own.value))) continue;
            const auto found = open.find(hashOfElements(isTransposed ? transposed(own.value) : own.value));
            if (found == open.end()) continue;
            pair(i, found->second, isTransposed);
            open.erase(found);
        }
    }

    /// As manieth stored input of operations that are counterparts; first of those with as many elements.
    void byUsers(bool onlySameCount) {
        std::unordered_map<NodeId, std::size_t> ofB;
        for (std::size_t i = 0; i < m_b.size(); ++i)
            if (!m_b[i].other && m_b[i].node.valid()) ofB.emplace(m_b[i].node, i);
        for (std::size_t i = 0; i < m_a.size(); ++i) {
            if (m_a[i].other || !m_a[i].node.valid()) continue;
            for (const ExprId user : m_graphA.node(m_a[i].node).users) {
                const ExprId match = m_pairs.ofFirst[user.index()];
                if (!match.valid()) continue;
                const std::vector<NodeId> ours = storedInputs(m_graphA, user), theirs = storedInputs(m_graphB, match);
                const auto at = static_cast<std::size_t>(std::ranges::find(ours, m_a[i].node) - ours.begin());
                const auto other = at < theirs.size() ? ofB.find(theirs[at]) : ofB.end();
                if (other == ofB.end() || m_b[other->second].other) continue;
                const Tensor &a = m_a[i].value, &b = m_b[other->second].value;
                if (onlySameCount && a.numel() != b.numel()) continue;
                pair(i, other->second,
                     isMatrix(a) && isMatrix(b) && !(a.shape() == b.shape()) && transposed(a).shape() == b.shape());
                break;
            }
        }
    }

    static std::vector<NodeId> storedInputs(const InternalGraph& graph, ExprId id) {
        std::vector<NodeId> stored;
        for (const NodeId input : graph.expr(id).inputs) {
            const ExprKind kind = graph.expr(graph.node(input).producer).kind;
            if (kind == ExprKind::Constant || kind == ExprKind::GetAttr) stored.push_back(input);
        }
        return stored;
    }

    static void compare(const StoredParameter& a, const StoredParameter& b, ParameterDiff& diff) {
        if (a.name != b.name) ++diff.renamed;
        if (a.node.valid() && b.node.valid()) diff.pairs.emplace_back(a.node, b.node);
        const Tensor ours = a.isTransposed ? transposed(a.value) : a.value;
        if (areEqual(ours, b.value)) {
            ++diff.equal;
            return;
        }
        ParameterChange change{a.name, a.name == b.name ? std::string() : b.name, a.node, b.node, {}, {}, {}};
        if (ours.dtype() != b.value.dtype())
            change.what = std::string(tensor::name(ours.dtype())) + " -> " + std::string(tensor::name(b.value.dtype()));
        if (!(ours.shape() == b.value.shape())) {
            change.what +=
                (change.what.empty() ? "" : ", ") + std::string("shape: ") + shapeOf(ours) + " -> " + shapeOf(b.value);
        } else {
            const bool areSame = ours.dtype() == b.value.dtype();
            const auto wide = [areSame](const Tensor& tensor) {
                return areSame ? base::Result<Tensor>(tensor) : tensor.cast(tensor::DType::Float64);
            };
            const base::Result<Tensor> one = wide(ours), other = wide(b.value);
            if (one && other) {
                const analysis::Difference difference = analysis::difference(*other, *one, {});
                change.maxAbs = difference.maxAbsolute;
                change.maxRel = difference.maxRelative;
            }
        }
        diff.changed.push_back(std::move(change));
    }

    const InternalGraph &m_graphA, &m_graphB;
    const GraphPairs& m_pairs;
    const base::WorkContext& m_work;
    std::vector<StoredParameter> m_a, m_b;
};

}  // namespace

base::Result<ParameterDiff> parameterDiff(const document::Document& first, const document::Document& second,
                                          const GraphPairs& pairs, const base::WorkContext& work) {
    return ParameterMatcher(first, second, pairs, work).differ();
}

}  // namespace sonde::session
