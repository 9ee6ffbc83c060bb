#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "core/session/debug/view.h"
#include "core/session/why/explanation.h"

namespace sonde::session {

/// How another model is run on the inputs of a run that is looked at.
struct ModelReferenceOptions {
    std::uint64_t seed = 0;
    std::size_t threads = 0;
    bool operator==(const ModelReferenceOptions&) const = default;
};

/// Another model's run, kept for the next question. May be used by several threads.
class ModelReferenceCache {
  public:
    /// The one of the program. What it keeps is used again for the same model only, and goes with the next question
    /// that is about another one.
    static const std::shared_ptr<ModelReferenceCache>& shared();

    struct Kept {
        std::string path;
        ModelReferenceOptions options;
        std::weak_ptr<const graph::InternalGraph> own;  ///< of the view
        std::vector<tensor::Value> inputs;              ///< of the other model
        std::shared_ptr<const document::Document> other;
        std::vector<graph::NodeId> counterparts;
        std::shared_ptr<debug::RecordedRun> run;
    };
    /// What is kept; nobody else has it then. Null: nothing, or it is in use.
    std::shared_ptr<Kept> take();
    void give(std::shared_ptr<Kept> kept);
    void clear() { give(nullptr); }

  private:
    std::mutex m_mutex;
    std::shared_ptr<Kept> m_kept;
};

/// The values that another model gives on the same inputs, for the nodes of a view's model that it has too
/// (analysis::matchNodes()); of a loop those of the same iteration. Not thread-safe.
class ModelReference : public why::Reader {
  public:
    /// Opens the model at a path or "zoo:NAME" and runs it, unless `cache` has that run on the same inputs of files
    /// that have not changed since; it is there again afterwards. Errors: those of document::open(); (Usage) an input
    /// of it has no counterpart; why its run failed; cancelled.
    static base::Result<std::unique_ptr<ModelReference>> of(const debug::View& view, const std::string& path,
                                                            const ModelReferenceOptions& options,
                                                            const base::WorkContext& work = {},
                                                            std::shared_ptr<ModelReferenceCache> cache = {});
    ~ModelReference() override;

    /// Errors (Usage): the other model has no such value, or one of another shape, or a weight that is read otherwise.
    base::Result<tensor::Value> value(graph::NodeId node) override;
    /// The same in iterations that are named.
    base::Result<tensor::Value> valueIn(graph::NodeId node, const std::vector<std::int64_t>& iterations,
                                        bool isLast) override;

  private:
    ModelReference(const debug::View& view, const base::WorkContext& work, std::shared_ptr<ModelReferenceCache> cache);
    base::Result<void> open(const std::string& path, const ModelReferenceOptions& options);
    base::Result<bool> takeKept(const std::string& path, const ModelReferenceOptions& options);
    base::Result<void> run(const ModelReferenceOptions& options);
    base::Result<std::vector<tensor::Value>> inputs(const graph::InternalGraph& other) const;
    bool isReadAlike(graph::NodeId weight) const;
    base::Result<graph::NodeId> counterpartOf(graph::NodeId node) const;
    base::Result<tensor::Value> sameShape(graph::NodeId node, tensor::Value found) const;
    base::Result<tensor::Value> valueOf(graph::NodeId node, graph::NodeId counterpart);

    const debug::View& m_view;
    const base::WorkContext& m_work;
    std::shared_ptr<ModelReferenceCache> m_cache;
    std::shared_ptr<ModelReferenceCache::Kept> m_kept;
};

}  // namespace sonde::session
