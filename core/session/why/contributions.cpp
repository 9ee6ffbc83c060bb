#include "core/session/why/contributions.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>

#include "core/base/thread_pool.h"
#include "core/exec/flatten.h"
#include "core/graph/traits.h"
#include "core/ops/dependence/leaves.h"
#include "core/session/why/inside.h"

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

/// A node as it was before an item of the run, and a member of its value; ordered as they are gone through, the last
/// one first: what belongs to a loop all together, later iterations before earlier ones.
struct Key {
    std::size_t outermost = 0;  ///< position of what it is inside of in the main program
    std::uint64_t before = kNow;
    std::size_t position = 0;
    NodeId node;
    std::size_t member = 0;

    static constexpr std::uint64_t kNow = std::numeric_limits<std::uint64_t>::max();
    auto tied() const { return std::tuple(outermost, before, position, node.value, member); }
    bool operator<(const Key& other) const { return tied() < other.tied(); }
};
using Before = std::optional<std::uint32_t>;  ///< see Place::before

const Tensor* tensorIn(const Value& value, std::size_t member) {
    const Value* const found = ops::leafOf(value, member);
    return found && found->isTensor() ? &found->tensor() : nullptr;
}

std::vector<std::int64_t> shareIndex(std::int64_t element, const Shape& shape) {
    std::vector<std::int64_t> index(shape.rank(), 0);
    for (std::size_t d = shape.rank(); d-- > 0; element /= std::max<std::int64_t>(shape[d], 1))
        index[d] = element % std::max<std::int64_t>(shape[d], 1);
    return index;
}

std::int64_t shareElement(const std::vector<std::int64_t>& index, const Shape& shape) {
    std::int64_t element = 0;
    for (std::size_t d = 0; d < shape.rank() && d < index.size(); ++d) element = element * shape[d] + index[d];
    return element;
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
/// reach, as behind a softmax, is made of the finite ones, if there are any but 0. `isOfNan`: those that are NaN have
/// all.
std::vector<double> sharesOf(const std::vector<ops::DependenceTerm>& terms, double value, bool& isOfNan) {
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
    else if (hasNan) {
        for (double& part : parts) part = std::isnan(part) ? 1 : 0;
        isOfNan = true;
    } else if (hasInf)
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
          m_depends(dependOnInputs(graph)), m_pool(1), m_terms(options.terms) {
        const std::vector<ExprId> order = resultOrder(graph);
        m_position.resize(graph.exprCount(), 0);
        for (std::size_t i = 0; i < order.size(); ++i) m_position[order[i].index()] = i + 1;
    }

    base::Result<void> start(const Place& place) {
        SONDE_ASSIGN(const Explanation own, explain(m_graph, place, m_reader, {0}, m_work));
        Reader* const reader = readerAt(place.before);
        if (!reader) return base::usageError("the iteration is not kept");
        SONDE_ASSIGN(const Value value, reader->value(place.node));
        const std::size_t member = own.place.member.value_or(0);
        const Tensor* tensor = tensorIn(value, member);
        std::int64_t element = 0;
        for (std::size_t d = 0; tensor && d < own.place.index.size(); ++d)
            element = element * tensor->dim(d) + own.place.index[d];
        add({place.node, member, {}, place.before}, element, tensor ? tensor->shape() : Shape{}, 1);
        return {};
    }

    base::Result<Contributions> run() {
        const std::size_t count = m_graph.exprCount();
        // Inputs of the model are the first ones, and stay.
        while (!m_pending.empty() && m_pending.rbegin()->first.position > 0) {
            if (m_work.cancelled()) return base::cancelled();
            const Key key = m_pending.rbegin()->first;
            m_work.report("following contributions", count - std::min(count, key.outermost), count);
            if (const auto axis = stepAxisOf(key)) SONDE_TRY(goThroughStep(key, *axis));
            else SONDE_TRY(goThrough(key, takePending(key)));
        }
        for (auto& [key, pending] : m_pending) SONDE_TRY(keepInput(key, pending));
        std::ranges::stable_sort(m_result.inputs, std::ranges::greater(), &Share::sum);
        return std::move(m_result);
    }

  private:
    /// Shares of a value that were not handed on yet, by element.
    struct Pending {
        std::vector<double> share;
        Shape shape;
    };

    /// Where a node is looked up; null: that is not kept.
    Reader* readerAt(Before before) {
        if (!before) return &m_reader;
        auto [at, isNew] = m_earlier.try_emplace(*before);
        if (isNew) at->second = m_reader.before(*before);
        return at->second.get();
    }
    static Before beforeOf(const Key& key) {
        return key.before == Key::kNow ? Before() : Before(static_cast<std::uint32_t>(key.before));
    }

    bool isInput(const Expr& expr) const { return expr.kind == ExprKind::Input && expr.body == m_graph.mainId(); }
    /// Outside of loops a value is the same at all times.
    Key keyOf(NodeId source, std::size_t member, Before before) const {
        Key key;
        key.node = source, key.member = member;
        ExprId id = m_graph.node(source).producer;
        key.position = isInput(m_graph.expr(id)) ? 0 : m_position[id.index()];
        bool isInLoop = false;
        while (m_graph.expr(id).body != m_graph.mainId()) {
            id = m_graph.body(m_graph.expr(id).body).owner;
            const Expr& owner = m_graph.expr(id);
            isInLoop = isInLoop || (!owner.op.name.empty() && owner.bodies.size() == 1);
        }
        key.outermost = key.position == 0 ? 0 : m_position[id.index()];
        if (before && isInLoop) key.before = *before;
        return key;
    }

    void add(const Place& to, std::int64_t element, const Shape& shape, double share) {
        const NodeId source = m_sources[to.node.index()];
        const ExprKind kind = m_graph.expr(m_graph.node(source).producer).kind;
        if (kind == ExprKind::Constant || kind == ExprKind::GetAttr || m_graph.node(source).constant) {
            m_result.constants += share;
            return;
        }
        auto [at, isNew] = m_pending.try_emplace(keyOf(source, to.member.value_or(0), to.before));
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

    Pending takePending(const Key& key) {
        Pending pending = std::move(m_pending.at(key));
        m_pending.erase(key);
        return pending;
    }

    /// The axis of the steps, of what a recurrent layer gives for each; nothing of another node.
    std::optional<std::size_t> stepAxisOf(const Key& key) const {
        const Expr& expr = m_graph.expr(m_graph.node(key.node).producer);
        if (graph::traitsOf(expr).opClass != operators::OpClass::Recurrent || m_graph.node(key.node).outputIndex != 0)
            return std::nullopt;
        if (m_pending.at(key).shape.rank() < 2) return std::nullopt;
        if (expr.attributes.getInt("layout", 0) != 0) return 1;
        const ops::OpDef* const op = ops::Registry::all().find(expr.op.domain, expr.op.name, expr.op.version);
        const std::size_t at = op ? op->position(ops::Name("batch_first")) : expr.arguments.size();
        const bool isBatchFirst = at < expr.arguments.size() &&
                                  expr.arguments[at].kind == graph::Argument::Kind::Constant &&
                                  expr.arguments[at].constant.isNumber() && expr.arguments[at].constant.number() != 0;
        return isBatchFirst && m_pending.at(key).shape.rank() == 3 ? 1 : 0;
    }

    /// All that is pending of the last step, of outer layers before inner ones: each step hands to the one before it,
    /// and is complete only then.
    base::Result<void> goThroughStep(const Key& key, std::size_t axis) {
        std::vector<Key> keys;
        for (auto at = m_pending.rbegin(); at != m_pending.rend() && at->first.node == key.node; ++at)
            if (at->first.before == key.before) keys.push_back(at->first);
        // The layer's own result, member 0, is the outermost.
        std::rotate(keys.begin(), keys.end() - (keys.back().member == 0 ? 1 : 0), keys.end());
        std::int64_t last = -1;
        for (const Key& each : keys) last = std::max(last, lastStepOf(m_pending.at(each), axis));
        for (std::size_t i = 0; i < keys.size(); ++i) {
            const auto found = m_pending.find(keys[i]);
            if (found == m_pending.end()) continue;
            Pending part{std::vector<double>(found->second.share.size(), 0.0), found->second.shape};
            bool isLeft = false;
            for (std::size_t e = 0; e < part.share.size(); ++e) {
                double& share = found->second.share[e];
                if (!(share > 0)) continue;
                if (stepOf(e, part.shape, axis) == last) std::swap(part.share[e], share);
                else isLeft = true;
            }
            if (!isLeft) m_pending.erase(found);
            SONDE_TRY(goThrough(keys[i], std::move(part)));
            // It may have handed to inner layers, at this very step.
            for (auto at = m_pending.rbegin(); at != m_pending.rend() && at->first.node == key.node; ++at)
                if (at->first.before == key.before &&
                    std::ranges::find(keys, at->first.member, &Key::member) == keys.end())
                    keys.push_back(at->first);
        }
        return {};
    }
    static std::int64_t stepOf(std::size_t element, const Shape& shape, std::size_t axis) {
        auto rest = static_cast<std::int64_t>(element);
        for (std::size_t d = shape.rank(); d-- > axis + 1;) rest /= std::max<std::int64_t>(shape[d], 1);
        return rest % std::max<std::int64_t>(shape[axis], 1);
    }
    static std::int64_t lastStepOf(const Pending& pending, std::size_t axis) {
        std::int64_t last = -1;
        for (std::size_t e = 0; e < pending.share.size(); ++e)
            if (pending.share[e] > 0) last = std::max(last, stepOf(e, pending.shape, axis));
        return last;
    }

    base::Result<void> goThrough(const Key& key, Pending pending) {
        Reader* const reader = readerAt(beforeOf(key));
        if (!reader) {
            m_result.unexplained += std::accumulate(pending.share.begin(), pending.share.end(), 0.0);
            return {};
        }
        if (reader->isEdited(key.node)) SONDE_TRY(leaveEdited(key, pending, *reader));
        SONDE_ASSIGN(Operation operation, operationOf(m_graph, key.node, *reader));
        m_before = beforeOf(key);
        if (!operation.op) return throughBodies(key, *operation.expr, pending, *reader);
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
        question.output = operation.isUnpacked ? key.member : operation.output;
        question.member = operation.isUnpacked ? 0 : key.member;
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
        std::vector<double> parts = sharesOf(dependence.terms, value, m_result.hasNan);
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
            if (term.isInside) {
                m_result.unexplained += own;
                continue;
            }
            if (term.isOutput) {
                giveOutput(operation, term, own);
                continue;
            }
            if (isActivation(operation, term.weightInput, term.weightMember)) {
                give(operation, term.weightInput, term.weightMember, term.weightElement, own / 2);
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
                                 isActivation(operation, term.weightInput, term.weightMember);
            if (depends && term.weight != 0) return;
            if (depends && term.weight == 0) choice.push_back(i);
        }
        if (choice.empty()) return;
        std::ranges::fill(parts, 0.0);
        for (const std::size_t i : choice) parts[i] = 1.0 / static_cast<double>(choice.size());
    }

    bool isActivation(const Operation& operation, std::uint32_t input, std::uint32_t member = 0) const {
        if (input >= operation.arguments.size() || !operation.arguments[input]) return false;
        const Place at = placeOf(*operation.arguments[input], member, &operation.inputs[input]);
        return at.node.valid() && m_depends[m_sources[at.node.index()].index()];
    }

    void give(const Operation& operation, std::uint32_t input, std::uint32_t member, std::int64_t element,
              double share) {
        Place at = input < operation.arguments.size() && operation.arguments[input]
                       ? placeOf(*operation.arguments[input], member, &operation.inputs[input])
                       : Place{};
        const Tensor* tensor = at.node.valid() ? tensorIn(operation.inputs[input], member) : nullptr;
        at.before = m_before;
        if (!at.node.valid()) m_result.constants += share;
        else add(at, element, tensor ? tensor->shape() : Shape{}, share);
    }

    /// The state of the step before, which is an element of an output, or one inside of the operator: as a member of an
    /// output that is no list.
    void giveOutput(const Operation& operation, const ops::DependenceTerm& term, double share) {
        const Tensor* tensor =
            term.input < operation.outputs.size() ? tensorIn(operation.outputs[term.input], term.member) : nullptr;
        if (!tensor || (operation.isUnpacked && term.member > 0)) m_result.unexplained += share;
        else if (operation.isUnpacked)
            add({operation.source, term.input, {}, m_before}, term.element, tensor->shape(), share);
        else
            add({operation.expr->outputs[term.input], term.member, {}, m_before}, term.element, tensor->shape(), share);
    }

    /// Elements that have another value by an edit are not made of anything.
    base::Result<void> leaveEdited(const Key& key, Pending& pending, Reader& reader) {
        SONDE_ASSIGN(const Value value, reader.value(key.node));
        for (std::size_t i = 0; i < pending.share.size(); ++i) {
            if (!(pending.share[i] > 0)) continue;
            if (m_work.cancelled()) return base::cancelled();
            Place place{key.node, {}, shareIndex(static_cast<std::int64_t>(i), pending.shape), beforeOf(key)};
            if (value.isListLike()) place.member = key.member;
            const auto own = explain(m_graph, place, m_reader, {0}, m_work);
            if (!own || !own->isEdited) continue;
            m_result.constants += pending.share[i];
            pending.share[i] = 0;
        }
        return {};
    }

    /// Of a branch or loop the same elements inside of it, or each in the iteration that made it; of what an iteration
    /// was given what that is a part of (inputSource); of a called module's list those of the member. Of anything else
    /// the whole is not explained.
    base::Result<void> throughBodies(const Key& key, const Expr& expr, const Pending& pending, Reader& reader) {
        if (isLoopCounter(key.node, expr)) {
            m_result.constants += std::accumulate(pending.share.begin(), pending.share.end(), 0.0);
            return {};
        }
        const auto whole = reader.value(key.node);
        Place same = memberPlace(m_graph, expr, key.member, whole ? &*whole : nullptr);
        if (!same.node.valid()) same.member = key.member;
        if (expr.kind == ExprKind::Input) {
            std::optional<std::size_t> member;
            if (whole && whole->isListLike()) member = key.member;
            const InputSource source = inputSource(m_graph, key.node, member, reader);
            if (source.whole.node.valid()) return throughInput(key, pending, source);
        } else if (!expr.bodies.empty() && !expr.op.name.empty()) {
            SONDE_ASSIGN(const Value value, reader.value(key.node));
            same.node = insideOf(m_graph, expr, value, reader);
        }
        if (!same.before) same.before = beforeOf(key);
        const bool isSame = same.node.valid() && (same.node != key.node || same.before != beforeOf(key));
        for (const auto& [element, share] : taken(pending, true)) {
            if (isSame) add(same, element, pending.shape, share);
            else SONDE_TRY(throughIteration(key, element, pending, share, reader));
        }
        return {};
    }
    base::Result<void> throughInput(const Key& key, const Pending& pending, InputSource source) {
        if (!source.whole.before) source.whole.before = beforeOf(key);
        Reader* const there = readerAt(source.whole.before);
        SONDE_ASSIGN(const Value whole, there ? there->value(source.whole.node) : base::usageError("it is not kept"));
        const Tensor* const tensor = tensorIn(whole, source.whole.member.value_or(0));
        const Shape shape = tensor ? tensor->shape() : Shape{};
        for (const auto& [element, share] : taken(pending, true))
            add(source.whole, shareElement(source.at(shareIndex(element, pending.shape)).index, shape), shape, share);
        return {};
    }
    /// The number of the iteration, which comes from nowhere.
    bool isLoopCounter(NodeId node, const Expr& expr) const {
        const graph::Body& body = m_graph.body(expr.body);
        return expr.kind == ExprKind::Input && body.owner.valid() && !body.inputs.empty() &&
               body.inputs.front() == node &&
               graph::traitsOf(m_graph.expr(body.owner)).opClass == operators::OpClass::Loop;
    }
    base::Result<void> throughIteration(const Key& key, std::int64_t element, const Pending& pending, double share,
                                        Reader& reader) {
        if (m_work.cancelled()) return base::cancelled();
        const Place part = iterationPart(m_graph, key.node, key.member, shareIndex(element, pending.shape), reader,
                                         m_sources, beforeOf(key));
        Reader* const there = part.node.valid() ? readerAt(part.before) : nullptr;
        const auto value = there ? there->value(part.node) : base::Result<Value>(Value());
        const Tensor* const tensor = there && value ? tensorIn(*value, part.member.value_or(0)) : nullptr;
        if (!tensor) {
            m_result.unexplained += share;
            return {};
        }
        add(part, shareElement(part.index, tensor->shape()), tensor->shape(), share);
        return {};
    }

    base::Result<void> keepInput(const Key& key, const Pending& pending) {
        Share share;
        share.node = key.node;
        SONDE_ASSIGN(const Value value, m_reader.value(key.node));
        if (value.isListLike()) share.member = key.member;
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
    std::size_t m_terms;                  ///< that may still be looked at
    std::vector<std::size_t> m_position;  ///< by expr, from 1 on: when its results are known
    std::map<Key, Pending> m_pending;
    std::map<std::uint32_t, std::unique_ptr<Reader>> m_earlier;
    Before m_before;  ///< of the operation that is gone through
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
