#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/graph/ids.h"
#include "core/tensor/type_info.h"
#include "core/trace/var.h"

namespace sonde::trace {

class Recorder;

/// Records control flow that depends on the data: exprs that own bodies. `begin` makes prim::If (arguments: condition)
/// or prim::Loop (trip count or none, condition, carried values). Its bodies follow, each between enterBody and
/// leaveBody; then, as what comes out is known when all of them are there, their results and the outputs, in the same
/// order. Made where it is needed: what is open is in the recorder.
class ControlRecorder {
  public:
    explicit ControlRecorder(Recorder& recorder) : m_recorder(recorder) {}

    graph::ExprId begin(std::string_view op, const std::vector<Var>& arguments);
    void enterBody(graph::ExprId owner, std::string label);
    Var input(std::string_view name, tensor::TypeInfo type, bool isTensor);
    void leaveBody();
    /// Leaves a body whose results are known already. Constants and lists among them become nodes of the body.
    void leaveBody(const std::vector<Var>& results);
    /// Opens a body again that was left, until leaveBody.
    void resumeBody(graph::ExprId owner, std::size_t index);
    void setResults(graph::ExprId owner, std::size_t index, const std::vector<Var>& results);
    Var output(graph::ExprId owner, std::size_t index, bool isTensor);
    /// Takes back the expr and everything recorded after it.
    void abandon(graph::ExprId owner);

  private:
    Recorder& m_recorder;
};

}  // namespace sonde::trace
