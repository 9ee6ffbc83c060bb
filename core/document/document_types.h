#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/diagnostics.h"
#include "core/base/result.h"
#include "core/document/own_code.h"
#include "core/graph/internal_graph.h"
#include "core/graph/module_tree.h"
#include "core/passes/report.h"

namespace sonde::trace {
class TracedModule;
}

namespace sonde::document {

struct OpenedSession;

/// How to make a graph of a model. Only what the model's format supports may be set; the rest gives a usage error.
struct OpenOptions {
    std::string tracer;  ///< "module-path", "traced-module", "robust", "custom"; empty: the format's default
    std::vector<std::string> leaves;  ///< classes whose modules are not traced into; "none": trace into all
    std::vector<std::pair<std::string, std::string>> concrete;  ///< parameter = value
    bool flatten = false;
    bool groups = true;               ///< files that name no modules: groups found in the graph take their place
    std::vector<std::string> passes;  ///< ids of passes that change the graph, in order (passes::passes())
    std::string inputData;            ///< example inputs (the grammar of --input-data) for a concrete trace
    std::string weights;  ///< built-in models: file with their weights (see loadWeights); empty: random ones
    /// The user agreed to run the code of the model, a shared library. Without, only libraries are loaded to whose
    /// content the user agreed before (agreeToNative).
    bool allowNative = false;
    /// Classes that the user keeps as leaves whatever is opened. Formats that hold a graph already take no notice.
    std::vector<std::string> registeredLeaves;
    /// Of a session file: files outside of its folder may be read.
    bool allowOutside = false;
    std::string sessionModel;  ///< of a session file: the model to open in place of the one that it names
};

/// One output of the model as the user knows it: "y", or "out.0.1" of a nested structure.
struct NamedNode {
    std::string name;
    graph::NodeId node;
    bool isRequired = false;  ///< of an input: the file does not say what it is, its type is what the layers want of it
};

/// The graph of one module on its own, beside the model's: what a robust trace makes of the children of modules that
/// failed, or a branch that was traced apart.
struct Part {
    std::string qualname;
    std::string moduleClass;
    std::string failure;                                ///< why there is no graph; empty if there is one
    std::string note;                                   ///< "leaf module, not traced into"; may be empty
    std::shared_ptr<const graph::InternalGraph> graph;  ///< null if it failed
};

/// An opened model: the graph with its module tree and what there is to say about the file. Immutable.
struct Document {
    std::string title;                                            ///< "resnet18_slim.onnx", "resnet18"
    std::string location;                                         ///< path or "zoo:NAME" as given
    std::string format;                                           ///< "ONNX", "TorchScript", "built-in model"
    std::vector<std::pair<std::string, std::string>> properties;  ///< producer, opset, IR version, file size …
    std::shared_ptr<const graph::InternalGraph> graph;
    std::shared_ptr<const graph::ModuleTree> modules;
    std::vector<NamedNode> inputs;  ///< without parameters
    std::vector<NamedNode> outputs;
    std::vector<Part> parts;  ///< further graphs, in the order of tracing; mostly none
    std::string text;         ///< the tracer's own text form of the graphs; empty: that of the graph
    bool traced = false;      ///< made by a tracer: another one, other leaves or values may be chosen
    OpenOptions options;      ///< what it was opened with
    std::shared_ptr<const graph::InternalGraph> original;  ///< before OpenOptions::passes; null: there were none.
                                                           ///< Nodes and exprs that are in both have the same ids
    std::vector<passes::PassReport> passReports;           ///< what each pass did, in order
    base::Diagnostics diagnostics;
    std::shared_ptr<const OpenedSession> session;  ///< what it was opened by; null: no session file
    std::uint64_t fingerprint = 0;                 ///< of the content: keys remembered view state
    std::shared_ptr<const trace::TracedModule>
        tracedModule;  ///< what --tracer traced-module made; it can be saved. Else null

    /// Given if the model's code changes tensors or containers in place, which a tracer may follow wrongly.
    OwnCode ownCode;

    /// Nodes that passes left with another value than the model's own node of that name (a convolution with its norm).
    std::vector<graph::NodeId> revaluedNodes() const;
    /// A node by name, by number ("#12"), or a module's output by "QUALNAME:". Usage error with the nearest names.
    base::Result<graph::NodeId> findNode(std::string_view text) const;
};

}  // namespace sonde::document
