#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/base/diagnostics.h"
#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/graph/internal_graph.h"
#include "core/graph/missing_data.h"
#include "core/io/onnx/proto.h"
#include "core/io/onnx/qualnames.h"
#include "core/io/onnx/tensor_proto.h"

namespace sonde::io::onnx {

/// The names that can be read at a place in the file, with those of the graphs around it.
struct Names {
    const Names* outer = nullptr;
    std::unordered_map<std::string_view, graph::NodeId> nodes;

    graph::NodeId find(std::string_view name) const;
};

/// An attribute of a call of a model-local function, and where its graphs find their names.
struct CallAttribute {
    AttributeProto attribute;
    const Names* names = nullptr;
};
using CallAttributes = std::unordered_map<std::string_view, CallAttribute>;

/// Turns the messages of one model into an InternalGraph.
class GraphBuilder {
  public:
    /// `missing`: gets what is stored in data files that cannot be opened; null: that is an error.
    GraphBuilder(Wire& wire, const ModelProto& model, TensorReader& tensors, const base::WorkContext& work,
                 graph::MissingFiles* missing = nullptr);

    /// The main graph, with everything in it.
    base::Result<void> build(const GraphProto& graph);
    graph::InternalGraph takeGraph() { return std::move(m_graph); }
    const graph::InternalGraph& graph() const { return m_graph; }
    base::Diagnostics takeDiagnostics() { return std::move(m_diagnostics); }
    const std::vector<NameHint>& hints() const { return m_hints; }
    const std::vector<FunctionCall>& calls() const { return m_calls; }
    graph::InternalGraph& mutableGraph() { return m_graph; }

  private:
    /// Where nodes are being added.
    struct Place {
        graph::BodyId body;
        Names& names;
        const OpsetImports& opsets;
        const CallAttributes* attributes = nullptr;  ///< of the function being unfolded
        std::optional<std::size_t> call;             ///< index in m_calls
        std::string prefix;                          ///< of new node names inside functions
        int depth = 0;
    };
    struct FunctionKey;

    base::Result<void> checkOpsets(const OpsetImports& opsets, const std::string& where);
    int versionOf(const std::string& domain, const NodeProto& node, const Place& place);
    base::Result<void> buildInputs(const GraphProto& graph, const std::unordered_set<std::string_view>& initialized,
                                   Place& place);
    base::Result<void> buildInitializers(const GraphProto& graph, Place& place);
    base::Result<void> buildBody(const GraphProto& graph, Place& place);
    base::Result<void> buildNodes(const std::vector<NodeProto>& nodes, Place& place);
    base::Result<void> buildNode(const NodeProto& node, Place& place);
    base::Result<void> buildOperator(const NodeProto& node, Place& place);
    tensor::Tensor sharedConstant(const NodeProto& node, tensor::Tensor value);
    /// By name: tensors whose data is missing. They are no attributes of the expr.
    using MissingAttributes = std::vector<std::pair<Bytes, TensorReader::Missing>>;
    base::Result<void> buildAttributes(const NodeProto& node, const Place& place, graph::Expr& expr,
                                       std::vector<std::pair<Bytes, std::pair<Bytes, const Names*>>>& bodies,
                                       MissingAttributes& missing);
    base::Result<void> buildSubgraph(graph::ExprId owner, Bytes label, Bytes message, const Names* names,
                                     const Place& place);
    base::Result<void> unfold(const NodeProto& node, const FunctionProto& function, Place& place);
    base::Result<std::vector<graph::NodeId>> readInputs(const NodeProto& node, const Place& place) const;
    base::Result<void> define(std::string_view name, graph::NodeId node, const NodeProto& by, Place& place) const;

    /// Order of execution: the file's if it is one, else a sorted one. Error if there is none.
    base::Result<std::vector<std::size_t>> sorted(const std::vector<NodeProto>& nodes, const Place& place);
    /// Names that a node reads, also inside its subgraphs.
    void collectReads(const NodeProto& node, std::vector<Bytes>& reads, int depth);

    const FunctionProto* findFunction(const NodeProto& node) const;
    graph::NodeId addStored(graph::Expr expr, std::string_view name, tensor::TypeInfo type, Place& place);
    graph::NodeId addConstant(graph::Expr expr, std::string_view name, tensor::Tensor value, Place& place);
    graph::NodeId addMissing(graph::Expr expr, std::string_view name, const TensorReader::Missing& missing,
                             Place& place);
    std::string uniqueName(std::string_view name);
    std::string placeOf(const NodeProto& node) const;
    base::Error inNode(base::Error error, const NodeProto& node) const;
    base::Error wireError() const;
    NameHint hintOf(const NodeProto& node, const Place& place) const;
    static graph::Origin originOf(const NodeProto& node);

    Wire& m_wire;
    const ModelProto& m_model;
    TensorReader& m_tensors;
    const base::WorkContext& m_work;
    graph::MissingFiles* m_missing;
    graph::InternalGraph m_graph;
    base::Diagnostics m_diagnostics;
    std::vector<NameHint> m_hints;
    std::vector<FunctionCall> m_calls;
    std::unordered_map<std::string, int> m_suffixes;
    std::unordered_map<std::string, const FunctionProto*> m_functions;
    std::unordered_map<std::string, tensor::TypeInfo> m_declared;         ///< value_info of the graph being read
    std::unordered_set<std::string> m_withoutVersion;                     ///< domains that no import names
    std::unordered_map<const char*, tensor::Tensor> m_functionConstants;  ///< by their place in the file
    std::vector<const FunctionProto*> m_unfolding;
    std::size_t m_unfolded = 0;  ///< nodes made of functions' nodes so far
};

}  // namespace sonde::io::onnx
