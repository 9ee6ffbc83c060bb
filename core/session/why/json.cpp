#include "core/session/why/json.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace sonde::session::why {

using nlohmann::ordered_json;

namespace {

ordered_json finiteOrText(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    return value;
}

ordered_json nameOf(const Place& place, const graph::InternalGraph& graph) {
    return place.node.valid() ? ordered_json(graph.node(place.node).name) : ordered_json();
}

}  // namespace

void addExplanation(ordered_json& answer, const Explanation& explanation, const graph::InternalGraph& graph) {
    answer["value"] = finiteOrText(explanation.value);
    if (!explanation.operatorName.empty()) answer["operator"] = explanation.operatorName;
    answer["terms"] = ordered_json::array();
    for (const Term& term : explanation.terms) {
        ordered_json json{{"node", nameOf(term.place, graph)},
                          {"index", term.place.index},
                          {"weight", finiteOrText(term.weight)},
                          {"value", finiteOrText(term.value)},
                          {"part", term.part}};
        if (term.place.member) json["member"] = *term.place.member;
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

}  // namespace sonde::session::why
