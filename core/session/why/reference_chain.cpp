#include "core/session/why/reference_chain.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "core/exec/flatten.h"
#include "core/graph/traits.h"
#include "core/ops/dependence/leaves.h"

namespace sonde::session::why {

using graph::InternalGraph;
using graph::NodeId;
using tensor::Tensor;
using tensor::Value;

namespace {

/// Elements of one node that are tried where the reference has no value of it, and hops to such elements in all.
constexpr std::size_t kMaxTried = 4, kMaxUnknown = 1'000;

using PlaceId =
    std::tuple<std::uint32_t, std::size_t, std::vector<std::int64_t>, std::optional<std::uint32_t>, std::uint32_t>;
/// Which value of which node: in the iterations that it was made in, and whether they are the last ones.
using ValueId = std::tuple<NodeId, std::size_t, std::vector<std::int64_t>, bool>;

/// A term that may differ, and what for.
struct Candidate {
    Place place;
    bool isKnown = false;  ///< it differs; else the reference has no value of it
    double added = 0;      ///< to the difference of the element; of one that is not known the term itself
    double apart = 0;      ///< from the reference
};

class ReferenceChain {
  public:
    ReferenceChain(const InternalGraph& graph, Reader& reader, Reader& reference, const ReferenceChainOptions& options,
                   const base::WorkContext& work)
        : m_graph(graph), m_reader(reader), m_reference(reference), m_options(options), m_work(work) {}

    base::Result<Chain> run(const Place& start) {
        SONDE_ASSIGN(Explanation first, explain(m_graph, start, m_reader, {m_options.terms}, m_work));
        const auto expected = referenceOf(first.place);
        if (!expected) {
            // A file that cannot be read lacks all values.
            const auto value = m_reference.value(first.place.node);
            if (!value && value.error().kind != base::ErrorKind::Usage) return value.error();
            return base::usageError("the reference has no value of '" + nameOf(first.place) + "'");
        }
        if (!differs(first.place, first.value, *expected))
            return base::usageError("the element does not differ from the reference", {},
                                    "name one that does, or follow the largest terms");
        push(std::move(first), expected);
        SONDE_TRY(follow());
        return std::move(m_chain);
    }

  private:
    /// Outside of loops an element is the same at all times.
    std::optional<std::uint32_t> timeOf(const Place& place) {
        return place.before && !m_reader.iterationsOf(place.node).empty() ? place.before : std::nullopt;
    }
    PlaceId idOf(const Place& place) {
        return {place.node.value, place.member.value_or(0), place.index, timeOf(place), place.state};
    }
    const std::string& nameOf(const Place& place) const { return m_graph.node(place.node).name; }

    // ---- the reference

    struct Known {
        std::optional<Value> value;
        double tolerance = 0;
    };
    /// The iterations of the loops around a place, outermost first.
    std::vector<std::int64_t> iterationsOf(const Place& place) {
        const auto time = timeOf(place);
        if (!time) return m_reader.iterationsOf(place.node);
        const std::unique_ptr<Reader> earlier = m_reader.before(*time);
        return earlier ? earlier->iterationsOf(place.node) : std::vector<std::int64_t>();
    }
    const Known& known(const Place& place) {
        const bool isLast = !timeOf(place);
        const ValueId key{place.node, place.member.value_or(0), iterationsOf(place), isLast};
        if (const auto found = m_known.find(key); found != m_known.end()) return found->second;
        Known known;
        const std::vector<std::int64_t>& iterations = std::get<2>(key);
        auto value = !iterations.empty() ? m_reference.valueIn(place.node, iterations, isLast)
                     : isLast            ? m_reference.value(place.node)
                                         : base::Result<Value>(base::usageError("the iteration is not kept"));
        if (value) {
            if (const Value* const leaf = place.member ? ops::leafOf(*value, *place.member) : nullptr)
                value = Value(*leaf);
            if (value->isTensor()) known.tolerance = m_options.tolerance * largest(value->tensor());
            known.value = std::move(*value);
        }
        return m_known.emplace(key, std::move(known)).first->second;
    }
    static double largest(const Tensor& tensor) {
        double most = 0;
        if (tensor.dtype() == tensor::DType::String || tensor::isComplex(tensor.dtype())) return most;
        for (std::int64_t i = 0; i < tensor.numel(); ++i) {
            const double size = std::fabs(tensor.toDouble(i));
            if (std::isfinite(size)) most = std::max(most, size);
        }
        return most;
    }
    /// Of what is inside of an operator references have nothing, and some have nothing of earlier iterations.
    std::optional<double> referenceOf(const Place& place) {
        if (place.state > 0) return std::nullopt;
        if (const auto moved = m_moved.find(idOf(place)); moved != m_moved.end()) return moved->second;
        const Known& found = known(place);
        if (!found.value || !found.value->isTensor()) return std::nullopt;
        const Tensor& tensor = found.value->tensor();
        if (place.index.size() != tensor.rank()) return std::nullopt;
        std::int64_t element = 0;
        for (std::size_t d = 0; d < tensor.rank(); ++d) {
            if (place.index[d] < 0 || place.index[d] >= tensor.dim(d)) return std::nullopt;
            element = element * tensor.dim(d) + place.index[d];
        }
        return tensor.toDouble(element);
    }
    /// Infinite where only one of both is a finite number.
    static double distance(double a, double b) {
        if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
        const double apart = std::fabs(a - b);
        return std::isnan(apart) ? std::numeric_limits<double>::infinity() : apart;
    }
    bool differs(const Place& place, double value, double expected) {
        return distance(value, expected) > known(place).tolerance;
    }

    // ---- terms

    static double product(double a, double b) {
        const double size = std::fabs(a * b);
        return std::isnan(size) ? (a == 0 || b == 0 ? 0 : std::numeric_limits<double>::infinity()) : size;
    }
    void addTerm(const Term& term, std::map<PlaceId, Candidate>& found) {
        const auto add = [&](const Place& place, double value, double factor) {
            if (!place.node.valid()) return;
            Candidate candidate{place};
            if (const auto expected = referenceOf(place)) {
                if (!differs(place, value, *expected)) return;
                candidate.isKnown = true;
                candidate.apart = distance(value, *expected);
                candidate.added = product(factor, candidate.apart);
            } else if (isGiven(place.node)) {
                return;  // the same in both
            } else {
                candidate.added = product(factor, value);
            }
            Candidate& sum = found.emplace(idOf(place), candidate).first->second;
            sum.added = std::max(sum.added, candidate.added);
        };
        add(term.place, term.value, term.weight);
        if (term.weightPlace) add(*term.weightPlace, term.weight, term.value);
    }
    /// An element that only moved is in the reference what it is a hop before, also where that has no value of it: what
    /// an iteration is given, the one before gave.
    void noteMoved(const Explanation& hop) {
        const graph::Expr& expr = m_graph.expr(m_graph.node(hop.place.node).producer);
        const bool isComputed = !expr.op.name.empty() && expr.bodies.empty();
        if (isComputed || hop.termCount != 1 || !hop.terms.front().place.node.valid() ||
            referenceOf(hop.terms.front().place))
            return;
        if (const auto expected = referenceOf(hop.place)) m_moved.emplace(idOf(hop.terms.front().place), *expected);
    }
    /// What tells which branch is taken, or how often a loop runs, if that differs: what is inside is then no other
    /// value of the same, but something else.
    std::optional<Candidate> differingControl(const Place& place) {
        const graph::Expr& expr = m_graph.expr(m_graph.node(place.node).producer);
        const operators::OpClass kind = graph::traitsOf(expr).opClass;
        const std::size_t count = kind == operators::OpClass::If ? 1 : kind == operators::OpClass::Loop ? 2 : 0;
        for (std::size_t i = 0; i < std::min(count, expr.arguments.size()); ++i) {
            if (expr.arguments[i].kind != graph::Argument::Kind::Node) continue;
            Candidate control{.place = {}, .isKnown = true};
            control.place.node = exec::valueSources(m_graph)[expr.arguments[i].node.index()];
            control.place.before = place.before;
            const auto time = timeOf(control.place);
            const std::unique_ptr<Reader> earlier = time ? m_reader.before(*time) : nullptr;
            const auto value = (earlier ? *earlier : m_reader).value(control.place.node);
            if (!value || !value->isTensor() || value->tensor().numel() != 1) continue;
            control.place.index.assign(value->tensor().rank(), 0);
            const double own = value->tensor().toDouble(0);
            const auto expected = referenceOf(control.place);
            if (!expected || own == *expected) continue;
            control.apart = distance(own, *expected);
            return control;
        }
        return std::nullopt;
    }
    bool isGiven(NodeId node) const {
        const graph::ExprKind kind = m_graph.expr(m_graph.node(node).producer).kind;
        return kind == graph::ExprKind::Constant || kind == graph::ExprKind::GetAttr ||
               m_graph.node(node).constant.has_value();
    }
    /// What an element may have its difference from: the term that differs and adds most, else some of those that
    /// nothing is known of.
    base::Result<std::vector<Candidate>> candidates(const Place& place) {
        if (auto control = differingControl(place)) return std::vector<Candidate>{std::move(*control)};
        SONDE_ASSIGN(const Explanation full, explain(m_graph, place, m_reader, {ops::kMaxTerms}, m_work));
        noteMoved(full);
        std::map<PlaceId, Candidate> found;
        for (const Term& term : full.terms) addTerm(term, found);
        std::vector<Candidate> sorted;
        for (auto& [id, candidate] : found) sorted.push_back(std::move(candidate));
        std::ranges::stable_sort(sorted, [](const Candidate& a, const Candidate& b) {
            return std::tuple(a.isKnown, a.added, a.apart) > std::tuple(b.isKnown, b.added, b.apart);
        });
        if (!sorted.empty() && sorted.front().isKnown) sorted.resize(1);
        std::map<NodeId, std::size_t> tried;
        std::erase_if(sorted, [&](const Candidate& one) { return ++tried[one.place.node] > kMaxTried; });
        return sorted;
    }

    // ---- the way

    void push(Explanation hop, std::optional<double> expected) {
        m_chain.hops.push_back(std::move(hop));
        m_chain.references.push_back(expected);
    }
    void cutTo(std::size_t hops) {
        m_chain.hops.resize(hops);
        m_chain.references.resize(hops);
    }

    base::Result<void> follow() {
        while (m_chain.hops.size() < m_options.hops) {
            if (m_work.cancelled()) return base::cancelled();
            m_work.report("following what differs", m_chain.hops.size(), 0);
            const std::size_t before = m_chain.hops.size();
            const Explanation& last = m_chain.hops.back();
            // What it was made of before the edit has no part in it.
            if (last.isEdited && m_reader.isOverwritten(last.place.node)) {
                end();
                return {};
            }
            m_lacksIterations = false;
            SONDE_ASSIGN(const bool goesOn, goOn(Place(last.place)));
            if (goesOn) continue;
            cutTo(before);
            end();
            return {};
        }
        m_chain.end = "there may be more";
        return {};
    }
    /// Goes on to the next element that differs, through those that nothing is known of. False: there is none.
    base::Result<bool> goOn(const Place& from) {
        SONDE_ASSIGN(const std::vector<Candidate> all, candidates(from));
        for (const Candidate& one : all) {
            m_lacksIterations = m_lacksIterations || (!one.isKnown && timeOf(one.place));
            if (!m_seen.insert(idOf(one.place)).second) continue;
            if (!one.isKnown && ++m_unknown > kMaxUnknown) return false;
            auto hop = explain(m_graph, one.place, m_reader, {m_options.terms}, m_work);
            if (!hop && hop.error().kind == base::ErrorKind::Cancelled) return std::move(hop).error();
            if (!hop) continue;
            const std::size_t before = m_chain.hops.size();
            push(std::move(*hop), referenceOf(one.place));
            if (one.isKnown) return true;
            SONDE_ASSIGN(const bool found, goOn(one.place));
            if (found) return true;
            cutTo(before);
        }
        return false;
    }
    /// The last hop differs, and nothing that it is made of does.
    void end() {
        m_chain.isOrigin = true;
        const Explanation& last = m_chain.hops.back();
        if (last.isEdited || (last.formula.empty() && m_reader.isEdited(last.place.node))) {
            m_chain.end = "an edit makes the difference";
        } else if (last.terms.empty()) {
            m_chain.end = (last.note.empty() ? "a constant of the operator" : last.note) + ", other than the reference";
        } else if (m_lacksIterations) {
            m_chain.isOrigin = false;
            m_chain.end = "the reference has no values of the iterations before: the difference may be made there";
        } else {
            m_chain.end = "the difference from the reference is made here: no term differs";
        }
    }

    const InternalGraph& m_graph;
    Reader& m_reader;
    Reader& m_reference;
    const ReferenceChainOptions& m_options;
    const base::WorkContext& m_work;
    std::map<ValueId, Known> m_known;
    std::map<PlaceId, double> m_moved;  ///< what the reference has there: see noteMoved()
    std::set<PlaceId> m_seen;
    bool m_lacksIterations = false;  ///< from the last hop on, elements of them were tried
    std::size_t m_unknown = 0;
    Chain m_chain;
};

}  // namespace

base::Result<Chain> referenceChain(const InternalGraph& graph, const Place& place, Reader& reader, Reader& reference,
                                   const ReferenceChainOptions& options, const base::WorkContext& work) {
    return ReferenceChain(graph, reader, reference, options, work).run(place);
}

}  // namespace sonde::session::why
