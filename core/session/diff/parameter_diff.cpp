#include "core/session/diff/parameter_diff.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <unordered_map>

#include "core/analysis/difference.h"
#include "core/analysis/parameters.h"
#include "core/session/diff/graph_side.h"
#include "core/session/diff/parameter_layout.h"
#include "core/session/diff/parameter_role.h"
#include "core/session/diff/repacked_weights.h"
#include "core/session/diff/stored_tensors.h"

namespace sonde::session {

using graph::Expr;
using graph::ExprId;
using graph::ExprKind;
using graph::InternalGraph;
using graph::NodeId;
using tensor::Tensor;

namespace {

using Role = diff::ParameterRole;

/// How a tensor has the elements of its counterpart.
enum class Form { Same, Transposed, Squeezed };

struct StoredParameter {
    std::string name;
    Tensor value;
    NodeId node;  ///< in the graph; none of one that nothing reads
    std::optional<std::size_t> other;
    Form form = Form::Same;  ///< of its counterpart
    Role role = Role::Unknown;
    bool isRepacked = false;  ///< it is in what the other model has packed, or holds that
    bool isUnreadBuffer = false;
};

/// Of stored tensors that an operation reads, or that are results.
std::set<diff::StoredMemory> readMemory(const InternalGraph& graph) {
    std::set<diff::StoredMemory> read;
    const auto add = [&](const graph::Node& node) {
        if (node.constant && node.constant->isTensor()) read.insert(diff::memoryOf(node.constant->tensor()));
    };
    for (std::size_t i = 0; i < graph.nodeCount(); ++i)
        if (!graph.node(NodeId(i)).users.empty()) add(graph.node(NodeId(i)));
    for (std::size_t i = 0; i < graph.bodyCount(); ++i)
        for (const NodeId node : graph.body(graph::BodyId(i)).outputs) add(graph.node(node));
    return read;
}

/// In the order of the graph, then what only modules have.
std::vector<StoredParameter> parametersOf(const document::Document& document) {
    const InternalGraph& graph = *document.graph;
    const auto kinds = analysis::storedKinds(graph);
    std::vector<StoredParameter> all;
    std::set<diff::StoredMemory> known;
    const auto add = [&](std::string name, const Tensor& value, NodeId node) {
        if (!value.defined() || value.dtype() == tensor::DType::String) return;
        if (value.numel() > 0 && !known.insert(diff::memoryOf(value)).second) return;
        const Role role = diff::parameterRole(graph, node, name, value);
        all.push_back({std::move(name), value, node, {}, Form::Same, role, false, false});
    };
    std::set<diff::StoredMemory> registered, buffers, read = readMemory(graph);
    if (document.original) read.merge(readMemory(*document.original));
    for (const graph::ModuleInfo& module : document.modules->modules())
        for (const graph::ParameterInfo& parameter : module.parameters)
            if (parameter.value && parameter.value->defined())
                (parameter.isBuffer ? buffers : registered).insert(diff::memoryOf(*parameter.value));
    registered.insert(buffers.begin(), buffers.end());
    for (const ExprId id : graph.recursiveOrder(graph.mainId())) {
        const Expr& expr = graph.expr(id);
        if ((expr.kind != ExprKind::Constant && expr.kind != ExprKind::GetAttr) || expr.outputs.empty()) continue;
        const graph::Node& node = graph.node(expr.outputs.front());
        if (!node.constant || !node.constant->isTensor()) continue;
        const auto& kind = kinds[node.id.index()];
        const diff::StoredMemory memory = diff::memoryOf(node.constant->tensor());
        // Of an initializer that nothing reads nobody can say that it is no weight.
        const bool isUnread = expr.isParameter && !read.contains(memory);
        const bool isWeight =
            (kind && *kind != analysis::StoredKind::Constant) || isUnread || registered.contains(memory);
        if (isWeight) add(expr.kind == ExprKind::GetAttr ? expr.target : node.name, node.constant->tensor(), node.id);
    }
    for (const graph::ModuleInfo& module : document.modules->modules())
        for (const graph::ParameterInfo& parameter : module.parameters)
            if (parameter.value)
                add(module.qualname.empty() || document.format == "ONNX" ? parameter.name
                                                                         : module.qualname + '.' + parameter.name,
                    *parameter.value, {});
    for (StoredParameter& each : all)
        each.isUnreadBuffer =
            buffers.contains(diff::memoryOf(each.value)) && !read.contains(diff::memoryOf(each.value));
    return all;
}

/// The sizes but for those of 1.
std::vector<std::int64_t> squeezedShape(const Tensor& tensor) {
    std::vector<std::int64_t> sizes;
    for (std::size_t axis = 0; axis < tensor.rank(); ++axis)
        if (tensor.dim(axis) != 1) sizes.push_back(tensor.dim(axis));
    return sizes;
}

diff::Hash hashOfElements(const Tensor& tensor, Form form) {
    const auto whole = (form == Form::Transposed ? tensor.transposed(0, 1) : tensor).contiguous();
    if (!whole) return 0;
    diff::Hash hash = static_cast<diff::Hash>(tensor.dtype());
    if (form == Form::Squeezed) {
        for (const std::int64_t size : squeezedShape(tensor)) hash = diff::mixed(hash, static_cast<diff::Hash>(size));
    } else {
        for (std::size_t axis = 0; axis < whole->rank(); ++axis)
            hash = diff::mixed(hash, static_cast<diff::Hash>(whole->dim(axis)));
    }
    const auto bytes = static_cast<std::size_t>(whole->numel()) * tensor::itemSize(whole->dtype());
    return diff::mixed(hash, diff::hashOf({reinterpret_cast<const char*>(whole->bytes()), bytes}));
}

/// All elements are the same, as a fresh normalisation has them: they do not say which tensor it is.
bool isUniform(const Tensor& tensor) {
    const auto whole = tensor.contiguous();
    if (!whole) return false;
    const std::size_t item = tensor::itemSize(whole->dtype());
    const auto bytes = static_cast<std::size_t>(whole->numel()) * item;
    return bytes <= item || std::memcmp(whole->bytes(), whole->bytes() + item, bytes - item) == 0;
}

bool isMatrix(const Tensor& tensor) { return tensor.rank() == 2; }

/// The form in which `a` has as many elements by dimension as `b`.
Form formOf(const Tensor& a, const Tensor& b) {
    if (a.shape() == b.shape()) return Form::Same;
    const bool isTurned = isMatrix(a) && isMatrix(b) && a.dim(0) == b.dim(1) && a.dim(1) == b.dim(0);
    if (isTurned) return Form::Transposed;
    return squeezedShape(a) == squeezedShape(b) ? Form::Squeezed : Form::Same;
}

/// A weight is no bias. Where one of them may be either, as many elements or as many dimensions speak for it.
bool mayBePair(const StoredParameter& a, const StoredParameter& b) {
    if (a.role != Role::Unknown && b.role != Role::Unknown) return a.role == b.role;
    return a.value.numel() == b.value.numel() || squeezedShape(a.value).size() == squeezedShape(b.value).size();
}

std::string shapeOf(const Tensor& tensor) {
    return tensor::TypeInfo::tensor(tensor.dtype(), tensor.shape()).shapeText();
}

class ParameterMatcher {
  public:
    ParameterMatcher(const document::Document& first, const document::Document& second, const GraphPairs& pairs,
                     const base::WorkContext& work)
        : m_graphA(*first.graph), m_graphB(*second.graph), m_pairs(pairs), m_work(work), m_a(parametersOf(first)),
          m_b(parametersOf(second)) {
        for (std::size_t i = 0; i < pairs.partOf[1].size(); ++i)
            if (pairs.partOf[1][i].valid()) m_partsOfB[pairs.partOf[1][i]].push_back(ExprId(i));
    }

    base::Result<ParameterDiff> differ() {
        // Names that are numbers may be those of other parameters in the other model.
        byName(true);
        byRepacking(m_graphA, m_graphB, m_pairs.ofFirst, true);
        byRepacking(m_graphB, m_graphA, m_pairs.ofSecond, false);
        byUsers(true);
        if (m_work.cancelled()) return base::cancelled("comparing parameters");
        for (const Form form : {Form::Same, Form::Transposed, Form::Squeezed}) byElements(form);
        byUsers(false);
        byName(false);
        ParameterDiff diff;
        for (std::size_t i = 0; i < m_a.size(); ++i) {
            if (m_work.cancelled()) return base::cancelled("comparing parameters");
            m_work.report("comparing parameters", i, m_a.size());
            if (m_a[i].other) compare(m_a[i], m_b[*m_a[i].other], diff);
        }
        for (const Repacked& repacked : m_repacked) compareRepacked(repacked, diff);
        listOpen(m_a, false, diff.removed, diff.notes);
        listOpen(m_b, true, diff.added, diff.notes);
        return diff;
    }

  private:
    struct Repacked {
        std::size_t a, b;
        Tensor ours, theirs;
        std::string how;
        std::optional<Tensor> rounding;
    };

    /// In the layout that products read, if that is known of both.
    void pair(std::size_t a, std::size_t b, Form form = Form::Same) {
        const Tensor &ours = m_a[a].value, &theirs = m_b[b].value;
        if (isMatrix(ours) && isMatrix(theirs) && m_a[a].node.valid() && m_b[b].node.valid()) {
            const auto own = diff::isOutputFirst(m_graphA, m_a[a].node),
                       other = diff::isOutputFirst(m_graphB, m_b[b].node);
            const bool isTurned = own && other && *own != *other;
            if (isTurned && ours.dim(0) == theirs.dim(1) && ours.dim(1) == theirs.dim(0)) form = Form::Transposed;
            if (own && other && !isTurned && ours.shape() == theirs.shape()) form = Form::Same;
        }
        m_a[a].other = b;
        m_a[a].form = form;
        m_b[b].other = a;
    }
    /// What has no counterpart, and does not go without one.
    void listOpen(const std::vector<StoredParameter>& own, bool isSecond, std::vector<ParameterRef>& list,
                  std::vector<ParameterNote>& notes) const {
        std::unordered_map<diff::Hash, std::string> known;
        const auto hashOf = [](const StoredParameter& parameter, Form form) {
            return hashOfElements(parameter.value, form);
        };
        const bool mayBeCopies = !m_pairs.isOneVocabulary && std::ranges::any_of(own, isOpen);
        for (const StoredParameter& parameter : own)
            if (mayBeCopies && !isOpen(parameter) && !isUniform(parameter.value))
                known.emplace(hashOf(parameter, Form::Same), parameter.name);
        for (const StoredParameter& parameter : own) {
            if (!isOpen(parameter)) continue;
            auto copy = known.find(hashOf(parameter, Form::Same));
            if (copy == known.end() && isMatrix(parameter.value))
                copy = known.find(hashOf(parameter, Form::Transposed));
            if (parameter.isUnreadBuffer)
                notes.push_back({parameter.name, parameter.node, isSecond, "a buffer that nothing reads"});
            else if (copy != known.end() && !isUniform(parameter.value))
                notes.push_back({parameter.name, parameter.node, isSecond, "a copy of " + copy->second});
            else if (isNeutralPart(parameter, isSecond))
                notes.push_back({parameter.name, parameter.node, isSecond, "zeros or ones in a decomposed layer"});
            else if (mayBeCopies && isConstantThere(parameter, isSecond))
                notes.push_back({parameter.name, parameter.node, isSecond, "a constant of the other model"});
            else list.push_back({parameter.name, parameter.node});
        }
    }

    /// What an exporter makes up for an operator that has a scale and a shift where the layer has none.
    bool isNeutralPart(const StoredParameter& parameter, bool isSecond) const {
        if (m_pairs.isOneVocabulary || !parameter.node.valid() || !isUniform(parameter.value)) return false;
        const InternalGraph& graph = isSecond ? m_graphB : m_graphA;
        const auto& partOf = m_pairs.partOf[isSecond ? 1 : 0];
        const auto first = parameter.value.numel() > 0 ? parameter.value.toDouble(0) : 0;
        return (first == 0 || first == 1) && std::ranges::all_of(graph.node(parameter.node).users, [&](ExprId user) {
                   return user.index() < partOf.size() && partOf[user.index()].valid();
               });
    }

    /// The other file has the same elements, as no parameter.
    bool isConstantThere(const StoredParameter& parameter, bool isSecond) const {
        const InternalGraph& graph = isSecond ? m_graphA : m_graphB;
        for (std::size_t i = 0; i < graph.nodeCount() && parameter.value.numel() > 1; ++i)
            if (const auto& constant = graph.node(NodeId(i)).constant;
                constant && constant->isTensor() && diff::areEqual(constant->tensor(), parameter.value))
                return true;
        return false;
    }

    static bool isOpen(const StoredParameter& parameter) { return !parameter.other && !parameter.isRepacked; }

    static std::unordered_map<NodeId, std::size_t> byNode(const std::vector<StoredParameter>& parameters) {
        std::unordered_map<NodeId, std::size_t> rows;
        for (std::size_t i = 0; i < parameters.size(); ++i)
            if (isOpen(parameters[i]) && parameters[i].node.valid()) rows.emplace(parameters[i].node, i);
        return rows;
    }

    /// What one file has in another layout, and in other pieces, than the other.
    void byRepacking(const InternalGraph& packed, const InternalGraph& plain, const std::vector<ExprId>& ofPacked,
                     bool isFirstPacked) {
        if (m_work.cancelled()) return;
        std::vector<StoredParameter>&ours = isFirstPacked ? m_a : m_b, &theirs = isFirstPacked ? m_b : m_a;
        const auto ourRows = byNode(ours), theirRows = byNode(theirs);
        for (diff::RepackedWeight& weight : diff::repackedWeights(packed, plain, ofPacked)) {
            const auto own = ourRows.find(weight.packed), other = theirRows.find(weight.plain);
            if (own == ourRows.end() || other == theirRows.end() || theirs[other->second].isRepacked) continue;
            ours[own->second].isRepacked = theirs[other->second].isRepacked = true;
            for (const NodeId node : weight.absorbed)
                if (const auto row = theirRows.find(node); row != theirRows.end())
                    theirs[row->second].isRepacked = true;
            if (isFirstPacked)
                m_repacked.push_back(
                    {own->second, other->second, weight.ours, weight.theirs, weight.how, weight.rounding});
            else
                m_repacked.push_back(
                    {other->second, own->second, weight.theirs, weight.ours, weight.how, weight.rounding});
        }
    }

    void byName(bool onlyEqual) {
        std::unordered_map<std::string, std::size_t> named;
        for (std::size_t i = 0; i < m_b.size(); ++i) named.emplace(m_b[i].name, i);
        for (std::size_t i = 0; i < m_a.size(); ++i)
            if (const auto other = named.find(m_a[i].name);
                isOpen(m_a[i]) && other != named.end() && isOpen(m_b[other->second]) &&
                (onlyEqual ? diff::areEqual(m_a[i].value, m_b[other->second].value)
                           : mayBePair(m_a[i], m_b[other->second])))
                pair(i, other->second);
    }

    /// The k-th of equal ones is the k-th of the other model. Not those that are filled with one number.
    void byElements(Form form) {
        const auto isMeant = [form](const StoredParameter& parameter) {
            return isOpen(parameter) && !isUniform(parameter.value) &&
                   (form != Form::Transposed || isMatrix(parameter.value));
        };
        const Form stored = form == Form::Squeezed ? form : Form::Same;
        std::unordered_multimap<diff::Hash, std::size_t> open;
        for (std::size_t i = m_b.size(); i-- > 0;)
            if (isMeant(m_b[i])) open.emplace(hashOfElements(m_b[i].value, stored), i);
        for (std::size_t i = 0; i < m_a.size() && !open.empty(); ++i) {
            if (m_work.cancelled()) return;
            const StoredParameter& own = m_a[i];
            if (!isMeant(own)) continue;
            const auto found = open.find(hashOfElements(own.value, form));
            if (found == open.end()) continue;
            pair(i, found->second, form);
            open.erase(found);
        }
    }

    /// As manieth stored input of operations that are counterparts, or another one that is for the same; first of those
    /// with as many elements. Of an operation that is a part of a layer any of the layer's.
    void byUsers(bool onlySameCount) {
        const std::unordered_map<NodeId, std::size_t> ofB = byNode(m_b);
        for (std::size_t i = 0; i < m_a.size(); ++i) {
            if (!isOpen(m_a[i]) || !m_a[i].node.valid()) continue;
            for (const diff::ParameterReader& reader : diff::readersOf(m_graphA, m_a[i].node)) {
                const std::vector<NodeId> candidates = candidatesOf(reader.id, m_a[i].node);
                const auto other = counterpartOf(m_a[i], candidates, ofB, onlySameCount);
                if (!other) continue;
                pair(i, *other, formOf(m_a[i].value, m_b[*other].value));
                break;
            }
        }
    }

    /// What the counterpart of an operation reads: first at the same position (none if that says nothing).
    std::vector<NodeId> candidatesOf(ExprId user, NodeId own) const {
        ExprId whole = user;
        const auto& partOf = m_pairs.partOf[0];
        if (user.index() < partOf.size() && partOf[user.index()].valid()) whole = partOf[user.index()];
        const ExprId match = m_pairs.ofFirst[whole.index()];
        if (!match.valid()) return {};
        std::vector<NodeId> theirs = diff::storedInputs(m_graphB, match);
        std::vector<NodeId> candidates{NodeId()};
        const auto parts = m_partsOfB.find(match);
        if (whole == user && parts == m_partsOfB.end()) {
            const std::vector<NodeId> ours = diff::storedInputs(m_graphA, user);
            const auto at = static_cast<std::size_t>(std::ranges::find(ours, own) - ours.begin());
            if (at < theirs.size()) candidates.front() = theirs[at];
        }
        candidates.insert(candidates.end(), theirs.begin(), theirs.end());
        if (parts == m_partsOfB.end()) return candidates;
        for (const ExprId part : parts->second) {
            theirs = diff::storedInputs(m_graphB, part);
            candidates.insert(candidates.end(), theirs.begin(), theirs.end());
        }
        return candidates;
    }

    /// The first of these that may be the counterpart; at another position only if that is sure to be for the same.
    std::optional<std::size_t> counterpartOf(const StoredParameter& own, const std::vector<NodeId>& candidates,
                                             const std::unordered_map<NodeId, std::size_t>& rows,
                                             bool onlySameCount) const {
        for (std::size_t i = 0; i < candidates.size(); ++i) {
            const auto row = rows.find(candidates[i]);
            if (row == rows.end() || !isOpen(m_b[row->second])) continue;
            const StoredParameter& other = m_b[row->second];
            const bool isSameRole = own.role != Role::Unknown && own.role == other.role;
            if (i > 0 && !isSameRole) continue;
            if (mayBePair(own, other) && (!onlySameCount || own.value.numel() == other.value.numel()))
                return row->second;
        }
        return std::nullopt;
    }

    void compare(const StoredParameter& a, const StoredParameter& b, ParameterDiff& diff) const {
        if (a.name != b.name) ++diff.renamed;
        if (a.node.valid() && b.node.valid()) diff.pairs.emplace_back(a.node, b.node);
        Tensor ours = a.form == Form::Transposed ? a.value.transposed(0, 1) : a.value;
        std::string what;
        if (a.form == Form::Squeezed) {
            // Another shape is a difference, also of the same elements; but exporters add dimensions of 1, in the file
            // or by an operation.
            const bool isReshaped =
                diff::isReadAs(m_graphA, a.node, b.value.shape()) || diff::isReadAs(m_graphB, b.node, a.value.shape());
            if (m_pairs.isOneVocabulary && !isReshaped) what = "shape: " + shapeOf(ours) + " -> " + shapeOf(b.value);
            if (auto reshaped = a.value.reshaped(b.value.shape())) ours = std::move(*reshaped);
        }
        if (what.empty() && diff::areEqual(ours, b.value)) {
            ++diff.equal;
        } else if (what.empty() && a.isUnreadBuffer && b.isUnreadBuffer) {
            diff.notes.push_back({a.name, a.node, false, "a buffer that nothing reads, of another value"});
        } else if (what.empty() && mayBothBeFolded(a, b) && ours.shape() == b.value.shape() &&
                   diff::differByRounding(ours, b.value)) {
            ++diff.rounded;
        } else addChange(a, b, ours, b.value, what, diff);
    }

    /// Weights of layers of two files into which either exporter may have folded the normalisation behind.
    bool mayBothBeFolded(const StoredParameter& a, const StoredParameter& b) const {
        const auto isOfLayer = [](const InternalGraph& graph, NodeId node) {
            return node.valid() && std::ranges::any_of(diff::readersOf(graph, node), [&](const auto& reader) {
                       return diff::isLayerWithWeights(graph.expr(reader.id));
                   });
        };
        return !m_pairs.isOneVocabulary && isOfLayer(m_graphA, a.node) && isOfLayer(m_graphB, b.node);
    }

    void compareRepacked(const Repacked& repacked, ParameterDiff& diff) const {
        const StoredParameter &a = m_a[repacked.a], &b = m_b[repacked.b];
        if (a.name != b.name) ++diff.renamed;
        if (diff::areEqual(repacked.ours, repacked.theirs)) ++diff.equal;
        else if (repacked.rounding && diff::differByRounding(repacked.ours, repacked.theirs, *repacked.rounding))
            ++diff.rounded;
        else addChange(a, b, repacked.ours, repacked.theirs, repacked.how, diff);
    }

    static void addChange(const StoredParameter& a, const StoredParameter& b, const Tensor& ours, const Tensor& theirs,
                          const std::string& how, ParameterDiff& diff) {
        ParameterChange change{a.name, a.name == b.name ? std::string() : b.name, a.node, b.node, {}, {}, how};
        const auto add = [&change](const std::string& what) {
            change.what += (change.what.empty() ? "" : ", ") + what;
        };
        if (ours.dtype() != theirs.dtype())
            add(std::string(tensor::name(ours.dtype())) + " -> " + std::string(tensor::name(theirs.dtype())));
        if (!(ours.shape() == theirs.shape())) {
            add("shape: " + shapeOf(ours) + " -> " + shapeOf(theirs));
        } else {
            const bool areSame = ours.dtype() == theirs.dtype();
            const auto wide = [areSame](const Tensor& tensor) {
                return areSame ? base::Result<Tensor>(tensor) : tensor.cast(tensor::DType::Float64);
            };
            const base::Result<Tensor> one = wide(ours), other = wide(theirs);
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
    std::vector<Repacked> m_repacked;
    std::unordered_map<ExprId, std::vector<ExprId>> m_partsOfB;  ///< of the second graph
};

}  // namespace

base::Result<ParameterDiff> parameterDiff(const document::Document& first, const document::Document& second,
                                          const GraphPairs& pairs, const base::WorkContext& work) {
    return ParameterMatcher(first, second, pairs, work).differ();
}

}  // namespace sonde::session
