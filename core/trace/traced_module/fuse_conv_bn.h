#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/trace/traced_module.h"

namespace sonde::trace {

/// FuseConvBn on a traced module (traced-module.md, "Optimisation"): a copy with the same hierarchy in which a
/// convolution followed by a batch norm is one convolution, with s = γ / sqrt(var + ε), w' = w·s by output channel and
/// b' = β + γ (b − mean) / sqrt(var + ε). Both are built-in modules that one graph calls; only the norm reads the
/// convolution, and its statistics are stored. The norm's place is taken by an Identity. A convolution that is called
/// elsewhere, too, keeps its weights there: a copy "NAME_1" is installed beside it.
///
/// Needs an EvaluatorScope. Errors: what a built-in module does cannot be recorded, no memory.
base::Result<std::shared_ptr<TracedModule>> fuseConvBn(const TracedModule& module);

/// A call of a built-in convolution or batch norm, as its one operation.
struct LayerCall {
    const TracedExpr* operation;                                              ///< in the module's own graph
    const TracedNode* input;                                                  ///< of that graph: what the call is given
    std::vector<std::pair<const TracedNode*, std::shared_ptr<Slot>>> stored;  ///< its reads of the module's tensors
};

/// The convolutions and batch norms of a traced module, for passes that change their weights from outside.
///
/// Needs an EvaluatorScope.
class LayerModules {
  public:
    explicit LayerModules(TracedModule& module);
    ~LayerModules();
    LayerModules(const LayerModules&) = delete;
    LayerModules& operator=(const LayerModules&) = delete;

    /// Nothing for any other call. Errors: what a built-in module does cannot be recorded.
    base::Result<std::optional<LayerCall>> of(TracedExpr& call);
    /// The call is of a convolution with these numbers; other calls of its module are what they were. `bias`: undefined
    /// for none. Error (Usage): `call` is no convolution of the module.
    base::Result<void> setWeights(ModuleGraph& graph, TracedExpr& call, const tensor::Tensor& weight,
                                  const tensor::Tensor& bias);

  private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

}  // namespace sonde::trace
