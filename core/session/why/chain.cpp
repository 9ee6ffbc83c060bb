#include "core/session/why/chain.h"

#include <cmath>
#include <set>

#include "core/exec/flatten.h"

namespace sonde::session::why {

using graph::ExprKind;
using graph::InternalGraph;
using graph::NodeId;

namespace {

bool isConstant(const InternalGraph& graph, NodeId node) {
    const ExprKind kind = graph.expr(graph.node(node).producer).kind;
    return kind == ExprKind::Constant || kind == ExprKind::GetAttr || graph.node(node).constant.has_value();
}

/// The first term that is NaN or infinite itself, or has such a weight. NaN first, of infinity only if the element is
/// no NaN that nothing else explains.
Place firstBad(const Explanation& explanation, bool isNan) {
    const auto isBad = [isNan](double value) { return isNan ? std::isnan(value) : std::isinf(value); };
    for (const Term& term : explanation.terms) {
        if (term.place.node.valid() && isBad(term.value)) return term.place;
        if (term.weightPlace && isBad(term.weight)) return *term.weightPlace;
    }
    return {};
}

std::string placeKey(const Place& place) {
    std::string key = std::to_string(place.node.value) + "/" + std::to_string(place.member.value_or(0));
    for (const std::int64_t i : place.index) key += "," + std::to_string(i);
    if (place.state > 0) key += "@" + std::to_string(place.state);
    if (place.before) key += "<" + std::to_string(*place.before);
    return key;
}

}  // namespace

Place nextInChain(const InternalGraph& graph, const Explanation& explanation, std::string& end, bool& isOrigin) {
    isOrigin = false;
    if (explanation.terms.empty()) {
        end = explanation.note.empty() ? "a constant of the operator" : explanation.note;
        return {};
    }
    if (!std::isfinite(explanation.value)) {
        Place bad = firstBad(explanation, true);
        // NaN comes of infinity less infinity, or times 0.
        if (!bad.node.valid()) bad = firstBad(explanation, false);
        if (bad.node.valid()) return bad;
        isOrigin = true;
        end = std::string(std::isnan(explanation.value) ? "NaN" : "infinity") +
              (explanation.isEdited ? " is set by an edit" : " is made here: no term is NaN or infinite");
        return {};
    }
    constexpr const char* kInside = "what counts are numbers of the operator or values within it";
    bool isInside = false;  // as the layer below of a recurrent one, which is larger than an initial state of zeros
    for (const Term& term : explanation.terms) {
        const bool counts = term.contribution() != 0;
        isInside = isInside || (!term.place.node.valid() && counts);
        if (!term.place.node.valid() || isConstant(graph, term.place.node)) continue;
        if (!isInside || counts) return term.place;
        end = kInside;
        return {};
    }
    end = isInside ? kInside : "only weights and constants";
    return {};
}

base::Result<Chain> chain(const InternalGraph& graph, const Place& place, Reader& reader, const ChainOptions& options,
                          const base::WorkContext& work) {
    Chain chain;
    std::set<std::string> seen;
    Place at = place;
    while (at.node.valid()) {
        if (work.cancelled()) return base::cancelled();
        work.report("following the largest terms", chain.hops.size(), 0);
        auto hop = explain(graph, at, reader, {options.terms}, work);
        if (!hop) {
            if (chain.hops.empty() || hop.error().kind == base::ErrorKind::Cancelled) return std::move(hop).error();
            chain.end = hop.error().what;
            break;
        }
        if (!seen.insert(placeKey(hop->place)).second) {
            chain.end = "the element was there before";
            break;
        }
        chain.hops.push_back(std::move(*hop));
        if (chain.hops.size() >= options.hops) {
            chain.end = "there may be more";
            break;
        }
        at = nextInChain(graph, chain.hops.back(), chain.end, chain.isOrigin);
        if (at.node.valid() || chain.isOrigin || chain.hops.back().restCount() == 0) continue;
        // Weights may be larger than all that is computed, as the biases of a recurrent layer.
        SONDE_ASSIGN(const Explanation full, explain(graph, chain.hops.back().place, reader, {ops::kMaxTerms}, work));
        at = nextInChain(graph, full, chain.end, chain.isOrigin);
    }
    return chain;
}

}  // namespace sonde::session::why
