#pragma once

#include <QTemporaryDir>

#include <string>
#include <vector>

#include "core/exec/runner.h"
#include "core/export/write_export.h"
#include "core/session/edits/edit_line.h"
#include "core/session/edits/edited_model.h"
#include "core/session/session.h"

namespace sonde::test::edits {

/// Makes the edit that a line says; an error as text.
inline std::optional<std::string> make(session::Session& session, const std::string& line) {
    std::size_t column = 0;
    const bool isSet = line.find('=') != std::string::npos;
    const auto parsed = isSet ? session::parseSet(line, column) : session::parseEdit(line, column);
    if (!parsed) return parsed.error().text();
    const auto node = session::ReadyEdit::find(*session.document(), parsed->node);
    if (!node) return node.error().text();
    session::EditPlace place;
    const auto made = session.addEdit(*node, parsed->edit, place);
    return made ? std::nullopt : std::optional(made.error().text());
}

/// What the edited model gives when it was written and opened again; an error as text.
inline std::string compareWritten(session::Session& session, const QTemporaryDir& folder,
                                  const std::vector<tensor::Value>& inputs, const session::TypesOfRun& types = {}) {
    const auto edited = session::editedDocument(*session.document(), session.edits(), types);
    if (!edited) return edited.error().text();
    const std::string path = folder.filePath(QStringLiteral("edited.onnx")).toStdString();
    const auto written = exporting::writeExport(**edited, {exporting::ExportFormat::Onnx, {}}, path, inputs);
    if (!written) return written.error().text();
    const auto again = document::open(path);
    if (!again) return again.error().text();
    exec::Runner runner(1);
    const exec::Recording recording =
        runner.run(*exec::Plan::make((*again)->graph, {.watchAll = true}).value(), inputs);
    if (recording.error) return recording.error->text();
    const graph::InternalGraph& graph = *session.document()->graph;
    std::size_t compared = 0;
    for (std::size_t i = 0; i < graph.nodeCount(); ++i) {
        const graph::NodeId node(i), same = (*again)->graph->findNode(graph.node(node).name);
        const auto value = session.debugger().value(node);
        const bool isInput = graph.expr(graph.node(node).producer).kind == graph::ExprKind::Input;
        if (isInput || !same.valid() || !value || !recording.value(same)) continue;
        if (!tensor::identical(*value, *recording.value(same))) return graph.node(node).name + " is another value";
        ++compared;
    }
    if ((*again)->outputs.size() != session.document()->outputs.size()) return "other outputs";
    for (std::size_t i = 0; i < (*again)->outputs.size(); ++i)
        if ((*again)->outputs[i].name != session.document()->outputs[i].name) return "other names of outputs";
    return compared > 2 ? std::string() : "nothing was compared";
}

}  // namespace sonde::test::edits
