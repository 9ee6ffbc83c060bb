#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/graph/ids.h"
#include "core/tensor/value.h"
#include "core/trace/var.h"

namespace sonde::trace {

class Memory;
class Recorder;
struct ForwardParameter;

/// Records what the root of one trace is given and what it returns.
class RootRecorder {
  public:
    RootRecorder(Recorder& recorder, Memory& memory) : m_recorder(recorder), m_memory(memory) {}

    /// One value per parameter of the root's forward: placeholders, and constants for those with a fixed value
    /// (`concrete`), which the graph checks (robust-trace.md, "Fixed parameters"). What a fixed container holds becomes
    /// placeholders, one for each leaf.
    std::vector<Var> parameters(const std::vector<ForwardParameter>& signature,
                                const std::map<std::string, tensor::Value>& concrete);
    /// The output. A list of the leaves where a parameter was taken apart.
    void finish(const Var& result);

  private:
    Var placeholder(const ForwardParameter& parameter, const std::string& candidate);
    Var specialised(const ForwardParameter& parameter, const tensor::Value& value);
    Var takenApart(const ForwardParameter& parameter, const tensor::Value& value, std::size_t& count);

    Recorder& m_recorder;
    Memory& m_memory;
    bool m_isFlat = false;  ///< a parameter was taken apart, so the result is, too
};

}  // namespace sonde::trace
