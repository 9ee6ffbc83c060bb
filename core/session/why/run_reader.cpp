#include "core/session/why/run_reader.h"

#include "core/session/debug/recorded_run.h"

namespace sonde::session::why {

base::Result<tensor::Value> RunReader::value(graph::NodeId node) { return m_view.value(node, m_work); }

base::Result<tensor::Value> RunReader::valueFor(graph::NodeId input, graph::NodeId result) {
    const debug::ItemId item = m_view.itemOf(result);
    if (item == debug::kNoItem) return m_view.value(input, m_work);
    return m_view.run().value(input, item, false, m_work);
}

}  // namespace sonde::session::why
