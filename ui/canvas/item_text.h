#pragma once

#include <QString>
#include <QStringList>

#include "core/layout/scene.h"
#include "ui/canvas/canvas_style.h"
#include "ui/canvas/operation_text.h"
#include "ui/theme/color_role.h"

namespace sonde::canvas {

/// What is written on an item.
struct ItemText {
    QString title;      ///< operator; module's qualname; name of an input, output or stub
    QString qualname;   ///< second line: where it comes from, or the module's class
    QString name;       ///< third line: the generated name, or what a closed box hides
    QString facts;      ///< beside the operator, or the module's class: "3→64 k7 s2 p3", "6 blocks"
    QStringList small;  ///< further lines in small letters: attributes, or what the user wants to read

    /// A module's second line: its class and what is known of it.
    QString classAndFacts() const;
};

/// The texts of an item. Works for any graph; never fails.
ItemText itemText(const graph::InternalGraph& graph, const layout::ItemDescription& what);

/// The same as a style has it: with or without names and attributes, with the user's lines in place of ours.
ItemText itemText(const graph::InternalGraph& graph, const layout::ItemDescription& what, const CanvasStyle& style);

/// The class that gives an item its colour.
theme::OpCategory categoryOf(const graph::InternalGraph& graph, const layout::ItemDescription& what);
/// "float32[1,64,56,56]"; empty if nothing is known.
QString typeText(const graph::Node& node);
/// The types of what an edge carries: that of the first value, and how many more there are.
QString edgeText(const graph::InternalGraph& graph, const layout::SceneEdge& edge);
/// A long type with "…" for each dim size that is a whole formula: float32[N,64,…,…].
QString shortType(const QString& type);

/// The node that an item stands for when it is watched or selected: its first output; none for modules and bodies.
graph::NodeId nodeOf(const graph::InternalGraph& graph, const layout::ItemDescription& what);

/// A few lines for a tool tip: operator, qualname, name, types of inputs and outputs, attributes. Plain text.
QString itemFacts(const graph::InternalGraph& graph, const layout::SceneItem& item);
/// One line for a screen reader: "Conv, module layer1.0.conv1, value layer1_0_conv1, float32[1,64,56,56]".
QString spokenText(const graph::InternalGraph& graph, const layout::SceneItem& item);

/// All items with their depth, in the order of execution; boxes come before what is in them.
std::vector<std::pair<layout::ItemId, int>> itemsInOrder(const layout::SceneLayout& scene);

/// The scene as indented text, one line an item, in the order of execution: the picture for those who do not see it.
QString sceneAsText(const graph::InternalGraph& graph, const layout::SceneLayout& scene);

}  // namespace sonde::canvas
