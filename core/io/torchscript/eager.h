#pragma once

#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/io/torchscript/script_value.h"
#include "core/trace/module.h"

namespace sonde::io::script {

/// A run of an archive's code as PyTorch runs it: statement by statement on values, with real memory, so that views and
/// names of one tensor share it. Nothing is recorded, and nothing of how a trace follows memory (views.h) takes part:
/// what a graph gives can be compared with it. While one lives on a thread, scripts there run in this way.
class EagerRun {
  public:
    /// `copies`: the model's own tensors are copied before they are used, so that it may write to them. Otherwise a
    /// write to one is an error.
    explicit EagerRun(bool copies);
    ~EagerRun();
    EagerRun(const EagerRun&) = delete;
    EagerRun& operator=(const EagerRun&) = delete;
    static EagerRun* current();

    /// Random numbers were asked for, which another run would not give again.
    bool drawsNumbers() const { return m_drawsNumbers; }
    void noteDraw() { m_drawsNumbers = true; }
    /// A tensor of the archive, the same cell each time. `key`: where the archive keeps it.
    ScriptValue own(const void* key, const tensor::Tensor& tensor);
    /// What an attribute holds, with containers and tensors that the run may change.
    ScriptValue own(const ScriptValue& value);

  private:
    tensor::Tensor ownMemory(const tensor::Tensor& tensor);

    bool m_copies;
    bool m_drawsNumbers = false;
    std::unordered_map<const void*, ScriptValue> m_cells;
    std::unordered_map<const tensor::Storage*, std::shared_ptr<tensor::Storage>> m_storages;
    EagerRun* m_before;
};

/// An operator in an EagerRun. Throws TraceError: what the operator says; random numbers.
ScriptValue callEagerly(const std::string& name, std::vector<ScriptValue> arguments,
                        std::vector<std::pair<std::string, ScriptValue>> keywords);

using NamedInput = std::pair<std::string, tensor::Value>;

struct EagerOutputs {
    std::vector<tensor::Value> values;  ///< in order, out of all of the code's containers
    std::string reason;                 ///< why there are none: what the code raised, or what is not supported
    bool isRandom = false;              ///< there are none because random numbers decide
};

/// What forward returns for inputs by the names of its parameters; these stay as they are. Run error: an operator that
/// is not known. Needs an evaluator (trace::EvaluatorScope).
base::Result<EagerOutputs> runEagerly(const std::shared_ptr<trace::Module>& root, std::span<const NamedInput> inputs);

}  // namespace sonde::io::script
