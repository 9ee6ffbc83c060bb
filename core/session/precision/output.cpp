// Reports as JSON and as text.

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/analysis/edited_values.h"
#include "core/base/number_text.h"
#include "core/base/visible_text.h"
#include "core/exec/flatten.h"
#include "core/graph/edit_origin.h"
#include "core/session/precision/precision.h"

namespace sonde::session::precision {

using graph::Expr;
using graph::InternalGraph;
using graph::NodeId;
using nlohmann::ordered_json;

namespace {

/// JSON has no infinity: null.
ordered_json jsonNumber(double value) { return std::isfinite(value) ? ordered_json(value) : ordered_json(nullptr); }

ordered_json jsonOf(const ValueError& error) {
    return {
        {"max_abs", jsonNumber(error.maxAbs)}, {"max_rel", jsonNumber(error.maxRel)}, {"sqnr", jsonNumber(error.sqnr)}};
}

ordered_json jsonOf(const NodeError& node, const InternalGraph& graph) {
    const Expr& expr = graph.expr(graph.node(node.node).producer);
    ordered_json json{{"node", graph.node(node.node).name},
                      {"operator", expr.op.name},
                      {"qualname", expr.qualname ? ordered_json(*expr.qualname) : ordered_json(nullptr)},
                      {"rounded", node.isRounded}};
    if (!node.note.empty()) {
        json["note"] = node.note;
        return json;
    }
    json.update(jsonOf(node.error));
    if (const std::string edited = graph::editedNodeOf(expr); !edited.empty()) json["edit"] = edited;
    json["input_sqnr"] = jsonNumber(node.inputSqnr);
    if (node.channels.empty()) return json;
    json["channel_axis"] = node.channelAxis;
    json["channels"] = ordered_json::array();
    for (const ChannelError& one : node.channels) {
        ordered_json channel{{"channel", one.channel}};
        channel.update(jsonOf(one.error));
        json["channels"].push_back(std::move(channel));
    }
    return json;
}

std::string decibels(double value) {
    if (std::isnan(value)) return "not finite";
    if (std::isinf(value)) return value > 0 ? "equal" : "only noise";
    return base::roundedText(value, 4) + " dB";
}
std::string textOf(const ValueError& error) {
    return "max abs " + base::roundedText(error.maxAbs, 3) + "  max rel " + base::roundedText(error.maxRel, 3) + "  " +
           decibels(error.sqnr);
}

class ReportWriter {
  public:
    ReportWriter(const Report& report, const document::Document& document)
        : m_report(report), m_document(document), m_graph(*document.graph) {}

    std::string text(bool allNodes) {
        m_text +=
            std::to_string(m_report.nodes.size()) + (m_report.nodes.size() == 1 ? " value" : " values") + " compared";
        if (m_report.chosen > 0)
            m_text += ", " + std::to_string(m_report.chosen) + (m_report.chosen == 1 ? " operation" : " operations") +
                      " rounded";
        m_text += "\n";
        addNotCompared();
        for (const std::string& note : m_report.notes) m_text += base::visibleText(note) + "\n";
        if (!m_report.begins.valid()) {
            const bool isNone =
                std::ranges::all_of(m_report.nodes, [](const NodeError& one) { return !one.note.empty(); });
            return m_text + (isNone && !m_report.nodes.empty() ? "" : "All values that were compared are equal\n");
        }
        m_text += "The error begins at " + nameOf(m_report.begins) + "\n";
        if (allNodes) {
            for (const NodeError& node : m_report.nodes) line(node);
            return m_text + outputs();
        }
        if (!m_report.growing.empty()) m_text += "It grows most at\n";
        for (const std::size_t i : m_report.growing) line(m_report.nodes[i]);
        m_text += "It is largest at\n";
        for (const std::size_t i : m_report.worst) line(m_report.nodes[i], true);
        return m_text + outputs();
    }

  private:
    void addNotCompared() {
        const auto isNoted = [](const NodeError& node) { return !node.note.empty(); };
        const auto count = std::ranges::count_if(m_report.nodes, isNoted);
        if (count == 0) return;
        const NodeError& first = *std::ranges::find_if(m_report.nodes, isNoted);
        m_text += std::to_string(count) + " of these could not be compared by element, the first at " +
                  nameOf(first.node) + ": " + base::visibleText(first.note) + "\n";
    }
    std::string nameOf(NodeId node) const { return base::visibleText(analysis::nameWithoutEdits(m_graph, node)); }
    void line(const NodeError& node, bool withChannels = false) {
        const Expr& expr = m_graph.expr(m_graph.node(node.node).producer);
        m_text += "  " + nameOf(node.node) + "  " + base::visibleText(expr.op.name) + "  ";
        if (!node.note.empty()) {
            m_text += base::visibleText(node.note) + "\n";
            return;
        }
        m_text += textOf(node.error);
        m_text += std::isinf(node.inputSqnr) && node.inputSqnr > 0 ? " from equal inputs"
                                                                   : " from " + decibels(node.inputSqnr);
        m_text += "\n";
        for (const ChannelError& one : node.channels)
            if (withChannels) m_text += "    channel " + std::to_string(one.channel) + "  " + textOf(one.error) + "\n";
    }
    std::string outputs() const {
        std::string text;
        const std::vector<NodeId> sources = exec::valueSources(m_graph);
        for (const document::NamedNode& output : m_document.outputs) {
            const auto found = std::ranges::find(m_report.nodes, sources[output.node.index()], &NodeError::node);
            if (found == m_report.nodes.end() || !found->note.empty()) continue;
            text += "Output " + base::visibleText(output.name) + "  " + textOf(found->error) + "\n";
        }
        return text;
    }

    const Report& m_report;
    const document::Document& m_document;
    const InternalGraph& m_graph;
    std::string m_text;
};

}  // namespace

void addReport(ordered_json& answer, const Report& report, const InternalGraph& graph) {
    answer["rounded"] = report.chosen;
    if (!report.notes.empty()) answer["notes"] = report.notes;
    answer["begins"] = report.begins.valid() ? ordered_json(graph.node(report.begins).name) : ordered_json(nullptr);
    const auto names = [&](const std::vector<std::size_t>& list) {
        ordered_json json = ordered_json::array();
        for (const std::size_t i : list) json.push_back(graph.node(report.nodes[i].node).name);
        return json;
    };
    answer["worst"] = names(report.worst);
    answer["growing"] = names(report.growing);
    answer["nodes"] = ordered_json::array();
    for (const NodeError& node : report.nodes) answer["nodes"].push_back(jsonOf(node, graph));
}

std::string reportText(const Report& report, const document::Document& document, bool allNodes) {
    return ReportWriter(report, document).text(allNodes);
}

}  // namespace sonde::session::precision
