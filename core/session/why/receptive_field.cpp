#include "core/session/why/receptive_field.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "core/base/thread_pool.h"
#include "core/exec/flatten.h"
#include "core/ops/dependence/leaves.h"
#include "core/session/why/inside.h"

namespace sonde::session::why {

using graph::InternalGraph;
using graph::NodeId;
using tensor::Shape;
using tensor::Value;
using Index = std::vector<std::int64_t>;

namespace {

constexpr std::size_t kMaxCorners = 64;       ///< of one box; of more dimensions only the first and the last
constexpr std::int64_t kMaxLookedAt = 4'096;  ///< elements of a box that are looked at one by one

/// A value: a node, and a member of a list.
using ValueKey = std::pair<NodeId, std::size_t>;

Shape shapeOf(const Value& value, std::size_t member) {
    const Value* const found = ops::leafOf(value, member);
    return found && found->isTensor() ? found->tensor().shape() : Shape{};
}

Index indexAt(std::int64_t element, const Shape& shape) {
    Index index(shape.rank(), 0);
    for (std::size_t d = shape.rank(); d-- > 0;) {
        index[d] = element % std::max<std::int64_t>(shape[d], 1);
        element /= std::max<std::int64_t>(shape[d], 1);
    }
    return index;
}

std::int64_t elementIn(const Index& index, const Shape& shape) {
    std::int64_t element = 0;
    for (std::size_t d = 0; d < shape.rank(); ++d) element = element * shape[d] + index[d];
    return element;
}

class FieldWalk {
  public:
    FieldWalk(const InternalGraph& graph, Reader& reader, const base::WorkContext& work)
        : m_graph(graph), m_reader(reader), m_work(work), m_sources(exec::valueSources(graph)), m_pool(1) {}

    base::Result<void> start(const Place& place) {
        SONDE_ASSIGN(const Explanation own, explain(m_graph, place, m_reader, {0}, m_work));
        SONDE_ASSIGN(const Value value, m_reader.value(place.node));
        include(place.node, own.place.member.value_or(0), own.place.index, shapeOf(value, own.place.member.value_or(0)),
                true);
        return {};
    }

    /// Values whose users have all been seen, the latest operation first.
    base::Result<ReceptiveField> run() {
        const std::vector<graph::ExprId> order = resultOrder(m_graph);
        for (std::size_t i = order.size(); i-- > 0;) {
            const graph::Expr& expr = m_graph.expr(order[i]);
            for (const NodeId output : expr.outputs) {
                std::vector<Box> boxes;
                for (auto at = m_boxes.lower_bound({output, 0}); at != m_boxes.end() && at->first.first == output; ++at)
                    boxes.push_back(at->second);
                for (const Box& box : boxes) {
                    if (m_work.cancelled()) return base::cancelled();
                    SONDE_TRY(goThrough(box));
                }
            }
        }
        ReceptiveField field;
        for (const ValueKey& key : m_order) {
            const Box& box = m_boxes.at(key);
            field.nodes.push_back(box);
            if (std::ranges::find(m_graph.inputs(), box.node) != m_graph.inputs().end()) field.inputs.push_back(box);
        }
        return field;
    }

  private:
    void include(NodeId node, std::size_t member, const Index& index, const Shape& shape, bool isExact,
                 bool isFull = true) {
        const NodeId source = m_sources[node.index()];
        if (!isFull) m_withGaps.insert({source, member});
        const auto [at, isNew] = m_boxes.try_emplace({source, member});
        Box& box = at->second;
        if (isNew) {
            m_order.emplace_back(source, member);
            box = {source, member, index, index, shape, isExact};
            for (std::int64_t& end : box.end) ++end;
            return;
        }
        box.isExact = box.isExact && isExact;
        for (std::size_t d = 0; d < box.begin.size() && d < index.size(); ++d) {
            box.begin[d] = std::min(box.begin[d], index[d]);
            box.end[d] = std::max(box.end[d], index[d] + 1);
        }
    }
    void includeAll(NodeId node, std::size_t member, const Shape& shape) {
        if (shape.numel() == 0) return;
        Index last = shape.dims();
        for (std::int64_t& d : last) --d;
        include(node, member, Index(shape.rank(), 0), shape, false, false);
        include(node, member, last, shape, false, false);
    }

    bool isFull(const Box& box) const { return !m_withGaps.contains({box.node, box.member.value_or(0)}); }

    /// The elements of a box that stand for all of them.
    std::vector<std::int64_t> looked(const Box& box, bool isMonotone, bool& isExact) const {
        std::vector<std::int64_t> elements;
        const std::int64_t count = box.count();
        if (!isMonotone && count <= kMaxLookedAt) {
            for (std::int64_t i = 0; i < count; ++i) {
                Index size(box.begin.size());
                for (std::size_t d = 0; d < size.size(); ++d) size[d] = box.end[d] - box.begin[d];
                Index index = indexAt(i, Shape(size));
                for (std::size_t d = 0; d < index.size(); ++d) index[d] += box.begin[d];
                elements.push_back(elementIn(index, box.shape));
            }
            return elements;
        }
        isExact = isExact && isMonotone;
        const std::size_t rank = box.begin.size();
        const std::size_t corners = rank < 7 ? std::size_t{1} << rank : 2;
        for (std::size_t corner = 0; corner < std::min(corners, kMaxCorners); ++corner) {
            Index index(rank);
            for (std::size_t d = 0; d < rank; ++d) {
                const bool isLast = rank < 7 ? (corner >> d & 1) != 0 : corner == 1;
                index[d] = isLast ? box.end[d] - 1 : box.begin[d];
            }
            elements.push_back(elementIn(index, box.shape));
        }
        std::ranges::sort(elements);
        elements.erase(std::unique(elements.begin(), elements.end()), elements.end());
        return elements;
    }

    base::Result<void> goThrough(const Box& box) {
        SONDE_ASSIGN(const Operation operation, operationOf(m_graph, box.node, m_reader));
        if (!operation.op) {
            return throughBodies(box, *operation.expr);
        }
        ops::RunEnvironment environment;
        environment.pool = &m_pool;
        environment.stop = m_work.stop;
        ops::DependenceQuestion question{operation.op, operation.inputs, &operation.expr->attributes,
                                         operation.outputs};
        question.output = operation.isUnpacked ? *box.member : operation.output;
        question.member = operation.isUnpacked ? 0 : box.member.value_or(0);
        question.version = operation.expr->op.version;
        // Elements that an edit set are not made of what the operation reads.
        bool isExact = box.isExact && !m_reader.isEdited(box.node);
        if (const auto moved = ops::findMoved(question, environment)) {
            throughMoved(box, operation, *moved);
            return {};
        }
        const bool isMonotone = !ops::picksElements(*operation.op);
        // What is picked one by one may be anywhere.
        const bool isWhole = isMonotone && isFull(box) && !hasGaps(box, question, environment);
        for (const std::int64_t element : looked(box, isMonotone, isExact)) {
            if (m_work.cancelled()) return base::cancelled();
            question.element = element;
            if (!includeTermsOf(operation, question, environment, isExact, isWhole)) {
                throughUnknown(operation);
                return {};
            }
        }
        return {};
    }

    /// What an element is made of; of elements of the operation's own outputs among that, as states of the steps
    /// before, what they are made of. False if something has no rule.
    bool includeTermsOf(const Operation& operation, ops::DependenceQuestion question, ops::RunEnvironment& environment,
                        bool isExact, bool isWhole) {
        using Asked = std::tuple<std::size_t, std::size_t, std::int64_t>;  // output, member, element
        std::vector<Asked> waiting{{question.output, question.member, question.element}};
        std::set<Asked> seen{waiting.front()};
        std::vector<Value> outputs(question.outputs.begin(), question.outputs.end());
        while (!waiting.empty()) {
            std::tie(question.output, question.member, question.element) = waiting.back();
            waiting.pop_back();
            if (m_work.cancelled() || !knowsOutput(question, outputs, environment)) return false;
            question.outputs = outputs;
            const auto dependence = ops::findDependence(question, environment);
            if (!dependence) return false;
            std::map<std::pair<std::uint32_t, std::uint32_t>, std::pair<std::int64_t, std::int64_t>> states;
            const auto addState = [&](const ops::DependenceTerm& term) {
                const auto [at, isNew] =
                    states.try_emplace({term.input, term.member}, std::pair(term.element, term.element));
                at->second = {std::min(at->second.first, term.element), std::max(at->second.second, term.element)};
            };
            for (const ops::DependenceTerm& term : dependence->terms) {
                if (term.isOutput) {
                    // Where a chain begins is known, and what is on the way is reached: no need to go step by step.
                    if (!isOfChain(*dependence, term)) addState(term);
                    continue;
                }
                includeTerm(operation, term.input, term.member, term.element, isExact, isWhole);
                if (term.weightInput != ops::kNoOperand)
                    includeTerm(operation, term.weightInput, term.weightMember, term.weightElement, isExact, isWhole);
            }
            for (const ops::DependenceTerm& term : dependence->begins) addState(term);
            for (const auto& [of, ends] : states)
                for (const std::int64_t element : {ends.first, ends.second})
                    if (seen.emplace(of.first, of.second, element).second)
                        waiting.emplace_back(of.first, of.second, element);
        }
        return true;
    }

    static bool isOfChain(const ops::Dependence& dependence, const ops::DependenceTerm& term) {
        return std::ranges::any_of(dependence.begins, [&](const ops::DependenceTerm& begin) {
            return begin.input == term.input && begin.member == term.member;
        });
    }

    /// Whether neighbours in the box depend on elements with others in between, as in a convolution whose steps are
    /// larger than its window.
    static bool hasGaps(const Box& box, ops::DependenceQuestion question, ops::RunEnvironment& environment) {
        const auto spans = [&](const Index& index) {
            std::map<std::uint32_t, std::pair<Index, Index>> found;
            question.element = elementIn(index, box.shape);
            const auto dependence = ops::findDependence(question, environment);
            for (std::size_t i = 0; dependence && i < dependence->terms.size(); ++i) {
                const ops::DependenceTerm& term = dependence->terms[i];
                if (term.isOutput || term.input >= question.inputs.size()) continue;
                const Index at = indexAt(term.element, shapeOf(question.inputs[term.input], term.member));
                auto& [low, high] = found.try_emplace(term.input, at, at).first->second;
                for (std::size_t d = 0; d < at.size() && d < low.size(); ++d) {
                    low[d] = std::min(low[d], at[d]);
                    high[d] = std::max(high[d], at[d]);
                }
            }
            return found;
        };
        std::optional<std::map<std::uint32_t, std::pair<Index, Index>>> first;
        for (std::size_t d = 0; d < box.begin.size(); ++d) {
            if (box.end[d] - box.begin[d] < 2) continue;
            if (!first) first = spans(box.begin);
            Index next = box.begin;
            ++next[d];
            for (const auto& [input, span] : spans(next)) {
                const auto own = first->find(input);
                for (std::size_t k = 0; own != first->end() && k < span.first.size(); ++k)
                    if (span.first[k] > own->second.second[k] + 1) return true;
            }
        }
        return false;
    }

    void includeTerm(const Operation& operation, std::uint32_t input, std::uint32_t member, std::int64_t element,
                     bool isExact, bool isFull) {
        if (input >= operation.arguments.size() || !operation.arguments[input]) return;
        const Place at = placeOf(*operation.arguments[input], member, &operation.inputs[input]);
        if (!at.node.valid()) return;
        const Shape shape = shapeOf(operation.inputs[input], member);
        include(at.node, at.member.value_or(0), indexAt(element, shape), shape, isExact, isFull);
    }

    /// Element by element. What has gaps may be anywhere afterwards.
    void throughMoved(const Box& box, const Operation& operation, const ops::MovedElements& moved) {
        Index size(box.begin.size());
        for (std::size_t d = 0; d < size.size(); ++d) size[d] = box.end[d] - box.begin[d];
        const Shape inside(size);
        std::map<std::pair<std::size_t, std::size_t>, std::vector<std::int64_t>> taken;  // by input and member
        for (std::int64_t i = 0; i < inside.numel(); ++i) {
            Index index = indexAt(i, inside);
            for (std::size_t d = 0; d < index.size(); ++d) index[d] += box.begin[d];
            if (const auto source = moved.sourceOf(elementIn(index, box.shape)))
                taken[{source->input, source->member}].push_back(source->element);
        }
        for (auto& [from, elements] : taken) {
            std::ranges::sort(elements);
            elements.erase(std::unique(elements.begin(), elements.end()), elements.end());
            const bool isWhole = isFull(box) && isBox(elements, shapeOf(operation.inputs[from.first], from.second));
            for (const std::int64_t element : elements)
                includeTerm(operation, static_cast<std::uint32_t>(from.first), static_cast<std::uint32_t>(from.second),
                            element, box.isExact && isFull(box), isWhole);
        }
    }
    /// Whether the elements, each once, are all of those between the first and the last in each dimension.
    static bool isBox(const std::vector<std::int64_t>& elements, const Shape& shape) {
        Index low(shape.rank(), std::numeric_limits<std::int64_t>::max()), high(shape.rank(), 0);
        for (const std::int64_t element : elements) {
            const Index at = indexAt(element, shape);
            for (std::size_t d = 0; d < at.size(); ++d) {
                low[d] = std::min(low[d], at[d]);
                high[d] = std::max(high[d], at[d]);
            }
        }
        std::int64_t count = 1;
        for (std::size_t d = 0; d < low.size(); ++d) count *= high[d] - low[d] + 1;
        return count == static_cast<std::int64_t>(elements.size());
    }

    /// All of what an operator reads that does not say what it depends on.
    void throughUnknown(const Operation& operation) {
        for (std::size_t i = 0; i < operation.arguments.size(); ++i) {
            if (!operation.arguments[i]) continue;
            operation.arguments[i]->forEachNode([&](NodeId node) { includeWhole(node); });
        }
    }
    void includeWhole(NodeId node) {
        const auto value = m_reader.value(node);
        if (!value) return;
        const std::size_t members = ops::leafCount(*value);
        for (std::size_t m = 0; m < members; ++m) includeAll(node, m, shapeOf(*value, m));
    }

    /// Of a called module's list what the member is. Of control flow, and code of the model's own, all that it is
    /// given.
    base::Result<void> throughBodies(const Box& given, const graph::Expr& expr) {
        const Box box = given;
        const auto whole = m_reader.value(box.node);
        if (const Place inside = memberPlace(m_graph, expr, box.member, whole ? &*whole : nullptr);
            inside.node.valid()) {
            includeBox(inside, box);
            return {};
        }
        if (expr.kind == graph::ExprKind::Input) {
            // The input of a body: what control flow is given.
            const graph::ExprId owner = m_graph.body(expr.body).owner;
            if (owner.valid() && expr.body != m_graph.mainId())
                for (const NodeId input : m_graph.expr(owner).inputs) includeWhole(input);
            return {};
        }
        for (const NodeId input : expr.inputs) includeWhole(input);
        for (const graph::BodyId body : expr.bodies)
            for (const NodeId output : m_graph.body(body).outputs) includeWhole(output);
        return {};
    }
    void includeBox(const Place& place, const Box& box) {
        Index last = box.end;
        for (std::int64_t& d : last) --d;
        include(place.node, place.member.value_or(0), box.begin, box.shape, box.isExact, isFull(box));
        include(place.node, place.member.value_or(0), last, box.shape, box.isExact, isFull(box));
    }

    const InternalGraph& m_graph;
    Reader& m_reader;
    const base::WorkContext& m_work;
    std::vector<NodeId> m_sources;
    base::ThreadPool m_pool;
    std::map<ValueKey, Box> m_boxes;
    std::set<ValueKey> m_withGaps;  ///< whose boxes have elements that do not reach the element
    std::vector<ValueKey> m_order;
};

}  // namespace

std::int64_t Box::count() const {
    std::int64_t count = 1;
    for (std::size_t d = 0; d < begin.size(); ++d) count *= end[d] - begin[d];
    return count;
}

base::Result<ReceptiveField> receptiveField(const InternalGraph& graph, const Place& place, Reader& reader,
                                            const base::WorkContext& work) {
    FieldWalk walk(graph, reader, work);
    SONDE_TRY(walk.start(place));
    return walk.run();
}

}  // namespace sonde::session::why
