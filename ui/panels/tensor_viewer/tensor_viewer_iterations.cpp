// Of the tensor panel: which iteration of a loop is shown.

#include <QLabel>
#include <QSignalBlocker>
#include <QSpinBox>

#include <algorithm>

#include "core/analysis/bad_values.h"
#include "ui/context/debugged_iterations.h"
#include "ui/panels/tensor_viewer/tensor_viewer.h"
#include "ui/panels/tensor_viewer/tensor_viewer_panel.h"

namespace sonde::panels {

/// Those of a debugged run: it is looked at where the node has the chosen one.
void TensorViewerPanel::offerIterations() {
    if (m_debugger.isRunning()) return;
    const context::DebuggedIterations found = context::iterationsOf(m_session, m_node);
    const bool isOffered = found.at && found.items.size() > 1;
    m_iterations->setVisible(isOffered);
    if (!isOffered) return;
    constexpr std::size_t kMost = 1'000'000'000;
    const QSignalBlocker quiet(m_iteration);
    m_iterationOf = {};
    m_iteration->setMaximum(static_cast<int>(std::min(found.items.size() - 1, kMost)));
    m_iteration->setValue(static_cast<int>(std::min(*found.at, kMost)));
    m_iterationCount->setText(rangeText(m_iteration->maximum()));
}

void TensorViewerPanel::chooseIteration(int iteration) {
    if (!m_runs.isDebugged()) return refresh();
    const context::DebuggedIterations found = context::iterationsOf(m_session, m_node);
    const auto wanted = static_cast<std::size_t>(iteration);
    if (wanted < found.items.size()) m_debugger.goTo(context::placeOf(m_session, found, wanted));
}

/// "of 0\u20133"; where loops are nested or skipped the node, also what verbs and keys call the iteration: "(@1.0)".
QString TensorViewerPanel::rangeText(int last) const {
    const int shown = m_iteration->value();
    const QString pass = m_runs.passText(m_node, static_cast<std::size_t>(shown));
    const QString range = tr("of 0\u2013%1").arg(last);
    return pass.isEmpty() || pass == QString::number(shown) ? range : tr("%1 (@%2)").arg(range, pass);
}

bool TensorViewerPanel::isBadIteration(int iteration) const {
    const tensor::Value* value = m_runs.value(m_node, static_cast<std::size_t>(iteration));
    return value && value->isTensor() && !analysis::badElements(value->tensor(), 1).empty();
}

/// The first that differs in a comparison of this run.
std::optional<int> TensorViewerPanel::differingIteration() const {
    const analysis::NodeDifference* const found = m_comparison.of(m_node);
    if (!found || !found->iteration) return std::nullopt;
    return static_cast<int>(std::min<std::size_t>(*found->iteration, 1'000'000'000));
}

/// Of a comparison the iteration that differs first, else the first with bad elements.
std::optional<int> TensorViewerPanel::worthSeeing(int count) const {
    if (const auto differing = differingIteration(); differing && *differing < count) return differing;
    return firstBadIteration(count);
}

/// Long loops are not searched to their end: the window must not wait.
std::optional<int> TensorViewerPanel::firstBadIteration(int count) const {
    constexpr std::int64_t kMaxSearched = 1 << 22;  // elements
    const auto& recording = m_runs.recording();
    if (!recording || !recording->bad.contains(m_node)) return std::nullopt;
    std::int64_t searched = 0;
    for (int i = 0; i < count && searched < kMaxSearched; ++i) {
        if (isBadIteration(i)) return i;
        const tensor::Value* value = m_runs.value(m_node, static_cast<std::size_t>(i));
        searched += value && value->isTensor() ? value->tensor().numel() + 1 : 1;
    }
    return std::nullopt;
}

}  // namespace sonde::panels
