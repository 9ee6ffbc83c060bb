#include "core/session/why/run_reader.h"

#include <algorithm>

#include "core/exec/edits.h"
#include "core/session/debug/recorded_run.h"
#include "core/session/edits/edit_application.h"

namespace sonde::session::why {

base::Result<tensor::Value> RunReader::value(graph::NodeId node) {
    if (!m_before) return m_view.value(node, m_work);
    return m_view.run().value(node, lookedUpAt(node), false, m_work);
}

base::Result<tensor::Value> RunReader::valueFor(graph::NodeId input, graph::NodeId result) {
    const debug::ItemId item = itemOf(result);
    if (item == debug::kNoItem) return value(input);
    return m_view.run().value(input, item, false, m_work);
}

bool RunReader::isEdited(graph::NodeId node) {
    const auto& edits = m_view.run().plan().options().edits;
    return edits && std::ranges::find(edits->values, node, &exec::ValueEdit::node) != edits->values.end();
}

bool RunReader::isOverwritten(graph::NodeId node) {
    if (!isEdited(node)) return false;
    return std::ranges::all_of(m_view.run().plan().options().edits->values, [node](const exec::ValueEdit& edit) {
        const auto* const own = edit.apply.target<EditApplication>();
        return edit.node != node || (own && own->edit.writesConstants());
    });
}

std::vector<std::int64_t> RunReader::iterationsOf(graph::NodeId node) {
    const debug::ItemId item = itemOf(node);
    return item == debug::kNoItem ? std::vector<std::int64_t>{} : m_view.run().trace().passOf(item);
}

std::optional<std::uint32_t> RunReader::iterationBefore(graph::NodeId bodyInput) {
    const debug::ItemId item = itemOf(bodyInput);
    if (item == debug::kNoItem || m_view.run().trace()[item].iteration <= 0) return std::nullopt;
    return item;
}

std::unique_ptr<Reader> RunReader::before(std::uint32_t item) {
    if (item == 0 || item >= m_view.run().trace().size()) return nullptr;
    return std::make_unique<RunReader>(m_view, m_work, item);
}

/// An item gives the inputs of its body itself: those of the iteration before are further ahead.
debug::ItemId RunReader::lookedUpAt(graph::NodeId node) const {
    const graph::InternalGraph& graph = m_view.run().graph();
    const bool isInput = graph.expr(graph.node(m_view.run().sourceOf(node)).producer).kind == graph::ExprKind::Input;
    return isInput ? *m_before - 1 : *m_before;
}

debug::ItemId RunReader::itemOf(graph::NodeId node) const {
    return m_before ? m_view.run().itemOf(node, lookedUpAt(node), false) : m_view.itemOf(node);
}

}  // namespace sonde::session::why
