#pragma once

#include <QString>
#include <QStringList>

#include <map>
#include <memory>
#include <vector>

#include "ui/context/label_rules.h"
#include "ui/models/node_columns.h"

namespace sonde::context {
class InspectorContext;
}

namespace sonde::canvas {

/// What the user's rules write on the cards. Immutable once made, so that sizes can be measured on any thread.
struct CardLabels {
    context::LabelRules rules;
    /// What only a run tells, of the fields that the rules use: text by ExprId.
    std::map<QString, std::vector<QString>> facts;
    bool isStale = false;  ///< the last run's inputs are not the present ones: lines with what it tells say so
};

/// Null if there are no rules. Reads what is known of the last run; without a context (pictures of the command line)
/// nothing is.
std::shared_ptr<const CardLabels> makeCardLabels(const context::LabelRules& rules,
                                                 const context::InspectorContext* context);

/// The lines of an operation's card; empty if no rule is about it. A line whose fields are all empty is left out; the
/// first, the title, is then the operator.
QStringList labelLines(const CardLabels& labels, const graph::InternalGraph& graph, graph::ExprId expr);

}  // namespace sonde::canvas
