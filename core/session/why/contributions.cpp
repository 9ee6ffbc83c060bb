#include "core/session/why/contributions.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "core/base/thread_pool.h"
#include "core/exec/flatten.h"

namespace sonde::session::why {

using graph::Expr;
using graph::ExprId;
using graph::ExprKind;
using graph::InternalGraph;
using graph::NodeId;
using tensor::Shape;
using tensor::Tensor;
using tensor::Value;

namespace {

/// Elements of a value that shares are counted for; 8 bytes each.
constexpr std::int64_t kMaxCounted = std::int64_t{1} << 27;

using Key = std::pair<NodeId, std::size_t>;  ///< a node, and a member of its value

const Tensor* tensorIn(const Value& value, std::size_t member) {
    const Value* found = &value;
    if (value.isListLike()) found = member < value.items().size() ? &value.items()[member] : nullptr;
    return found && found->isTensor() ? &found->tensor() : nullptr;
}

/// Whether a node's value changes with the inputs of the model; of what is inside of control flow that is assumed.
std::vector<bool> dependOnInputs(const InternalGraph& graph) {
    std::vector<bool> depends(graph.nodeCount(), false);
    const std::vector<NodeId> sources = exec::valueSources(graph);
    for (const ExprId id : resultOrder(graph)) {
        const Expr& expr = graph.expr(id);
        const auto does = [&](NodeId node) { return depends[sources[node.index()].index()] || depends[node.index()]; };
        const bool isIt = expr.kind == ExprKind::Input || std::ranges::any_of(expr.inputs, does) ||
                          std::ranges::any_of(expr.bodies, [&](graph::BodyId body) {
                              return std::ranges::any_of(graph.body(body).outputs, does);
                          });
        for (const NodeId output : expr.outputs) depends[output.index()] = isIt;
    }
    return depends;
}

/// How the terms share what their element has: in parts of 1, empty if nobody has any. What infinite terms do not
/// reach, as behind a softmax, is made of the finite ones, if there are any but 0.
std::vector<double> sharesOf(const std::vector<ops::DependenceTerm>& terms, double value) {
    std::vector<double> parts;
    parts.reserve(terms.size());
    bool hasNan = false, hasInf = false;
    for (const ops::DependenceTerm& term : terms) {
        // Infinity times 0 is made of the infinity.
        const double product = std::fabs(contributionOf(term));
        parts.push_back(product);
        hasNan = hasNan || std::isnan(product);
        hasInf = hasInf || std::isinf(product);
    }
    const auto isPart = [](double part) { return std::isfinite(part) && part > 0; };
    if (std::isfinite(value) && std::ranges::any_of(parts, isPart))
        for (double& part : parts) part = std::isfinite(part) ? part : 0;
    else if (hasNan)
        for (double& part : parts) part = std::isnan(part) ? 1 : 0;
    else if (hasInf)
        for (double& part : parts) part = std::isinf(part) ? 1 : 0;
    const double sum = std::accumulate(parts.begin(), parts.end(), 0.0);
    if (!(sum > 0)) return {};
    for (double& part : parts) part /= sum;
    return parts;
}

class ShareWalk {
  public:
    ShareWalk(const InternalGraph& graph, Reader& reader, const ContributionOptions& options,
              const base::WorkContext& work)
        : m_graph(graph), m_reader(reader), m_options(options), m_work(work), m_sources(exec::valueSources(graph)),
          m_depends(dependOnInputs(graph)), m_pool(1), m_terms(options.terms) {}

    base::Result<void> start(const Place& place) {
        SONDE_ASSIGN(const Explanation own, explain(m_graph, place, m_reader, {0}, m_work));
        SONDE_ASSIGN(const Value value, m_reader.value(place.node));
        const std::size_t member = own.place.member.value_or(0);
        const Tensor* tensor = tensorIn(value, member);
        std::int64_t element = 0;
        for (std::size_t d = 0; tensor && d < own.place.index.size(); ++d)
            element = element * tensor->dim(d) + own.place.index[d];
        add(place.node, member, element, tensor ? tensor->shape() : Shape{}, 1);
        return {};
    }

    base::Result<Contributions> run() {
        const std::vector<ExprId> order = resultOrder(m_graph);
        for (std::size_t i = order.size(); i-- > 0;) {
            if (m_work.cancelled()) return base::cancelled();
            const Expr& expr = m_graph.expr(order[i]);
            if (expr.kind == ExprKind::Input && expr.body == m_graph.mainId()) continue;
            m_work.report("following contributions", order.size() - i, order.size());
            // States of recurrent layers lead to other elements of the same outputs.
            while (const auto key = pendingOf(expr)) SONDE_TRY(goThrough(*key));
        }
        for (auto& [key, pending] : m_pending) {
            if (std::ranges::find(m_graph.inputs(), key.first) != m_graph.inputs().end())
                SONDE_TRY(keepInput(key, pending));
            else m_result.unexplained += std::accumulate(pending.share.begin(), pending.share.end(), 0.0);
        }
        std::ranges::stable_sort(m_result.inputs, std::ranges::greater(), &Share::sum);
        return std::move(m_result);
    }

  private:
    /// Shares of a value that were not handed on yet, by element.
    struct Pending {
        std::vector<double> share;
        Shape shape;
    };

    std::optional<Key> pendingOf(const Expr& expr) const {
        for (const NodeId output : expr.outputs) {
            const auto at = m_pending.lower_bound({output, 0});
            if (at != m_pending.end() && at->first.first == output) return at->first;
        }
        return std::nullopt;
    }

    void add(NodeId node, std::size_t member, std::int64_t element, const Shape& shape, double share) {
        const NodeId source = m_sources[node.index()];
        const ExprKind kind = m_graph.expr(m_graph.node(source).producer).kind;
        if (kind == ExprKind::Constant || kind == ExprKind::GetAttr || m_graph.node(source).constant) {
            m_result.constants += share;
            return;
        }
        auto [at, isNew] = m_pending.try_emplace({source, member});
        Pending& pending = at->second;
        if (isNew) {
            pending.shape = shape;
            if (shape.numel() <= kMaxCounted) pending.share.resize(static_cast<std::size_t>(shape.numel()), 0.0);
            if (std::ranges::find(m_result.through, source) == m_result.through.end())
                m_result.through.push_back(source);
        }
        if (element >= 0 && element < static_cast<std::int64_t>(pending.share.size()))
            pending.share[static_cast<std::size_t>(element)] += share;
        else m_result.cut += share;
    }

    /// The elements to follow, in order of their indices, with what they stand for.
    std::vector<std::pair<std::int64_t, double>> taken(const Pending& pending, bool isFree) {
        std::vector<std::pair<std::int64_t, double>> elements;
        double whole = 0;
        for (std::size_t i = 0; i < pending.share.size(); ++i) {
            if (pending.share[i] > 0) elements.emplace_back(static_cast<std::int64_t>(i), pending.share[i]);
            whole += pending.share[i];
        }
        if (isFree || elements.size() <= m_options.elements || m_options.elements == 0) return elements;
        m_result.isSampled = true;
        const double step = whole / static_cast<double>(m_options.elements);
        std::vector<std::pair<std::int64_t, double>> drawn;
        double passed = 0;
        std::size_t count = 0;  // of draws so far: the next one is in the middle of its step
        for (const auto& [element, share] : elements) {
            passed += share;
            std::size_t here = 0;
            while (count < m_options.elements && (static_cast<double>(count) + 0.5) * step < passed) ++count, ++here;
            if (here > 0) drawn.emplace_back(element, static_cast<double>(here) * step);
        }
        // Rounding may leave the last one.
        if (count < m_options.elements && !drawn.empty())
            drawn.back().second += static_cast<double>(m_options.elements - count) * step;
        return drawn;
    }

    base::Result<void> goThrough(const Key& key) {
        const Pending pending = std::move(m_pending.at(key));
        m_pending.erase(key);
        const double whole = std::accumulate(pending.share.begin(), pending.share.end(), 0.0);
        SONDE_ASSIGN(Operation operation, operationOf(m_graph, key.first, m_reader));
        if (!operation.op) return throughBodies(key, *operation.expr, pending, whole);
        // Rules read packed tensors; once is enough.
        for (Value& input : operation.inputs) {
            if (!input.isTensor() || input.tensor().isContiguous()) continue;
            SONDE_ASSIGN(Tensor packed, input.tensor().contiguous());
            input = Value(std::move(packed));
        }
        ops::RunEnvironment environment;
        environment.pool = &m_pool;
        environment.stop = m_work.stop;
        ops::DependenceQuestion question{operation.op, operation.inputs, &operation.expr->attributes,
                                         operation.outputs};
        question.output = operation.isUnpacked ? key.second : operation.output;
        question.member = operation.isUnpacked ? 0 : key.second;
        question.version = operation.expr->op.version;
        if (const auto moved = ops::findMoved(question, environment)) {
            for (const auto& [element, share] : taken(pending, true)) {
                if (const auto from = moved->sourceOf(element))
                    give(operation, static_cast<std::uint32_t>(from->input), static_cast<std::uint32_t>(from->member),
                         from->element, share);
                else m_result.constants += share;
            }
            return {};
        }
        for (const auto& [element, share] : taken(pending, false)) {
            if (m_work.cancelled()) return base::cancelled();
            if (m_terms == 0) {
                m_result.cut += share;
                continue;
            }
            question.element = element;
            const auto dependence = ops::findDependence(question, environment);
            if (!dependence) {
                m_result.unexplained += share;
                continue;
            }
            m_terms -= std::min(m_terms, dependence->terms.size() + 1);
            handOn(operation, *dependence, share, valueAt(question));
        }
        return {};
    }

    static double valueAt(const ops::DependenceQuestion& question) {
        const Tensor* tensor = tensorIn(question.outputs[question.output], question.member);
        return tensor ? tensor->toDouble(question.element) : 0;
    }

    void handOn(const Operation& operation, const ops::Dependence& dependence, double share, double value) {
        std::vector<double> parts = sharesOf(dependence.terms, value);
        giveToChoice(operation, dependence, parts);
        if (parts.empty()) {
            // A constant has no terms at all.
            (dependence.terms.empty() ? m_result.constants : m_result.unexplained) += share;
            return;
        }
        for (std::size_t i = 0; i < parts.size(); ++i) {
            const ops::DependenceTerm& term = dependence.terms[i];
            double own = share * parts[i];
            if (own == 0) continue;
            if (term.isOutput) {
                giveOutput(operation, term, own);
                continue;
            }
            if (isActivation(operation, term.weightInput)) {
                give(operation, term.weightInput, 0, term.weightElement, own / 2);
                own /= 2;
            }
            give(operation, term.input, term.member, term.element, own);
        }
    }

    /// What is looked up among weights, as in an embedding, is made of what chose it: terms of the weight 0.
    void giveToChoice(const Operation& operation, const ops::Dependence& dependence, std::vector<double>& parts) const {
        std::vector<std::size_t> choice;
        for (std::size_t i = 0; i < parts.size(); ++i) {
            const ops::DependenceTerm& term = dependence.terms[i];
            const bool depends = term.isOutput || isActivation(operation, term.input, term.member) ||
                                 isActivation(operation, term.weightInput);
            if (depends && term.weight != 0) return;
            if (depends && term.weight == 0) choice.push_back(i);
        }
        if (choice.empty()) return;
        std::ranges::fill(parts, 0.0);
        for (const std::size_t i : choice) parts[i] = 1.0 / static_cast<double>(choice.size());
    }

    bool isActivation(const Operation& operation, std::uint32_t input, std::uint32_t member = 0) const {
        if (input >= operation.arguments.size() || !operation.arguments[input]) return false;
        const Place at = placeOf(*operation.arguments[input], member);
        return at.node.valid() && m_depends[m_sources[at.node.index()].index()];
    }

    void give(const Operation& operation, std::uint32_t input, std::uint32_t member, std::int64_t element,
              double share) {
        const Place at = input < operation.arguments.size() && operation.arguments[input]
                             ? placeOf(*operation.arguments[input], member)
                             : Place{};
        const Tensor* tensor = at.node.valid() ? tensorIn(operation.inputs[input], member) : nullptr;
        if (!at.node.valid()) m_result.constants += share;
        else add(at.node, at.member.value_or(0), element, tensor ? tensor->shape() : Shape{}, share);
    }

    /// The state of the step before, which is an element of an output; a state that is no output has no place.
    void giveOutput(const Operation& operation, const ops::DependenceTerm& term, double share) {
        const Tensor* tensor =
            term.input < operation.outputs.size() ? tensorIn(operation.outputs[term.input], term.member) : nullptr;
        if (!tensor) m_result.unexplained += share;
        else if (operation.isUnpacked) add(operation.source, term.input, term.element, tensor->shape(), share);
        else add(operation.expr->outputs[term.input], term.member, term.element, tensor->shape(), share);
    }

    /// Of a branch or loop the same elements inside of it, of a loop's first iteration those that it was given, of a
    /// called module's list those of the member. Of anything else, as iterations before the last, the whole is not
    /// explained.
    base::Result<void> throughBodies(const Key& key, const Expr& expr, const Pending& pending, double whole) {
        Place same = memberPlace(m_graph, expr, key.second);
        if (!same.node.valid()) same.member = key.second;
        if (expr.kind == ExprKind::Input) {
            const Place source = iterationSource(m_graph, key.first, m_reader);
            if (!source.before) same.node = source.node;
        } else if (!expr.bodies.empty() && !expr.op.name.empty()) {
            SONDE_ASSIGN(const Value value, m_reader.value(key.first));
            same.node = insideOf(m_graph, expr, value, m_reader);
        }
        if (!same.node.valid() || same.node == key.first) {
            m_result.unexplained += whole;
            return {};
        }
        for (const auto& [element, share] : taken(pending, true))
            add(same.node, same.member.value_or(0), element, pending.shape, share);
        return {};
    }

    base::Result<void> keepInput(const Key& key, const Pending& pending) {
        Share share;
        share.node = key.first;
        SONDE_ASSIGN(const Value value, m_reader.value(key.first));
        if (value.isListLike()) share.member = key.second;
        SONDE_ASSIGN(share.map, Tensor::zeros(tensor::DType::Float32, pending.shape));
        for (std::size_t i = 0; i < pending.share.size(); ++i) {
            share.map.mutableData<float>()[i] = static_cast<float>(pending.share[i]);
            share.sum += pending.share[i];
        }
        m_result.inputs.push_back(std::move(share));
        return {};
    }

    const InternalGraph& m_graph;
    Reader& m_reader;
    const ContributionOptions& m_options;
    const base::WorkContext& m_work;
    std::vector<NodeId> m_sources;
    std::vector<bool> m_depends;
    base::ThreadPool m_pool;
    std::size_t m_terms;  ///< that may still be looked at
    std::map<Key, Pending> m_pending;
    Contributions m_result;
};

}  // namespace

std::vector<std::pair<std::vector<std::int64_t>, double>> Share::largest(std::size_t count) const {
    std::vector<std::int64_t> order;
    const auto* const shares = map.data<float>();
    for (std::int64_t i = 0; i < map.numel(); ++i)
        if (shares[i] > 0) order.push_back(i);
    const std::size_t shown = std::min(count, order.size());
    std::ranges::partial_sort(
        order, order.begin() + static_cast<std::ptrdiff_t>(shown),
        [&](std::int64_t a, std::int64_t b) { return shares[a] != shares[b] ? shares[a] > shares[b] : a < b; });
    std::vector<std::pair<std::vector<std::int64_t>, double>> found;
    for (std::size_t k = 0; k < shown; ++k) {
        std::vector<std::int64_t> index(map.rank(), 0);
        std::int64_t rest = order[k];
        for (std::size_t d = map.rank(); d-- > 0; rest /= map.dim(d)) index[d] = rest % map.dim(d);
        found.emplace_back(std::move(index), shares[order[k]]);
    }
    return found;
}

base::Result<Contributions> contributions(const InternalGraph& graph, const Place& place, Reader& reader,
                                          const ContributionOptions& options, const base::WorkContext& work) {
    ShareWalk walk(graph, reader, options, work);
    SONDE_TRY(walk.start(place));
    return walk.run();
}

}  // namespace sonde::session::why
