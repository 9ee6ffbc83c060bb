#pragma once

#include <memory>
#include <string>

#include "core/session/debug/view.h"
#include "core/session/why/explanation.h"

namespace sonde::session {

/// How another model is run on the inputs of a run that is looked at.
struct ModelReferenceOptions {
    std::uint64_t seed = 0;
    std::size_t threads = 0;
};

/// The values that another model gives on the same inputs, for the nodes of a view's model that it has too
/// (analysis::matchNodes()); of a loop those of the same iteration. Not thread-safe.
class ModelReference : public why::Reader {
  public:
    /// Opens the model at a path or "zoo:NAME" and runs it. Errors: those of document::open(); (Usage) an input of it
    /// has no counterpart; why its run failed; cancelled.
    static base::Result<std::unique_ptr<ModelReference>> of(const debug::View& view, const std::string& path,
                                                            const ModelReferenceOptions& options,
                                                            const base::WorkContext& work = {});
    ~ModelReference() override;

    /// Errors (Usage): the other model has no such value, or one of another shape, or a weight that is read otherwise.
    base::Result<tensor::Value> value(graph::NodeId node) override;

  private:
    ModelReference(const debug::View& view, std::shared_ptr<const document::Document> other,
                   const base::WorkContext& work);
    base::Result<void> run(const ModelReferenceOptions& options);
    base::Result<std::vector<tensor::Value>> inputs() const;
    bool isReadAlike(graph::NodeId weight) const;
    base::Result<tensor::Value> valueOf(graph::NodeId node, graph::NodeId counterpart);

    const debug::View& m_view;
    const base::WorkContext& m_work;
    std::shared_ptr<const document::Document> m_other;
    std::vector<graph::NodeId> m_counterparts;  ///< by node of the view's model
    std::shared_ptr<debug::RecordedRun> m_run;
};

}  // namespace sonde::session
