#pragma once

#include "core/session/debug/view.h"
#include "core/session/why/explanation.h"

namespace sonde::session::why {

/// The values of a debugged run, as they are seen from a place of it. Inputs of an operation are those that it had,
/// also where a loop has computed them again since.
class RunReader : public Reader {
  public:
    RunReader(const debug::View& view, const base::WorkContext& work) : m_view(view), m_work(work) {}

    base::Result<tensor::Value> value(graph::NodeId node) override;
    base::Result<tensor::Value> valueFor(graph::NodeId input, graph::NodeId result) override;

  private:
    const debug::View& m_view;
    const base::WorkContext& m_work;
};

}  // namespace sonde::session::why
