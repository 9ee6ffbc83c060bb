#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/graph/internal_graph.h"
#include "core/session/edits/slice_steps.h"

namespace sonde::session {

/// Adds operations of ONNX behind an operation of a graph, in the forms that the graph's opset has. An operator that
/// the opset lacks in any form is written all the same, and named by missing().
class OperationWriter {
  public:
    explicit OperationWriter(graph::InternalGraph& graph);

    /// What is added from now on is behind what makes `x`, has names that begin with `name`, and the node `edited` as
    /// its origin.
    void begin(graph::NodeId x, std::string name, std::string edited);
    /// Who reads `x` reads `last` instead, but what was added since begin().
    void finish(graph::NodeId x, graph::NodeId last);
    /// Removes what was added since begin().
    void takeBack();
    int opset() const { return m_opset; }
    bool has(const char* op) const;
    const std::string& missing() const { return m_missing; }

    // `suffix`: of the name of the node that is made.
    graph::NodeId apply(const char* op, const std::vector<graph::NodeId>& arguments, const std::string& suffix);
    graph::NodeId constant(const tensor::Tensor& value, const std::string& suffix);
    graph::NodeId row(const std::vector<std::int64_t>& numbers, const std::string& suffix);
    graph::NodeId number(std::int64_t value, const std::string& suffix);
    graph::NodeId cast(graph::NodeId x, tensor::DType dtype, const std::string& suffix);
    graph::NodeId gathered(graph::NodeId x, graph::NodeId order, std::int64_t axis, const std::string& suffix);
    /// `x` with the `updates` at the positions `at` along its first axis.
    graph::NodeId scattered(graph::NodeId x, graph::NodeId at, graph::NodeId updates, const std::string& suffix);
    /// One behind the other, along the first axis.
    graph::NodeId joined(graph::NodeId first, graph::NodeId second, const std::string& suffix);
    /// 0, 1 … before `end`, a scalar.
    graph::NodeId range(graph::NodeId end);
    graph::NodeId dimOf(graph::NodeId of, std::size_t axis);
    graph::NodeId flat(graph::NodeId x, const std::string& suffix);
    graph::NodeId reshaped(graph::NodeId x, const tensor::Shape& shape, const std::string& suffix);
    graph::NodeId sliced(graph::NodeId x, const SliceSteps& steps);
    /// `x` and `other`, which has the shape, as they are: where x has another one the model fails.
    std::pair<graph::NodeId, graph::NodeId> checked(graph::NodeId x, graph::NodeId other, const tensor::Shape& shape);

  private:
    std::vector<graph::NodeId> applyMany(const char* op, const std::vector<graph::NodeId>& arguments,
                                         const std::vector<std::string>& suffixes);
    std::vector<graph::NodeId> insert(graph::Expr expr, const std::vector<std::string>& suffixes);
    tensor::Attributes& attributesOf(graph::NodeId made);

    graph::InternalGraph& m_graph;
    const int m_opset;
    graph::BodyId m_body;
    graph::ScopeId m_scope;
    std::optional<std::string> m_qualname;
    std::size_t m_behind = 0;
    std::string m_name;
    std::string m_edited;
    std::string m_missing;
    std::vector<graph::ExprId> m_added;
    std::vector<std::pair<graph::ExprId, std::vector<graph::Argument>>> m_made;  ///< operations, as they are to read
};

}  // namespace sonde::session
