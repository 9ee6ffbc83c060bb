#include "core/session/why/json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/io/json/number_json.h"
#include "core/ops/dependence/recurrent.h"

namespace sonde::session::why {

using io::finiteOrText;
using nlohmann::ordered_json;

namespace {

ordered_json nameOf(const Place& place, const graph::InternalGraph& graph) {
    return place.node.valid() ? ordered_json(graph.node(place.node).name) : ordered_json();
}

/// A state inside of an operator is no element of a node.
void addWhere(ordered_json& json, const Place& place, const graph::InternalGraph& graph) {
    const bool isInside = place.state > 0;
    json["node"] = isInside ? ordered_json() : nameOf(place, graph);
    json["index"] = isInside ? std::vector<std::int64_t>() : place.index;
    if (isInside)
        json["inside"] = {{"node", nameOf(place, graph)},
                          {"state", ops::dependence::innerStateText(place.state)},
                          {"index", place.index}};
    if (place.member && !isInside) json["member"] = *place.member;
}

}  // namespace

void addPlace(ordered_json& answer, const Place& place, const graph::InternalGraph& graph) {
    addWhere(answer, place, graph);
}

void addExplanation(ordered_json& answer, const Explanation& explanation, const graph::InternalGraph& graph) {
    addPlace(answer, explanation.place, graph);
    answer["value"] = finiteOrText(explanation.value);
    if (!explanation.operatorName.empty()) answer["operator"] = explanation.operatorName;
    if (!explanation.iteration.empty()) answer["iteration"] = explanation.iteration;
    answer["terms"] = ordered_json::array();
    for (const Term& term : explanation.terms) {
        ordered_json json;
        addWhere(json, term.place, graph);
        json["weight"] = finiteOrText(term.weight);
        json["value"] = finiteOrText(term.value);
        json["part"] = term.part;
        if (term.weightPlace) {
            json["weight_node"] = nameOf(*term.weightPlace, graph);
            json["weight_index"] = term.weightPlace->index;
        }
        answer["terms"].push_back(std::move(json));
    }
    answer["formula"] = explanation.formula;
    if (!explanation.withNumbers.empty()) answer["numbers"] = explanation.withNumbers;
    if (explanation.recombined) answer["recombined"] = finiteOrText(*explanation.recombined);
    answer["count"] = explanation.termCount;
    if (explanation.restCount() > 0)
        answer["rest"] = {{"count", explanation.restCount()}, {"sum", finiteOrText(explanation.restSum)}};
    if (explanation.note.empty()) return;
    answer["note"] = explanation.note;
    answer["inputs"] = ordered_json::array();
    for (const graph::NodeId input : explanation.inputs) answer["inputs"].push_back(graph.node(input).name);
}

ordered_json fieldJson(const ReceptiveField& field, const graph::InternalGraph& graph) {
    ordered_json list = ordered_json::array();
    for (const Box& box : field.inputs) {
        list.push_back({{"node", graph.node(box.node).name},
                        {"begin", box.begin},
                        {"end", box.end},
                        {"shape", box.shape.dims()},
                        {"exact", box.isExact}});
    }
    return list;
}

void addContributions(ordered_json& answer, const Contributions& contributions, const graph::InternalGraph& graph,
                      std::size_t elements) {
    answer["contributions"] = ordered_json::array();
    for (const Share& share : contributions.inputs) {
        ordered_json json{{"node", graph.node(share.node).name}, {"share", share.sum}};
        if (share.member) json["member"] = *share.member;
        json["shape"] = share.map.shape().dims();
        json["largest"] = ordered_json::array();
        for (const auto& [index, part] : share.largest(elements))
            json["largest"].push_back({{"index", index}, {"share", part}});
        answer["contributions"].push_back(std::move(json));
    }
    answer["constants"] = contributions.constants;
    answer["unexplained"] = contributions.unexplained;
    answer["cut"] = contributions.cut;
    answer["sampled"] = contributions.isSampled;
    answer["nan"] = contributions.hasNan;
}

void addChain(ordered_json& answer, const Chain& chain, const graph::InternalGraph& graph) {
    answer["chain"] = ordered_json::array();
    for (std::size_t i = 0; i < chain.hops.size(); ++i) {
        const Explanation& hop = chain.hops[i];
        ordered_json json;
        addWhere(json, hop.place, graph);
        json["node"] = nameOf(hop.place, graph);  // whose operator is followed, inside of it too
        json["operator"] = hop.operatorName;
        json["value"] = finiteOrText(hop.value);
        if (!hop.iteration.empty()) json["iteration"] = hop.iteration;
        if (i < chain.references.size())
            json["reference"] = chain.references[i] ? finiteOrText(*chain.references[i]) : ordered_json();
        answer["chain"].push_back(std::move(json));
    }
    answer["end"] = chain.end;
    answer["origin"] = chain.isOrigin ? nameOf(chain.hops.back().place, graph) : ordered_json();
}

}  // namespace sonde::session::why
