#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/session/debug/view.h"
#include "core/session/why/explanation.h"

namespace sonde::session::why {

/// The values of a debugged run, as they are seen from a place of it. Inputs of an operation are those that it had,
/// also where a loop has computed them again since.
class RunReader : public Reader {
  public:
    RunReader(const debug::View& view, const base::WorkContext& work,
              std::optional<debug::ItemId> before = std::nullopt)
        : m_view(view), m_work(work), m_before(before) {}

    base::Result<tensor::Value> value(graph::NodeId node) override;
    base::Result<tensor::Value> valueFor(graph::NodeId input, graph::NodeId result) override;
    bool isEdited(graph::NodeId node) override;
    bool isOverwritten(graph::NodeId node) override;
    std::vector<std::int64_t> iterationsOf(graph::NodeId node) override;
    std::optional<std::uint32_t> iterationBefore(graph::NodeId bodyInput) override;
    std::unique_ptr<Reader> before(std::uint32_t item) override;

  private:
    debug::ItemId itemOf(graph::NodeId node) const;
    debug::ItemId lookedUpAt(graph::NodeId node) const;

    const debug::View& m_view;
    const base::WorkContext& m_work;
    std::optional<debug::ItemId> m_before;  ///< of the view's run; without it the view's own place
};

}  // namespace sonde::session::why
