#pragma once

#include <QString>

#include "core/graph/internal_graph.h"

namespace sonde::canvas {

/// By what name an operation takes a value: its parameter, the keyword, or the name that the operator's specification
/// gives the input ("A", "inputs 2" of any number of inputs). Empty if nobody names it, or it does not take the value.
QString argumentName(const graph::InternalGraph& graph, graph::ExprId reader, graph::NodeId value);

/// The name of an output in the operator's specification; empty if it has one output only, or no name.
QString outputName(const graph::InternalGraph& graph, graph::NodeId value);

}  // namespace sonde::canvas
